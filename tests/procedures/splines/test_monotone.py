"""Monotone splines: quadprog's solution, the KKT conditions, the paper's G and its table of df."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from pyearthdof import _core
from pyearthdof.contract import Procedure
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures.splines.bspline import basis_rows, penalty_rows
from pyearthdof.procedures.splines.monotone import MonotoneCubicSpline, MonotoneSmoothingSpline
from pyearthdof.procedures.splines.smoothing import (
    CubicSpline,
    SmoothingSpline,
)
from tests.support.first_column import A_VECTOR_IS_FINE, FirstColumn, refuses_bad_columns
from tests.support.rscript import needs_rscript, run_r

GRID = np.arange(1.0, 101.0)
ALL = [
    MonotoneCubicSpline(5),
    MonotoneCubicSpline(15),
    MonotoneCubicSpline(15, increasing=False),
    MonotoneSmoothingSpline(1e-6),
    MonotoneSmoothingSpline(0.01),
    MonotoneSmoothingSpline(0.1, increasing=False),
]

# Means beside noise of variance one: nothing, a line, a bend, a jump, a line the wrong way.
MEANS = {
    "zero": 0 * GRID,
    "line": GRID / 10,
    "bend": np.exp(GRID / 25),
    "jump": 5.0 * (GRID > 40),
    "wrong": -GRID / 20,
}


def response(mean, seed=0):
    return MEANS[mean] + np.random.default_rng(seed).normal(size=100)


def form(model, x):
    """B, H of the criterion y'y - 2 y'Bg + g'Hg, built densely and independently of the solver."""
    scaled = (x - x.min()) / np.ptp(x)
    knots = (model.knots_ - x.min()) / np.ptp(x)
    B = basis_rows(scaled, knots).dense()
    H = B.T @ B
    if isinstance(model, MonotoneSmoothingSpline):
        P = penalty_rows(knots).dense()
        H += model.lam * (P.T @ P + np.finfo(float).eps ** (1 / 3) * np.eye(len(H)))
    return B, H


@needs_rscript
@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_the_solution_is_quadprogs(procedure):
    Y = np.column_stack([response(mean) for mean in MEANS])
    sign = 1.0 if procedure.increasing else -1.0
    B, H = form(procedure.fit(GRID, Y[:, 0]), GRID)
    r = run_r(
        """
        J <- nrow(H); A <- t(diag(J)[-1, ] - diag(J)[-J, ]) * sign
        each <- apply(B, 2, function(b) solve.QP(H, b, A, rep(0, J - 1))$solution)
        out <- list(coef = each)
        """,
        packages=("quadprog",), H=H, B=B.T @ Y, sign=sign,
    )  # fmt: skip
    fits = procedure.fit_many(GRID, Y)
    for j in range(Y.shape[1]):
        model = procedure.fit(GRID, Y[:, j])
        np.testing.assert_allclose(model.coef_, r["coef"][:, j], atol=1e-6)
        np.testing.assert_allclose(model.fitted_values_, B @ r["coef"][:, j], atol=1e-6)
        np.testing.assert_allclose(fits.fitted[:, j], B @ r["coef"][:, j], atol=1e-6)


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_karush_kuhn_tucker_conditions(procedure, mean):
    y = response(mean, seed=1)
    model = procedure.fit(GRID, y)
    sign = 1.0 if procedure.increasing else -1.0
    B, H = form(model, GRID)
    increments = sign * np.diff(model.coef_)
    # What the criterion gains when a coefficient and all later ones rise together.
    multipliers = sign * np.cumsum((H @ model.coef_ - B.T @ y)[::-1])[::-1]
    assert np.all(increments >= 0)
    assert multipliers[0] == pytest.approx(0, abs=1e-8)
    assert multipliers[1:].min() > -1e-8
    np.testing.assert_allclose(multipliers[1:] * increments, 0, atol=1e-8)


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_the_fit_is_the_papers_smoother_with_its_matrix_g(procedure, mean):
    y = response(mean, seed=2)
    model = procedure.fit(GRID, y)
    B, H = form(model, GRID)
    block = np.concatenate([[0], np.cumsum(np.diff(model.coef_) != 0)])
    G = (block == np.arange(block[-1] + 1)[:, None]).astype(float)
    S = B @ G.T @ np.linalg.solve(G @ H @ G.T, G @ B.T)
    np.testing.assert_allclose(S @ y, model.fitted_values_, atol=1e-7)
    assert model.trace_ == pytest.approx(np.trace(S), abs=1e-7)
    assert len(model.unique_coef_) == len(G)
    if isinstance(model, MonotoneCubicSpline):
        assert model.trace_ == len(G)


