"""The fitted model as plain numpy: JSON, files, pickle, and use where there is no R."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, MarsModel
from pyearthdof.exceptions import ColumnWarning, InvalidInputError
from pyearthdof.mars.components.terms import nominal_df
from pyearthdof.mars.inspect.importance import additive_terms, term_contributions
from tests.support.without_r import run_without_r


@pytest.fixture(scope="module", params=[pytest.param("r", marks=pytest.mark.needs_r), "native"])
def fitted(request):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 4))
    y = np.maximum(0, X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=150)
    return Earth(degree=2, engine=request.param).fit(X, y), X


def test_json_keeps_every_bit(fitted, tmp_path):
    model = fitted[0].model_
    again = MarsModel.from_json(model.to_json())
    assert again == model
    np.testing.assert_array_equal(again.coef, model.coef)
    np.testing.assert_array_equal(again.cuts, model.cuts)
    model.save(tmp_path / "model.json")
    assert MarsModel.load(tmp_path / "model.json") == model
    assert [f.name for f in tmp_path.iterdir()] == ["model.json"]


def test_json_is_strict_and_holds_infinities(fitted):
    entries = fitted[0].model_.to_dict()
    entries["gcv"] = "inf"
    model = MarsModel.from_dict(entries)
    assert model.gcv == float("inf")
    json.loads(model.to_json(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_a_failed_save_leaves_the_old_file(fitted, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text("old")
    monkeypatch.setattr("os.replace", lambda *a: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        fitted[0].model_.save(path)
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "not a saved MARS model"),
        ({"format_version": 99}, "format_version=99"),
        ({"coef": [1.0]}, "coef has shape"),
        ({"dirs": [[1, 0]]}, "dirs has shape"),
        ({"dirs": "x"}, "dirs should be a list"),
        ({"cuts": [[1.0], [1.0, 2.0]]}, "rows of one length"),
        ({"selected": [0, 99]}, "selected should contain indices"),
        ({"selected": [0, 0]}, "twice|shape"),
        ({"rss": "many"}, "rss holds 'many'"),
        ({"nk": 2.5}, "nk=2.5"),
        ({"versions": 3}, "versions should be a mapping"),
    ],
)
def test_a_damaged_model_is_refused_by_name(fitted, change, message):
    with pytest.raises(InvalidInputError, match=message):
        MarsModel.from_dict(fitted[0].model_.to_dict() | change)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("prune_terms", lambda rows: rows[:-1], "prune_terms, rss_per_subset"),
        ("prune_terms", lambda rows: [row[:-1] for row in rows], "prune_terms, rss_per_subset"),
        ("prune_terms", lambda rows: [], "prune_terms, rss_per_subset"),
        ("term_names", lambda names: names[:-1], "term_names has"),
        ("term_names", lambda names: [*names, "h(x1-2)"], "term_names has"),
        ("term_names", lambda names: ["a"] * len(names), "term_names has 'a' for a term of"),
        ("term_names", lambda names: names[::-1], "term_names has"),
        ("response_names", lambda names: [], "response_names has 0 name"),
        ("response_names", lambda names: [*names, "z"], "response_names has 2 name"),
    ],
)
def test_a_shortened_or_replaced_entry_is_refused_by_name(fitted, name, change, message):
    entries = fitted[0].model_.to_dict()
    with pytest.raises(InvalidInputError, match=message):
        MarsModel.from_dict(entries | {name: change(entries[name])})


def test_a_missing_entry_and_text_that_is_not_json(fitted):
    entries = fitted[0].model_.to_dict()
    del entries["cuts"]
    with pytest.raises(InvalidInputError, match="lacks cuts"):
        MarsModel.from_dict(entries)
    with pytest.raises(InvalidInputError, match="not a saved MARS model"):
        MarsModel.from_json("{")


@pytest.mark.needs_r
def test_pickle_is_used_and_saved_again_without_r(fitted, tmp_path):
    model, X = fitted
    np.save(tmp_path / "X.npy", X)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    code = """
