"""Classes and counts: covariance penalties against all responses there are, and against R's bootstrap."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom, poisson
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, PoissonRegressor, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pyearthdof import EarthClassifier, df_report, family_df
from pyearthdof.exceptions import InvalidInputError, MissingClassWarning
from pyearthdof.results import FamilyDegreesOfFreedom
from tests.support.rscript import needs_rscript, run_r

RNG = np.random.default_rng(1)
X = RNG.normal(size=(50, 3))


def by_enumeration(fit, X, mu, loss="deviance") -> float:
    """The sum of cov(lambda_ik, y_ik) over all K^n responses; mu are the K probabilities of each row."""
    n, n_classes = mu.shape
    clip, rows, moments = 1 / (2 * n), np.arange(n), np.zeros((3, n, n_classes))
    for y in itertools.product(range(n_classes), repeat=n):
        y = np.array(y)
        p = np.zeros(mu.shape)
        if y.min() == y.max():
            p[:, y[0]] = 1
        else:
            p[:, np.unique(y)] = fit.fit(X, y).predict_proba(X)
        lam = {
            "deviance": np.log(np.clip(p, clip, 1 - clip)),
            "squared": p / 2,
            "counting": np.eye(n_classes)[p.argmax(axis=1)] / 2,
        }[loss]
        lam = lam - lam[:, :1]
        hot = np.eye(n_classes)[y]
        moments += mu[rows, y].prod() * np.array([lam * hot, lam, hot])
    return float((moments[0] - moments[1] * moments[2]).sum())


def counts_by_enumeration(fit, X, mu, most: int = 11) -> float:
    """The sum of cov(log muhat_i, y_i) over all counts up to `most`; beyond there is next to nothing."""
    n = len(mu)
    clip, chances, moments = 1 / (2 * n), poisson.pmf(np.arange(most + 1), mu[:, None]), 0.0
    for y in itertools.product(range(most + 1), repeat=n):
        y = np.array(y)
        weight = chances[np.arange(n), y].prod()
        if weight > 1e-9:
            fitted = fit.fit(X, y).predict(X) if y.any() else np.zeros(n)
            lam = np.log(np.maximum(fitted, clip))
            moments = moments + weight * np.array([lam * y, lam, y])
    return float((moments[0] - moments[1] * moments[2]).sum())


class Logistic(ClassifierMixin, BaseEstimator):
    """Ridge-penalised logistic regression by Newton's steps, without intercept: quick on few rows."""

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        beta = np.zeros(X.shape[1])
        for _ in range(25):
            p = 1 / (1 + np.exp(-X @ beta))
            H = X.T @ (X * (p * (1 - p))[:, None]) + np.eye(len(beta))
            beta = beta + np.linalg.solve(H, X.T @ (codes - p) - beta)
        self.beta_ = beta
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-X @ self.beta_))
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[(X @ self.beta_ > 0).astype(int)]


FEW = X[:8, :2]
CHANCE = np.column_stack([1 - np.linspace(0.2, 0.8, 8), np.linspace(0.2, 0.8, 8)])
LEARNERS = [
    Logistic(),
    DecisionTreeClassifier(max_depth=2, random_state=0),
    RandomForestClassifier(3, max_depth=2, random_state=0),
    GradientBoostingClassifier(n_estimators=4, max_depth=1, learning_rate=0.5, random_state=0),
    KNeighborsClassifier(3),
    EarthClassifier(engine="native", minspan=1, endspan=1, glm_l2=0.5),
]
every_response = pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.MissingClassWarning")


@every_response
@pytest.mark.parametrize("fit", LEARNERS, ids=lambda fit: type(fit).__name__)
def test_learners_against_all_responses(fit):
    truth = by_enumeration(fit, FEW, CHANCE)
    found = family_df(fit, FEW, mu=CHANCE[:, 1], n_rep=400, random_state=3)
    assert abs(found.df - truth) < 3 * found.se < 0.25 * truth
    assert isinstance(found, FamilyDegreesOfFreedom) and found.optimism == 2 * found.df


