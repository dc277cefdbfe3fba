"""Candidate knots of a pair: where earth's counter puts them, and their sums."""

from __future__ import annotations

import numpy as np
import pytest

from pyearthdof import _core
from pyearthdof.mars.engines.native.engine import make_design, pass_settings
from tests.support.mars.earth_batch import Case


def counted_places(x, base, spans) -> list[int]:
    """earth's rule in plain Python: x and the parent by descending x; floats are not fused here."""
    n = len(x)
    wait, minimum, end = spans
    variance = sum_b = sum_bb = sum_bbx = sum_bx = hinge = 0.0
    found = []
    for place in range(1, n - end):
        b, x0, x1 = base[place - 1], x[place], x[place - 1]
        sum_b += b
        sum_bb += b * b
        sum_bx += b * x1
        sum_bbx += b * b * x1
        before, hinge = hinge, sum_bx - sum_b * x0
        variance += (x1 - x0) * (2 * sum_bbx - sum_bb * (x0 + x1)) + (before**2 - hinge**2) / n
        if b > 0 and variance > 0:
            wait -= 1
            if wait == 0:
                wait = minimum
                if not found or x0 != x[found[-1]]:
                    found.append(place)
    return found


def knots_of(x, base) -> dict:
    X = x[:, None]
    settings = pass_settings(Case.make(X, x).options, len(X))
    return _core.candidate_knots(make_design(X), settings, base, 0)


@pytest.mark.parametrize("seed", range(40))
def test_knots_are_where_earth_counts(seed):
    """Tied values: what rounding leaves of their variance decides whether a case counts."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(15, 60))
    x = rng.integers(0, 2 + seed % 4, size=n) * 10 ** rng.uniform(-3, 3)
    base = np.maximum(0, rng.normal(size=n)) if seed % 2 else np.ones(n)
    if seed % 3 == 0:  # a parent whose knot lies between almost equal values
        base = np.where(rng.random(n) < 0.5, 1e-15, 7.3) * base
    knots = knots_of(x, base)
    order = knots["order"].astype(int)
    wanted = counted_places(x[order].tolist(), base[order].tolist(), knots["spans"])
    assert knots["place"][:-1].tolist() == wanted


def test_sums_are_those_of_the_hinges():
    rng = np.random.default_rng(1)
    x, base = rng.normal(size=200), np.maximum(0, rng.normal(size=200))
    knots = knots_of(x, base)
    assert len(knots["x"]) > 10
    hinges = base * np.maximum(0, x - knots["x"][:, None])
    centred = hinges - hinges.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(knots["v"], (centred**2).sum(axis=1), rtol=1e-10)
    np.testing.assert_allclose(knots["b"], knots["v"])
    np.testing.assert_allclose(knots["c"], centred @ centred[-1], rtol=1e-10)
    np.testing.assert_array_equal(knots["x"], x[knots["order"]][knots["place"]])
    above = [(base > 0)[x > knot].sum() for knot in knots["x"]]
    np.testing.assert_array_equal(knots["stop"], above)
    np.testing.assert_array_equal(knots["cases"], np.sort(x[(base > 0) & (x > x.min())])[::-1])