import pickle, sys
import numpy as np
from pathlib import Path
from pyearthdof import Earth, MarsModel
from pyearthdof.exceptions import RNotAvailableError
folder = Path(sys.argv[1])
X = np.load(folder / "X.npy")
model = pickle.loads((folder / "model.pkl").read_bytes())
np.save(folder / "predicted.npy", model.predict(X))
np.save(folder / "basis.npy", model.transform(X))
model.model_.save(folder / "model.json")
(folder / "again.pkl").write_bytes(pickle.dumps(model))
(folder / "summary.txt").write_text(model.summary())
try:
    Earth(engine="r").fit(X, X[:, 0])
except RNotAvailableError as error:
    print(error)
"""
    message = run_without_r(code, str(tmp_path))
    assert "R is not installed" in message and "apt-get install" in message
    np.testing.assert_array_equal(np.load(tmp_path / "predicted.npy"), model.predict(X))
    np.testing.assert_array_equal(np.load(tmp_path / "basis.npy"), model.transform(X))
    assert MarsModel.load(tmp_path / "model.json") == model.model_
    summary = (tmp_path / "summary.txt").read_text()
    assert summary.split("\n\n", 1)[1] == model.summary().split("\n\n", 1)[1]
    again = pickle.loads((tmp_path / "again.pkl").read_bytes())
    assert again.model_ == model.model_ and again.summary() == model.summary()


def test_import_never_starts_r():
    code = """
import sys, pyearthdof
from pyearthdof import Earth, MarsModel
assert not any(name.startswith("rpy2") for name in sys.modules)
print("ok")
"""
    assert run_without_r(code).strip() == "ok"


def test_nominal_df_follows_earth():
    assert nominal_df(1, 3) == 1
    assert nominal_df(12, 2) == 23
    assert nominal_df(12, 0) == 12
    assert nominal_df(12, -1) == 0


@pytest.mark.parametrize("weights", [None, np.linspace(1, 2, 80)])
def test_the_columns_of_a_frame_are_matched_by_name(weights, tmp_path):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    y = np.abs(frame["a"]) + frame["b"] * frame["c"] + 0.3 * rng.normal(size=80)
    options = {"nfold": 3, "ncross": 3, "varmod_method": "lm", "random_state": 1}
    fitted = Earth(degree=2, engine="native", **options).fit(frame, y, weights)
    fitted.model_.save(tmp_path / "model.json")
    model = MarsModel.load(tmp_path / "model.json")
    other = frame[["c", "a", "b"]].assign(more="text")
    for method in (model.predict, model.basis, model.design, model.predict_sd):
        np.testing.assert_array_equal(method(other), method(frame.to_numpy()))
    pd.testing.assert_frame_equal(model.predict_interval(other), model.predict_interval(frame))
    for table in (term_contributions, additive_terms):
        pd.testing.assert_frame_equal(table(model, other), table(model, frame))
    for method in (model.predict, model.basis, model.design, model.predict_sd):
        with pytest.raises(InvalidInputError, match="X lacks the column 'b' that the model needs"):
            method(frame.rename(columns={"b": "q"}))
    by_position = frame.set_axis([7, 8, 9], axis=1)  # names that are no texts do not count
    np.testing.assert_array_equal(model.predict(by_position), model.predict(frame))


def test_a_frame_for_a_model_without_names():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 2))
    model = Earth(engine="native").fit(X, np.abs(X[:, 0]) + X[:, 1]).model_
    named = pd.DataFrame(X, columns=["x1", "x2"])
    np.testing.assert_array_equal(model.predict(named[["x2", "x1"]]), model.predict(X))
    with pytest.warns(ColumnWarning, match="'a', 'b' but the model was fitted without names"):
        found = model.predict(named.set_axis(["a", "b"], axis=1))
    np.testing.assert_array_equal(found, model.predict(X))
    with pytest.raises(InvalidInputError, match="X lacks the column 'x2'"):
        model.predict(named.set_axis(["x1", "b"], axis=1))
