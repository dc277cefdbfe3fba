"""Many rows: what is gathered, sorted and kept otherwise than for few of them."""

from __future__ import annotations

import numpy as np
import pytest

from pyearthdof import _core
from pyearthdof.mars.engines.native import engine as native
from pyearthdof.mars.engines.native.engine import make_design, pass_settings
from tests.support.mars.earth_batch import Case, fit_in_r, unexplained
from tests.support.rscript import needs_rscript

MANY = 60_000  # rows, with which earth's basis for nk = 41 is not kept by case


def smooth(p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(MANY, p))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + rng.normal(size=MANY)
    return X, y


def n_ties(case):
    return native.forward_pass(case.X, case.y[:, None], case.options).n_ties


@needs_rscript
def test_many_rows_have_the_terms_of_r():
    """Knots are close together: neighbours are near-ties, which earth's order of operations decides."""
    cases = [
        Case.make(*smooth(4, 1), nk=41),
        Case.make(*smooth(3, 2), nk=41, degree=2),
        Case.make(*smooth(3, 3), nk=41, newvar_penalty=0.1),
    ]
    for case, wanted in zip(cases, fit_in_r(cases), strict=True):
        fits = [native.fit(case.X, case.y, case.options, n_threads=n) for n in (1, 2)]
        assert unexplained(case, fits[0], wanted) == ""
        assert np.array_equal(fits[0].fitted, fits[1].fitted)
        assert np.array_equal(fits[0].model.coef, fits[1].model.coef)
    assert n_ties(cases[2]) == 0  # a penalty for new variables asks for earth's order throughout


def test_many_rows_have_ties():
    case = Case.make(*smooth(4, 1), nk=41)
    assert n_ties(case) > 0


@pytest.mark.parametrize("name", ["plain", "sse2", "avx2", "avx512"])
def test_many_rows_have_the_same_bits_with_all_instructions(name):
    case = Case.make(*smooth(3, 4), nk=41)
    wanted, own = native.fit(case.X, case.y, case.options), _core.instructions()
    if not _core.use_instructions(name):
        pytest.skip(f"this processor has no {name}")
    try:
        found = native.fit(case.X, case.y, case.options)
    finally:
        _core.use_instructions(own)
    assert np.array_equal(found.model.cuts, wanted.model.cuts)
    assert np.array_equal(found.fitted, wanted.fitted)


def columns_to_sort(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    return {
        "normal": rng.normal(size=n),
        "tied": rng.integers(-3, 4, size=n).astype(float),
        "zeros of both signs": rng.choice([-1.0, -0.0, 0.0, 1.0], size=n),
        "few that are almost equal": np.where(
            rng.random(n) < 0.01, 1 + 1e-13 * rng.normal(size=n), rng.normal(size=n)
        ),
        "all almost equal": 1 + 1e-13 * rng.integers(0, 500, size=n),
        "all powers of ten": 10.0 ** rng.uniform(-70, 70, size=n) * rng.choice([-1, 1], size=n),
    }


@pytest.mark.parametrize("n", [40, 512, 513, 3000])
def test_columns_are_sorted_and_ties_keep_their_order(n):
    for name, x in columns_to_sort(n).items():
        for layout in (np.ascontiguousarray, np.asfortranarray):
            X = layout(np.column_stack([x, -x]))
            design = make_design(X, 2)
            settings = pass_settings(Case.make(X, x).options, len(X))
            for j in range(2):
                found = _core.candidate_knots(design, settings, np.ones(n), j)["order"]
                assert np.array_equal(found, np.argsort(X[:, j], kind="stable")[::-1]), name
            assert np.array_equal(design.reach(), np.abs(X).max(axis=0))


@pytest.mark.parametrize("m", [1, 7, 8, 9, 17])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_regression_across_chunks_of_columns(m, n_threads):
    rng = np.random.default_rng(m)
    columns, Y = rng.normal(size=(m, 50)), rng.normal(size=(2, 50))
    found = _core.regress(columns, Y, leverages=True, n_threads=n_threads)
    coef = np.linalg.lstsq(columns.T, Y.T, rcond=None)[0]
    np.testing.assert_allclose(found["coef"], coef, atol=1e-13)
    np.testing.assert_allclose(found["residuals"], Y - (columns.T @ coef).T, atol=1e-13)
    hat = columns.T @ np.linalg.pinv(columns.T)
    np.testing.assert_allclose(found["leverages"], np.diag(hat), atol=1e-13)
    dependent = np.vstack([columns, columns[:1] + 1, columns.sum(axis=0)])
    assert _core.find_independent(dependent, n_threads=n_threads) == [*range(m + 1)]
