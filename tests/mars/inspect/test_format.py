"""format_model is R's cat(format(fit)), byte for byte."""

import re

import pytest

from pyearthdof import bridge
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.inspect.format import _short_names, format_model
from tests.support.mars.r_models import ARGUMENTS, FITS, IN_FULL, STYLES, r_model, r_text
from tests.support.rscript import needs_rscript, r_version
from tests.support.versions import installed
from tests.support.without_r import run_without_r

OLD, NEW = "5.3.2", "5.3.4"


@needs_rscript
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", FITS)
def test_every_style_as_in_r(name, style):
    model = r_model(name)
    text = format_model(model, style, earth_version=installed("earth"))
    assert text == r_text(name, style, "")


@needs_rscript
@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("name", IN_FULL)
def test_every_argument_as_in_r(name, arguments):
    model = r_model(name)
    for style in STYLES:
        version = bridge.installed_version("earth")
        text = format_model(model, style, earth_version=version, **ARGUMENTS[arguments])
        assert text == r_text(name, style, arguments), style


@needs_rscript
def test_styles_differ():
    assert len({format_model(r_model("ozone-3"), style) for style in STYLES}) == len(STYLES)


TERMS = ["(Intercept)", "a", "h(b-3)*c", "h(3-b)", "a*h(b-3)"]
TABLES = {
    OLD: [("ah(b-3)", "bf1"), ("ch(3-b)", "bf2")],
    NEW: [("a", "bf1"), ("h(b-3)", "bf2"), ("c", "bf3"), ("h(3-b)", "bf4")],
}


@pytest.mark.parametrize(
    ("version", "table"),
    [("4.10.0", OLD), ("5.3.2", OLD), ("5.3.3", OLD), ("5.3.4", NEW), ("5.3.6", NEW),
     ("5.3.10", NEW), ("5.10.0", NEW), (None, NEW)],
)  # fmt: skip
def test_the_table_is_that_of_the_earth_here(version, table):
    """The newest one where there is none."""
    assert _short_names(TERMS, version) == TABLES[table]


def test_stars_in_names_leave_no_empty_piece():
    assert _short_names(["(Intercept)", "*a", "b**c*"], NEW) == [
        ("a", "bf1"),
        ("b", "bf2"),
        ("c", "bf3"),
    ]


def test_the_newest_earth_where_there_is_no_r():
    code = """
import numpy as np
from pyearthdof import Earth
x = np.random.default_rng(0).normal(size=(100, 2))
print(Earth(engine="native", linpreds=True).fit(x, 2 + x[:, 0] + 3 * x[:, 1]).format("bf"), end="")
"""
    assert run_without_r(code) == "  2\n  + 1 * bf1\n  + 3 * bf2\n\n   bf1  x1\n   bf2  x2\n"


@needs_rscript
def test_bridge_knows_the_version_of_the_earth_here():
    assert bridge.installed_version("earth") == r_version("earth")


@needs_rscript
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"style": "H"}, "style='H' but it should be 'h', 'pmax', 'max', 'C' or 'bf'"),
        ({"decomp": "both"}, "decomp='both' but it should be 'anova' or 'none'"),
        ({"digits": 0}, "digits=0 but it should be from 1 to 22"),
        ({"digits": 23}, "digits=23 but it should be from 1 to 22"),
        ({"digits": 3.5}, "digits=3.5 but it should be an integer"),
        ({"digits": True}, "digits=True but it should be an integer"),
        ({"use_names": "no"}, "use_names='no' but it should be True or False"),
        ({"colon_char": None}, "colon_char=None but it should be a string"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        format_model(r_model("trees"), **arguments)
