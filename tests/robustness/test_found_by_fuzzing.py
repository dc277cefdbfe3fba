"""What fuzzing found, made small: each case was once a crash, a stray warning or another model than R's."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, MarsModel
from pyearthdof.exceptions import InvalidInputError, RWarning
from pyearthdof.mars.components.terms import gcv_of_sizes
from tests.support.fuzzing.case import Case
from tests.support.fuzzing.judge import AGREED, LOOSER, REFUSED, STRICTER, judge
from tests.support.fuzzing.rserver import Died, RServer
from tests.support.rscript import needs_rscript, run_r

X = np.array([0.24, 0.29, 0.35, 0.41, 0.47, 0.59, 0.65, 0.71])[:, None]
Y = np.array([1.0, 1.2, 1.7, 1.7, 2.1, 2.6, 2.2, 2.6])
WAVES = np.random.default_rng(0).normal(size=(50, 2))
WAVE = np.sin(3 * WAVES[:, 0]) + 0.1 * np.cos(np.arange(50.0))
NEARLY_CONSTANT = 0.69551977 + 1e-9 * np.array([-0.8, 2.7, 2.8, -0.1, 0.2, -0.2, 0.4])
FAR_AWAY = 1e6 + np.array([1.6, 0.1, 0.02, -0.9, -0.7, 0.9])[:, None]
LOST_DIGITS = np.array([
    [1000001.6004440151, 0.0], [1000000.1262357834, 0.0], [1000000.0234612677, -1.2000000000000002],
    [999999.1236216105, -0.5], [999999.326015401, 1.2], [1000000.9001776659, -1.4],
])  # fmt: skip

CANCELLING = np.array([
    [9.999996053739667e+17, 1.6280329622829746, 100000123340692.9],
    [1.0000013156073203e+18, 1.6005374101512653, 100000291614473.05],
    [9.999989734439031e+17, 0.3489677162141161, 99999932241161.94],
    [1.0000006097012111e+18, -5.681153654123811, 99999492854755.7],
])  # fmt: skip

LEVELS = [f"l{k}" for k in range(9)]
PAIRED = pd.DataFrame({"v1": pd.Categorical.from_codes([3, 5, 2, 3, 3, 1], LEVELS)})
PAIRS = np.array([[5.0, 6.0], [4.0, 0.0], [0.0, 2.0], [2.0, 1.0], [0.0, 1.0], [5.0, 6.0]])

RNG = np.random.default_rng(12)
ROUNDED = pd.DataFrame({"a": 0.6 * RNG.normal(size=60), "b": 0.6 * RNG.normal(size=60)})
ROUNDED["y"] = np.abs(np.minimum(ROUNDED.a.round(), np.ceil(ROUNDED.b))) + 0.1 * ROUNDED.a
ROUNDED["f"] = pd.Categorical.from_codes(np.arange(60) % 3, ["p", "q", "r", "never"])
ROUNDED["word"] = np.where(ROUNDED.a > 0, "ant", "bee")
ROUNDED["flag"] = ROUNDED.b > 0
ONE_LEVEL = ROUNDED.assign(word="bee", f=pd.Categorical(np.repeat("p", 60)))

# name: case, verdict on R through the bridge, verdict on the native engine
FOUND = {
    # R takes the first of two zeros with different signs, which shows in the name of the term.
    "zeros of both signs": (
        Case(ROUNDED, np.zeros(60), formula="y ~ pmin(round(a), ceiling(b))"), AGREED, AGREED,
    ),
    "zeros of integers": (
        Case(ROUNDED, np.zeros(60), formula="abs(a) ~ I(-as.integer(3 * a))"), AGREED, AGREED,
    ),
    # as.ordered() of a factor drops the levels that no row has, as.factor() does not.
    "as.ordered": (
        Case(ROUNDED, np.zeros(60), formula="y ~ as.ordered(f) + as.factor(f):a"), AGREED, AGREED,
    ),
    # Package Formula reads the dot of several responses again, of the model frame that it made.
    "columns of a dot and a minus": (
        Case(ROUNDED, np.zeros(60), formula="y + a ~ b * . - word"), AGREED, AGREED,
    ),
    "calls beside a dot": (
        Case(ROUNDED, np.zeros(60), formula="y + a ~ . + exp(b)"), REFUSED, LOOSER,
    ),
    "weights beside a dot": (
        Case(ROUNDED, np.zeros(60), weights=np.arange(1.0, 61.0), formula="y + a ~ ."), REFUSED, LOOSER,
    ),
    # A factor of one level has no contrasts; inside of a function it needs none.
    "one level in a function": (
        Case(ONE_LEVEL, np.zeros(60), formula="y ~ a + I(word == 'bee') + as.numeric(f):b"), AGREED, AGREED,
    ),
    "one level as a term": (Case(ONE_LEVEL, np.zeros(60), formula="y ~ a + f"), REFUSED, REFUSED),
    "one level taken away": (Case(ONE_LEVEL, np.zeros(60), formula="y ~ . - f - word"), REFUSED, REFUSED),
    "one level as the response": (
        Case(ONE_LEVEL, np.zeros(60), formula="ordered(pmin(f == 'p', 2)) ~ a"), STRICTER, STRICTER,
    ),
    "one level of several responses": (
        Case(ONE_LEVEL, np.zeros(60), formula="y + f ~ a"), STRICTER, STRICTER,
    ),
    "offset of a subset": (
        Case(ROUNDED, np.zeros(60), subset=np.arange(50), formula="y ~ f + offset(a)"), REFUSED, LOOSER,
    ),
    # R takes the response out of new rows, and then columns by their places.
    "a response regressed on itself": (
        Case(ROUNDED, np.zeros(60), formula="y ~ a:y + b"), AGREED, AGREED,
    ),
    # A response of weight 0 has no part in the mean of the folds, where it may be infinite.
    "constant response of weight 0": (
        Case(WAVES, np.column_stack([WAVE, np.ones(50), WAVES[:, 1]]),
             options={"response_weight": (1.0, 0.0, 1.0), "nfold": 3, "random_state": 1}),
        AGREED, AGREED,
    ),
    # Where the folds prune pairs, R fits the generalised linear models of each size again.
    "pairs of each size in folds": (
        Case(PAIRED, PAIRS, weights=np.array([3.0, 0.0, 1.0, 1.0, 0.4, 2.0]),
             options={"thresh": 0.0, "glm_family": "binomial", "nfold": 4, "pmethod": "cv"}),
        REFUSED, REFUSED,
    ),
    # Backward elimination starts from 1e35 in R, so it keeps every term of a y beyond 1e17.
    "large y": (Case(X, 1e20 * Y), AGREED, AGREED),
    # R stops in the exhaustive search; the native engine went on.
    "nearly dependent terms": (
        Case(NEARLY_CONSTANT[:, None], np.array([2.2, 1.6, 2.0, 2.3, 1.7, 2.1, 2.0]),
             options={"pmethod": "exhaustive"}),
        REFUSED, REFUSED,
    ),
    "exhaustive search for one term": (
        Case(WAVES, WAVE, options={"pmethod": "exhaustive", "nprune": 1}), REFUSED, REFUSED,
    ),
    # The exhaustive search that is turned into a backward one still looks at nprune terms only.
    "ill-conditioned terms": (
        Case(WAVES[:, [0, 0]] * [1.0, 1e15], WAVE, options={"pmethod": "exhaustive", "nprune": 2}),
        AGREED, AGREED,
    ),
    # Several responses are searched exhaustively only where that is turned into a backward search.
    "exhaustive search for several responses": (
        Case(WAVES, np.column_stack([WAVE, WAVES]), options={"pmethod": "exhaustive"}), REFUSED, REFUSED,
    ),
    "ill-conditioned terms of several responses": (
        Case(WAVES[:, [0, 0]] * [1.0, 1e15], np.column_stack([WAVE, WAVE**2]),
             options={"pmethod": "exhaustive", "nprune": 3}),
        AGREED, AGREED,
    ),
    # lm() asks for more independence than the forward pass.
    "singular fit": (
        Case(LOST_DIGITS, np.array([1.0, 1.0, 0.1, 1.0, -2.0, -1.0]),
             options={"degree": 4, "penalty": -1}),
        REFUSED, REFUSED,
    ),
    # The coefficients cancel each other; a fit that is computed from them keeps no digit.
    "cancelling terms": (
        Case(CANCELLING, np.array([1.9e-08, 2.2e-08, 1.9e-08, 2.2e-08]),
             options={"degree": 3, "penalty": -1}),
        AGREED, AGREED,
    ),
    # The sum of squares is the 1e-10 below which earth takes it as 0.
    "sum of squares at the limit": (
        Case(np.array([[0.0], [0.2], [0.5], [0.8]]), np.array([1e-05, 1e-05, 0.0, 0.0])),
        AGREED, AGREED,
    ),
    # All candidates explain what rounding leaves of nothing: a constant y takes earth's own order.
    "large constant y": (
        Case((np.arange(34.0) % 7 - 3)[:, None], np.full(34, 7.339237370466922e59)), AGREED, AGREED,
    ),
    "endspan beyond the data": (Case(X, Y, options={"endspan": 9}), REFUSED, REFUSED),
    "endspan beyond R's integers": (Case(X, Y, options={"endspan": 10**10}), REFUSED, REFUSED),
    # Sums of squares that vanish divided by zero; those that overflow gave numpy's warnings.
    "tiny X": (Case(1e-151 * X, Y), AGREED, STRICTER),
    "huge X": (Case(1e300 * X, Y), AGREED, STRICTER),
    "tiny y": (Case(X, 1e-151 * Y), AGREED, STRICTER),
    "huge y": (Case(X, 1e160 * Y), REFUSED, REFUSED),
    # R's scaling of a constant y stops with an error about R's own code, with weights only.
    "constant y with weights": (
        Case(X, np.full(8, 3.0), weights=np.arange(1.0, 9.0)), REFUSED, LOOSER,
    ),
    # The coefficients are rounding but for the units: they are compared by what they add to a fit.
    "a line far from zero": (
        Case(FAR_AWAY, -3.8794e-8 * FAR_AWAY[:, 0]), AGREED, AGREED,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def server():
    with RServer() as running:
        yield running


@needs_rscript
@pytest.mark.needs_r
class TestAgainstR:
    @pytest.mark.parametrize("name", FOUND)
    def test_same_as_r(self, server, name):
        case, by_r, by_native = FOUND[name]
        r = server.fit(case)
        assert not isinstance(r, Died)
        assert judge(case, r, "r").kind == by_r
        verdict = judge(case, r, "native")
        assert verdict.kind == by_native, verdict

    def test_the_warning_about_ill_conditioned_terms_is_rs(self):
        case, _, _ = FOUND["ill-conditioned terms"]
        messages = {}
        for engine in ("r", "native"):
            with pytest.warns(RWarning, match="forced pmethod") as caught:
                Earth(engine=engine, **case.options).fit(case.X, case.y)
            messages[engine] = [str(w.message).split(", sing val ratio")[0] for w in caught]
        assert messages["native"] == messages["r"]

    def test_terms_that_overflow_in_new_rows_are_rs(self):
        y = np.maximum(WAVES, 0).prod(axis=1)
        new = 1e154 * np.array([[2.0, 2.0], [-2.0, 2.0], [2.0, -2.0], [-2.0, -2.0], [0.0, 0.0]])
        r = run_r(
            "fit <- earth(X, y, degree = 2, Auto.linpreds = FALSE)\n"
            "bx <- earth:::get.bx(new, fit$selected.terms, fit$dirs, fit$cuts)\n"
            "out <- list(bx = bx, predicted = as.vector(predict(fit, new)))",
            packages=("earth",), X=WAVES, y=y, new=new,
        )  # fmt: skip
        assert np.isnan(r["bx"]).any() and np.isinf(r["bx"]).any()  # else it would show nothing
        earth = Earth(degree=2, auto_linpreds=False, engine="native").fit(WAVES, y)
        np.testing.assert_array_equal(earth.transform(new), r["bx"])
        np.testing.assert_allclose(earth.predict(new), r["predicted"], rtol=1e-12)


def test_gcv_of_an_exact_fit_with_as_many_parameters_as_rows_is_infinite():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gcv = gcv_of_sizes(np.array([4.0, 0.0, 0.0]), n=3, penalty=0.0).round(9)
    assert gcv.tolist() == [3.0, 0.0, np.inf]


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [(1e-151 * X, Y, "too small"), (1e300 * X, Y, "too large"), (X, 1e160 * Y, "too large")],
)
def test_sizes_that_overflow_are_refused_with_what_to_do(x, y, message):
    with pytest.raises(InvalidInputError, match=f"{message} for a double: scale it"):
        Earth(engine="native").fit(x, y)


def test_a_formula_with_a_factor_of_one_level_is_saved(tmp_path):
    earth = Earth.from_formula("y ~ a + as.numeric(f):b", ONE_LEVEL, engine="native")
    earth.save(tmp_path / "model.json")
    found = MarsModel.load(tmp_path / "model.json").predict(ONE_LEVEL)
    np.testing.assert_array_equal(found, earth.predict(ONE_LEVEL))
