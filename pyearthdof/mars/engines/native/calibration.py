"""How predicted means are calibrated: R's glm of the response on the linear predictors."""

from __future__ import annotations

import numpy as np

from ...._utils.warnings import warn_user
from ....exceptions import RWarning
from ...arithmetic import log
from .glm import GlmStoppedError, fit_glm

__all__ = ["calibrate"]


def calibrate(
    predicted: np.ndarray, y: np.ndarray, n: np.ndarray | None, *, is_binomial: bool
) -> tuple[float, float]:
    """Intercept and slope of y on the link of the predicted means; 0 and 1 would be calibrated.

    `y` holds shares of `n` trials (None: of one each) for a binomial family, else counts. The slope is
    NaN where all predictions are equal.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if is_binomial:
            shifted = predicted + 1e-5
            shifted = np.where(shifted >= 1, 0.99999, shifted)
            x = log(shifted / (1 - shifted))
        else:
            x = log(predicted)
    if not np.isfinite(x).all():
        return np.nan, np.nan
    columns = np.array([np.ones(len(x)), x])
    try:
        found = fit_glm(columns, y, "binomial" if is_binomial else "poisson", weights=n)
    except GlmStoppedError:
        return np.nan, np.nan
    for text in found.warnings:
        warn_user(text, RWarning)
    return float(found.coef[0]), float(found.coef[1]) if found.rank > 1 else np.nan
