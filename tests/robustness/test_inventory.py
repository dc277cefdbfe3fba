"""Every place that starts a process, or runs text or data as code, with the reason why it may.

A place that is not in the tables fails the test: either it can do without, or its reason is written here.
"""

from pathlib import Path

import pytest

import pyearthdof
from pyearthdof.bridge.installation import SOURCED, scripts_folder
from tests.robustness.source_scan import scan_python, scan_r
from tests.support.figures import record

PACKAGE = Path(pyearthdof.__file__).resolve().parent

LAZY = "imports a module of this package whose name is in a table of the source"
TO_CHILD = "hands tasks to joblib's workers; they are our own functions, pickled by joblib itself"
TRACKER = "starts the helper of joblib's workers, a little before joblib would"

JOBS = "counts the workers that the user allows"

# (file, function): {what: why}
PYTHON = {
    ("__init__.py", "__getattr__"): {"importlib.import_module": LAZY},
    ("procedures/__init__.py", "__getattr__"): {"importlib.import_module": LAZY},
    ("experiments/__init__.py", "experiments"): {
        "importlib.import_module": "imports the modules that lie in its own folder"
    },
    ("cli/df.py", "_build"): {"importlib.import_module": LAZY},
    ("procedures/linear.py", "_neighbour_weights"): {".query": "asks a k-d tree, no text"},
    ("bridge/installation.py", "_ask_home"): {
        "subprocess.TimeoutExpired": "when that does not answer",
    },
    ("_utils/remedies.py", "run_without_home"): {
        "subprocess.run": "R for its home, flags, version and packages, and the C compiler: a list, no "
        "shell; R from R_HOME or the PATH",
        "subprocess.CompletedProcess": "what that gives",
    },
    ("_utils/remedies.py", "_run"): {
        "subprocess.TimeoutExpired": "when that does not answer",
    },
    ("bridge/installation.py", "import_rinterface"): {
        "rpy2.rinterface": "the one import of rpy2",
        "rpy2.rinterface_lib.callbacks": "R's console, to keep it quiet",
        "rpy2.rinterface_lib.openrlib": "R's interrupt flag",
    },
    ("bridge/doctor.py", "_r"): {"subprocess.run": "`R --version`: a list, no shell"},
    ("bridge/doctor.py", "_deadly_part"): {
        "subprocess.run": "this Python with a fixed text, to see whether R crashes"
    },
    ("bridge/doctor.py", "_bridge"): {
        "rpy2.rinterface_lib.openrlib.cffi_mode": "a word for the diagnosis"
    },
    ("bridge/session.py", "__init__"): {
        "R's new.env": "the environment of our R functions",
        "R's asNamespace": "its parent, stats",
        "R's guarded": "the function of guard.R that makes every call",
    },
    ("bridge/session.py", "_source"): {"R's sys.source": "our own files of r_scripts/, by name"},
    ("bridge/convert.py", "dispatcher"): {
        ".rternalize": "one fixed function of ours that R may call by number"
    },
    ("bridge/convert.py", "_classed"): {"R's class<-": "sets one of our own class names"},
    ("_utils/core.py", "load_core"): {
        "importlib.import_module": "our own extension, by its fixed name"
    },
    ("bridge/convert.py", "_word"): {"R's iconv": "marks bytes of a text that are no text"},
    ("cli/importable.py", "_imported"): {
        "importlib.import_module": "the module that the user names on the command line"
    },
    ("dof/pipeline/prices.py", "announce"): {"joblib.effective_n_jobs": JOBS},
    ("dof/montecarlo/blocks.py", "_done"): {"joblib.effective_n_jobs": JOBS},
    ("_utils/checks.py", "check_jobs"): {"joblib.effective_n_jobs": JOBS},
    ("mars/engines/native/cross_validation.py", "in_threads"): {
        "joblib.Parallel": "runs the folds in threads of this process",
        "joblib.delayed": "runs the folds in threads of this process",
    },
    ("mars/engines/native/earth_glm.py", "fit_glms"): {
        "concurrent.futures.ThreadPoolExecutor": "fits the responses in threads of this process"
    },
    ("mars/engines/native/sizes.py", "fit_sizes"): {
        "joblib.Parallel": "runs weighted fits in threads of this process",
        "joblib.delayed": "runs weighted fits in threads of this process",
    },
    ("dof/montecarlo/workers.py", "is_on_cluster"): {
        "joblib.parallel.get_active_backend": "asks which backend the user chose"
    },
    ("dof/montecarlo/workers.py", "_at_start"): {
        "joblib.parallel.get_active_backend": "asks which backend the user chose"
    },
    ("_utils/worker.py", "attach_to"): {
        "multiprocessing.parent_process": "asks for the process that started this worker"
    },
    ("dof/montecarlo/workers.py", "run_tasks"): {
        "joblib.delayed": TO_CHILD,
        "joblib.parallel.get_active_backend": "asks which backend the user chose",
        "concurrent.futures.BrokenExecutor": "what a dead worker is told by",
    },
    ("dof/montecarlo/workers.py", "_on_joblib"): {
        "joblib.Parallel": TO_CHILD,
        "joblib._parallel_backends.LokyBackend": "asks which backend the user chose",
        "joblib.externals.loky.backend.resource_tracker.ensure_running": TRACKER,
        "multiprocessing.resource_tracker.ensure_running": TRACKER,
    },
    ("dof/montecarlo/workers.py", "_watch"): {
        "multiprocessing.connection.wait": "looks whether a worker lives"
    },
    ("dof/montecarlo/workers.py", "_result"): {
        "distributed.CancelledError": "what a dead worker is told by",
        "distributed.KilledWorker": "what a dead worker is told by",
    },
}

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


