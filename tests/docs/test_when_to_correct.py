"""The script behind "When it helps": what it compares, how it counts, and that the page shows its tables."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(
        "when_to_correct", ROOT / "benchmarks" / "when_to_correct.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_twenty_truths_of_all_kinds(script):
    assert len(script.TRUTHS) == len(set(script.TRUTHS)) == 20
    sizes = [sum(low <= t.p <= high for t in script.TRUTHS) for low, high in script.GROUPS.values()]
    assert sum(sizes) == 20 and min(sizes) >= 5
    for low, high in script.GROUPS.values():
        group = [t for t in script.TRUTHS if low <= t.p <= high]
        assert {t.signal > 0 for t in group} == {True, False}
        assert {t.degree for t in group} == {1, 2}


def test_a_truth_has_the_variance_that_it_says(script):
    X = np.random.default_rng(9).standard_normal((50_000, 60))
    for truth in script.TRUTHS:
        mean = truth.mean(X[:, : truth.p])
        assert mean.var() == pytest.approx(truth.signal, rel=0.06, abs=1e-12)
        assert abs(mean.mean()) < 0.05


def test_errors_of_one_data_set(script):
    truth = script.TRUTHS[0]
    row = script.errors(truth, 0, 1.25)
    assert row == script.errors(truth, 0, 1.25), "the same data each time"
    assert row["default_penalty"] == 2.0 and row["corrected_penalty"] == 1.25
    assert row["cv_penalty"] in script.PENALTIES
    assert all(0 < row[name] < 1 for name in ("default", "corrected", "cv"))
    same = script.errors(truth, 0, 2.0)
    assert same["corrected"] == same["default"] == row["default"]


def test_ratios_are_between_truths(script):
    frame = pd.DataFrame(
        {"truth": [0, 0, 1, 1], "a": [1.0, 3.0, 8.0, 8.0], "b": [2.0, 2.0, 2.0, 2.0]}
    )
    # Truth 0: 2/2 = 1, truth 1: 8/2 = 4; their geometric mean is 2, the logs are log 2 around it.
    assert script.ratio(frame, "a", "b") == f"2.00 ({2 * np.log(2):.2f})"
    assert script._shares(frame["a"], frame["b"]) == "25 %, 0 %, 75 %"


def test_the_page_shows_the_tables_of_the_script(script):
    row = {"p": 1, "n": 100, "degree": 1, "signal": 1.0, "default": 0.2, "corrected": 0.1, "cv": 0.1,
           "corrected_penalty": 1.0, "cv_penalty": 2.0}  # fmt: skip
    frame = pd.DataFrame(
        [row | {"truth": t.number, "p": t.p, "signal": t.signal} for t in script.TRUTHS]
    )
    page = (ROOT / "docs" / "when-to-correct.md").read_text(encoding="utf-8")
    for table in (script.by_group(frame), script.by_truth(frame)):
        assert f"| {' | '.join(table.columns)} |" in page
    for name in script.by_group(frame)["truths"]:
        assert f"| {name} |" in page
    for t in script.TRUTHS:
        assert f"| {t.p} | {t.n} | {t.degree} | {t.signal} |" in page
