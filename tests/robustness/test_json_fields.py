"""Every field of a saved model, with every odd value: a clear refusal, or a model that predicts numbers."""

import copy
import json
import warnings

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, EarthClassifier, Mars, MarsModel, bridge
from pyearthdof.exceptions import InvalidInputError, PyEarthDofError
from tests.support.figures import record

NASTY = [
    None, True, False, 0, 1, -1, 2, 3, 7, 200, -200, 0.5, 1e300, 1e308, -1e308, 5e-324, 2**53, 2**63, 10**400,
    "", "x", "nan", "inf", "-inf", "NaN", "Infinity", "1", "1e400", "\0", "\ud800", "a" * 5000, "<script>",
    "__import__('os')", [], {}, [[]], [{}], [None], [0], [1.5], [[0]], [[1, 2], [3]], ["a"], ["a", "a"],
    {"a": 1}, {"column": "x"}, {"number": 1}, {"number": "inf"}, {"call": "log", "args": []},
    [0] * 300, ["l"] * 300, [f"l{k}" for k in range(96)], [f"l{k}" for k in range(200)], [[0] * 300] * 3,
]  # fmt: skip
LITERALS = ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "9" * 5000, "[" * 990 + "]" * 990]


def frame(rows=80) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"x": rng.uniform(1, 3, rows), "z": rng.uniform(1, 3, rows)})
    data["f"] = rng.choice(["u", "v", "w"], rows)
    data["o"] = pd.Categorical(
        rng.choice(["lo", "mid", "hi"], rows), ["lo", "mid", "hi"], ordered=True
    )
    data["b"] = rng.random(rows) < 0.5
    data["y"] = (
        np.abs(data["x"] - 2) * data["z"] + (data["f"] == "v") + (data["o"] == "hi") + data["b"]
    )
    data["y"] += 0.1 * rng.normal(size=rows)
    return data


def native_models():
    data = frame()
    numbers, mixed = data[["x", "z"]], data[["x", "f", "o", "b"]]
    return {
        "numbers": (Earth(engine="native", degree=2).fit(numbers, data["y"]), numbers),
        "columns": (Earth(engine="native", degree=2).fit(mixed, data["y"]), mixed),
        "responses": (Earth(engine="native").fit(numbers, data[["y", "x"]]), numbers),
        "one term": (Earth(engine="native", nk=1).fit(numbers, data["y"]), numbers),
    }


def r_models():
    data = frame()
    mixed = data[["x", "f", "o"]]
    text = "y ~ poly(x, 2) + bs(z, df = 4) + ns(x, 3) + f:log(z) + o + b + I(x^2 / z) + offset(x)"
    kinds = pd.cut(data["y"], 3, labels=["a", "b", "c"]).astype(str)
    return {
        "formula": (Earth.from_formula(text, data), data),
        "poly of two": (Earth.from_formula("y ~ poly(x, z, degree = 2) + 0 + f", data), data),
        "glm": (Earth(glm_family="poisson").fit(mixed, np.round(np.exp(data["y"] / 2))), mixed),
        "classes": (EarthClassifier().fit(mixed, kinds), mixed),
        "mda": (Mars().fit(data[["x", "z"]], data["y"]), data[["x", "z"]]),
    }


MODELS = {}


def model_and_rows(name):
    if not MODELS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            MODELS.update(native_models())
            if bridge.is_available("earth"):
                MODELS.update(r_models())
    estimator, rows = MODELS[name]
    return estimator.model_, rows.drop(columns="y", errors="ignore").iloc[:12]


NAMES = [
    "numbers", "columns", "responses", "one term",
    *(
        pytest.param(n, marks=pytest.mark.needs_r)
        for n in ("formula", "poly of two", "glm", "classes", "mda")
    ),
]  # fmt: skip


def places(value, path=()):
    """Every place in a JSON value; of a long list the first, the second and the last."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for k in sorted({0, 1, len(value) - 1} & set(range(len(value)))):
            yield from places(value[k], (*path, k))


def changed(entries, path, value):
    tree = copy.deepcopy(entries)
    parent = tree
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = copy.deepcopy(value)
    return tree


def outcome(text, rows) -> str:
    """How reading and predicting ended; anything but these words, and a warning, is an exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            model = MarsModel.from_json(text)
        except InvalidInputError as error:
            assert 0 < len(str(error)) < 1000 and "\n" not in str(error)
            return "refused"
        X = rows
        if model.columns is None and model.formula is None and model.feature_names:
            X = np.resize(rows.select_dtypes("number"), (len(rows), len(model.feature_names)))
        try:
            predicted, link = model.predict(X), model.predict(X, "link")
        except InvalidInputError:
            return "refuses the rows"
        assert str(model) and MarsModel.from_json(model.to_json()) == model
        model.used_features()
    assert np.isfinite(link).all()
    # R, too, has infinite means of a log link beyond the range of exp.
    return "predicts" if (np.isfinite(predicted) | (np.abs(link) > 700)).all() else "not finite"


