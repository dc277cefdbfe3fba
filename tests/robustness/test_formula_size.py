"""Formulas that ask for much: refused before anything is computed, or fitted in seconds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pyearthdof
from pyearthdof import Earth
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.formula.guard import count_terms
from pyearthdof.mars.formula.syntax import parsed_formula
from tests.support.figures import record
from tests.support.hostile_formulas import frame, hostile_formulas
from tests.support.rscript import needs_rscript, run_r

PATIENCE = 600  # seconds for a batch that takes one minute: only what hangs is ended


@pytest.mark.parametrize("engine", ["native", pytest.param("r", marks=pytest.mark.needs_r)])
@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_no_formula_hangs(every, engine):
    """In a process of its own, which can be ended: R's own code need not look for Ctrl-C."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.hostile_formulas", str(every), engine],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(pyearthdof.__file__).parents[1])},
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(hostile_formulas()[::every])
    for one in found:
        assert one["end"] in ("fitted", "refused", "failed"), one
        if one["end"] == "refused":
            # the native engine refuses columns whose squares are no numbers
            reasons = ("formula is refused: ", "X has a column with values up to ")
            assert one["message"].startswith(reasons), one
        if one["end"] == "failed":
            assert one["message"].startswith("R could not fit the formula: "), one
        assert one["message"] is None or len(one["message"]) < 400, one
    ends = [one["end"] for one in found]
    record(
        f"formulas that ask for much, engine={engine}",
        tried=len(found),
        fitted=ends.count("fitted"),
        refused=ends.count("refused"),
        failed_in_r=ends.count("failed"),
        slowest_seconds=max(one["seconds"] for one in found),
    )
    assert ends.count("fitted") > len(found) // 3 and ends.count("refused") > len(found) // 10


@pytest.mark.needs_r
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("y ~ bs(x1, degree = 1000)", "degree of bs is 1000"),
        ("y ~ bs(x1, df = 900):bs(x2, df = 900)", "make 817216 columns"),
        ("y ~ bs(x1, df = 1e3) * f60", "columns but they should make at most 2000"),
        ("y ~ f60:f20:f7:f2", "make 16800 columns"),
        ("y ~ (x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11 + x12)^12", "4095 terms"),
        ("y ~ (.)^20", "terms but it should make at most 2000"),
        ("y ~ . * . * . * .", "terms but it should make at most 2000"),
        ("y ~ x1*x2*x3*x4*x5*x6*x7*x8*x9*x10*x11*x12", "4095 terms"),
        ("y ~ ((x1 + x2)^50 + (x3 + x4)^50)^50", None),
        ("y ~ poly(" + ", ".join(f"x{k}" for k in range(1, 13)) + ", degree = 2)", "too many columns"),
        ("y ~ poly(" + ", ".join(["x1"] * 40) + ")", "too many columns"),
        ("y ~ bs(x1, knots = c(" + ", ".join(["1"] * 1001) + "))", "c has 1001 argument"),
        ("y ~ bs(x1, knots = c(" + ", ".join(["c(" + ", ".join(["1"] * 60) + ")"] * 40) + "))",
         "make 2404 columns"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_what_is_too_much_is_said(text, reason):
    data = frame()
    if reason is None:
        assert Earth.from_formula(text, data).n_terms_ > 1
        return
    with pytest.raises(InvalidInputError) as caught:
        Earth.from_formula(text, data)
    assert str(caught.value).startswith("formula is refused: ") and reason in str(caught.value)


@pytest.mark.needs_r
def test_many_rows_of_many_columns_are_refused():
    data = pd.DataFrame({"x": np.linspace(0, 1, 60_000), "y": 1.0})
    with pytest.raises(InvalidInputError, match="make 504 columns of 60000 rows, but at most"):
        Earth.from_formula("y ~ bs(x, df = 500)", data)


@pytest.mark.needs_r
def test_the_datas_own_size_is_no_matter():
    """Plain columns and factors are not counted: they are there already."""
    rng = np.random.default_rng(1)
    wide = pd.DataFrame(rng.normal(size=(30, 300)), columns=[f"c{k}" for k in range(300)])
    wide["f"] = [f"l{k}" for k in range(30)]
    wide["y"] = wide["c0"]
    assert Earth.from_formula("y ~ .", wide).n_features_in_ == 301


@needs_rscript
def test_terms_are_never_counted_too_few():
    """Beside the terms that R makes of the same texts."""
    texts = [
        "y ~ a", "y ~ a + b", "y ~ a * b", "y ~ a:b", "y ~ a / b", "y ~ a %in% b", "y ~ (a + b)^2",
        "y ~ (a + b + c)^3", "y ~ a * b * c", "y ~ (a + b) / c", "y ~ a / (b + c)", "y ~ a / b / c",
        "y ~ (a * b)^2 - a", "y ~ . ^2", "y ~ . * a", "y ~ (a + b)^2:(c + a)", "y ~ -a + b",
        "y ~ ((a + b)^2 * c)^3", "y ~ 0 + a", "y ~ a + a + a", "y ~ log(a) * I(b + c)", "y ~ (a + b + c)^9",
        "y ~ a + offset(b)", "y ~ (((a)))", "y ~ (a + b) * (a + c) * (b + c)",
    ]  # fmt: skip
    code = """
d <- data.frame(a = 1, b = 1, c = 1, y = 1)
out <- list(made = vapply(texts, function(text) length(labels(terms(as.formula(text), data = d))) + 0, 0))
"""
    out = run_r(code, texts=texts)
    out["counted"] = np.array([count_terms(parsed_formula(text)[1], 4) for text in texts])
    assert (out["counted"] >= out["made"]).all()
    exact = [k for k, text in enumerate(texts) if text in ("y ~ (a + b + c)^3", "y ~ a * b * c")]
    assert (out["counted"][exact] == out["made"][exact]).all()


@pytest.mark.needs_r
def test_splines_of_many_knots_and_far_boundaries_are_rs():
    """What is inside of the limits is evaluated here as in R, also outside of the boundary knots."""
    data = frame()
    for text in (
        "y ~ bs(x1, degree = 12, Boundary.knots = c(1, 2))",
        "y ~ bs(x1, df = 100)",
        "y ~ ns(x1, df = 40, Boundary.knots = c(1.4, 1.5))",
        "y ~ bs(log(x1), df = 7, intercept = TRUE) + x2",
    ):
        model = Earth.from_formula(text, data)  # compares its design with R's
        assert np.isfinite(model.predict(data)).all()