@every_response
@pytest.mark.parametrize("loss", ["squared", "counting"])
@pytest.mark.parametrize("fit", LEARNERS[:2], ids=lambda fit: type(fit).__name__)
def test_other_losses_against_all_responses(fit, loss):
    truth = by_enumeration(fit, FEW, CHANCE, loss)
    found = family_df(fit, FEW, mu=CHANCE[:, 1], loss=loss, n_rep=1000, random_state=3)
    assert abs(found.df - truth) < 3 * found.se < 0.25 * truth


@every_response
@pytest.mark.parametrize("loss", ["deviance", "squared", "counting"])
def test_three_classes_against_all_responses(loss):
    tree, mu = LEARNERS[1], np.tile([0.5, 0.3, 0.2], (5, 1))
    truth = by_enumeration(tree, FEW[:5], mu, loss)
    found = family_df(tree, FEW[:5], mu=mu, loss=loss, n_rep=1000, random_state=3)
    assert abs(found.df - truth) < 3 * found.se < 0.25 * truth


@every_response
def test_at_the_fit_against_all_responses():
    """The mean is the fit to y, no probability of it below 1/(2n): the parametric bootstrap."""
    tree, y = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0), [0, 1, 0, 0, 1, 1, 0, 1]
    mean = np.clip(tree.fit(FEW, y).predict_proba(FEW), 1 / 16, 1 - 1 / 16)
    truth = by_enumeration(tree, FEW, mean)
    found = family_df(tree, FEW, y=y, mu="fitted", n_rep=600, random_state=3)
    report = df_report(tree, FEW, y, n_rep=600, random_state=3)
    assert abs(found.df - truth) < 3 * found.se < 0.25 * truth and report.df == found.df


@pytest.mark.parametrize(
    "fit",
    [
        DecisionTreeRegressor(max_depth=1, criterion="poisson", random_state=0),
        GradientBoostingRegressor(n_estimators=3, max_depth=1, random_state=0),
    ],
    ids=lambda fit: type(fit).__name__,
)
def test_counts_against_all_responses(fit):
    mu = np.array([0.5, 1.0, 2.0])
    truth = counts_by_enumeration(fit, FEW[:3], mu)
    found = family_df(fit, FEW[:3], mu=mu, family="poisson", n_rep=1000, random_state=3)
    assert abs(found.df - truth) < 3 * found.se < 0.25 * truth


def test_a_share_has_its_closed_form():
    """The same probability for all: n cov(logit(share), share), the share binomial."""
    n, p = 50, 0.3
    k = np.arange(n + 1)
    share = np.clip(k / n, 1 / (2 * n), 1 - 1 / (2 * n))
    w = binom.pmf(k, n, p)
    logit = np.log(share / (1 - share))
    truth = float((w * logit * k).sum() - (w * logit).sum() * (w * k).sum())
    found = family_df(DummyClassifier(), X, mu=p, n_rep=400, random_state=0)
    assert abs(found.df - truth) < 3 * found.se
    assert truth == pytest.approx(1, abs=0.1)  # one parameter


def test_a_mean_count_has_its_closed_form():
    n, m = 50, 1.5
    k = np.arange(400)
    w, logs = poisson.pmf(k, n * m), np.log(np.maximum(k / n, 1 / (2 * n)))
    truth = float((w * logs * k).sum() - (w * logs).sum() * (w * k).sum())
    found = family_df(DummyRegressor(), X, mu=m, family="poisson", n_rep=400, random_state=0)
    assert abs(found.df - truth) < 3 * found.se and truth == pytest.approx(1, abs=0.05)
    squared = family_df(
        DummyRegressor(), X, mu=m, family="poisson", loss="squared", n_rep=400, random_state=0
    )
    assert abs(squared.df - m) < 3 * squared.se  # n cov(ybar, y_i) = m


@needs_rscript
def test_logistic_regression_against_rs_bootstrap():
    """R's glm refitted to binomial responses around its mean, the same covariance with R's draws."""
    rows, mu = X[:40, :2], 1 / (1 + np.exp(-X[:40, 0]))
    theirs = run_r(
        """
        set.seed(7)
        Y <- matrix(rbinom(40 * 600, 1, mu), 40)
        theta <- apply(Y, 2, function(y) {
          p <- suppressWarnings(glm(y ~ X, family = binomial)$fitted.values)
          p <- pmin(pmax(p, 1/80), 1 - 1/80)
          log(p / (1 - p))
        })
        each <- colSums((Y - rowMeans(Y)) * (theta - rowMeans(theta)))
        out <- list(df = sum(each) / 599, se = sd(each) / sqrt(600))
        """,
        X=rows,
        mu=mu,
    )
    ours = family_df(
        LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000),
        rows,
        mu=mu,
        n_rep=300,
        random_state=2,
    )
    assert abs(ours.df - theirs["df"].item()) < 3 * np.hypot(ours.se, theirs["se"].item())


