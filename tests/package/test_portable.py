"""Nothing in the parts without R asks for a system like Unix: Windows lacks the names below."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyearthdof
from pyearthdof import degrees_of_freedom
from pyearthdof.procedures import RegressionTree

PACKAGE = Path(pyearthdof.__file__).resolve().parent

MODULES = {"_posixsubprocess", "crypt", "curses", "fcntl", "grp", "posix", "pty", "pwd", "readline",
           "resource", "spwd", "syslog", "termios", "tty"}  # fmt: skip
NAMES = {
    "os": {"WEXITSTATUS", "chown", "chroot", "fchmod", "fchown", "fork", "forkpty", "getegid", "geteuid",
           "getgid", "getgroups", "getloadavg", "getpgid", "getpriority", "getuid", "killpg", "lchown",
           "mkfifo", "mknod", "nice", "openpty", "posix_fadvise", "posix_spawn", "pread", "pwrite",
           "register_at_fork", "sched_getaffinity", "setpgid", "setpriority", "setsid", "setuid",
           "statvfs", "sysconf", "ttyname", "uname", "wait", "waitid", "waitpid"},
    "signal": {"SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGUSR1",
               "SIGUSR2", "alarm", "pause", "pthread_kill", "pthread_sigmask", "setitimer", "siginterrupt",
               "sigpending", "sigtimedwait", "sigwait"},
}  # fmt: skip
FOLDERS = ("/dev", "/etc", "/proc", "/sys", "/tmp", "/usr", "/var")


def unix_only(source: str) -> set[str]:
    """What of it only Unix has; a name that its function looks for with hasattr is none of these."""
    found = set()
    _look(ast.parse(source), set(), found)
    return found


def _look(node, looked_for: set, found: set) -> None:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        calls = [c for c in ast.walk(node) if isinstance(c, ast.Call)]
        asked = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "hasattr"]
        looked_for = looked_for | {
            f"{ast.unparse(c.args[0])}.{c.args[1].value}"
            for c in asked
            if isinstance(c.args[1], ast.Constant)
        }
    if isinstance(node, ast.Import):
        found.update(n.name for n in node.names if n.name.split(".")[0] in MODULES)
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        found.update({node.module} & MODULES)
        unix = NAMES.get(node.module, set())
        found.update(f"{node.module}.{n.name}" for n in node.names if n.name in unix)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        dotted = f"{node.value.id}.{node.attr}"
        if node.attr in NAMES.get(node.value.id, set()) and dotted not in looked_for:
            found.add(dotted)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        found.update(f for f in FOLDERS if node.value == f or node.value.startswith(f + "/"))
    for part in ast.iter_child_nodes(node):
        _look(part, looked_for, found)


def test_no_source_asks_for_unix():
    files = [f for f in PACKAGE.rglob("*.py") if f.relative_to(PACKAGE).parts[0] != "bridge"]
    assert len(files) > 80
    found = {str(f.relative_to(PACKAGE)): unix_only(f.read_text(encoding="utf-8")) for f in files}
    assert {name: what for name, what in found.items() if what} == {}


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import fcntl", {"fcntl"}),
        ("from resource import getrusage", {"resource"}),
        ("import os\nos.fork()", {"os.fork"}),
        ("from os import getuid", {"os.getuid"}),
        ("import signal\ndef f(): signal.pthread_sigmask(1, ())", {"signal.pthread_sigmask"}),
        ("import signal\ndef f():\n if hasattr(signal, 'SIGKILL'): signal.SIGKILL", set()),
        ("open('/dev/null')", {"/dev"}),
        ("import os\nos.replace('a', 'b'); os.kill(1, 2)", set()),
    ],
)
def test_the_scan_sees(source, what):
    assert unix_only(source) == what


# Python reads it at its start, in the worker processes too.
POORER = f"""
import builtins, os, signal
modules, names = {MODULES!r}, {NAMES!r}
# What the standard library and joblib use without asking, on a system that they know is Unix.
kept = {{
    "os": {{"WEXITSTATUS", "fchmod", "fork", "getegid", "geteuid", "getgid", "getloadavg", "getuid",
            "register_at_fork", "sched_getaffinity", "statvfs", "sysconf", "uname", "wait", "waitpid"}},
    "signal": {{"SIGCHLD", "SIGHUP", "SIGPIPE"}},
}}
for module in (os, signal):
    for name in names[module.__name__] - kept[module.__name__]:
        if hasattr(module, name):
            delattr(module, name)
allowed = builtins.__import__
def poorer(name, globals=None, locals=None, fromlist=(), level=0):
    if name.split(".")[0] in modules and str((globals or {{}}).get("__name__")).startswith("pyearthdof"):
        raise ImportError(f"there is no {{name}} here")
    return allowed(name, globals, locals, fromlist, level)
builtins.__import__ = poorer
"""

RUN = """
import json, signal, sys
from pathlib import Path
assert not hasattr(signal, "pthread_sigmask") and not hasattr(signal, "SIGKILL")
from pyearthdof import Earth, degrees_of_freedom
from pyearthdof.datasets import load_ozone
from pyearthdof.exceptions import FolderInUseError
from pyearthdof.experiments import experiment
from pyearthdof.experiments.output import write_result
from pyearthdof.experiments.runner import run_experiments
from pyearthdof.experiments.runner import CellStore, locked
from pyearthdof.procedures import RegressionTree
from pyearthdof.experiments.results_page import write_report

folder = Path(sys.argv[1])
with locked(folder):
    try:
        with locked(folder):
            raise AssertionError("two runs hold one folder")
    except FolderInUseError as error:
        pass
    store = CellStore(folder / "cells")
    [result] = run_experiments([experiment("F-lasso-df")], "quick", n_jobs=2, store=store)
    write_result(result, folder)
    write_report(folder)
ozone = load_ozone()
model = Earth(engine="native").fit(ozone.drop(columns="O3"), ozone["O3"])
model.model_.save(folder / "model.json")
df = degrees_of_freedom(RegressionTree(depth=1), (30, 2), n_rep=8, n_jobs=2, random_state=1).df
print(json.dumps([sorted(f.name for f in folder.iterdir()), df]))
"""


def test_a_poorer_system_runs_it(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(POORER, encoding="utf-8")
    (tmp_path / "results").mkdir()
    path = os.pathsep.join([str(tmp_path), str(PACKAGE.parent)])
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / "results")],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    files, df = json.loads(done.stdout)
    assert {"F-lasso-df.csv", "report.html", "cells", "model.json"} <= set(files)
    assert df == degrees_of_freedom(RegressionTree(depth=1), (30, 2), n_rep=8, random_state=1).df
