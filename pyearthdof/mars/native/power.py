"""Least squares of a + b x^c, for the power models of the variance."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from ...exceptions import InvalidInputError

__all__ = ["fit_power"]

SMALLEST = np.finfo(float).eps
MAX_EVALUATIONS = 500
SMALLEST_POWER = 1e-6  # of zeros


def fit_power(x, y, weights, start: np.ndarray, intercept: bool) -> np.ndarray:
    """Coefficients (a, b, c), or (b, c) without an intercept, of y on x >= 0.

    Raises
    ------
    InvalidInputError
        Where the search does not end in a minimum; R's nls stops there, too.
    """
    root = np.sqrt(weights)
    logs = np.log(np.where(x > 0, x, 1.0))

    def powers(c):
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return x**c

    def residuals(p):
        line = p[-2] * powers(p[-1]) + (p[0] if intercept else 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            return root * (line - y)

    def slopes(p):
        each = powers(p[-1])
        columns = [np.ones(len(x))] if intercept else []
        columns += [each, p[-2] * each * logs]
        with np.errstate(over="ignore", invalid="ignore"):
            return np.column_stack(columns) * root[:, None]

    try:
        if not np.isfinite(start).all():
            raise ValueError("the start is not finite")
        found = least_squares(
            residuals, start, slopes, method="lm", xtol=SMALLEST, ftol=SMALLEST, gtol=SMALLEST,
            x_scale="jac", max_nfev=MAX_EVALUATIONS,
        )  # fmt: skip
    except ValueError as error:
        raise _failure(str(error)) from None
    if found.status == 0 or not np.isfinite(found.x).all():
        raise _failure("the search goes on without end")
    if (x == 0).any() and found.x[-1] < SMALLEST_POWER:
        raise _failure("the exponent goes to 0 or below, but some fitted values are 0")
    return found.x


def _failure(why: str) -> InvalidInputError:
    return InvalidInputError(
        f"the power model of the variance has no minimum that can be found ({why}): use another "
        "varmod_method, such as 'lm'"
    )
