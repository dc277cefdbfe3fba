"""Degrees of freedom at new rows, against closed forms."""

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from pyearthdof import Earth, RDraws, degrees_of_freedom, prediction_df
from pyearthdof.dof.prediction import equivalent_predictors
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures import Lasso, RegressionTree, Ridge
from pyearthdof.results import RandomXDegreesOfFreedom

RNG = np.random.default_rng(8)
X, X_NEW = RNG.normal(size=(40, 4)), RNG.normal(size=(60, 4))
SQUARES = LinearRegression(fit_intercept=False)
MONTE_CARLO = {"method": "monte-carlo", "n_rep": 300, "random_state": 4}


def within(found, name, truth, errors=3):
    return abs(getattr(found, name) - truth) < errors * getattr(found, f"{name}_se")


@pytest.mark.parametrize("p", [5, 20, 45, 80])
def test_least_squares_with_gaussian_rows(p):
    """Below and above p = n, where it interpolates with the least norm."""
    n = 30
    found = prediction_df(SQUARES, (n, p), 100, n_designs=60, n_rep=120, random_state=p)
    excess = p / (n - p - 1) if p < n else n / (p - n - 1)
    rank = min(n, p)
    assert found.df == pytest.approx(rank) and found.n_rep == 0
    assert within(found, "predictive", rank / 2 + n / 2 * excess)
    ratio = 2 * rank / n + excess - rank / n
    assert within(found, "intrinsic", p if p < n else equivalent_predictors(ratio, n))
    assert found.emergent == found.intrinsic
    assert within(found, "prediction_error", 1 + excess)


def test_least_squares_by_monte_carlo():
    found = prediction_df(SQUARES, (30, 5), 60, n_designs=30, **MONTE_CARLO)
    assert within(found, "predictive", 2.5 + 15 * 5 / 24) and within(found, "intrinsic", 5)
    assert found.n_designs == 30 and found.n_new == 60
    assert found.se_covers == "the draws of y, of the design and of the new rows"


def test_ridge_with_bias():
    """E|h*|^2 = tr X'X (X'X + lam)^-2 for Gaussian rows, and the bias lam^2 b'(X'X + lam)^-2 b."""
    lam, b = 20.0, np.array([1.0, -1.0, 0.5, 0.0])
    exact = prediction_df(
        Ridge(lam), X, lambda rng: rng.normal(size=(40_000, 4)), mu=lambda X: X @ b,
        random_state=0,
    )  # fmt: skip
    G = np.linalg.inv(X.T @ X + lam * np.eye(4))
    H = X @ G @ X.T
    variance_new = np.trace(X @ G @ G @ X.T)
    error_new = variance_new + lam**2 * b @ G @ G @ b
    error_fit = (np.trace(H @ H) + ((H @ X @ b - X @ b) ** 2).sum()) / 40
    assert exact.se == exact.predictive_se == 0.0
    predictive = np.trace(H) + 20 * (variance_new - np.trace(H @ H) / 40)
    assert exact.predictive == pytest.approx(predictive, rel=0.02)  # 40,000 new rows
    optimism = error_new - error_fit + 2 * np.trace(H) / 40
    assert exact.optimism == pytest.approx(optimism, rel=0.02)
    given = {"X_new": X_NEW, "mu": lambda X: X @ b, "sigma": 1.5}
    truth = prediction_df(Ridge(lam), X, **given)
    found = prediction_df(Ridge(lam), X, **given, **MONTE_CARLO)
    for name in ("predictive", "emergent", "intrinsic", "optimism", "prediction_error"):
        assert within(found, name, getattr(truth, name))
    assert truth.emergent > truth.intrinsic  # bias counts
    vectors = prediction_df(Ridge(lam), X, X_NEW, mu=X @ b, mu_new=X_NEW @ b, sigma=1.5)
    assert vectors.emergent == pytest.approx(truth.emergent)


@pytest.mark.parametrize(
    "fit", [Lasso(20.0), DecisionTreeRegressor(max_depth=2), Earth(engine="native")], ids=str
)
def test_new_rows_that_are_the_old_ones(fit):
    """The optimism is the classical one then, in all measures."""
    found = prediction_df(fit, X, X, mu=X[:, 0], n_rep=20, random_state=1)
    plain = degrees_of_freedom(
        fit, X, mu=X[:, 0], n_rep=20, random_state=1, variance_reduction=None
    )
    assert isinstance(found, RandomXDegreesOfFreedom)
    assert found.df == pytest.approx(plain.df, rel=1e-9)
    assert found.predictive == pytest.approx(found.df, rel=1e-9)
    assert found.optimism == pytest.approx(2 * found.df / 40, rel=1e-9)


