"""Sums of 64 bits in software: the bits of the hardware where it has them, and those of exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from pyearthdof import _core

has_hardware = pytest.mark.skipif(
    _core.LONG_DOUBLE_DIGITS != 64, reason="this machine's long double is another format"
)
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 2.0**-1022,
           1.7976931348623157e308, 1 / 3, 2.0**53 + 1, 2.0**64, 2.0**-64]  # fmt: skip


def numbers(size, seed, spread=40):
    """Of many sizes, some whole, some of few digits, so that sums cancel and ties come up."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(size) * 2.0 ** rng.integers(-spread, spread + 1, size=size)
    few = rng.random(size) < 0.3
    values[few] = np.ldexp(
        rng.integers(-8, 9, size=few.sum()), rng.integers(-70, 71, size=few.sum())
    )
    return values


def same(a, b):
    """Bit by bit; a NaN is as good as any other."""
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(
        np.signbit(a), np.signbit(b) if not np.isnan(b).any() else np.signbit(a)
    )


@has_hardware
@pytest.mark.parametrize("spread", [3, 40, 300])
def test_a_million_sums_and_divisions(spread):
    matrix = numbers((6, 10**6), seed=spread, spread=spread)
    found = _core.extended_column_means(matrix, emulated=True)
    same(found, _core.extended_column_means(matrix))


@has_hardware
@pytest.mark.parametrize("n", [1, 2, 3, 10, 1000])
def test_sums_means_and_variances(n):
    for seed in range(300 if n < 1000 else 20):
        values = numbers(n, seed, spread=seed % 60)
        for name in ("extended_sum", "extended_mean", "extended_variance"):
            function = getattr(_core, name)
            same(np.float64(function(values, emulated=True)), np.float64(function(values)))


@has_hardware
def test_products_floors_and_differences():
    """The remainder of a division has all of them."""
    a, b = numbers(10**6, 1), numbers(10**6, 2)
    for found, wanted in zip(
        _core.extended_division(a, b, emulated=True), _core.extended_division(a, b), strict=True
    ):
        same(found, wanted)


@has_hardware
def test_infinite_missing_and_tiny_numbers():
    a, b = (side.ravel() for side in np.meshgrid(SPECIAL, SPECIAL))
    for found, wanted in zip(
        _core.extended_division(a, b, emulated=True), _core.extended_division(a, b), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)
    pairs = np.array([a, b])
    same(_core.extended_column_means(pairs, emulated=True), _core.extended_column_means(pairs))


def rounded(value: Fraction, digits: int) -> Fraction:
    """To the nearest number of so many binary digits, of two as near to the even one."""
    if value == 0:
        return value
    exponent = math.frexp(float(value))[1]
    step = Fraction(2) ** (exponent - digits)
    while abs(value) / step >= 2**digits:
        step *= 2
    while abs(value) / step < 2 ** (digits - 1):
        step /= 2
    return round(value / step) * step


@pytest.mark.parametrize("emulated", [True, False])
def test_sums_are_those_of_exact_arithmetic(emulated):
    """Each partial sum rounded to 64 digits, the quotient too, and the result to 53."""
    matrix = numbers((5, 4000), seed=9, spread=30)
    found = _core.extended_column_means(matrix, emulated=emulated)
    for column, mean in zip(matrix.T, found, strict=True):
        total = Fraction(0)
        for value in column.tolist():
            total = rounded(total + Fraction(value), 64)
        assert Fraction(float(mean)) == rounded(rounded(total / 5, 64), 53)
