"""Ours beside the paper's: what counts as exact, within error, off."""

import math

import numpy as np
import pytest

from pyearthdof.experiments.base import comparison_table
from pyearthdof.experiments.verdict import (
    better,
    measured,
    multiple,
    number,
    one_draw,
    printed,
    stated,
    tally,
)


@pytest.mark.parametrize(
    ("ours", "paper", "verdict"),
    [
        (16.65751, "16.66", "exact (rounded)"),
        (17.20663, "17.20", "exact (cut)"),
        (2.266587, "2.26", "exact (cut)"),
        (2.294709, "2.29", "exact (rounded)"),  # cut, it is the same
        (16.67001, "16.66", "off by 0.01"),
        (16.6549, "16.66", "off by -0.0051"),
        (0.08463542, "0.0846", "exact (rounded)"),
        (5.0000000001, "5.0", "exact (rounded)"),
        (4.9999999999, "5.0", "exact (rounded)"),
        (2.345, "2.35", "exact (rounded)"),  # half a step: rounded up,
        (2.345, "2.34", "exact (rounded)"),  # or to even
        (-1.239, "-1.23", "exact (cut)"),
        (12.0, "13", "off by -1"),
        (math.nan, "5.0", "off by nan"),
        (math.inf, "5.0", "off by inf"),
    ],
)
def test_printed_digits(ours, paper, verdict):
    found = printed("x", ours, paper)
    assert found.verdict == verdict
    assert found.agrees == verdict.startswith("exact")


def test_within_three_combined_standard_errors():
    assert measured("x", 1.0, 0.3, 2.4, 0.4).verdict == "within error"
    beyond = measured("x", 1.0, 0.3, 2.6, 0.4)
    assert beyond.verdict == "off by -1.6 (3 standard errors)" and beyond.agrees is False


def test_no_paper_number_is_no_verdict():
    found = measured("x", 1.0, 0.1, None)
    assert (found.paper, found.verdict, found.agrees) == ("-", "", None)


def test_without_any_error_only_the_same_number_agrees():
    assert measured("x", 1.0, 0.0, 1.0).agrees
    assert measured("x", 1.0, 0.0, 1.5).verdict == "off by -0.5"


@pytest.mark.parametrize(
    ("value", "se", "text"),
    [
        (48.4912, 0.352, "48.49 (0.35)"),
        (10.0, 0.0, "10"),
        (7.3320912, None, "7.332"),
        (12.3, 5.4, "12.3 (5.4)"),
        (123.4, 54.0, "123 (54)"),
        (1.0, math.nan, "1"),
    ],
)
def test_numbers_show_two_digits_of_their_error(value, se, text):
    assert number(value, se) == text


def test_a_statement():
    assert stated("x", "rises", "rises", True).verdict == "holds"
    assert stated("x", "rises", "falls", False).verdict == "does not hold"
    unsure = stated("x", "rises", "2.0 (0.1), 2.1 (0.1)", None)
    assert unsure.verdict == "open: within error" and unsure.agrees is None


def test_the_paper_as_one_more_draw():
    draws = [2.9, 3.1, 3.0, 2.8, 3.2, 3.05, 2.95]
    assert one_draw("x", draws, "2.99", 10).agrees
    assert one_draw("x", draws, "6.5", 10).agrees is False
    # All draws the same: the paper's rounding is all that may differ.
    same = one_draw("x", [0.08138021] * 10, "0.0814", 4)
    assert same.verdict.startswith("within error (2e-05 off, ") and same.ours == "0.08138"
    assert one_draw("x", [0.08138021] * 10, "0.0846", 4).agrees is False


def test_the_spread_that_judges_is_shown():
    """The difference is far beyond the error of the mean, but not beyond the spread of a draw."""
    draws = np.repeat([-1.5, -0.5, 0.5, 1.5], 5)
    draws = 1.55 + 0.58 * draws / draws.std(ddof=1)
    line = one_draw("x", draws, "2.29", 10)
    assert line.ours == "1.55 (sd 0.58)" and line.agrees
    allowed = multiple(10, 19) * math.hypot(0.58, 0.58 / math.sqrt(20), 0.01 / math.sqrt(12))
    assert line.verdict == f"within error (0.74 off, {allowed:.2g} allowed)"
    far = one_draw("x", draws, "9.55", 10)
    assert far.agrees is False and far.verdict == f"off by -8 ({allowed:.2g} allowed)"


def test_which_model_was_better():
    lines = [better("x", gain, 0.02, 0.05, allowed=3.0) for gain in (0.1, 0.05, -0.05, -0.1, 0.0)]
    assert [line.ours for line in lines] == [
        "better by 0.100 (0.020)", "better by 0.050 (0.020)", "worse by 0.050 (0.020)",
        "worse by 0.100 (0.020)", "equal",
    ]  # fmt: skip
    assert [line.agrees for line in lines] == [True, None, None, False, None]
    assert {line.paper for line in lines} == {"better by 0.05"}


def test_numbers_of_r_are_not_numbers_of_the_paper():
    ours = [
        printed("a", 1.23, "1.2"),
        printed("b", 1.23, "1.23", by_r=True),
        measured("c", 1.0, 0.1, 1.05, 0.1, by_r=True),
        printed("d", 1.23, "1.3", by_r=True),
        stated("e", "=", "?", None),
        measured("f", 1.0, 0.1, None),
    ]
    counts = tally([line.to_dict() for line in ours])
    assert {judge: str(count) for judge, count in counts.items()} == {
        "the paper": "1 of 1, 1 open", "R": "2 of 3"
    }  # fmt: skip
    table = comparison_table(ours)
    assert table["paper"].tolist() == ["1.2", "-", "-", "-", "=", "-"]
    assert table["R reference"].tolist() == ["-", "1.23", "1.05 (0.1)", "1.3", "-", "-"]
    assert "R reference" not in comparison_table(ours[:1])
