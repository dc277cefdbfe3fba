"""Candidate knots of a pair: where earth's counter puts them, and their sums."""

from __future__ import annotations

import numpy as np
import pytest
from earth_batch import Case

from pyearthdof.mars import native_setup as setup
from pyearthdof.mars.kernels import count_positive, span_limits
from pyearthdof.mars.kernels_knots import Knots
from pyearthdof.mars.kernels_places import create_pair, list_places


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


def create(X, base, pred=0):
    n, p = X.shape
    design = setup.prepare_design(X)
    settings = setup.resolve_settings(Case.make(X, X[:, 0]).options, p)
    spans = span_limits(n, p, count_positive(base[0]), 1, settings)
    whole = (np.empty(n, dtype=np.int32) for _ in range(2))
    knots = Knots(*whole, *(np.empty(n) for _ in range(5)))
    places = np.empty(n, dtype=np.uint32)
    n_places = list_places(design.order, pred, base, 0, places, 0)
    count, _ = create_pair(
        design, pred, base, 0, float(base[0] @ base[0]), spans, knots, 0, places, 0, n_places,
        np.zeros(n, dtype=bool),
    )  # fmt: skip
    return design, spans, knots, places[:n_places], count


@pytest.mark.parametrize("seed", range(40))
def test_knots_are_where_earth_counts(seed):
    """Tied values: what rounding leaves of their variance decides whether a case counts."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(15, 60))
    x = rng.integers(0, 2 + seed % 4, size=n) * 10 ** rng.uniform(-3, 3)
    base = np.maximum(0, rng.normal(size=n)) if seed % 2 else np.ones(n)
    if seed % 3 == 0:  # a parent whose knot lies between almost equal values
        base = np.where(rng.random(n) < 0.5, 1e-15, 7.3) * base
    design, spans, knots, _, count = create(x[:, None], base[None])
    order = design.order[0].astype(int)
    wanted = counted_places(x[order].tolist(), base[order].tolist(), spans)
    assert knots.place[:count].tolist() == wanted


def test_sums_are_those_of_the_hinges():
    rng = np.random.default_rng(1)
    x, base = rng.normal(size=200), np.maximum(0, rng.normal(size=200))
    design, _, knots, places, count = create(x[:, None], base[None])
    assert count > 10
    hinges = base * np.maximum(0, x - knots.x[: count + 1, None])
    centred = hinges - hinges.mean(axis=1, keepdims=True)
    last = slice(0, count + 1)
    np.testing.assert_allclose(knots.v[last], (centred**2).sum(axis=1), rtol=1e-10)
    np.testing.assert_allclose(knots.b[last], knots.v[last])
    np.testing.assert_allclose(knots.c[last], centred @ centred[-1], rtol=1e-10)
    np.testing.assert_array_equal(knots.x[last], design.sorted_x[0, knots.place[last]])
    above = [(base > 0)[x > knot].sum() for knot in knots.x[last]]
    np.testing.assert_array_equal(knots.stop[last], above)
    assert (base[design.order[0, places]] > 0).all()
