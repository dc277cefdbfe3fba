"""An R that somebody else uses too: nothing of theirs changes, and nothing of theirs changes ours."""

import json

import pytest

from tests.support.child import run_child
from tests.support.figures import record

pytestmark = pytest.mark.needs_r

SNAPSHOT = """
import json, os, signal, sys, threading
import numpy as np
import rpy2.rinterface_lib.callbacks as callbacks
import rpy2.robjects as ro
from tests.support.everything_r import everything

LOOK = '''function() list(options = options(), folder = getwd(), search = search(),
  things = ls(globalenv(), all.names = TRUE), locale = Sys.getlocale(),
  seed = get0(".Random.seed", globalenv(), inherits = FALSE), kind = RNGkind(),
  devices = dev.list(), connections = showConnections(), handlers = globalCallingHandlers(),
  masked = list(c, earth), libraries = .libPaths())'''
NAMES = ("consolewrite_print", "consolewrite_warnerror", "showmessage", "consoleread",
         "consoleflush", "consolereset", "choosefile", "showfiles", "cleanup", "processevents",
         "busy", "yesnocancel")


def of_python():
    return {"signals": {s: signal.getsignal(s) for s in signal.valid_signals()},
            "callbacks": {n: getattr(callbacks, n, None) for n in NAMES},
            "folder": os.getcwd(), "environment": dict(os.environ), "print": np.get_printoptions(),
            "errors": np.geterr(), "hooks": (sys.excepthook, sys.unraisablehook, threading.excepthook),
            "rules": len(ro.conversion.get_conversion().py2rpy.registry)}
"""

# Things that users do to their R; none of them may matter to us.
HABITS = [
    "options(warn = 2)",
    "options(warn = -1)",
    "options(digits = 3)",
    "options(digits = 15, scipen = -5)",
    "options(OutDec = ',')",
    "options(width = 30)",
    "options(max.print = 5)",
    "options(contrasts = c('contr.sum', 'contr.helmert'))",
    "options(na.action = 'na.fail')",
    "options(warnPartialMatchDollar = TRUE, warnPartialMatchArgs = TRUE, warnPartialMatchAttr = TRUE)",
    "options(show.signif.stars = FALSE, deparse.max.lines = 1)",
    "options(error = quote(stop('their error option')))",
    "suppressWarnings(options(stringsAsFactors = TRUE))",
    "options(encoding = 'latin1', keep.source = TRUE, expressions = 500)",
    "earth <- function(...) stop('their earth'); mars <- smooth.spline <- bs <- earth",
    "c <- function(...) stop('their c'); list <- T <- F <- pi <- t <- c",
    "summary.earth <- print.earth <- print.summary.earth <- function(...) stop('their method')",
    "predict.earth <- format.earth <- model.matrix.earth <- function(...) stop('their method')",
    "predict.smooth.spline <- predict.bs <- predict.ns <- function(...) stop('their method')",
    "x <- y <- Y <- weights <- args <- fit <- allowed <- options <- 'theirs'",
    "attach(list(c = 1, earth = 2, print = function(...) 3, quote = 4), name = 'theirs')",
    "RNGkind('Wichmann-Hill', 'Box-Muller', 'Rounding'); set.seed(3)",
    "setwd(tempdir())",
    "Sys.setlocale('LC_COLLATE', 'C')",
    "globalCallingHandlers(warning = function(w) stop('their handler'))",
    "try(stop('an error before'), silent = TRUE)",
]


def test_everything_of_theirs_is_as_it_was(tmp_path):
    code = (
        SNAPSHOT
        + """
ro.r('options(digits = 5, warn = 1, theirs = "yes"); set.seed(7, kind = "Wichmann-Hill")')
ro.r('c <- earth <- function(...) "theirs"; x <- 1; library(splines)')
ro.r['setwd'](sys.argv[1])
heard = []
callbacks.consolewrite_print = heard.append
callbacks.consolewrite_warnerror = heard.append
signal.signal(signal.SIGINT, lambda *seen: heard.append("SIGINT"))
signal.signal(signal.SIGUSR1, lambda *seen: None)
look = ro.r(LOOK)
ro.globalenv["look"] = look
ro.r("before <- look()"); ro.r("before <- look()")
mine = of_python()
everything()
after = of_python()
assert ro.r("isTRUE(all.equal(before, look())) && identical(before$seed, look()$seed)")[0], (
    ro.r("all.equal(before, look())"))
for name in mine:
    assert mine[name] == after[name], (name, set(after[name].items()) ^ set(mine[name].items()))
assert heard == [], heard
ro.r("cat('hello')")
assert heard == ["hello"]
assert ro.r("c(1)")[0] == "theirs"
with ro.default_converter.context():
    assert list(ro.FloatVector([1.0, 2.0])) == [1, 2]
"""
    )
    done = run_child(code, str(tmp_path))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    record("an R of somebody else's", kinds_of_state_compared=20, changed=0)


