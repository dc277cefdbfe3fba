"""mu="fitted": the given sigma is taken, and without one it is estimated by what the fit really uses."""

import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from pyearthdof.dof import degrees_of_freedom
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.earth import Earth
from pyearthdof.procedures import BestSubset, Lasso, LeastSquares, Ridge
from pyearthdof.random import RDraws

X = RDraws(11).normal(60 * 5).reshape(60, 5)
Y = RDraws(12).normal(60)


def around(procedure, y=Y, **options):
    options = {"n_rep": 50, "random_state": 1} | options
    return degrees_of_freedom(procedure, X, y=y, mu="fitted", **options)


def rss_of(procedure, y=Y):
    fit = procedure.fit(X, y)
    return float(((y - fit.predict(X)) ** 2).sum())


@pytest.mark.parametrize("sigma", [1.0, 1, 0.25, np.linspace(0.5, 2, 60)], ids=repr)
def test_a_given_sigma_is_the_one(sigma):
    seen = []

    def remember(X, y):
        seen.append(y)
        return np.full(len(y), y.mean())

    found = around(remember, 100 * Y, sigma=sigma, n_rep=400)
    drawn = np.array(seen[1:])
    np.testing.assert_allclose(drawn.std(axis=0), np.broadcast_to(sigma, 60), rtol=0.2)
    assert len(drawn) == 400 and found.settings["sigma_df"] is None
    if np.ndim(sigma) == 0:
        assert found.settings["sigma"] == sigma


def test_without_a_mean_to_fit_sigma_is_1():
    assert degrees_of_freedom(LeastSquares(), X).settings["sigma"] == 1.0


@pytest.mark.parametrize("procedure", [LeastSquares(), Ridge(10.0)], ids=repr)
def test_a_linear_smoother_needs_no_pilot(procedure):
    found = around(procedure, method="monte-carlo")
    trace = procedure.fit(X, Y).trace_
    assert found.settings["sigma_df"] == pytest.approx(trace)
    assert found.settings["sigma"] == pytest.approx(np.sqrt(rss_of(procedure) / (60 - trace)))


FOREST = RandomForestRegressor(n_estimators=8, min_samples_leaf=3, random_state=0)


@pytest.mark.parametrize(
    "procedure",
    [BestSubset(2), Earth(degree=2, engine="native"), DecisionTreeRegressor(max_depth=2), FOREST],
    ids=lambda p: type(p).__name__,
)
def test_the_search_counts(procedure):
    found = around(procedure)
    df, sigma = found.settings["sigma_df"], found.settings["sigma"]
    rss = rss_of(procedure)
    assert sigma == pytest.approx(np.sqrt(rss / (60 - df)))
    # The df of the pilot are those of the procedure around its fit, with a sigma near the last.
    assert abs(df - found.df) < 4 * np.sqrt(2) * found.se
    fixed = procedure.fit(X, Y)
    if hasattr(fixed, "trace_"):  # what a model of this form would use if nobody had searched it
        assert df > fixed.trace_ + 1
    assert sigma > np.sqrt(rss / 60)


def test_a_forest_on_noise():
    rng = np.random.default_rng(0)
    forest = RandomForestRegressor(n_estimators=20, random_state=0)
    X, y = rng.normal(size=(100, 5)), rng.normal(size=100)
    found = degrees_of_freedom(forest, X, y=y, mu="fitted", n_rep=10, random_state=1)
    rss = ((y - forest.fit(X, y).predict(X)) ** 2).sum()
    assert np.sqrt(rss / 100) < 0.4  # what it was estimated as
    assert found.settings["sigma"] > 0.55
    assert found.settings["sigma"] == pytest.approx(
        np.sqrt(rss / (100 - found.settings["sigma_df"]))
    )


def test_a_known_statistic_is_used():
    found = around(Lasso(15.0), 3 * X[:, 0] + Y)
    assert found.settings["sigma_df"] == pytest.approx(found.n_coef, abs=4 * found.n_coef_se)


@pytest.mark.parametrize(
    ("procedure", "message"),
    [
        (lambda X, y: y, "sigma=None but it should be given: the fit leaves no residuals"),
        (KNeighborsRegressor(1), "sigma=None but it should be given: the fit leaves no residuals"),
        (
            lambda X, y: 0.999 * y,
            "takes 59.94 degrees of freedom of 60 observations, which leaves less",
        ),
        (lambda X, y: y - 0.01 * np.sin(y), "degrees of freedom of 60 observations"),
        (Ridge(1e-3), "degrees of freedom of 60 observations"),
    ],
)
def test_an_interpolator_is_refused(procedure, message):
    wide = np.random.default_rng(0).normal(size=(60, 60))
    around_it = functools.partial(
        degrees_of_freedom, procedure, wide, y=Y, mu="fitted", random_state=1, method="monte-carlo"
    )
    for n_rep in (2, 100):
        with pytest.raises(InvalidInputError, match=message):
            around_it(n_rep=n_rep)
    found = around_it(sigma=1.0)
    assert found.df == pytest.approx(60, abs=4 * found.se + 0.6)  # of y - 0.01 sin(y) 59.4 at least


@pytest.mark.parametrize(
    "y", [X[:, 0], 3 + 0 * Y, 0 * Y, X @ np.arange(5)], ids=["x", "3", "0", "plane"]
)
def test_rounding_is_no_noise(y):
    with pytest.raises(
        InvalidInputError, match="sigma=None but it should be given: the fit leaves no residuals"
    ):
        around(LinearRegression(), y)


def test_columns_of_other_kinds():
    frame = pd.DataFrame({"x": X[:, 0], "kind": list("abc") * 20})
    found = degrees_of_freedom(
        Earth(engine="native"), frame, y=Y, mu="fitted", n_rep=20, random_state=1
    )
    assert found.settings["sigma"] > 0


def test_the_pilot_leaves_the_run_its_numbers():
    given = around(BestSubset(2), draws=RDraws(3), random_state=None, sigma=0.8)
    estimated = around(BestSubset(2), draws=RDraws(3), random_state=None)
    again = around(
        BestSubset(2), draws=RDraws(3), random_state=None, sigma=estimated.settings["sigma"]
    )
    assert estimated.df == again.df != given.df


def test_same_bits_for_any_number_of_workers():
    tree = DecisionTreeRegressor(max_depth=2)
    one, two = (around(tree, n_rep=10, n_jobs=n) for n in (1, 2))
    assert (one.df, one.settings["sigma"]) == (two.df, two.settings["sigma"])
