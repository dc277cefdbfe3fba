"""Data as people have them, with cross-validation and variance models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tests.support.fuzzing.case import Case
from tests.support.fuzzing.data_cases import data_case

__all__ = ["fold_case", "fold_cases"]

METHODS = ("const", "lm", "rlm", "earth", "power", "power0", "x.lm", "x.rlm", "x.earth")


def fold_cases(count: int, seed: int = 0) -> Iterator[Case]:
    """Yield as many cases, the same ones for the same seed."""
    for number in range(count):
        yield fold_case(seed, number)


def fold_case(seed: int, number: int) -> Case:
    """Case `number` of a seed; R does not cross-validate a subset."""
    rng = np.random.default_rng([seed, number, 1])
    case = data_case(seed, number)
    options = case.options | {
        "nfold": int(rng.integers(2, 7)),
        "ncross": int(rng.integers(1, 3)),
        "stratify": bool(rng.random() < 0.7),
        "random_state": number,
    }
    if rng.random() < 0.3:
        options["keepxy"] = True
    if rng.random() < 0.2:
        options["pmethod"] = "cv"
    if case.y.ndim == 1 and rng.random() < 0.5:
        options |= _variance(rng)
    return replace(case, options=options, subset=None, reprune={})


def _variance(rng) -> dict:
    method = str(rng.choice(METHODS))
    options = {"varmod_method": method, "ncross": 3}
    if rng.random() < 0.3:
        options["varmod_conv"] = float(rng.choice([-1, 0.1, 20]))
    if rng.random() < 0.3:
        options["varmod_clamp"] = float(rng.choice([0, 0.5, 1]))
    if method in ("lm", "rlm", "earth") and rng.random() < 0.3:
        options["varmod_exponent"] = float(rng.choice([0.5, 2]))
    if method.endswith("earth") and rng.random() < 0.3:
        options["varmod_minspan"] = int(rng.choice([-1, -6, 0, 5]))
    return options
