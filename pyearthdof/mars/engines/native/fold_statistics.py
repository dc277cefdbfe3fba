"""What earth tells of the rows that a fold left out: RSq, largest error, rates, AUC, calibration."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from ...arithmetic import (
    r_mean,
    r_sum,
    r_weighted_mean,
)
from .calibration import calibrate

__all__ = ["class_levels", "class_rates", "glm_statistics", "largest_error", "weighted_rsq"]


def weighted_rsq(y: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    """1 - RSS/TSS of one response; what is almost zero is zero, as in earth."""
    if weights is None:
        rss, total = r_sum((y - predicted) ** 2), r_sum((y - r_mean(y)) ** 2)
    else:
        rss = r_sum(weights * (y - predicted) ** 2)
        total = r_sum(weights * (y - r_weighted_mean(y, weights)) ** 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        rsq = 1 - np.float64(rss) / np.float64(total)
    return 0.0 if -1e-5 < rsq < 1e-5 else float(rsq)


def largest_error(errors: np.ndarray) -> float:
    """The error that is largest in size, with its sign."""
    return float(errors[np.argmax(np.abs(errors))])


def class_levels(responses) -> tuple | None:
    """Levels of the response to earth: those of a factor, or the two values of one whose range is 1."""
    if responses.classes is not None:
        return tuple(responses.classes)
    low, high = responses.matrix.min(), responses.matrix.max()
    # R stops where such responses are more than the two levels; there is no rate then.
    return (low, high) if high - low == 1 and responses.matrix.shape[1] <= 2 else None


def class_rates(predicted: np.ndarray, y: np.ndarray, levels: tuple) -> np.ndarray:
    """Share of rows on the right side of each class, and of rows in the right class."""
    if y.shape[1] == 1:
        rate = np.mean((predicted > 0.5) == (y > 0.5))
        return np.array([rate, rate])
    true, found = y.argmax(axis=1), predicted.argmax(axis=1)
    each = [np.mean((true == k) == (found == k)) for k in range(len(levels))]
    return np.array([*each, np.mean(true == found)])


def glm_statistics(
    predicted: np.ndarray, y: np.ndarray, counts: np.ndarray | None, *, is_binomial: bool
) -> dict[str, np.ndarray]:
    """Rows of R's tables for the predicted means of a generalised linear model.

    `counts` are the successes and failures whose shares y holds, or None.
    """
    n = None if counts is None else counts.sum(axis=1)
    test, deviance = (
        (_auc, _binomial_deviance) if is_binomial else (_correlation, _poisson_deviance)
    )
    pairs = list(zip(predicted.T, y.T, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        found: dict[str, Any] = {
            "cv.auc.tab" if is_binomial else "cv.cor.tab": [test(*pair) for pair in pairs],
            "cv.deviance.tab": [deviance(*pair) for pair in pairs],
        }
    calibrated = np.array([calibrate(*pair, n, is_binomial=is_binomial) for pair in pairs])
    found |= {"cv.calib.int.tab": calibrated[:, 0], "cv.calib.slope.tab": calibrated[:, 1]}
    return {name: np.asarray(values, dtype=float) for name, values in found.items()}


def _auc(predicted: np.ndarray, y: np.ndarray) -> float:
    """Area under the ROC curve, from ranks; NaN where there is one class only."""
    high = y > 0.5
    low, n_low, n_high = ~high, np.sum(y <= 0.5), np.sum(high)
    ranks = rankdata(np.concatenate([predicted[low], predicted[high]]))
    area = n_low * n_high + n_low * (n_low + 1) / 2 - ranks[:n_low].sum()
    return float(np.float64(area) / np.float64(n_low * n_high))


def _correlation(predicted: np.ndarray, y: np.ndarray) -> float:
    """R's cor(); NaN where one of the two is constant, which R's mean then is to the bit."""
    a, b = predicted - r_mean(predicted), y - r_mean(y)
    return float(np.float64(r_sum(a * b)) / (np.sqrt(r_sum(a**2)) * np.sqrt(r_sum(b**2))))


def _binomial_deviance(predicted: np.ndarray, y: np.ndarray) -> float:
    parts = y * np.log(predicted) + (1 - y) * np.log(1 - predicted)
    return float(-2 * parts.sum() / len(y))


def _poisson_deviance(predicted: np.ndarray, y: np.ndarray) -> float:
    parts = np.where(y == 0, 0.0, y * np.log(y / predicted)) - (y - predicted)
    return float(2 * parts.sum() / len(y))