def test_a_fit_that_is_monotone_by_itself_is_the_unconstrained_one():
    y = GRID + np.sin(GRID / 20)
    cubic, free = MonotoneCubicSpline(8).fit(GRID, y), CubicSpline(8).fit(GRID, y)
    np.testing.assert_allclose(cubic.coef_, free.coef_, rtol=1e-8)
    assert cubic.trace_ == cubic.n_coef_ == 8
    smooth, free = MonotoneSmoothingSpline(1e-3).fit(GRID, y), SmoothingSpline(1e-3).fit(GRID, y)
    assert smooth.n_coef_ == 64
    np.testing.assert_allclose(smooth.fitted_values_, free.fitted_values_, rtol=1e-4)
    assert smooth.trace_ == pytest.approx(free.trace_, abs=1e-3)


@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_predictions_are_monotone_everywhere(procedure):
    model = procedure.fit(GRID, response("zero", seed=4))
    at = np.linspace(-100, 250, 5001)
    sign = 1.0 if procedure.increasing else -1.0
    assert (sign * np.diff(model.predict(at))).min() > -1e-12
    np.testing.assert_allclose(model.predict(GRID), model.fitted_values_, atol=1e-12)
    for end in (at[at < 1], at[at > 100]):
        np.testing.assert_allclose(np.diff(model.predict(end), 2), 0, atol=1e-10)


@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_decreasing_is_increasing_upside_down(procedure):
    y = response("jump", seed=5)
    other = type(procedure)(**(procedure.get_params() | {"increasing": not procedure.increasing}))
    model, mirror = procedure.fit(GRID, y), other.fit(GRID, -y)
    np.testing.assert_allclose(model.fitted_values_, -mirror.fitted_values_, atol=1e-9)
    assert model.trace_ == pytest.approx(mirror.trace_, abs=1e-9)


@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_fit_many_is_the_loop_of_the_base_class(procedure):
    x = np.round(np.random.default_rng(6).gamma(3, size=100), 1)
    Y = np.column_stack([response(mean, seed=7) for mean in MEANS])
    ours, loop = procedure.fit_many(x[:, None], Y), Procedure.fit_many(procedure, x[:, None], Y)
    np.testing.assert_allclose(ours.fitted, loop.fitted, atol=1e-9)
    np.testing.assert_allclose(ours.trace, loop.trace, atol=1e-9)
    np.testing.assert_array_equal(ours.n_coef, loop.n_coef)
    assert procedure.df_statistic == "trace"
    assert not procedure.is_linear


def test_only_the_cubic_one_claims_to_be_equivariant():
    y = response("line")
    for procedure in ALL:
        moved = procedure.fit(GRID, 1e6 + 3 * y).fitted_values_
        gap = np.abs(moved - 1e6 - 3 * procedure.fit(GRID, y).fitted_values_).max()
        assert (gap < 1e-7) == procedure.is_equivariant


def test_a_singular_basis_is_no_obstacle():
    x, y = np.repeat([0.0, 1.0, 3.0], 10), np.repeat([1.0, 5.0, 4.0], 10)
    model = MonotoneCubicSpline(12).fit(x, y)
    np.testing.assert_allclose(model.fitted_values_, np.repeat([1, 4.5, 4.5], 10), atol=1e-8)
    assert model.trace_ == 2


# ------------------------------------------------------------------------ degrees of freedom (T2)


def degrees_of_freedom(procedure, n_fits, n_estimates, seed):
    """Algorithm 1, n_estimates times: mean, standard error, mean trace and its standard error."""
    Y = np.random.default_rng(seed).normal(size=(100, n_estimates * n_fits))
    fits = procedure.fit_many(GRID[:, None], Y)
    estimates = [
        np.sum(F * (y - y.mean(axis=1, keepdims=True))) / (n_fits - 1)
        for y, F in zip(
            np.split(Y, n_estimates, axis=1),
            np.split(fits.fitted, n_estimates, axis=1),
            strict=True,
        )
    ]
    se = np.std(estimates, ddof=1) / np.sqrt(n_estimates)
    trace_se = np.std(fits.trace, ddof=1) / np.sqrt(fits.trace.size)
    return np.mean(estimates), se, fits.trace.mean(), trace_se


