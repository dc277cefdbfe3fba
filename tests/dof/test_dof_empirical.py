"""Algorithm 1: what is estimated, and that it is what R and the theory say."""

import dataclasses
import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from pyearthdof.contract import Fits
from pyearthdof.dof import degrees_of_freedom
from pyearthdof.procedures.lasso import Lasso
from pyearthdof.procedures.linear import LeastSquares, NearestNeighbors, Ridge
from pyearthdof.procedures.subset import BestSubset
from pyearthdof.random import RDraws
from tests.support.rscript import needs_rscript, run_r

X = RDraws(11).normal(60 * 5).reshape(60, 5)
LINEAR = [LeastSquares(), LeastSquares(fit_intercept=True), Ridge(10.0), NearestNeighbors(5)]


def within(estimate, se, truth, times=3.0):
    rounding = 1e-12 * abs(truth)  # all there is where the estimate is exact
    return abs(estimate - truth) <= times * se + rounding


@needs_rscript
def test_same_as_the_loop_in_r():
    r = run_r(
        """
        set.seed(1234)
        Y <- matrix(rnorm(60 * 100), 60); x <- matrix(rnorm(60 * 3), 60)
        fitted <- sapply(1:100, function(j) lm(Y[, j] ~ x + I(x[, 1]^2))$fitted.values)
        covariances <- sapply(1:60, function(i) cov(Y[i, ], fitted[i, ]))
        without <- sapply(1:100, function(j)
          sum(sapply(1:60, function(i) cov(Y[i, -j], fitted[i, -j]))))
        out <- list(df = sum(covariances), per = covariances, x = x,
                    se = sqrt(99/100 * sum((without - mean(without))^2)))
        """
    )

    def quadratic(X, y):
        basis = np.column_stack([np.ones(len(X)), X, X[:, 0] ** 2])
        return basis @ np.linalg.lstsq(basis, y, rcond=None)[0]

    ours = degrees_of_freedom(quadratic, (60, 3), draws=RDraws(1234))
    assert ours.df == pytest.approx(r["df"][0], rel=1e-12)
    np.testing.assert_allclose(ours.per_observation, r["per"], rtol=1e-10, atol=1e-13)
    assert ours.se == pytest.approx(r["se"][0], rel=1e-9)
    given = degrees_of_freedom(quadratic, r["x"], draws=RDraws(1234))
    assert given.df == pytest.approx(ours.df, rel=1e-13)


@pytest.mark.parametrize("procedure", LINEAR, ids=repr)
class TestLinearSmoothers:
    def test_exact_by_default(self, procedure):
        found = degrees_of_freedom(procedure, X)
        S = procedure.fit_many(X, np.eye(len(X))).fitted
        assert found.df == pytest.approx(np.trace(S), rel=1e-10)
        assert found.se == 0.0
        assert found.n_rep == 0
        assert (found.msdf, found.msdf_se) == (0.0, 0.0)
        assert found.settings["method"] == "exact"
        np.testing.assert_allclose(found.per_observation, np.diag(S))

    def test_monte_carlo_within_three_errors_of_the_trace(self, procedure):
        exact = degrees_of_freedom(procedure, X).df
        found = degrees_of_freedom(
            procedure, X, method="monte-carlo", n_rep=400, random_state=1, variance_reduction=None
        )
        assert within(found.df, found.se, exact)
        assert 0 < found.se < 0.1 * exact
        assert found.trace == pytest.approx(exact) and found.trace_se == 0.0
        assert found.per_observation.sum() == pytest.approx(found.df)

    def test_unequal_variances(self, procedure):
        sigma = np.linspace(0.5, 3, len(X))
        exact = degrees_of_freedom(procedure, X, sigma=sigma).df
        found = degrees_of_freedom(
            procedure,
            X,
            sigma=sigma,
            mu=5 * X[:, 0],
            method="monte-carlo",
            n_rep=800,
            random_state=2,
        )
        assert within(found.df, found.se, exact)


