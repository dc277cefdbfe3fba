"""The set-up stops with one clear line where it cannot begin."""

import shutil
import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).resolve().parents[2] / ".ci" / "setup"
pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None or not SETUP.is_file(), reason="there is no bash, or no checkout"
)


def run_setup(folder, **programs):
    """Run it where only the programs that it needs to begin are on the PATH, and those of the test."""
    for name in ("bash", "cat", "dirname", "mktemp", "rm", "sed", "tr"):
        (folder / name).symlink_to(shutil.which(name))
    for name, text in programs.items():
        (folder / name).write_text("#!/bin/sh\n" + text)
        (folder / name).chmod(0o755)
    done = subprocess.run(
        ["bash", str(SETUP)], capture_output=True, text=True, check=False, env={"PATH": str(folder)}
    )
    return done.returncode, done.stdout, done.stderr


def test_without_python(tmp_path):
    code, out, err = run_setup(tmp_path)
    assert (code, out) == (1, "")
    assert err == (
        "setup: there is no python3 here, and Python 3.11 or later is needed: "
        "sudo apt-get install python3\n"
    )


def test_with_an_old_python(tmp_path):
    old = 'case "$1" in --version) echo Python 3.9.2 ;; *) exit 1 ;; esac'
    code, out, err = run_setup(tmp_path, python3=old)
    assert (code, out) == (1, "")
    assert err == "setup: Python 3.11 or later is needed, and python3 is Python 3.9.2\n"


@pytest.mark.parametrize("compilers", [{}, {"cc": ""}, {"c++": ""}])
def test_without_a_compiler(tmp_path, compilers):
    there = {"python3": "", "R": "", "Rscript": ""}
    code, out, err = run_setup(tmp_path, **there, **compilers)
    assert code == 1
    assert "of 2, R and a compiler, by apt-get" in out
    assert err.count("\n") == 1
    assert "a compiler of C and C++ (missing here, in Debian's names: r-base-dev)" in err
