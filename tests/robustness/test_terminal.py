"""The command line where a terminal is poor, full, closed, or its user impatient."""

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pyearthdof
from pyearthdof import MarsModel
from tests.support.figures import record
from tests.support.signals import ctrl_c_heard

SOURCES = str(Path(pyearthdof.__file__).parents[1])
MAIN = "from pyearthdof.cli import main; main()"
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables, and models of them; names that few terminals can show."""
    folder = tmp_path_factory.mktemp("terminal")
    rows = "".join(
        f"{k % 11 + 3 * (k % 2)},{k % 11},{'red' if k % 2 else 'grün'}\n" for k in range(60)
    )
    (folder / "plain.csv").write_text("y,a,b\n" + rows.replace("grün", "1").replace("red", "2"))
    (folder / "foreign.csv").write_text("y,größe λ,farbe\n" + rows, encoding="utf-8")
    for name in ("plain", "foreign"):
        done = run(folder, "fit", f"{name}.csv", "--target", "y", "--engine", "native",
                   "--save", f"{name}.json")  # fmt: skip
        assert done.returncode == 0, done.stderr
    return folder


def run(folder, *arguments, code=MAIN, environment=(), **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONIOENCODING", "PYTHONUTF8")}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=clean | {"PYTHONPATH": SOURCES} | dict(environment),
        cwd=folder,
        timeout=300,
        check=False,
        **options,
    )


# What prints something; all of it is quick.
COMMANDS = {
    "version": ("--version",),
    "help": ("df", "--help"),
    "fit": ("fit", "foreign.csv", "--target", "y", "--engine", "native"),
    "fit --json": ("fit", "foreign.csv", "--target", "y", "--engine", "native", "--json"),
    "predict": ("predict", "foreign.json", "foreign.csv"),
    "df": ("df", "least-squares", "--n", "30", "--p", "2"),
    "correct": ("correct", "--n", "264", "--p", "9", "--quick"),
}


ENVIRONMENTS = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "ascii strict": {"PYTHONIOENCODING": "ascii:strict", "LC_ALL": "C"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "locale C": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


def some(names, *quick):
    """The quick ones always, the others with the slow tests."""
    return [n if n in quick else pytest.param(n, marks=pytest.mark.slow) for n in names]


@pytest.fixture(scope="module")
def in_full(folder):
    """What a command prints where all characters are known."""
    environment = {"PYTHONIOENCODING": "utf-8"}
    return functools.cache(
        lambda name: run(folder, *COMMANDS[name], environment=environment).stdout.decode()
    )


@pytest.mark.parametrize("name", some(COMMANDS, "help", "fit", "correct"))
@pytest.mark.parametrize("environment", some(ENVIRONMENTS, "ascii"))
def test_few_characters(folder, in_full, name, environment):
    done = run(folder, *COMMANDS[name], environment=ENVIRONMENTS[environment])
    assert (done.returncode, done.stderr) == (0, b"")
    full = in_full(name)
    text = done.stdout.decode("latin-1")
    assert len(text.splitlines()) == len(full.splitlines())
    if name in ("fit --json", "predict"):
        assert text == full
    if name in ("df", "correct"):
        assert text in (full, full.replace("±", "+-"))
    if name == "help":
        assert "Penalty lambda of ridge" in text
    if name == "fit":
        assert (
            "lambda" in text and ("größe" if environment == "latin-1" else r"gr\xf6\xdfe") in text
        )


def test_a_message_with_foreign_names(folder):
    done = run(
        folder, "fit", "foreign.csv", "--target", "λ", environment={"PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 2 and done.stdout == b""
    assert done.stderr.decode("ascii").count("\n") == 1 and b"lambda" in done.stderr


@needs_full
@pytest.mark.parametrize("name", some(COMMANDS, "help", "predict"))
def test_a_full_disk(folder, name):
    with open("/dev/full", "wb") as full:
        done = run(folder, *COMMANDS[name], stdout=full)
        quiet = run(folder, *COMMANDS[name], stdout=full, stderr=full)
    assert done.returncode == quiet.returncode == 3
    expected = b"pyearthdof: the output could not be written: No space left on device\n"
    assert done.stderr == expected


@needs_full
def test_messages_into_a_full_disk(folder):
    """The work is done, or refused with its code, though nobody hears of it."""
    with open("/dev/full", "wb") as full:
        progress = run(folder, "df", "tree", "--depth", "1", "--n-rep", "20", stderr=full)
        refused = run(folder, "fit", "nothing.csv", "--target", "y", stderr=full)
    assert progress.returncode == 0 and b"msdf" in progress.stdout
    assert (refused.returncode, refused.stdout) == (2, b"")


def test_no_progress_bar_in_a_log_file(folder):
    done = run(folder, "df", "tree", "--depth", "1", "--n-rep", "20")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", some(COMMANDS, "version", "predict"))
def test_a_reader_that_has_gone(folder, name):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run(folder, *COMMANDS[name], stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_the_first_line_only(folder):
    """A long output into `head -1`: the line, and nothing on standard error."""
    rows = "y,a,b\n" + "1,2,3\n" * 200_000
    (folder / "long.csv").write_text(rows)
    code = f"{sys.executable} -c '{MAIN}' predict plain.json long.csv | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", code], capture_output=True, text=True, check=False,
        cwd=folder, timeout=300, env=os.environ | {"PYTHONPATH": SOURCES},
    )  # fmt: skip
    assert done.returncode == 141 and len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_a_closed_output(folder):
    code = f"{sys.executable} -c '{MAIN}' --version >&-"
    done = subprocess.run(
        ["bash", "-c", code], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": SOURCES},
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr == "pyearthdof: the output could not be written: it is closed\n"


def test_files_are_written_though_nobody_reads_the_output(folder):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run(folder, "fit", "plain.csv", "--target", "y", "--engine", "native",
                   "--save", "kept.json", stdout=writer)  # fmt: skip
    finally:
        os.close(writer)
    assert done.returncode == 141
    assert MarsModel.load(folder / "kept.json") == MarsModel.load(folder / "plain.json")


# SIGINT in the middle of the import of a module, whatever the module makes of exceptions.
IMPATIENT = """
import importlib.abc, os, signal, sys

