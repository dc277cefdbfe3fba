"""Estimators of the degrees of freedom: sample covariances, and unbiased estimators with less variance.

Algorithm 1 sums the sample covariances of y_i and its fit over the observations. Small runs keep y and the
fits, and leave out one repetition at a time for the standard error. Large runs keep only sums, and leave out
groups of repetitions. The choice depends only on the size of the run.

Projections on X and on its powers up to 5 have known degrees of freedom, their ranks. They are the controls:

"control", for any mean. With z = (y - mu)/sigma, f = muhat/sigma and linear smoothers S1, S2, ..., namely
the projections and the rest of the identity,

    df = Cov(z, f - b1 S1 z - b2 S2 z - ...) + b1 tr(S1) + b2 tr(S2) + ...

for any b1, b2, ... The regression of f on the smoothers gives coefficients that leave little variance. For
the repetitions of a fold, the coefficients and the mean of the rest come from the other folds, so
the estimate is unbiased for any mu.

"direction", for a constant mean and a fit that shifts and scales with y. With u = (y - ybar)/|y - ybar| and
d = n - 1, the length of y - ybar is independent of u, so that

    df = 1 + d E[u'(muhat - ybar)/|y - ybar|].

For a projection P orthogonal to the constant, d u'P u has mean rank(P). Each value is reduced by
b (d u'P u - rank(P)), where b is the coefficient of the fit on P u minus that on the rest of u, from the
other folds.

"orthogonal" combines both, under their conditions, with responses in frames (`draws`). Antithetic pairs y and
2 mu - y would double the variance, because most procedures fit -y by minus the fit of y.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..._utils.checks import check_choice, refusal
from ...contract import Rows
from ...random import RDraws
from .draws import CorrelatedResponses, Responses, frame_size, merged_groups
from .errors import Jackknife, mean_of

_MAX_KEPT = 1 << 23  # values of y, and as many of the fits: 64 MB each
_N_GROUPS = 32


@dataclass(frozen=True)
class Covariance:
    """c_i = Cov(muhat_i, y_i)/sigma_i^2 for each observation, None if only their sum is known."""

    per_observation: np.ndarray | None
    total: Jackknife


def jackknife_groups(n: int, n_rep: int, width: int = 1) -> np.ndarray | None:
    """Return the group of each repetition in a run too large to be kept; None if everything is kept."""
    if n * n_rep * width <= _MAX_KEPT:
        return None
    return np.arange(n_rep) * min(_N_GROUPS, n_rep) // n_rep


class Estimator(ABC):
    """An incremental estimate: `add` the blocks in order, then call `result`.

    `part` computes the part of a block to keep, in any process; `take` adds the parts in order. Large runs
    keep sums, so their parts are smaller than the fits; in small runs, the part is the fits.
    """

    done = 0  # repetitions taken

    def part(self, Y: np.ndarray, fitted: np.ndarray, first: int) -> Any:
        """Return the part of a block to keep; `first` is its first repetition. The object does not change."""
        return fitted

    @abstractmethod
    def take(self, part: Any, Y: Callable[[], np.ndarray]) -> None:
        """Add the part of the next block; `Y` returns its responses."""

    def add(self, Y: np.ndarray, fitted: np.ndarray) -> None:
        self.take(self.part(Y, fitted, self.done), lambda: Y)

    @abstractmethod
    def result(self) -> Covariance:
        """Return the estimate from all blocks."""


def covariance_sum(
    mu: np.ndarray, sigma: np.ndarray, groups: np.ndarray | None = None
) -> Estimator:
    """Return an empty sum; `add(Y, fitted)` the blocks in order, then call `result()`."""
    if groups is None:
        return _KeptCovariance(sigma)
    return _StreamedCovariance(mu, sigma, groups)


class Kept(Estimator):
    """Blocks of responses and of their fits, kept until the end."""

    def __init__(self) -> None:
        self.y: list[np.ndarray] = []
        self.fitted: list[np.ndarray] = []

    def take(self, part: Any, Y: Callable[[], np.ndarray]) -> None:
        self.y.append(Y())
        self.fitted.append(part)
        self.done += part.shape[1]


class _KeptCovariance(Kept):
    def __init__(self, sigma: np.ndarray) -> None:
        super().__init__()
        self.weight = 1.0 / sigma**2

    def result(self) -> Covariance:
        y = _centred(np.hstack(self.y))
        fitted = _centred(np.hstack(self.fitted))
        m = y.shape[1]
        products = np.multiply(y, fitted, out=fitted)
        per_observation = self.weight * products.sum(axis=1) / (m - 1)
        per_repetition = self.weight @ products
        return Covariance(per_observation, _leave_one_out(per_observation, per_repetition))


def _centred(values: np.ndarray) -> np.ndarray:
    """Subtract the means of the rows in place."""
    values -= values.mean(axis=1, keepdims=True)
    return values


def _leave_one_out(per_observation: np.ndarray, per_repetition: np.ndarray) -> Jackknife:
    """Without repetition j, the sum of products decreases by m/(m - 1) times j's own products."""
    m = len(per_repetition)
    total = per_observation.sum()
    if m < 3:
        return Jackknife(float(total), np.full(m, np.nan))
    left = (m - 1) * total - m / (m - 1) * per_repetition
    return Jackknife(float(total), left / (m - 2))


