"""The lasso family: against glmnet, the optimality conditions, Theorem 1 and the iterative ridge."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso as ScikitLasso
from sklearn.utils.estimator_checks import check_estimator

from pyearthdof.contract import Procedure
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures.iterative_ridge import IterativeRidge
from pyearthdof.procedures.lasso import (
    Lasso,
    RelaxedLasso,
    lasso_derivative,
    lasso_path,
    theorem_one,
)
from tests.support.rscript import needs_rscript, run_r

GLMNET = """
fit <- glmnet(X, y, lambda = lam / (2 * nrow(X)), intercept = FALSE, standardize = FALSE,
              thresh = 1e-22, maxit = 1e7)
out <- list(coef = as.matrix(fit$beta))
"""
GLMNET_GRID = """
fit <- glmnet(X, y, intercept = FALSE, standardize = FALSE)
out <- list(lam = fit$lambda * 2 * nrow(X))
"""


def example(p, seed=0, n=100):
    """The paper's example: three coefficients of one, then X and y divided by sd(y)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = X[:, :3].sum(axis=1) + rng.standard_normal(n)
    scale = np.std(y)
    return X / scale, y / scale


def violation(X, y, lam, coef):
    """How far the optimality conditions are from holding, relative to the largest useful lam."""
    gradient = 2 * X.T @ (y - X @ coef)
    active = coef != 0
    equal = np.abs(gradient - lam * np.sign(coef))[active]
    below = (np.abs(gradient) - lam)[~active]
    return max(equal.max(initial=0.0), below.max(initial=0.0)) / np.max(np.abs(2 * X.T @ y))


def empirical_df(fitted, Y):
    """Algorithm 1 with sigma = 1."""
    return np.sum(fitted * (Y - Y.mean(axis=1, keepdims=True))) / (Y.shape[1] - 1)


@needs_rscript
@pytest.mark.parametrize("p", [20, 120])
def test_coefficients_are_those_of_glmnet(p):
    X, y = example(p)
    lams = np.array([60.0, 20.0, 5.0, 1.0])
    theirs = run_r(GLMNET, packages=("glmnet",), X=X, y=y, lam=lams)["coef"]
    ours = np.column_stack([Lasso(lam).fit(X, y).coef_ for lam in lams])
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)


@needs_rscript
@pytest.mark.parametrize("p", [20, 120])
def test_grid_and_early_stop_are_those_of_glmnet(p):
    X, y = example(p, seed=p)
    theirs = run_r(GLMNET_GRID, packages=("glmnet",), X=X, y=y)["lam"]
    np.testing.assert_allclose(lasso_path(X, y).lam, theirs, rtol=1e-12)


def test_scaling_against_scikit_learn():
    X, y = example(20)
    theirs = ScikitLasso(alpha=10.0 / (2 * 100), tol=1e-14, max_iter=100_000).fit(X, y)
    ours = Lasso(10.0, fit_intercept=True).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-9)


@pytest.mark.parametrize(("n", "p"), [(100, 20), (100, 120), (30, 200)])
@pytest.mark.parametrize("lam", [100.0, 10.0, 1.0, 1e-3])
def test_optimality_conditions(n, p, lam):
    X, y = example(p, n=n)
    assert violation(X, y, lam, Lasso(lam).fit(X, y).coef_) < 1e-13


@pytest.mark.parametrize("lam", [10.0, 1.0, 1e-2])
def test_dependent_columns(lam):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 6))
    X = np.hstack([X, 2 * X, X[:, :2] + X[:, 2:4], np.zeros((30, 1))])
    y = rng.standard_normal(30)
    fit = Lasso(lam).fit(X, y)
    assert violation(X, y, lam, fit.coef_) < 1e-13
    assert fit.rank_ == fit.n_coef_


@pytest.mark.parametrize("p", [20, 120])
def test_theorem_one_along_the_path(p):
    X, y = example(p, seed=1)
    path = lasso_path(X, y)
    assert path.n_nonzero[0] == 0 and path.n_nonzero[-1] > min(p, 90) * 0.9
    assert np.max(np.abs(path.trace + path.delta - path.n_nonzero)) < 1e-8
    assert np.all(path.trace <= path.n_nonzero)
    replaced = [
        theorem_one(X, coef, lam, floor=1e-7) for coef, lam in zip(path.coef, path.lam, strict=True)
    ]
    assert max(abs(t.trace + t.delta - t.n_nonzero) for t in replaced) < 1e-3


