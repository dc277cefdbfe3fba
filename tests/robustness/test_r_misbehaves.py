"""R or rpy2 is missing, broken or in the wrong place: one sentence with the remedy, from all alike."""

import json
import os
import shutil
import site
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pyearthdof import Earth, bridge, degrees_of_freedom
from pyearthdof.bridge import session
from pyearthdof.bridge.installation import find_r_home
from pyearthdof.exceptions import FittingError, RError, RWarning
from tests.support.child import run_child
from tests.support.figures import record

pytestmark = pytest.mark.needs_r

LOOK = """
import json
from pyearthdof import bridge, doctor
try:
    bridge.require("earth")
    answer = {"error": None}
except Exception as error:
    answer = {"error": type(error).__name__, "message": str(error),
              "problem": getattr(error, "problem", ""), "remedy": getattr(error, "remedy", "")}
diagnosis = doctor()
answer["available"] = bridge.is_available()
print(json.dumps(answer | {"doctor": diagnosis.to_dict(), "text": str(diagnosis)}))
"""


def look(options=(), **environment):
    """What the bridge and the doctor say in a new process."""
    done = run_child(LOOK, options=options, **environment)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)


def is_said(said, problem, remedy):
    """One sentence with its remedy; the doctor says the same."""
    assert said["error"] == "RNotAvailableError" and not said["available"]
    assert "\n" not in said["message"] and said["message"].count("to fix it: ") == 1
    assert problem in said["problem"] and remedy in said["remedy"]
    findings = [f for f in said["doctor"]["findings"] if f["problem"] == said["problem"]]
    assert findings and all(f["remedy"] == said["remedy"] for f in findings)
    assert not said["doctor"]["ok"] and "cannot work here" in said["text"]
    record("faults injected: R missing or broken", faults=1, survived=1)


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("kind", ["absent", "empty", "file"])
def test_r_home_without_r(tmp_path, kind):
    home = tmp_path / "home"
    if kind == "empty":
        home.mkdir()
    elif kind == "file":
        home.write_text("not a folder")
    is_said(look(R_HOME=str(home)), f"R_HOME is '{home}', but it contains no R", "unset R_HOME")


def test_r_home_with_an_r_that_does_not_run(tmp_path):
    program(tmp_path / "bin" / "R", "echo out of order >&2; exit 3")
    is_said(look(R_HOME=str(tmp_path)), "does not run (exit code 3: out of order)", "unset R_HOME")


def test_r_home_that_holds_another_homes_r(tmp_path):
    """Half of such an R is missing, and R would end the process while it starts."""
    home = find_r_home()
    (tmp_path / "bin").symlink_to(home / "bin")
    is_said(look(R_HOME=str(tmp_path)), f"the R in it is that of {home}", "unset R_HOME")


@pytest.mark.parametrize("kind", ["absent", "fails", "cannot be executed", "incomplete"])
def test_the_r_on_the_path(tmp_path, kind):
    problem, remedy = "does not run (exit code 4)", "apt-get install r-base-core"
    if kind == "absent":
        problem = "R is not installed or not on the PATH"
    elif kind == "fails":
        program(tmp_path / "R", "exit 4")
    elif kind == "cannot be executed":
        program(tmp_path / "R", "").write_bytes(b"\x7fELF and no more")
        problem = "does not run ([Errno 8]"
    else:
        program(tmp_path / "R", f"echo {tmp_path}")
        problem, remedy = "bin/Rscript is missing", "--reinstall r-base-core"
    is_said(look(PATH=str(tmp_path)), problem, remedy)


@pytest.mark.parametrize("place", ["home", "R_PROFILE_USER"])
def test_a_profile_that_stops(tmp_path, place):
    profile = tmp_path / ".Rprofile"
    profile.write_text('stop("not today")\n')
    where = {"HOME": str(tmp_path)} if place == "home" else {place: str(profile)}
    done = run_child(LOOK, **where)
    said = json.loads(done.stdout)
    is_said(said, f"{profile} stops it (Error: not today)", "R_PROFILE_USER=/dev/null")


def test_rpy2_missing(tmp_path):
    """Every installed package but rpy2, by links."""
    for folder in filter(os.path.isdir, site.getsitepackages()):
        for item in Path(folder).iterdir():
            if not item.name.lower().startswith(("rpy2", "_rinterface")):
                (tmp_path / item.name).symlink_to(item)
    if not (tmp_path / "pyearthdof").exists():  # else it is installed, in the folder that has rpy2
        (tmp_path / "pyearthdof").symlink_to(Path(child_sources()) / "pyearthdof")
    said = look(options=("-S",), PYTHONPATH=str(tmp_path))
    is_said(said, "rpy2 is not installed", "pip install 'pyearthdof[r]'")


