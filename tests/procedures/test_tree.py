"""Regression trees: against scikit-learn's, and the paper's table."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

from pyearthdof.contract import Procedure
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures.tree import RegressionTree

# df and standard error by depth (rows 0 to 4) for p = 1, 5, 10: the paper's table of trees.
TABLE = {
    1: [(1.01, 0.05), (5.71, 0.08), (11.84, 0.20), (19.80, 0.18), (28.97, 0.29)],
    5: [(1.02, 0.04), (8.71, 0.07), (18.38, 0.17), (30.14, 0.27), (42.06, 0.44)],
    10: [(1.00, 0.05), (9.87, 0.10), (21.62, 0.22), (35.01, 0.35), (48.49, 0.35)],
}


def empirical_df(p, depth, estimates, rng):
    """Algorithm 1 with n = m = 100 and mean zero: the average of some estimates, its se, leaves."""
    values, leaves = [], []
    for _ in range(estimates):
        X, Y = rng.standard_normal((100, p)), rng.standard_normal((100, 100))
        fits = RegressionTree(depth).fit_many(X, Y)
        centred = Y - Y.mean(axis=1, keepdims=True)
        values.append(np.sum(fits.fitted * centred) / (Y.shape[1] - 1))
        leaves.append(fits.trace.mean())
    return np.mean(values), np.std(values, ddof=1) / np.sqrt(estimates), np.mean(leaves)


@pytest.mark.parametrize(("n", "p"), [(100, 1), (100, 10), (37, 3), (2, 1)])
@pytest.mark.parametrize("depth", [1, 2, 4, 9])
def test_partition_is_that_of_scikit_learn(n, p, depth):
    rng = np.random.default_rng(n + p + depth)
    # float32 numbers: scikit-learn rounds X to them
    X = rng.standard_normal((n, p)).astype(np.float32).astype(float)
    for y in rng.standard_normal((10, n)):
        ours = RegressionTree(depth).fit(X, y)
        theirs = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y)
        pairs = set(zip(ours.apply(X).tolist(), theirs.apply(X).tolist(), strict=True))
        assert len(pairs) == ours.n_leaves_ == theirs.get_n_leaves()
        np.testing.assert_allclose(ours.fitted_values_, theirs.predict(X), atol=1e-12)


def test_cuts_and_new_data_are_those_of_scikit_learn_where_no_split_is_tied():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 4)).astype(np.float32).astype(float)
    y = X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(300)
    new = rng.standard_normal((500, 4)).astype(np.float32).astype(float)
    ours = RegressionTree(3).fit(X, y)
    theirs = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        np.sort(ours.threshold_[ours.feature_ >= 0]),
        np.sort(theirs.tree_.threshold[theirs.tree_.feature >= 0]),
        atol=1e-12,
    )
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), atol=1e-12)


def test_pure_nodes_are_not_split():
    X = np.arange(8.0).reshape(-1, 1)
    y = np.array([1.0, 1, 1, 1, 7, 7, 7, 7])
    tree = RegressionTree(4).fit(X, y)
    assert tree.n_leaves_ == DecisionTreeRegressor(max_depth=4).fit(X, y).get_n_leaves() == 2
    np.testing.assert_array_equal(tree.fitted_values_, y)


def test_equal_rows_stay_together_and_depth_is_not_exceeded():
    X = np.array([[0.0, 1], [0, 1], [0, 1], [2, 1]])
    tree = RegressionTree(50).fit(X, [1.0, 2, 3, 10])
    np.testing.assert_allclose(tree.fitted_values_, [2, 2, 2, 10])
    assert RegressionTree(0).fit(X, [1.0, 2, 3, 10]).fitted_values_.tolist() == [4.0] * 4


def test_cut_between_neighbouring_numbers_separates_them():
    x = np.array([1.0, np.nextafter(1.0, 2.0)])
    tree = RegressionTree(1).fit(x[:, None], [0.0, 1.0])
    assert tree.predict(x[:, None]).tolist() == [0.0, 1.0]


def test_fit_many_is_the_loop():
    rng = np.random.default_rng(2)
    X, Y = rng.standard_normal((60, 3)), rng.standard_normal((60, 20))
    together = RegressionTree(3).fit_many(X, Y)
    one_by_one = Procedure.fit_many(RegressionTree(3), X, Y)
    np.testing.assert_array_equal(together.fitted, one_by_one.fitted)
    np.testing.assert_array_equal(together.trace, one_by_one.trace)
    np.testing.assert_array_equal(together.n_coef, one_by_one.n_coef)
    assert together.rank is None and together.refitted is None


@pytest.mark.parametrize("p", [1, 10])
def test_table_of_trees_small(p):
    rng = np.random.default_rng(p)
    for depth in (0, 1, 4):
        df, se, leaves = empirical_df(p, depth, 10, rng)
        expected, expected_se = TABLE[p][depth]
        assert abs(df - expected) < 3 * np.hypot(se, expected_se)
        assert leaves == pytest.approx({0: 1, 1: 2, 4: 12.5}[depth], abs=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("p", TABLE)
def test_table_of_trees(p):
    # Ten times the paper's estimates, so that most of the error is the paper's own.
    rng = np.random.default_rng(20 + p)
    for depth, (expected, expected_se) in enumerate(TABLE[p]):
        df, se, leaves = empirical_df(p, depth, 100, rng)
        assert abs(df - expected) < 3 * np.hypot(se, expected_se)
        assert leaves <= 2**depth


@pytest.mark.parametrize("depth", [-1, 1.5, None, "3"])
def test_bad_depth_is_refused(depth):
    with pytest.raises(InvalidInputError, match="depth="):
        RegressionTree(depth).fit(np.eye(3), np.ones(3))


def test_rows_must_match():
    with pytest.raises(InvalidInputError, match=r"Y has shape \(3, 2\) but it should be \(4, m\)"):
        RegressionTree(1).fit_many(np.eye(4), np.ones((3, 2)))


def test_scikit_learn_conventions():
    check_estimator(RegressionTree(4), on_skip=None)
