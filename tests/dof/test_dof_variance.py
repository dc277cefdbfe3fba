"""Variance reduction: unbiased, and a gain where one is promised."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from pyearthdof.dof import degrees_of_freedom
from pyearthdof.procedures.linear import LeastSquares, NearestNeighbors, Ridge
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
