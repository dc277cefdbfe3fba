"""The comparison on real data: its data sets, and the numbers of docs/real-world.csv on its page."""

import importlib.util
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(
        "real_world", ROOT / "benchmarks" / "real_world.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_sets_are_many_and_named_once(script):
    labels = [(task.kind, task.label) for task in script.tasks()]
    assert len(labels) == len(set(labels))
    kinds = [kind for kind, _ in labels]
    assert kinds.count("regression") >= 60 and kinds.count("classes") >= 20


def test_the_page_shows_the_numbers(script):
    rows = pd.read_csv(ROOT / "docs" / "real-world.csv")
    page = (ROOT / "docs" / "real-world.md").read_text("utf-8")
    assert set(rows["task"]) == {"regression", "classes"}
    for _, part in rows.groupby("task"):
        assert script._tables(part) in page
    assert f"pyearthdof {script.pyearthdof.__version__}" in page
