"""How many standard errors are allowed: false alarms are as rare as promised, wrong numbers are found."""

import math

import numpy as np
import pytest

from pyearthdof.experiments.verdict import (
    FALSE_ALARMS,
    every,
    measured,
    multiple,
    rises,
    side,
    welch,
)


def alarms(allowed, *, n_estimates, tables=20_000, comparisons=15):
    """Share of tables with a verdict against true numbers, where errors come from few estimates."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal((tables, comparisons, n_estimates))
    error = values.std(axis=2, ddof=1) / math.sqrt(n_estimates)
    return np.mean((np.abs(values.mean(axis=2)) > allowed * error).any(axis=1))


@pytest.mark.parametrize("n_estimates", [4, 10, 20])
def test_one_table_in_a_thousand_is_a_false_alarm(n_estimates):
    found = alarms(multiple(15, n_estimates - 1), n_estimates=n_estimates)
    # 20 alarms in 20,000 tables are expected, give or take 4.5.
    assert 0 < found < 2 * FALSE_ALARMS
    # Three standard errors for each number alone, as a table of four estimates had them.
    assert alarms(3.0, n_estimates=n_estimates) > 30 * FALSE_ALARMS


def test_the_multiple_grows_with_the_table_and_with_fewer_repetitions():
    assert multiple(1) == pytest.approx(3.29, abs=0.005)
    assert multiple(1) < multiple(20) < multiple(20, 99) < multiple(20, 9)


def test_degrees_of_freedom_of_a_difference():
    assert welch(1.0, 9, 1.0, 9) == 18
    assert welch(1.0, 9, 1e-9, 99) == pytest.approx(9)
    assert welch(0.0, 9, 0.0, 9) == math.inf
    assert 9 < welch(1.0, 9, 0.7, 99) < 108


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ((1.7, 4.00, 3.91), True),  # falls by less than its error
        ((1.7, 2.9, 4.4), True),
        ((1.7, 4.4, 2.9), False),
        ((4.4, 2.9, 1.7), False),
        ((1.7, 1.8, 1.75), None),
        ((1.8, 1.7, 1.75), None),
    ],
)
def test_rises(values, answer):
    assert rises(values, (0.1, 0.1, 0.1), multiple(5, 99)) is answer


def test_rises_looks_at_all_pairs():
    slowly_down = 2.0 - 0.1 * np.arange(8)
    errors = np.full(8, 0.05)
    assert rises(slowly_down, errors, 4.0) is False
    assert rises(slowly_down[:3], errors[:3], 4.0) is None
    assert rises([1.0], [0.1], 4.0) is None


def test_sides():
    assert side(0.5, 0.3) is True and side(-0.5, 0.3) is False and side(0.1, 0.3) is None
    assert side([0.5, -0.1], [0.3, 0.3]) is True
    assert side([0.5, -0.4], [0.3, 0.3]) is False
    assert every([True, True]) is True
    assert every([True, None]) is None
    assert every([None, False]) is False


def test_a_wrong_number_is_off():
    assert measured("x", 1.0, 0.1, 1.4, 0.0, allowed=multiple(20)).verdict == "within error"
    assert measured("x", 1.0, 0.1, 1.5, 0.0, allowed=multiple(20)).agrees is False
