"""CorrectedEarth: an estimator among scikit-learn's, and the penalty of Algorithm 2."""

import sys
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pyearthdof import CorrectedEarth, Earth, EarthClassifier, correct_penalty, degrees_of_freedom
from pyearthdof.datasets import load_ozone

X = np.random.default_rng(0).normal(size=(100, 3))
y = np.abs(X[:, 0]) + X[:, 1] + np.random.default_rng(1).normal(size=100)
WEIGHTS = "earth's case weights are not repetitions of rows"


@parametrize_with_checks(
    [CorrectedEarth(Earth(engine="native"), n_rep=2)],
    expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": WEIGHTS},
)
@pytest.mark.filterwarnings("ignore:no fit added a term")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def native(**options):
    return CorrectedEarth(Earth(engine="native", **options), n_rep=10)


def test_is_the_fit_with_the_measured_penalty():
    model = native(degree=2).fit(X, y)
    found = correct_penalty((100, 3), estimator=Earth(degree=2, engine="native"), n_rep=10)
    by_hand = Earth(degree=2, penalty=found.penalty, engine="native").fit(X, y)
    assert model.correction_.penalty == found.penalty
    assert np.array_equal(model.predict(X), by_hand.predict(X))
    assert model.score(X, y) == by_hand.score(X, y)
    assert (model.terms_, model.penalty_) == (by_hand.terms_, found.penalty)
    assert model.summary() == by_hand.summary()


def test_in_a_pipeline_and_a_search():
    pipeline = make_pipeline(StandardScaler(), native())
    grid = {
        "correctedearth__estimator__degree": [1, 2],
        "correctedearth__design": ["gaussian", "data"],
    }
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    best = search.best_estimator_.named_steps["correctedearth"]
    assert best.estimator_.degree == search.best_params_["correctedearth__estimator__degree"]
    assert not hasattr(clone(best), "correction_")


def test_frames():
    frame = pd.DataFrame(X, columns=list("abc")).assign(
        kind=np.array(["u", "v"])[np.arange(100) % 2]
    )
    model = native().fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b", "c", "kind"]
    assert model.correction_.p == 4


def test_degrees_of_freedom_measure_the_penalty_once():
    options = {"n_rep": 20, "random_state": 1, "variance_reduction": None}
    corrected = degrees_of_freedom(native(), X, **options)
    penalty = native().fit(X, y).correction_.penalty
    plain = degrees_of_freedom(Earth(penalty=penalty, engine="native"), X, **options)
    assert corrected.df == plain.df


@pytest.mark.needs_r
def test_a_classifier():
    model = CorrectedEarth(EarthClassifier(), n_rep=10)
    assert is_classifier(model) and not is_regressor(model)
    model.fit(X, np.where(y > 0, "up", "down"))
    assert list(model.classes_) == ["down", "up"]
    assert model.predict_proba(X).shape == (100, 2)
    assert set(model.predict(X)) == {"down", "up"}
    assert not hasattr(native(), "predict_proba")


def test_an_error_to_reach():
    options = {"target_se": 0.3, "random_state": 2}
    model = CorrectedEarth(Earth(engine="native"), design="data", **options).fit(X, y)
    found = correct_penalty(X, estimator=Earth(engine="native"), **options)
    assert model.correction_.penalty == found.penalty and model.correction_.n_rep == found.n_rep
    assert found.se <= 0.3
    with pytest.warns(UserWarning, match=r"after n_rep=40 repetitions"):
        model.set_params(target_se=1e-3, n_rep=40).fit(X, y)
    assert model.correction_.n_rep == 40


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CorrectedEarth(design="normal").fit(X, y), "design='normal' but it should be"),
        (lambda: CorrectedEarth("earth").fit(X, y), "estimator='earth'"),
        (lambda: CorrectedEarth(n_rep=1).fit(X, y), "n_rep=1"),
        (lambda: CorrectedEarth(target_se=-1).fit(X, y), "target_se=-1 but it should be a finite"),
        (lambda: CorrectedEarth(target_se=1, n_rep=9).fit(X, y), "n_rep=9 .* 30 or more with"),
        (lambda: CorrectedEarth(mu="fitted", target_se=1).fit(X, y), "target_se=1 .* mu='fitted'"),
        (lambda: CorrectedEarth(design="table").fit(X, SEVERAL), "design='table' but it should be"),
        (
            lambda: CorrectedEarth(mu="fitted").fit(X, SEVERAL),
            "y has 2 responses but mu='fitted' takes",
        ),
        (lambda: native().fit(X, np.where(y > 0, np.nan, y)), "y contains NaN"),
        (lambda: native().fit(X, y[:50]), "inconsistent numbers of samples"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


SEVERAL = np.column_stack([y, -y])


@pytest.mark.parametrize(
    ("estimator", "response"),
    [
        (Earth(engine="native"), SEVERAL),
        (Earth(engine="native", glm_family="gaussian"), y),
        (Earth(engine="native", pmethod="none"), y),
        (EarthClassifier(engine="native"), y > 0),
    ],
)
def test_whatever_has_a_penalty_is_corrected(estimator, response):
    model = CorrectedEarth(estimator, n_rep=30).fit(X, response)
    assert model.penalty_ == model.correction_.penalty


def test_many_responses_are_chosen_one_by_one():
    model = CorrectedEarth(Earth(engine="native"), mu="fitted", n_rep=10)
    fits = model.fit_many(X, SEVERAL)
    for k in range(2):
        assert np.array_equal(fits.fitted[:, k], model.fit(X, SEVERAL[:, k]).fitted_values_)


def test_before_fitting():
    with pytest.raises(NotFittedError):
        native().predict(X)
    assert not hasattr(native(), "penalty_")


@pytest.mark.parametrize("mu", [None, "fitted"])
def test_the_data_are_checked_once_for_the_measurement_and_the_fit(mu):
    data = load_ozone()
    X, y = data.drop(columns="O3"), data["O3"]
    calls = Counter()

    def count(frame, event, arg):
        calls[frame.f_code.co_qualname] += event == "call"

    model = CorrectedEarth(Earth(engine="native"), mu=mu, n_rep=20)
    sys.setprofile(count)
    try:
        model.fit(X, y)
    finally:
        sys.setprofile(None)
    once = ["check_design", "Columns.learn", "check_responses", "check_options"]
    assert [calls[name] for name in once] == [1] * len(once)
    assert calls["numbers_by_name"] == 0
