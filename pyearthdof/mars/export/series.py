"""Functions that JavaScript and ONNX do not have in double precision, as Chebyshev series.

Coefficients are computed here, from scipy's functions; the series are as exact as a double (their tests
compare them at thousands of points).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial.chebyshev import chebinterpolate
from scipy.special import erfcx

__all__ = ["arc_series", "decay_series", "normal_series"]

NORMAL_SCALE = 3.75  # z from 0 on is t = (z - 3.75) / (z + 3.75), from -1 to 1


@cache
def normal_series() -> tuple[float, ...]:
    """exp(z^2) erfc(z), z from 0 to 6, in t = (z - 3.75) / (z + 3.75)."""
    top = (6 - NORMAL_SCALE) / (6 + NORMAL_SCALE)

    def function(u):  # from [-1, 1] to [-1, top]
        t = -1 + (u + 1) * (top + 1) / 2
        return erfcx(NORMAL_SCALE * (1 + t) / (1 - t))

    return tuple(chebinterpolate(function, 26).tolist())


@cache
def arc_series() -> tuple[float, ...]:
    """atan(x) / x, x from -1 to 1, in 2 x^2 - 1."""

    def function(u):
        x = np.sqrt((u + 1) / 2)
        return np.where(x == 0, 1.0, np.arctan(x) / np.where(x == 0, 1.0, x))

    return tuple(chebinterpolate(function, 24).tolist())


@cache
def decay_series() -> tuple[float, ...]:
    """(1 - exp(-v)) / v, v from 0 to 1, in 2 v - 1."""

    def function(u):
        v = (u + 1) / 2
        return np.where(v == 0, 1.0, -np.expm1(-v) / np.where(v == 0, 1.0, v))

    return tuple(chebinterpolate(function, 14).tolist())
