"""T-ozone: the digits of a plain R run."""

import numpy as np
import pytest

from pyearthdof.bridge.installation import scripts_folder
from pyearthdof.experiments import experiment
from pyearthdof.experiments.t_ozone import METHODS, summary
from tests.support.rscript import needs_rscript
from tests.support.versions import EARTH_SEEN, golden

# degree -> error and its standard error, corrected penalty, corrected error and its standard error.
DIGITS = {
    1: ("16.65751", "2.294709", "2.99357", "16.61001", "2.266587"),
    2: ("17.32851", "2.336629", "3.92098", "17.20663", "2.423364"),
}


@pytest.fixture(scope="module")
def frame():
    return experiment("T-ozone").run("paper")


def rows(frame):
    found = summary(frame)
    for degree in DIGITS:
        default, corrected = (found.loc[(degree, method)] for method in METHODS)
        yield [
            default["mse"],
            default["se"],
            corrected["penalty"],
            corrected["mse"],
            corrected["se"],
        ]


@golden(earth=EARTH_SEEN)
def test_every_digit(frame):
    for ours, theirs in zip(rows(frame), DIGITS.values(), strict=True):
        shown = tuple(
            f"{value:.{len(t.split('.')[1])}f}" for value, t in zip(ours, theirs, strict=True)
        )
        assert shown == theirs


@golden(earth=EARTH_SEEN)
def test_every_verdict_is_exact(frame):
    lines = experiment("T-ozone").compare(frame)
    comparisons = [c for c in lines if not c.quantity.endswith("against MARS")]
    assert len(comparisons) == 10
    cut = {c.quantity for c in comparisons if c.verdict == "exact (cut)"}
    assert cut == {"degree 1, corrected MARS: its s.e.", "degree 2, corrected MARS: error"}
    assert {c.verdict for c in comparisons if c.quantity not in cut} == {"exact (rounded)"}


@golden(earth=EARTH_SEEN)
def test_whether_the_corrected_model_was_better(frame):
    """In one fold of five, so the error is as large as the gain."""
    lines = [c for c in experiment("T-ozone").compare(frame) if c.quantity.endswith("against MARS")]
    assert [(c.ours, c.paper, c.verdict) for c in lines] == [
        ("better by 0.047 (0.047)", "better by 0.05", "open: within error"),
        ("better by 0.12 (0.12)", "better by 0.13", "open: within error"),
    ]


def test_a_corrected_model_that_was_worse(frame):
    frame = frame.copy()
    frame.loc[frame["method"] == METHODS[1], "mse"] += 5 + 0.1 * frame["fold"]
    lines = experiment("T-ozone").compare(frame)
    assert [c.verdict for c in lines if c.quantity.endswith("against MARS")] == [
        "does not hold"
    ] * 2


@needs_rscript
def test_plain_r_gives_the_same(frame):
    import subprocess

    script = scripts_folder() / "reference" / "ozone.R"
    done = subprocess.run(
        ["Rscript", "--vanilla", str(script)], capture_output=True, text=True, check=True
    )
    theirs = np.array([[float(v) for v in line.split()] for line in done.stdout.splitlines()])
    np.testing.assert_allclose(list(rows(frame)), theirs, rtol=1e-10)
