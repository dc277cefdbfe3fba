"""The length of y integrated out, for a constant mean and a fit that shifts and scales with y.

With u = (y - ybar)/|y - ybar| and d = n - 1 the length of y - ybar is independent of u, so that

    df = 1 + d E[u'(muhat - ybar)/|y - ybar|].

The control: P is the projection on the columns of X, centred, and d u'P u has the known mean rank(P). Of each
value b (d u'P u - rank(P)) is subtracted, b the difference of the coefficients of the fit on P u and on
u - P u. For the repetitions of a fold b comes from the other folds, which are independent: no bias.
"""

from __future__ import annotations

import numpy as np

from .covariance import Covariance
from .frames import merged_groups
from .jackknife import mean_of

__all__ = ["Direction", "column_space"]

_N_FOLDS = 10


class Direction:
    """An empty estimate; `add(Y, fitted)` the blocks in order, then ask for its `result()`.

    `X` None is without the control. `groups` are left out together, and are the folds then.
    """

    def __init__(self, n: int, X=None, groups=None):
        self.n, self.groups, self.done = n, groups, 0
        self.basis = np.zeros((n, 0)) if X is None else column_space(X, centred=True)
        self.rank = self.basis.shape[1]
        if self.rank == n - 1:  # u'P u is 1 then
            self.basis, self.rank = np.zeros((n, 0)), 0
        self.scalars: list[np.ndarray] = []
        n_folds = _N_FOLDS if groups is None else int(groups.max()) + 1
        # The sums over a fold of d u_i f_i and of d u_i (P u)_i.
        self.shares = np.zeros((n_folds, 2, n))

    def add(self, Y, fitted) -> None:
        mean = Y.mean(axis=0)
        u = Y - mean
        length = np.linalg.norm(u, axis=0)
        u, f = u / length, (fitted - mean) / length
        coordinates = self.basis.T @ u
        projected = self.basis @ coordinates
        self.scalars.append(
            np.stack(
                [
                    (u * f).sum(axis=0),
                    (coordinates * (self.basis.T @ f)).sum(axis=0),
                    (coordinates**2).sum(axis=0),
                ]
            )
        )
        folds = self._folds(self.done + Y.shape[1])[self.done :]
        for fold in np.unique(folds):
            mine = folds == fold
            self.shares[fold, 0] += (u[:, mine] * f[:, mine]).sum(axis=1)
            self.shares[fold, 1] += (u[:, mine] * projected[:, mine]).sum(axis=1)
        self.done += Y.shape[1]

    def _folds(self, m: int) -> np.ndarray:
        return np.arange(m) % _N_FOLDS if self.groups is None else self.groups[:m]

    def result(self) -> Covariance:
        d, m = self.n - 1, self.done
        uf, pf, pu = np.hstack(self.scalars)
        folds = self._folds(m)
        b = self._coefficients(folds, uf, pf, pu)
        values = 1.0 + d * uf - b[folds] * (d * pu - self.rank)
        sizes = np.bincount(folds, minlength=len(b))
        shares = d * self.shares[: len(b)]
        own = (self.basis**2).sum(axis=1)  # the diagonal of P
        excess = b @ (shares[:, 1] - sizes[:, None] * own)
        per_observation = 1.0 / self.n + (shares[:, 0].sum(axis=0) - excess) / m
        groups = None if self.groups is None else merged_groups(folds)
        return Covariance(per_observation, mean_of(values, groups))

    def _coefficients(self, folds, uf, pf, pu) -> np.ndarray:
        """b for each fold, from the others."""
        inside, along, share = (np.bincount(folds, weights=w) for w in (pf, uf, pu))
        size = np.bincount(folds)
        if self.rank == 0:
            return np.zeros(len(size))
        inside, along, share, size = (w.sum() - w for w in (inside, along, share, size))
        with np.errstate(invalid="ignore"):
            b = inside / share - (along - inside) / (size - share)
        return np.where(size > 0, b, 0.0)


def column_space(X, centred: bool = False) -> np.ndarray:
    """An orthonormal basis of the columns of X and a constant; of the centred columns without it."""
    X = np.asarray(X, dtype=float)
    scale = np.abs(X).max(axis=0)
    columns = X / np.where(scale > 0, scale, 1.0)
    if centred:
        eps = np.finfo(float).eps
        columns = columns - columns.mean(axis=0)
        # What a constant column leaves is rounding.
        columns = columns[:, np.abs(columns).max(axis=0) > len(X) * eps]
        if columns.shape[1] == 0:
            return columns
    else:
        columns = np.column_stack([np.ones(len(X)), columns])
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return u[:, s > max(columns.shape) * np.finfo(float).eps * s[0]]
