"""MARS without R: the same terms in the same order and the same numbers as R's earth.

The loops are compiled (`pyearthdof._core`); what is not a loop is here.
"""

from .complete import fit_complete
from .fit import NativeFit, fit, fit_one, reprune
from .forward import ForwardPass, forward_pass
from .many import BoundNative

__all__ = [
    "BoundNative",
    "ForwardPass",
    "NativeFit",
    "fit",
    "fit_complete",
    "fit_one",
    "forward_pass",
    "reprune",
]
