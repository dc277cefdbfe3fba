"""The exports compute what R predicts: the written Python is run, the SQL goes through SQLite."""

import math
import sqlite3
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.data.columns import Column, Columns
from pyearthdof.mars.export.python import to_python
from pyearthdof.mars.export.sql import to_sql
from pyearthdof.mars.export.sympy import to_sympy
from pyearthdof.mars.formula.model_matrix import Formula
from pyearthdof.mars.options import GLM_LINKS
from tests.support.mars.r_models import ETA, FITS, LIMITED, r_found, r_model
from tests.support.rscript import needs_rscript

pytestmark = needs_rscript
TYPES = ("response", "link", "earth")
NO_SQL = {"probit", "cauchit"}
NUMBER, FACTOR, ORDERED, LOGICAL = "number", "factor", "ordered", "logical"
RAW = {  # the fits with factors: their columns before R expanded them
    "factors": dict(pclass=FACTOR, survived=NUMBER, sex=FACTOR, sibsp=NUMBER, parch=NUMBER),
    "ordered": dict(quality=ORDERED, size=NUMBER, shop=FACTOR, open=LOGICAL),
    "binomial": dict(pclass=FACTOR, sex=FACTOR, age=NUMBER, sibsp=NUMBER, parch=NUMBER),
    "classes": dict(survived=NUMBER, sex=FACTOR, age=NUMBER, sibsp=NUMBER, parch=NUMBER),
    "poisson": dict(wool=FACTOR, tension=FACTOR),
}


def assert_close(ours, expected):
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12 * scale)


def r_predicted(name, type):
    """Rows by responses, as R's predict gives them."""
    found = r_found()[name]
    kind = type if "family" in found else "earth"
    return found[f"predict|{kind}"].reshape(len(found["x"]), -1)


def run_python(source, rows):
    assert source.count("import") == source.count("import math") <= 1
    scope = {}
    exec(compile(source, "exported", "exec"), scope)
    return np.array([scope["predict"](*row) for row in rows], dtype=float).reshape(len(rows), -1)


def run_sql(expressions, names, rows):
    with sqlite3.connect(":memory:") as database:
        columns = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        database.execute(f"CREATE TABLE data ({columns})")
        database.executemany(f"INSERT INTO data VALUES ({', '.join('?' * len(names))})", rows)
        texts = [expressions] if isinstance(expressions, str) else expressions
        found = database.execute(f"SELECT {', '.join(texts)} FROM data ORDER BY rowid").fetchall()
    database.close()
    return np.array(found, dtype=float)


def with_raw_columns(name):
    """The model with its factors unexpanded, and the frame that belongs to it."""
    found = r_found()[name]
    x = pd.DataFrame(found["x"], columns=found["features"])
    columns, frame = [], {}
    for raw, kind in RAW[name].items():
        if kind == NUMBER:
            levels, frame[raw] = (), x[raw]
        elif kind == LOGICAL:
            levels, frame[raw] = ("FALSE", "TRUE"), x[f"{raw}TRUE"] == 1
        else:
            levels, frame[raw] = tuple(found[f"levels|{raw}"]), found[f"raw|{raw}"]
        columns.append(Column(raw, kind, levels))
    return r_model(name, columns=Columns(tuple(columns))), pd.DataFrame(frame)


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", FITS)
def test_python_function_predicts_as_r(name, type):
    rows = r_found()[name]["x"].tolist()
    assert_close(run_python(to_python(r_model(name), type=type), rows), r_predicted(name, type))


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("name", FITS)
def test_sql_predicts_as_r(name, type):
    model, found = r_model(name), r_found()[name]
    if type == "response" and model.glm is not None and model.glm.link in NO_SQL:
        with pytest.raises(InvalidInputError, match="SQL has no function for the link"):
            to_sql(model, type=type)
        return
    text = to_sql(model, type=type)
    assert isinstance(text, list) == (len(model.response_names) > 1)
    assert_close(run_sql(text, found["features"], found["x"].tolist()), r_predicted(name, type))


