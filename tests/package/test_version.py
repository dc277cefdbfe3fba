"""The version is written in one file; what cannot read it there says the same."""

import importlib.metadata
from pathlib import Path

import yaml

from pyearthdof import __version__

ROOT = Path(__file__).resolve().parents[2]


def test_the_package_that_is_installed():
    assert importlib.metadata.version("pyearthdof") == __version__


def test_the_citation():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == __version__


def test_pyproject_writes_no_second_one():
    assert f'"{__version__}"' not in (ROOT / "pyproject.toml").read_text("utf-8")