@pytest.mark.parametrize("p", [20, 120])
def test_derivative_against_finite_differences(p):
    X, y = example(p, seed=2)
    lam, step = 5.0, 1e-6
    fit = Lasso(lam).fit(X, y)
    shifted = [
        [Lasso(lam).fit(X, y + s * step * row).coef_ for s in (1, -1)] for row in np.eye(len(y))
    ]
    differences = np.array([(plus - minus) / (2 * step) for plus, minus in shifted]).T
    np.testing.assert_allclose(lasso_derivative(X, fit.coef_), differences, atol=1e-7)
    found = theorem_one(X, fit.coef_, lam, derivative=differences)
    assert abs(found.trace + found.delta - found.n_nonzero) < 1e-6
    paper = theorem_one(X, fit.coef_, lam, derivative=differences, floor=1e-7)
    assert abs(paper.trace + paper.delta - paper.n_nonzero) < 1e-3


def test_theorem_one_in_full():
    """delta from the paper's own formula, matrix by matrix, and S(y) y as the fit."""
    X, y = example(20, seed=4)
    lam = 5.0
    fit = Lasso(lam).fit(X, y)
    A = fit.active_
    X, beta = X[:, A], fit.coef_[A]
    M = np.linalg.inv(X.T @ X + lam * np.diag(1 / (2 * np.abs(beta))))
    C = np.diag(-np.sign(beta) / (2 * beta**2))
    derivative = np.linalg.inv(X.T @ X) @ X.T
    delta = sum(
        (-lam * X @ M @ C @ np.diag(derivative[:, i]) @ M @ X.T)[i] @ y for i in range(len(y))
    )
    np.testing.assert_allclose(X @ M @ X.T @ y, fit.fitted_values_, atol=1e-10)
    assert fit.trace_ == pytest.approx(np.trace(X @ M @ X.T), abs=1e-10)
    assert fit.delta_ == pytest.approx(delta, abs=1e-10)


def test_theorem_one_with_an_intercept():
    X, y = example(20, seed=5)
    fit = Lasso(5.0, fit_intercept=True).fit(X + 3, y - 1)
    assert fit.trace_ + fit.delta_ == pytest.approx(fit.n_coef_, abs=1e-9)
    assert fit.n_coef_ == len(fit.active_) + 1 == fit.rank_


def test_path_for_given_penalties_is_the_single_fits():
    X, y = example(30, seed=6)
    path = lasso_path(X, y, lams=[1.0, 20.0, 5.0])
    assert path.lam.tolist() == [20.0, 5.0, 1.0]
    for lam, coef, trace, delta in zip(path.lam, path.coef, path.trace, path.delta, strict=True):
        fit = Lasso(lam).fit(X, y)
        np.testing.assert_allclose(coef, fit.coef_, atol=1e-12)
        assert (trace, delta) == pytest.approx((fit.trace_, fit.delta_), abs=1e-10)


def test_df_of_the_lasso_is_the_mean_number_of_nonzeros():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((100, 20))
    Y = X[:, :3].sum(axis=1, keepdims=True) + rng.standard_normal((100, 2000))
    fits = Lasso(40.0).fit_many(X, Y)
    assert empirical_df(fits.fitted, Y) == pytest.approx(fits.n_coef.mean(), abs=0.25)
    assert Lasso.df_statistic == "n_coef"
    assert fits.trace.mean() < fits.n_coef.mean() - 0.5


