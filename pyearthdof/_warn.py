"""Warnings that point at the line of the user."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_user"]

# What stands between a user and our code: this package, and scikit-learn's wrappers of its methods.
INSIDE = ("pyearthdof", "sklearn", "joblib")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside this package; where there is none, at the outermost one.

    How deep the caller stands does not matter, so a warning keeps its place when code moves.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_inside(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_inside(frame) -> bool:
    name = frame.f_globals.get("__name__", "")
    return name.partition(".")[0] in INSIDE