@pytest.mark.parametrize("name", RAW)
def test_factors_by_level(name):
    model, frame = with_raw_columns(name)
    rows = list(frame.astype(object).itertuples(index=False, name=None))
    expected = r_predicted(name, "response")
    assert_close(run_python(to_python(model), rows), expected)
    assert_close(run_sql(to_sql(model), list(frame), rows), expected)
    assert_close(model.predict(frame).reshape(len(frame), -1), expected)


def variable(name, kind=NUMBER, levels=(), expression=None):
    expression = expression or {"column": name}
    return {"label": name, "kind": kind, "levels": list(levels), "expression": expression}


def with_formula(name, variables, terms, offset=None):
    entries = {"text": "y ~ x", "variables": variables, "terms": terms, "offset": offset}
    return r_model(name, formula=Formula.from_dict(entries))


@pytest.mark.parametrize("offset", ["weight", "Height"])
def test_formula_with_an_offset(offset):
    names = ["Girth", "Height", "weight"]
    model = with_formula(
        "gamma-log", [variable(n) for n in names], [[[0, 1]], [[1, 1]]], names.index(offset)
    )
    frame = pd.DataFrame(r_found()["gamma-log"]["x"], columns=names[:2]).assign(weight=0.25)
    frame = frame[names if offset == "weight" else names[:2]]
    rows, expected = frame.to_numpy().tolist(), model.predict(frame)[:, None]
    assert_close(run_python(to_python(model), rows), expected)
    assert_close(run_sql(to_sql(model), list(frame), rows), expected)
    assert (expected != r_predicted("gamma-log", "response")).all()


def test_formula_with_a_factor():
    model, frame = with_raw_columns("classes")
    variables = [variable(c.name, c.kind, c.levels) for c in model.columns.columns]
    model = with_formula("classes", variables, [[[k, 1]] for k in range(len(variables))])
    rows = list(frame.astype(object).itertuples(index=False, name=None))
    assert_close(run_python(to_python(model), rows), r_predicted("classes", "response"))
    assert_close(run_sql(to_sql(model), list(frame), rows), r_predicted("classes", "response"))


def test_formula_that_computes_leaves_the_model_matrix():
    log = {"call": "log", "args": [{"column": "Girth"}]}
    variables = [variable("log(Girth)", expression=log), variable("Height")]
    model = with_formula("trees", variables, [[[0, 1]], [[1, 1]]])
    rows = r_found()["trees"]["x"].tolist()
    assert_close(run_python(to_python(model), rows), r_predicted("trees", "earth"))
    model = with_formula("trees", variables, [[[0, 1]], [[1, 1]]], offset=1)
    for export in (to_python, to_sql):
        with pytest.raises(InvalidInputError, match="its offset should be columns of the data"):
            export(model)


def test_unknown_level():
    model, frame = with_raw_columns("binomial")
    scope = {}
    exec(to_python(model), scope)
    with pytest.raises(ValueError, match=r"sex should be one of \('female', 'male'\), not 'none'"):
        scope["predict"](pclass="1st", sex="none", age=3.0, sibsp=0.0, parch=0.0)
    rows = [("1st", "none", 3.0, 0.0, 0.0), ("1st", "male", None, 0.0, 0.0)]
    assert np.isnan(run_sql(to_sql(model), list(frame), rows)).all()


def test_numbers_survive_to_the_bit():
    model = r_model("ozone-3")
    numbers = [*np.abs(model.coef), *model.cuts[model.selected][model.dirs[model.selected] != 0]]
    for text in (to_python(model), to_sql(model)):
        assert all(repr(float(value)) in text for value in numbers)


def test_arguments_by_keyword_and_odd_names():
    model = r_model("names")
    source = to_python(model, "ozone")
    scope = {}
    exec(source, scope)
    x = r_found()["names"]["x"][0]
    names = ["a_b", "x_y", "p_q", "höhe", "_z_", "if_", "x_1_5", "say__no_"]
    expected = scope["ozone"](*x)
    assert scope["ozone"](**dict(zip(names, x, strict=True))) == expected
    assert "say__no_ : column 'say \"no\"'" in scope["ozone"].__doc__


