"""The user's rule for terms, asked as R asks it: before each step, for each parent and predictor in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .... import _core
from ...options import n_arguments

__all__ = ["Allowed"]


class Allowed:
    """Takes a forward pass step by step and asks `function` what may come next.

    A pass that is taken again from the start, in earth's order of operations, has its questions answered
    from memory, so that the function hears each of R's questions once.
    """

    def __init__(self, function: Callable, names: Sequence[str]):
        self.function, self.names = function, tuple(names)
        self._n_arguments = n_arguments(function)
        self._heard: list[tuple[tuple, bool]] = []
        self._at = 0

    def run(self, steps: _core.Steps) -> dict:
        """What the pass found."""
        while steps.is_running:
            if steps.n_slots == 1:
                self._at = 0
            for slot, dirs in steps.parents():
                parents = dirs.astype(int)
                for pred in np.flatnonzero(parents == 0).tolist():
                    steps.allow(slot, pred, self._answer(parents, pred))
            steps.run(1)
        return steps.collect()

    def _answer(self, parents: np.ndarray, pred: int) -> bool:
        question = (parents.tobytes(), pred)
        if self._at == len(self._heard) or self._heard[self._at][0] != question:
            del self._heard[self._at :]
            degree = 1 + int(np.count_nonzero(parents))
            first = not self._heard
            known = (degree, pred, parents.copy(), self.names, first)
            answer = self.function(*known[: self._n_arguments])
            self._heard.append((question, bool(answer)))
        self._at += 1
        return self._heard[self._at - 1][1]
