"""Generalised linear models: every family and link, weights, pairs, classes, separation, few iterations.

Drawn by numpy from a seed and a number, so that any case can be made again by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tests.support.fuzzing.case import Case
from tests.support.fuzzing.data_cases import data_case

__all__ = ["glm_case", "glm_cases"]

LINKS = {
    "binomial": ("logit", "probit", "cauchit", "cloglog", "log"),
    "quasibinomial": ("logit", "probit", "cauchit", "cloglog", "log"),
    "poisson": ("log", "identity", "sqrt"),
    "quasipoisson": ("log", "identity", "sqrt"),
    "gamma": ("inverse", "identity", "log"),
    "gaussian": ("identity", "log", "inverse"),
    "inverse_gaussian": ("1/mu^2", "inverse", "identity", "log"),
}
ALL_LINKS = tuple(dict.fromkeys(link for links in LINKS.values() for link in links))


def glm_cases(count: int, seed: int = 0) -> Iterator[Case]:
    """Yield as many cases, the same ones for the same seed."""
    for number in range(count):
        yield glm_case(seed, number)


def glm_case(seed: int, number: int) -> Case:
    """Case `number` of a seed: the design of a `data_case`, with another response."""
    base = data_case(seed, number)
    rng = np.random.default_rng([seed, number, 1])
    n = len(base.y)
    options = {k: v for k, v in base.options.items() if k not in ("response_weight", "glm_family")}
    signal = rng.choice([0.3, 1.0, 4.0]) * _standard(base.y.reshape(n, -1)[:, 0])
    family = str(rng.choice(list(LINKS)))
    y, classes = _response(rng, family, signal)
    if not classes:
        options["glm_family"] = family
    if classes:
        options.pop("scale_y", None)
    links = LINKS["binomial" if classes else family]
    if rng.random() < 0.75:
        options["glm_link"] = str(rng.choice(links if rng.random() < 0.9 else ALL_LINKS))
    if rng.random() < 0.2:
        options["glm_maxit"] = int(rng.choice([1, 2, 3, 5, 60]))
    if rng.random() < 0.1:
        options["glm_epsilon"] = float(rng.choice([1e-11, 1e-4, 0.1]))
    case = replace(base, y=y, classes=classes, options=options)
    weighted = case.weights is not None or "force_weights" in options
    # R's update() takes the weights of the subset for all rows'
    return replace(case, reprune={}) if weighted and case.subset is not None else case


def _standard(values) -> np.ndarray:
    return (values - values.mean()) / (values.std() or 1.0)


def _response(rng, family: str, z) -> tuple[np.ndarray, tuple[str, ...]]:
    n = len(z)
    if family.endswith("binomial"):
        return _binomial(rng, family, z)
    if family.endswith("poisson"):
        y = rng.poisson(rng.choice([0.5, 3.0, 20.0]) * np.exp(np.clip(0.5 * z, -3, 3))).astype(
            float
        )
        return (y + 0.25 if family == "quasipoisson" and rng.random() < 0.3 else y), ()
    if family == "gaussian":
        y = z + rng.choice([0.0, 5.0]) + 0.3 * rng.normal(size=n)
        if rng.random() < 0.5:
            y = np.exp(0.5 * z) + 0.3
        return (np.column_stack([y, rng.normal(size=n) + 4.0]) if rng.random() < 0.2 else y), ()
    return np.exp(0.4 * np.tanh(z)) * rng.gamma(rng.choice([2.0, 20.0]), size=n) / 5 + 0.05, ()


def _binomial(rng, family: str, z) -> tuple[np.ndarray, tuple[str, ...]]:
    n, kind = len(z), rng.integers(6)
    chance = 1 / (1 + np.exp(-z))
    if kind == 0:
        size = rng.integers(0, 12, n)
        size[0] = 3
        wins = rng.binomial(size, chance)
        return np.column_stack([wins, size - wins]).astype(float), ()
    if kind == 1:  # what one predictor may separate
        return (z > np.quantile(z, rng.uniform(0.1, 0.9))).astype(float), ()
    if kind == 2:
        return np.clip(chance + 0.1 * rng.normal(size=n), 0.0, 1.0), ()
    if kind == 3 and family == "binomial":
        codes = np.unique(np.digitize(z + rng.normal(size=n), [-0.7, 0.7]), return_inverse=True)[1]
        codes[0] = codes[0] if codes.max() else 1
        return codes.astype(float), tuple(f"c{k}" for k in range(int(codes.max()) + 1))
    if kind == 4:
        return (rng.random((n, 2)) < np.column_stack([chance, 0.3 + 0 * z])).astype(float), ()
    return (rng.random(n) < rng.choice([0.3, 1.0]) * chance).astype(float), ()