def child_sources() -> str:
    from tests.support.child import SOURCES

    return str(SOURCES)


def test_rpy2_that_does_not_fit_this_r(tmp_path):
    (tmp_path / "rpy2").mkdir()
    (tmp_path / "rpy2" / "__init__.py").write_text(
        "raise ImportError(\"undefined symbol: 'R_getVar'\")"
    )
    said = look(PYTHONPATH=os.pathsep.join([str(tmp_path), child_sources()]))
    is_said(said, "does not work with the installed R (ImportError: undefined", "--force-reinstall")


def test_earth_missing(tmp_path):
    said = look(R_LIBS_SITE=str(tmp_path), R_LIBS_USER=str(tmp_path))
    is_said(said, "R's package 'earth' is not installed", "install.packages('earth')")


def library_with_earth(folder: Path) -> Path:
    installed = bridge.call("find.installed", "earth", package=None)[0]
    shutil.copytree(installed, folder / "earth")
    return folder / "earth"


def test_earth_cut_short(tmp_path):
    """Plain R crashes on this one."""
    code = library_with_earth(tmp_path) / "R" / "earth.rdb"
    code.write_bytes(code.read_bytes()[:1000])
    said = look(R_LIBS=str(tmp_path))
    is_said(said, f"'earth' in {tmp_path / 'earth'} does not load (the file", "installing it again")


CRASH_WHILE_LOADING = """
from pathlib import Path
import sys, pyearthdof.bridge.doctor as d
d._TRY_ALL += "    import os; os.abort()"
print(d.doctor())
"""


@pytest.mark.slow
def test_the_doctor_survives_an_r_that_does_not():
    done = run_child(CRASH_WHILE_LOADING)
    assert (done.returncode, done.stderr) == (0, "")
    assert "R ended its process (exit code -6) while it loaded 'earth'" in done.stdout
    assert "cannot work here" in done.stdout


@pytest.mark.slow
def test_earth_without_what_it_depends_on(tmp_path):
    library_with_earth(tmp_path)
    said = look(R_LIBS_SITE=str(tmp_path), R_LIBS_USER=str(tmp_path))
    is_said(said, "does not load (there is no package called", "install.packages('earth')")


def test_earth_that_stops_while_it_loads(tmp_path):
    source = tmp_path / "source"
    (source / "R").mkdir(parents=True)
    (source / "DESCRIPTION").write_text(
        "Package: earth\nVersion: 99.0\nTitle: Broken\nDescription: Broken.\nLicense: none\n"
        "Author: nobody\nMaintainer: nobody <nobody@example.org>\n"
    )
    (source / "NAMESPACE").write_text("export(earth)\n")
    (source / "R" / "all.R").write_text(
        "earth <- function(...) 1\n.onLoad <- function(...) stop('planted\\n fault')\n"
    )
    library = tmp_path / "library"
    library.mkdir()
    subprocess.run(
        ["R", "CMD", "INSTALL", "--no-test-load", "-l", str(library), str(source)],
        check=True,
        capture_output=True,
    )
    is_said(look(R_LIBS=str(library)), "planted fault", "installing it again")


@pytest.mark.slow
def test_a_folder_that_only_looks_like_earth_is_passed_over(tmp_path):
    (tmp_path / "earth").mkdir()
    (tmp_path / "earth" / "DESCRIPTION").write_text("nonsense")
    said = look(R_LIBS=str(tmp_path))
    assert said["error"] is None and said["doctor"]["ok"]