class _StreamedCovariance(Estimator):
    """Sums of u, v and uv for each group, u = y - mu and v = fit - a provisional centre.

    Both are nearly centred, so that the correction for their means loses few digits. Each part has its own
    centre and is moved to that of the first one.
    """

    def __init__(self, mu: np.ndarray, sigma: np.ndarray, groups: np.ndarray) -> None:
        self.mu = mu
        self.weight = 1.0 / sigma**2
        self.groups = groups
        self.centre: np.ndarray | None = None
        n_groups = int(groups.max()) + 1
        self.count = np.zeros(n_groups)
        self.u = np.zeros((n_groups, len(mu)))
        self.v = np.zeros((n_groups, len(mu)))
        self.uv = np.zeros((n_groups, len(mu)))

    def part(self, Y: np.ndarray, fitted: np.ndarray, first: int) -> Any:
        centre = fitted.mean(axis=1)
        sums = []
        for group, mine in _members(self.groups, first, Y.shape[1]):
            u = Y[:, mine] - self.mu[:, None]
            v = fitted[:, mine] - centre[:, None]
            sums.append((group, mine.sum(), u.sum(axis=1), v.sum(axis=1), (u * v).sum(axis=1)))
        return centre, sums

    def take(self, part: Any, Y: Callable[[], np.ndarray]) -> None:
        centre, sums = part
        if self.centre is None:
            self.centre = centre
        moved = centre - self.centre
        for group, count, u, v, uv in sums:
            self.count[group] += count
            self.u[group] += u
            self.v[group] += v + count * moved
            self.uv[group] += uv + u * moved
            self.done += int(count)

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