# Procedure, E tr S(y) where the theory gives a number, the paper's empirical df and its error.
TABLE = [
    (CubicSpline(5), 5.0, 4.95, 0.033),
    (CubicSpline(10), 10.0, 9.99, 0.049),
    (CubicSpline(15), 15.0, 15.03, 0.052),
    (SmoothingSpline(0.001, n_knots="all"), 7.332091, 7.31, 0.032),
    (SmoothingSpline(0.01, n_knots="all"), 4.561451, 4.60, 0.026),
    (SmoothingSpline(0.1, n_knots="all"), 3.004509, 3.01, 0.021),
    (MonotoneCubicSpline(5), None, 2.08, 0.021),
    (MonotoneCubicSpline(10), None, 2.80, 0.020),
    (MonotoneCubicSpline(15), None, 3.21, 0.023),
    (MonotoneSmoothingSpline(0.001), 2.843, 2.85, 0.020),
    (MonotoneSmoothingSpline(0.01), 2.350, 2.33, 0.017),
    (MonotoneSmoothingSpline(0.1), 1.921, 1.90, 0.018),
]


@pytest.mark.parametrize(
    "size", [(100, 10), pytest.param((100, 100), marks=pytest.mark.slow)], ids=["quick", "paper"]
)
@pytest.mark.parametrize(("procedure", "theory", "paper", "paper_se"), TABLE, ids=str)
def test_the_papers_table_of_splines(procedure, theory, paper, paper_se, size):
    df, se, trace, trace_se = degrees_of_freedom(procedure, *size, seed=20)
    assert abs(df - paper) < 3 * np.hypot(se, paper_se)
    # df = E tr S(y): these procedures have no search cost.
    assert abs(df - trace) < 3 * np.hypot(se, trace_se)
    if theory is not None:
        # The theory's own digits are Monte Carlo for the monotone ones.
        assert abs(trace - theory) < max(
            3 * np.hypot(trace_se, 0.002 if trace_se > 1e-9 else 0), 1e-6
        )


@pytest.mark.parametrize(
    "procedure", [MonotoneCubicSpline(15), MonotoneSmoothingSpline(0.001)], ids=str
)
def test_ten_thousand_fits_are_one_call_of_the_core(procedure, monkeypatch):
    calls = []

    def counted(H, gram, B, solve=_core.solve_ordered):
        calls.append(len(B))
        return solve(H, gram, B)

    monkeypatch.setattr(_core, "solve_ordered", counted)
    procedure.fit_many(GRID, np.random.default_rng(0).normal(size=(100, 10_000)))
    assert calls == [10_000]


# ------------------------------------------------------------------------------------ the contract


@pytest.mark.parametrize(
    ("procedure", "message"),
    [
        (MonotoneCubicSpline(3), "n_basis=3"),
        (MonotoneCubicSpline(5, increasing="down"), "increasing='down'"),
        (MonotoneSmoothingSpline(0), "lam=0"),
        (MonotoneSmoothingSpline(None), "lam=None"),
        (MonotoneSmoothingSpline(1, increasing=1), "increasing=1"),
    ],
    ids=str,
)
def test_bad_arguments_are_named(procedure, message):
    with pytest.raises(InvalidInputError, match=message):
        procedure.fit(GRID, GRID)
    with pytest.raises(InvalidInputError, match=message):
        procedure.fit_many(GRID, GRID[:, None])


@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_bad_data_are_named(procedure):
    refuses_bad_columns(procedure)
    with pytest.raises(ValueError, match="NaN"):
        procedure.fit(GRID, np.where(GRID > 3, np.nan, 0))


class FirstCubic(FirstColumn, MonotoneCubicSpline):
    pass


class FirstSmoothing(FirstColumn, MonotoneSmoothingSpline):
    pass


@pytest.mark.parametrize("procedure", [FirstCubic(6), FirstSmoothing(0.01)], ids=str)
def test_scikit_learns_checks(procedure):
    check_estimator(procedure, expected_failed_checks=A_VECTOR_IS_FINE, on_skip=None)
