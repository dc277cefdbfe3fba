"""The report about an estimator: its numbers by hand, what it holds, how it prints."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingClassifier, StackingRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    ElasticNetCV,
    LassoCV,
    LassoLarsIC,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    OrthogonalMatchingPursuitCV,
    PoissonRegressor,
    RidgeCV,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from pyearthdof import (
    AutoEarth,
    CorrectedEarth,
    Earth,
    aic,
    bic,
    degrees_of_freedom,
    df_report,
    gcv,
)
from pyearthdof.datasets import load_airquality
from pyearthdof.dof.pipeline.df_report import page_of
from pyearthdof.dof.pipeline.fixed_choices import choices_of, with_all_held
from pyearthdof.exceptions import FittingError, InvalidInputError

RNG = np.random.default_rng(4)
X = RNG.normal(size=(50, 8))
y = X[:, 0] + RNG.normal(size=50)
SELECT = make_pipeline(SelectKBest(f_regression, k=2), LinearRegression())
QUIET = {"n_rep": 15, "random_state": 3}


def named(report) -> dict:
    return {measure.name: measure for measure in report.measures}


def test_the_numbers_of_a_regression_by_hand():
    report = df_report(SELECT, X, y, **QUIET)
    fitted, n = SELECT.fit(X, y).predict(X), 50
    rss, tss = ((y - fitted) ** 2).sum(), ((y - y.mean()) ** 2).sum()
    found = named(report)
    assert report.naive_df == 3
    optimism = 2 * report.sigma**2 * report.df / n
    assert found["optimism"].honest == pytest.approx(optimism)
    assert found["optimism"].se == pytest.approx(2 * report.sigma**2 * report.se / n)
    assert found["mean squared error"].honest == pytest.approx(rss / n + optimism)
    assert found["R2"].naive == pytest.approx(1 - rss / tss)
    null = tss / n + 2 * report.sigma**2 / n
    assert found["R2"].honest == pytest.approx(1 - (rss / n + optimism) / null)
    for name, rule in {"AIC": aic, "BIC": bic}.items():
        assert found[name].naive == pytest.approx(rule(y, fitted, 3))
        assert found[name].honest == pytest.approx(rule(y, fitted, report.df))
    assert found["GCV"].honest == pytest.approx(gcv(y, fitted, report.df, per_observation=True))
    assert report.sigma**2 == pytest.approx(rss / (n - report.found.settings["sigma_df"]))


def test_the_df_are_those_of_degrees_of_freedom():
    report = df_report(SELECT, X, y, sigma=1.0, **QUIET)
    alone = degrees_of_freedom(SELECT, X, y=y, mu="fitted", sigma=1.0, n_rep=15, random_state=3)
    assert (report.df, report.se) == (alone.df, alone.se)
    assert (report.lower, report.upper) == alone.interval()


def test_a_price_is_what_holding_the_choice_saves():
    """Least squares on the two columns that were chosen has exactly three degrees of freedom."""
    report = df_report(SELECT, X, y, sigma=1.0, n_rep=200, random_state=1)
    price = report.prices[0]
    assert price.step == "selectkbest" and price.what == "2 of 8 columns, by SelectKBest"
    assert abs(price.price - (report.df - 3)) < 3 * report.se
    assert price.se < report.se  # the same draws
    assert report.fixed_df == pytest.approx(3.0)


def test_prices_add_up_for_all_together():
    pipeline = make_pipeline(SelectKBest(f_regression, k=4), LassoCV(cv=3, alphas=[0.05, 0.2, 0.5]))
    report = df_report(pipeline, X, y, **QUIET)
    names = [price.step for price in report.prices]
    assert names == ["selectkbest", "lassocv", "all of these", "the fit itself"]
    total = report.prices[2].price + report.prices[3].price + report.fixed_df
    assert total == pytest.approx(report.df)
    without = df_report(pipeline, X, y, prices=False, **QUIET)
    assert without.prices == () and without.df == report.df
    assert without.n_fits < report.n_fits


def test_a_linear_fit_is_exact():
    report = df_report(KNeighborsRegressor(5), X, y)
    assert (
        report.df == pytest.approx(report.naive_df) == 10.0
        and report.se == 0.0
        and report.n_rep == 0
    )
    assert "exact" in repr(report) and report.prices == ()


def test_mars_pays_for_its_terms():
    model = Earth(engine="native").fit(X, y)
    report = df_report(Earth(engine="native"), X, y, **QUIET)
    assert report.naive_df == model.nominal_df_
    [price] = report.prices
    assert price.df_held == model.n_terms_ and "its terms" in price.what


@pytest.mark.parametrize("steps", [(), (StandardScaler(),)])
def test_mars_of_a_chosen_size_counts_with_the_default_penalty(steps):
    """earth counts nothing under the penalty -1, with which a size is fitted."""
    chosen = AutoEarth(degrees=(2,), n_models=1, n_rep=5, random_state=0)
    report = df_report(make_pipeline(*steps, chosen) if steps else chosen, X, y, **QUIET)
    r = clone(chosen).fit(StandardScaler().fit_transform(X) if steps else X, y).n_terms_
    assert r > 1 and report.naive_df == r + 3 * (r - 1) / 2
    assert report.df > 1 and report.se > 0


@pytest.mark.parametrize("steps", [(), (StandardScaler(),)])
def test_mars_with_the_corrected_penalty_counts_with_that_penalty(steps):
    corrected = CorrectedEarth(n_rep=5, random_state=0)
    report = df_report(make_pipeline(*steps, corrected) if steps else corrected, X, y, **QUIET)
    fit = clone(corrected).fit(StandardScaler().fit_transform(X) if steps else X, y)
    assert report.naive_df == fit.estimator_.nominal_df_ > 1
    assert report.df > 1 and report.se > 0


def test_a_mean_of_models_has_no_naive_count():
    """It is no projection on its terms, which are those of all models."""
    mean = AutoEarth(degrees=(1,), n_models=3, n_rep=5, random_state=0)
    report = df_report(mean, X, y, n_rep=10, random_state=0)
    assert report.naive_df is None and report.fixed_df is None and report.prices == ()
    assert 1 <= report.df < clone(mean).fit(X, y).n_terms_ + 5
    assert degrees_of_freedom(mean, X, n_rep=5, random_state=0).trace is None


def test_stacking_has_predict_after_its_fit_alone():
    parts = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=1))]
    report = df_report(StackingRegressor(parts, cv=2), X, y, n_rep=8, random_state=0)
    assert report.naive_df is None and report.df > 1
    assert degrees_of_freedom(StackingRegressor(parts, cv=2), X, n_rep=5).trace is None
    stack = StackingClassifier([("line", LogisticRegression())], cv=2)
    assert df_report(stack, X, y > 0, n_rep=5, random_state=0).family == "bernoulli"


@pytest.mark.parametrize("pca", [PCA(2), PCA(2, svd_solver="randomized", random_state=0)])
def test_least_squares_on_principal_components_is_exact(pca):
    report = df_report(make_pipeline(pca, LinearRegression()), X, y)
    assert (report.df, report.naive_df) == (pytest.approx(3.0), 3)
    assert report.n_rep == 0 and report.prices == ()


def test_a_function():
    def line(X, y):
        return LinearRegression().fit(X, y).predict(X)

    report = df_report(line, X, y, sigma=1.0, n_rep=60, random_state=0)
    assert report.df == pytest.approx(9.0) and report.naive_df is None
    assert report.title.endswith("line") and report.prices == ()
    assert named(report)["AIC"].naive is None
    assert named(report)["mean squared error"].naive == pytest.approx(
        ((y - line(X, y)) ** 2).mean()
    )


def test_a_search_over_a_pipeline():
    grid = GridSearchCV(make_pipeline(SelectKBest(f_regression), DecisionTreeRegressor(max_depth=1)),
                        {"selectkbest__k": [1, 3]}, cv=2)  # fmt: skip
    report = df_report(grid, X, y, n_rep=5, random_state=0)
    assert [price.step for price in report.prices] == [
        "GridSearchCV",
        "all of these",
        "the fit itself",
    ]
    assert report.prices[0].what.startswith("selectkbest__k = ")
    assert report.naive_df == 2


@pytest.mark.parametrize(
    ("search", "name"),
    [
        (RidgeCV([0.1, 10.0]), "alpha"),
        (LassoCV(cv=2, alphas=[0.1, 0.3]), "alpha"),
        (LassoLarsIC(), "alpha"),
        (ElasticNetCV(cv=2, alphas=[0.1, 0.3], l1_ratio=[0.5, 1.0]), "l1_ratio"),
        (OrthogonalMatchingPursuitCV(cv=2), "n_nonzero_coefs"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_held_parameter_gives_the_same_fit(search, name):
    """On the data themselves holding what was chosen changes nothing."""
    model = search.fit(X, y)
    [choice] = choices_of(search, model)
    assert choice.held.fit(X, y).predict(X) == pytest.approx(model.predict(X), abs=1e-6)
    assert name in choice.held.get_params()


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"class_weight": "balanced"},
        {"l1_ratios": [0.3, 1.0], "solver": "saga", "max_iter": 5000, "tol": 1e-6},
    ],
    ids=lambda more: next(iter(more), "plain"),
)
def test_a_held_classifier_gives_the_same_fit(more):
    classes = np.where(y > 0.5, "a", "b")
    search = LogisticRegressionCV(cv=2, Cs=[0.3, 1.0], scoring="neg_log_loss", **more).fit(
        X, classes
    )
    held, count = with_all_held(search, search)
    assert count == 1
    assert held.fit(X, classes).predict_proba(X) == pytest.approx(search.predict_proba(X), abs=1e-3)


INNER = make_pipeline(SelectKBest(f_regression, k=4), LassoCV(cv=2, alphas=[0.05, 0.2]))


@pytest.mark.parametrize(
    ("estimator", "title"),
    [
        (make_pipeline(StandardScaler(), INNER), "StandardScaler -> SelectKBest -> LassoCV"),
        (TransformedTargetRegressor(INNER), "TransformedTargetRegressor of SelectKBest -> LassoCV"),
    ],
    ids=["pipeline", "response"],
)
def test_choices_of_a_pipeline_inside(estimator, title):
    """They are found, and on the data themselves holding them changes nothing."""
    model = clone(estimator).fit(X, y)
    choices = choices_of(estimator, model)
    assert [choice.step for choice in choices] == ["selectkbest", "lassocv"]
    held, count = with_all_held(estimator, model)
    assert count == 2
    for one in (*(choice.held for choice in choices), held):
        assert one.fit(X, y).predict(X) == pytest.approx(model.predict(X), abs=1e-8)
    assert df_report(estimator, X, y, prices=False, **QUIET).title == title


def test_a_fit_that_is_linear_once_it_is_held_finds_nothing_itself():
    report = df_report(RidgeCV([0.1, 10.0, 50.0]), X, y, **QUIET)
    assert [price.step for price in report.prices] == ["RidgeCV"]
    assert report.prices[0].df_held == pytest.approx(report.fixed_df)
    assert report.prices[0].se <= report.se


def test_one_of_three_classes_has_no_parameters_of_its_own():
    classes = np.digitize(y, [-0.5, 0.5])
    report = df_report(LogisticRegression(), X, classes, prices=False, **QUIET)
    assert report.naive_df == 2 * 9


def test_classes():
    classes = np.where(y > 0, "high", "low")
    logistic = LogisticRegression(C=1.0)
    report = df_report(logistic, X, classes, n_rep=40, random_state=0)
    model = logistic.fit(X, classes)
    chosen = model.predict_proba(X)[np.arange(50), (classes == "low").astype(int)]
    found = named(report)
    assert found["deviance"].naive == pytest.approx(-2 * np.log(np.clip(chosen, 0.01, 0.99)).sum())
    assert found["AIC"].honest == pytest.approx(found["deviance"].naive + 2 * report.df)
    assert found["share of wrong classes"].naive == (model.predict(X) != classes).mean()
    assert found["share of wrong classes"].honest > found["share of wrong classes"].naive
    assert report.family == "bernoulli" and report.sigma is None and report.naive_df == 9


def test_counts():
    counts = RNG.poisson(np.exp(X[:, 0] / 2))
    report = df_report(PoissonRegressor(), X, counts, family="poisson", **QUIET)
    model = PoissonRegressor().fit(X, counts)
    explained = named(report)["explained deviance"]
    assert explained.naive == pytest.approx(model.score(X, counts))
    assert explained.honest < explained.naive


def test_a_missing_class_is_a_note():
    rare = np.array(["common"] * 14 + ["rare"])
    report = df_report(LogisticRegression(), X[:15], rare, n_rep=30, random_state=0)
    assert any(
        re.search(r"A class is missing in \d+ of 30 responses", note) for note in report.notes
    )


def test_a_fit_that_takes_everything_is_a_note():
    tree = DecisionTreeRegressor()
    with pytest.raises(InvalidInputError, match="sigma=None but it should be given"):
        df_report(tree, X, y, **QUIET)
    report = df_report(tree, X, y, sigma=1.0, n_rep=100, random_state=0)
    if report.df >= 49:
        assert any("interpolates the data" in note for note in report.notes)
    exact = df_report(KNeighborsRegressor(1), X, y, sigma=1.0)
    assert exact.df == 50 and any("interpolates the data" in note for note in exact.notes)
    assert " -infinite" in repr(exact)
    assert (
        "infinite" in repr(exact) and exact.to_frame().set_index("quantity").honest["GCV"] == np.inf
    )


def test_errors_of_rounding_are_not_shown():
    report = df_report(DecisionTreeRegressor(random_state=0), X, y, sigma=1.0, **QUIET)
    text = repr(replace(report, df=50.0, se=3e-14))
    assert re.search(r"degrees of freedom +50 +50\n", text)


def test_what_the_estimator_itself_refuses_is_one_sentence():
    words = pd.DataFrame({"a": ["u", "v"] * 25})
    with pytest.raises(
        FittingError, match=r"^the fit to the data failed with ValueError: could not"
    ):
        df_report(LinearRegression(), words, y)


def test_a_real_pipeline_with_holes_and_classes():
    air = load_airquality().dropna(subset="Ozone").astype({"Month": str})
    columns = make_column_transformer(
        (SimpleImputer(), ["Solar.R", "Wind", "Temp"]), (OneHotEncoder(), ["Month"])
    )
    pipeline = make_pipeline(columns, SelectKBest(f_regression, k=4), LinearRegression())
    report = df_report(pipeline, air.drop(columns="Ozone"), np.log(air["Ozone"]), **QUIET)
    assert report.title == "ColumnTransformer -> SelectKBest -> LinearRegression"
    assert [price.step for price in report.prices] == ["selectkbest"]
    assert report.prices[0].what == "4 of 8 columns, by SelectKBest"


def test_it_prints_as_text_frame_html_and_json():
    frame = pd.DataFrame(X, columns=[f"<x{k}>" for k in range(8)])
    report = df_report(
        make_pipeline(SelectKBest(f_regression, k=2), LinearRegression()), frame, y, **QUIET
    )
    text = repr(report)
    assert max(map(len, text.splitlines())) <= 80 and "±" in text and "0x" not in text
    table = report.to_frame()
    assert table["quantity"].tolist()[:2] == ["df", "price of selectkbest"]
    assert table["honest"].iloc[0] == report.df
    assert json.loads(json.dumps(report.to_dict(), default=str))["df"] == report.df
    page = report._repr_html_()
    ET.fromstring(page)  # well-formed
    assert "#000" not in page and "#fff" not in page and "color:inherit" in page
    assert page in page_of(report)


def test_html_is_escaped():
    class Evil(LinearRegression):
        def __repr__(self):
            return "<script>alert('&')</script>"

    page = df_report(Evil(), X, y, **QUIET).to_html()
    assert "<script>" not in page and "&lt;script&gt;" in page
    ET.fromstring(page)


def test_it_says_before_it_starts_how_long_it_takes(capsys):
    df_report(SELECT, X, y, n_rep=5, random_state=0, progress=True)
    said = capsys.readouterr()
    assert said.out == "" and re.match(r"df_report: about \d+ fits of up to \d+ ", said.err)
    assert "with selectkbest held" in said.err


@pytest.mark.parametrize(
    ("estimator", "arguments", "message"),
    [
        (LinearRegression, {}, "an estimator or pipeline with fit and predict"),
        ("mean", {}, r"an estimator or pipeline with fit and predict, or a function \(X, y\)"),
        (LinearRegression(), {"X": (50, 8)}, "the design that y belongs to"),
        (LinearRegression(), {"y": y[:10]}, r"y has shape \(10,\)"),
        (
            LinearRegression(),
            {"y": pd.Series(["a"] * 50)},
            r"^y=<Series of shape \(50,\)> but .* a vector of numbers$",
        ),
        (LogisticRegression(), {"y": np.zeros(50, int)}, "y=0 but it should be of two classes"),
        (LinearRegression(), {"n_rep": 2}, "an integer of 3 or more"),
        (LinearRegression(), {"sigma": np.ones(50)}, "a number or None"),
        (LogisticRegression(), {"y": y > 0, "sigma": 1.0}, "None for the family"),
    ],
)
def test_what_is_refused(estimator, arguments, message):
    arguments = {"X": X, "y": y} | arguments
    with pytest.raises(InvalidInputError, match=message):
        df_report(estimator, **arguments)