@pytest.mark.parametrize("p", [20, 60])
def test_proposition_one_for_the_relaxed_lasso(p):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((50, p))
    Y = X[:, :3].sum(axis=1, keepdims=True) + rng.standard_normal((50, 200))
    fits = RelaxedLasso(20.0).fit_many(X, Y)
    sdf = empirical_df(fits.refitted, Y) - fits.rank.mean()
    msdf = empirical_df(fits.fitted, Y) - fits.trace.mean()
    assert abs(sdf - msdf) < 1e-10
    assert msdf > 1
    np.testing.assert_allclose(Lasso(20.0).fit_many(X, Y).refitted, fits.fitted, atol=1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("procedure", [Lasso(20.0), RelaxedLasso(20.0), IterativeRidge(20.0)])
@pytest.mark.parametrize("p", [10, 50])
def test_fit_many_is_the_loop(procedure, p, fit_intercept):
    rng = np.random.default_rng(9)
    X = rng.standard_normal((40, p))
    Y = X[:, :3].sum(axis=1, keepdims=True) + 2 + rng.standard_normal((40, 6))
    procedure.set_params(fit_intercept=fit_intercept)
    together, one_by_one = procedure.fit_many(X, Y), Procedure.fit_many(procedure, X, Y)
    for name in ("fitted", "trace", "n_coef", "rank", "refitted"):
        ours, plain = getattr(together, name), getattr(one_by_one, name)
        assert (ours is None) == (plain is None)
        if ours is not None:
            np.testing.assert_allclose(ours, plain, rtol=0, atol=1e-10)


@pytest.mark.parametrize("p", [20, 150])
@pytest.mark.parametrize("lam", [20.0, 2.0])
def test_iterative_ridge_approaches_the_lasso(p, lam):
    X, y = example(p, seed=10)
    lasso = Lasso(lam).fit(X, y)
    rough, fine = IterativeRidge(lam).fit(X, y), IterativeRidge(lam, tol=1e-8).fit(X, y)
    assert np.max(np.abs(rough.coef_ - lasso.coef_)) < 5e-3
    assert np.max(np.abs(fine.coef_ - lasso.coef_)) < 1e-4
    assert fine.trace_ == pytest.approx(lasso.trace_, abs=1e-3)
    assert rough.n_coef_ >= lasso.n_coef_


def test_iterative_ridge_step_by_step():
    X, y = example(20, seed=11)
    lam, tol = 10.0, np.cbrt(np.finfo(float).eps)
    fit = IterativeRidge(lam).fit(X, y)
    assert fit.path_.shape == (fit.n_iter_ + 1, 20)
    first = np.linalg.solve(X.T @ X + lam * np.eye(20), X.T @ y)
    np.testing.assert_allclose(fit.path_[0], first, atol=1e-12)
    for old, new in zip(fit.path_[:-1], fit.path_[1:], strict=True):
        smoother = (
            np.linalg.inv(X.T @ X + lam * np.diag(1 / (2 * np.maximum(np.abs(old), tol)))) @ X.T
        )
        np.testing.assert_allclose(new, smoother @ y, atol=1e-9)
    assert fit.trace_ == pytest.approx(np.trace(X @ smoother), abs=1e-9)
    changes = np.max(np.abs(np.diff(fit.path_, axis=0)), axis=1)
    assert changes[-1] < tol and np.all(changes[:-1] >= tol)
    criterion = np.sum((y - fit.path_ @ X.T) ** 2, axis=1) + lam * np.abs(fit.path_).sum(axis=1)
    assert np.all(np.diff(criterion) < 1e-6)


def test_iterative_ridge_says_where_it_stopped_early():
    X, y = example(20)
    with pytest.warns(ConvergenceWarning, match="max_iter = 2"):
        IterativeRidge(1.0, max_iter=2).fit(X, y)


@pytest.mark.parametrize("procedure", [Lasso, RelaxedLasso, IterativeRidge])
@pytest.mark.parametrize("lam", [0, -1.0, np.inf, np.nan, "1", None])
def test_bad_lam_is_refused(procedure, lam):
    with pytest.raises(InvalidInputError, match="lam="):
        procedure(lam).fit(np.eye(3), np.ones(3))


def test_other_bad_arguments_are_refused():
    with pytest.raises(InvalidInputError, match="tol=-1"):
        IterativeRidge(1.0, tol=-1).fit(np.eye(3), np.ones(3))
    with pytest.raises(InvalidInputError, match="max_iter=0"):
        IterativeRidge(1.0, max_iter=0).fit(np.eye(3), np.ones(3))
    with pytest.raises(InvalidInputError, match=r"Y has shape \(3, 2\) but it should be \(4, m\)"):
        Lasso(1.0).fit_many(np.eye(4), np.ones((3, 2)))
    with pytest.raises(InvalidInputError, match=r"coef has shape \(2,\)"):
        theorem_one(np.eye(3), np.ones(2), 1.0)
    with pytest.raises(InvalidInputError, match="lams=None but it should be given"):
        lasso_path(np.eye(3), np.zeros(3))


@pytest.mark.parametrize("procedure", [Lasso, RelaxedLasso, IterativeRidge])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_scikit_learn_conventions(procedure, fit_intercept):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check_estimator(procedure(0.1, fit_intercept=fit_intercept), on_skip=None)
