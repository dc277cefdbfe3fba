"""One forward pass for all penalties and all nk.

The penalty affects only the end of the forward pass: with a threshold, the pass stops when GRSq falls below
-10. A pass with a smaller nk is a prefix of one with a larger nk. Therefore one pass without penalty, at the
largest nk, is cached, and every other pass is a truncation of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .... import _core
from ...components.terms import gcv_of
from ...data.training import TrainingData
from ...model.fit import Fit
from ...options import EarthOptions, of_stage
from ..path import steps_allowed
from .engine import (
    ForwardPass,
    NativeEngine,
    Search,
    Subsets,
    find_subsets,
    fit_one,
    forward_pass,
    pass_settings,
)  # fmt: skip

MIN_GRSQ, LOW_GRSQ = -10.0, -1000.0  # earth's limits
TOO_FEW, GRSQ_LOW, GRSQ_POOR, REACHED_NK = 1, 2, 3, 7  # R's codes for why a pass stopped
# Options that change more of the forward pass than its end.
FORWARD = tuple(name for name in of_stage("forward") if name not in ("penalty", "nk"))


class SharedEngine(NativeEngine):
    """Native engine that caches the forward passes and subsets of one data set by their options.

    `nk` is the largest value that will be requested, if known.
    """

    def __init__(self, nk: int = 0):
        self.nk = nk
        self.n_passes = 0
        self.last_pass = 0  # index of the pass requested last
        self._passes: list[tuple[list, tuple[int, ForwardPass]]] = []
        self._subsets: list[tuple[list, Subsets]] = []

    def fit(
        self, data: TrainingData, options: EarthOptions, seed: int | None = None, n_threads: int = 1
    ) -> Fit:
        return fit_one(data, options, n_threads, Search(self.forward, self.subsets))

    def forward(
        self, X: np.ndarray, Y: np.ndarray, options: EarthOptions, weights: np.ndarray | None = None,
        names: Sequence[str] | None = None, n_threads: int = 1,
    ) -> ForwardPass:  # fmt: skip
        """Return the result of `forward_pass`, from the cache if possible."""
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

    def subsets(self, columns: np.ndarray, Y: np.ndarray, options: EarthOptions) -> Subsets:
        """Return the result of `find_subsets`, from the cache if possible."""
        nprune = options.nprune if options.pmethod == "exhaustive" else None
        key = [options.pmethod, options.exhaustive_tol, nprune, columns]
        found = _recall(self._subsets, key)
        if found is None:
            found = find_subsets(columns, Y, options)
            self._subsets.append((key, found))
        return found


def _recall(known: list[tuple[list, Any]], key: list[Any]) -> Any:
    """Return the cached result for a key, or None; keys contain arrays, so the search is linear."""
    for other, found in known:
        if all(_same(a, b) for a, b in zip(key, other, strict=True)):
            return found
    return None


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return a is b or a == b


def cut(longest: ForwardPass, settings: _core.Settings, n: int) -> ForwardPass:
    """Truncate a pass without penalty, and with nk at least as large, to the pass of the settings."""
    rss, terms = longest.rss_after, longest.terms_after
    n_steps, condition = len(rss), longest.termcond
    allowed = steps_allowed(settings.nk) if settings.nk >= 3 else 0
    if allowed < n_steps:
        n_steps, condition = allowed, REACHED_NK if allowed else TOO_FEW
    poor = _first_poor(rss[:n_steps], terms[:n_steps], longest, settings, n)
    if poor is not None:
        n_steps, condition = poor
    # a rejected step has no terms
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


def _first_poor(
    rss: np.ndarray, terms: np.ndarray, longest: ForwardPass, settings: _core.Settings, n: int
) -> tuple[int, int] | None:
    """Return the number of steps before GRSq is too low, and R's code of the reason."""
    if settings.thresh == 0 or settings.penalty < 0:
        return None
    null = gcv_of([longest.rss_null], np.array([1]), n, settings.penalty)[0]
    with np.errstate(invalid="ignore"):
        grsq = 1 - gcv_of(rss, terms, n, settings.penalty) / null
    bad = np.flatnonzero(grsq < MIN_GRSQ)
    if len(bad) == 0:
        return None
    return int(bad[0]), GRSQ_LOW if grsq[bad[0]] < LOW_GRSQ else GRSQ_POOR
