"""Every place where our R code starts a process or runs text or data as code, with the reason why it may.

A place that is not in the table fails the test: either it can do without, or its reason is written here.
For Python, ruff's rules S do the same.
"""

import re
from pathlib import Path

import pytest

from pyearthdof.bridge.installation import SOURCED, scripts_folder
from tests.support.figures import record

R_NAMES = (
    "as.call", "as.formula", "as.function", "as.name", "as.symbol", "assign", "attach", "body<-",
    "bquote", "call", "do.call", "download.file", "dyn.load", "dynGet", "eval", "eval.parent", "evalq",
    "file.create", "file.remove", "fifo", "get", "get0", "getAnywhere", "getFromNamespace",
    "install.packages", "library", "load", "loadNamespace", "match.fun", "mget", "parse", "pipe",
    "python.call", "q", "quit", "readRDS", "Recall", "require", "requireNamespace", "save", "saveRDS",
    "setwd", "shell", "shell.exec", "sink", "socketConnection", "source", "str2expression", "str2lang",
    "sys.source", "system", "system2", "Sys.setenv", "terms.formula", "trace", "unlink", "unserialize",
    "url", "write", "writeLines", ".C", ".Call", ".External", ".Fortran", ".Internal",
)  # fmt: skip

CALL = "builds a call of a fixed function from values, so that $call stays short"
OWN_BYTES = (
    "revives an R object that is kept with a fitted model; as unsafe as a pickle, and only there"
)
PARSED = "walks the parsed formula, of which nothing has been evaluated"

R = {
    ("guard.R", "guarded"): {
        "do.call": "calls one of our own functions with values, which are quoted",
        "get0": ".Random.seed, a fixed name",
    },
    ("guard.R", "put.back.seed"): {"assign": ".Random.seed, a fixed name"},
    ("guard.R", "load.package"): {"loadNamespace": "a package named in our source"},
    ("guard.R", "check.installed"): {"readRDS": "the index of an installed package"},
    ("earth.R", "fit.earth"): {"eval": CALL, "as.call": CALL},
    ("earth.R", "show.contrasts"): {"attach": "a function of earth's own, for the time of one fit"},
    ("earth.R", "with.gam"): {"require": "gam or mgcv, which earth looks for on the search path"},
    ("earth.R", "glm.language"): {
        "as.call": CALL,
        "as.name": "a family from the table in the source",
        "call": CALL,
    },
    ("earth.R", "allowed.function"): {"python.call": "the user's own Python function"},
    ("earth.R", "earth.reprune"): {"unserialize": OWN_BYTES},
    ("earth.R", "describe.glm"): {"do.call": "cbind, with values"},
    ("earth.R", "earth.summary"): {"unserialize": OWN_BYTES, "do.call": "summary, with values"},
    ("earth.R", "earth.residuals"): {"unserialize": OWN_BYTES},
    ("earth.R", "earth.interval"): {"unserialize": OWN_BYTES},
    ("earth.R", "earth.importance"): {"unserialize": OWN_BYTES},
    ("mars.R", "fit.mars"): {"eval": CALL, "as.call": CALL},
    ("splines.R", "smoothing.spline"): {"do.call": "stats::smooth.spline, with values"},
    ("splines.R", "regression.spline.predict"): {"unserialize": OWN_BYTES},
    ("splines.R", "smoothing.spline.predict"): {"unserialize": OWN_BYTES},
    ("robject.R", "earth.read"): {"readRDS": "a file that the user names, documented as trusted"},
    ("robject.R", "earth.build"): {"call": "a fixed call as a label of the model"},
    # The guarded path of formulas: the only text of the user's that R parses.
    ("formula.R", "known.formula"): {
        "parse": "the formula, which was read, checked and written again"
    },
    ("formula.R", "formula.functions"): {
        "assign": "fixed names into the environment that a formula is evaluated in",
        "get": "functions on the list of allowed ones",
    },
    ("formula.R", "earth.formula.one"): {
        "eval": "earth with the checked formula, whose environment holds only allowed functions",
        "as.call": CALL,
        "as.name": "a name of our own for the weights",
        "assign": "the weights, under that name",
    },
    ("formula.R", "describe.poly"): {"do.call": "rbind, with values"},
    ("formula.R", "matched.arguments"): {"call": PARSED},
    ("formula.R", "poly.arguments"): {"call": PARSED},
    # Not sourced by the package: run by hand or by the tests, with Rscript.
    ("install.R", "file"): {
        "install.packages": "what it is for; a fixed list",
        "requireNamespace": "a fixed list",
    },
    ("reference/f_subset.R", "file"): {"library": "a plain R run"},
    ("reference/ozone.R", "file"): {"library": "a plain R run"},
}


def scan_r(path: Path) -> set[tuple[str, str]]:
    """Pairs of the top-level function that holds the place, and what stands there."""
    found = set()
    holder = "file"
    for line in _without_text(path.read_text(encoding="utf-8")).splitlines():
        begins = re.match(r"([\w.]+) *<- *function", line)
        if begins:
            holder = begins[1]
        for name in R_NAMES:
            if re.search(rf"(?<![\w.$@]){re.escape(name)}(?![\w.=])(?! *(=(?!=)|<-))", line):
                found.add((holder, name))
    return found


def _without_text(source: str) -> str:
    """R code with its strings emptied and its comments taken out; line ends stay."""
    pattern = r"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<comment>#[^\n]*)"""

    def replaced(match):
        return '""' + "\n" * match[0].count("\n") if match["text"] else ""

    return re.sub(pattern, replaced, source)


def test_nothing_else_starts_or_evaluates():
    folder = scripts_folder()
    found = {
        (path.relative_to(folder).as_posix(), *place)
        for path in sorted(folder.rglob("*.R"))
        for place in scan_r(path)
    }
    listed = {(*place, what) for place, reasons in R.items() for what in reasons}
    assert not found - listed, "places without a reason in the table"
    assert not listed - found, "reasons for places that are gone"
    record("places that start a process or evaluate, in R", places=len(found), unexplained=0)


def test_what_is_sourced_defines_and_runs_nothing():
    """Every top-level expression of a sourced file gives a name to something."""
    for name in SOURCED:
        for line in (scripts_folder() / name).read_text(encoding="utf-8").splitlines():
            if line and not line[0].isspace() and line[0] not in "#})":
                assert " <- " in line or line.startswith("else"), f"{name}: {line}"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("f <- function(x) eval(parse(text = x))", {("f", "eval"), ("f", "parse")}),
        ("f <- function(x)\n  base::system(x)", {("f", "system")}),
        ("f <- function(x) lapply(x, str2lang)", {("f", "str2lang")}),
        ("x <- get(name)(1)", {("file", "get")}),
        ("f <- function(x) do.call(x, list())", {("f", "do.call")}),
        ("f <- function(x) match.fun(x)('eval(1) # source')", {("f", "match.fun")}),
        ("# eval(x)\nf <- function() 'system(1)'", set()),
        ("f <- function(x, source = 1) x$eval + my.system", set()),
    ],
)
def test_the_scan_sees_r(tmp_path, source, what):
    (tmp_path / "x.R").write_text(source)
    assert scan_r(tmp_path / "x.R") == what
