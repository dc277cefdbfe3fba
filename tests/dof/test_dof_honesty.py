"""The standard error is honest: intervals of nominal 95 % cover the truth about that often."""

import numpy as np
import pytest

from pyearthdof.dof import degrees_of_freedom
from pyearthdof.dof.montecarlo.variance_reduction import covariance_sum
from pyearthdof.procedures.linear import LeastSquares, NearestNeighbors, Ridge
from pyearthdof.procedures.subset import BestSubset
from pyearthdof.procedures.tree import RegressionTree
from pyearthdof.random import RDraws

X = RDraws(41).normal(50 * 5).reshape(50, 5)
LINEAR = [LeastSquares(), Ridge(10.0), NearestNeighbors(5)]


def coverage(estimate, truth, runs):
    """Share of the runs whose interval holds the truth; `estimate(seed)` gives a value and its se."""
    found = np.array([estimate(seed) for seed in range(runs)])
    return np.mean(np.abs(found[:, 0] - truth) <= 1.96 * found[:, 1])


@pytest.mark.parametrize("procedure", LINEAR, ids=repr)
def test_coverage_of_the_estimator_itself(procedure):
    # The estimator without the machinery around it, so that 200 runs take a second.
    S = procedure.fit_many(X, np.eye(50)).fitted

    def estimate(seed):
        Y = np.random.default_rng(seed).normal(size=(50, 100))
        total = covariance_sum(np.zeros(50), np.ones(50))
        total.add(Y, S @ Y)
        return total.result().total.value, total.result().total.se

    assert 0.90 <= coverage(estimate, np.trace(S), 200) <= 0.99


def test_coverage_of_groups():
    S = NearestNeighbors(5).fit_many(X, np.eye(50)).fitted

    def estimate(seed):
        Y = np.random.default_rng(seed).normal(size=(50, 320))
        total = covariance_sum(np.zeros(50), np.ones(50), np.arange(320) // 10)
        total.add(Y, S @ Y)
        return total.result().total.value, total.result().total.se

    assert 0.90 <= coverage(estimate, np.trace(S), 200) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("procedure", LINEAR, ids=repr)
@pytest.mark.parametrize("reduction", [None, "control"])
def test_coverage_of_the_whole_function(procedure, reduction):
    if reduction == "control" and isinstance(procedure, LeastSquares):
        pytest.skip("least squares is the control itself, up to the constant")

    def estimate(seed):
        found = degrees_of_freedom(
            procedure, X, method="monte-carlo", variance_reduction=reduction, random_state=seed
        )
        return found.df, found.se

    truth = degrees_of_freedom(procedure, X).df
    assert 0.90 <= coverage(estimate, truth, 200) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("reduction", [None, "control", "direction"])
@pytest.mark.parametrize("procedure", [NearestNeighbors(5), RegressionTree(depth=2)], ids=repr)
def test_coverage_where_the_mean_is_not_zero(procedure, reduction):
    mu = 5.0 if reduction == "direction" else 3 * X[:, 0] ** 2

    def run(seed, **options):
        options = {"mu": mu, "method": "monte-carlo", "random_state": seed} | options
        return degrees_of_freedom(procedure, X, **options)

    def estimate(seed):
        found = run(seed, variance_reduction=reduction)
        return found.df, found.se

    truth = run(10**6, n_rep=8000).df
    if procedure.is_linear:
        truth = degrees_of_freedom(procedure, X).df
    assert 0.90 <= coverage(estimate, truth, 200) <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["df", "msdf", "sdf"])
def test_coverage_for_an_adaptive_procedure(quantity):
    # The truth is unknown; forty times as many repetitions know it six times as well.
    run = degrees_of_freedom(BestSubset(2), X, n_rep=4000, random_state=10**6)

    def estimate(seed):
        found = degrees_of_freedom(BestSubset(2), X, n_rep=100, random_state=seed)
        row = found.to_frame().set_index("quantity").loc[quantity]
        return row.estimate, row.se

    assert 0.90 <= coverage(estimate, getattr(run, quantity), 200) <= 0.99
