"""Complete nk path from one forward pass.

Without a threshold and without pruning, the fit at nk = k is a prefix of the pass at any larger nk.
Each step takes two of the nk slots, for a pair of hinges or for a single term, and the pass stops when
fewer than two are left: nk allows (nk - 1) // 2 steps. The path therefore requires the step that added
each term. R's earth does not report it; `step_of_terms` infers it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ...exceptions import InvalidInputError
from ..options import EarthOptions

# Options required for a path: with them, the fit at a smaller nk is a prefix of the pass at a larger one.
NEEDED = {"thresh": 0, "pmethod": "none", "nprune": None, "allowed": None, "force_weights": False}


def check_path(options: EarthOptions) -> None:
    """Reject options for which the fits at several nk do not share one forward pass."""
    for name, needed in NEEDED.items():
        value = getattr(options, name)
        if value != needed:
            raise InvalidInputError(f"{name}={value!r} but a path over nk needs {name}={needed!r}")


def steps_allowed(nk: int) -> int:
    """Number of forward steps that nk allows."""
    return (nk - 1) // 2


def prefix_fits(bx: np.ndarray, y: np.ndarray, n_terms: ArrayLike) -> np.ndarray:
    """Least-squares fits of y on the first r columns of bx for each r: (n, len(n_terms))."""
    q, _ = np.linalg.qr(bx)
    fits = np.cumsum(q * (q.T @ y), axis=1)
    return fits[:, np.asarray(n_terms) - 1]


def step_of_terms(
    dirs: np.ndarray, cuts: np.ndarray, n_terms_after: Callable[[int], int]
) -> np.ndarray:
    """Return the forward step (0 for the intercept) that added each term.

    Adjacent terms h(x - c) b and h(c - x) b usually come from one step on the parent b. They come from
    two steps if both hinges were already terms and another predictor was added to each. Ambiguous cases
    are resolved by `n_terms_after(steps)`, the number of terms after that many steps.
    """
    steps = np.zeros(len(dirs), dtype=int)
    for t in range(1, len(dirs)):
        together = _one_step(dirs, cuts, t)
        if together is None:
            together = n_terms_after(int(steps[t - 1])) > t
        steps[t] = steps[t - 1] + (not together)
    return steps


def _one_step(dirs: np.ndarray, cuts: np.ndarray, t: int) -> bool | None:
    """Return True if one step added the terms t - 1 and t, False if not, None if ambiguous."""
    differ = np.flatnonzero(dirs[t - 1] != dirs[t])
    mirrored = (
        len(differ) == 1
        and dirs[t - 1, differ[0]] == 1
        and dirs[t, differ[0]] == -1
        and np.array_equal(cuts[t - 1], cuts[t])
    )
    if not mirrored:
        return False
    hinge = int(differ[0])
    others = [k for k in np.flatnonzero(dirs[t]).tolist() if k != hinge]
    as_pair = _was_parent(dirs, cuts, t - 1, t - 1, hinge)
    as_two = any(
        _was_parent(dirs, cuts, t - 1, t - 1, k) and _was_parent(dirs, cuts, t, t - 1, k)
        for k in others
        if dirs[t, k] > 0
    )
    return None if as_pair == as_two else as_pair


def _was_parent(dirs: np.ndarray, cuts: np.ndarray, term: int, before: int, added: int) -> bool:
    """Return True if the term without predictor `added` is among the terms before."""
    wanted_dirs, wanted_cuts = dirs[term].copy(), cuts[term].copy()
    wanted_dirs[added] = 0
    wanted_cuts[added] = 0
    same = (dirs[:before] == wanted_dirs).all(axis=1) & (cuts[:before] == wanted_cuts).all(axis=1)
    return bool(same.any())
