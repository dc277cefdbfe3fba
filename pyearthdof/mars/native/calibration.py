"""How predicted means are calibrated: R's glm of the response on the linear predictors."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, xlogy

__all__ = ["calibrate"]

MAXIT, EPSILON = 25, 1e-8  # R's glm.control
TOLERANCE = 1e-11  # of its regressions


def calibrate(
    predicted: np.ndarray, y: np.ndarray, n: np.ndarray | None, *, is_binomial: bool
) -> tuple[float, float]:
    """Intercept and slope of y on the link of the predicted means; 0 and 1 would be calibrated.

    `y` holds shares of `n` trials (None: of one each) for a binomial family, else counts. The slope is
    NaN where all predictions are equal.
    """
    n = np.ones(len(y)) if n is None else n
    with np.errstate(divide="ignore", invalid="ignore"):
        if is_binomial:
            shifted = predicted + 1e-5
            shifted = np.where(shifted >= 1, 0.99999, shifted)
            x, mean = np.log(shifted / (1 - shifted)), (n * y + 0.5) / (n + 1)
            eta = np.log(mean / (1 - mean))
        else:
            x, mean = np.log(predicted), y + 0.1
            eta = np.log(mean)
    if not np.isfinite(x).all():
        return np.nan, np.nan
    X = np.column_stack([np.ones(len(x)), x])
    if np.ptp(x) <= TOLERANCE * np.abs(x).max():
        X = X[:, :1]
    coef = _iterate(X, y, n, mean, eta, is_binomial)
    return float(coef[0]), float(coef[1]) if len(coef) > 1 else np.nan


def _iterate(X, y, n, mean, eta, is_binomial) -> np.ndarray:
    """R's iteratively reweighted least squares with the canonical link."""
    deviance, coef = _deviance(y, mean, n, is_binomial), np.zeros(X.shape[1])
    for _ in range(MAXIT):
        slope = mean * (1 - mean) if is_binomial else mean  # of the mean; also its variance
        used = (n > 0) & (slope != 0)
        root = np.sqrt(n[used] * slope[used])
        z = eta[used] + (y[used] - mean[used]) / slope[used]
        coef = np.linalg.lstsq(X[used] * root[:, None], z * root, rcond=None)[0]
        eta = X @ coef
        # R's logit stays this far from 0 and 1
        mean = np.clip(expit(eta), 2.220446e-16, 1 - 2.220446e-16) if is_binomial else np.exp(eta)
        before, deviance = deviance, _deviance(y, mean, n, is_binomial)
        if abs(deviance - before) / (abs(deviance) + 0.1) < EPSILON:
            break
    return coef


def _deviance(y, mean, n, is_binomial) -> float:
    if is_binomial:
        parts = xlogy(y, y / mean) + xlogy(1 - y, (1 - y) / (1 - mean))
    else:
        parts = xlogy(y, y / mean) - (y - mean)
    return float(2 * np.sum(n * parts))
