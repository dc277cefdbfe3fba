"""The table of py-earth's wishes: each line of code runs, and what is said to be missing is."""

import re
from pathlib import Path

import numpy as np
import pytest

from pyearthdof import Earth
from tests.support.docs_pages import examples, run

PAGE = Path(__file__).parents[2] / "docs" / "from-py-earth.md"
WISHES = {
    "install", "categoricals", "missing data", "classes", "weights", "export", "importance", "large data",
    "threads", "same result everywhere", "gradient", "extrapolation",
}  # fmt: skip


def rows():
    """wish -> (is it there?, its line of code)"""
    table = PAGE.read_text("utf-8").partition("| wish | available |")[2].splitlines()[2:]
    cells = [line.strip("| ").split(" | ") for line in table if line.startswith("| ")]
    return {wish: (there, (code or [""])[0].strip("`| ")) for wish, there, *code in cells}


@pytest.fixture(scope="module")
def names():
    names = {"__name__": "page"}
    *_, setup = examples(PAGE.read_text("utf-8"), "python")
    run(setup, names, PAGE)
    return names


def test_every_wish_has_a_line():
    assert set(rows()) >= WISHES
    assert all(rows()[wish][1] for wish in WISHES)


@pytest.mark.parametrize("wish", [wish for wish, (_, code) in rows().items() if code])
def test_a_line_runs(wish, names):
    there, code = rows()[wish]
    assert re.match(r"yes|not |\*\*no\*\*", there)
    assert eval(code, names) is not None


def test_what_is_said_to_be_missing_is(names):
    """When one of them comes, the page has to say so."""
    assert "smooth" not in Earth().get_params()
    with pytest.raises(ValueError, match="NaN"):
        Earth(engine="native").fit(names["holes"], names["y"])


def test_the_gradient_of_the_table_is_one(names):
    gradient = eval(rows()["gradient"][1], names)
    step = 1e-4  # which crosses no knot of whole numbers
    X, predict = names["X"] + 0.3, names["model"].predict
    shifted = names["model"].predict_deriv(X, "temp")[:, 0, 0]
    rise = (predict(X.assign(temp=X["temp"] + step)) - predict(X)) / step
    np.testing.assert_allclose(shifted, rise, rtol=1e-6, atol=1e-6)
    assert gradient.shape == (len(X), 2, 1) and gradient[:, 0].any()
