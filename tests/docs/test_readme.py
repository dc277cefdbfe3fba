"""The README without R: its example prints what it shows, and its commands run as they stand."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import pyearthdof
from tests.support.docs_pages import blocks, examples, same
from tests.support.rscript import needs_rscript
from tests.support.without_r import run_without_r

ROOT = Path(__file__).parents[2]
PACKAGE = Path(pyearthdof.__file__).parent
README = (ROOT / "README.md").read_text("utf-8")
[COMMANDS] = [b.text.splitlines() for b in blocks(README) if b.language == "sh"]
WITHOUT_R = [line for line in COMMANDS if "needs R" not in line]
MAIN = "from pyearthdof.cli import main; main()"


def test_the_example_needs_no_r(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [example] = examples(README, "python")
    printed = run_without_r(example.code, PYTHONPATH=str(PACKAGE.parent))
    assert same(printed, example.output), printed
    assert (tmp_path / "ozone.json").is_file()


def run_line(line, folder, path):
    program, *arguments = shlex.split(line, comments=True)
    assert program == "pyearthdof"
    return subprocess.run(
        [sys.executable, "-c", MAIN, *arguments],
        capture_output=True, text=True, check=False, cwd=folder,
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent), "PATH": path},
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """As the folder of the repository: the data are where the README says."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "pyearthdof").symlink_to(PACKAGE)
    return folder


def test_the_commands_need_no_r(folder):
    assert len(WITHOUT_R) == 8
    for line in WITHOUT_R:
        done = run_line(line, folder, os.path.dirname(sys.executable))
        assert done.returncode == 0 and done.stdout, f"{line}\n{done.stderr}"
    assert (folder / "model.json").is_file() and (folder / "results" / "report.html").is_file()


@needs_rscript
def test_and_those_that_need_r_run_with_it(folder):
    for line in set(COMMANDS) - set(WITHOUT_R):
        done = run_line(line, folder, os.environ["PATH"])
        assert done.returncode == 0, f"{line}\n{done.stderr}"


def test_nothing_is_said_to_be_published():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        told = [
            b.text for b in blocks(page.read_text("utf-8")) if "pip install pyearthdof" in b.text
        ]
        assert not told, page.name
