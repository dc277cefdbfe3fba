"""Column names, levels and paths are data: whatever they hold, nothing of it is run."""

import contextlib
import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, MarsModel, bridge
from pyearthdof.exceptions import InvalidInputError
from tests.support.figures import record

TRAPS = [
    'x"); system("touch trap"); ("',
    "x'); system('touch trap'); ('",
    "`); system('touch trap'); `",
    "$(touch trap)",
    "`touch trap`",
    "; touch trap;",
    "a\nsystem('touch trap')\nb",
    "a\r\n\tb",
    "{system('touch trap')}",
    "__import__('os').system('touch trap')",
    "{0.__class__}",
    "%s%n%d%%",
    '\\" \\x41 \\',
    "-1",
    "NULL",
    "NA",
    "TRUE",
    "if",
    "...",
    "..1",
    ".Random.seed",
    " ",
    "x" * 300,
    "日本 é ß Ω",
    "../../trap",
]


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Every test runs in an empty folder, and leaves it empty."""
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.rglob("*")) == []


def frame_with(names):
    rng = np.random.default_rng(len(names))
    return pd.DataFrame(rng.normal(size=(60, len(names))), columns=pd.Index(names, dtype=object))


@pytest.mark.needs_r
@pytest.mark.parametrize("trap", TRAPS)
def test_a_column_name(trap):
    frame = frame_with([trap, "plain"])
    y = np.abs(frame[trap]) + np.abs(frame["plain"])
    model = Earth(engine="r").fit(frame, y)
    plain = Earth(engine="r").fit(frame.to_numpy(), y)
    np.testing.assert_array_equal(model.term_coef_, plain.term_coef_)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(frame.to_numpy()))
    assert model.feature_names_in_.tolist() == [trap, "plain"]
    assert any(trap in term for term in model.terms_)
    assert isinstance(model.summary(), str)
    back = MarsModel.from_json(model.model_.to_json())
    assert back.feature_names == model.model_.feature_names
    np.testing.assert_array_equal(back.predict(frame), model.predict(frame))
    record("names that look like code", tried=1, run=0)


@pytest.mark.needs_r
@pytest.mark.parametrize("trap", TRAPS)
def test_a_level(trap):
    frame = frame_with(["x"])
    levels = [trap, "other", "third"]
    frame["group"] = pd.Categorical.from_codes(np.arange(60) % 3, levels)
    y = np.abs(frame["x"]) + 5 * (frame["group"] == trap)
    tame = frame.assign(group=frame["group"].cat.rename_categories(["one", "other", "third"]))
    model, plain = Earth(engine="r").fit(frame, y), Earth(engine="r").fit(tame, y)
    np.testing.assert_array_equal(model.term_coef_, plain.term_coef_)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(tame))
    assert isinstance(model.summary(), str)
    back = MarsModel.from_json(model.model_.to_json())
    np.testing.assert_array_equal(back.predict(frame), model.predict(frame))
    with pytest.raises(InvalidInputError, match="group"):
        model.predict(frame.assign(group="system('touch trap')"))
    record("names that look like code", tried=1, run=0)


@pytest.mark.needs_r
def test_all_of_them_at_once_by_both_engines():
    frame = frame_with(TRAPS)
    y = np.abs(frame[TRAPS[0]]) + np.abs(frame[TRAPS[5]])
    in_r = Earth(engine="r").fit(frame, y)
    native = Earth(engine="native").fit(frame, y)
    assert in_r.terms_ == native.terms_
    np.testing.assert_allclose(native.term_coef_, in_r.term_coef_, rtol=1e-9)
    text = in_r.model_.to_json()
    assert json.loads(text) and MarsModel.from_json(text).feature_names == tuple(TRAPS)


def test_code_that_is_written_for_python_and_sql():
    """Names and levels that look like code, in code that is meant to be run elsewhere."""
    frame = frame_with(TRAPS)
    # SQL knows no difference between small and capital letters, and some names only differ in these.
    frame["group"] = pd.Categorical.from_codes(np.arange(60) % len(TRAPS), TRAPS)
    y = sum(np.abs(frame[name]) for name in TRAPS[:8]) + 5 * (frame["group"] == TRAPS[0])
    model = Earth(engine="native", nk=41).fit(frame, y)
    scope = {}
    exec(model.to_python(), scope)
    by_python = [scope["predict"](*row) for row in frame.itertuples(index=False, name=None)]
    np.testing.assert_allclose(by_python, model.predict(frame), rtol=1e-12)
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        frame.assign(group=frame["group"].astype(str)).to_sql("rows_of_x", database)
        by_sql = database.execute(f"SELECT {model.to_sql()} FROM rows_of_x").fetchall()
    np.testing.assert_allclose([v for (v,) in by_sql], model.predict(frame), rtol=1e-12)


@pytest.mark.needs_r
@pytest.mark.parametrize("value", TRAPS)
def test_texts_come_back_as_they_went(value):
    assert bridge.call("echo", value, package=None) == [value]
    assert bridge.call("echo", {value: value}, package=None) == {value: [value]}
    factor = bridge.Factor(np.array([0, 1]), (value, "other"))
    assert bridge.call("echo", factor, package=None) == [value, "other"]


@pytest.mark.needs_r
@pytest.mark.parametrize("value", ["a\0b", "lone \ud800 surrogate"])
def test_text_that_r_cannot_hold_is_refused(value):
    with pytest.raises(InvalidInputError, match="cannot go to R"):
        bridge.call("echo", value, package=None)
    with pytest.raises(InvalidInputError, match="cannot go to R"):
        bridge.call("echo", bridge.NamedMatrix(np.ones((2, 1)), (value,)), package=None)
    with pytest.raises(InvalidInputError):
        Earth(engine="r").fit(frame_with([value, "plain"]), np.arange(60.0))
