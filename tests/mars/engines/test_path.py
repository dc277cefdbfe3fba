"""One forward pass serves every nk: the prefix property, and the steps that cut it."""

import numpy as np
import pytest

from pyearthdof import Earth
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.engines.path import step_of_terms, steps_allowed

RNG = np.random.default_rng(0)
SHAPES = [(50, 3, 1), (60, 5, 2), (20, 2, 2), (30, 1, 1), (40, 4, 3), (25, 30, 2)]
UNPRUNED = {"thresh": 0, "pmethod": "none", "engine": "r"}


def design(n, p):
    X = RNG.normal(size=(n, p))
    X[:, 0] = np.round(X[:, 0], 1)
    return X


@pytest.mark.needs_r
@pytest.mark.parametrize(("n", "p", "degree"), SHAPES)
def test_a_smaller_nk_is_the_beginning_of_the_pass_to_the_bit(n, p, degree):
    X, y = design(n, p), RNG.normal(size=n)
    longest = Earth(degree=degree, nk=31, **UNPRUNED).fit(X, y)
    for nk in range(1, 31):
        short = Earth(degree=degree, nk=nk, **UNPRUNED).fit(X, y)
        r = short.n_terms_
        np.testing.assert_array_equal(short.dirs_, longest.dirs_[:r])
        np.testing.assert_array_equal(short.cuts_, longest.cuts_[:r])
        np.testing.assert_array_equal(short.bx_, longest.bx_[:, :r])


@pytest.mark.needs_r
@pytest.mark.parametrize("engine", ["r", "native"])
@pytest.mark.parametrize(("n", "p", "degree"), SHAPES)
def test_path_is_a_loop_of_fits_in_r(n, p, degree, engine):
    X, Y = design(n, p), RNG.normal(size=(n, 3))
    nks = [1, 2, 3, 4, 5, 8, 9, 13, 16, 31]
    path = Earth(degree=degree, **UNPRUNED | {"engine": engine}).fit_path(X, Y, nks)
    for k, nk in enumerate(nks):
        many = Earth(degree=degree, nk=nk, **UNPRUNED).fit_many(X, Y)
        np.testing.assert_array_equal(path.n_terms[k], many.n_coef)
        np.testing.assert_allclose(path.fitted[k], many.fitted, rtol=0, atol=1e-8)


def test_two_single_terms_are_not_taken_for_a_pair():
    # 1, h(x1-c), h(c-x1), then x2 times each: three steps; with the term x2 in it could be two.
    dirs = np.array([[0, 0], [1, 0], [-1, 0], [1, 2], [-1, 2]])
    cuts = np.array([[0, 0], [0.5, 0], [0.5, 0], [0.5, -1], [0.5, -1]])
    assert step_of_terms(dirs, cuts, pytest.fail).tolist() == [0, 1, 1, 2, 3]
    dirs, cuts = np.insert(dirs, 3, [0, 2], axis=0), np.insert(cuts, 3, [0, -1], axis=0)
    asked = []
    assert step_of_terms(dirs, cuts, lambda s: asked.append(s) or 6).tolist() == [0, 1, 1, 2, 3, 3]
    assert step_of_terms(dirs, cuts, lambda s: 5).tolist() == [0, 1, 1, 2, 3, 4]
    assert asked == [3]


def test_steps_that_nk_allows():
    assert [steps_allowed(nk) for nk in (1, 2, 3, 4, 5, 6, 21)] == [0, 0, 1, 1, 2, 2, 10]


@pytest.mark.needs_r
@pytest.mark.parametrize(
    "change", [{"thresh": 0.001}, {"pmethod": "backward"}, {"nprune": 3}, {"allowed": max}]
)
def test_a_path_needs_no_threshold_and_no_pruning(change):
    with pytest.raises(InvalidInputError, match="but a path over nk needs"):
        Earth(**UNPRUNED | change).fit_path(np.ones((5, 1)), np.ones((5, 1)), [3])