def test_scale_does_not_matter_to_a_linear_fit():
    one, other = (
        degrees_of_freedom(Ridge(1.0), X, sigma=s, method="monte-carlo", draws=RDraws(4)).df
        for s in (1.0, 37.5)
    )
    assert one == pytest.approx(other, rel=1e-12)


def test_search_cost_of_best_subset_is_the_modified_one():
    # Proposition 1 of the paper: selection followed by least squares.
    found = degrees_of_freedom(BestSubset(2), X, n_rep=200, random_state=3)
    assert found.sdf == pytest.approx(found.msdf, rel=1e-10)
    assert found.rank == found.trace == 2.0 and found.rank_se == 0.0
    assert found.msdf > 3 * found.msdf_se > 0


def test_lasso_by_its_nonzeros_and_by_covariance():
    mu = X @ [1.0, 1.0, 0.0, 0.0, 0.0]
    settings = {"mu": mu, "n_rep": 300, "random_state": 5}
    mean = degrees_of_freedom(Lasso(20.0), X, method="exact", **settings)
    covariance = degrees_of_freedom(Lasso(20.0), X, **settings)
    assert mean.df == mean.n_coef and mean.per_observation is None
    assert mean.se < covariance.se
    assert within(covariance.df, np.hypot(mean.se, covariance.se), mean.df)
    assert covariance.msdf == pytest.approx(covariance.df - covariance.trace)
    assert covariance.sdf is not None and covariance.sdf != covariance.msdf


def test_a_function_tells_its_fit_only():
    regressor = degrees_of_freedom(LinearRegression(), X, draws=RDraws(6), method="monte-carlo")
    function = degrees_of_freedom(
        lambda X, y: LinearRegression().fit(X, y).predict(X), X, draws=RDraws(6)
    )
    procedure = degrees_of_freedom(
        LeastSquares(fit_intercept=True), X, draws=RDraws(6), method="monte-carlo"
    )
    for found in (regressor, function):
        assert found.df == pytest.approx(procedure.df, rel=1e-12)
    for name in ("trace", "n_coef", "rank", "msdf", "sdf"):
        assert getattr(function, name) is None and getattr(function, f"{name}_se") is None
        assert getattr(regressor, name) == pytest.approx(getattr(procedure, name), abs=1e-10)


def test_the_regressor_that_was_passed_stays_unfitted():
    tree = DecisionTreeRegressor(max_depth=1)
    degrees_of_freedom(tree, X, n_rep=5, random_state=1)
    assert not hasattr(tree, "tree_") and tree.random_state is None


def test_one_seed_one_answer():
    tree = DecisionTreeRegressor(max_depth=2)
    first, second = (degrees_of_freedom(tree, X, n_rep=20, random_state=9) for _ in range(2))
    assert first.df == second.df
    draws = RDraws(1)
    first, second = (degrees_of_freedom(tree, X, n_rep=20, draws=draws) for _ in range(2))
    assert first.df == second.df
    assert draws.normal(1) == RDraws(1).normal(1)


def test_a_generator_moves_on():
    tree, generator = DecisionTreeRegressor(max_depth=2), np.random.default_rng(1)
    first, second = (
        degrees_of_freedom(tree, X, n_rep=20, random_state=generator) for _ in range(2)
    )
    assert first.df != second.df


class TestAroundTheFit:
    y = X @ [3.0, 0.0, 0.0, 0.0, 0.0] + 0.5 * RDraws(12).normal(60)

    def test_sigma_is_estimated(self):
        found = degrees_of_freedom(
            LeastSquares(),
            X,
            y=self.y,
            mu="fitted",
            method="monte-carlo",
            n_rep=300,
            random_state=1,
        )
        residuals = self.y - LeastSquares().fit(X, self.y).fitted_values_
        assert found.settings["sigma"] == pytest.approx(np.sqrt(residuals @ residuals / 55))
        assert within(found.df, found.se, 5.0)

    def test_responses_are_around_the_fit(self):
        seen = []

        def remember(X, y):
            seen.append(y)
            return np.full(len(y), y.mean())

        degrees_of_freedom(remember, X, y=self.y, mu="fitted", sigma=0.1, n_rep=200, random_state=1)
        drawn = np.array(seen[1:])
        assert np.array_equal(seen[0], self.y)
        assert np.abs(drawn.mean(axis=0) - self.y.mean()).max() < 5 * 0.1 / np.sqrt(200)

    def test_a_fit_without_residuals_needs_sigma(self):
        with pytest.raises(ValueError, match="sigma=None but it should be given"):
            degrees_of_freedom(lambda X, y: y, X, y=self.y, mu="fitted")


