"""Properties of the adaptive procedures on all kinds of data: ties, dependence, few rows, any scale."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pyearthdof.procedures.iterative_ridge import IterativeRidge
from pyearthdof.procedures.lasso import Lasso, RelaxedLasso
from pyearthdof.procedures.subset import BestSubset, best_subsets
from pyearthdof.procedures.tree import RegressionTree

quickly = settings(max_examples=60, deadline=None, derandomize=True)
seeds = st.integers(0, 10_000)
scales = st.sampled_from([1e-80, 1e-6, 1.0, 1e6, 1e80])


@st.composite
def small_integers(draw, max_p=6):
    """Designs full of ties, equal, empty and dependent columns, with p on both sides of n."""
    n, p = draw(st.integers(2, 8)), draw(st.integers(1, max_p))
    X = draw(arrays(float, (n, p), elements=st.integers(-2, 2)))
    y = draw(arrays(float, n, elements=st.integers(-3, 3)))
    return X, y


def gaussian(seed, n=30, p=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X[:, 0] + rng.standard_normal(n)


@quickly
@given(small_integers(), st.sampled_from([0.01, 0.5, 1.0, 4.0]))
def test_lasso_meets_its_optimality_conditions(data, lam):
    X, y = data
    coef = Lasso(lam).fit(X, y).coef_
    gradient = 2 * X.T @ (y - X @ coef)
    assert np.all(np.abs(gradient) <= lam + 1e-10)
    np.testing.assert_allclose(gradient[coef != 0], lam * np.sign(coef[coef != 0]), atol=1e-10)


@quickly
@given(small_integers())
def test_theorem_one_on_any_design(data):
    X, y = data
    fit = Lasso(0.7).fit(X, y)
    assert fit.rank_ == fit.n_coef_
    assert abs(fit.trace_ + fit.delta_ - fit.n_coef_) < 1e-8
    assert fit.trace_ <= fit.n_coef_


@quickly
@given(small_integers(max_p=5))
def test_best_subsets_against_all_subsets(data):
    X, y = data
    found = best_subsets(X, y)
    assert len(found.rss) == np.linalg.matrix_rank(X) + 1
    for size, rss in enumerate(found.rss):
        least = min(
            np.sum((y - X[:, c] @ np.linalg.lstsq(X[:, c], y, rcond=None)[0]) ** 2)
            for c in map(list, combinations(range(X.shape[1]), size))
        )
        assert rss == pytest.approx(least, abs=1e-10)


@quickly
@given(small_integers(), st.booleans())
def test_fits_are_projections(data, fit_intercept):
    X, y = data
    for procedure in (BestSubset(lam=1.0), RelaxedLasso(lam=1.0)):
        fit = procedure.set_params(fit_intercept=fit_intercept).fit(X, y)
        residual = y - fit.fitted_values_
        assert np.max(np.abs(X[:, fit.active_].T @ residual), initial=0.0) < 1e-9
        assert abs(fit.fitted_values_ @ residual) < 1e-9
        if fit_intercept:
            assert abs(residual.sum()) < 1e-9


@quickly
@given(small_integers(), st.integers(0, 5))
def test_tree_fits_means_of_a_partition(data, depth):
    X, y = data
    tree = RegressionTree(depth).fit(X, y)
    leaf = tree.apply(X)
    assert tree.n_leaves_ == len(np.unique(leaf)) <= 2**depth
    for one in np.unique(leaf):
        np.testing.assert_allclose(
            tree.fitted_values_[leaf == one], y[leaf == one].mean(), atol=1e-12
        )
    np.testing.assert_allclose(tree.predict(X), tree.fitted_values_, atol=1e-12)
    deeper = RegressionTree(depth + 1).fit(X, y)
    assert (
        np.sum((y - deeper.fitted_values_) ** 2) <= np.sum((y - tree.fitted_values_) ** 2) + 1e-12
    )


@quickly
@given(seeds, st.sampled_from([(30, 5), (2, 1), (2, 4), (8, 12)]))
def test_order_of_rows_does_not_matter(seed, shape):
    X, y = gaussian(seed, *shape)
    order = np.random.default_rng(seed + 1).permutation(len(y))
    for procedure in (
        BestSubset(size=1),
        Lasso(2.0),
        RelaxedLasso(2.0),
        IterativeRidge(2.0),
        RegressionTree(2),
    ):
        as_given = procedure.fit(X, y).fitted_values_
        shuffled = procedure.fit(X[order], y[order]).fitted_values_
        np.testing.assert_allclose(shuffled, as_given[order], atol=1e-10)


@quickly
@given(seeds, scales, scales)
def test_scale_of_the_data_does_not_matter(seed, x_scale, y_scale):
    X, y = gaussian(seed)
    for make in (
        lambda u, v: BestSubset(size=2),
        lambda u, v: BestSubset(lam=2.0 * v**2),
        lambda u, v: Lasso(lam=10.0 * u * v),
        lambda u, v: RelaxedLasso(lam=10.0 * u * v, fit_intercept=True),
        lambda u, v: RegressionTree(3),
    ):
        plain = make(1.0, 1.0).fit(X, y)
        scaled = make(x_scale, y_scale).fit(X * x_scale, y * y_scale)
        np.testing.assert_allclose(
            scaled.fitted_values_ / y_scale, plain.fitted_values_, atol=1e-10
        )
        assert scaled.n_coef_ == plain.n_coef_
        assert scaled.trace_ == pytest.approx(plain.trace_, abs=1e-9)


@quickly
@given(seeds, st.floats(-1e6, 1e6))
def test_constant_y_is_fitted_exactly(seed, constant):
    X, _ = gaussian(seed, 20, 3)
    y = np.full(20, constant)
    tree = RegressionTree(3).fit(X, y)
    assert tree.n_leaves_ == 1
    np.testing.assert_array_equal(tree.fitted_values_, y)
    for procedure in (BestSubset(size=1), Lasso(1.0), RelaxedLasso(1.0), IterativeRidge(1.0)):
        fit = procedure.set_params(fit_intercept=True).fit(X, y)
        np.testing.assert_allclose(fit.fitted_values_, y, rtol=1e-12, atol=1e-300)


@quickly
@given(seeds)
def test_tree_follows_shifts_of_y_and_rising_functions_of_x(seed):
    X, y = gaussian(seed)
    fitted = RegressionTree(3).fit(X, y).fitted_values_
    np.testing.assert_allclose(
        RegressionTree(3).fit(X, 5 - 2 * y).fitted_values_, 5 - 2 * fitted, atol=1e-10
    )
    np.testing.assert_allclose(
        RegressionTree(3).fit(np.exp(X), y).fitted_values_, fitted, atol=1e-12
    )


@quickly
@given(small_integers(), st.sampled_from([0.1, 1.0]))
def test_iterative_ridge_lowers_the_lasso_criterion(data, lam):
    X, y = data
    path = IterativeRidge(lam, tol=1e-9, max_iter=100_000).fit(X, y).path_
    criterion = np.sum((y - path @ X.T) ** 2, axis=1) + lam * np.abs(path).sum(axis=1)
    assert np.all(np.diff(criterion) < 1e-7)
    best = Lasso(lam).fit(X, y).coef_
    lowest = np.sum((y - X @ best) ** 2) + lam * np.abs(best).sum()
    assert criterion[-1] == pytest.approx(lowest, abs=1e-3)
