"""docs/arguments.md names every argument of R's earth, and every argument of Earth."""

import inspect
import re
from pathlib import Path

import pytest

from pyearthdof import Earth, EarthClassifier
from pyearthdof.mars.options import OPTIONS
from tests.support.rscript import needs_rscript, run_r

PAGE = Path(__file__).parents[2] / "docs" / "arguments.md"


def rows(first: str) -> list[list[str]]:
    """Cells of the table whose first column has this heading."""
    table = PAGE.read_text(encoding="utf-8").split(f"\n| {first} |")[1].split("\n\n")[0]
    lines = table.splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.fixture(scope="module")
def named() -> dict[str, str]:
    """R's argument to the text of our column."""
    return {re.fullmatch("`(.*)`", row[0])[1]: row[1] for row in rows("R")}


@needs_rscript
def test_every_argument_of_r_is_in_the_table(named):
    code = """
methods <- list(earth:::earth.default, earth:::earth.formula, earth:::earth.fit)
out <- list(names = unique(unlist(lapply(methods, function(f) names(formals(f))))))
"""
    assert set(run_r(code, packages=("earth",))["names"]) == set(named)


def test_every_argument_of_ours_is_in_the_table(named):
    ours = set(inspect.signature(Earth).parameters)
    own = {"threshold", "class_order", "class_weight"}
    assert set(inspect.signature(EarthClassifier).parameters) == ours | own
    told = {name for cell in named.values() for name in re.findall("`([a-z0-9_]+)`", cell)}
    told |= {name for row in rows("Python") for name in re.findall("`([a-z0-9_]+)`", row[0])}
    assert told == ours | own


def test_the_table_agrees_with_the_code(named):
    for option in OPTIONS:
        if option.r_name:
            assert f"`{option.name}`" in named[option.r_name], option.name
    defaults = {name: p.default for name, p in inspect.signature(Earth).parameters.items()}
    assert all(defaults[option.name] == option.default for option in OPTIONS)


def test_an_absent_argument_has_a_reason(named):
    for row in rows("R"):
        assert row[1] != "none" or len(row[2]) > 30, row[0]


@needs_rscript
def test_defaults_are_rs():
    code = """
f <- c(formals(earth:::earth.fit), formals(earth:::earth.default))
names <- c("thresh", "minspan", "endspan", "newvar.penalty", "fast.k", "fast.beta", "Adjust.endspan",
           "Auto.linpreds", "Exhaustive.tol", "nfold", "ncross", "stratify", "varmod.exponent",
           "varmod.conv", "varmod.clamp", "varmod.minspan", "degree", "keepxy")
out <- list(names = names, values = vapply(names, function(n) as.double(eval(f[[n]])), 0))
"""
    found = run_r(code, packages=("earth",))
    ours = {option.r_name: option.default for option in OPTIONS}
    for name, value in zip(found["names"], found["values"], strict=True):
        assert float(ours[name]) == value, name
