"""Variance reduction: unbiased, and a gain where one is promised."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from pyearthdof.dof import degrees_of_freedom
from pyearthdof.dof.montecarlo.variance_reduction import control_sum
from pyearthdof.procedures.linear import LeastSquares, NearestNeighbors, Ridge
from pyearthdof.procedures.tree import RegressionTree
from pyearthdof.random import RDraws

X = RDraws(21).normal(40 * 3).reshape(40, 3)


def tree(depth):
    model = DecisionTreeRegressor(max_depth=depth)
    model.is_equivariant = True
    return model


@pytest.mark.parametrize(
    ("procedure", "reduction", "n_rep"),
    [
        (NearestNeighbors(4), "direction", 30),
        (LeastSquares(fit_intercept=True), "direction", 30),
        (NearestNeighbors(4), "control", 30),
        (Ridge(5.0), "control", 30),
        (Ridge(5.0), "control", 5),
        (NearestNeighbors(4), None, 30),
    ],
)
def test_unbiased_for_linear_smoothers(procedure, reduction, n_rep):
    exact = degrees_of_freedom(procedure, X).df
    mu = 2.0 if reduction == "direction" else X[:, 0]
    runs = np.array(
        [
            degrees_of_freedom(
                procedure, X, mu=mu, sigma=1.5, variance_reduction=reduction, method="monte-carlo",
                n_rep=n_rep, random_state=seed,
            ).df
            for seed in range(60)
        ]
    )  # fmt: skip
    assert abs(runs.mean() - exact) <= 3 * runs.std(ddof=1) / np.sqrt(len(runs))


def test_control_knows_least_squares_exactly():
    found = degrees_of_freedom(
        LeastSquares(fit_intercept=True), X, variance_reduction="control", method="monte-carlo"
    )
    assert found.df == pytest.approx(4.0, abs=1e-9) and found.se < 1e-9


CURVED = np.linspace(-1, 1, 60)[:, None]


@pytest.mark.parametrize("sigma", [1.0, 0.01, np.linspace(0.2, 3, 60)], ids=["1", "0.01", "each"])
@pytest.mark.parametrize("far", [0.0, 1e4])
def test_control_knows_least_squares_exactly_where_the_mean_is_none_of_its_fits(far, sigma):
    found = degrees_of_freedom(
        LeastSquares(fit_intercept=True), CURVED, mu=far + 20 * CURVED[:, 0] ** 2, sigma=sigma,
        method="monte-carlo", random_state=1, variance_reduction="control",
    )  # fmt: skip
    assert found.df == pytest.approx(2.0, abs=1e-7) and found.se < 1e-7


@pytest.mark.parametrize("n_rep", [3, 10, 40])
@pytest.mark.parametrize("procedure", [NearestNeighbors(4), Ridge(5.0)], ids=repr)
def test_control_is_unbiased_and_knows_its_error_for_any_mean(procedure, n_rep):
    sigma = np.linspace(0.5, 2, 40)
    mu = 20 * X[:, 0] ** 2 + 1000
    S = procedure.fit_many(X, np.eye(40)).fitted
    rng, found = np.random.default_rng(1), []
    for _ in range(400):
        Y = mu[:, None] + sigma[:, None] * rng.normal(size=(40, n_rep))
        total = control_sum(X, mu, sigma)
        total.add(Y, S @ Y)
        found.append([total.result().total.value, total.result().total.se])
    values, errors = np.array(found).T
    assert abs(values.mean() - np.trace(S)) <= 3 * values.std(ddof=1) / 20
    assert 0.85 < np.sqrt(np.mean(errors**2)) / values.std(ddof=1) < (1.3 if n_rep > 3 else 2.0)


def test_control_is_unbiased_for_a_tree_around_a_curve():
    mu = 3 * X[:, 0] ** 2
    runs = {
        name: np.array(
            [
                degrees_of_freedom(
                    RegressionTree(2),
                    X,
                    mu=mu,
                    variance_reduction=name,
                    n_rep=20,
                    random_state=seed,
                ).df
                for seed in range(100)
            ]
        )
        for name in (None, "control")
    }
    error = np.sqrt(sum(values.var(ddof=1) for values in runs.values()) / 100)
    assert abs(runs["control"].mean() - runs[None].mean()) <= 3 * error


def test_large_runs_of_the_control_keep_sums_only():
    rng = np.random.default_rng(0)
    mu, sigma = 20 * X[:, 0] ** 2, np.linspace(0.5, 2, 40)
    Y = mu[:, None] + sigma[:, None] * rng.normal(size=(40, 640))
    fitted = Ridge(30.0).fit_many(X, Y).fitted + np.sin(Y) + 1e4

    def result(groups, columns=slice(None)):
        total = control_sum(X, mu, sigma, groups)
        y, f = Y[:, columns], fitted[:, columns]
        for block in np.array_split(np.arange(y.shape[1]), 7):
            total.add(y[:, block], f[:, block])
        return total.result().total

    kept, tenths = result(None), result(np.arange(640) // 64)
    assert tenths.value == pytest.approx(kept.value, rel=1e-9)  # the same ten folds
    many = result(np.arange(640) // 20)
    assert many.value == pytest.approx(kept.value, abs=0.2 * kept.se)
    assert many.se == pytest.approx(kept.se, rel=0.4)
    left = np.arange(640) // 64 != 3
    without = result(np.repeat(np.arange(9), 64), left)
    assert tenths.left_out[3] == pytest.approx(without.value, rel=1e-9)


def test_less_variance_and_the_same_mean_for_a_tree():
    plain, direction, control = (
        degrees_of_freedom(tree(2), X, variance_reduction=v, n_rep=500, random_state=1)
        for v in (None, "direction", "control")
    )
    assert direction.se < 0.95 * plain.se and control.se < 0.95 * plain.se
    assert abs(direction.df - plain.df) <= 3 * plain.se
    assert abs(control.df - plain.df) <= 3 * plain.se
    assert direction.per_observation.sum() == pytest.approx(direction.df)


def test_direction_is_the_formula():
    found = degrees_of_freedom(tree(1), X, variance_reduction="direction", n_rep=7, draws=RDraws(3))
    Y = RDraws(3).normal(40 * 7).reshape(7, 40)
    values = []
    for y in Y:
        fit = DecisionTreeRegressor(max_depth=1).fit(X, y).predict(X)
        numerator = y @ fit - 40 * y.mean() ** 2
        values.append(1 + 39 * numerator / ((y - y.mean()) ** 2).sum())
    assert found.df == pytest.approx(np.mean(values), rel=1e-12)
    assert found.se == pytest.approx(np.std(values, ddof=1) / np.sqrt(7), rel=1e-10)


def test_shifting_and_scaling_changes_nothing_in_the_direction():
    one, other = (
        degrees_of_freedom(
            NearestNeighbors(4), X, mu=mu, sigma=sigma, variance_reduction="direction",
            method="monte-carlo", draws=RDraws(3),
        ).df
        for mu, sigma in ((0.0, 1.0), (100.0, 7.0))
    )  # fmt: skip
    assert one == pytest.approx(other, rel=1e-10)
