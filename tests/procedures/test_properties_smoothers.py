"""Properties that hold for any data: projections, monotone curves, row order, ties, scales, tiny n."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyearthdof.procedures.linear import LeastSquares, NearestNeighbors, Ridge
from pyearthdof.procedures.splines.monotone import MonotoneCubicSpline, MonotoneSmoothingSpline
from pyearthdof.procedures.splines.smoothing import (
    CubicSpline,
    SmoothingSpline,
)

REGRESSIONS = [
    LeastSquares(),
    LeastSquares(fit_intercept=True),
    Ridge(lam=0.5),
    Ridge(lam=0.5, fit_intercept=True),
]
UNIVARIATE = [
    CubicSpline(6),
    SmoothingSpline(lam=1e-3),
    SmoothingSpline(lam=0.1, n_knots="all"),
    SmoothingSpline(),
    MonotoneCubicSpline(6),
    MonotoneSmoothingSpline(1e-3),
]
MONOTONE = UNIVARIATE[-2:]
EVERYTHING = [*REGRESSIONS, NearestNeighbors(2), *UNIVARIATE]
MODEST = settings(max_examples=25, deadline=None, derandomize=True)


@st.composite
def designs(draw, max_columns=4):
    """Seeded Gaussian designs, p > n and n = 2 among them, sometimes with ties and repeated columns."""
    n, p = draw(st.integers(2, 30)), draw(st.integers(1, max_columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, p))
    if draw(st.booleans()):
        X = np.round(X)
    if draw(st.booleans()):
        X[:, -1] = X[:, 0]
    X[0, 0], X[-1, 0] = -2.5, 2.5  # a spline needs two different values
    return X, rng.normal(size=n)


def column(design):
    X, y = design
    return X[:, :1], y


@pytest.mark.parametrize("procedure", [*REGRESSIONS[:2], CubicSpline(6)], ids=str)
@given(design=designs(max_columns=35))
@MODEST
def test_least_squares_fits_are_projections(procedure, design):
    X, y = column(design) if isinstance(procedure, CubicSpline) else design
    once = procedure.fit(X, y).fitted_values_
    twice = procedure.fit(X, once)
    np.testing.assert_allclose(twice.fitted_values_, once, atol=1e-8)
    assert abs(once @ (y - once)) < 1e-8 * max(1, y @ y)
    assert twice.trace_ <= min(len(y), procedure.n_coef_)
    if twice.trace_ == len(y):
        np.testing.assert_allclose(once, y, atol=1e-7)


@pytest.mark.parametrize("procedure", MONOTONE, ids=str)
@given(design=designs(), increasing=st.booleans())
@MODEST
def test_monotone_fits_are_monotone_and_do_not_change_when_refitted(procedure, design, increasing):
    X, y = column(design)
    model = type(procedure)(**(procedure.get_params() | {"increasing": increasing})).fit(X, y)
    sign = 1 if increasing else -1
    at = np.linspace(-10, 10, 400)
    assert (sign * np.diff(model.coef_)).min() >= 0
    assert (sign * np.diff(model.predict(at))).min() > -1e-9
    assert 1 - 1e-6 <= model.trace_ <= min(len(np.unique(X)), model.n_coef_) + 1e-6
    if isinstance(model, MonotoneCubicSpline):  # it is a projection on a cone
        again = model.fitted_values_.copy()
        np.testing.assert_allclose(model.fit(X, again).fitted_values_, again, atol=1e-6)


@pytest.mark.parametrize("procedure", EVERYTHING, ids=str)
@given(design=designs(), seed=st.integers(0, 1000))
@MODEST
def test_the_order_of_rows_does_not_matter(procedure, design, seed):
    X, y = column(design) if procedure in UNIVARIATE else design
    order = np.random.default_rng(seed).permutation(len(y))
    model = procedure.fit(X, y)
    fitted, trace = model.fitted_values_, model.trace_
    shuffled = procedure.fit(X[order], y[order])
    # Where lambda is chosen by GCV, rounding leaves it open to the root of eps.
    precision = 1e-5 if procedure == SmoothingSpline() else 1e-7
    np.testing.assert_allclose(shuffled.fitted_values_, fitted[order], atol=precision * 10)
    assert shuffled.trace_ == pytest.approx(trace, rel=precision)


@pytest.mark.parametrize("procedure", EVERYTHING, ids=str)
@given(design=designs(), level=st.sampled_from([0.0, 1.0, -1e-12, 1e12, 1e200]))
@MODEST
def test_a_constant_is_fitted_by_a_constant(procedure, design, level):
    X, _ = column(design) if procedure in UNIVARIATE else design
    model = procedure.fit(X, np.full(len(X), level))
    if procedure.is_equivariant:
        np.testing.assert_allclose(model.fitted_values_, level, rtol=1e-9)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("procedure", EVERYTHING, ids=str)
@given(
    design=designs(),
    x_scale=st.sampled_from([1e-120, 1e-8, 1e8, 1e120]),
    y_scale=st.sampled_from([1e-120, 1e-8, 1e8, 1e120]),
)
@MODEST
def test_huge_and_tiny_scales(procedure, design, x_scale, y_scale):
    """x may have any unit except in ridge, whose lam has the unit of x squared; y may in all."""
    X, y = column(design) if procedure in UNIVARIATE else design
    if isinstance(procedure, Ridge):
        x_scale = 1.0
    model = procedure.fit(X, y)
    fitted, trace = model.fitted_values_, model.trace_
    scaled = procedure.fit(X * x_scale, y * y_scale)
    precision = 1e-4 if procedure == SmoothingSpline() else 1e-6
    np.testing.assert_allclose(scaled.fitted_values_ / y_scale, fitted, atol=precision)
    assert scaled.trace_ == pytest.approx(trace, rel=precision)


@pytest.mark.parametrize("procedure", UNIVARIATE, ids=str)
@given(design=designs())
@MODEST
def test_tied_x_have_one_fitted_value(procedure, design):
    X, y = column(design)
    X, y = np.vstack([X, X]), np.concatenate([y, -2 * y])
    fitted = procedure.fit(X, y).fitted_values_
    np.testing.assert_allclose(fitted[: len(y) // 2], fitted[len(y) // 2 :], atol=1e-9)


@pytest.mark.parametrize("procedure", EVERYTHING, ids=str)
def test_two_observations(procedure):
    X, y = np.array([[0.0], [1.0]]), np.array([1.0, 3.0])
    model = procedure.fit(X, y)
    through_both = (LeastSquares(fit_intercept=True), *UNIVARIATE[:5])
    if procedure in through_both:
        np.testing.assert_allclose(model.fitted_values_, y, atol=1e-9)
        assert model.trace_ == pytest.approx(2)
    assert np.isfinite(procedure.fit_many(X, y[:, None]).fitted).all()


@pytest.mark.parametrize("procedure", REGRESSIONS, ids=str)
def test_more_columns_than_rows(procedure):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 25)), rng.normal(size=10)
    model = procedure.fit(X, y)
    assert model.rank_ == 10
    np.testing.assert_allclose(model.refitted_values_, y, atol=1e-9)
    assert model.trace_ <= 10 + 1e-9
