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
    >>> from pyearthdof.dof.run.direction import df_of_projections
    >>> df_of_projections(np.array([[10.0, 5.0, 0.0]]), n=11)
    array([[ 1.,  6., 11.]])
    """
    return 1 + (n - 1) * (1 - rss / rss[:, :1])


class Direction:
    """An empty estimate; `add(Y, fitted)` the blocks in order, then ask for its `result()`.

    `X` None is without the control. `groups` are left out together, and are the folds then.
    """

    def __init__(self, n: int, X=None, groups=None):
        self.n, self.groups, self.done = n, groups, 0
        self.bases = [] if X is None else projections(X, centred=True)
        self.ranks = np.array([basis.shape[1] for basis in self.bases])
        if self.ranks.sum() == n - 1:  # the projections leave nothing of u
            self.bases, self.ranks = [], np.zeros(0)
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
        shares = [u * f]
        inside, along = [], []
        for basis in self.bases:
            coordinates = basis.T @ u
            inside.append((coordinates * (basis.T @ f)).sum(axis=0))
            along.append((coordinates**2).sum(axis=0))
            shares.append(u * (basis @ coordinates))
        self.scalars.append(np.stack([shares[0].sum(axis=0), *inside, *along]))
        folds = self._folds(self.done + Y.shape[1])[self.done :]
        those, place = np.unique(folds, return_inverse=True)
        member = np.zeros((len(folds), len(those)))
        member[np.arange(len(folds)), place] = 1.0
        self.shares[those] += np.stack([(share @ member).T for share in shares], axis=1)
        self.done += Y.shape[1]

    def _folds(self, m: int) -> np.ndarray:
        return np.arange(m) % _N_FOLDS if self.groups is None else self.groups[:m]

    def result(self) -> Covariance:
        d, m = self.n - 1, self.done
        uf, inside, along = np.split(np.hstack(self.scalars), [1, 1 + len(self.bases)])
        folds = self._folds(m)
        b = self._coefficients(folds, uf, inside, along)
        values = 1.0 + d * uf[0] - (b[folds] * (d * along.T - self.ranks)).sum(axis=1)
        sizes = np.bincount(folds)
        shares = d * self.shares[: len(sizes)]
        diagonals = np.array([(basis**2).sum(axis=1) for basis in self.bases])
        total = shares[:, 0].sum(axis=0)
        for k, diagonal in enumerate(diagonals):
            total = total - b[:, k] @ (shares[:, 1 + k] - sizes[:, None] * diagonal)
        groups = None if self.groups is None else merged_groups(folds)
        return Covariance(1.0 / self.n + total / m, mean_of(values, groups))

    def _coefficients(self, folds, uf, inside, along) -> np.ndarray:
        """b for each fold, from the others; one row for a fold, one column for a projection."""
        sizes = np.bincount(folds)
        sums = np.zeros((len(sizes), 1 + 2 * len(self.bases)))
        np.add.at(sums, folds, np.vstack([uf, inside, along]).T)
        if len(sizes) == 1 or not self.bases:
            return np.zeros((len(sizes), len(self.bases)))
        others = sums.sum(axis=0) - sums
        uf, inside, along = np.split(others, [1, 1 + len(self.bases)], axis=1)
        left = (sizes.sum() - sizes)[:, None] - along.sum(axis=1, keepdims=True)
        return inside / along - (uf - inside.sum(axis=1, keepdims=True)) / left