def test_at_the_fit_and_with_a_frame():
    names = list("abcd")
    frame, new = pd.DataFrame(X, columns=names), pd.DataFrame(X_NEW, columns=names)
    y = X[:, 0] + RNG.normal(size=40)
    tree = DecisionTreeRegressor(max_depth=2)
    found = prediction_df(tree, frame, new, y=y, mu="fitted", n_rep=20, draws=RDraws(1))
    assert found.settings["mu"] == "fitted" and found.emergent != found.intrinsic
    assert found.to_frame()["quantity"].tolist()[:2] == ["df", "predictive"]
    lower, upper = found.interval("emergent")
    assert lower < found.emergent < upper
    again = prediction_df(tree, frame, new, y=y, mu="fitted", n_rep=20, draws=RDraws(1), n_jobs=2)
    assert again.to_dict()["intervals"] == found.to_dict()["intervals"]


@pytest.mark.parametrize("fit", [RegressionTree(depth=2), DecisionTreeRegressor(max_depth=2, random_state=0)],
                         ids=["ours", "scikit-learn"])  # fmt: skip
def test_a_tree_against_its_errors(fit):
    """The optimism by its definition: the error of fresh responses at new rows less that of the data."""
    rng, each = np.random.default_rng(21), []
    mu, mu_new = 2 * np.maximum(X[:, 0], 0), 2 * np.maximum(X_NEW[:, 0], 0)
    for _ in range(1000):
        y, y_new = mu + rng.normal(size=40), mu_new + rng.normal(size=60)
        model = fit.fit(X, y)
        errors = [((a - model.predict(b)) ** 2).mean() for a, b in ((y, X), (y_new, X_NEW))]
        each.append(errors[1] - errors[0])
    found = prediction_df(
        fit,
        X,
        X_NEW,
        mu=lambda rows: 2 * np.maximum(rows[:, 0], 0),
        n_rep=500,
        random_state=5,
    )
    error = np.hypot(found.optimism_se, np.std(each) / np.sqrt(len(each)))
    assert abs(found.optimism - np.mean(each)) < 3 * error < 0.15 * np.mean(each)


def test_a_pipeline_fills_what_is_missing():
    """With an imputation, gaps are the pipeline's own concern in old and new rows."""
    holes, new = X.copy(), X_NEW.copy()
    holes[3, 1] = new[5, 2] = np.nan
    pipeline = make_pipeline(SimpleImputer(), LinearRegression())
    found = prediction_df(pipeline, holes, new)
    filled = SimpleImputer().fit(holes)
    same = prediction_df(LinearRegression(), filled.transform(holes), filled.transform(new))
    assert found.df == pytest.approx(5) and found.predictive == pytest.approx(same.predictive)
    with pytest.raises(InvalidInputError, match="X_new has missing"):
        prediction_df(LinearRegression(), X, new)


def test_equivalent_predictors_invert_the_optimism():
    k = np.linspace(-5, 48, 20)
    assert equivalent_predictors(k / 50 + k / (49 - k), 50) == pytest.approx(k)
    assert equivalent_predictors(1e9, 50) == pytest.approx(49)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X_new": X_NEW[:, :2]}, "it should have the 4 columns of X"),
        ({"X_new": 50}, "rows, or a function that draws them"),
        ({"X_new": X_NEW, "mu": X[:, 0]}, "mu_new should be given for the 60 new rows"),
        (
            {"X_new": X_NEW, "sigma": np.ones(40)},
            "new rows have no standard deviation of their own",
        ),
        ({"X_new": X_NEW, "y": X[:, 0]}, "unless mu='fitted'"),
        ({"X_new": X_NEW, "method": "exact", "procedure": Lasso(1.0)}, "is not linear"),
        ({"X_new": X_NEW, "procedure": lambda X, y: y}, "able to predict at new rows"),
    ],
)
def test_what_is_refused(arguments, message):
    arguments = {"procedure": SQUARES, "X": X} | arguments
    with pytest.raises(InvalidInputError, match=message):
        prediction_df(arguments.pop("procedure"), arguments.pop("X"), **arguments)
