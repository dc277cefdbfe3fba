"""Estimators of the degrees of freedom with less variance from the same fits.

Both are unbiased: "direction" for a constant mean, below, and "control" for any, in `control`. Antithetic
pairs (y and 2 mu - y) are not among them: the fit of -y is minus the fit of y for most procedures here, so
both members of a pair say the same, and the variance doubles.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..._checks import check_choice, refusal
from .control import control_sum
from .correlated import CorrelatedResponses, Seen
from .covariance import Covariance, covariance_sum
from .jackknife import mean_of

__all__ = ["VARIANCE_REDUCTIONS", "check_variance_reduction", "estimator", "is_numeric"]

VARIANCE_REDUCTIONS = (None, "direction", "control")


def check_variance_reduction(name, procedure, X, responses) -> None:
    """Refuse an estimator whose conditions do not hold."""
    check_choice("variance_reduction", name, VARIANCE_REDUCTIONS)
    if name == "control" and not is_numeric(X):
        right = "'direction' or None where a column of X does not hold numbers, or misses some"
        raise refusal("variance_reduction", name, right)
    if name != "direction":
        return
    if isinstance(responses, CorrelatedResponses):
        raise refusal("variance_reduction", name, "'control' or None where sigma is a matrix")
    if np.ptp(responses.mu) > 0 or np.ptp(responses.sigma) > 0:
        right = "'control' or None where mu is not constant or sigma not a single number"
        raise refusal("variance_reduction", name, right)
    if not getattr(procedure, "is_equivariant", False):
        right = f"'control' or None, because {procedure!r} does not declare is_equivariant"
        raise refusal("variance_reduction", name, right)


def is_numeric(X) -> bool:
    """Whether every column of a design holds numbers, none of them missing: "control" projects on them."""
    if isinstance(X, pd.DataFrame):
        return X.select_dtypes("number").shape == X.shape and not X.isna().any(axis=None)
    return not isinstance(X, np.ndarray) or not np.isnan(X).any()


def estimator(name, X, responses, groups):
    """Return an empty estimator: `add(Y, fitted)` the blocks in order, then ask `result()`."""
    if isinstance(responses, CorrelatedResponses):
        return _correlated(name, X, responses, groups)
    if name == "direction":
        return _Direction(responses.n, groups)
    if name == "control":
        return control_sum(X, responses.mu, responses.sigma, groups)
    return covariance_sum(responses.mu, responses.sigma, groups)


def _correlated(name, X, responses: CorrelatedResponses, groups):
    """Without a reduction in coordinates that keep the observations apart, else in white ones."""
    if name is None:
        plain = estimator(None, X, responses.whitened(), groups)
        return Seen(plain, responses.weighed, np.asarray, keeps_rows=True)
    white_X = responses.white(np.asarray(X, dtype=float))
    inner = estimator(name, white_X, responses.whitened(), groups)
    return Seen(inner, responses.white_noise, responses.white, keeps_rows=False)


class _Direction:
    """For a constant mean and a fit that shifts and scales with y.

    The length of y - ybar is then independent of its direction, so it can be integrated out:
    df = 1 + (n - 1) E[(y - ybar)' muhat / |y - ybar|^2].
    """

    def __init__(self, n, groups):
        self.groups = groups
        self.values: list[np.ndarray] = []
        self.per_observation = np.zeros(n)

    def add(self, Y, fitted) -> None:
        mean = Y.mean(axis=0)
        y = Y - mean
        shares = (len(Y) - 1) * y * (fitted - mean) / (y * y).sum(axis=0)
        self.values.append(1.0 + shares.sum(axis=0))
        self.per_observation += shares.sum(axis=1)

    def result(self) -> Covariance:
        values = np.concatenate(self.values)
        per_observation = 1.0 / len(self.per_observation) + self.per_observation / len(values)
        return Covariance(per_observation, mean_of(values, self.groups))
