"""One forward pass for all penalties and all nk.

The penalty decides nothing in the forward pass but its end: with a threshold it stops where GRSq falls below
-10. And a pass with a smaller nk is the beginning of one with a larger nk. So one pass without penalty, with
the largest nk, is remembered, and every other is cut from it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...components.terms import gcv_of
from ...options import EarthOptions
from ..path import steps_allowed
from .fit import Search
from .forward import ForwardPass, forward_pass
from .prune import Subsets, find_subsets
from .settings import pass_settings

__all__ = ["SharedSearch", "cut"]

MIN_GRSQ, LOW_GRSQ = -10.0, -1000.0  # earth's
TOO_FEW, GRSQ_LOW, GRSQ_POOR, REACHED_NK = 1, 2, 3, 7  # why a pass stopped, R's numbers
# What the forward pass and the search for subsets look at, apart from penalty and nk.
FORWARD = (
    "degree", "thresh", "minspan", "endspan", "newvar_penalty", "fast_k", "fast_beta", "adjust_endspan",
    "auto_linpreds", "scale_y", "allowed", "linpreds", "response_weight", "force_weights",
)  # fmt: skip


class SharedSearch:
    """Forward passes and subsets of one set of data, remembered by the options that found them.

    Parameters
    ----------
    nk : int
        The largest one that will be asked for, as far as it is known.
    """

    def __init__(self, nk: int = 0):
        self.nk = nk
        self.n_passes = 0
        self.last_pass = 0  # the number of the one that was asked for last
        self._passes: list[tuple[list, tuple[int, ForwardPass]]] = []
        self._subsets: list[tuple[list, Subsets]] = []

    @property
    def search(self) -> Search:
        """The functions that find terms and subsets."""
        return Search(self.forward, self.subsets)

    def forward(
        self, X, Y, options: EarthOptions, weights=None, names=None, n_threads=1
    ) -> ForwardPass:
        """As `forward_pass`."""
        nk = max(self.nk, options.nk)
        key = [nk, *(getattr(options, name) for name in FORWARD)]
        found = _recall(self._passes, key)
        if found is None:
            free = replace(options, penalty=-1.0, nk=nk)
            longest = forward_pass(X, Y, free, weights, names, n_threads=n_threads)
            found = self.n_passes, longest
            self.n_passes += 1
            self._passes.append((key, found))
        self.last_pass, longest = found
        return cut(longest, pass_settings(options, len(X)), len(X))

    def subsets(self, columns, Y, options: EarthOptions) -> Subsets:
        """As `find_subsets`."""
        nprune = options.nprune if options.pmethod == "exhaustive" else None
        key = [options.pmethod, options.exhaustive_tol, nprune, columns]
        found = _recall(self._subsets, key)
        if found is None:
            found = find_subsets(columns, Y, options)
            self._subsets.append((key, found))
        return found


def _recall(known: list, key: list):
    """What was found for a key; keys are few, and hold arrays and functions."""
    for other, found in known:
        if all(_same(a, b) for a, b in zip(key, other, strict=True)):
            return found
    return None


def _same(a, b) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return a is b or a == b


def cut(longest: ForwardPass, settings, n: int) -> ForwardPass:
    """The pass that the settings would have given, from one without penalty and with an nk as large."""
    rss, terms = longest.rss_after, longest.terms_after
    n_steps, condition = len(rss), longest.termcond
    allowed = steps_allowed(settings.nk) if settings.nk >= 3 else 0
    if allowed < n_steps:
        n_steps, condition = allowed, REACHED_NK if allowed else TOO_FEW
    poor = _first_poor(rss[:n_steps], terms[:n_steps], longest, settings, n)
    if poor is not None:
        n_steps, condition = poor
    # a step that was tried and taken back has no terms
    kept = longest.steps <= n_steps
    if kept.all():
        return replace(longest, termcond=condition)
    return replace(
        longest,
        dirs=longest.dirs[kept],
        cuts=longest.cuts[kept],
        bx=np.asfortranarray(longest.bx[:, kept]),
        steps=longest.steps[kept],
        rss_after=rss[:n_steps],
        terms_after=terms[:n_steps],
        termcond=condition,
    )


def _first_poor(rss, terms, longest, settings, n: int) -> tuple[int, int] | None:
    """The number of steps before GRSq is too poor, and the reason's number."""
    if settings.thresh == 0 or settings.penalty < 0:
        return None
    null = gcv_of([longest.rss_null], np.array([1]), n, settings.penalty)[0]
    with np.errstate(invalid="ignore"):
        grsq = 1 - gcv_of(rss, terms, n, settings.penalty) / null
    bad = np.flatnonzero(grsq < MIN_GRSQ)
    if len(bad) == 0:
        return None
    return int(bad[0]), GRSQ_LOW if grsq[bad[0]] < LOW_GRSQ else GRSQ_POOR