@pytest.mark.parametrize("share", [10, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAMES)
def test_every_field_with_every_odd_value(name, share):
    model, rows = model_and_rows(name)
    entries = json.loads(model.to_json())
    assert outcome(json.dumps(entries), rows) == "predicts"
    found = dict.fromkeys(("refused", "refuses the rows", "predicts"), 0)
    everywhere = list(places(entries))
    # All values at the upper places, a share of them, another one each time, further below.
    for number, path in enumerate(everywhere):
        values = NASTY if len(path) == 1 else NASTY[number % share :: share]
        for value in values:
            try:
                end = outcome(json.dumps(changed(entries, path, value)), rows)
                assert end in found, end
            except Exception as error:
                raise AssertionError(f"{path} = {str(value)[:60]!r}: {error!r}") from error
            found[end] += 1
    for path in [p for p in everywhere if len(p) <= (1 if share > 1 else 2)]:
        for literal in LITERALS:
            text = json.dumps(changed(entries, path, "HERE")).replace('"HERE"', literal)
            assert outcome(text, rows) in found, (path, literal[:9])
    record(f"fields of a saved model: {name}", tried=sum(found.values()), **found)
    assert found["refused"] > found["predicts"] > 0


def test_an_ordered_column_of_many_levels_is_refused_at_once():
    model, _ = model_and_rows("columns")
    entries = json.loads(model.to_json())
    for n_levels in (96, 150, 200, 5000):
        levels = [f"l{k}" for k in range(n_levels)]
        entries["columns"] = [{"name": "q", "kind": "ordered", "levels": levels}]
        entries["feature_names"] = [f"q^{k}" for k in range(n_levels - 1)]
        with pytest.raises(InvalidInputError, match=f"'q' has {n_levels} levels but .* at most 95"):
            MarsModel.from_json(json.dumps(entries))


def test_the_names_of_ordered_columns_need_no_polynomials(monkeypatch):
    """A file can ask for many sizes; only predictions compute them."""
    model, rows = model_and_rows("columns")
    text = model.to_json()
    monkeypatch.setattr("pyearthdof.mars.data.columns.polynomial_contrasts", None)
    again = MarsModel.from_json(text)
    with pytest.raises(TypeError):
        again.predict(rows)


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", 1e301])
@pytest.mark.parametrize("field", ["coef", "cuts"])
def test_numbers_that_no_prediction_survives_are_refused(field, value):
    model, _ = model_and_rows("numbers")
    entries = json.loads(model.to_json())
    if field == "coef":
        entries["coef"][1] = value
    else:
        entries["cuts"][1][0] = value
    with pytest.raises(InvalidInputError, match=f"{field} has entries that are not finite numbers"):
        MarsModel.from_json(json.dumps(entries))


@pytest.mark.needs_r
def test_deep_and_wide_expressions_are_refused():
    model, _ = model_and_rows("formula")
    entries = json.loads(model.to_json())
    deep = {"column": "x"}
    for _ in range(200):
        deep = {"call": "+", "args": [deep]}
    wide = {
        "call": "poly",
        "args": [{"column": "x"}] * 2000,
        "degree": 1,
        "alpha": None,
        "norm2": None,
    }
    many = wide | {"args": [{"column": "x"}] * 30}
    knots = {"call": "bs", "args": [{"column": "x"}], "knots": [2.0] * 5000, "boundary": [1, 3],
             "degree": 3, "intercept": False}  # fmt: skip
    for expression in (deep, wide, many, knots, knots | {"knots": [], "degree": 51}):
        entries["formula"]["variables"][0]["expression"] = expression
        with pytest.raises(InvalidInputError):
            MarsModel.from_json(json.dumps(entries))


@pytest.mark.parametrize("text", [None, 3, ["{}"], {"a": 1}, object()])
def test_what_is_no_text(text):
    with pytest.raises(InvalidInputError, match="but it should be text"):
        MarsModel.from_json(text)


@pytest.mark.needs_r
@pytest.mark.filterwarnings("ignore")
def test_every_kind_of_fit_survives_a_round_trip():
    data = frame()
    X, y = data[["x", "z"]], data["y"]
    fits = [
        Earth(engine="native", nprune=2).fit(X, y),
        Earth(engine="native", pmethod="none", penalty=-1).fit(X, y),
        Earth(engine="native", pmethod="none", penalty=50, nk=60, thresh=0).fit(X, y),
        Earth(engine="native").fit(X, np.full(80, 3.0)),
        Earth(engine="r", nprune=3, pmethod="exhaustive").fit(X, y),
        Earth(engine="r", pmethod="cv", nfold=3, random_state=1).fit(X, y),
        Earth(engine="r", glm_family="binomial").fit(X, np.c_[np.arange(80) % 5, np.arange(80) % 3]),
        Earth(engine="r").fit(X, data[["y", "z"]]),
        Mars(prune=False).fit(X, y),
        Mars(nk=3).fit(X, y).to_earth(),
    ]  # fmt: skip
    for fit in fits:
        assert MarsModel.from_json(fit.model_.to_json()) == fit.model_
    with pytest.raises(PyEarthDofError):
        MarsModel.from_json(fits[0].model_.to_json()[:-1])


@pytest.mark.parametrize("field", ["rss_per_response", "grsq_per_response"])
def test_numbers_of_each_response_are_as_many_as_responses(field):
    model, _ = model_and_rows("responses")
    entries = json.loads(model.to_json())
    entries[field].append(1.0)
    with pytest.raises(
        InvalidInputError, match=f"{field} has 3 number.s. but there are 2 response"
    ):
        MarsModel.from_json(json.dumps(entries))


def test_names_that_stand_twice_and_halves_of_characters_are_refused():
    model, _ = model_and_rows("numbers")
    text = model.to_json()
    with pytest.raises(InvalidInputError, match="the text has 'rss' twice in one object"):
        MarsModel.from_json(text[:-1] + ', "rss": 1.0}')
    half = text.replace('"pmethod": "backward"', r'"pmethod": "\ud800"')
    with pytest.raises(InvalidInputError, match=r"which is half of a character"):
        MarsModel.from_json(half)
