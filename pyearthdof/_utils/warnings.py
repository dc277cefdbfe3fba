"""Warnings that point at the caller's line."""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar

# Modules between the user's code and ours: this package, and scikit-learn's wrappers of its methods.
INSIDE = ("pyearthdof", "sklearn", "joblib")
_heard: ContextVar[list | None] = ContextVar("heard", default=None)


class CollectedWarnings:
    """Collect the warnings of `warn_user` as (message, category) instead of issuing them.

    This context only affects the current thread. If an error ends the block, the warnings are issued.
    """

    def __enter__(self) -> list[tuple]:
        self._found: list[tuple] = []
        self._token = _heard.set(self._found)
        return self._found

    def __exit__(self, kind, error, traceback) -> None:
        _heard.reset(self._token)
        for message, category in self._found if kind is not None else ():
            warn_user(message, category)


def warn_once(heard: list[tuple]) -> None:
    """Issue collected warnings, each text once, sorted by text because threads have no order."""
    texts = {str(message): (message, category) for message, category in reversed(heard)}
    for text in sorted(texts):
        warn_user(*texts[text])


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside this package; if none exists, at the outermost one.

    The location does not depend on the depth of the call, so it is stable when code moves.
    """
    heard = _heard.get()
    if heard is not None:
        heard.append((message, category))
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
