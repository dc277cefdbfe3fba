"""Exports of random models, with factors, odd names, glms and classes, against predict: to 1e-12."""

import importlib.util
import subprocess

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, EarthClassifier
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.export.links import arc_series, decay_series, normal_series
from pyearthdof.mars.options import GLM_LINKS
from tests.support.mars.exports_check import (
    assert_close,
    check_javascript,
    check_model,
    check_onnx,
    node,
    raw_predictions,
    run_javascript,
    run_onnx,
    run_sympy,
)
from tests.support.mars.random_models import new_rows, random_models

needs_node = pytest.mark.skipif(node() is None, reason="node runs the exported JavaScript")
needs_onnx = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxruntime")),
    reason="onnx and onnxruntime run the exported graph: pip install --group onnx",
)
FEW, MANY = range(25), range(1000, 1560)


@pytest.fixture(scope="module")
def few():
    rng = np.random.default_rng(1)
    return [(model, new_rows(rng, X)) for _, model, X in random_models(FEW)]


def test_python_sql_c_and_the_table(few):
    assert len(few) >= 20
    for model, rows in few:
        check_model(model, rows)


@needs_node
def test_javascript(few):
    assert check_javascript(few) > 3 * len(few)


@needs_onnx
def test_onnx(few):
    for model, rows in few:
        check_onnx(model, rows)


@pytest.mark.slow
@needs_node
@needs_onnx
def test_500_random_models():
    rng = np.random.default_rng(2)
    count = 0
    models = []
    for _, model, X in random_models(MANY):
        rows = new_rows(rng, X, 8)
        check_model(model, rows)
        check_onnx(model, rows)
        assert_close(run_sympy(model, rows), raw_predictions(model, rows, "link"), "sympy")
        models.append((model, rows))
        count += 1
    for start in range(0, count, 50):
        check_javascript(models[start : start + 50])
    assert count >= 500


def linked(link, eta):
    """A model of one number whose linear predictor is that number."""
    from dataclasses import replace

    x = np.random.default_rng(0).uniform(0.5, 1, 60)
    family = (
        "poisson"
        if link in ("log", "sqrt", "identity")
        else "gamma"
        if link == "inverse"
        else "binomial"
    )
    y = (
        (x > 0.7).astype(float) + 1
        if family != "binomial"
        else (np.arange(60) % 3 == 0).astype(float)
    )
    options = {"glm_family": family, "glm_link": None if link == "1/mu^2" else link}
    model = Earth(engine="native", linpreds=True, pmethod="none", thresh=0, nk=3, **options)
    model.fit(x[:, None], y)
    coef = np.array([0.0, 1.0])
    fitted = model.model_
    model.model_ = replace(fitted, glm=replace(fitted.glm, link=link, coef=coef), coef=coef)
    return model, pd.DataFrame({"x": eta})


@pytest.mark.parametrize("link", [*GLM_LINKS])
def test_links_far_out(link):
    """At linear predictors where R cuts means off, and where they are tiny: relative to each."""
    sizes = np.concatenate([[0.0], 10.0 ** np.arange(-12, 4)])
    eta = np.concatenate([sizes, -sizes, np.linspace(-40, 40, 161)])
    model, rows = linked(link, eta)
    assert model.model_.n_terms == 2
    expected = model.predict(rows.to_numpy())
    if node():
        found = run_javascript([(model.to_javascript(), rows)])[0][:, 0]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    if importlib.util.find_spec("onnxruntime"):
        found = run_onnx(model, rows)[0][:, 0]
        keep = ~((link == "1/mu^2") & (eta < 0))
        np.testing.assert_allclose(found[keep], expected[keep], rtol=1e-12)


def test_series_are_as_exact_as_a_double():
    from scipy.special import erfcx

    values = np.polynomial.chebyshev.chebval
    z = np.linspace(0, 6, 5001)
    top = (6 - 3.75) / (6 + 3.75)
    t = ((z - 3.75) / (z + 3.75) + 1) * 2 / (top + 1) - 1
    np.testing.assert_allclose(values(t, normal_series()), erfcx(z), rtol=5e-14)
    x = np.linspace(1e-8, 1, 5001)
    np.testing.assert_allclose(x * values(2 * x * x - 1, arc_series()), np.arctan(x), rtol=5e-14)
    np.testing.assert_allclose(x * values(2 * x - 1, decay_series()), -np.expm1(-x), rtol=5e-14)


def levels_model():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"f": rng.choice(["a", "b", "c"], 90), "x": rng.normal(size=90)})
    return Earth(engine="native").fit(X, X["x"] + 2.0 * (X["f"] == "b")), X