TOGETHER = "; ".join(habit for habit in HABITS if habit.startswith("options("))
OTHERS = [habit for habit in HABITS if "their" in habit and not habit.startswith("options(")]


@pytest.mark.parametrize(
    "habits",
    [[TOGETHER, *OTHERS], pytest.param(HABITS, marks=pytest.mark.slow)],
    ids=["the worst", "one by one"],
)
def test_no_habit_of_theirs_changes_our_numbers_or_texts(habits):
    code = """
import json, sys
import rpy2.rinterface_lib.callbacks as callbacks
import rpy2.robjects as ro
from tests.support.everything_r import differences, everything
callbacks.consolewrite_warnerror = lambda text: None
expected = everything()
keep = ro.r('''function() {
  old <- base::options(); seen <- base::search(); folder <- base::getwd()
  function() {
    base::options(old[base::setdiff(base::names(old), "stringsAsFactors")])
    base::suppressWarnings(base::options(stringsAsFactors = FALSE))
    base::globalCallingHandlers(NULL)
    for (name in base::setdiff(base::search(), seen)) base::detach(name, character.only = TRUE)
    base::rm(list = base::ls(base::globalenv()), envir = base::globalenv())
    base::RNGkind("default", "default", "default"); base::setwd(folder)
  }
}''')
wrong = {}
for habit in json.loads(sys.argv[1]):
    undo = keep()
    ro.r(habit)
    try:
        different = differences(everything(), expected)
    except Exception as error:
        different = [f"{type(error).__name__}: {error}"]
    undo()
    if different:
        wrong[habit] = different
print(json.dumps(wrong))
"""
    done = run_child(code, json.dumps(habits))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert json.loads(done.stdout) == {}
    record("habits of another user of R", tried=len(habits), differences=0)


def test_an_r_of_theirs_that_was_forked_is_refused():
    code = """
import os
import rpy2.robjects as ro
from pyearthdof import bridge
from pyearthdof.exceptions import RForkedError
if os.fork() == 0:
    try:
        bridge.require("earth")
    except RForkedError as error:
        os._exit(0 if "loky" in str(error) else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
bridge.require("earth")
"""
    done = run_child(code)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("where", ["main", pytest.param("thread", marks=pytest.mark.slow)])
def test_r_that_we_start_takes_no_signal_handler_and_warns_in_no_thread(where):
    code = """
import os, signal, threading, time, warnings
warnings.simplefilter("error")
from pyearthdof import bridge
seen = []
signal.signal(signal.SIGINT, lambda *args: seen.append(args[0]))
before = {s: signal.getsignal(s) for s in signal.valid_signals()}
if os.environ["WHERE"] == "thread":
    thread = threading.Thread(target=bridge.require)
    thread.start()
    thread.join()
else:
    bridge.require()
assert bridge.is_available()
assert {s: signal.getsignal(s) for s in signal.valid_signals()} == before
os.kill(os.getpid(), signal.SIGINT)
assert seen == [signal.SIGINT]
"""
    done = run_child(code, WHERE=where)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_handler_of_theirs_hears_of_ctrl_c_after_the_call():
    code = """
import os, signal, threading
from pyearthdof import bridge
from pyearthdof.bridge import session
bridge.require(None)
running = session._get_session()
busy = "function(s) { began <- Sys.time(); while (Sys.time() - began < s) NULL }"
running.environment["busy"] = running.ri.baseenv["eval"](running.ri.parse(busy))
seen = []
signal.signal(signal.SIGINT, lambda *args: seen.append(args[0]))
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
bridge.call("busy", 0.8, package=None)
assert seen == [signal.SIGINT], seen
signal.signal(signal.SIGINT, signal.SIG_IGN)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
bridge.call("busy", 0.8, package=None)
assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN and len(seen) == 1
"""
    done = run_child(code)
    assert (done.returncode, done.stderr) == (0, "")
