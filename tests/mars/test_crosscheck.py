"""Both engines beside each other."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, crosscheck
from pyearthdof.mars.crosscheck import compare

pytestmark = pytest.mark.needs_r

RNG = np.random.default_rng(9)
X = RNG.normal(size=(80, 3))
Y = np.maximum(0, X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=80)


def test_the_same_model():
    found = crosscheck(X, Y, degree=2)
    assert found.same and found.same_terms and found.is_tie is None and found.parts_at is None
    assert found.coef_difference < 1e-8 and found.fit_difference < 1e-10
    assert "The same terms" in str(found)


def test_weights_and_options_go_to_both():
    found = crosscheck(X, Y, RNG.uniform(0.5, 2, size=80), nk=7, penalty=0)
    assert found.same and found.r.nk == found.native.nk == 7


def test_factors_and_several_responses():
    frame = pd.DataFrame(
        {"a": X[:, 0], "kind": np.where(X[:, 1] > 0, "up", "down"), "on": X[:, 2] > 1}
    )
    assert crosscheck(frame, Y, degree=2).same
    found = crosscheck(X, np.column_stack([Y, Y**2]), degree=2)
    assert found.same and found.coef_difference < 1e-8
    assert crosscheck(frame, pd.DataFrame({"u": Y, "v": X[:, 2]}), response_weight=[1, 3]).same


def test_where_they_part_and_whether_it_is_a_tie():
    model = Earth(degree=2, engine="r").fit(X, Y).model_
    dirs = model.dirs.copy()
    dirs[1] = 0
    dirs[1, 2] = 2
    other = replace(model, dirs=dirs, term_names=("(Intercept)", "x3", *model.term_names[2:]))
    found = compare(model, other, X, Y)
    assert (found.same, found.parts_at, found.is_tie) == (False, 1, False)
    assert "part at term 2" in str(found) and "not a tie" in str(found)


def test_duplicate_columns_are_a_tie():
    doubled = np.column_stack([X, X[:, 0]])
    model = Earth(engine="r").fit(doubled, Y).model_
    swapped = replace(
        model, dirs=model.dirs[:, [3, 1, 2, 0]].copy(), cuts=model.cuts[:, [3, 1, 2, 0]].copy()
    )
    found = compare(model, swapped, doubled, Y)
    assert not found.same_terms and found.is_tie and "a tie" in str(found)


def test_only_pruning_differs():
    model = Earth(degree=2, engine="r").fit(X, Y).model_
    found = compare(model, replace(model, selected=model.selected[:-1], coef=model.coef[:-1]), X, Y)
    assert found.same_terms and not found.same and "pruning" in str(found)
