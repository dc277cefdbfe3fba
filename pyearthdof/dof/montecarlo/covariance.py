"""The sum over observations of the sample covariance between y and its fit (Algorithm 1).

Small runs keep y and the fits, and leave out one repetition at a time for the standard error. Large
runs keep sums only, and leave out groups of repetitions; memory then does not grow with their
number. Which of the two depends on the size of the run alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .frames import merged_groups
from .jackknife import Jackknife

__all__ = ["Covariance", "Kept", "covariance_sum", "jackknife_groups"]

_MAX_KEPT = 1 << 23  # values of y, and as many of the fits: 64 MB each
_N_GROUPS = 32


@dataclass(frozen=True)
class Covariance:
    """c_i = Cov(muhat_i, y_i)/sigma_i^2 for each observation, None where only their sum is known."""

    per_observation: np.ndarray | None
    total: Jackknife


def jackknife_groups(n: int, n_rep: int, width: int = 1) -> np.ndarray | None:
    """Group of each repetition in a run too large to be kept; None where everything is kept."""
    if n * n_rep * width <= _MAX_KEPT:
        return None
    return np.arange(n_rep) * min(_N_GROUPS, n_rep) // n_rep


def covariance_sum(mu, sigma, groups=None):
    """Return an empty sum; `add(Y, fitted)` the blocks in order, then ask for its `result()`."""
    if groups is None:
        return _KeptCovariance(sigma)
    return _StreamedCovariance(mu, sigma, groups)


class Kept:
    """Blocks of responses and of their fits, kept for the end."""

    def __init__(self):
        self.y: list[np.ndarray] = []
        self.fitted: list[np.ndarray] = []

    def add(self, Y, fitted) -> None:
        self.y.append(Y)
        self.fitted.append(fitted)


class _KeptCovariance(Kept):
    def __init__(self, sigma):
        super().__init__()
        self.weight = 1.0 / sigma**2

    def result(self) -> Covariance:
        y = _centred(np.hstack(self.y))
        fitted = _centred(np.hstack(self.fitted))
        m = y.shape[1]
        products = y * fitted
        per_observation = self.weight * products.sum(axis=1) / (m - 1)
        per_repetition = self.weight @ products
        return Covariance(per_observation, _leave_one_out(per_observation, per_repetition))


def _centred(values):
    return values - values.mean(axis=1, keepdims=True)


def _leave_one_out(per_observation, per_repetition) -> Jackknife:
    """Without repetition j the sum of products loses m/(m - 1) times j's own products."""
    m = len(per_repetition)
    total = per_observation.sum()
    if m < 3:
        return Jackknife(float(total), np.full(m, np.nan))
    left = (m - 1) * total - m / (m - 1) * per_repetition
    return Jackknife(float(total), left / (m - 2))


class _StreamedCovariance:
    """Sums of u, v and uv for each group, u = y - mu and v = fit - a provisional centre.

    Both are centred nearly, so that the correction for their means takes few digits away.
    """

    def __init__(self, mu, sigma, groups):
        self.mu = mu
        self.weight = 1.0 / sigma**2
        self.groups = groups
        self.centre = None
        self.done = 0
        n_groups = int(groups.max()) + 1
        self.count = np.zeros(n_groups)
        self.u = np.zeros((n_groups, len(mu)))
        self.v = np.zeros((n_groups, len(mu)))
        self.uv = np.zeros((n_groups, len(mu)))

    def add(self, Y, fitted) -> None:
        if self.centre is None:
            self.centre = fitted.mean(axis=1)
        block_groups = self.groups[self.done : self.done + Y.shape[1]]
        for group in np.unique(block_groups):
            mine = block_groups == group
            u = Y[:, mine] - self.mu[:, None]
            v = fitted[:, mine] - self.centre[:, None]
            self.count[group] += mine.sum()
            self.u[group] += u.sum(axis=1)
            self.v[group] += v.sum(axis=1)
            self.uv[group] += (u * v).sum(axis=1)
        self.done += Y.shape[1]

    def result(self) -> Covariance:
        groups = self.groups[: self.done]
        starts = groups[np.flatnonzero(np.diff(merged_groups(groups), prepend=-1))]
        sums = (part[: groups[-1] + 1] for part in (self.count, self.u, self.v, self.uv))
        counts, us, vs, uvs = (np.add.reduceat(part, starts, axis=0) for part in sums)
        m, u, v, uv = (part.sum(axis=0) for part in (counts, us, vs, uvs))
        per_observation = self.weight * (uv - u * v / m) / (m - 1)
        left_out = np.empty(len(counts))
        for g in range(len(counts)):
            rest = m - counts[g]
            if rest < 2:
                left_out[g] = np.nan
                continue
            ug, vg = u - us[g], v - vs[g]
            left_out[g] = self.weight @ (uv - uvs[g] - ug * vg / rest) / (rest - 1)
        return Covariance(per_observation, Jackknife(float(per_observation.sum()), left_out))
