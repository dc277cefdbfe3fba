"""The control variate: Algorithm 1 on what linear smoothers of known trace leave of the fit.

With z = (y - mu)/sigma and f = muhat/sigma the degrees of freedom are the covariance of z and f. Those of
q = P(y - mu)/sigma, P one of the projections of `smoothers`, are rank(P), and those of what all of them leave
of z are n minus their ranks. So with P1, P2, ... and the last as smoothers S1, S2, ...

    df = Cov(z, f - b1 q1 - b2 q2 - ...) + b1 tr(S1) + b2 tr(S2) + ...

for any b1, b2, ..., and with the coefficients of the regression of f on the smoothers there is little
left to vary. For the repetitions of a fold the coefficients and the mean of the rest come from the
other folds: they are independent of z, whose mean is zero, so the estimate is unbiased for any mu.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .covariance import Covariance, Kept
from .frames import merged_groups
from .jackknife import Jackknife
from .smoothers import projections

__all__ = ["control_sum"]

_N_FOLDS = 10


def control_sum(X, mu, sigma, groups=None):
    """Return an empty sum; `add(Y, fitted)` the blocks in order, then ask for its `result()`."""
    if groups is None:
        return _KeptControl(X, mu, sigma)
    return _StreamedControl(X, mu, sigma, groups)


class _Smoothed(NamedTuple):
    """z (n, m), and f and its smoothers' q as one (1 + smoothers, n, m) array."""

    z: np.ndarray
    parts: np.ndarray


class _Smoothers:
    """The linear smoothers of a design: its projections, and what they leave."""

    def __init__(self, X, mu, sigma):
        self.mu, self.sigma = mu[:, None], sigma[:, None]
        self.bases = projections(X, centred=False)
        diagonals = np.array([(basis**2).sum(axis=1) for basis in self.bases]).reshape(-1, len(mu))
        self.diagonals = np.vstack([diagonals, 1.0 - diagonals.sum(axis=0)])
        ranks = [basis.shape[1] for basis in self.bases]
        self.traces = np.array([*ranks, len(mu) - sum(ranks)], dtype=float)

    def apply(self, Y, fitted, centre) -> _Smoothed:
        """`centre` (n, 1) is near the mean fit; it falls out of the estimate, and saves digits."""
        noise = Y - self.mu
        z = noise / self.sigma
        smooth = [basis @ (basis.T @ noise) / self.sigma for basis in self.bases]
        left = z - np.sum(smooth, axis=0)
        return _Smoothed(z, np.stack([(fitted - centre) / self.sigma, *smooth, left]))


class _Sums(NamedTuple):
    """For each fold: its number of repetitions, and the sums of z, the parts, z_i part_i and part'part."""

    size: np.ndarray
    z: np.ndarray
    parts: np.ndarray
    products: np.ndarray
    squares: np.ndarray

    def without(self, g: int) -> _Sums:
        return _Sums(*(np.delete(values, g, axis=0) for values in self))


def _sums(smoothed: _Smoothed) -> _Sums:
    """The sums of one fold."""
    z, parts = smoothed
    return _Sums(
        np.array(float(z.shape[1])),
        z.sum(axis=1),
        parts.sum(axis=2),
        np.einsum("im,kim->ki", z, parts),
        np.einsum("jim,kim->jk", parts, parts),
    )


def _cross_fitted(sums: _Sums, diagonals) -> tuple[np.ndarray, np.ndarray]:
    """The estimate of each observation, and the coefficients that each fold got from the others."""
    whole = [values.sum(axis=0) for values in sums]
    total, coefficients = np.zeros(diagonals.shape[1]), []
    for k, mine in enumerate(zip(*sums, strict=True)):
        others = _Sums(*(all_of - values[k] for all_of, values in zip(whole, sums, strict=True)))
        mine = _Sums(*mine)
        mean = others.parts / others.size
        squares = others.squares - others.size * mean @ mean.T
        b = np.zeros(len(diagonals))  # a single repetition has no spread to regress on
        if others.size > 1:
            b = np.linalg.lstsq(squares[1:, 1:], squares[1:, 0], rcond=None)[0]
        covariances = mine.products - mean * mine.z
        total += covariances[0] - b @ (covariances[1:] - mine.size * diagonals)
        coefficients.append(b)
    return total / whole[0], np.array(coefficients)


