"""Base classes of linear procedures that select columns of X: best subset and the lassos."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from sklearn.utils.validation import check_array

from .._utils.checks import check_sizes
from ..contract import Bound, Fits
from .linear import BindingProcedure, LinearPrediction


@dataclass(frozen=True)
class CompactDesign:
    """X and Y in an orthonormal basis of the columns of X, without units.

    Preserves all inner products of a least-squares criterion, with r = min(n, p) rows instead of n. The
    columns of R and the responses have length one, so tolerances do not depend on the scale. In these
    units the coefficients are gamma_j = beta_j * x_norm_j / y_norm.
    """

    R: np.ndarray  # (r, p); a column without variation is zero
    Z: np.ndarray  # (r, m); columns are shorter than one by what X cannot explain
    leftover: np.ndarray  # (m,) residual sums of squares of the fit on all columns, over y_norm^2
    x_mean: np.ndarray  # what was subtracted; zeros without an intercept
    y_mean: np.ndarray
    x_norm: np.ndarray  # the lengths before scaling; one where the length is zero
    y_norm: np.ndarray
    n_samples: int

    @classmethod
    def build(cls, X: np.ndarray, Y: np.ndarray, fit_intercept: bool) -> CompactDesign:
        return CompactColumns.of(X, fit_intercept).with_responses(Y)

    def original_units(self, gamma: np.ndarray) -> np.ndarray:
        """Convert coefficients for R and Z to those for X and Y, (p, m)."""
        return gamma * self.y_norm / self.x_norm[:, None]


@dataclass(frozen=True)
class CompactColumns:
    """The part of a `CompactDesign` that depends on X alone."""

    X: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    x_mean: np.ndarray
    x_norm: np.ndarray
    fit_intercept: bool

    @classmethod
    def of(cls, X: np.ndarray, fit_intercept: bool) -> CompactColumns:
        check_sizes("X", np.abs(X).max(axis=0))
        x_mean = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
        X_unit, x_norm = _unit_columns(X - x_mean, noise_of=X)
        Q, R = qr(X_unit, mode="economic")
        return cls(X, Q, R, x_mean, x_norm, fit_intercept)

    def with_responses(self, Y: np.ndarray) -> CompactDesign:
        y_mean = Y.mean(axis=0) if self.fit_intercept else np.zeros(Y.shape[1])
        centred = Y - y_mean
        largest = np.abs(centred).max(axis=0)
        constant = largest <= 8 * np.finfo(float).eps * np.abs(y_mean)  # but for rounding
        check_sizes("y", np.where(constant, 0.0, largest))
        Y_unit, y_norm = _unit_columns(centred)
        Z = self.Q.T @ Y_unit
        leftover = np.sum((Y_unit - self.Q @ Z) ** 2, axis=0)
        return CompactDesign(
            self.R, Z, leftover, self.x_mean, y_mean, self.x_norm, y_norm, len(self.X)
        )


def _unit_columns(A: np.ndarray, noise_of: np.ndarray | None = None):
    """Scale columns to length one; columns of rounding errors after centring become zero."""
    norm = np.linalg.norm(A, axis=0)
    empty = norm == 0
    if noise_of is not None:
        empty |= norm <= 10 * len(A) * np.finfo(float).eps * np.linalg.norm(noise_of, axis=0)
    norm = np.where(empty, 1.0, norm)
    return np.where(empty, 0.0, A / norm), norm


def least_squares_on(design: CompactDesign, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Regress column j of Z on the columns of R with active[:, j]; return coefficients and ranks.

    Responses with the same active set are solved together.
    """
    gamma = np.zeros(active.shape)
    rank = np.zeros(active.shape[1], dtype=int)
    patterns, member = np.unique(active.T, axis=0, return_inverse=True)
    members = np.split(np.argsort(member, kind="stable"), np.cumsum(np.bincount(member))[:-1])
    for pattern, columns in zip(patterns, members, strict=True):
        chosen = np.flatnonzero(pattern)
        if len(chosen):
            solution, _, rank[columns], _ = np.linalg.lstsq(
                design.R[:, chosen], design.Z[:, columns], rcond=None
            )
            gamma[np.ix_(chosen, columns)] = solution
    return gamma, rank


class ActiveSetRegression(LinearPrediction, BindingProcedure, ABC):
    """A linear fit on an active set that depends on y.

    Subclasses define the active columns (`_select`) and, unless the fit is least squares, coefficients
    and trace. An intercept counts as one more coefficient in `n_coef_`, `rank_` and `trace_`.
    """

    def fit(self, X, y):
        """Fit y on X; sets `coef_`, `intercept_`, `active_` and the quantities of the paper."""
        X, y = self._checked(X, y)
        y = y.astype(np.float64, copy=False)  # also from extended precision
        design = CompactDesign.build(X, y[:, None], self.fit_intercept)
        active, gamma = self._select(design, single=True)
        fits, coef = self._fits(X, design, active, gamma)
        self.coef_ = coef[:, 0]
        self.intercept_ = float(design.y_mean[0] - design.x_mean @ self.coef_)
        self.active_ = np.flatnonzero(active[:, 0])
        self._keep(fits)
        return self

    def bind(self, X) -> Bound:
        """Prepare the design X for many fits by decomposing it once."""
        X = check_array(X, dtype=np.float64, input_name="X")
        return _BoundActiveSet(self, CompactColumns.of(X, self.fit_intercept))

    @abstractmethod
    def _select(self, design, *, single):
        """Return active sets (p, m), and coefficients for R and Z, or None for least squares.

        Subclasses validate their arguments here. `single` is True in `fit` and False in `fit_many`.
        """

    def _trace(self, design, gamma, rank):
        """Return tr S(y) without the intercept: for a projection, its rank (Proposition 1)."""
        return rank.astype(float)

    def _fits(self, X, design, active, gamma) -> tuple[Fits, np.ndarray]:
        refit, rank = least_squares_on(design, active)
        refitted = _fitted(X, design, refit)
        gamma = refit if gamma is None else gamma
        ones = int(self.fit_intercept)
        fits = Fits(
            fitted=refitted if gamma is refit else _fitted(X, design, gamma),
            trace=self._trace(design, gamma, rank) + ones,
            n_coef=active.sum(axis=0) + ones,
            rank=rank + ones,
            refitted=refitted,
        )
        return fits, design.original_units(gamma)


class _BoundActiveSet(Bound):
    def __init__(self, procedure: ActiveSetRegression, columns: CompactColumns):
        self.procedure, self.columns = procedure, columns

    def fit_many(self, Y, n_threads: int = 1) -> Fits:
        design = self.columns.with_responses(Y)
        active, gamma = self.procedure._select(design, single=False)
        return self.procedure._fits(self.columns.X, design, active, gamma)[0]


def _fitted(X, design, gamma):
    return (X - design.x_mean) @ design.original_units(gamma) + design.y_mean
