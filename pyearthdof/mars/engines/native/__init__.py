"""MARS without R: the same terms in the same order and the same numbers as R's earth.

The loops are compiled (`pyearthdof._core`); everything else is Python.
"""

from .engine import (
    BoundNative,
    ForwardPass,
    NativeEngine,
    fit,
    fit_complete,
    fit_one,
    forward_pass,
    reprune,
)  # fmt: skip

__all__ = [
    "BoundNative",
    "ForwardPass",
    "NativeEngine",
    "fit",
    "fit_complete",
    "fit_one",
    "forward_pass",
    "reprune",
]
