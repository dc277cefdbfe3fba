"""Make a case that shows a fault as small as it can be while it still shows the fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from cases_strategy import Case

__all__ = ["minimise"]


def minimise(case: Case, shows: Callable[[Case], bool], most_tries: int = 400) -> Case:
    """Take away options, columns, rows and digits as long as `shows` stays true.

    >>> case = Case(np.arange(12.0).reshape(6, 2), np.arange(6.0) / 7, options={"nk": 3, "degree": 2})
    >>> minimise(case, lambda c: "nk" in c.options and len(c.y) > 3)
    Case(np.array([[3.0], [5.0], [7.0], [9.0]]), np.array([0.1, 0.3, 0.4, 0.6]), options={'nk': 3})
    """
    tries = 0
    shrinking = True
    while shrinking:
        shrinking = False
        for smaller in _smaller(case):
            tries += 1
            if tries > most_tries:
                return case
            if shows(smaller):
                case, shrinking = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Smaller cases, the boldest first."""
    if case.weights is not None:
        yield replace(case, weights=None)
    for name in case.options:
        yield replace(case, options={k: v for k, v in case.options.items() if k != name})
    n, p = case.X.shape
    if p > 1 and "linpreds" not in case.options:
        for j in range(p):
            yield replace(case, X=np.delete(case.X, j, axis=1))
    piece = n // 2
    while piece >= 1:
        for start in range(0, n, piece):
            rows = np.delete(np.arange(n), np.s_[start : start + piece])
            if len(rows) >= 2:
                weights = None if case.weights is None else case.weights[rows]
                yield replace(case, X=case.X[rows], y=case.y[rows], weights=weights)
        piece //= 2
    for digits in (1, 2, 4):
        for name in ("X", "y", "weights"):
            values = getattr(case, name)
            if values is None:
                continue
            rounded = np.array([float(f"{v:.{digits}g}") for v in values.ravel()])
            if len(repr(rounded.tolist())) < len(repr(values.ravel().tolist())):
                yield replace(case, **{name: rounded.reshape(values.shape)})
