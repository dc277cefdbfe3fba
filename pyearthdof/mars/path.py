"""A whole nk path from one forward pass.

Without a threshold and without pruning, the fit at nk = k is the beginning of the pass at any larger
nk. A step of the pass takes two of the nk slots, whether it adds a pair of hinges or a single term,
and stops when fewer than two are left: nk allows (nk - 1) // 2 steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["PathFits", "prefix_fits", "step_of_terms", "steps_allowed"]

REACHED_NK = 7  # earth's termination condition


@dataclass(frozen=True)
class PathFits:
    """Fits along nk: `fitted` is (n_nk, n, m) and `n_terms` (n_nk, m) for m responses."""

    fitted: np.ndarray
    n_terms: np.ndarray


def steps_allowed(nk: int) -> int:
    """Forward steps that nk leaves room for."""
    return (nk - 1) // 2


def step_of_terms(dirs: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """The forward step (0 for the intercept) that added each term."""
    steps = np.zeros(len(dirs), dtype=int)
    for t in range(1, len(dirs)):
        steps[t] = steps[t - 1] + (not _mirrors(dirs[t - 1 : t + 1], cuts[t - 1 : t + 1]))
    return steps


def _mirrors(dirs: np.ndarray, cuts: np.ndarray) -> bool:
    """Tell whether two neighbouring terms are h(x - c) and h(c - x) on the same parent."""
    differ = np.flatnonzero(dirs[0] != dirs[1])
    return (
        len(differ) == 1
        and dirs[0, differ[0]] == 1
        and dirs[1, differ[0]] == -1
        and np.array_equal(cuts[0], cuts[1])
    )


def is_cut_short(steps: np.ndarray, termcond: int, nk: int) -> bool:
    """A pass that reached nk but shows fewer steps lost a whole step to a linear dependence."""
    return termcond == REACHED_NK and steps[-1] != steps_allowed(nk)


def prefix_fits(bx: np.ndarray, y: np.ndarray, n_terms: Sequence[int]) -> np.ndarray:
    """Least-squares fits of y on the first r columns of bx for each r: (len(n_terms), n)."""
    q, _ = np.linalg.qr(bx)
    fits = np.cumsum(q * (q.T @ y), axis=1)
    return fits[:, np.asarray(n_terms) - 1].T
