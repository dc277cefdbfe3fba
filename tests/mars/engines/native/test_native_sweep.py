"""Thousands of random problems, ordinary and nasty, by both engines. Slow."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest

from pyearthdof.mars.data.columns import polynomial_contrasts
from pyearthdof.mars.engines.native import engine as native
from tests.support.mars.earth_batch import Case, fit_in_r, unexplained
from tests.support.rscript import needs_rscript

ORDINARY, NASTY, SEVERAL = 2000, 5000, 3000


def ordinary_design(rng, n, p):
    return rng.normal(size=(n, p)) if rng.random() < 0.5 else rng.uniform(size=(n, p))


def with_ties(rng, X):
    return np.round(X * 2) / 2


def with_binary_column(rng, X):
    X[:, rng.integers(X.shape[1])] = X[:, 0] > 0
    return X


def with_duplicate_column(rng, X):
    X[:, -1] = X[:, 0]
    return X


def all_binary(rng, X):
    return (X > 0).astype(float)


def scaled(rng, X):
    return X * 10 ** rng.uniform(-3, 6)


def shifted(rng, X):
    return X + 10 ** rng.uniform(0, 5)


def in_various_units(rng, X):
    """As raw data are: dollars, years and degrees side by side."""
    p = X.shape[1]
    return (X + 10 ** rng.uniform(-1, 3, size=p)) * 10 ** rng.uniform(-2, 4, size=p)


def heavy_tailed(rng, X):
    return rng.standard_t(1.5, size=X.shape)


def whole_numbers(rng, X):
    return np.round(X)


def almost_equal(rng, X):
    """Few values in each column, with neighbours at a relative distance of 1e-16 to 1e-11."""
    steps = rng.integers(-1, 2, size=X.shape) * 10 ** rng.uniform(-16, -11, size=X.shape[1])
    return np.round(2 * X + 0.3, 1) * (1 + steps)


def ordered_factor(rng, X):
    """Polynomial contrasts of an ordered factor beside other columns."""
    contrasts = polynomial_contrasts(int(rng.integers(3, 21)))
    rows = contrasts[rng.integers(len(contrasts), size=len(X))]
    return np.column_stack([rows, X[:, : max(1, X.shape[1] // 3)]])


TRICKS = (
    with_ties, with_binary_column, with_duplicate_column, all_binary, scaled, heavy_tailed,
    whole_numbers, shifted, in_various_units, almost_equal, ordered_factor,
)  # fmt: skip


def random_spans(rng) -> dict:
    return {
        "minspan": int(rng.integers(-4, 6)),
        "endspan": int(rng.integers(0, 8)),
        "fast_k": int(rng.choice([0, 5, 20])),
        "fast_beta": float(rng.choice([0, 0.5, 1])),
        "adjust_endspan": float(rng.choice([0, 1, 2])),
    }


def random_options(rng, largest_nk) -> dict:
    options = {
        "degree": int(rng.integers(1, 4)),
        "nk": int(rng.integers(3, largest_nk + 1)),
        "thresh": float(rng.choice([0.0, 0.0, 0.001])),
        "pmethod": str(rng.choice(["backward", "none"])),
    }
    if rng.random() < 0.3:
        options |= random_spans(rng)
    return options


def random_design(rng, nasty, large) -> tuple[np.ndarray, str]:
    n = int(np.exp(rng.uniform(np.log(20), np.log(3000 if large else 400))))
    p = int(np.exp(rng.uniform(0, np.log(60 if large else 20))))
    X = ordinary_design(rng, n, p)
    if not nasty:
        return X, "ordinary"
    trick = TRICKS[rng.integers(len(TRICKS))]
    return trick(rng, X), trick.__name__


def random_response(rng, X, nasty) -> np.ndarray:
    n = len(X)
    unit = X / max(1e-12, np.abs(X).mean())
    y = np.sin(2 * unit[:, 0]) + unit[:, -1] * unit[:, 0]
    y = y + rng.choice([0.0 if nasty else 0.2, 0.1, 0.5, 1.0]) * rng.normal(size=n)
    if rng.random() < 0.3:
        y = rng.normal(size=n)
    if nasty and rng.random() < 0.1:
        y = np.round(y)
    return y


def random_case(rng, nasty) -> Case:
    large = rng.random() < 0.01  # these take R most of the time
    X, label = random_design(rng, nasty, large)
    y = random_response(rng, X, nasty)
    return Case.make(X, y, label=label, **random_options(rng, 115 if large else 60))


def random_responses(rng, X, nasty) -> tuple[np.ndarray, str]:
    """Several responses, as they are, or in various units far from zero, or as the indicators of classes."""
    m = int(rng.integers(2, 6))
    at = [rng.integers(X.shape[1], size=X.shape[1]) for _ in range(m)]
    Y = np.column_stack([random_response(rng, X[:, columns], nasty) for columns in at])
    kind = str(rng.choice(["plain", "units", "classes", "dependent", "constant"]))
    if kind == "units":
        Y = (Y + rng.normal(size=m) * 10 ** rng.uniform(0, 6, size=m)) * 10 ** rng.uniform(
            -4, 4, size=m
        )
    elif kind == "classes":
        Y = (Y.argmax(axis=1)[:, None] == np.unique(Y.argmax(axis=1))).astype(float)
    elif kind == "dependent":
        Y[:, -1] = Y[:, 0] * rng.choice([1.0, -1.0, 3.0])
    elif kind == "constant":
        Y[:, rng.integers(m)] = rng.choice([0.0, 0.1, 1e4])
    return (Y if Y.shape[1] > 1 else np.column_stack([Y, 1 - Y])), kind


def random_case_of_several(rng) -> Case:
    large, nasty = rng.random() < 0.01, rng.random() < 0.5
    X, label = random_design(rng, nasty, large)
    Y, kind = random_responses(rng, X, nasty)
    options = random_options(rng, 115 if large else 60)
    options["scale_y"] = (None, None, False, True)[rng.integers(4)]
    if not options["scale_y"] and rng.random() < 0.2:  # R takes one of the two
        options["response_weight"] = 10 ** rng.uniform(-2, 2, size=Y.shape[1])
    if rng.random() < 0.2:
        options["auto_linpreds"] = False
    return Case.make(X, Y, label=f"{label}, {kind}", **options)


def differences(seed, count, make_case) -> tuple[Counter, list[str]]:
    rng = np.random.default_rng(seed)
    cases = [make_case(rng) for _ in range(count)]
    totals, found = Counter(), []
    for i, (case, wanted) in enumerate(zip(cases, fit_in_r(cases), strict=True)):
        totals[case.label] += 1
        assert wanted is not None, f"R refused case {i}"
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            ours = native.fit(case.X, case.y, case.options)
        totals["with ties"] += native.forward_pass(case.X, case.y[:, None], case.options).n_ties > 0
        what = unexplained(case, ours, wanted)
        if what:
            found.append(f"{i} {case.label} {case.X.shape} {what} {case.options}")
    return totals, found


@needs_rscript
@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "count", "make_case"),
    [
        (20210319, ORDINARY, lambda rng: random_case(rng, nasty=False)),
        (20210320, NASTY, lambda rng: random_case(rng, nasty=True)),
        (20210321, SEVERAL, random_case_of_several),
    ],
    ids=["ordinary", "nasty", "several responses"],
)
def test_problems_are_identical(seed, count, make_case):
    totals, found = differences(seed, count, make_case)
    print(dict(totals), *found, sep="\n")
    assert found == []
