"""Estimators as files: everything but the training rows comes back, and the files keep to their schema."""

import copy
import json
import warnings
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from pyearthdof import Earth, EarthClassifier, Mars, MarsModel, plots
from pyearthdof.exceptions import InvalidInputError, TrainingRowsError
from pyearthdof.mars.meta import load_estimator
from pyearthdof.mars.model.mars_model import model_schema

VALID = jsonschema.Draft202012Validator(model_schema())
MODELS = {}


def data(rows=90):
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"x": rng.uniform(1, 3, rows), "z": rng.uniform(1, 3, rows)})
    frame["f"] = rng.choice(["u", "v", "w"], rows)
    frame["o"] = pd.Categorical(
        rng.choice(["lo", "hi", "top"], rows), ["lo", "hi", "top"], ordered=True
    )
    frame["b"] = rng.random(rows) < 0.5
    frame["y"] = (
        np.abs(frame["x"] - 2) * frame["z"]
        + (frame["f"] == "v")
        + frame["b"]
        + rng.normal(size=rows) / 9
    )
    return frame


def native():
    frame = data()
    X, y = frame[["x", "z", "f", "o", "b"]], frame["y"]
    kinds = np.array(["no", "maybe", "yes"])[np.digitize(y + np.sin(9 * y), [0.8, 1.6])]
    folds = {"nfold": 3, "ncross": 3, "random_state": 1, "engine": "native"}
    text = "y ~ poly(x, 2) + bs(z, df = 4) + f:log(z) + o + b + I(x^2 / z) + offset(x)"
    weights, array = np.linspace(1, 2, len(X)), X[["x", "z"]].to_numpy()
    return {
        "array": (Earth(engine="native").fit(array, y.to_numpy()), array),
        "one column": (Earth(engine="native").fit(array[:, :1], y.to_numpy()), array[:, :1]),
        "factors": (Earth(engine="native", degree=2, linpreds=["x"]).fit(X, y), X),
        "weights": (Earth(engine="native", nprune=4).fit(X, y, sample_weight=weights), X),
        "responses": (Earth(engine="native").fit(X, frame[["y", "z"]]), X),
        "intercept": (Earth(engine="native", nk=1).fit(X, y), X),
        "formula": (Earth.from_formula(text, frame, engine="native"), frame),
        "varmod": (Earth(varmod_method="earth", **folds).fit(X, y), X),
        "glm": (Earth(engine="native", glm_family="poisson").fit(X, np.round(3 * y + 1)), X),
        "level": (Earth(engine="native").fit(X, pd.Categorical(np.where(y > 1, "hi", "lo"))), X),
        "two classes": (EarthClassifier(threshold=0.3, glm_l2=0.1, **folds).fit(X, kinds == "no"), X),
        "classes": (EarthClassifier(engine="native", class_order=["yes", "no", "maybe"]).fit(X, kinds), X),
        "dates": (
            EarthClassifier(engine="native", glm_l2=0.1).fit(
                X, np.where(y > 1, np.datetime64("2020-01-01"), np.datetime64("2021-01-01"))
            ),
            X,
        ),
    }  # fmt: skip


def r_models():
    frame = data()
    X, y = frame[["x", "z", "f", "o", "b"]], frame["y"]
    return {
        "by r": (Earth(degree=2, engine="r").fit(X, y), X),
        "mda": (Mars().fit(X[["x", "z"]], y), X[["x", "z"]]),
    }


NAMES = [
    "array", "one column", "factors", "weights", "responses", "intercept", "formula", "varmod", "glm",
    "level", "two classes", "classes", "dates",
    *(pytest.param(name, marks=pytest.mark.needs_r) for name in ("by r", "mda")),
]  # fmt: skip


def model_and_rows(name):
    group = r_models if name in ("by r", "mda") else native
    if name not in MODELS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            MODELS.update(group())
    return MODELS[name]


@pytest.fixture(params=NAMES)
def pair(request, tmp_path):
    model, rows = model_and_rows(request.param)
    model.save(tmp_path / "model.json")
    return model, type(model).load(tmp_path / "model.json"), rows


