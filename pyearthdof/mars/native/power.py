"""Least squares of a + b x^c, for the power models of the variance, as R's nls() fits them."""

from __future__ import annotations

import numpy as np

from ... import _core
from ...exceptions import InvalidInputError
from .elementary import power
from .nl2sol import NoMinimum, minimise

__all__ = ["fit_power", "power_line"]

MAX_ITERATIONS = 100  # earth's
RANK_TOLERANCE = 1e-7
ROOT_EPS = np.sqrt(np.finfo(float).eps)


def power_line(x: np.ndarray, coef: np.ndarray, intercept: bool) -> np.ndarray:
    """a + b x^c, or b x^c."""
    values = coef[-2] * power(x, coef[-1])
    return coef[0] + values if intercept else values


def fit_power(x, y, weights, start: np.ndarray, intercept: bool) -> np.ndarray:
    """Coefficients (a, b, c), or (b, c) without an intercept, of y on x >= 0.

    Raises
    ------
    InvalidInputError
        Where R's nls stops, with its reason.
    """
    root = np.sqrt(weights)

    def line(p):
        values = power_line(x, p, intercept)
        if not np.isfinite(values).all():
            raise NoMinimum("Missing value or an infinity produced when evaluating the model")
        return values

    def model(p):
        """Residuals and slopes, these by differences as in R: their noise is a part of what R does."""
        values, slopes = line(p), np.empty((len(x), len(p)))
        for k, value in enumerate(p):
            delta = abs(value) * ROOT_EPS if value else ROOT_EPS
            moved = p.copy()
            moved[k] += delta
            slopes[:, k] = -(root * ((line(moved) - values) / delta))
        if not np.isfinite(slopes).all():
            raise NoMinimum("NA/NaN/Inf in foreign function call (arg 1)")
        return root * (y - values), slopes

    try:
        with np.errstate(all="ignore"):
            slopes = model(start)[1]
        if len(_core.find_independent(slopes.T.copy(), RANK_TOLERANCE)) < min(slopes.shape):
            raise NoMinimum("singular gradient matrix at initial parameter estimates")
        return minimise(model, start, MAX_ITERATIONS)
    except NoMinimum as error:
        raise InvalidInputError(
            f"the power model of the variance has no minimum that can be found ({error}): use another "
            "varmod_method, such as 'lm'"
        ) from None
