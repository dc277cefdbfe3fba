"""A Python function that says which terms are allowed."""

import numpy as np
import pytest

from pyearthdof import Earth
from tests.support.mars.earth_batch import FUSED, Case, is_tied
from tests.support.rscript import needs_rscript, run_r

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


RULES = {  # in R, and in Python
    "TRUE": lambda degree, pred, parents, calls: True,
    "pred != 1": lambda degree, pred, parents, calls: pred != 0,
    "degree == 1 || pred > 2": lambda degree, pred, parents, calls: degree == 1 or pred > 1,
    "parents[1] == 0": lambda degree, pred, parents, calls: parents[0] == 0,
    "degree < 1": lambda degree, pred, parents, calls: False,
    "nrow(asked) %% 3 != 0": lambda degree, pred, parents, calls: calls % 3 != 0,
}
SEARCHES = {
    "degree = 1": {},
    "degree = 2": {"degree": 2},
    "degree = 3, fast.k = 3, thresh = 0": {"degree": 3, "fast_k": 3, "thresh": 0},
    "degree = 2, thresh = 0, nk = 71": {"degree": 2, "thresh": 0, "nk": 71},
    "degree = 2, weights = w": {"degree": 2},
    "degree = 2, thresh = 0, endspan = 1": {"degree": 2, "thresh": 0, "endspan": 1},
}
WEIGHTS = RNG.uniform(0.5, 2, 100)
EXACT = np.maximum(0, X[:, 0] - np.median(X[:, 0])) - X[:, 1]  # a pass that is taken again


@needs_rscript
@pytest.mark.parametrize("y", [Y, EXACT], ids=["noisy", "exact"])
@pytest.mark.parametrize("engine", ["native", "r"])
def test_the_questions_are_rs_in_number_and_order(engine, y):
    code = "out <- list()\n"
    cases = [(rule, search) for rule in RULES for search in SEARCHES]
    for k, (rule, search) in enumerate(cases):
        code += f"""
asked <- NULL
allowed <- function(degree, pred, parents, namesx, first) {{
  asked <<- rbind(asked, c(degree, pred - 1, parents, first))
  {rule}
}}
fit <- suppressWarnings(earth(x, y, {search}, allowed = allowed))
out[["asked{k}"]] <- asked
out[["dirs{k}"]] <- fit$dirs
out[["cuts{k}"]] <- fit$cuts
"""
    expected = run_r(code, packages=("earth",), x=X, y=y, w=WEIGHTS)
    for k, (rule, search) in enumerate(cases):
        asked = []

        def allowed(degree, pred, parents, namesx, first, rule=rule, asked=asked):
            asked.append([degree, pred, *parents, first])
            return RULES[rule](degree, pred, parents, len(asked))

        weights = WEIGHTS if "weights" in search else None
        model = Earth(engine=engine, allowed=allowed, **SEARCHES[search]).fit(X, y, weights)
        wanted = {name: expected[f"{name}{k}"] for name in ("dirs", "cuts")}
        if FUSED and engine == "native" and is_tied(Case.make(X, y), model.model_, wanted):
            continue  # another choice, and from there on other questions
        np.testing.assert_array_equal(np.array(asked, dtype=float), expected[f"asked{k}"])
        np.testing.assert_array_equal(model.dirs_, expected[f"dirs{k}"], err_msg=f"{rule} {search}")


@pytest.mark.needs_r
def test_first_is_true_once_and_indices_start_at_zero():
    calls = []

    def allowed(degree, pred, parents, namesx, first):
        calls.append((pred, first, len(parents), namesx))
        return True

    Earth(allowed=allowed, engine="r").fit(X, Y)
    assert [first for _, first, _, _ in calls].count(True) == 1
    assert {pred for pred, *_ in calls} == {0, 1, 2, 3}
    assert all(length == 4 and names == ("x1", "x2", "x3", "x4") for *_, length, names in calls)


@pytest.mark.needs_r
def test_an_exception_reaches_the_caller_as_itself():
    def allowed(degree, pred, parents, namesx, first):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Earth(allowed=allowed, engine="r").fit(X, Y)
    assert Earth(engine="r").fit(X, Y).n_terms_ > 1
