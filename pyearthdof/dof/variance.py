"""Estimators of the degrees of freedom with less variance from the same fits.

Both are unbiased. Antithetic pairs (y and 2 mu - y) are not among them: the fit of -y is minus the
fit of y for most procedures here, so both members of a pair say the same, and the variance doubles.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..exceptions import InvalidInputError
from .covariance import Covariance, covariance_sum
from .jackknife import mean_of

__all__ = ["VARIANCE_REDUCTIONS", "check_variance_reduction", "estimator"]

VARIANCE_REDUCTIONS = (None, "direction", "control")
_N_FOLDS = 10


def check_variance_reduction(name, procedure, X, responses) -> None:
    """Refuse an estimator whose conditions do not hold."""
    if name not in VARIANCE_REDUCTIONS:
        raise InvalidInputError(
            f"variance_reduction={name!r} is unknown; pass None, 'direction' or 'control'."
        )
    if name == "control" and isinstance(X, pd.DataFrame) and not _is_numeric(X):
        raise InvalidInputError(
            "variance_reduction='control' needs numbers in every column of X; pass 'direction' or "
            "None."
        )
    if name != "direction":
        return
    if np.ptp(responses.mu) > 0 or np.ptp(responses.sigma) > 0:
        raise InvalidInputError(
            "variance_reduction='direction' needs a constant mu and one sigma; pass 'control' or "
            "None."
        )
    if not getattr(procedure, "is_equivariant", False):
        raise InvalidInputError(
            f"variance_reduction='direction' needs a procedure that declares is_equivariant, but "
            f"{procedure!r} does not; pass 'control' or None."
        )


def _is_numeric(frame) -> bool:
    return frame.select_dtypes("number").shape == frame.shape


def estimator(name, X, responses, groups):
    """Return an empty estimator: `add(Y, fitted)` the blocks in order, then ask `result()`."""
    if name == "direction":
        return _Direction(responses.n, groups)
    if name == "control":
        return _Control(X, responses, groups)
    return covariance_sum(responses.mu, responses.sigma, groups)


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


class _Control:
    """h = sum (y_i - mu_i)(muhat_i - mu_i)/sigma_i^2, less what two linear smoothers explain of it.

    With z = (y - mu)/sigma the smoothers are least squares on X with a constant, z'Pz of mean
    rank(P), and the identity, z'z of mean n. The coefficients for a tenth of the repetitions come
    from the others, so the estimate stays unbiased.
    """

    def __init__(self, X, responses, groups):
        self.groups = groups
        self.mu = responses.mu[:, None]
        self.sigma = responses.sigma[:, None]
        self.basis = _column_space(X)
        self.h: list[np.ndarray] = []
        self.controls: list[np.ndarray] = []

    def add(self, Y, fitted) -> None:
        z = (Y - self.mu) / self.sigma
        projected = self.basis.T @ z
        self.h.append((z * (fitted - self.mu) / self.sigma).sum(axis=0))
        self.controls.append(
            np.column_stack([(projected**2).sum(axis=0), (z * z).sum(axis=0)])
            - [self.basis.shape[1], len(z)]
        )

    def result(self) -> Covariance:
        h, controls = np.concatenate(self.h), np.vstack(self.controls)
        values = h.copy()
        folds = np.array_split(np.arange(len(h)), min(_N_FOLDS, len(h)))
        for fold in folds:
            others = np.ones(len(h), dtype=bool)
            others[fold] = False
            values[fold] -= controls[fold] @ _slopes(controls[others], h[others])
        return Covariance(None, mean_of(values, self.groups))


def _column_space(X) -> np.ndarray:
    """An orthonormal basis of the columns of X and a constant."""
    X = np.asarray(X, dtype=float)
    scale = np.abs(X).max(axis=0)
    columns = np.column_stack([np.ones(len(X)), X / np.where(scale > 0, scale, 1.0)])
    u, d, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, d > max(columns.shape) * np.finfo(float).eps * d[0]]


def _slopes(controls, h):
    design = controls - controls.mean(axis=0)
    return np.linalg.lstsq(design, h - h.mean(), rcond=None)[0]
