"""A Python function that says which terms are allowed."""

import numpy as np
import pytest
from rscript import needs_rscript, run_r

from pyearthdof import Earth

RNG = np.random.default_rng(4)
X = RNG.normal(size=(100, 4))
Y = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + 0.1 * RNG.normal(size=100)


@needs_rscript
def test_same_as_the_function_in_r():
    code = """
allowed <- function(degree, pred, parents, namesx, first)
  !(degree > 1 && (namesx[pred] == "x1" || parents[3] != 0))
fit <- earth(x, y, degree = 2, allowed = allowed)
out <- list(dirs = fit$dirs, coef = c(fit$coefficients))
"""
    expected = run_r(code, packages=("earth",), x=X, y=Y)

    def allowed(degree, pred, parents, namesx, first):
        return not (degree > 1 and (namesx[pred] == "x1" or parents[2] != 0))

    model = Earth(degree=2, allowed=allowed, engine="r").fit(X, Y)
    np.testing.assert_array_equal(model.dirs_, expected["dirs"])
    np.testing.assert_array_equal(model.term_coef_, expected["coef"])
    assert "allowed=allowed" in model.summary()


def test_first_is_true_once_and_indices_start_at_zero():
    calls = []

    def allowed(degree, pred, parents, namesx, first):
        calls.append((pred, first, len(parents), namesx))
        return True

    Earth(allowed=allowed, engine="r").fit(X, Y)
    assert [first for _, first, _, _ in calls].count(True) == 1
    assert {pred for pred, *_ in calls} == {0, 1, 2, 3}
    assert all(length == 4 and names == ("x1", "x2", "x3", "x4") for *_, length, names in calls)


def test_an_exception_reaches_the_caller_as_itself():
    def allowed(degree, pred, parents, namesx, first):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Earth(allowed=allowed, engine="r").fit(X, Y)
    assert Earth(engine="r").fit(X, Y).n_terms_ > 1
