"""A run that is killed and started again ends with the same bytes; two runs never share a folder."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from pyearthdof.experiments.runner import locked

pytestmark = pytest.mark.needs_r("mda")

NAME = "T3"
MAIN = "from pyearthdof.cli import main; main()"


def start(folder, *arguments):
    command = [sys.executable, "-c", MAIN, "reproduce", NAME, "--out", str(folder), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out


def cells(folder):
    return list((folder / "cells").glob("*.json")) if (folder / "cells").is_dir() else []


def wait_for_cells(process, folder, number):
    give_up = time.monotonic() + 120
    while len(cells(folder)) < number and process.poll() is None and time.monotonic() < give_up:
        time.sleep(0.002)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unbroken")
    finish(start(folder))
    return (folder / f"{NAME}.csv").read_bytes()


def test_killed_and_resumed_gives_the_same_bytes(tmp_path, unbroken):
    process = start(tmp_path)
    wait_for_cells(process, tmp_path, random.randint(1, 8))
    time.sleep(random.uniform(0, 0.02))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    kept = {file: file.stat().st_mtime_ns for file in cells(tmp_path)}
    assert kept and not (tmp_path / f"{NAME}.csv").exists(), "the run was not killed in the middle"
    finish(start(tmp_path))
    assert (tmp_path / f"{NAME}.csv").read_bytes() == unbroken
    assert all(file.stat().st_mtime_ns == when for file, when in kept.items())


@pytest.mark.slow
def test_killed_with_two_processes(tmp_path, unbroken):
    process = start(tmp_path, "--jobs", "2")
    wait_for_cells(process, tmp_path, random.randint(1, 8))
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    finish(start(tmp_path, "--jobs", "2"))
    assert (tmp_path / f"{NAME}.csv").read_bytes() == unbroken


def test_a_second_run_into_the_folder_is_refused(tmp_path):
    with locked(tmp_path):
        second = start(tmp_path)
        _, err = second.communicate(timeout=300)
    assert second.returncode == 3
    assert f"another run (process {os.getpid()}) is writing into" in err
    assert len(err.splitlines()) == 1 and not cells(tmp_path)
