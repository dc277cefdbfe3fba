"""Several responses, of which some are constant, equal, combinations of others, or of another size.

Drawn by numpy from a seed and a number, so that any case can be made again by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tests.support.fuzzing.case import Case
from tests.support.fuzzing.data_cases import data_case

__all__ = ["several_case", "several_cases"]


def several_cases(count: int, seed: int = 0) -> Iterator[Case]:
    """Yield as many cases, the same ones for the same seed."""
    for number in range(count):
        yield several_case(seed, number)


def several_case(seed: int, number: int) -> Case:
    """Case `number` of a seed: the design of a `data_case`, with several responses."""
    base = data_case(seed, number)
    rng = np.random.default_rng([seed, number, 3])
    left_out = ("response_weight", "glm_family", "scale_y")
    options = {name: v for name, v in base.options.items() if name not in left_out}
    first = base.y.reshape(len(base.y), -1)[:, 0]
    Y = _responses(rng, (first - first.mean()) / (first.std() or 1.0))
    m = Y.shape[1]
    if rng.random() < 0.3:
        weights = rng.choice([0.0, 0.2, 1.0, 3.0, 7.0], size=m - 1).tolist()
        options["response_weight"] = (*weights, 1.0)
    elif rng.random() < 0.4:
        options["scale_y"] = bool(rng.random() < 0.5)
    reprune, subset = base.reprune, base.subset
    if rng.random() < 0.1:
        options |= {"nfold": int(rng.integers(2, 5)), "random_state": number}
        reprune, subset = {}, None
    return replace(base, y=Y, classes=(), options=options, reprune=reprune, subset=subset)


def _responses(rng, signal) -> np.ndarray:
    n, m = len(signal), int(rng.integers(2, 6))
    columns = [signal + rng.choice([0.1, 0.5, 1.0]) * rng.normal(size=n)]
    while len(columns) < m:
        columns.append(_response(rng, signal, columns))
    if rng.random() < 0.04:
        columns = [np.full(n, rng.normal()) for _ in columns]
    order = rng.permutation(m)
    return np.column_stack([columns[k] for k in order])


def _response(rng, signal, columns) -> np.ndarray:
    n, last, kind = len(signal), columns[-1], rng.integers(12)
    if kind < 3:  # constant: 0, 1, any number, large or small
        return np.full(n, rng.choice([0.0, 1.0, rng.normal(), 1e6 * rng.normal(), 1e-7]))
    if kind == 3:
        return np.where(np.arange(n) == rng.integers(n), rng.normal(), 1.0)  # but for one row
    if kind == 4:
        return last.copy()
    if kind == 5:
        return columns[0] - 2.0 * last + 1.0
    if kind == 6:
        return np.round(2.0 * signal)
    if kind == 7:
        return (signal + rng.normal(size=n) > 0).astype(float)
    if kind == 8:
        return 10.0 ** rng.integers(-6, 7) * (signal + 0.3 * rng.normal(size=n))
    if kind == 9:
        return rng.normal(size=n)
    return rng.normal() * signal + rng.choice([0.0, 0.3, 1.0]) * rng.normal(size=n)