def test_a_loaded_model_predicts_and_tells_the_same(pair):
    model, loaded, rows = pair
    assert loaded.get_params().keys() == model.get_params().keys()
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    assert loaded.predict(rows).dtype == model.predict(rows).dtype
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
        assert loaded.classes_.dtype == model.classes_.dtype
    if getattr(model, "levels_", None) is not None:
        np.testing.assert_array_equal(loaded.predict(rows, "class"), model.predict(rows, "class"))
    pd.testing.assert_frame_equal(loaded.anova(), model.anova())
    pd.testing.assert_frame_equal(loaded.contributions(rows), model.contributions(rows))
    pd.testing.assert_frame_equal(loaded.to_frame(), model.to_frame())
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    assert loaded.format() == model.format() and loaded.terms_ == model.terms_
    assert loaded.model_ == model.model_
    if model.engine_ == "native":
        assert loaded.summary().partition("\n")[2] == model.summary().partition("\n")[2]
    elif model.model_.prune_terms.size:
        assert model.summary().split("\n")[-1] in loaded.summary()  # by us, in R's layout
    if model.model_.prune_terms.size:
        pd.testing.assert_frame_equal(loaded.importance(), model.importance())
        plots.plot_model_selection(loaded)
    if model.model_.formula is None:
        assert loaded.to_javascript() == model.to_javascript() and loaded.to_sql() == model.to_sql()
    if hasattr(model, "cv_"):
        pd.testing.assert_frame_equal(loaded.cv_, model.cv_)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@pytest.mark.parametrize("name", ["array", "factors", "formula", "classes"])
def test_effects_are_drawn_from_a_loaded_model(name):
    model, rows = model_and_rows(name)
    loaded = type(model).from_json(model.to_json())
    assert len(plots.plot_effects(loaded, rows)) >= 1


def test_intervals_of_a_loaded_model():
    model, rows = model_and_rows("varmod")
    loaded = Earth.from_json(model.to_json())
    for kind in ("prediction", "confidence"):
        pd.testing.assert_frame_equal(
            loaded.predict_interval(rows, kind=kind), model.predict_interval(rows, kind=kind)
        )
    np.testing.assert_array_equal(loaded.predict_sd(rows), model.predict_sd(rows))
    for call in (loaded.predict_interval, loaded.predict_sd, loaded.residuals):
        with pytest.raises(
            TrainingRowsError, match="needs the training rows, and this model was loaded"
        ):
            call()


def test_files_keep_to_the_schema_and_survive_twice(pair):
    model, loaded, _ = pair
    entries = json.loads(
        model.to_json(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON")
    )
    assert [error.message for error in VALID.iter_errors(entries)] == []
    assert loaded.to_json() == model.to_json()
    assert [error.message for error in VALID.iter_errors(model.model_.to_dict())] == []


def test_the_schema_refuses_what_is_none():
    entries = json.loads(model_and_rows("factors")[0].to_json())
    for change in (
        {"format": "x"},
        {"dirs": [[3]]},
        {"coef": "1"},
        {"ranges": [{"name": "x"}]},
        {"glm": {}},
    ):
        assert list(VALID.iter_errors(entries | change))
    entries["estimator"]["class"] = "Other"
    assert list(VALID.iter_errors(entries))


def test_only_what_needs_the_training_rows_says_so(pair):
    _, loaded, _ = pair
    for name in ("bx_", "fitted_values_", "residuals_", "leverages_", "weights_"):
        assert not hasattr(loaded, name)
        with pytest.raises(TrainingRowsError, match=f"{name} needs the training rows"):
            getattr(loaded, name)
    with pytest.raises(TrainingRowsError, match="needs the training rows"):
        loaded.residuals()
    if not isinstance(loaded, Mars):
        for call in (loaded.reprune, loaded.update):
            with pytest.raises(InvalidInputError, match="the training data are not available"):
                call()


def test_an_estimator_that_is_not_fitted_has_no_such_attribute():
    with pytest.raises(AttributeError, match="'Earth' object has no attribute 'bx_'"):
        _ = Earth().bx_


def test_a_loaded_model_can_be_fitted_again():
    model, rows = model_and_rows("array")
    loaded = Earth.from_json(model.to_json())
    y = model.fitted_values_ + model.residuals_
    again = loaded.fit(rows, 2 * y)
    assert len(again.residuals_) == len(rows) and not again.anova().equals(model.anova())


def test_files_of_a_model_alone_and_of_earlier_releases(tmp_path):
    model, rows = model_and_rows("varmod")
    entries = model.model_.to_dict()
    del entries["ranges"]
    loaded = Earth.from_json(json.dumps(entries))
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    assert loaded.predict_interval(rows).equals(model.predict_interval(rows))
    assert "Selected" in loaded.summary() and loaded.model_.ranges is None
    with pytest.raises(TrainingRowsError, match="needs the training rows"):
        loaded.anova()
    model.save(tmp_path / "model.json")
    assert MarsModel.load(tmp_path / "model.json") == model.model_
    classifier, _ = model_and_rows("classes")
    with pytest.raises(
        InvalidInputError, match=r"not the names of its classes: MarsModel\.load reads it"
    ):
        EarthClassifier.from_json(classifier.model_.to_json())


def test_another_class_is_refused_by_name():
    text = model_and_rows("classes")[0].to_json()
    with pytest.raises(
        InvalidInputError, match="the file contains a fitted EarthClassifier, so Earth"
    ):
        Earth.from_json(text)


def test_a_function_is_not_saved_and_said():
    x = np.random.default_rng(0).normal(size=(60, 2))
    model = Earth(engine="native", allowed=lambda degree, pred, parents, namesx, first: True).fit(
        x, x[:, 0]
    )
    with pytest.warns(UserWarning, match="allowed is a function, which a file does not hold"):
        text = model.to_json()
    assert Earth.from_json(text).allowed is None


def test_ranges_are_those_of_the_rows_that_were_fitted():
    frame = data()
    model = Earth(engine="native").fit(frame[["x", "f"]], frame["y"], subset=frame["x"] < 2)
    rows = frame[frame["x"] < 2]
    ranges = model.model_.ranges
    assert (ranges["x"].low, ranges["x"].high) == (rows["x"].min(), rows["x"].max())
    assert ranges["x"].median == rows["x"].median()
    assert ranges["f"].counts == tuple(rows["f"].value_counts().sort_index())
    pruned = model.reprune(nprune=2)
    assert pruned.model_.ranges == ranges
    x = np.arange(5001.0)[:, None]
    many = Earth(engine="native").fit(x, x[:, 0]).model_.ranges["x"]
    assert (many.low, many.high, many.mean) == (0, 5000, 2500) and abs(many.median - 2500) < 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"params": {"degree": "x"}}, "degree='x' but it should be an integer"),
        ({"params": {"varmod_method": []}}, "varmod_method="),
        ({"params": {"no": 1}}, "'no', which is no argument"),
        ({"params": 3}, "params should be a mapping"),
        ({"feature_names_in": ["a", "a"]}, "different names"),
        (
            {"classes": {"type": "str", "values": ["a", "b"]}},
            "classes should be there for a classifier",
        ),
        ({"levels": {"type": "int8", "values": [1, 1000]}}, "which is no int8"),
        ({"levels": {"type": "os.system", "values": [1, 2]}}, "none of a class"),
        ({"anova": {"rows": []}}, "anova should have exactly"),
        ({"importances": [1.0]}, "should contain 2 numbers"),
        ({"offset_shown": [1.0]}, "the model has no offset"),
    ],
)
def test_damaged_files_are_refused_by_name(change, message):
    entries = json.loads(model_and_rows("array")[0].to_json())
    entries["estimator"] |= change
    with pytest.raises(InvalidInputError, match=message):
        Earth.from_json(json.dumps(entries))


