"""Earth(monotone=...) and Earth(interactions=...)."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from pyearthdof import Earth, EarthClassifier, degrees_of_freedom
from pyearthdof.datasets import load_ozone
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.engines.native.monotone import slope_rows
from tests.support.rscript import needs_rscript, run_r

OZONE = load_ozone()
X, Y = OZONE.drop(columns="O3"), OZONE["O3"].to_numpy()


def steps(model, column, of="predict"):
    """Differences of the predictions along a column, from far below its range to far above."""
    low, high = X[column].min() - 100, X[column].max() + 100
    rows = pd.concat([X.median().to_frame().T] * 2001, ignore_index=True)
    rows[column] = np.linspace(low, high, 2001)
    values = model.predict(rows, type="link") if of == "predict" else model.decision_function(rows)
    return np.diff(values)


@pytest.mark.parametrize("monotone", [{"temp": 1}, {"temp": -1}, {"doy": 1, "vis": 1, "wind": -1}])
@pytest.mark.parametrize(
    "options", [{}, {"degree": 2}, {"pmethod": "none"}, {"linpreds": ["temp", "doy"]}]
)
def test_all_slopes_have_the_sign(monotone, options):
    model = Earth(monotone=monotone, **options).fit(X, Y)
    for column, sign in monotone.items():
        assert (sign * steps(model, column)).min() > -1e-10
        alone = model.dirs_[:, list(X).index(column)] != 0
        assert (np.count_nonzero(model.dirs_[alone], axis=1) == 1).all()
        assert (sign * model.predict_deriv(X, column, type="link")).min() >= 0  # knots included
    np.testing.assert_allclose(model.predict(X), model.fitted_values_, atol=1e-10)
    assert model.rss_ == pytest.approx(((Y - model.fitted_values_) ** 2).sum(), rel=1e-10)
    assert (np.diff(model.rss_per_subset_) <= 1e-9 * model.rss_per_subset_[0]).all()


def test_a_constraint_that_does_not_bind_changes_nothing():
    x = np.linspace(0, 1, 101)[:, None]
    y = np.maximum(x[:, 0] - 0.5, 0)
    model, free = Earth(monotone={0: 1}).fit(x, y), Earth(engine="native").fit(x, y)
    assert model.terms_ == free.terms_
    np.testing.assert_allclose(model.term_coef_, free.term_coef_, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_coefficients_solve_the_quadratic_programme(weighted):
    weights = np.linspace(1, 4, len(Y)) if weighted else None
    signs = {"temp": -1, "ibt": -1, "doy": 1}
    model = Earth(monotone=signs, pmethod="none").fit(X, Y, weights)
    pairs = [(list(X).index(name), sign) for name, sign in signs.items()]
    slopes = slope_rows(model.dirs_, model.cuts_, pairs)
    root = np.ones(len(Y)) if weights is None else np.sqrt(weights)
    q, r = np.linalg.qr(model.bx_ * root[:, None])
    target, constraint = q.T @ (root * Y), slopes @ np.linalg.inv(r)
    best = minimize(
        lambda u: 0.5 * ((u - target) ** 2).sum(), np.zeros(len(target)), jac=lambda u: u - target,
        constraints={"type": "ineq", "fun": lambda u: constraint @ u, "jac": lambda u: constraint},
        method="SLSQP", options={"maxiter": 2000, "ftol": 1e-14},
    )  # fmt: skip
    np.testing.assert_allclose(r @ model.term_coef_, best.x, atol=1e-4)
    assert model.rss_ <= 2 * best.fun + (root * Y) @ (root * Y) - target @ target + 1e-6


def test_linear_predictors_of_generalised_models_are_monotone():
    counts = Earth(monotone={"temp": -1, "doy": 1}, glm_family="poisson").fit(X, Y)
    assert steps(counts, "temp").max() < 1e-10 and steps(counts, "doy").min() > -1e-10
    classes = EarthClassifier(monotone={"temp": 1, "vis": -1}, glm_l2=1).fit(X, Y > 12)
    assert steps(classes, "temp", "classes").min() > -1e-10
    assert steps(classes, "vis", "classes").max() < 1e-10


def test_slopes_of_nearly_dependent_terms_have_the_sign():
    """Counts that are nearly all zero, on two columns that are nearly the same."""
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"z": rng.normal(size=400), "t": rng.standard_t(2, 400)})
    x["near"] = x["z"] + 1e-3 * rng.normal(size=400)
    y = np.round(np.exp(np.clip(x.z - x.t - 4 + rng.normal(size=400), -3, 4)))
    signs = {"z": 1, "t": -1, "near": 1}
    options = {"minspan": 1, "endspan": 1, "nk": 41, "thresh": 1e-6, "pmethod": "none"}
    for family in ("poisson", None):
        model = Earth(monotone=signs, glm_family=family, **options).fit(x, y)
        pairs = [(list(x).index(name), sign) for name, sign in signs.items()]
        slopes = slope_rows(model.dirs_, model.cuts_, pairs)
        assert (slopes @ model.term_coef_).min() >= 0
        assert family is None or (slopes @ model.glm_coef_.ravel()).min() >= 0
        assert min((sign * model.predict_deriv(x, name)).min() for name, sign in signs.items()) >= 0


def test_the_rest_of_a_monotone_model():
    model = Earth(monotone={"temp": -1}, nfold=3, random_state=1, keepxy=True).fit(X, Y)
    assert steps(model.reprune(nprune=5), "temp").max() < 1e-10
    loaded = Earth.from_json(model.to_json())
    assert loaded.monotone == {"temp": -1}
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    by_index = Earth(monotone={list(X).index("temp"): -1}).fit(X, Y)
    again = Earth.from_json(by_index.to_json())
    assert again.monotone == by_index.monotone and again.fit(X, Y).model_ == by_index.model_
    formula = Earth.from_formula("O3 ~ .", OZONE, monotone={"temp": -1})
    assert formula.terms_ == Earth(monotone={"temp": -1}).fit(X, Y).terms_
    found = degrees_of_freedom(Earth(monotone={"x1": 1}), (40, 2), n_rep=20, random_state=1)
    free = degrees_of_freedom(Earth(engine="native"), (40, 2), n_rep=20, random_state=1)
    assert found.df < free.df


GROUPS = [("temp", "wind"), ("temp", "humidity", "doy"), ("ibh", "vis")]
AS_ALLOWED = """
groups <- list(c("temp", "wind"), c("temp", "humidity", "doy"), c("ibh", "vis"))
allowed <- function(degree, pred, parents, namesx, first) {
  used <- c(namesx[parents != 0], namesx[pred])
  pairs <- if (length(used) > 1) combn(used, 2, simplify = FALSE) else list()
  all(vapply(pairs, function(pair) any(vapply(groups, function(g) all(pair %in% g), TRUE)), TRUE))
}
"""


@needs_rscript
@pytest.mark.parametrize("engine", ["native", pytest.param("r", marks=pytest.mark.needs_r)])
@pytest.mark.parametrize("degree", [2, 3])
def test_groups_of_interactions_are_allowed_in_r(engine, degree):
    r = run_r(
        AS_ALLOWED + "colnames(x) <- strsplit(names, ' ')[[1]]\n"
        "fit <- earth(x, y, degree = degree, allowed = allowed)\n"
        "out <- list(terms = rownames(fit$coefficients), coef = fit$coefficients[, 1])",
        packages=("earth",), x=X.to_numpy(float), y=Y, names=" ".join(X), degree=degree,
    )  # fmt: skip
    model = Earth(degree=degree, interactions=GROUPS, engine=engine).fit(X, Y)
    assert list(model.terms_) == list(r["terms"])
    np.testing.assert_allclose(model.term_coef_, r["coef"], rtol=1e-10)
    assert max(np.count_nonzero(model.dirs_, axis=1)) > 1


def test_no_groups_are_an_additive_model():
    model = Earth(degree=3, interactions=[], engine="native").fit(X, Y)
    assert max(np.count_nonzero(model.dirs_, axis=1)) == 1
    raw = X.assign(season=np.where(np.arange(len(X)) % 2, "odd", "even"))
    y = Y + 0.5 * X.temp * (raw.season == "odd")
    model = Earth(degree=2, interactions=[("season", "temp")], engine="native").fit(raw, y)
    several = [term for term in model.terms_ if "*" in term]
    assert several and all("season" in term and "temp" in term for term in several)
    many = Earth(degree=2, interactions=[(0, 3)]).fit_many(X, Y[:, None])
    single = Earth(degree=2, interactions=[(0, 3)], engine="native").fit(X, Y)
    np.testing.assert_allclose(many.fitted[:, 0], single.fitted_values_, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"monotone": {"tmp": 1}}, "monotone names 'tmp', which is not a column of X"),
        ({"monotone": {"temp": 2}}, "None or a dictionary of columns and 1 or -1"),
        ({"monotone": "temp"}, "None or a dictionary of columns and 1 or -1"),
        ({"monotone": {"temp": 1, 3: 1}}, "it should have each column once"),
        ({"monotone": {"temp": 1}, "engine": "r"}, "needs engine='native'"),
        ({"monotone": {"temp": 1}, "pmethod": "exhaustive"}, "'backward' or 'none' with monotone"),
        ({"interactions": "temp"}, "None or a list of groups"),
        ({"interactions": [("temp",)]}, "None or a list of groups"),
        ({"interactions": [("temp", "x")]}, "interactions names 'x'"),
        ({"interactions": [], "allowed": lambda *a: True}, "give one of them"),
    ],
)
def test_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        Earth(**options).fit(X, Y)
    with pytest.raises(InvalidInputError, match="with several responses"):
        Earth(monotone={"temp": 1}).fit(X, np.column_stack([Y, Y]))
