"""Noise with a covariance matrix."""

import numpy as np
import pytest

from pyearthdof import degrees_of_freedom
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures import Lasso, RegressionTree, Ridge

RNG = np.random.default_rng(5)
N = 40
X = RNG.normal(size=(N, 5))
GAP = np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
COVARIANCE = 2.0 * 0.8**GAP


@pytest.mark.parametrize("reduction", [None, "control"])
def test_ridge_and_lasso_have_their_known_df(reduction):
    how = {"sigma": COVARIANCE, "method": "monte-carlo", "n_rep": 600, "random_state": 11}
    ridge = degrees_of_freedom(Ridge(10.0), X, variance_reduction=reduction, **how)
    assert abs(ridge.df - degrees_of_freedom(Ridge(10.0), X).df) < 3 * ridge.se
    mu = X[:, 0]
    lasso = degrees_of_freedom(Lasso(20.0), X, mu=mu, variance_reduction=reduction, **how)
    how |= {"method": "exact", "random_state": 12}
    exact = degrees_of_freedom(Lasso(20.0), X, mu=mu, **how)
    assert abs(lasso.df - exact.df) < 3 * np.hypot(lasso.se, exact.se)


def test_each_observation_has_its_share():
    how = {"sigma": COVARIANCE, "n_rep": 2000, "random_state": 1, "method": "monte-carlo"}
    how["variance_reduction"] = None
    found = degrees_of_freedom(Ridge(10.0), X, **how)
    exact = degrees_of_freedom(Ridge(10.0), X)
    assert found.per_observation.sum() == pytest.approx(found.df)
    assert np.corrcoef(found.per_observation, exact.per_observation)[0, 1] > 0.9


def test_a_diagonal_matrix_is_a_vector():
    sd = np.linspace(0.5, 2.0, N)
    tree, how = (
        RegressionTree(depth=2),
        {"n_rep": 30, "random_state": 2, "variance_reduction": None},
    )
    vector = degrees_of_freedom(tree, X, sigma=sd, **how)
    matrix = degrees_of_freedom(tree, X, sigma=np.diag(sd**2), **how)
    assert matrix.df == pytest.approx(vector.df, rel=1e-10)
    assert matrix.se == pytest.approx(vector.se, rel=1e-8)


def test_large_runs_keep_sums_only(monkeypatch):
    from pyearthdof.dof.montecarlo import variance_reduction

    how = {"sigma": COVARIANCE, "n_rep": 60, "random_state": 3, "method": "monte-carlo"}
    how["variance_reduction"] = None
    kept = degrees_of_freedom(Ridge(10.0), X, **how)
    monkeypatch.setattr(variance_reduction, "_MAX_KEPT", 1)
    assert degrees_of_freedom(Ridge(10.0), X, **how).df == pytest.approx(kept.df, rel=1e-10)


@pytest.mark.parametrize(
    ("sigma", "message"),
    [
        (np.eye(3), r"sigma has shape \(3, 3\) but a covariance matrix should be \(40, 40\)"),
        (-np.eye(N), "positive definite"),
        (np.triu(np.ones((N, N))), "finite and symmetric"),
    ],
)
def test_what_is_no_covariance_is_refused(sigma, message):
    with pytest.raises(InvalidInputError, match=message):
        degrees_of_freedom(Lasso(1.0), X, sigma=sigma)


def test_direction_needs_independent_noise():
    with pytest.raises(InvalidInputError, match="sigma not a single number"):
        degrees_of_freedom(RegressionTree(1), X, sigma=COVARIANCE, variance_reduction="direction")
