"""Data as people have them: factors, almost equal values, several responses, classes, counts, subsets.

Drawn by numpy from a seed and a number, so that any case can be made again by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from tests.support.fuzzing.case import Case

__all__ = ["data_case", "data_cases"]


def data_cases(count: int, seed: int = 0) -> Iterator[Case]:
    """Yield as many cases, the same ones for the same seed."""
    for number in range(count):
        yield data_case(seed, number)


def data_case(seed: int, number: int) -> Case:
    """Case `number` of a seed."""
    rng = np.random.default_rng([seed, number])
    n = int(np.exp(rng.uniform(np.log(15), np.log(250))))
    X, signal = _predictors(rng, n)
    weights = _weights(rng, n) if rng.random() < 0.25 else None
    options = _options(rng, X.shape[1], weighted=weights is not None)
    y, classes, more = _responses(rng, signal)
    options |= more
    if y.ndim == 2 and "glm_family" not in options and not classes:
        options |= _of_several(rng, y.shape[1])
    subset = _subset(rng, n) if rng.random() < 0.25 else None
    if weights is not None:  # earth does a regression for each knot: keep R's time within bounds
        options["nk"] = min(options.get("nk", 15), 15)
    case = Case(X, y, weights, options, subset, _reprune(rng), classes)
    weighted = weights is not None or "force_weights" in options
    if case.needs_glm and weighted and subset is not None:
        case = replace(
            case, reprune={}
        )  # R's update() takes the weights of the subset for all rows'
    return case


def almost_equal(rng, n):
    """A few values, each of which has neighbours at a relative distance of 1e-16 to 1e-11."""
    middle = rng.normal(size=rng.integers(2, 6)) * 10 ** rng.uniform(-2, 2)
    steps = rng.integers(-2, 3, size=n) * 10 ** rng.uniform(-16, -11)
    return rng.choice(middle, n) * (1 + steps)


def computed_twice(rng, n):
    """The same numbers by two ways of computing them, mixed."""
    x = rng.choice(np.round(rng.uniform(0, 3, size=12), 1), n)
    return np.where(rng.random(n) < 0.5, x * 3 / 7, x / 7 * 3)


def few_values(rng, n):
    return rng.integers(0, rng.integers(2, 9), n).astype(float)


def raw_units(rng, n):
    return (rng.normal(size=n) + 10 ** rng.uniform(-1, 3)) * 10 ** rng.uniform(-2, 4)


NUMBERS = (
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: rng.uniform(size=n),
    lambda rng, n: np.exp(2 * rng.normal(size=n)),
    almost_equal, almost_equal, computed_twice, few_values, raw_units,
)  # fmt: skip


def factor(rng, n):
    """Unordered, up to 50 levels, some of them seldom or never met."""
    n_levels = int(np.exp(rng.uniform(np.log(2), np.log(50.99))))
    return _categories(rng, n, n_levels, ordered=False)


def ordered(rng, n):
    return _categories(rng, n, int(rng.integers(3, 21)), ordered=True)


def _categories(rng, n, n_levels, ordered) -> pd.Categorical:
    share = rng.dirichlet(np.full(n_levels, rng.choice([0.5, 5.0])))
    levels = [f"l{k}" for k in range(n_levels)]
    return pd.Categorical.from_codes(rng.choice(n_levels, n, p=share), levels, ordered=ordered)


def _predictors(rng, n) -> tuple[np.ndarray | pd.DataFrame, np.ndarray]:
    """A matrix or a frame, and a function of it."""
    p = int(rng.integers(1, 6))
    kinds = [NUMBERS[rng.integers(len(NUMBERS))] for _ in range(p)]
    if rng.random() < 0.6:
        kinds[0] = (factor, ordered, ordered)[rng.integers(3)]
        if p > 1 and rng.random() < 0.3:
            kinds[1] = (factor, ordered)[rng.integers(2)]
    columns = {f"v{j}": kind(rng, n) for j, kind in enumerate(kinds)}
    signal = sum(rng.normal() * _effect(rng, values) for values in columns.values())
    if any(isinstance(values, pd.Categorical) for values in columns.values()):
        return pd.DataFrame(columns), signal
    return np.column_stack(list(columns.values())), signal


def _effect(rng, values) -> np.ndarray:
    if isinstance(values, pd.Categorical):
        return rng.normal(size=len(values.categories))[values.codes]
    # by rank, so that almost equal values may differ in what they do
    rank = np.unique(values, return_inverse=True)[1]
    if rank.max() < 40:
        return rng.normal(size=rank.max() + 1)[rank]
    x = (values - values.mean()) / (values.std() or 1.0)
    return np.abs(x) if rng.random() < 0.5 else np.sin(x)


def _responses(rng, signal) -> tuple[np.ndarray, tuple[str, ...], dict]:
    """y, the classes where it holds codes, and the options that belong to it."""
    n = len(signal)
    noisy = signal + rng.choice([0.1, 0.5, 1.0]) * rng.normal(size=n)
    kind = rng.choice(["one", "several", "glm", "pairs", "classes"], p=[0.4, 0.25, 0.15, 0.1, 0.1])
    if kind == "one":
        return (np.round(noisy) if rng.random() < 0.15 else noisy), (), {}
    if kind == "several":
        return _several(rng, noisy), (), {}
    z = (noisy - noisy.mean()) / (noisy.std() or 1.0)
    if kind == "pairs":
        size = rng.integers(1, 12, n)
        wins = rng.binomial(size, 1 / (1 + np.exp(-z)))
        return np.column_stack([wins, size - wins]).astype(float), (), {"glm_family": "binomial"}
    if kind == "classes":
        cuts = np.sort(rng.normal(scale=0.5, size=rng.integers(1, 4)))
        codes = np.unique(np.digitize(z + rng.normal(size=n), cuts), return_inverse=True)[1]
        if codes.max() == 0:
            codes[0] = 1
        return codes.astype(float), tuple(f"c{k}" for k in range(int(codes.max()) + 1)), {}
    family = str(rng.choice(["binomial", "poisson", "gamma", "gaussian"]))
    y = {
        "binomial": (z + rng.normal(size=n) > 0).astype(float),
        "poisson": rng.poisson(np.exp(np.clip(z, -3, 3))).astype(float),
        "gamma": np.exp(0.3 * z) * rng.gamma(5.0, 0.2, n) + 0.05,
        "gaussian": z,
    }[family]
    return y, (), {"glm_family": family}


def _several(rng, noisy) -> np.ndarray:
    n, m = len(noisy), int(rng.integers(2, 5))
    Y = np.outer(noisy, rng.normal(size=m)) + rng.choice([0.0, 0.3, 1.0]) * rng.normal(size=(n, m))
    if rng.random() < 0.15:
        Y[:, -1] = rng.normal()  # a constant one
    if rng.random() < 0.15:
        Y = np.round(2 * Y)
    return Y


def _of_several(rng, m: int) -> dict:
    if rng.random() < 0.4:
        return {
            "response_weight": (*rng.choice([0.0, 0.2, 1.0, 3.0, 7.0], size=m - 1).tolist(), 1.0)
        }
    return {"scale_y": bool(rng.random() < 0.5)} if rng.random() < 0.4 else {}


def _weights(rng, n) -> np.ndarray:
    kind = rng.integers(5)
    if kind == 0:
        return np.full(n, 2.5)
    if kind == 1:
        return 10 ** rng.uniform(-4, 4, n)
    if kind == 2:
        return rng.integers(1, 4, n).astype(float)
    weights = rng.uniform(0.2, 3.0, n)
    if kind == 3:
        weights[rng.random(n) < 0.3] = 0.0
        weights[0] = 1.0
    return weights


def _subset(rng, n) -> np.ndarray:
    rows = rng.choice(n, size=int(rng.integers(max(8, n // 2), n + 1)), replace=False)
    return np.sort(rows) if rng.random() < 0.5 else rows


def _options(rng, p: int, *, weighted: bool) -> dict:
    choices = {
        "degree": (0.7, lambda: int(rng.integers(2, 4))),
        "nk": (0.4, lambda: int(rng.integers(3, 40))),
        "thresh": (0.3, lambda: float(rng.choice([0.0, 1e-5, 0.01]))),
        "penalty": (0.2, lambda: float(rng.choice([-1, 0, 1, 4]))),
        "minspan": (0.2, lambda: int(rng.integers(-5, 8))),
        "endspan": (0.2, lambda: int(rng.integers(0, 8))),
        "fast_k": (0.2, lambda: int(rng.integers(0, 12))),
        "fast_beta": (0.1, lambda: float(rng.choice([0, 0.5, 2]))),
        "adjust_endspan": (0.1, lambda: float(rng.choice([0, 1]))),
        "auto_linpreds": (0.1, lambda: False),
        "force_weights": (0.03, lambda: True),
        "newvar_penalty": (0.0 if weighted else 0.1, lambda: float(rng.choice([0.01, 0.2]))),
        "nprune": (0.1, lambda: int(rng.integers(1, 12))),
        "linpreds": (0.1, lambda: (0,)),
    }
    return {name: value() for name, (share, value) in choices.items() if rng.random() < share}


def _reprune(rng) -> dict:
    kind = rng.integers(4)
    if kind == 0:
        return {"penalty": float(rng.choice([0, 1.5, 5, 12]))}
    if kind == 1:
        return {"nprune": int(rng.integers(1, 9))}
    return {"pmethod": "none"} if kind == 2 else {"penalty": 4.0, "nprune": 5}
