"""Rows outside of the training range, and columns that may not be meant as they are taken."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from pyearthdof import CorrectedEarth, Earth, EarthClassifier, EarthCV
from pyearthdof.exceptions import ColumnWarning, ExtrapolationWarning, InvalidInputError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"x": rng.uniform(0, 1, 90), "f": rng.choice(["a", "b"], 90), "unused": rng.normal(size=90)}
    )
    X.loc[0, "x"], X.loc[1, "x"] = 0.0, 1.0
    return X, 3 * X["x"] + (X["f"] == "b")


@pytest.fixture(scope="module")
def model(data):
    return Earth(engine="native", linpreds=["x"]).fit(*data)


def rows(*x):
    return pd.DataFrame({"x": list(x), "f": "a", "unused": 99.0})


def test_by_default_as_in_r(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(rows(3.0)) == pytest.approx(9)


def test_a_warning_names_the_rows_and_the_range(model):
    with pytest.warns(ExtrapolationWarning) as caught:
        model.predict(rows(0.5, 3.0, -1.0), extrapolate="warn")
    assert caught[0].filename == __file__
    message = str(caught[0].message)
    assert message.startswith(
        "2 of 3 rows of X, the first one row 1, are outside of the training range of 'x' (from 0 to 1)"
    )
    assert "unused" not in message


def test_nothing_is_said_inside(model, data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for how in ("warn", "refuse", "clip"):
            np.testing.assert_array_equal(
                model.predict(data[0], extrapolate=how), model.predict(data[0])
            )


def test_clipped_at_the_ends(model):
    found = model.predict(rows(3.0, -1.0, 0.5), extrapolate="clip")
    np.testing.assert_array_equal(found, model.predict(rows(1.0, 0.0, 0.5)))
    with pytest.raises(InvalidInputError, match=r"2 of 2 rows of X.*and extrapolate='refuse'"):
        model.predict(rows(3.0, -1.0), extrapolate="refuse")
    with pytest.raises(InvalidInputError, match="extrapolate='no' but it should be one of allow"):
        model.predict(rows(3.0), extrapolate="no")


def test_arrays_and_the_data_of_the_caller(model):
    x = np.linspace(0, 1, 50)[:, None]
    array = Earth(engine="native").fit(x, x[:, 0])
    new = np.array([[2.0], [np.nan]])
    found = array.predict(new, extrapolate="clip", missing="propagate")
    assert found[0] == pytest.approx(1) and np.isnan(found[1])
    assert new[0, 0] == 2.0
    frame = rows(3.0)
    model.predict(frame, extrapolate="clip")
    assert frame["x"].tolist() == [3.0]


def test_classifiers_and_formulas(data):
    X, y = data
    noisy = y + np.random.default_rng(1).normal(size=len(y))
    classifier = EarthClassifier(engine="native").fit(X, noisy > 1.5)
    np.testing.assert_array_equal(
        classifier.predict_proba(rows(9.0), extrapolate="clip"), classifier.predict_proba(rows(1.0))
    )
    with pytest.warns(ExtrapolationWarning):
        classifier.predict(rows(9.0), extrapolate="warn")
    formula = Earth.from_formula("y ~ log(x + 1) + f", X.assign(y=y), engine="native")
    with pytest.warns(ExtrapolationWarning, match="'x'"):
        formula.predict(rows(9.0), extrapolate="warn")
    assert formula.predict(rows(9.0), extrapolate="clip") == formula.predict(rows(1.0))


def test_files_of_earlier_releases_say_nothing(model):
    entries = json.loads(model.to_json())
    entries["ranges"] = None
    old = Earth.from_json(json.dumps(entries))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        old.predict(rows(3.0), extrapolate="warn")
    with pytest.raises(InvalidInputError, match="does not keep the ranges of its training rows"):
        old.predict(rows(3.0), extrapolate="clip")


def many_levels():
    return pd.DataFrame({"id": [f"u{k}" for k in range(150)], "x": np.arange(150.0)})


def test_many_levels_are_warned_of():
    X = many_levels()
    with pytest.warns(ColumnWarning, match="column 'id' of X has 150 levels") as caught:
        Earth(engine="native", nk=5).fit(X, X["x"])
    assert caught[0].filename == __file__
    with pytest.warns(ColumnWarning, match="column 'id' of X has 150 levels"):
        Earth.from_formula("y ~ id + x", X.assign(y=X["x"]), engine="native", nk=5)


def test_intervals_that_nobody_ordered():
    x = np.arange(60.0)
    X = pd.DataFrame({"age": pd.cut(x, 4), "x": x})
    with pytest.warns(ColumnWarning, match=r"column 'age' of X is ordered, as returned by pd\.cut"):
        Earth(engine="native").fit(X, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Earth(engine="native").fit(X.assign(age=X["age"].cat.as_unordered()), x)
        Earth(engine="native").fit(
            X.assign(age=pd.Categorical(["a", "b", "c"] * 20, ordered=True)), x
        )


def test_everything_that_a_classifier_predicts(data):
    X, y = data
    model = EarthClassifier(engine="native").fit(X, y + np.sin(9 * X["unused"]) > 2)
    ends = model.model_.ranges.clipped(rows(3.0, -9.0))
    for name in (
        "predict",
        "predict_proba",
        "predict_log_proba",
        "predict_raw_proba",
        "decision_function",
    ):
        predict = getattr(model, name)
        np.testing.assert_array_equal(predict(rows(3.0, -9.0), extrapolate="clip"), predict(ends))
        with pytest.raises(InvalidInputError, match="outside of the training range"):
            predict(rows(3.0), extrapolate="refuse")


@pytest.mark.parametrize("wrapped", ["EarthCV", "CorrectedEarth"])
def test_estimators_that_choose_options_predict_as_their_estimator(data, wrapped):
    X, y = data[0][["x", "unused"]], data[1]
    chosen = {
        "EarthCV": EarthCV(Earth(engine="native"), {"penalty": [2, 3]}, cv=3),
        "CorrectedEarth": CorrectedEarth(Earth(engine="native"), n_rep=5, random_state=0),
    }[wrapped].fit(X, y)
    inner = chosen._chosen()
    new = pd.DataFrame({"x": [3.0, 0.5], "unused": [0.0, np.nan]})
    for options in (
        {"extrapolate": "clip", "missing": "propagate"},
        {"type": "earth", "missing": "propagate"},
    ):
        np.testing.assert_array_equal(chosen.predict(new, **options), inner.predict(new, **options))
    pd.testing.assert_frame_equal(chosen.predict(X, "terms"), inner.predict(X, "terms"))
    with pytest.raises(InvalidInputError, match="outside of the training range"):
        chosen.predict(new, missing="propagate", extrapolate="refuse")
    classes = EarthCV(EarthClassifier(engine="native"), {"penalty": [2, 3]}, cv=3).fit(X, y > 2)
    new = new.fillna(0.0)
    np.testing.assert_array_equal(
        classes.predict_proba(new, extrapolate="clip"),
        classes.best_estimator_.predict_proba(new, extrapolate="clip"),
    )
    np.testing.assert_array_equal(
        classes.predict(new, extrapolate="clip"),
        classes.best_estimator_.predict(new, extrapolate="clip"),
    )
