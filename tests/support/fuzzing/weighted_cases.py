"""Case weights: zeros among them, ten orders of magnitude, equal ones that are forced, and up to 3,000 rows.

Drawn by numpy from a seed and a number, so that any case can be made again by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tests.support.fuzzing.case import Case
from tests.support.fuzzing.data_cases import NUMBERS, factor, ordered

__all__ = ["weighted_case", "weighted_cases"]

# Rows and predictors at the most, and the largest nk: R regresses anew for each knot.
SIZES = (
    (80, 6, 25),
    (80, 6, 25),
    (80, 6, 25),
    (80, 6, 25),
    (250, 4, 15),
    (250, 4, 15),
    (600, 3, 9),
)
LARGE = (3000, 2, 7)


def weighted_cases(count: int, seed: int = 0) -> Iterator[Case]:
    """Yield as many cases, the same ones for the same seed."""
    for number in range(count):
        yield weighted_case(seed, number)


def weighted_case(seed: int, number: int) -> Case:
    """Case `number` of a seed; one in 25 has 2,000 rows or more."""
    rng = np.random.default_rng([seed, number, 4])
    large = number % 25 == 24
    most, most_p, nk = LARGE if large else SIZES[rng.integers(len(SIZES))]
    n = int(rng.integers(2000, most + 1)) if large else int(rng.integers(max(15, most // 4), most))
    p = int(rng.integers(1, most_p + 1))
    X = _predictors(rng, n, p, smooth=large)
    signal = _signal(rng, X)
    weights = None if rng.random() < 0.03 else _weights(rng, n)
    options = {"nk": int(rng.integers(3, nk + 1)), "thresh": float(rng.choice([0.0, 0.001, 0.001]))}
    options |= _options(rng, X.shape[1])
    if weights is None or np.ptp(weights) == 0:
        options["force_weights"] = True
    y = signal + rng.choice([0.0, 0.1, 0.5, 1.0]) * rng.normal(size=n) / np.sqrt(_positive(weights))
    if rng.random() < 0.1:
        y = np.round(y)
    if np.ptp(y) == 0:  # R cannot scale a constant response with weights and stops
        y = rng.normal(size=n)
    if rng.random() < 0.25:
        y = _several(rng, y)
        if rng.random() < 0.5:
            options["scale_y"] = bool(rng.random() < 0.5)
        elif rng.random() < 0.4:
            importance = rng.choice([0.2, 1.0, 3.0], size=y.shape[1] - 1)
            options["response_weight"] = (*importance.tolist(), 1.0)
    subset = np.sort(rng.choice(n, n - n // 5, replace=False)) if rng.random() < 0.1 else None
    return Case(X, y, weights, options, subset)


def _positive(weights: np.ndarray | None) -> np.ndarray | float:
    """The weights as precisions, no smaller than a hundredth of their mean."""
    return 1.0 if weights is None else np.maximum(weights / weights.mean(), 0.01)


def _predictors(rng, n: int, p: int, *, smooth: bool) -> np.ndarray | pd.DataFrame:
    kinds = NUMBERS[:4] if smooth else NUMBERS
    columns = [kinds[rng.integers(len(kinds))](rng, n) for _ in range(p)]
    if p > 1 and rng.random() < 0.25:
        columns[-1] = _dependent(rng, columns[0])
    if rng.random() < 0.1:  # repeated rows
        rows = rng.integers(n, size=n)
        columns = [column[rows] for column in columns]
    if not smooth and rng.random() < 0.3:
        kind = (factor, ordered)[rng.integers(2)]
        names = [f"v{j}" for j in range(p)]
        return pd.DataFrame(dict(zip(names, columns, strict=True)) | {"f": kind(rng, n)})
    return np.column_stack(columns)


def _dependent(rng, column: np.ndarray) -> np.ndarray:
    """The same column, up to its unit, sign or a little noise; or one that is above zero with it."""
    size = column.std() or 1.0
    kind = rng.integers(4)
    if kind == 0:
        return column.copy()
    if kind == 1:
        return 2.0 - 3.0 * column
    if kind == 2:
        return (column > np.median(column)).astype(float)
    return column + 10.0 ** rng.uniform(-12, -1) * size * rng.normal(size=len(column))


def _signal(rng, X: np.ndarray | pd.DataFrame) -> np.ndarray:
    values = [v.codes if isinstance(v, pd.Categorical) else v for v in _columns(X)]
    units = [(v - np.mean(v)) / (np.std(v) or 1.0) for v in values]
    signal = np.sin(2 * units[0]) + units[-1] * np.abs(units[0])
    return rng.normal(size=len(signal)) if rng.random() < 0.15 else signal


def _columns(X: np.ndarray | pd.DataFrame) -> list:
    return list(X.T) if isinstance(X, np.ndarray) else [X[name].array for name in X]


def _weights(rng, n: int) -> np.ndarray:
    kind = rng.integers(9)
    if kind == 0:
        return np.full(n, rng.choice([1.0, 2.5, 1e-3]))
    if kind == 1:
        return 10 ** rng.uniform(-1.5, 1.5, n)  # 1000:1
    if kind == 2:
        return 10 ** rng.uniform(-5, 5, n)
    if kind == 3:
        return 10 ** rng.uniform(-12, 0, n)  # some below earth's floor
    if kind == 4:
        return rng.integers(0, 3, n) + (np.arange(n) == 0)
    if kind == 5:
        return rng.integers(1, 6, n).astype(float)
    if kind == 6:
        return np.where(rng.random(n) < 0.2, 10 ** rng.uniform(-7, -3), 1.0)  # two sizes
    weights = rng.uniform(0.2, 3.0, n)
    if kind == 7:
        weights[1:][rng.random(n - 1) < 0.4] = 0.0
    return weights


def _several(rng, y: np.ndarray) -> np.ndarray:
    n, m = len(y), int(rng.integers(2, 5))
    columns = [y]
    while len(columns) < m:
        more = rng.normal() * y + rng.choice([0.0, 0.3, 1.0]) * y.std() * rng.normal(size=n)
        columns.append(rng.normal(size=n) if rng.random() < 0.3 else more)
    return np.column_stack(columns)


def _options(rng, p: int) -> dict:
    choices = {
        "degree": (0.7, lambda: int(rng.integers(2, 4))),
        "penalty": (0.2, lambda: float(rng.choice([-1, 0, 1, 4]))),
        "minspan": (0.2, lambda: int(rng.integers(-4, 6))),
        "endspan": (0.2, lambda: int(rng.integers(0, 8))),
        "fast_k": (0.2, lambda: int(rng.choice([0, 5, 20]))),
        "fast_beta": (0.1, lambda: float(rng.choice([0, 0.5]))),
        "adjust_endspan": (0.1, lambda: float(rng.choice([0, 1]))),
        "auto_linpreds": (0.1, lambda: False),
        "linpreds": (0.1, lambda: (int(rng.integers(p)),)),
        "pmethod": (0.3, lambda: "none"),
        "nprune": (0.1, lambda: int(rng.integers(1, 12))),
    }
    return {name: value() for name, (share, value) in choices.items() if rng.random() < share}
