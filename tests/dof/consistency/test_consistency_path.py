"""Self-consistency of any procedure along a grid."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeRegressor

from pyearthdof import RDraws, consistency_path, degrees_of_freedom, self_consistency
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures import BestSubset, RegressionTree
from pyearthdof.results import ConsistencyPath, SelfConsistency

X = np.random.default_rng(2).normal(size=(40, 3))
RUN = {"n_rep": 20, "random_state": 5}


def test_a_tree_counts_its_leaves():
    path = consistency_path(
        DecisionTreeRegressor(), {"max_leaf_nodes": [2, 4]}, X=X, nominal="n_coef", **RUN
    )
    assert isinstance(path, ConsistencyPath)
    assert path.nominal_df.tolist() == [2.0, 4.0]
    alone = degrees_of_freedom(DecisionTreeRegressor(max_leaf_nodes=4), X, **RUN)
    assert path.df[1] == alone.df and path.se[1] == alone.se
    assert path.gap == pytest.approx(path.df - [2.0, 4.0])
    frame = path.to_frame()
    assert frame.columns.tolist() == [
        "max_leaf_nodes", "df", "se", "lower", "upper", "nominal_df", "gap", "gap_se",
    ]  # fmt: skip
    assert path.to_dict()["max_leaf_nodes"] == [2, 4]


def test_one_draw_serves_all_points():
    """So a step has a smaller error than two runs would have."""
    path = consistency_path(RegressionTree(0), {"depth": [2, 3]}, X=X, n_rep=100, random_state=1)
    step, se = path.step(0, 1)
    assert step == pytest.approx(path.df[1] - path.df[0])
    assert se < 0.8 * np.hypot(*path.se)
    assert path.nominal_df is None and path.gap is None


def test_linear_smoothers_are_self_consistent():
    path = consistency_path(
        make_pipeline(PolynomialFeatures(2), Ridge()), {"ridge__alpha": [0.1, 10.0]}, X=X,
        nominal="trace", **RUN,
    )  # fmt: skip
    assert np.abs(path.gap).max() < 1e-9 and path.se.tolist() == [0.0, 0.0]


def test_the_parameter_of_a_rule_is_found():
    """Linear in c, as MARS's own, and not linear."""
    grid = {"depth": [1, 2]}
    path = consistency_path(
        RegressionTree(0),
        grid,
        X=X,
        nominal=lambda at, c=2.0: at.n_coef + c * (at.n_coef - 1) / 2,
        **RUN,
    )
    solved = path.solve()
    leaves = np.array([point.n_coef for point in path.points])
    assert solved.parameter == pytest.approx(2 * (path.df - leaves) / (leaves - 1))
    assert min(solved.parameter) <= solved.pooled <= max(solved.parameter)
    assert (solved.se > 0).all() and solved.pooled_se > 0
    power = consistency_path(
        RegressionTree(0), grid, X=X, nominal=lambda at, c=1.0: at.n_coef**c, **RUN
    ).solve(0.1, 10)
    assert power.parameter == pytest.approx(np.log(path.df) / np.log(leaves))


def test_the_solver_is_algorithm_2():
    """For MARS the same penalty comes out as from self_consistency of MARS and correct_penalty."""
    from pyearthdof import Earth

    mars = self_consistency((40, 2), nk=[5, 9], n_rep=20, engine="native")
    fit = Earth(thresh=0.0, pmethod="none", engine="native")
    path = consistency_path(
        fit, {"nk": [5, 9]}, X=(40, 2), draws=RDraws(1234), n_rep=20,
        nominal=lambda at, c=2.0: at.n_coef + c * (at.n_coef - 1) / 2,
    )  # fmt: skip
    assert isinstance(mars, SelfConsistency)
    assert path.df == pytest.approx(mars.df) and path.nominal_df == pytest.approx(mars.nominal_df)
    assert path.solve().parameter == pytest.approx(mars.penalty)


def test_a_function_of_the_value_and_several_parameters():
    path = consistency_path(
        lambda k: BestSubset(size=k), [1, 2], X=X, nominal=lambda at: at.value, **RUN
    )
    assert path.nominal_df.tolist() == [1, 2] and path.parameter == "value"
    several = consistency_path(
        GradientBoostingRegressor(),
        [{"n_estimators": 2, "max_depth": 1}, {"n_estimators": 4, "max_depth": 2}], X=X, n_rep=5,
        random_state=0,
    )  # fmt: skip
    assert several.df[1] > several.df[0]
    ax = several.plot()
    assert ax.get_ylabel() == "actual df"


def test_the_plot_has_both():
    path = consistency_path(RegressionTree(0), {"depth": [1, 2]}, X=X, nominal="trace", **RUN)
    ax = path.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("actual df", "nominal df")
    line = next(
        line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_marker() == "o"
    )
    assert line.get_xdata() == pytest.approx(path.df)


@pytest.mark.parametrize(
    ("first", "arguments", "message"),
    [
        (RegressionTree(1), {"grid": {"depht": [1]}, "X": X}, "one of the parameters depth"),
        (RegressionTree(1), {"grid": {"depth": []}, "X": X}, "grid is empty"),
        (RegressionTree(1), {"grid": {"depth": 3}, "X": X}, "with several values"),
        (RegressionTree(1), {"grid": [1, 2], "X": X}, "values alone are for a function"),
        (RegressionTree(1), {"grid": {"depth": [1]}, "X": X, "mu": "fitted"}, "one mean"),
        (
            RegressionTree(1),
            {"grid": {"depth": [1]}, "X": X, "nominal": "rank"},
            "do not provide it",
        ),
        (RegressionTree(1), {"grid": {"depth": [1]}, "X": X, "nominal": "leaves"}, "'n_coef'"),
    ],
)
def test_what_is_refused(first, arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        consistency_path(first, n_rep=3, **arguments)


def test_a_word_has_no_parameter_to_solve_for():
    path = consistency_path(RegressionTree(0), {"depth": [1]}, X=X, nominal="trace", **RUN)
    with pytest.raises(InvalidInputError, match="with a parameter to solve for"):
        path.solve()