@pytest.mark.slow
def test_scripts_of_ours_that_are_damaged(tmp_path):
    code = """
import shutil, sys
from pathlib import Path
from pyearthdof.bridge import session
folder = Path(sys.argv[1]) / "r_scripts"
shutil.copytree(session.scripts_folder(), folder)
(folder / "guard.R").write_text("guarded <- function(")
session.scripts_folder = lambda: folder
try:
    session.require("earth")
except session.RNotAvailableError as error:
    print(error)
"""
    done = run_child(code, str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "R code of this package is damaged" in done.stdout and "pip install" in done.stdout


@pytest.mark.slow
def test_an_earth_that_is_asked_to_fit_says_it_too(tmp_path):
    code = "from pyearthdof import Earth; Earth(engine='r').fit([[1.0], [2.0], [3.0]], [1, 2, 3])"
    done = run_child(code, PATH=str(tmp_path))
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith("R is not installed or not on the PATH; to fix it: "
                         "sudo apt-get install r-base-core r-base-dev r-cran-earth r-cran-mda")  # fmt: skip
    assert "rpy2" not in done.stderr


@pytest.fixture
def planted():
    """Put an R function among ours for the time of a test: planted(name, text)."""
    running = session._get_session()
    before = {}

    def plant(name, text):
        names = set(running.ri.baseenv["ls"](running.environment))
        before.setdefault(name, running.environment[name] if name in names else None)
        running.environment[name] = running.ri.baseenv["eval"](
            running.ri.parse(text), envir=running.environment
        )

    yield plant
    for name, function in before.items():
        if function is None:
            del running.environment[name]
        else:
            running.environment[name] = function


FAULTS = {
    "an error": ("function() stop('planted 50% \\n  fault')", "planted 50% fault"),
    "an error without words": ("function() stop()", "^R stopped without a message$"),
    "no end of recursion": ("function() planted()", "nested too deeply|stack usage"),
    "more memory than there is": ("function() numeric(1e15)", "cannot allocate"),
    "a missing function": ("function() no.such.function()", "could not find function"),
    "a jump out of everything": ("function() invokeRestart('abort')", "jumped out"),
    "a C-level error": ("function() solve.default(matrix(0, 2, 2))", "Lapack routine"),
    "text that is no text": ("function() stop('bad \\xff byte')", "^bad <ff> byte$"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_r_does_is_one_error_and_r_goes_on(planted, fault):
    text, message = FAULTS[fault]
    planted("planted", text)
    with pytest.raises(RError, match=message) as caught:
        bridge.call("planted", package=None)
    assert "\n" not in str(caught.value)
    assert bridge.call("echo", np.arange(3.0), package=None).tolist() == [0, 1, 2]
    record("faults injected: R stops", faults=1, survived=1)


def test_bytes_that_are_no_text_arrive_by_their_numbers(planted):
    odd = "setNames(list(c('g\\u00fcn', NA, 'no \\xfe text')), 'n\\xff')"
    planted("planted", f"function() {{ warning('odd \\xfd'); {odd} }}")
    with pytest.warns(RWarning, match="^odd <fd>$"):
        found = bridge.call("planted", package=None)
    assert found == {"n<ff>": ["gün", None, "no <fe> text"]}


RNG = np.random.default_rng(9)
X = RNG.normal(size=(40, 3))
# Stops for about one response in twenty, like a real fault: by what is in it.
FAULTY_FIT = """
local({
  sound <- fit.earth
  function(x, y, ...) {
    if (max(y) > 3) stop("planted fault")
    sound(x, y, ...)
  }
})
"""


def test_an_error_in_a_batch_names_the_repetition_and_how_to_replay_it(planted):
    planted("fit.earth", FAULTY_FIT)
    model = Earth(engine="r")
    with pytest.raises(FittingError, match="planted fault") as caught:
        degrees_of_freedom(model, X, n_rep=40, random_state=1)
    error = caught.value
    assert f"repetition {error.repetition} of 40 (counted from 0)" in str(error)
    assert "random numbers: numpy.random.default_rng(1)" in str(error)
    assert error.y.max() > 3
    with pytest.raises(RError, match="planted fault"):
        model.fit(X, error.y)
    with pytest.raises(FittingError) as again:
        degrees_of_freedom(model, X, n_rep=40, random_state=1)
    assert again.value.repetition == error.repetition
    np.testing.assert_array_equal(again.value.y, error.y)
    record("faults injected: R stops in a batch", faults=1, survived=1)


def test_the_column_of_a_block_is_known(planted):
    planted("fit.earth", FAULTY_FIT)
    Y = np.zeros((40, 5)) + RNG.normal(size=(40, 5)).clip(-2, 2)
    Y[7, 3] = 4.0
    design = bridge.NamedMatrix(X, ("a", "b", "c"))
    for function in ("earth.many", "earth.passes"):
        with pytest.raises(RError, match=r"^column 13 \(counted from 0\): planted fault$"):
            bridge.call(function, design, Y, {"degree": 1}, first_column=10)
        with pytest.raises(RError, match=r"^planted fault$"):
            bridge.call(function, design, Y, {"degree": 1})


def test_an_exception_in_a_users_function_names_the_repetition(planted):
    calls = []

    def allowed(degree, pred, parents, namesx, first):
        calls.append(first)
        if sum(calls) > 12:
            raise LookupError("mine")
        return True

    with pytest.raises(FittingError, match=r"repetition \d+ of 30 .* LookupError: mine"):
        degrees_of_freedom(Earth(engine="r", allowed=allowed), X, n_rep=30, random_state=1)