def test_three_classes_are_two_log_odds():
    table = np.tile([0.5, 0.3, 0.2], (50, 1))
    found = family_df(DummyClassifier(), X, mu=table, n_rep=400, random_state=0)
    assert abs(found.df - 2) < 3 * found.se + 0.1
    assert found.per_observation.shape == (50,)


def test_two_classes_are_the_same_by_columns():
    half = {"n_rep": 30, "random_state": 0}
    tree = DecisionTreeClassifier(max_depth=2)
    one = family_df(tree, X, mu=0.4, **half)
    two = family_df(tree, X, mu=np.tile([0.6, 0.4], (50, 1)), **half)
    assert one.df == two.df


@pytest.mark.parametrize(
    "fit",
    [DecisionTreeClassifier(max_depth=2), GradientBoostingClassifier(n_estimators=3),
     EarthClassifier(engine="native")],
    ids=lambda fit: type(fit).__name__,
)  # fmt: skip
def test_at_the_fit_with_any_labels(fit):
    y = np.where(X[:, 0] + RNG.normal(size=50) > 0, "yes", "no")
    found = family_df(fit, X, y=y, mu="fitted", n_rep=15, random_state=0)
    assert found.df > 1 and found.family == "bernoulli" and found.se > 0
    again = family_df(fit, X, y=y, mu="fitted", n_rep=15, random_state=0)
    assert again.df == found.df


def test_counts_at_the_fit():
    y = RNG.poisson(np.exp(X[:, 0] / 2))
    found = family_df(
        PoissonRegressor(alpha=0.0),
        X,
        y=y,
        mu="fitted",
        family="poisson",
        n_rep=100,
        random_state=0,
    )
    assert abs(found.df - 4) < 4 * found.se


def test_a_missing_class_is_said():
    with pytest.warns(MissingClassWarning, match=r"of 40 responses that were drawn lack a class"):
        found = family_df(LogisticRegression(), X[:6], mu=0.05, n_rep=40, random_state=0)
    assert 0 < found.n_missing < 40 and np.isfinite(found.df)


def test_a_drawn_design():
    found = family_df(DummyClassifier(), (30, 2), n_rep=60, random_state=0)
    assert found.n_designs == 20 and abs(found.df - 1) < 3 * found.se + 0.1


@pytest.mark.parametrize(
    ("fit", "arguments", "message"),
    [
        (DummyClassifier(), {"family": "poisson"}, "None or 'bernoulli' for the classifier"),
        (DummyRegressor(), {"family": "bernoulli"}, "is no classifier"),
        (DummyRegressor(), {"loss": "deviance"}, "'poisson', or degrees_of_freedom for"),
        (DummyClassifier(), {"y": np.zeros(50)}, "unless mu='fitted'"),
        (RidgeClassifier(), {}, "has no predict_proba"),
        (DummyClassifier(), {"mu": 1.5}, "probabilities"),
        (DummyClassifier(), {"mu": "fitted"}, "given with y"),
        (DummyClassifier(), {"mu": "fitted", "y": np.zeros(50)}, "of two classes or more"),
        (DummyRegressor(), {"family": "poisson", "mu": -1.0}, "a positive mean"),
        (DummyRegressor(), {"family": "poisson", "loss": "counting"}, "'deviance' or 'squared'"),
        (DummyRegressor(), {"family": "poisson", "mu": "fitted", "y": X[:, 0]}, "whole numbers"),
    ],
)
def test_what_is_refused(fit, arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        family_df(fit, X, **arguments)


def test_wrong_classes_without_probabilities():
    found = family_df(RidgeClassifier(), X, loss="counting", n_rep=20, random_state=0)
    assert found.df > 0