@needs_node
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"f": "z", "x": 1}', "RangeError: f should be one of a, b, c, not z"),
        ('{"f": "a"}', "TypeError: x is missing"),
        ('{"f": "a", "x": "1"}', "TypeError: x should be a number, not 1"),
        ('{"f": "a", "x": null}', "TypeError: x should be a number, not null"),
    ],
)
def test_javascript_refuses(row, message):
    model, _ = levels_model()
    script = (
        f"{model.to_javascript('f')}\ntry {{ f({row}); }} catch (e) {{ console.log(String(e)); }}"
    )
    run = subprocess.run([node(), "-"], input=script, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == message


@needs_node
def test_javascript_knows_levels_that_are_numbers():
    values = [1, 2.5, 1e-5, 1e20, 0.1 + 0.2, 1 / 3]
    X = pd.DataFrame({"f": pd.Categorical(values * 20), "x": np.arange(120.0)})
    y = X["f"].cat.codes.to_numpy() ** 2.0
    model = Earth(engine="native", nk=30).fit(X, y)
    calls = ", ".join(f'predict({{"f": {value!r}, "x": 1}})' for value in values)
    script = f"{model.to_javascript()}\nconsole.log(JSON.stringify([{calls}]));"
    run = subprocess.run([node(), "-"], input=script, capture_output=True, text=True, check=True)
    rows = pd.DataFrame({"f": pd.Categorical(values), "x": 1.0})
    assert_close(np.array(eval(run.stdout)), model.predict(rows))


@pytest.mark.parametrize("name", ["1x", "a b", "class", "", "a;b", None, "Math"])
def test_javascript_names_are_identifiers(name):
    with pytest.raises(InvalidInputError, match="should be a JavaScript identifier"):
        levels_model()[0].to_javascript(name)


def test_javascript_ends_no_script_of_a_page():
    X = pd.DataFrame(
        {"</script><script>alert(1)//": np.arange(30.0), "b\u2028\n": ["<!--", "-->"] * 15}
    )
    source = Earth(engine="native").fit(X, np.arange(30.0)).to_javascript()
    assert "</script" not in source and "<!--" not in source and source.isascii()


def test_types_that_are_not_there():
    model, _ = levels_model()
    for export in (model.to_javascript, model.to_onnx, model.to_frame):
        with pytest.raises(InvalidInputError, match="type='no' but it should be one of response"):
            export(type="no")
    with pytest.raises(InvalidInputError, match="type='sd' but the model has no variance model"):
        model.to_javascript(type="sd")


@needs_onnx
def test_onnx_gives_nan_for_what_it_does_not_know():
    model, _ = levels_model()
    rows = pd.DataFrame({"f": ["a", "z", "b", "b"], "x": [0.1, 0.1, np.nan, 0.1]})
    found = run_onnx(model, rows)[0][:, 0]
    assert np.isnan(found).tolist() == [False, True, True, False]


@needs_onnx
def test_onnx_of_the_intercept_alone_and_of_an_offset():
    x = np.arange(30.0)[:, None]
    model = Earth(engine="native", nk=1).fit(x, x[:, 0])
    rows = pd.DataFrame({"x": [1.0, np.nan]})
    assert run_onnx(model, rows)[0].ravel().tolist() == pytest.approx([14.5, 14.5])
    data = pd.DataFrame({"x": x[:, 0], "w": np.sin(x[:, 0]), "y": 2 * x[:, 0]})
    model = Earth.from_formula("y ~ x + offset(w)", data, engine="native")
    assert_close(run_onnx(model, data)[0][:, 0], model.predict(data))


@needs_onnx
def test_onnx_names_that_are_its_own():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.normal(size=60) for name in ("prediction", "_v1", "_c0", "X")})
    X["label"] = rng.choice(["a", "b"], 60)
    y = X["prediction"] + X["_v1"] + (X["label"] == "b")
    assert_close(
        run_onnx(Earth(engine="native").fit(X, y), X)[0][:, 0],
        Earth(engine="native").fit(X, y).predict(X),
    )
    classes = EarthClassifier(engine="native").fit(X, y + rng.normal(size=60) > 0)
    label, probabilities = run_onnx(classes, X)
    assert label.astype(bool).tolist() == classes.predict(X).tolist()
    assert_close(probabilities, classes.predict_proba(X))


def test_onnx_that_is_missing_says_how_to_get_it(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"to_onnx needs onnx.*pip install .pyearthdof\[onnx\]"):
        levels_model()[0].to_onnx()


def test_the_table_names_levels_and_raw_columns():
    model, _ = levels_model()
    table = model.to_frame()
    row = table[table["predictor"] == "fb"].iloc[0]
    assert (row["column"], row["level"], row["shape"], row["degree"]) == ("f", "b", "linear", 1)
    assert table["number"].tolist() == list(range(len(table)))
    assert table["coef"].tolist() == model.term_coef_.tolist()
