"""Best subset: against R's leaps, against all subsets one by one, and its part of the paper."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from pyearthdof.contract import Procedure
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures.subset import BestSubset, best_subsets
from tests.support.rscript import needs_rscript, run_r
from tests.support.versions import GLMNET_SEEN, LEAPS_SEEN, golden

LEAPS = """
fit <- regsubsets(X, y, intercept = FALSE, nvmax = ncol(X), method = "exhaustive",
                  really.big = TRUE)
found <- summary(fit)
out <- list(which = found$which * 1, rss = found$rss)
"""

# The draws and both fits of the paper's comparison of the lasso with best subset.
FIGURE = """
set.seed(20210319)
n <- 20; p <- 10; m <- 500
Sigma <- matrix(0, p, p)
Sigma[1:4, 1:4] <- 0.75
Sigma[5:10, 5:10] <- 0.9
diag(Sigma) <- 1
beta <- c(1:5, rep(0, 5))
X <- rmvnorm(n, rep(0, p), Sigma)
colnames(X) <- letters[1:p]
invisible(rnorm(n))
grid <- 10^seq(1, -2, length.out = 10)
Y <- matrix(0, n, m); lasso <- array(0, c(n, 10, m)); subset <- array(0, c(n, 10, m))
nonzeros <- matrix(0, 10, m)
for (j in 1:m) {
  y <- as.vector(X %*% beta + rnorm(n))
  Y[, j] <- y
  fit <- glmnet(X, y, lambda = grid, intercept = FALSE)
  lasso[, , j] <- predict(fit, X)
  nonzeros[, j] <- fit$df
  search <- regsubsets(X, y, intercept = FALSE, nvmax = 10)
  for (k in 1:10) {
    b <- coef(search, k)
    subset[, k, j] <- X[, names(b), drop = FALSE] %*% b
  }
}
df <- function(fits) sapply(1:10, function(k) sum(sapply(1:n, function(i) cov(fits[i, k, ], Y[i, ]))))
out <- list(X = X, Y = Y, nonzeros = rowMeans(nonzeros), lasso = df(lasso), subset = df(subset))
"""


def empirical_df(fitted, Y):
    """Algorithm 1 with sigma = 1."""
    centred = Y - Y.mean(axis=1, keepdims=True)
    return np.sum(fitted * centred) / (Y.shape[1] - 1)


def brute_force(X, y, size, ones):
    def rss(columns):
        M = np.hstack([X[:, list(columns)], ones])
        return np.sum((y - M @ np.linalg.lstsq(M, y, rcond=None)[0]) ** 2)

    return min(rss(c) for c in combinations(range(X.shape[1]), size))


def correlated(rng, n, p, rho):
    distance = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    return rng.standard_normal((n, p)) @ np.linalg.cholesky(rho**distance).T


@needs_rscript
@pytest.mark.parametrize(
    ("n", "p", "rho", "signal"),
    [(20, 6, 0, 1), (50, 12, 0.9, 1), (100, 20, 0.5, 0), (100, 30, 0.7, 1), (35, 30, 0, 1)],
)
def test_every_size_is_that_of_leaps(n, p, rho, signal):
    rng = np.random.default_rng(n + p)
    X = correlated(rng, n, p, rho)
    y = signal * X @ rng.standard_normal(p) + rng.standard_normal(n)
    ours = best_subsets(X, y)
    theirs = run_r(LEAPS, packages=("leaps",), X=X, y=y)
    np.testing.assert_allclose(ours.rss[1:], theirs["rss"], rtol=1e-9)
    for size, row in enumerate(theirs["which"], start=1):
        np.testing.assert_array_equal(ours.subsets[size], np.flatnonzero(row))


@needs_rscript
@golden(glmnet=GLMNET_SEEN, leaps=LEAPS_SEEN)
def test_figure_of_lasso_against_subset_with_rs_draws():
    r = run_r(FIGURE, packages=("glmnet", "leaps", "mvtnorm"))
    nonzeros = [1.526, 2.816, 4.246, 5.210, 5.788, 6.144, 6.626, 7.664, 8.740, 9.344]
    lasso = [1.577, 2.768, 4.261, 5.174, 5.735, 6.068, 6.549, 7.617, 8.722, 9.416]
    subset = [12.368, 2.730, 5.684, 5.859, 6.415, 8.357, 9.298, 9.835, 10.091, 10.156]
    np.testing.assert_allclose(r["nonzeros"], nonzeros, atol=5.1e-4)
    np.testing.assert_allclose(r["lasso"], lasso, atol=5.1e-4)
    np.testing.assert_allclose(r["subset"], subset, atol=5.1e-4)
    fits = BestSubset().fit_many_sizes(r["X"], r["Y"])
    ours = [empirical_df(fits[size].fitted, r["Y"]) for size in range(1, 11)]
    np.testing.assert_allclose(ours, r["subset"], rtol=0, atol=1e-8)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(("n", "p"), [(20, 7), (5, 8), (12, 9)])
def test_every_size_against_all_subsets(n, p, fit_intercept):
    rng = np.random.default_rng(p)
    X, y = rng.standard_normal((n, p)), rng.standard_normal(n) + 1
    if n == 12:
        X[:, 3], X[:, 8] = X[:, 1] + X[:, 2], X[:, 0]
    found = best_subsets(X, y, fit_intercept=fit_intercept)
    ones = np.ones((n, int(fit_intercept)))
    rank = np.linalg.matrix_rank(np.hstack([X, ones])) - int(fit_intercept)
    assert len(found.subsets) == rank + 1
    for size, rss in enumerate(found.rss):
        assert len(found.subsets[size]) == size
        assert rss == pytest.approx(brute_force(X, y, size, ones), abs=1e-11)
        fitted = X @ found.coef[size] + found.intercept[size]
        assert rss == pytest.approx(np.sum((y - fitted) ** 2), abs=1e-11)


def test_penalised_form_is_the_minimum_over_sizes():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 8))
    Y = X[:, :2].sum(axis=1, keepdims=True) + rng.standard_normal((40, 30))
    lam = 4.0
    fits = BestSubset(lam=lam).fit_many(X, Y)
    for j, y in enumerate(Y.T):
        found = best_subsets(X, y)
        size = int(np.argmin(found.rss + lam * np.arange(9)))
        assert fits.n_coef[j] == size
        np.testing.assert_allclose(fits.fitted[:, j], X @ found.coef[size], atol=1e-12)
    assert len(np.unique(fits.n_coef)) > 1


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_fit_many_is_the_loop(fit_intercept):
    rng = np.random.default_rng(6)
    X, Y = rng.standard_normal((20, 6)), rng.standard_normal((20, 15)) + 3
    procedure = BestSubset(size=3, fit_intercept=fit_intercept)
    together, one_by_one = procedure.fit_many(X, Y), Procedure.fit_many(procedure, X, Y)
    for name in ("fitted", "trace", "n_coef", "rank", "refitted"):
        np.testing.assert_allclose(
            getattr(together, name), getattr(one_by_one, name), rtol=1e-12, atol=1e-12
        )
    np.testing.assert_allclose(
        procedure.fit_many_sizes(X, Y)[3].fitted, together.fitted, atol=1e-12
    )


def test_proposition_one():
    rng = np.random.default_rng(7)
    X, Y = rng.standard_normal((50, 8)), rng.standard_normal((50, 100))
    fits = BestSubset(size=3).fit_many(X, Y)
    df = empirical_df(fits.fitted, Y)
    sdf = empirical_df(fits.refitted, Y) - fits.rank.mean()
    msdf = df - fits.trace.mean()
    assert abs(sdf - msdf) < 1e-10
    assert msdf > 1


def test_attributes_and_prediction():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((30, 5))
    y = X[:, 1] - 2 * X[:, 4] + 0.1 * rng.standard_normal(30)
    fit = BestSubset(size=2).fit(X, y)
    assert fit.active_.tolist() == [1, 4]
    assert [len(s) for s in fit.subsets_] == [0, 1, 2]
    assert fit.rss_per_size_[-1] == pytest.approx(np.sum((y - fit.fitted_values_) ** 2))
    np.testing.assert_allclose(fit.predict(X), fit.fitted_values_, atol=1e-12)
    new = rng.standard_normal((4, 5))
    np.testing.assert_allclose(fit.predict(new), new @ fit.coef_)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one"),
        ({"size": 2, "lam": 1.0}, "exactly one"),
        ({"size": 6}, "size=6 but it should be an integer from 0 to 5"),
        ({"size": 2.5}, "size=2.5"),
        ({"size": 5}, "size=5 .* from 0 to 4, the number of linearly independent"),
        ({"lam": -1.0}, "lam=-1.0"),
        ({"lam": np.nan}, "lam=nan"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    X = np.random.default_rng(0).standard_normal((10, 5))
    X[:, 4] = X[:, 0]
    with pytest.raises(InvalidInputError, match=message):
        BestSubset(**arguments).fit(X, X[:, 0])


def test_rows_must_match():
    with pytest.raises(InvalidInputError, match=r"Y has shape \(3, 2\) but it should be \(4, m\)"):
        BestSubset(size=1).fit_many(np.eye(4), np.ones((3, 2)))


@pytest.mark.parametrize("estimator", [BestSubset(size=1, fit_intercept=True), BestSubset(lam=0.1)])
def test_scikit_learn_conventions(estimator):
    check_estimator(estimator, on_skip=None)
