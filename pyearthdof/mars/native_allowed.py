"""The user's rule for terms, asked as R asks it: before each step, for each parent and predictor in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .kernels_forward import QUEUED, SLOTS
from .native_setup import Settings, Workspace

__all__ = ["Allowed"]


class Allowed:
    """Asks `function` and writes its answers into the table of terms.

    A pass that is taken again from the start, in earth's order of operations, has its questions answered
    from memory, so that the function hears each of R's questions once.
    """

    def __init__(self, function: Callable, names: Sequence[str], settings: Settings):
        self.function, self.names, self.settings = function, tuple(names), settings
        self._heard: list[tuple[tuple, bool]] = []
        self._at = 0

    def ask(self, work: Workspace) -> None:
        """Put the questions of the next step."""
        terms, queue, count = work.terms, work.queue, work.progress.count
        if count[SLOTS] == 1:
            self._at = 0
        before = terms.allowed.copy()
        for slot in queue.ranked[: min(count[QUEUED], self.settings.fast_k)]:
            if terms.degree[slot] >= self.settings.degree:
                continue
            parents = terms.dirs[slot].astype(int)
            for pred in np.flatnonzero(parents == 0):
                terms.allowed[slot, pred] = self._answer(parents, int(pred))
        if (terms.allowed != before).any():
            work.forget_knots()

    def _answer(self, parents: np.ndarray, pred: int) -> bool:
        question = (parents.tobytes(), pred)
        if self._at == len(self._heard) or self._heard[self._at][0] != question:
            del self._heard[self._at :]
            degree = 1 + int(np.count_nonzero(parents))
            first = not self._heard
            answer = self.function(degree, pred, parents.copy(), self.names, first)
            self._heard.append((question, bool(answer)))
        self._at += 1
        return self._heard[self._at - 1][1]