class _KeptControl(Kept):
    def __init__(self, X, mu, sigma):
        super().__init__()
        self.smoothers = _Smoothers(X, mu, sigma)

    def result(self) -> Covariance:
        fitted = np.hstack(self.fitted)
        z, parts = self.smoothers.apply(np.hstack(self.y), fitted, _mean(fitted))
        m, traces = z.shape[1], self.smoothers.traces
        folds = np.array_split(np.arange(m), min(_N_FOLDS, m))
        each = [_sums(_Smoothed(z[:, fold], parts[:, :, fold])) for fold in folds]
        sums = _Sums(*map(np.stack, zip(*each, strict=True)))
        per_observation, coefficients = _cross_fitted(sums, self.smoothers.diagonals)
        value = float(per_observation.sum())
        if m < 3:
            return Covariance(per_observation, Jackknife(value, np.full(m, np.nan)))
        # Without repetition j a sample covariance changes by (itself - m/(m - 1) j's products)/(m - 2),
        # which counts that j is in the means, too. j's coefficients are those that j did not make.
        parts = parts - parts.mean(axis=2, keepdims=True)
        products = np.einsum("im,kim->km", z - _mean(z), parts) * m / (m - 1)
        b = np.repeat(coefficients, [len(fold) for fold in folds], axis=0).T
        own = products[0] - (b * (products[1:] - traces[:, None])).sum(axis=0)
        left_out = value + (own.mean() - own) / (m - 2)
        return Covariance(per_observation, Jackknife(value, left_out))


class _StreamedControl:
    """Sums for each group of repetitions; the groups are the folds, and what is left out."""

    def __init__(self, X, mu, sigma, groups):
        self.smoothers = _Smoothers(X, mu, sigma)
        self.groups = groups
        self.centre = None
        self.done = 0
        n, n_groups = len(mu), int(groups.max()) + 1
        parts = 1 + len(self.smoothers.traces)
        shapes = ((), (n,), (parts, n), (parts, n), (parts, parts))
        self.sums = _Sums(*(np.zeros((n_groups, *shape)) for shape in shapes))

    def add(self, Y, fitted) -> None:
        if self.centre is None:
            self.centre = _mean(fitted)
        block_groups = self.groups[self.done : self.done + Y.shape[1]]
        for group in np.unique(block_groups):
            mine = block_groups == group
            found = _sums(self.smoothers.apply(Y[:, mine], fitted[:, mine], self.centre))
            for total, values in zip(self.sums, found, strict=True):
                total[group] += values
        self.done += Y.shape[1]

    def result(self) -> Covariance:
        groups = self.groups[: self.done]
        merged = merged_groups(groups)
        starts = groups[np.flatnonzero(np.diff(merged, prepend=-1))]
        filled = int(groups[-1]) + 1
        sums = _Sums(*(np.add.reduceat(values[:filled], starts, axis=0) for values in self.sums))
        diagonals = self.smoothers.diagonals
        per_observation = _cross_fitted(sums, diagonals)[0]
        value, n_groups = float(per_observation.sum()), len(starts)
        if n_groups < 3:
            return Covariance(per_observation, Jackknife(value, np.full(n_groups, np.nan)))
        left_out = [_cross_fitted(sums.without(g), diagonals)[0].sum() for g in range(n_groups)]
        return Covariance(per_observation, Jackknife(value, np.array(left_out)))


def _mean(values) -> np.ndarray:
    return values.mean(axis=1, keepdims=True)
