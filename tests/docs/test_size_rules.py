"""The comparison of rules: its truths, and that the page shows the numbers of docs/size-rules.csv."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script():
    folder = str(ROOT / "benchmarks")
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(
        "size_rules", ROOT / "benchmarks" / "size_rules.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]
    sys.path.remove(folder)


def test_truths_are_many_and_of_all_kinds(script):
    found = script.truths()
    assert len(found) == 108 and sum(truth.kind == "null" for truth in found) == 12
    assert {truth.p for truth in found} == {5, 10, 20, 50}
    rng = np.random.default_rng(0)
    for truth in found:
        means = truth.means(truth.design_of(rng, 500))
        assert (np.ptp(means) > 0) == (truth.kind != "null")


def test_further_truths_are_forty_in_groups(script):
    found = script.further_truths()
    assert len(found) == 40 and {truth.group for truth in found} == set(script.GROUPS)
    assert sum(truth.kind == "null" for truth in found) == 4
    rng = np.random.default_rng(0)
    for truth in found:
        X = truth.design_of(rng, 2000)
        assert (np.ptp(truth.means(X)) > 0) == (truth.kind != "null")
        assert 0.7 < truth.errors(rng, X, 5).std() < 1.4


def test_the_page_shows_the_numbers(script):
    table = ROOT / "docs" / "size-rules.csv"
    frame = pd.read_csv(table, keep_default_na=False, na_values=[""])  # a kind is called null
    frame = frame.rename(columns={"log_ratio": "mean"})
    page = (ROOT / "docs" / "size-rules.md").read_text("utf-8")
    truths = frame[(frame["part"] == "truth") & (frame["kind"] != "null")]
    parts = (truths, frame[frame["kind"] == "null"], frame[frame["part"] == "real"])
    for part in parts:
        for rule, row in script.summary(part).iterrows():
            line = next(
                line for line in page.splitlines() if line.startswith(f"| {script.NAMES[rule]} |")
            )
            assert script.cell(row["ratio"], row["se"]) in line
    assert truths["case"].nunique() >= 30 and parts[2]["case"].nunique() >= 40
    # size by actual df is no worse than cross-validation, within two errors
    best = script.summary(truths).loc["aicc"]
    assert best["ratio"] - 2 * best["se"] <= 1.03


def test_the_page_of_auto_earth_shows_the_numbers(script):
    """And they are as good as AutoEarth promises."""
    frame = script.read_auto()
    page = (ROOT / "docs" / "auto-earth.md").read_text("utf-8")
    assert script.auto_table(frame) in page and script.coverage_table(frame) in page
    groups = script.auto_groups(frame)
    assert set(script.GROUPS) | {"all truths with signal", "real data"} <= set(groups)
    for name, of in groups.items():
        compare = script.ratio_of_means if "null" in name else script.over_cv
        ratio, se = compare(of, "auto")
        assert ratio <= 1.05 + 2 * se, name
    for name in ("all truths with signal", "real data"):
        assert script.over_cv(groups[name], "auto")[0] <= 0.90
        assert 0.93 <= groups[name]["inside"].mean() <= 0.97
    assert script.ratio_of_means(groups["null, homoscedastic"], "auto")[0] <= 1.0
    assert frame["seconds auto"].median() <= frame["seconds cv"].median()


def test_groups_of_null_truths_go_by_mean_errors(script):
    frame = pd.DataFrame(
        {"case": ["a", "b", "c"], "error auto": [1.0, 2.0, 0.0], "error cv": [2.0, 1.0, 1e-9]}
    )
    ratio, se = script.ratio_of_means(frame, "auto")
    without = [2.0 / (1 + 1e-9), 1.0 / (2 + 1e-9), 1.0]
    assert ratio == pytest.approx(1.0)
    assert se == pytest.approx(np.sqrt(4 / 3 * np.var(without, ddof=1)))
    assert script.over_cv(frame, "auto")[0] == pytest.approx(1.0)
