"""exp, log and their like as R computes them: by the C library, to its last bit.

numpy's own differ from it in that bit, which a generalised linear model multiplies by a million where a
mean is 1 - 1e-6, so that iterations that go to the limits would part from R's.
"""

from __future__ import annotations

import functools

import numpy as np

from ... import _core

__all__ = [
    "atan",
    "exp",
    "expm1",
    "log",
    "normal",
    "normal_density",
    "normal_quantile",
    "power",
    "tan",
]


def _apply(name: str, values) -> np.ndarray:
    return _core.elementary(name, np.ascontiguousarray(values, dtype=float))


exp = functools.partial(_apply, "exp")
expm1 = functools.partial(_apply, "expm1")
log = functools.partial(_apply, "log")
atan = functools.partial(_apply, "atan")
tan = functools.partial(_apply, "tan")
normal = functools.partial(_apply, "normal")
normal_quantile = functools.partial(_apply, "normal_quantile")
normal_density = functools.partial(_apply, "normal_density")


def power(values, exponent: float) -> np.ndarray:
    """R's values^exponent."""
    return _core.power(np.ascontiguousarray(values, dtype=float), exponent)