@pytest.mark.parametrize(
    "names",
    [
        ("a.b", "a_b"),
        ("max", "math"),
        ("eta", "eta1"),
        ("", " "),
        ('"""', "\\"),
        ("x\ny", "'); DROP TABLE data; --"),
        ("²", "\u2126"),
        ("__debug__", "__name__"),
        ("match", "case"),
        ("type", "_"),
        ("None", "async"),
        ("\uff49\uff46", "\ufb01"),
        ("if", "\uff49\uff46"),
        ("level_text", "isinstance"),
        ("self", "predict"),
        ("\x85", "\u2028"),
        ("\ud800", "\x1b[31m"),
    ],
)
def test_no_name_breaks_an_export(names):
    model = r_model("gamma-log", feature_names=names)
    x = r_found()["gamma-log"]["x"]
    expected = r_predicted("gamma-log", "response")
    assert_close(run_python(to_python(model), x.tolist()), expected)
    if "" not in names and "\ud800" not in names:  # no database has such a column
        assert_close(run_sql(to_sql(model), names, x.tolist()), expected)


def test_missing_numbers_stay_missing():
    model = r_model("trees")
    for row in ([math.nan, 70.0], [10.0, math.nan]):
        assert math.isnan(run_python(to_python(model), [row]).item())
    assert np.isnan(run_sql(to_sql(model), ("Girth", "Height"), [(None, 70.0)])).all()


@pytest.mark.parametrize("link", LIMITED)
def test_limits_of_means_as_in_r(link):
    glm = replace(r_model("poisson").glm, link=link, coef=np.array([0.0, 1.0]))
    model = r_model("one-linear", glm=glm)  # its only term is its predictor
    ours = run_python(to_python(model), ETA[:, None].tolist())[:, 0]
    np.testing.assert_allclose(ours, r_found()["link"][link], rtol=1e-12, atol=0)


@pytest.mark.parametrize("link", GLM_LINKS)
def test_a_written_mean_is_the_models_at_any_linear_predictor(link):
    """Also where Python's math would raise: outside of the family, infinite, or not a number."""
    glm = replace(r_model("poisson").glm, link=link, coef=np.array([0.0, 1.0]))
    model = r_model("one-linear", glm=glm)
    eta = np.array([0.0, 1e-300, -1e-300, 1e308, -1e308, np.inf, -np.inf, np.nan, 709.0, 710.0])
    eta = np.concatenate([eta, [-1.0, 1.0, -2.5, 2.5, -40.0, 40.0, 1e16, -1e16, 1e200, -1e200]])
    ours = run_python(to_python(model), eta[:, None].tolist())[:, 0]
    np.testing.assert_allclose(ours, glm.response(eta), rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    "categories",
    [[1.0, 2.0, 3.5], [0.1 + 0.2, 1e20, 1e-7], [1, 2, 10], [True, False], ["1.0", "1", "a"]],
    ids=str,
)
def test_categories_that_are_no_texts(categories):
    """A level may be given as it stands in the data: by Python's number, numpy's, or R's text of it."""
    frame = pd.DataFrame({"f": pd.Categorical(np.resize(categories, 60), categories)})
    frame["x"] = np.linspace(0, 1, 60)
    y = frame["f"].cat.codes * 2.0 + frame["x"]
    model = Earth(engine="native").fit(frame, y).model_
    scope = {}
    exec(to_python(model), scope)
    rows = [
        (frame["f"].astype(object).tolist(), frame),
        (list(np.resize(categories, 60)), frame),
        ([model.columns.columns[0].levels[k] for k in frame["f"].cat.codes], frame),
    ]
    for levels, data in rows:
        ours = [scope["predict"](f, x) for f, x in zip(levels, data["x"], strict=True)]
        np.testing.assert_allclose(ours, model.predict(frame), rtol=1e-12)
    with pytest.raises(ValueError, match="f should be one of"):
        scope["predict"](7.25, 0.5)