class Impatient(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == os.environ["IMPATIENT"]:
            try:
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(1000):
                    pass
            except:
                print("somebody caught it")

sys.meta_path.insert(0, Impatient())
from pyearthdof.cli import main
main()
"""


@pytest.mark.parametrize(
    "module",
    some([
        "typer", "numpy", "pandas", "pyearthdof.cli.commands", "pyearthdof.mars.earth", "sklearn.base",
        "joblib", "pyearthdof._core", "pyearthdof.mars.engines.native",
    ], "numpy", "pyearthdof.mars.earth"),
)  # fmt: skip
def test_ctrl_c_while_a_module_is_imported(folder, module):
    done = run(
        folder, "fit", "plain.csv", "--target", "y", "--engine", "native",
        code=IMPATIENT, environment={"IMPATIENT": module},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.needs_r
def test_ctrl_c_while_r_starts(folder):
    """It waits until R is whole."""
    done = run(
        folder, "fit", "plain.csv", "--target", "y", "--engine", "r",
        code=IMPATIENT, environment={"IMPATIENT": "rpy2.rinterface"},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


AT_THE_END = """
import atexit, os, signal
register = atexit.register

def impatient(function, *arguments, **options):
    if str(function.__module__).startswith("rpy2"):
        register(os.kill, os.getpid(), signal.SIGINT)
    register(function, *arguments, **options)

atexit.register = impatient
from pyearthdof.cli import main
main()
"""


@pytest.mark.needs_r
def test_ctrl_c_while_r_ends(folder):
    """There is nothing left to stop."""
    done = run(folder, "fit", "plain.csv", "--target", "y", "--engine", "r", "-q", code=AT_THE_END)
    assert (done.returncode, done.stderr) == (0, b"")


LOST = """
import os, signal, time
from pyearthdof.cli import terminal

class Deaf:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

with terminal.ctrl_c(signal.default_int_handler):
    try:
        Deaf()
        time.sleep(60)
    except KeyboardInterrupt:
        raise SystemExit(130)
"""


# A machine so busy that the interrupt that comes again finds the first one still being put off.
BUSY = """
import threading, time
start = threading.Thread.start
threading.Thread.start = lambda self: (start(self), [time.sleep(0.005) for _ in range(20)])
"""


@pytest.mark.parametrize("busy", ["", BUSY], ids=["idle", "busy"])
def test_an_interrupt_in_a_destructor_is_not_lost(folder, busy):
    done = run(folder, code=busy + LOST)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def interrupted(folder, delay, *arguments) -> tuple[int, str, str]:
    with ctrl_c_heard():
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": SOURCES},
        )
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


IN_TIME = {
    "fit": ("fit", "plain.csv", "--target", "y"),
    "native": ("fit", "plain.csv", "--target", "y", "--engine", "native"),
    "predict": ("predict", "plain.json", "plain.csv"),
    "df": ("df", "mars", "--n", "50", "--jobs", "2"),
    "correct": ("correct", "--n", "100", "--p", "5"),
    "doctor": ("doctor",),
    "crosscheck": ("crosscheck", "plain.csv", "--target", "y"),
    "reproduce": ("reproduce", "F-lasso-df", "--out", "results"),
}


@pytest.mark.parametrize(
    ("name", "moments"),
    [("fit", 4), *(pytest.param(n, 45, marks=pytest.mark.slow) for n in IN_TIME)],
)
def test_ctrl_c_in_the_first_seconds(folder, name, moments):
    """Before that Python itself starts, and nothing of ours runs."""
    ends = {}
    for k in range(moments):
        code, _, err = interrupted(folder, 0.1 + 3 * k / moments, *IN_TIME[name])
        assert code in (0, 130), (k, code, err)
        assert "Traceback" not in err and "Exception" not in err, (k, err)
        ends[code] = ends.get(code, 0) + 1
    record(
        f"Ctrl-C in the first seconds: {name}",
        interrupted=ends.get(130, 0),
        finished=ends.get(0, 0),
    )


def test_main_leaves_the_process_as_it_was(monkeypatch, capsys):
    before = signal.getsignal(signal.SIGINT), sys.stdout, sys.stderr, sys.unraisablehook
    monkeypatch.setattr(
        sys, "argv", ["pyearthdof", "correct", "--n", "264", "--p", "9", "--quick", "--json"]
    )
    with pytest.raises(SystemExit) as stop:
        from pyearthdof.cli import main

        main()
    assert not stop.value.code
    assert before == (signal.getsignal(signal.SIGINT), sys.stdout, sys.stderr, sys.unraisablehook)
    assert json.loads(capsys.readouterr().out)["n"] == 264
