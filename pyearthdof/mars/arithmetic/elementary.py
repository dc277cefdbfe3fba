"""exp, log and their like as R computes them: by the C library, to its last bit.

numpy's own differ from it in that bit. It decides between terms that are almost equally good, and a
generalised linear model multiplies it by a million where a mean is 1 - 1e-6.
"""

from __future__ import annotations

import functools

import numpy as np

from ... import _core

__all__ = [
    "atan",
    "cos",
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "logistic",
    "logistic_slope",
    "normal",
    "normal_density",
    "normal_quantile",
    "power",
    "sin",
    "tan",
]


def _each(function, *values) -> np.ndarray:
    """A function of flat arrays for arrays of any shape."""
    arrays = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in values))
    flat = function(*(np.ascontiguousarray(a).ravel() for a in arrays))
    return flat.reshape(arrays[0].shape)[()]


def _by_name(name: str):
    return functools.partial(_each, functools.partial(_core.elementary, name))


exp, expm1 = _by_name("exp"), _by_name("expm1")
log, log1p, log2, log10 = map(_by_name, ("log", "log1p", "log2", "log10"))
sin, cos, tan, atan = map(_by_name, ("sin", "cos", "tan", "atan"))
normal = _by_name("normal")
normal_quantile, normal_density = _by_name("normal_quantile"), _by_name("normal_density")
logistic = functools.partial(_each, _core.logistic)
logistic_slope = functools.partial(_each, _core.logistic_slope)
power = functools.partial(_each, _core.power)