class TestResult:
    found = degrees_of_freedom(BestSubset(2), X, n_rep=10, random_state=3)

    def test_is_frozen_and_prints_one_line(self):
        with pytest.raises(dataclasses.FrozenInstanceError):
            self.found.df = 1.0
        text = repr(self.found)
        assert "\n" not in text and "±" in text and "n_rep=10" in text

    def test_frame_has_the_known_quantities(self):
        frame = self.found.to_frame()
        assert list(frame.quantity) == ["df", "trace", "n_coef", "rank", "msdf", "sdf"]
        assert frame.estimate[0] == self.found.df and frame.se[0] == self.found.se

    def test_dict_is_json(self):
        values = json.loads(json.dumps(self.found.to_dict()))
        assert values["df"] == self.found.df
        assert values["settings"]["draws"] == "numpy.random.default_rng(3)"
        assert "numpy" in values["versions"]


def test_two_repetitions_have_no_standard_error():
    assert np.isnan(degrees_of_freedom(LeastSquares(), X, n_rep=2, method="monte-carlo").se)


def test_data_frames_reach_the_regressor_as_they_are():
    import pandas as pd

    names = []

    class Named(LinearRegression):
        def fit(self, X, y):
            names.extend(X.columns)
            return super().fit(X, y)

    degrees_of_freedom(Named(), pd.DataFrame(X, columns=list("abcde")), n_rep=2)
    assert names[:5] == list("abcde")


def test_what_a_procedure_cannot_tell_is_none():
    class Mean:
        def fit_many(self, X, Y):
            return Fits(np.tile(Y.mean(axis=0), (len(Y), 1)), trace=np.ones(Y.shape[1]))

    found = degrees_of_freedom(Mean(), X, n_rep=200, random_state=1)
    assert within(found.df, found.se, 1.0) and found.trace == 1.0 and found.trace_se == 0.0
    assert found.n_coef is None and found.sdf is None


# The paper's table of regression trees: depth -> p -> (mean of ten estimates, its standard error).
TREES = {
    0: {1: (1.01, 0.05), 5: (1.02, 0.04), 10: (1.00, 0.05)},
    1: {1: (5.71, 0.08), 5: (8.71, 0.07), 10: (9.87, 0.10)},
    2: {1: (11.84, 0.20), 5: (18.38, 0.17), 10: (21.62, 0.22)},
    3: {1: (19.80, 0.18), 5: (30.14, 0.27), 10: (35.01, 0.35)},
    4: {1: (28.97, 0.29), 5: (42.06, 0.44), 10: (48.49, 0.35)},
}


@pytest.mark.parametrize("depth", TREES)
@pytest.mark.parametrize("p", [1, 5, 10])
def test_regression_trees_of_the_paper(depth, p):
    tree = DecisionTreeRegressor(max_depth=depth) if depth else _mean_tree()
    runs = [degrees_of_freedom(tree, (100, p), random_state=s, n_rep=20).df for s in range(10)]
    paper, paper_se = TREES[depth][p]
    se = np.std(runs, ddof=1) / np.sqrt(10)
    assert within(np.mean(runs), np.hypot(se, paper_se), paper)


def _mean_tree():
    """scikit-learn has no tree of depth 0; one that may not split is the same."""
    return DecisionTreeRegressor(min_samples_split=1000)
