"""Values that differ by rounding alone: earth's running sums lose a hinge between them, and so do ours."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pyearthdof import crosscheck
from pyearthdof.mars.data.columns import polynomial_contrasts
from pyearthdof.mars.engines.native import engine as native
from tests.support.mars.earth_batch import FUSED, Case, difference, fit_in_r
from tests.support.rscript import needs_rscript

pytestmark = needs_rscript


def two_that_are_almost_one(seed, distance):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, 60)
    value = 0.3779644730092278
    x = np.array([0.1, value, value + distance])[kind]
    z = rng.normal(size=60)
    y = np.array([0.0, 0, 1])[kind] + 0.3 * z + 0.2 * rng.normal(size=60)
    return np.column_stack([x, z]), y


def an_ordered_factor(seed, n_levels):
    rng = np.random.default_rng([n_levels, seed])
    level = rng.integers(0, n_levels, 200)
    z = rng.normal(size=(200, 2))
    y = rng.normal(size=n_levels)[level] + 0.5 * z[:, 0] + 0.3 * rng.normal(size=200)
    return np.column_stack([polynomial_contrasts(n_levels)[level], z]), y


def a_parent_of_the_size_of_rounding(seed):
    """Interactions of almost equal values: a parent that is 1e-15 in some rows and 1 in others."""
    rng = np.random.default_rng(seed)
    values = rng.choice(rng.normal(size=4), (150, 2))
    X = values * (1 + rng.integers(-2, 3, size=(150, 2)) * 10 ** rng.uniform(-16, -11))
    ranks = [np.unique(column, return_inverse=True)[1] for column in X.T]
    y = sum(rng.normal(size=r.max() + 1)[r] for r in ranks) + 0.3 * rng.normal(size=150)
    level = polynomial_contrasts(6)[rng.integers(0, 6, 150)]
    return np.column_stack([X, level]), y


CASES = [
    *(
        Case.make(*two_that_are_almost_one(seed, distance), label=f"{distance}")
        for distance in (2.2e-16, 1.2e-15, 1e-14, 1e-13, 1e-11, 1e-9)
        for seed in range(15)
    ),
    *(
        Case.make(*an_ordered_factor(seed, levels), label=f"{levels} levels", degree=1 + seed % 3)
        for levels in (6, 7, 8, 10, 12, 16, 20)
        for seed in range(9)
    ),
    *(
        Case.make(
            *a_parent_of_the_size_of_rounding(seed), label="parent", degree=3, nk=33, thresh=0
        )
        for seed in range(30)
    ),
]


@pytest.mark.skipif(FUSED, reason="an earth with fused operations finds other terms in 27 of these")
def test_the_same_terms_as_r():
    found = [
        f"{case.label}: {what}"
        for case, wanted in zip(CASES, fit_in_r(CASES), strict=True)
        if (what := difference(native.fit(case.X, case.y, case.options), wanted))
    ]
    assert found == []


@pytest.mark.needs_r
def test_crosscheck_says_the_same_model():
    X, y = two_that_are_almost_one(0, 1.2e-15)
    assert crosscheck(X, y).same
    levels = pd.Categorical.from_codes(
        np.random.default_rng(1).integers(0, 10, 60), list("abcdefghij"), ordered=True
    )
    frame = pd.DataFrame({"level": levels, "z": X[:, 1]})
    for degree in (1, 2, 3):
        assert crosscheck(frame, y, degree=degree).same
