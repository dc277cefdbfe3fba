"""The length of y integrated out, for a constant mean and a fit that shifts and scales with y.

With u = (y - ybar)/|y - ybar| and d = n - 1 the length of y - ybar is independent of u, so that

    df = 1 + d E[u'(muhat - ybar)/|y - ybar|].

The control: for a projection P of `smoothers`, orthogonal to the constant, d u'P u has the known mean
rank(P). Of each value b (d u'P u - rank(P)) is subtracted, b the coefficient of the fit on P u less that on
what all projections leave of u. For the repetitions of a fold b comes from the other folds, which are
independent: no bias.
"""

from __future__ import annotations

import numpy as np

from .covariance import Covariance
from .frames import merged_groups
from .jackknife import mean_of
from .smoothers import projections

__all__ = ["Direction", "df_of_projections", "has_one_mean", "is_equivariant"]

_N_FOLDS = 10


def has_one_mean(mu, sigma) -> bool:
    """Whether the mean is constant and the standard deviation a single number."""
    return np.ptp(mu) == 0 and np.ptp(sigma) == 0


def is_equivariant(procedure) -> bool:
    """Whether a fit is declared to shift and scale with y."""
    return bool(getattr(procedure, "is_equivariant", False))


def df_of_projections(rss: np.ndarray, n: int) -> np.ndarray:
    """What each run says of the df of projections, from their RSS; the first column has that of the mean.

    For a projection u'(muhat - ybar)/|y - ybar| is the share of |y - ybar|^2 that it explains.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.dof.montecarlo.direction import df_of_projections
    >>> df_of_projections(np.array([[10.0, 5.0, 0.0]]), n=11)
    array([[ 1.,  6., 11.]])
    """
    return 1 + (n - 1) * (1 - rss / rss[:, :1])


class Direction:
    """An empty estimate; `add(Y, fitted)` the blocks in order, then ask for its `result()`.

    `X` None is without the control. `groups` are left out together, and are the folds then. Without `rows`
    the sum over the observations is all that is found.
    """

    def __init__(self, n: int, X=None, groups=None, rows: bool = True):
        self.n, self.groups, self.rows, self.done = n, groups, rows, 0
        self.bases = [] if X is None else projections(X, centred=True)
        self.ranks = np.array([basis.shape[1] for basis in self.bases])
        if self.ranks.sum() == n - 1:  # the projections leave nothing of u
            self.bases, self.ranks = [], np.zeros(0)
        self.basis = np.hstack([np.empty((n, 0)), *self.bases])
        self.first = np.cumsum([0, *self.ranks])[:-1].astype(int)  # columns of the basis
        # For each repetition u'f, and for each projection u'P f and u'P u.
        self.scalars: list[np.ndarray] = []
        n_folds = _N_FOLDS if groups is None else int(groups.max()) + 1
        # For each fold the sums of u_i f_i, and for each projection of u_i (P u)_i.
        self.shares = np.zeros((n_folds, 1 + len(self.bases), n))

    def add(self, Y, fitted) -> None:
        mean = Y.mean(axis=0)
        u = Y - mean
        length = np.linalg.norm(u, axis=0)
        u, f = u / length, (fitted - mean) / length
        share = u * f
        coordinates = self.basis.T @ u
        inside = np.add.reduceat(coordinates * (self.basis.T @ f), self.first)
        along = np.add.reduceat(coordinates**2, self.first)
        self.scalars.append(np.vstack([share.sum(axis=0), inside, along]))
        if self.rows:
            parts = zip(self.bases, np.split(coordinates, self.first[1:]), strict=False)
            self._add_rows([share, *(u * (basis @ part) for basis, part in parts)])
        self.done += Y.shape[1]

    def _add_rows(self, shares: list[np.ndarray]) -> None:
        folds = self._folds(self.done + shares[0].shape[1])[self.done :]
        those, place = np.unique(folds, return_inverse=True)
        member = np.zeros((len(folds), len(those)))
        member[np.arange(len(folds)), place] = 1.0
        self.shares[those] += np.stack([(share @ member).T for share in shares], axis=1)

    def _folds(self, m: int) -> np.ndarray:
        return np.arange(m) % _N_FOLDS if self.groups is None else self.groups[:m]

    def result(self) -> Covariance:
        d, m = self.n - 1, self.done
        scalars = np.hstack(self.scalars)
        folds = self._folds(m)
        b = self._coefficients(folds, scalars)
        along = scalars[1 + len(self.bases) :]
        values = 1.0 + d * scalars[0] - (b[folds] * (d * along.T - self.ranks)).sum(axis=1)
        groups = None if self.groups is None else merged_groups(folds)
        return Covariance(self._per_observation(folds, b), mean_of(values, groups))

    def _per_observation(self, folds, b) -> np.ndarray | None:
        if not self.rows:
            return None
        sizes = np.bincount(folds)
        shares = (self.n - 1) * self.shares[: len(sizes)]
        diagonals = np.array([(basis**2).sum(axis=1) for basis in self.bases])
        total = shares[:, 0].sum(axis=0)
        for k, diagonal in enumerate(diagonals):
            total = total - b[:, k] @ (shares[:, 1 + k] - sizes[:, None] * diagonal)
        return 1.0 / self.n + total / self.done

    def _coefficients(self, folds, scalars) -> np.ndarray:
        """b for each fold, from the others; one row for a fold, one column for a projection."""
        sizes, k = np.bincount(folds), len(self.bases)
        if len(sizes) == 1 or k == 0:
            return np.zeros((len(sizes), k))
        sums = np.zeros((len(sizes), 1 + 2 * k))
        np.add.at(sums, folds, scalars.T)
        others = sums.sum(axis=0) - sums
        uf, inside, along = others[:, :1], others[:, 1 : 1 + k], others[:, 1 + k :]
        left = (sizes.sum() - sizes)[:, None] - along.sum(axis=1, keepdims=True)
        return inside / along - (uf - inside.sum(axis=1, keepdims=True)) / left
