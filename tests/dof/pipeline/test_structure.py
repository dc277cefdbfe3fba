"""What scikit-learn's fits tell of themselves, against S written down by other means."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNet,
    Lasso,
    LassoCV,
    LinearRegression,
    OrthogonalMatchingPursuit,
    Ridge,
    RidgeCV,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import pyearthdof.procedures as ours
from pyearthdof import degrees_of_freedom
from pyearthdof.procedures.scikit_learn import (
    df_statistic_of,
    is_blind,
    is_linear_smoother,
    structure_of,
)

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 4))
y = X[:, 0] + RNG.normal(size=40)


def divergence(estimator, X, y, step=1e-6) -> float:
    """The trace of the derivative of the fit, where a small step changes no choice."""
    before = estimator.fit(X, y).predict(X)
    moved = [estimator.fit(X, y + step * unit).predict(X) for unit in np.eye(len(y))]
    return float((np.diag(moved) - before).sum() / step)


LINEAR = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(alpha=3.0),
    Ridge(alpha=3.0, fit_intercept=False),
    KernelRidge(kernel="rbf", alpha=0.5),
    KernelRidge(kernel="poly", degree=2),
    KNeighborsRegressor(5),
    KNeighborsRegressor(4, weights="distance"),
    DummyRegressor(),
    make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge()),
]


@pytest.mark.parametrize("estimator", LINEAR, ids=str)
def test_linear_smoothers_are_exact(estimator):
    S = estimator.fit(X, np.eye(40)).predict(X)
    assert is_linear_smoother(estimator)
    found = degrees_of_freedom(estimator, X)
    assert found.df == pytest.approx(np.trace(S), rel=1e-8)
    assert (found.se, found.n_rep, found.msdf) == (0.0, 0, 0.0)
    assert found.per_observation == pytest.approx(np.diag(S), abs=1e-9)


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeRegressor(max_depth=3, random_state=0),
        RandomForestRegressor(3, random_state=0),
        RandomForestRegressor(3, max_samples=0.5, max_leaf_nodes=6, random_state=1),
        ExtraTreesRegressor(3, max_depth=3, random_state=0),
        GradientBoostingRegressor(n_estimators=5, random_state=0),
        GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.3), optimizer=None, normalize_y=True),
        GaussianProcessRegressor(RBF(1.0), optimizer=None, alpha=0.2),
        OrthogonalMatchingPursuit(n_nonzero_coefs=2),
        LinearRegression(positive=True),
        make_pipeline(SelectKBest(f_regression, k=2), LinearRegression()),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_the_trace_of_an_average_is_its_divergence(estimator):
    """Here S(y) does not change with a small step of y, so the trace is the divergence."""
    few, those = X[:20], y[:20]
    known = structure_of(estimator.fit(few, those), few, those)
    assert known.trace == pytest.approx(divergence(estimator, few, those), rel=1e-4)


def test_the_lasso_is_ours():
    alpha = 0.1
    theirs = structure_of(Lasso(alpha, tol=1e-12).fit(X, y), X, y)
    mine = ours.Lasso(lam=2 * len(y) * alpha, fit_intercept=True).fit(X, y)
    assert theirs.trace == pytest.approx(mine.trace_, rel=1e-6)
    assert (theirs.n_coef, theirs.rank) == (mine.n_coef_, mine.rank_)
    assert theirs.refitted == pytest.approx(mine.refitted_values_, abs=1e-10)
    assert df_statistic_of(Lasso(alpha)) == "n_coef"


@pytest.mark.parametrize("estimator", [Lasso(0.1), ElasticNet(0.1), ElasticNet(0.3, l1_ratio=0.9)])
def test_the_fit_is_s_times_y(estimator):
    """S(y) of the elastic net, made by hand, gives the fit and has the trace."""
    model = estimator.set_params(tol=1e-13, max_iter=100_000).fit(X, y)
    chosen = model.coef_ != 0
    A = (X - X.mean(axis=0))[:, chosen]
    l1, l2 = (estimator.alpha * r for r in (estimator.l1_ratio, 1 - estimator.l1_ratio))
    D = 40 * np.diag(l1 / np.abs(model.coef_[chosen]) + l2)
    S = A @ np.linalg.solve(A.T @ A + D, A.T)
    assert S @ (y - y.mean()) + y.mean() == pytest.approx(model.predict(X), abs=1e-8)
    assert structure_of(model, X, y).trace == pytest.approx(np.trace(S) + 1, rel=1e-8)


def test_what_a_search_chose_counts():
    cv = RidgeCV([0.1, 10.0, 1000.0]).fit(X, y)
    fixed = Ridge(cv.alpha_).fit(X, y)
    grid = GridSearchCV(Ridge(), {"alpha": [cv.alpha_]}, cv=2).fit(X, y)
    traces = {round(structure_of(model, X, y).trace, 9) for model in (cv, fixed, grid)}
    assert len(traces) == 1
    assert structure_of(LassoCV(cv=3).fit(X, y), X, y).n_coef >= 1
    assert 1 < structure_of(BayesianRidge().fit(X, y), X, y).trace < 5


def test_levels_of_an_isotonic_fit():
    """Its df are the mean number of levels (Meyer and Woodroofe 2000): 1 + 1/2 + ... + 1/n on noise."""
    x = np.arange(30.0)[:, None]
    found = degrees_of_freedom(IsotonicRegression(), x, method="exact", n_rep=400, random_state=0)
    assert abs(found.df - (1 / np.arange(1, 31)).sum()) < 3 * found.se


def test_what_is_not_known_stays_unknown():
    for estimator in (
        SVR(),
        DecisionTreeRegressor(criterion="absolute_error"),
        GradientBoostingRegressor(subsample=0.5),
    ):
        assert structure_of(estimator.fit(X, y), X, y).trace is None
    assert degrees_of_freedom(SVR(), X, n_rep=3, random_state=0).trace is None


def test_a_subclass_may_fit_otherwise():
    class Half(LinearRegression):
        def predict(self, X):
            return super().predict(X) / 2

    found = degrees_of_freedom(Half(), X, n_rep=50, random_state=0)
    assert found.trace is None and abs(found.df - 2.5) <= 3 * found.se + 1e-9


def test_a_step_that_looks_at_y_is_not_blind():
    assert is_blind(make_pipeline(StandardScaler(), PolynomialFeatures()))
    assert not is_blind(SelectKBest())
    assert not is_linear_smoother(make_pipeline(SelectKBest(f_regression, k=1), LinearRegression()))


def test_trees_have_a_search_cost():
    found = degrees_of_freedom(DecisionTreeRegressor(max_leaf_nodes=3), X, random_state=0)
    assert found.trace == found.n_coef == 3.0
    assert found.msdf == pytest.approx(found.df - 3) and found.msdf > 3 * found.msdf_se


def test_missing_values_are_for_those_who_take_them():
    from sklearn.impute import SimpleImputer

    from pyearthdof.exceptions import InvalidInputError

    holes = X.copy()
    holes[3, 1] = np.nan
    assert degrees_of_freedom(make_pipeline(SimpleImputer(), LinearRegression()), holes).df == 5.0
    with pytest.raises(InvalidInputError, match="missing or infinite values in column 1"):
        degrees_of_freedom(LinearRegression(), holes)