def _members(groups: np.ndarray, first: int, count: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each group of a block with a mask of its repetitions in the block."""
    of_block = groups[first : first + count]
    for group in np.unique(of_block):
        yield int(group), of_block == group


_POWERS = 5
_MOST_COLUMNS = 256  # of all powers; more would cost more time than they save


_LEAST_REMAINDER = (
    1e-3  # of a unit column after the earlier ones, for a Cholesky factor to be accurate
)


class Projections:
    """Projections on the columns of X, on their squares, and on their third, fourth and fifth powers.

    Each is orthogonal to those before it. The constant is in the first one, or, if `centred`, in none; a
    projection of rank 0 is left out. Powers are used while they need at most half of the dimensions; there
    are no projections without X, or if X can span all of them.

    The orthonormal basis is `columns @ triangle`. A few responses do not pay for that product.
    """

    columns: np.ndarray  # (n, k)
    triangle: np.ndarray  # (k, k)
    parts: list[slice]  # basis columns of each projection

    def __init__(self, X: Rows | None, n: int, centred: bool) -> None:
        self.columns, self.triangle, self.parts = np.empty((n, 0)), np.empty((0, 0)), []
        if X is None or X.shape[1] >= n - 1:
            return
        X = np.asarray(X, dtype=float)
        p = X.shape[1]
        X = X - X.mean(axis=0)
        scale = np.abs(X).max(axis=0)
        X = X / np.where(scale > 0, scale, 1.0)
        most = min(n // 2, _MOST_COLUMNS)
        powers = [k for k in range(1, _POWERS + 1) if k == 1 or 1 + k * p <= most]
        products = itertools.accumulate([X] * len(powers), np.multiply)
        columns = np.hstack([np.ones((n, 1)), *products])
        columns /= np.where((norms := np.linalg.norm(columns, axis=0)) > 0, norms, 1.0)
        power = np.repeat([0, *powers], [1] + [p] * len(powers))
        kept = self._orthonormalise(columns)
        ends = np.searchsorted(power[kept], powers, side="right")
        starts = [1 if centred else 0, *ends[:-1]]
        self.parts = [slice(*ends) for ends in zip(starts, ends, strict=True) if ends[0] < ends[1]]

    def _orthonormalise(self, columns: np.ndarray) -> np.ndarray:
        """Set the columns and the triangle; return a mask of the columns that are kept.

        The Cholesky factor of the cross-products is several times as fast as a QR decomposition, and
        accurate if the columns are well conditioned.
        """
        try:
            lower = np.linalg.cholesky(columns.T @ columns)
            if np.diag(lower).min() > _LEAST_REMAINDER:
                self.columns, self.triangle = columns, np.linalg.inv(lower).T
                return np.ones(columns.shape[1], dtype=bool)
        except np.linalg.LinAlgError:
            pass
        Q, R = np.linalg.qr(columns)
        # The diagonal of R is the remainder of a column after the earlier ones, rounding errors if dependent.
        rounding = 10 * max(columns.shape) * np.finfo(float).eps
        kept = np.abs(np.diag(R)) > rounding * np.linalg.norm(columns, axis=0)[: R.shape[0]]
        kept = np.concatenate([kept, np.zeros(columns.shape[1] - len(kept), dtype=bool)])
        self.columns = Q if kept.all() else np.linalg.qr(columns[:, kept])[0]
        self.triangle = np.eye(self.columns.shape[1])
        return kept

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def ranks(self) -> np.ndarray:
        """Rank of each projection."""
        return np.array([part.stop - part.start for part in self.parts], dtype=int)

    def coordinates(self, values: np.ndarray) -> np.ndarray:
        """Return the products of the basis with each column of `values`."""
        return self.triangle.T @ (self.columns.T @ values)

    def fits(self, coordinates: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the fit of each projection to values with these coordinates."""
        for part in self.parts:
            yield self.columns @ (self.triangle[:, part] @ coordinates[part])

    def sums(self, products: np.ndarray) -> np.ndarray:
        """Return the sum of products of coordinates for each projection."""
        sums = [products[part].sum(axis=0) for part in self.parts]
        return np.array(sums).reshape(len(sums), products.shape[1])

    def diagonals(self) -> np.ndarray:
        """Return the diagonal of each projection matrix."""
        squares = (self.columns @ self.triangle) ** 2
        diagonals = [squares[:, part].sum(axis=1) for part in self.parts]
        return np.array(diagonals).reshape(len(diagonals), len(squares))


_N_FOLDS = 10


def has_one_mean(mu: np.ndarray, sigma: np.ndarray | float) -> bool:
    """Return True if the mean is constant and the standard deviation a single number."""
    return np.ptp(mu) == 0 and np.ptp(sigma) == 0


def is_equivariant(procedure: Any) -> bool:
    """Return True if a fit is declared to shift and scale with y."""
    return bool(getattr(procedure, "is_equivariant", False))


def df_of_projections(rss: np.ndarray, n: int) -> np.ndarray:
    """Return the df of projections by each run, from their RSS; the first column includes that of the mean.

    For a projection, u'(muhat - ybar)/|y - ybar| is its explained share of |y - ybar|^2.
    """
    return 1 + (n - 1) * (1 - rss / rss[:, :1])


class Direction(Estimator):
    """Return an empty estimate; `add(Y, fitted)` the blocks in order, then call `result()`.

    Without `X` there is no control. `groups` are left out together and serve as the folds. Without `rows`,
    only the sum over the observations is computed.
    """

    def __init__(
        self, n: int, X: Rows | None = None, groups: np.ndarray | None = None, rows: bool = True
    ) -> None:
        self.n, self.groups, self.rows = n, groups, rows
        self.projections = Projections(X, n, centred=True)
        if self.projections.ranks.sum() == n - 1:  # they span all of u
            self.projections.parts = []
        # For each repetition u'f, and for each projection u'P f and u'P u.
        self.scalars: list[np.ndarray] = []
        n_folds = _N_FOLDS if groups is None else int(groups.max()) + 1
        # For each fold, the sums of u_i f_i, and for each projection those of u_i (P u)_i.
        self.shares = np.zeros((n_folds, 1 + len(self.projections), n))

    def part(self, Y: np.ndarray, fitted: np.ndarray, first: int) -> Any:
        if self.rows and self.groups is None:
            return fitted  # sums for ten folds would be larger
        return self._sums(Y, fitted, first)

    def take(self, part: Any, Y: Callable[[], np.ndarray]) -> None:
        if isinstance(part, np.ndarray):
            part = self._sums(Y(), part, self.done)
        scalars, folds, shares = part
        self.scalars.append(scalars)
        if self.rows:
            self.shares[folds] += shares
        self.done += scalars.shape[1]

    def _sums(self, Y: np.ndarray, fitted: np.ndarray, first: int) -> tuple:
        mean = Y.mean(axis=0)
        u = Y - mean
        length = np.linalg.norm(u, axis=0)
        u, f = u / length, (fitted - mean) / length
        share = u * f
        coordinates = self.projections.coordinates(u)
        inside = self.projections.sums(coordinates * self.projections.coordinates(f))
        along = self.projections.sums(coordinates**2)
        scalars = np.vstack([share.sum(axis=0), inside, along])
        if not self.rows:
            return scalars, None, None
        shares = [share, *(u * fit for fit in self.projections.fits(coordinates))]
        folds = self._folds(first + Y.shape[1])[first:]
        those, place = np.unique(folds, return_inverse=True)
        member = np.zeros((len(folds), len(those)))
        member[np.arange(len(folds)), place] = 1.0
        return scalars, those, np.stack([(share @ member).T for share in shares], axis=1)

    def _folds(self, m: int) -> np.ndarray:
        return np.arange(m) % _N_FOLDS if self.groups is None else self.groups[:m]

    def result(self) -> Covariance:
        d, m = self.n - 1, self.done
        scalars = np.hstack(self.scalars)
        folds = self._folds(m)
        b = self._coefficients(folds, scalars)
        along = scalars[1 + len(self.projections) :]
        excess = d * along.T - self.projections.ranks
        values = 1.0 + d * scalars[0] - (b[folds] * excess).sum(axis=1)
        groups = None if self.groups is None else merged_groups(folds)
        return Covariance(self._per_observation(folds, b), mean_of(values, groups))

    def _per_observation(self, folds: np.ndarray, b: np.ndarray) -> np.ndarray | None:
        if not self.rows:
            return None
        sizes = np.bincount(folds)
        shares = (self.n - 1) * self.shares[: len(sizes)]
        total = shares[:, 0].sum(axis=0)
        for k, diagonal in enumerate(self.projections.diagonals()):
            total = total - b[:, k] @ (shares[:, 1 + k] - sizes[:, None] * diagonal)
        return 1.0 / self.n + total / self.done

    def _coefficients(self, folds: np.ndarray, scalars: np.ndarray) -> np.ndarray:
        """Return b for each fold, from the others; one row for a fold, one column for a projection."""
        sizes, k = np.bincount(folds), len(self.projections)
        if len(sizes) == 1 or k == 0:
            return np.zeros((len(sizes), k))
        sums = np.zeros((len(sizes), 1 + 2 * k))
        np.add.at(sums, folds, scalars.T)
        others = sums.sum(axis=0) - sums
        uf, inside, along = others[:, :1], others[:, 1 : 1 + k], others[:, 1 + k :]
        left = (sizes.sum() - sizes)[:, None] - along.sum(axis=1, keepdims=True)
        return inside / along - (uf - inside.sum(axis=1, keepdims=True)) / left


_N_FOLDS = 10


def control_sum(
    X: Rows,
    mu: np.ndarray,
    sigma: np.ndarray,
    groups: np.ndarray | None = None,
    unit: np.ndarray | None = None,
) -> Estimator:
    """Return an empty sum; `add(Y, fitted)` the blocks in order, then call `result()`.

    The covariances are over the squares of `unit`, which is sigma by default.
    """
    smoothers = _Smoothers(X, mu, sigma, sigma if unit is None else unit)
    return _KeptControl(smoothers) if groups is None else _StreamedControl(smoothers, groups)


class _Smoothed(NamedTuple):
    """Return z (n, m), and f and its smoothers' q as one (1 + smoothers, n, m) array."""

    z: np.ndarray
    parts: np.ndarray


class _Smoothers:
    """The linear smoothers of a design: its projections, and the rest of the identity."""

    def __init__(self, X: Rows, mu: np.ndarray, sigma: np.ndarray, unit: np.ndarray) -> None:
        self.mu, self.unit = mu[:, None], unit[:, None]
        self.projections = Projections(X, len(mu), centred=False)
        diagonals = self.projections.diagonals()
        # The covariances of each smoother's fit with the noise.
        self.diagonals = np.vstack([diagonals, 1.0 - diagonals.sum(axis=0)]) * (sigma / unit) ** 2
        self.traces = self.diagonals.sum(axis=1)

    def apply(self, Y: np.ndarray, fitted: np.ndarray, centre: np.ndarray) -> _Smoothed:
        """`centre` (n, 1) approximates the mean fit; it cancels out of the estimate and reduces rounding."""
        noise = Y - self.mu
        z = noise / self.unit
        fits = self.projections.fits(self.projections.coordinates(noise))
        smooth = [fit / self.unit for fit in fits]
        left = z - np.sum(smooth, axis=0)
        return _Smoothed(z, np.stack([(fitted - centre) / self.unit, *smooth, left]))


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
    """Return the sums of one fold."""
    z, parts = smoothed
    return _Sums(
        np.array(float(z.shape[1])),
        z.sum(axis=1),
        parts.sum(axis=2),
        np.einsum("im,kim->ki", z, parts),
        np.einsum("jim,kim->jk", parts, parts),
    )


def _moved(sums: _Sums, by: np.ndarray) -> _Sums:
    """Return the sums of one fold for fits increased by `by`."""
    parts, products, squares = sums.parts.copy(), sums.products.copy(), sums.squares.copy()
    along = sums.parts @ by
    squares[0] += along
    squares[:, 0] += along
    squares[0, 0] += sums.size * (by @ by)
    products[0] += by * sums.z
    parts[0] += sums.size * by
    return _Sums(sums.size, sums.z, parts, products, squares)


def _cross_fitted(sums: _Sums, diagonals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the estimate of each observation, and the coefficients of each fold from the others."""
    whole = [values.sum(axis=0) for values in sums]
    total, coefficients = np.zeros(diagonals.shape[1]), []
    for k, mine in enumerate(zip(*sums, strict=True)):
        others = _Sums(*(all_of - values[k] for all_of, values in zip(whole, sums, strict=True)))
        mine = _Sums(*mine)
        mean = others.parts / others.size
        squares = others.squares - others.size * mean @ mean.T
        b = np.zeros(len(diagonals))  # a single repetition has no variation to regress on
        if others.size > 1:
            b = np.linalg.lstsq(squares[1:, 1:], squares[1:, 0], rcond=None)[0]
        covariances = mine.products - mean * mine.z
        total += covariances[0] - b @ (covariances[1:] - mine.size * diagonals)
        coefficients.append(b)
    return total / whole[0], np.array(coefficients)


class _KeptControl(Kept):
    def __init__(self, smoothers: _Smoothers) -> None:
        super().__init__()
        self.smoothers = smoothers

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
        # Without repetition j a sample covariance changes by (itself - m/(m - 1) j's products)/(m - 2), as j
        # also enters the means. j's coefficients come from the other folds.
        parts = parts - parts.mean(axis=2, keepdims=True)
        products = np.einsum("im,kim->km", z - _mean(z), parts) * m / (m - 1)
        b = np.repeat(coefficients, [len(fold) for fold in folds], axis=0).T
        own = products[0] - (b * (products[1:] - traces[:, None])).sum(axis=0)
        left_out = value + (own.mean() - own) / (m - 2)
        return Covariance(per_observation, Jackknife(value, left_out))


class _StreamedControl(Estimator):
    """Sums for each group of repetitions; the groups are the folds, and are left out together.

    Each part has its own centre and is moved to that of the first one.
    """

    def __init__(self, smoothers: _Smoothers, groups: np.ndarray) -> None:
        self.smoothers = smoothers
        self.groups = groups
        self.centre: np.ndarray | None = None
        n, n_groups = len(smoothers.mu), int(groups.max()) + 1
        parts = 1 + len(smoothers.traces)
        shapes = ((), (n,), (parts, n), (parts, n), (parts, parts))
        self.sums = _Sums(*(np.zeros((n_groups, *shape)) for shape in shapes))

    def part(self, Y: np.ndarray, fitted: np.ndarray, first: int) -> Any:
        centre = _mean(fitted)
        return centre, [
            (group, _sums(self.smoothers.apply(Y[:, mine], fitted[:, mine], centre)))
            for group, mine in _members(self.groups, first, Y.shape[1])
        ]

    def take(self, part: Any, Y: Callable[[], np.ndarray]) -> None:
        centre, of_groups = part
        if self.centre is None:
            self.centre = centre
        moved = ((centre - self.centre) / self.smoothers.unit)[:, 0]
        for group, sums in of_groups:
            for total, values in zip(self.sums, _moved(sums, moved), strict=True):
                total[group] += values
            self.done += int(sums.size)

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


def _mean(values: np.ndarray) -> np.ndarray:
    return values.mean(axis=1, keepdims=True)


VARIANCE_REDUCTIONS = ("auto", "best", "orthogonal", "direction", "control", None)


@dataclass(frozen=True)
class Reduction:
    """The parts of an estimator.

    `frame` is the number of responses in a frame, None for independent ones; `later` is the same for a run
    without a fixed end that turns out to be long. Without `rows`, the share of each observation is not
    computed.
    """

    direction: bool = False
    control: bool = False
    frame: int | None = None
    later: int | None = None
    rows: bool = True

    @property
    def settings(self) -> dict:
        """Return the settings recorded in a result; `variance_reduction=None` is the paper's estimator."""
        parts = {
            "orthogonal": self.frame is not None,
            "direction": self.direction,
            "control": self.control,
        }
        name = ", ".join(name for name, used in parts.items() if used) or None
        return {"variance_reduction": name, "frame_size": self.frame}


PLAIN = Reduction()


def choose(
    name: str | None,
    procedure: Any,
    X: Rows,
    responses: Responses,
    counts: Sequence[int],
    target_se: float | None = None,
) -> Reduction:
    """Return the estimator of that name for these responses, or the best valid one.

    `counts` are the repetitions for each design, the maximum with `target_se`.
    """
    if name == "auto":
        name = None if isinstance(responses.draws, RDraws) else "best"
    else:
        check_choice("variance_reduction", name, VARIANCE_REDUCTIONS)
    if name is None:
        return PLAIN
    if name == "direction":
        _check_direction(procedure, responses)
        return Reduction(direction=True)
    if name == "control":
        if not is_numeric(X):
            right = "'best', 'direction' or None where a column of X does not hold numbers, or misses some"
            raise refusal("variance_reduction", name, right)
        return Reduction(control=True)
    direction = _has_one_mean(responses) and is_equivariant(procedure)
    size = frame_size(responses.n - direction, counts, partial=name == "orthogonal")
    if name == "orthogonal" and size is None:
        right = "'best', unless there are 20 repetitions or more, or 4 for each design, and n is above 2"
        raise refusal("variance_reduction", name, right)
    if name == "best" and target_se is not None and len(counts) == 1:
        return Reduction(direction, is_numeric(X), later=size)
    return Reduction(direction, is_numeric(X), frame=size)


def _check_direction(procedure: Any, responses: Responses) -> None:
    """Reject an estimator whose conditions do not hold."""
    if not _has_one_mean(responses):
        right = "'best', 'control' or None where mu is not constant or sigma not a single number"
        raise refusal("variance_reduction", "direction", right)
    if not is_equivariant(procedure):
        right = f"'best', 'control' or None, because {procedure!r} does not declare is_equivariant"
        raise refusal("variance_reduction", "direction", right)


def _has_one_mean(responses: Responses) -> bool:
    if isinstance(responses, CorrelatedResponses):
        return False
    return has_one_mean(responses.mu, responses.sigma)


def is_numeric(X: Rows) -> bool:
    """Return True if all columns of a design are numeric and complete, as the control requires."""
    if isinstance(X, pd.DataFrame):
        return X.select_dtypes("number").shape == X.shape and not X.isna().any(axis=None)
    return not isinstance(X, np.ndarray) or not np.isnan(X).any()


def estimator(
    reduction: Reduction, X: Rows, responses: Responses, groups: np.ndarray | None
) -> Estimator:
    """Return an empty estimator."""
    if isinstance(responses, CorrelatedResponses):
        return _correlated(reduction, X, responses, groups)
    if reduction.direction:
        return Direction(responses.n, X if reduction.control else None, groups, reduction.rows)
    if reduction.control:
        return control_sum(X, responses.mu, responses.sigma, groups)
    return covariance_sum(responses.mu, responses.sigma, groups)


def optimism_estimator(
    reduction: Reduction, X: Rows, responses: Responses, groups: np.ndarray | None
) -> Estimator:
    """An empty estimate of sum Cov(muhat_i, y_i)/mean(sigma^2), for noise that differs between rows."""
    unit = np.full(responses.n, np.sqrt(np.mean(responses.sigma**2)))
    if reduction.control and not isinstance(responses, CorrelatedResponses):
        return control_sum(X, responses.mu, responses.sigma, groups, unit)
    return covariance_sum(responses.mu, unit, groups)


class _Seen(Estimator):
    """An estimator for responses and fits in other coordinates; rows may then not be observations."""

    def __init__(
        self,
        estimator: Estimator,
        of_y: Callable[..., np.ndarray],
        of_fit: Callable[..., np.ndarray],
        keeps_rows: bool,
    ) -> None:
        self.estimator, self.of_y, self.of_fit = estimator, of_y, of_fit
        self.keeps_rows = keeps_rows

    def part(self, Y: np.ndarray, fitted: np.ndarray, first: int) -> Any:
        return self.estimator.part(self.of_y(Y), self.of_fit(fitted), first)

    def take(self, part: Any, Y: Callable[[], np.ndarray]) -> None:
        self.estimator.take(part, lambda: self.of_y(Y()))
        self.done = self.estimator.done

    def result(self) -> Covariance:
        found = self.estimator.result()
        return found if self.keeps_rows else replace(found, per_observation=None)


def _correlated(
    reduction: Reduction, X: Rows, responses: CorrelatedResponses, groups: np.ndarray | None
) -> Estimator:
    """Use coordinates that separate the observations without a control, white ones with a control."""
    if not reduction.control:
        plain = estimator(reduction, X, responses.whitened(), groups)
        return _Seen(plain, responses.weighed, np.asarray, keeps_rows=True)
    white_X = responses.white(np.asarray(X, dtype=float))
    inner = estimator(reduction, white_X, responses.whitened(), groups)
    return _Seen(inner, responses.white_noise, responses.white, keeps_rows=False)