ODD = [
    None,
    True,
    0,
    -1,
    1e308,
    "",
    "x",
    "nan",
    [],
    {},
    [[]],
    [None],
    ["a"],
    [0] * 200,
    {"a": 1},
    {"type": "str"},
]


@pytest.mark.parametrize("name", ["factors", "classes", "varmod"])
def test_odd_values_anywhere_are_refused_or_harmless(name):
    model, rows = model_and_rows(name)
    entries = json.loads(model.to_json())
    refused = 0
    for key, value in entries["estimator"].items():
        places = (
            [(key,)] + [(key, inner) for inner in value] if isinstance(value, dict) else [(key,)]
        )
        for place in places:
            for odd in ODD:
                tree = copy.deepcopy(entries)
                parent = tree["estimator"]
                for step in place[:-1]:
                    parent = parent[step]
                parent[place[-1]] = odd
                try:
                    loaded = type(model).from_json(json.dumps(tree))
                except InvalidInputError as error:
                    assert "\n" not in str(error) and len(str(error)) < 1000
                    refused += 1
                    continue
                loaded.summary(), loaded.feature_importances_, loaded.to_json()
                try:
                    loaded.predict(rows)
                except InvalidInputError:
                    refused += 1
    assert refused > 50


FILES = Path(__file__).parent / "saved"  # written by the version before the redesign


@pytest.mark.parametrize("path", sorted(FILES.glob("*.json")), ids=lambda path: path.stem)
def test_files_of_an_earlier_version_are_read(path):
    text = path.read_text()
    VALID.validate(json.loads(text))
    model, file = MarsModel.from_json(text), json.loads(text)
    if path.stem == "model":
        again = json.loads(model.to_json())
        assert Earth.from_json(text).terms_ == model.selected_names
    else:
        again = json.loads(load_estimator(text).to_json())
        known, kept = (f["estimator"]["params"] for f in (file, again))
        for name in kept.keys() - known.keys():  # arguments that came later have their defaults
            assert kept.pop(name) == ("raise" if name == "missing" else None)
    for name in again.keys() - file.keys():  # and so have fields
        assert again.pop(name) is None
    assert again == file


def test_a_file_is_parsed_once(monkeypatch):
    text, calls = (FILES / "varmod.json").read_text(), []
    loads = json.loads
    monkeypatch.setattr(json, "loads", lambda *a, **k: calls.append(a) or loads(*a, **k))
    load_estimator(text)
    assert len(calls) == 1
