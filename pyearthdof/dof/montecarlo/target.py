"""Draw until the standard error is small enough: when to look at it, and what is said if it never is.

A look at every repetition would stop by chance, on an error that happens to be small. So the next look is
where the last one says that the target is reached, if that is at most twice as far. Else it is half of the
way, at four times the repetitions at most: an error from a few of them is not known well.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..._utils.checks import check_count, check_positive

__all__ = ["Looks", "Target", "check_n_rep", "check_target", "warn_if_missed"]

LEAST = 30  # repetitions, or more
STEP = 16  # repetitions between two places for a look
DESIGNS = 20  # looked at first, where each look has more designs
FRAMES = 10

_N_REP = 100
_MOST = 10_000


@dataclass(frozen=True)
class Target:
    """The standard error that is wanted; `error` tells that of a Measurement."""

    se: float
    error: Callable[[Any], float]


class Looks:
    """Says when the error is looked at; it counts in repetitions or designs, at multiples of `step`."""

    def __init__(self, target: Target, first: int, step: int = 1):
        self.target, self.step = target, step
        self.next = self._place(first)
        self.se = math.nan

    def due(self, done: int) -> bool:
        return done >= self.next

    def reached(self, done: int, found) -> bool:
        """Look at what was found; if it is not enough, decide when to look again."""
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
        """The number at which the error will be reached, as far as the last look knows."""
        ratio = (self.se / self.target.se) ** 2
        return math.ceil(done * ratio) if ratio < 1e9 else 10**9 * done

    def text(self) -> str:
        """For the progress bar."""
        return f"se {self.se:.3g}, wanted {self.target.se:g}"


def check_target(target_se) -> float | None:
    """The error that is asked for, or None."""
    return None if target_se is None else check_positive("target_se", target_se)


def check_n_rep(n_rep, target_se) -> int:
    """The number of repetitions, the largest one where a standard error is asked for.

    Examples
    --------
    >>> from pyearthdof.dof.montecarlo.target import check_n_rep
    >>> check_n_rep(None, None), check_n_rep(None, 0.1)
    (100, 10000)
    """
    if target_se is None:
        return _N_REP if n_rep is None else check_count("n_rep", n_rep, 2)
    return _MOST if n_rep is None else check_count("n_rep", n_rep, LEAST, because=" with target_se")


def warn_if_missed(se: float, target_se: float | None, n_rep: int) -> None:
    """Warn where the repetitions were used up before."""
    if target_se is not None and not se <= target_se:
        warnings.warn(
            f"the standard error is {se:.3g} after n_rep={n_rep} repetitions, the most that are "
            f"allowed, and not target_se={target_se:g}",
            UserWarning,
            stacklevel=3,
        )
