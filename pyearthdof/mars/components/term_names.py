"""Names of terms as R's earth gives them: h(x-c), h(c-x), x, joined by * in the order of the columns."""

from __future__ import annotations

import numpy as np

__all__ = ["term_names"]


def term_names(dirs, cuts, feature_names, X) -> tuple[str, ...]:
    """Name every term, the intercept first.

    A hinge at 0 on counts (whole numbers from 0 to below 100) is the predictor itself, and earth names
    it so; hence X.

    >>> import numpy as np
    >>> X = np.array([[0.5, 1.0], [2.5, 3.0]])
    >>> term_names(np.array([[0, 0], [1, 2]]), np.array([[0, 0], [0.5, 1.0]]), ("a", "b"), X)
    ('(Intercept)', 'h(a-0.5)*b')
    """
    # only a hinge at 0 asks for them
    counts = _counts(X) if ((dirs == 1) & (cuts == 0)).any() else np.zeros(X.shape[1], dtype=bool)
    factors: list[list[str]] = [[] for _ in dirs]
    terms, predictors = np.nonzero(dirs)
    found = (terms, predictors, dirs[terms, predictors], cuts[terms, predictors])
    for i, j, direction, cut in zip(*(values.tolist() for values in found), strict=True):
        factors[i].append(_factor(direction, cut, feature_names[j], counts[j]))
    return ("(Intercept)", *("*".join(names) for names in factors[1:]))


def _counts(X) -> np.ndarray:
    low, high = X.min(axis=0), X.max(axis=0)
    return (low == 0) & (high < 100) & (np.floor(X) == X).all(axis=0)


def _factor(direction, cut, name, is_count) -> str:
    if direction == 2 or (direction == 1 and cut == 0 and is_count):
        return name
    return f"h({name}-{cut:g})" if direction == 1 else f"h({cut:g}-{name})"