def listed(table):
    return {(*place, what) for place, reasons in table.items() for what in reasons}


def compare(found, table):
    new, gone = sorted(found - listed(table)), sorted(listed(table) - found)
    assert not new, f"places without a reason in this file's tables: {new}"
    assert not gone, f"reasons for places that are gone: {gone}"


@pytest.mark.parametrize(
    ("language", "folder", "pattern", "scan", "table"),
    [
        ("Python", PACKAGE, "*.py", scan_python, PYTHON),
        ("R", scripts_folder(), "*.R", scan_r, R),
    ],
    ids=["Python", "R"],
)
def test_nothing_else_starts_or_evaluates(language, folder, pattern, scan, table):
    found = {
        (path.relative_to(folder).as_posix(), *place)
        for path in sorted(folder.rglob(pattern))
        for place in scan(path)
    }
    compare(found, table)
    record(
        f"places that start a process or evaluate, in {language}", places=len(found), unexplained=0
    )


def test_what_is_sourced_defines_and_runs_nothing():
    """Every top-level expression of a sourced file gives a name to something."""
    for name in SOURCED:
        for line in (scripts_folder() / name).read_text(encoding="utf-8").splitlines():
            if line and not line[0].isspace() and line[0] not in "#})":
                assert " <- " in line or line.startswith("else"), f"{name}: {line}"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import subprocess\ndef f(): subprocess.Popen(['ls'])", ("f", "subprocess.Popen")),
        ("from subprocess import run as go\ngo(['ls'])", ("module", "subprocess.run")),
        ("import os.path, os as o\no.system('ls')", ("module", "os.system")),
        ("import os\no = os.execvp", ("module", "os.execvp")),
        ("eval('1')", ("module", "eval")),
        ("run = exec", ("module", "exec")),
        ("import numpy as np\nnp.load('x', allow_pickle=True)", ("module", "allow_pickle=")),
        ("import numpy as np\nnp.load('x')", ("module", "numpy.load")),
        ("import pickle\ndef f(): pickle.loads(b'')", ("f", "pickle.loads")),
        ("from joblib import load\nload('x')", ("module", "joblib.load")),
        ("def f(frame): frame.query('a > 1')", ("f", ".query")),
        ("import rpy2.robjects as ro\nro.r('q()')", ("module", "rpy2.robjects.r")),
        ("def f(ri, text): ri.parse(text)", ("f", ".parse")),
        ("def f(ri, text): ri.baseenv['eval'](text)", ("f", "R's eval")),
        ("f(['x'], shell=True)", ("module", "shell=")),
    ],
)
def test_the_scan_sees_python(tmp_path, source, what):
    (tmp_path / "x.py").write_text(source)
    assert what in scan_python(tmp_path / "x.py")


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
