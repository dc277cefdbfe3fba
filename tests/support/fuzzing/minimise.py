"""Make a case that shows a fault as small as it can be while it still shows the fault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tests.support.fuzzing.case import Case

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
    if case.subset is not None:
        yield replace(case, subset=None)
    if case.reprune:
        yield replace(case, reprune={})
    for name in case.options:
        yield replace(case, options={k: v for k, v in case.options.items() if k != name})
    p = case.X.shape[1]
    if p > 1 and "linpreds" not in case.options:
        for j in range(p):
            yield replace(case, X=_without_column(case.X, j))
    if case.subset is None:
        yield from _fewer_rows(case)
    for digits in (1, 2, 4):
        for name in ("X", "y", "weights"):
            values = getattr(case, name)
            if not isinstance(values, np.ndarray):
                continue
            rounded = np.array([float(f"{v:.{digits}g}") for v in values.ravel()])
            if len(repr(rounded.tolist())) < len(repr(values.ravel().tolist())):
                yield replace(case, **{name: rounded.reshape(values.shape)})


def _without_column(X, j: int):
    return X.drop(columns=X.columns[j]) if hasattr(X, "iloc") else np.delete(X, j, axis=1)


def _fewer_rows(case: Case) -> Iterator[Case]:
    n = len(case.y)
    piece = n // 2
    while piece >= 1:
        for start in range(0, n, piece):
            rows = np.delete(np.arange(n), np.s_[start : start + piece])
            if len(rows) >= 2:
                X = case.X.iloc[rows] if hasattr(case.X, "iloc") else case.X[rows]
                weights = None if case.weights is None else case.weights[rows]
                yield replace(case, X=X, y=case.y[rows], weights=weights)
        piece //= 2
