"""Standard errors: the jackknife, and runs that stop at a target error.

Checking the error after every repetition would stop too early, when it happens to be small. The next
check is therefore at the predicted end if that is at most twice as far, and otherwise half way, after at
most four times the repetitions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

from ..._utils.checks import check_count, check_positive
from ..._utils.warnings import warn_user


@dataclass(frozen=True)
class Jackknife:
    """An estimate and its leave-one-out values.

    `left_out[j]` is the estimate without repetition j, without the j-th group of repetitions in very large
    runs, or without the j-th of several drawn designs. Estimates from the same run are subtracted value by
    value, so that the standard error of a difference accounts for their correlation.
    """

    value: float
    left_out: np.ndarray

    @property
    def se(self) -> float:
        """Jackknife standard error; nan with too few values."""
        m = len(self.left_out)
        # Differences to the first value, which are exactly 0 if all are equal.
        deviation = self.left_out - self.left_out[0]
        deviation = deviation - deviation.mean()
        return float(np.sqrt((m - 1) / m * (deviation @ deviation)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return an interval that covers the truth with probability `level`.

        A few repetitions can dominate an estimate: most fits of noise by a pruned MARS have no term, some
        have many. Without these, the estimate and its standard error are too small, and symmetric intervals
        miss the true value. T = (estimate - truth)/se, with the skewness s of m repetitions, is therefore
        made symmetric by Hall's (1992) invertible transformation,
        g(T) = T + a T^2 + a^2 T^3/3 + s/(6 sqrt(m)) with a = s/(3 sqrt(m)). The result has approximately
        the t distribution with m - 1 degrees of freedom.
        """
        m, se = len(self.left_out), self.se
        if se == 0 or not np.isfinite(se):
            return self.value - se, self.value + se
        quantile = student.ppf((1 + level) / 2, m - 1)
        s = _skewness(-self.left_out)  # a leave-one-out value falls as its repetition rises
        a = s / (3 * np.sqrt(m))
        w = np.array([quantile, -quantile]) - s / (6 * np.sqrt(m))
        T = w if abs(a) < 1e-8 else (np.cbrt(1 + 3 * a * w) - 1) / a
        low, high = self.value - se * T
        return float(low), float(high)

    def __sub__(self, other: Jackknife) -> Jackknife:
        return Jackknife(self.value - other.value, self.left_out - other.left_out)


def _skewness(values: np.ndarray) -> float:
    deviation = values - values.mean()
    deviation = deviation / np.abs(deviation).max()
    return float((deviation**3).mean() / (deviation**2).mean() ** 1.5)


def mean_of(values: np.ndarray, groups: np.ndarray | None = None) -> Jackknife:
    """Return the mean of a quantity over the repetitions, leaving out `groups` or single repetitions."""
    values = np.asarray(values, dtype=float)
    if (values == values[0]).all():
        n_groups = len(values) if groups is None else int(groups.max()) + 1
        return Jackknife(float(values[0]), np.full(n_groups, values[0]))
    total, m = values.sum(), len(values)
    if groups is None:
        return Jackknife(float(total / m), (total - values) / (m - 1))
    left = m - np.bincount(groups)
    return Jackknife(float(total / m), (total - np.bincount(groups, weights=values)) / left)


def mean_over_designs(
    estimates: list[Jackknife], counts: Sequence[float] | np.ndarray
) -> Jackknife:
    """Return the mean over designs, weighted by repetitions; a single one unchanged.

    Designs are left out instead of repetitions, so the error includes their variation.
    """
    if len(estimates) == 1:
        return estimates[0]
    values = np.array([estimate.value for estimate in estimates])
    if (values == values[0]).all():
        return Jackknife(float(values[0]), values)
    weights = np.asarray(counts, dtype=float)
    total, sums = weights.sum(), weights @ values
    return Jackknife(float(sums / total), (sums - weights * values) / (total - weights))


LEAST = 30  # minimum number of repetitions
STEP = 16  # repetitions between two possible checks
DESIGNS = 20  # designs at the first check, if each check adds designs
FRAMES = 10

_N_REP = 100
_MOST = 10_000


@dataclass(frozen=True)
class Target:
    """Target standard error; `error` computes the current one from a Measurement."""

    se: float
    error: Callable[[Any], float]


class Looks:
    """Schedule of error checks, in repetitions or designs, at multiples of `step`."""

    def __init__(self, target: Target, first: int, step: int = 1) -> None:
        self.target, self.step = target, step
        self.next = self._place(first)
        self.se = math.nan

    def due(self, done: int) -> bool:
        return done >= self.next

    def reached(self, done: int, found: Any) -> bool:
        """Check the error; if it is above the target, schedule the next check."""
        self.se = self.target.error(found)
        if self.se <= self.target.se:
            return True
        needed = max(self.needed(done), done + 1)
        half = min(needed // 2, 4 * done)
        self.next = self._place(max(min(needed, 2 * done), half))
        return False

    def _place(self, wanted: int) -> int:
        return -(-wanted // self.step) * self.step

    def needed(self, done: int) -> int:
        """Return the number predicted to reach the target, from the last check."""
        ratio = (self.se / self.target.se) ** 2
        return math.ceil(done * ratio) if ratio < 1e9 else 10**9 * done

    def text(self) -> str:
        """Return the text for the progress bar."""
        return f"se {self.se:.3g}, wanted {self.target.se:g}"


def check_target(target_se: float | None) -> float | None:
    """Return the target error, or None."""
    return None if target_se is None else check_positive("target_se", target_se)


def check_n_rep(n_rep: int | None, target_se: float | None) -> int:
    """Return the number of repetitions, the maximum if there is a target error."""
    if target_se is None:
        return _N_REP if n_rep is None else check_count("n_rep", n_rep, 2)
    return _MOST if n_rep is None else check_count("n_rep", n_rep, LEAST, because=" with target_se")


def warn_if_missed(se: float, target_se: float | None, n_rep: int) -> None:
    """Warn if the repetitions were used up before the target was reached."""
    if target_se is not None and not se <= target_se:
        warn_user(
            f"the standard error is {se:.3g} after n_rep={n_rep} repetitions, the most that are "
            f"allowed, and not target_se={target_se:g}"
        )


def known(value: float) -> Jackknife:
    """Return a value without an error."""
    return Jackknife(float(value), np.zeros(2) + value)
