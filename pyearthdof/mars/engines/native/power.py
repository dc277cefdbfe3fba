"""Least squares of a + b x^c, for the power models of the variance, as R's nls() fits them."""

from __future__ import annotations

import numpy as np

from .... import _core
from ....exceptions import InvalidInputError
from ...arithmetic import power
from .nl2sol import NoMinimum, minimise

__all__ = ["fit_power", "power_line", "power_slopes"]

MAX_ITERATIONS = 100  # earth's
RANK_TOLERANCE = 1e-7
ROOT_EPS = np.sqrt(np.finfo(float).eps)


def power_line(x: np.ndarray, coef: np.ndarray, intercept: bool) -> np.ndarray:
    """a + b x^c, or b x^c."""
    values = coef[-2] * power(x, coef[-1])
    return coef[0] + values if intercept else values


def power_slopes(x: np.ndarray, coef: np.ndarray, intercept: bool) -> tuple[np.ndarray, np.ndarray]:
    """a + b x^c and its slopes, by differences as in R: their noise is a part of what R does."""

    def line(p):
        values = power_line(x, p, intercept)
        if not np.isfinite(values).all():
            raise NoMinimum("Missing value or an infinity produced when evaluating the model")
        return values

    values, slopes = line(coef), np.empty((len(x), len(coef)))
    for k, value in enumerate(coef):
        delta = abs(value) * ROOT_EPS if value else ROOT_EPS
        moved = coef.copy()
        moved[k] += delta
        slopes[:, k] = (line(moved) - values) / delta
    return values, slopes


def fit_power(x, y, weights, start: np.ndarray, intercept: bool) -> np.ndarray:
    """Coefficients (a, b, c), or (b, c) without an intercept, of y on x >= 0.

    Raises
    ------
    InvalidInputError
        Where R's nls stops, with its reason.
    """
    root = np.sqrt(weights)

    def model(p):
        values, slopes = power_slopes(x, p, intercept)
        slopes = -(root[:, None] * slopes)
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
