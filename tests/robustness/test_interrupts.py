"""Ctrl-C: it stops at once, says one line, leaves the session usable, and loses no stored cell."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pyearthdof
from tests.support.figures import record
from tests.support.signals import ctrl_c_heard

SOURCES = str(Path(pyearthdof.__file__).parents[1])


def start(*command):
    """Start Python in a process group of its own, as a terminal does."""
    with ctrl_c_heard():
        return subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": SOURCES},
        )


def press_ctrl_c(process) -> tuple[float, list[int]]:
    """SIGINT to the whole group; when, and which processes were in it."""
    group = [
        pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_in(pid, process)
    ]
    os.killpg(process.pid, signal.SIGINT)
    return time.monotonic(), group


def is_in(pid, process) -> bool:
    try:
        return os.getpgid(pid) == process.pid and not is_dead(pid)
    except ProcessLookupError:
        return False


def is_dead(pid) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def wait_until_dead(pids) -> None:
    end = time.monotonic() + 10
    while not all(map(is_dead, pids)):
        assert time.monotonic() < end, "processes are left"
        time.sleep(0.02)


def test_what_is_started_hears_it_though_pytest_does_not():
    """As where a shell has put pytest in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = start("-c", "print('ready', flush=True); import time; time.sleep(60)")
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert process.stdout.readline() == "ready\n"
    press_ctrl_c(process)
    _, err = process.communicate(timeout=60)
    assert process.returncode and "KeyboardInterrupt" in err


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("r_batch", marks=pytest.mark.needs_r),
        pytest.param("r_processes", marks=[pytest.mark.needs_r, pytest.mark.slow]),
        pytest.param("r_formula", marks=[pytest.mark.needs_r, pytest.mark.slow]),
        "native_threads",
        pytest.param("native_alone", marks=pytest.mark.slow),
        "native_fit",
        pytest.param("native_weights", marks=pytest.mark.slow),
        pytest.param("native_many", marks=pytest.mark.slow),
    ],
)
def test_a_run_stops_and_the_session_goes_on(name):
    process = start("-m", "tests.support.interruptible", name)
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    time.sleep(2.0)
    pressed, group = press_ctrl_c(process)
    assert process.stdout.readline() == "stopped\n"
    seconds = time.monotonic() - pressed
    out, err = process.communicate(timeout=120)
    assert out.splitlines() == ["idle", "same"]
    assert err == ""
    assert process.returncode == 0
    wait_until_dead(group)
    record(f"Ctrl-C: {name}", seconds=seconds, processes=len(group), processes_left=0)


MAIN = "from pyearthdof.cli import main; main()"


def reproduce(folder, *arguments):
    return start("-c", MAIN, "reproduce", "T3", "--out", str(folder), *arguments)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_reproduce_is_stopped_and_goes_on(tmp_path, jobs):
    stopped, unbroken = tmp_path / "stopped", tmp_path / "unbroken"
    whole = reproduce(unbroken)
    _, err = whole.communicate(timeout=300)
    assert whole.returncode == 0, err

    process = reproduce(stopped, "--jobs", jobs)
    end = time.monotonic() + 120
    while not list(stopped.glob("cells/*.json")) and time.monotonic() < end:
        time.sleep(0.005)
    pressed, group = press_ctrl_c(process)
    line = process.stderr.readline()
    seconds = time.monotonic() - pressed
    _, rest = process.communicate(timeout=120)
    until_exit = time.monotonic() - pressed
    assert line == "pyearthdof: stopped; run the same command to continue\n"
    assert rest == ""
    assert process.returncode == 130
    wait_until_dead(group)
    assert not list(stopped.rglob(".partial*"))
    kept = {f: (f.stat().st_mtime_ns, f.read_bytes()) for f in stopped.glob("cells/*.json")}
    assert kept and not (stopped / "T3.csv").exists(), "it was not stopped in the middle"

    again = reproduce(stopped, "--jobs", jobs)
    _, err = again.communicate(timeout=300)
    assert (again.returncode, err) == (0, "")
    assert (stopped / "T3.csv").read_bytes() == (unbroken / "T3.csv").read_bytes()
    assert all((f.stat().st_mtime_ns, f.read_bytes()) == was for f, was in kept.items())
    record(
        f"Ctrl-C: reproduce --jobs {jobs}",
        seconds=seconds,
        seconds_until_exit=until_exit,
        cells_kept=len(kept),
        cells_lost=0,
        processes_left=0,
    )
