"""Least squares, ridge and nearest neighbours: the paper's traces, R's lm, scikit-learn's own."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import check_estimator

from pyearthdof.contract import Procedure
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures import RegressionTree, SmoothingSpline
from pyearthdof.procedures.linear import LeastSquares, NearestNeighbors, Ridge
from tests.support.rscript import needs_rscript, run_r

ALL = [
    LeastSquares(),
    LeastSquares(fit_intercept=True),
    Ridge(lam=3.0),
    Ridge(lam=3.0, fit_intercept=True),
    NearestNeighbors(k=3),
]


@pytest.fixture
def data():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 6)) * [1, 10, 0.1, 1, 1, 1] + [0, 3, 0, 0, 0, 0]
    return X, rng.normal(size=(40, 5)) + X[:, :1]


@needs_rscript
@pytest.mark.parametrize(("formula", "intercept"), [("y ~ X - 1", False), ("y ~ X", True)])
@pytest.mark.parametrize("deficient", [False, True])
def test_least_squares_is_rs_lm(data, formula, intercept, deficient):
    X, Y = data
    if deficient:
        X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2] * 5])
    model = LeastSquares(fit_intercept=intercept).fit(X, Y[:, 0])
    r = run_r(
        f"f <- lm({formula}); out <- list(fit = unname(fitted(f)), rank = f$rank)", X=X, y=Y[:, 0]
    )
    np.testing.assert_allclose(model.fitted_values_, r["fit"], atol=1e-10)
    np.testing.assert_allclose(model.predict(X), r["fit"], atol=1e-10)
    assert model.rank_ == model.trace_ == r["rank"][0]


@pytest.mark.parametrize("intercept", [False, True])
def test_ridge_is_the_papers_formula(data, intercept):
    X, Y = data
    model = Ridge(lam=7.0, fit_intercept=intercept).fit(X, Y[:, 0])
    reference = SklearnRidge(alpha=7.0, fit_intercept=intercept).fit(X, Y[:, 0])
    d = np.linalg.svd(X - X.mean(axis=0) if intercept else X, compute_uv=False)
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, reference.intercept_, atol=1e-8)
    np.testing.assert_allclose(model.predict(X), model.fitted_values_, atol=1e-10)
    assert model.trace_ == pytest.approx((d**2 / (d**2 + 7)).sum() + intercept, abs=1e-10)
    assert (model.n_coef_, model.rank_) == (6 + intercept, 6 + intercept)
    plain = LeastSquares(fit_intercept=intercept).fit(X, Y[:, 0])
    np.testing.assert_allclose(model.refitted_values_, plain.fitted_values_, atol=1e-10)


def test_ridge_without_penalty_is_least_squares_with_huge_penalty_nothing(data):
    X, Y = data
    free, bound = Ridge(lam=0).fit(X, Y[:, 0]), Ridge(lam=1e300).fit(X, Y[:, 0])
    np.testing.assert_allclose(free.fitted_values_, LeastSquares().fit(X, Y[:, 0]).fitted_values_)
    assert free.trace_ == pytest.approx(6)
    assert np.abs(bound.fitted_values_).max() < 1e-290


def test_neighbours_are_scikit_learns_where_there_are_no_ties(data):
    X, Y = data
    new = X[:7] + 0.01
    model, reference = NearestNeighbors(k=4).fit(X, Y[:, 0]), KNeighborsRegressor(4).fit(X, Y[:, 0])
    np.testing.assert_allclose(model.fitted_values_, reference.predict(X), atol=1e-12)
    np.testing.assert_allclose(model.predict(new), reference.predict(new), atol=1e-12)
    assert model.trace_ == pytest.approx(10)
    assert model.n_coef_ == 10


def test_tied_neighbours_share_the_last_places():
    X = np.array([[0.0], [1.0], [2.0], [2.0], [2.0]])
    y = np.array([6.0, 0.0, 1.0, 2.0, 3.0])
    model = NearestNeighbors(k=2).fit(X, y)
    # At 1 the second place is shared by four; at 2 two places are shared by three.
    np.testing.assert_allclose(model.fitted_values_, [3, (0 + (6 + 1 + 2 + 3) / 4) / 2, 2, 2, 2])
    assert model.trace_ == pytest.approx(2 / 2 + 3 / 3)
    whole = NearestNeighbors(k=5).fit(X, y)
    np.testing.assert_allclose(whole.fitted_values_, y.mean())


@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_the_trace_is_that_of_the_smoother_matrix(data, procedure):
    X, _ = data
    fits = procedure.fit_many(X, np.eye(len(X)))
    assert procedure.is_linear
    assert procedure.df_statistic == "trace"
    np.testing.assert_allclose(fits.trace, np.trace(fits.fitted), rtol=1e-10)


@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_fit_many_is_the_loop_of_the_base_class(data, procedure):
    X, Y = data
    ours, loop = procedure.fit_many(X, Y), Procedure.fit_many(procedure, X, Y)
    for name in ("fitted", "trace", "n_coef", "rank", "refitted"):
        expected = getattr(loop, name)
        if expected is None:
            assert getattr(ours, name) is None
        else:
            np.testing.assert_allclose(getattr(ours, name), expected, atol=1e-10)
    assert not hasattr(procedure, "n_features_in_")


@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_a_procedure_says_truly_whether_it_is_equivariant(data, procedure):
    X, Y = data
    moved = procedure.fit_many(X, 5 + 3 * Y).fitted
    same = np.allclose(moved, 5 + 3 * procedure.fit_many(X, Y).fitted, atol=1e-8)
    assert same == procedure.is_equivariant


@pytest.mark.parametrize(
    ("procedure", "message"),
    [
        (Ridge(lam=-1), "lam=-1"),
        (Ridge(lam="much"), "lam='much'"),
        (Ridge(lam=np.inf), "lam=inf"),
        (Ridge(lam=True), "lam=True"),
        (LeastSquares(fit_intercept="no"), "fit_intercept='no'"),
        (NearestNeighbors(k=0), "k=0"),
        (NearestNeighbors(k=41), "k=41 .*n_samples=40"),
        (NearestNeighbors(k=2.5), "k=2.5"),
    ],
    ids=str,
)
def test_bad_arguments_are_named(data, procedure, message):
    X, Y = data
    with pytest.raises(InvalidInputError, match=message):
        procedure.fit(X, Y[:, 0])
    with pytest.raises(InvalidInputError, match=message):
        procedure.fit_many(X, Y)


@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_bad_responses_are_named(data, procedure):
    X, Y = data
    with pytest.raises(
        InvalidInputError, match="Y is a ndarray but it should be a matrix of numbers"
    ):
        procedure.fit_many(X, Y * 1j)
    for wrong in (Y[:, 0], Y[:-1]):
        with pytest.raises(InvalidInputError, match="Y has shape"):
            procedure.fit_many(X, wrong)


@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_scikit_learns_checks(procedure):
    check_estimator(procedure, on_skip=None)


@pytest.mark.parametrize(
    "procedure",
    [
        LeastSquares(),
        Ridge(lam=1.0),
        NearestNeighbors(k=3),
        RegressionTree(4),
        SmoothingSpline(df=4),
    ],
)
@pytest.mark.parametrize("size", [1e300, 1.7e308])
def test_fits_of_huge_responses_are_finite_or_refused(procedure, size):
    X = np.linspace(-2, 2, 30)[:, None]
    for y in (np.full(30, size), np.where(np.arange(30) % 2, size, -size)):
        try:
            model = clone(procedure).fit(X, y)
        except InvalidInputError as error:
            assert size > 1e300 and "y has values up to 1.7e+308 but they" in str(error)
        else:
            assert np.isfinite(model.fitted_values_).all() and np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    "procedure", [LeastSquares(), LeastSquares(fit_intercept=True), Ridge(lam=0.0)]
)
@pytest.mark.parametrize("x_power", [-1000, -540, 0, 540, 990])
@pytest.mark.parametrize("y_power", [-900, 0, 900])
def test_coefficients_beyond_doubles_are_refused(procedure, x_power, y_power):
    """Powers of two change no digit of a fit, so that predictions are the same or there are none."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    expected = clone(procedure).fit(X, y).predict(X)
    X, y = X * 2.0**x_power, y * 2.0**y_power
    if abs(y_power - x_power) > 995:
        with pytest.raises(InvalidInputError, match="coefficient, their quotient, is too"):
            clone(procedure).fit(X, y)
        return
    model = clone(procedure).fit(X, y)
    np.testing.assert_allclose(model.predict(X) / 2.0**y_power, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    "procedure", [LeastSquares(), Ridge(lam=1.0), RegressionTree(4), SmoothingSpline(df=4)]
)
def test_huge_predictors_are_refused(procedure):
    X = 2e300 * np.linspace(-1, 1, 30)[:, None]
    with pytest.raises(InvalidInputError, match=r"X has values up to 2e\+300 but they"):
        clone(procedure).fit(X, np.arange(30.0))
