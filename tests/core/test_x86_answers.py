"""The numbers of x86-64 on every processor, whatever compiled the core: stored ones, made by the script."""

from __future__ import annotations

import math
import platform

import numpy as np
import pytest

from tests.support import x86_answers

LIBC, VERSION = platform.libc_ver()
# For processors without fused operations glibc has another exp and pow: there this exp ends in 854p+5.
SAME_LIBRARY = (
    LIBC == "glibc"
    and tuple(map(int, VERSION.split(".")[:2])) >= (2, 28)
    and math.exp(3.625).hex() == "0x1.2c32a20e4f855p+5"
)


@pytest.mark.skipif(not SAME_LIBRARY, reason="exp, log or pow is not that of glibc 2.28 with FMA")
def test_all_problems_to_the_bit():
    assert len(x86_answers.stored()) == x86_answers.COUNT
    assert dict(x86_answers.differences()) == {}


@pytest.mark.skipif(SAME_LIBRARY, reason="here the bits are compared")
def test_another_mathematical_library_gives_the_same_least_squares():
    for number, distance in x86_answers.differences():
        assert number % 2 == 1, f"problem {number} has no glm, and differs by {distance:.1e}"


def test_a_difference_is_seen(monkeypatch):
    kept = x86_answers.stored()[:3]
    changed = kept[1].copy()
    changed[-1] = np.nextafter(changed[-1], np.inf)
    monkeypatch.setattr(x86_answers, "stored", lambda: [kept[0], changed, kept[2][:-1]])
    found = dict(x86_answers.differences())
    assert set(found) == {1, 2} and found[1] < 1e-15 and found[2] == np.inf
