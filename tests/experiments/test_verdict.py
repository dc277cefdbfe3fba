"""Ours beside the paper's: what counts as exact, within error, off."""

import math

import pytest

from pyearthdof.experiments.verdict import measured, number, printed, stated


@pytest.mark.parametrize(
    ("ours", "paper", "verdict"),
    [
        (16.65751, "16.66", "exact"),  # rounded in print
        (17.20663, "17.20", "exact"),  # cut in print
        (2.266587, "2.26", "exact"),
        (16.67001, "16.66", "off by 0.01"),
        (16.6549, "16.66", "off by -0.0051"),
        (0.08463542, "0.0846", "exact"),
        (5.0000000001, "5.0", "exact"),
    ],
)
def test_printed_digits(ours, paper, verdict):
    found = printed("x", ours, paper)
    assert found.verdict == verdict
    assert found.agrees == (verdict == "exact")


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