def test_bad_arguments():
    model = r_model("trees")
    for export in (to_python, to_sql, to_sympy):
        with pytest.raises(
            InvalidInputError, match="type='mean' but it should be 'response', 'link'"
        ):
            export(model, type="mean")
    for name in ("max", "math", "__debug__", "level_text", "str"):
        with pytest.raises(InvalidInputError, match="it should be another one"):
            to_python(model, name)
    for name in ("two words", "class", "", 3, "\ufb01t", "\uff49\uff46"):
        with pytest.raises(InvalidInputError, match="should be a Python identifier"):
            to_python(model, name)


def test_sympy_missing_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(
        ImportError, match=r"to_sympy needs sympy.*pip install .pyearthdof\[sympy\]"
    ):
        to_sympy(r_model("trees"))


@pytest.mark.parametrize(
    ("name", "type"),
    [(name, type) for name in FITS for type in TYPES if type == "response" or "glm" in FITS[name]],
)
def test_sympy_predicts_as_r(name, type):
    sympy = pytest.importorskip("sympy", reason="sympy is not installed: pip install sympy")
    model, x = r_model(name), r_found()[name]["x"][:5]
    found = to_sympy(model, type=type)
    assert isinstance(found, list) == (len(model.response_names) > 1)
    symbols = [sympy.Symbol(n, real=True) for n in model.feature_names]
    for k, expression in enumerate(found if isinstance(found, list) else [found]):
        ours = [float(expression.subs(dict(zip(symbols, row, strict=True)))) for row in x.tolist()]
        assert_close(ours, r_predicted(name, type)[:5, k])


def odd_names():
    """Columns named as literals, levels with quotes and backslashes, and products of integers."""
    rng = np.random.default_rng(5)
    levels = ["it's", "C:\\", "\\'", 'say "x"']
    frame = pd.DataFrame({
        "flag": rng.random(200) < 0.5, "TRUE": rng.integers(0, 1000, 200), "`NULL`": rng.integers(0, 50, 200),
        'a"b\\': pd.Categorical(rng.choice(levels, 200)),
    })  # fmt: skip
    above = np.maximum(frame["TRUE"] - 500.0, 0) * np.maximum(frame["`NULL`"] - 20.0, 0) / 7
    y = above + 300 * frame["flag"] + 500 * (frame['a"b\\'] == levels[2]) + rng.normal(size=200)
    return frame, Earth(engine="native", degree=2).fit(frame, y)


def test_odd_names_in_sqlite():
    frame, model = odd_names()
    rows = [tuple(row) for row in frame.astype(object).to_numpy().tolist()]
    assert_close(run_sql(model.to_sql(), list(frame), rows)[:, 0], model.predict(frame))


def test_odd_names_in_duckdb():
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    frame, model = odd_names()
    narrow = frame.astype({"TRUE": "int32", "`NULL`": "int32", 'a"b\\': str})
    with duckdb.connect() as database:
        database.register("data", narrow)
        found = database.execute(f"SELECT {model.to_sql()} FROM data").fetchall()
    assert_close(np.array(found, dtype=float)[:, 0], model.predict(frame))


def test_products_of_integers_do_not_overflow_in_duckdb():
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            name: rng.integers(0, top, 300)
            for name, top in zip("abc", (1000, 100000, 50), strict=True)
        }
    )
    y = np.maximum(X.a - 500, 0) * np.maximum(X.b - 30000, 0) * 1e-5 * np.maximum(X.c - 20, 0) / 7
    model = Earth(engine="native", degree=3).fit(X, y + rng.normal(size=300))
    with duckdb.connect() as database:
        database.register("data", X.astype("int32"))
        found = database.execute(f"SELECT {model.to_sql()} FROM data").fetchall()
    assert_close(np.array(found, dtype=float)[:, 0], model.predict(X))


def test_mysql_quotes_by_backticks_and_backslashes():
    _, model = odd_names()
    text = model.to_sql(dialect="mysql")
    assert "```NULL```" in text and '`a"b\\`' in text and r"'\\\''" in text and r"'C:\\'" in text
    with pytest.raises(InvalidInputError, match="dialect='mssql' but it should be"):
        model.to_sql(dialect="mssql")
