"""The foot of the pages names what made them."""

import sys
from pathlib import Path

import pytest

from pyearthdof import __version__


@pytest.fixture
def foot(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs" / "_ext")
    import page_foot

    yield page_foot
    del sys.modules["page_foot"]


def test_ours_is_first(foot):
    assert foot.built_with().startswith(f"pyearthdof {__version__}, Python 3.")


def test_without_r_it_says_so(foot, monkeypatch):
    monkeypatch.setattr(foot, "PARTS", {})
    assert foot.built_with().endswith(", without R")


@pytest.mark.needs_r
def test_with_r_it_names_r_and_earth(foot):
    assert ", R 4." in foot.built_with() and ", earth 5." in foot.built_with()
