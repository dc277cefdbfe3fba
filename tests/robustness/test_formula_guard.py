"""Formulas from strangers: nothing but the known functions is ever run, and every refusal says why."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyearthdof import Earth
from pyearthdof.bridge.installation import scripts_folder
from pyearthdof.exceptions import InvalidInputError, PyEarthDofError
from tests.support.figures import record
from tests.support.rscript import needs_rscript, run_r

REFUSED = [
    ('y ~ system("touch canary")', "it calls system, which is not one of"),
    ('y ~ I(system("touch canary"))', "it calls system, which is not one of"),
    ('y ~ x + log(system("touch canary"))', "it calls system"),
    ('get("system")("touch canary") ~ .', r'it calls get("system"), which is not a supported function'),
    ('y ~ `system`("touch canary")', "it calls system"),
    ('y ~ "system"("touch canary")', "it calls system"),
    ('y ~ (system)("touch canary")', "it calls (system), which is not a supported function"),
    ('y ~ I(I)(system("touch canary"))', "it calls I(I), which is not a supported function"),
    ('y ~ base::system("touch canary")', "it calls base::system, which is not a supported function"),
    ('y ~ x + base:::.Internal(1)', "it calls base:::.Internal"),
    ("y ~ stats::lm(x)", "it calls stats::lm, which is not a supported function"),
    ("y ~ stats::log(x)", "it calls stats::log, which is not a supported function"),
    ("y ~ base:::log(x)", "it calls base:::log, which is not a supported function"),
    ("y ~ stats::offset(x)", "it calls stats::offset, which is not a supported function"),
    ("y ~ base::`+`(x, z)", "it calls base::`+`, which is not a supported function"),
    ("y ~ splines::bs", "it calls splines::bs, which is not a supported function"),
    ("y ~ splines::bs(x, knots = base::system('touch canary'))", "it calls base::system"),
    ("y ~ cut(x, 0:1e9)", "0:1e+09 makes 1000000001 values but it should make at most 10000"),
    ("y ~ cut(x, min(x):1e12)", "values but it should make at most 10000"),
    ("y ~ cut(x, seq(0, 1e9, by = 1e-3))", "values but it should make at most 10000"),
    ("y ~ cut(x, seq(0, 1, length.out = 1e9))", "makes 1000000000 values"),
    ("y ~ cut(x, rep(1:9999, times = 9999))", "makes 99980001 values"),
    ("y ~ cut(x, rep(1, times = 1e9))", "times should be a number from 1 to 10000"),
    ("y ~ cut(x, c(1:9000, 1:9000))", "values but it should make at most 10000"),
    ("y ~ cut(x, seq(0, 1, by = -1))", "by=-1 does not lead from 0 to 1"),
    ("y ~ cut(x, seq(0, 1, by = 0))", "by=0 does not lead from 0 to 1"),
    ("y ~ cut(x, seq(0, Inf))", "should have single, finite numbers"),
    ("y ~ cut(x, seq(0, 3, length.out = 0))", "length.out should be at least 1"),
    ("y ~ cut(x, seq_len(0:3))", "should have single, finite numbers"),
    ("y ~ factor(x, levels = 0:5000)", "makes 5001 levels but it should make at most 1000"),
    ("y ~ interaction(round(x, 9), round(z, 9))", "makes 1600 levels but it should make at most 1000"),
    ("y ~ interaction(f, sep = 2)", "sep should be one text"),
    ("y ~ bs(x, knots = 1 + 1:300 / 200):bs(z, knots = quantile(z, 1:300 / 301))",
     "should make at most 2000"),
    ("y ~ quantile(x, 0.5)", "quantile may not stand as a term"),
    ("y ~ I(quantile(x))", "quantile(x) should be one number here"),
    ("y ~ I(quantile(x, 2))", "probs should be from 0 to 1"),
    ("y ~ I(quantile(x, z))", "it uses z where a number should be"),
    ("y ~ I(mean(x))", "I(mean(x)) is one number, not a column"),
    ("y ~ I(mean(x, 0.1))", "mean takes a variable and na.rm"),
    ("y ~ I(mean(f))", "the column 'f' is a factor"),
    ("y ~ I(range(x))", "range may not stand inside another function"),
    ("y ~ I(max(x, by = 3))", "max takes no argument by the name by"),
    ("y ~ relevel(x, 1)", "relevel takes a factor that is not ordered"),
    ("y ~ relevel(f, 'nobody')", "ref should be one level of its variable"),
    ("y ~ relevel(f)", "relevel has 1 argument(s)"),
    ("y ~ round(x, z)", "it uses z where a number should be"),
    ("y ~ round(x, c(1, 2))", "digits should be one number"),
    ("y ~ I(x %in% z)", "it uses z where a text should be"),
    ("y ~ pi", "the data has no column 'pi'"),
    ("y ~ I(pi)", "I(pi) has no column of the data in it"),
    ("y ~ cut(x, 3, dig.lab = 1e9)", "dig.lab of cut is 1e+09"),
    ("stats::lm(y ~ x) ~ x", "it calls stats::lm"),
    ('y ~ do.call("system", list("touch canary"))', "it calls do.call"),
    ('y ~ eval(parse(text = "1"))', "it calls eval"),
    ('y ~ (function() system("touch canary"))()', "it calls (function() system"),
    (r"y ~ \(x) x", "it calls function"),
    ("y ~ function(x) x", "it calls function"),
    ("y ~ x$y", "it calls $"),
    ("y ~ x[1]", "x[1]: only the texts of letters,"),
    ("y ~ x + letters", "the data has no column 'letters'"),
    ("y ~ letters[99]", "letters[99] has the index 99 but it should be 1 to 26"),
    ("letters[x] ~ x", "[ may not stand as the response"),
    ("y ~ findInterval(x, c(2, 1))", "vec should be numbers in ascending order"),
    ("y ~ findInterval(x, range(x))", "it uses range(x) where a number should be"),
    ("y ~ cbind(x, as.character(x))", "as.character may not stand inside another function"),
    ("y ~ x[[1]]", "it calls [["),
    ("y ~ x@y", "it calls @"),
    ("y ~ {x}", "it calls {"),
    ("y ~ if (TRUE) x", "it calls if"),
    ("y ~ while (TRUE) x", "it calls while"),
    ("y ~ (x <- 5)", "it calls <-"),
    ("y ~ I(x <<- 5)", "it calls <<-"),
    ("y <- x ~ z", "it should have a response, a ~ and predictors"),
    ("y = x", "it should have a response, a ~ and predictors"),
    ('assign("y", 5) ~ x', "it calls assign"),
    ('y ~ x; system("touch canary")', "it contains 2 expressions"),
    ('y ~ x\nsystem("touch canary")', "it contains 2 expressions"),
    ("", "it contains 0 expressions"),
    ("y ~", "R cannot read it"),
    ("y ~ x ~ z", "it calls ~"),
    ("~ x", "it should have a response, a ~ and predictors"),
    ("y", "it should have a response, a ~ and predictors"),
    ("y ~ nobody", "the data has no column 'nobody'"),
    ("y ~ T", "the data has no column 'T'"),
    ("y ~ ...", "the data has no column '...'"),
    ("y ~ .GlobalEnv", "the data has no column '.GlobalEnv'"),
    ('y ~ "x"', 'it contains "x" where'),
    ("y ~ log(x, base = z)", "it uses z where a number should be"),
    ("y ~ bs(x, knots = z)", "it uses z where a number should be"),
    ('y ~ bs(x, knots = system("touch canary"))', "it calls system"),
    ('y ~ poly(x, degree = system("touch canary"))', "degree of poly is system("),
    ("y ~ poly(x, 1e9)", "degree of poly is 1e+09 but it should be a whole number from 1 to 50"),
    ("y ~ poly(x, z, x, z, degree = 30)", "too many columns"),
    ("y ~ poly(x, 2, coefs = 1)", "poly takes variables, degree and raw"),
    ("y ~ poly(x, z, 2, coefs = 1)", "has an odd degree or variable"),
    ("y ~ poly(x, 2, raw = c(TRUE, FALSE))", "raw of poly is c(TRUE, FALSE) but it should be TRUE or FALSE"),
    ("y ~ bs(x, intercept = c(1, 2))", "intercept of bs is c(1, 2) but it should be TRUE or FALSE"),
    ("y ~ ns(x, intercept = NA)", "intercept of ns is NA but it should be TRUE or FALSE"),
    ("y ~ bs(x, Boundary.knots = 1)", "Boundary.knots of bs is 1 but it should be two numbers"),
    ("y ~ ns(x, Boundary.knots = c(1, 2, 3))", "it should be two numbers"),
    ("y ~ bs(x, degree = 1000)", "degree of bs is 1000 but it should be a whole number from 1 to 50"),
    ("y ~ bs(x, degree = 2.5)", "degree of bs is 2.5 but it should be a whole number"),
    ("y ~ bs(x, df = 900):bs(z, df = 900)", "make 817216 columns but they should make at most 2000"),
    ("y ~ bs(x, df = 100) * ns(z, df = 100)", "columns but they should make at most 2000"),
    ("y ~ (x + z)^0", "an exponent of terms is 0 but it should be a whole number from 2 to 100"),
    ("y ~ (x + z)^2.5", "an exponent of terms is 2.5"),
    ("y ~ " + " + ".join(f"I(x + {k})" for k in range(301)), "301 different functions"),
    ("y ~ (x + z)^1", "an exponent of terms is 1 but it should be a whole number from 2"),
    ("y ~ y", "its only predictor is the response y"),
    ("log(y) ~ log(y) - 1", "its only predictor is the response log(y)"),
    ("y + x ~ y + z", "the response y is also on the right-hand side"),
    ("y | x ~ z", "its left side has several parts, y | x; put it in parentheses"),
    ("y + x | 99 ~ z", "its left side has several parts, y + x | 99; put it"),
    ("y + x ~ z | (z > 1)", "its right side has several parts, z | (z > 1); put it"),
    ("y ~ poly(x, 2, simple = TRUE)", "poly takes variables, degree and raw"),
    ("y ~ bs(x, df = 1e9)", "df of bs is 1e+09"),
    ("y ~ bs(x, warn = 1)", "unused argument"),
    ("y ~ bs(x, warn.outside = TRUE)", "unused argument"),
    ("y ~ ns(x, degree = 2)", "unused argument"),
    ("y ~ (x + z)^1e9", "an exponent of terms is 1e+09 but it should be a whole number from 2 to 100"),
    ("y ~ log(poly(x, 2))", "poly may not stand inside another function"),
    ("y ~ I(offset(x))", "offset may not stand inside another function"),
    ("y ~ I(1:9)", ": may not stand inside another function"),
    ("y ~ c(x, z)", "c may not stand as a term"),
    ("bs(y) ~ x", "bs may not stand as the response"),
    (". ~ x", "a dot may only be a term on the right-hand side"),
    ("y ~ sin(f)", "the column 'f' is a factor"),
    ("y ~ ifelse(x > 1, system('touch canary'), 1)", "it calls system"),
    ("y ~ ifelse(x > 1, 'a', 'b')", "it contains \"a\" where a number, a column or a function should be"),
    ("y ~ factor(x, levels = system('touch canary'))", "it calls system"),
    ("y ~ factor(x, labels = z)", "it uses z where a text should be"),
    ("y ~ factor(x, levels = -c('1', 'a'))", "it contains \"1\" where a number should be"),
    ("y ~ factor(z, exclude = 1)", "factor takes a variable, levels, labels and ordered"),
    ("y ~ cut(x, 1e9)", "a whole number of intervals from 2 to 1000"),
    ("y ~ cut(x, z)", "it uses z where a number should be"),
    ("y ~ cut(x)", "has no breaks"),
    ("y ~ cut(x, c(1, 1, 2))", "'breaks' are not unique"),
    ("y ~ cut(x, c(0, 1, 1.5))", "cut(x, c(0, 1, 1.5)) is not one of its levels in row"),
    ("y ~ scale(x, z)", "it uses z where a number should be"),
    ("y ~ log(scale(x))", "scale may not stand inside another function"),
    ("y ~ (f < 'u')", "< is not meaningful for factors"),
    ("y ~ (x == 'u')", "compares text with something other than a factor"),
    ("y ~ x > 1 > 0", "R cannot read it"),
    ("y ~ pmin(x, na.rm = TRUE)", "pmin takes no argument by the name na.rm"),
    ("y ~ I(5)", "I(5) has no column of the data in it"),
    ("y ~ cbind(x, x)", "two columns named 'cbind(x, x)x'"),
    ("y ~ log(x - 2)", "log(x - 2) is not a finite number in row"),
    ("y ~ x + 'unfinished", "R cannot read it"),
    ("y ~ r'(raw)'", "R cannot read it"),
    ("y ~ x \\ z", "R cannot read it"),
    ("y ~ log(.)", "a dot may only be a term on the right-hand side"),
    ("y ~ log(f)", "the column 'f' is a factor"),
    ("y ~ I(f)", "the column 'f' is a factor"),
    ("y ~ `+`(x, z, x)", "+ has 3 argument(s)"),
    ("y ~ log()", "log has 0 argument(s)"),
    ("y ~ cbind(x, )", "an argument of a function is empty"),
    ("y ~ cbind(x, deparse.level = 0)", "cbind takes columns only"),
    ("y ~ 5", "a number as a term should be 0 or 1"),
    ("y ~ 1", "it has no predictors"),
    ("y ~ x - x", "it has no predictors"),
    ("y ~ " + "x" * 50_000, "it is longer than 50000 characters"),
    ("y ~ " + "x + " * 3_000 + "x", "it is nested too deeply or has too many terms"),
    ("y ~ I(" + "-" * 5_000 + "x)", "it is nested too deeply or has too many terms"),
    ("y ~ " + "(" * 5_000 + "x" + ")" * 5_000, "R cannot read it"),
]  # fmt: skip


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.uniform(1, 3, 40), "z": rng.uniform(1, 3, 40)})
    frame["f"] = rng.choice(["u", "v"], 40)
    frame["y"] = 5 + frame["x"] * frame["z"] + rng.normal(0, 0.1, 40)
    return frame


@pytest.fixture
def folder(tmp_path):
    """An empty folder to work in; what a formula may leave there would be found."""
    before = Path.cwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[text[:40] for text, _ in REFUSED])
def test_refused_with_its_reason(data, folder, text, reason):
    """By one guard, before an engine is looked for."""
    with pytest.raises(InvalidInputError) as caught:
        Earth.from_formula(text, data, engine="r")
    with pytest.raises(InvalidInputError) as again:
        Earth.from_formula(text, data, engine="native")
    assert str(again.value) == str(caught.value)
    message = str(caught.value)
    assert message.startswith("formula is refused: ")
    assert reason in message
    assert "\n" not in message
    assert list(folder.iterdir()) == []
    record("formula that is no formula", tried=1, run=0)


@pytest.mark.needs_r
def test_a_column_cannot_take_the_place_of_a_function(data):
    plain = Earth.from_formula("y ~ log(x) + bs(z, knots = c(1.5, 2))", data)
    masked = data.assign(log=0.5, c=7.0, bs=data["x"], list=1.0, I=2.0)
    model = Earth.from_formula("y ~ log(x) + bs(z, knots = c(1.5, 2))", masked)
    np.testing.assert_array_equal(model.predict(masked), plain.predict(data))


@pytest.mark.needs_r
def test_weights_are_not_a_column_of_that_name(data):
    weights = np.linspace(0.5, 2, len(data))
    plain = Earth.from_formula("y ~ x + z", data, weights)
    shadowing = {name: 1.0 for name in ("weights", "case weights", "(weights)", "subset")}
    model = Earth.from_formula("y ~ x + z", data.assign(**shadowing), weights)
    np.testing.assert_array_equal(model.model_.coef, plain.model_.coef)
    assert not np.array_equal(Earth.from_formula("y ~ x + z", data).model_.coef, plain.model_.coef)


@pytest.mark.needs_r
def test_the_search_path_stays_as_it_was(data):
    """A factor as response needs a function of earth there, for the time of the fit."""
    import rpy2.rinterface as ri

    three = data.assign(kind=np.resize(["a", "b", "c"], len(data)), late=[np.nan, *data["x"][1:]])
    before = list(ri.baseenv["search"]())
    model = Earth.from_formula("kind ~ x + z", three)
    assert model.response_names_ == ("a", "b", "c")
    with pytest.raises(PyEarthDofError):
        Earth.from_formula("kind ~ late", three)
    assert list(ri.baseenv["search"]()) == before


@needs_rscript
def test_a_formula_is_evaluated_where_nothing_else_exists(folder):
    """Behind the list of names stands an environment with these functions and without a parent."""
    script = (scripts_folder() / "formula.R").as_posix()
    code = """
sys.source(script, envir = environment())
env <- environment(known.formula("y ~ log(x)", c("x", "y")))
tried <- vapply(c("system('touch canary')", "get('x')", "base::system('touch canary')", "T"),
                function(text) inherits(try(eval(str2lang(text), env), silent = TRUE), "try-error"), NA)
out <- list(names = ls(env, all.names = TRUE), all = ls(formula.functions(), all.names = TRUE),
            failed = tried,
            is.last = identical(parent.env(env), emptyenv()))
"""
    out = run_r(code, script=script)
    assert out["is.last"] == [1.0]
    assert out["failed"].all()
    assert set(out["names"]) == {"~", "log", "list"}
    assert set(out["all"]) == {
        "~", "+", "-", "*", "/", "^", "(", "I", "log", "log2", "log10", "log1p", "exp", "sqrt", "abs",
        "poly", "bs", "ns", "offset", "cbind", "c", "list", "sin", "cos", "tan", "pmin", "pmax", "ifelse",
        "factor", "cut", "scale", "as.numeric", "as.integer", "!", "&", "|", "==", "!=", "<", "<=", ">", ">=",
        "round", "floor", "ceiling", "trunc", "sign", "%%", "%/%", "is.na", "mean", "median", "min", "max",
        "sum", "var", "sd", "quantile", "as.factor", "ordered", "as.ordered", "relevel", "interaction",
        "%in%", ":", "seq", "seq_len", "rep", "rev", "range", "pi", "T", "F", "::", "as.character",
        "droplevels", "findInterval", "[", "letters", "LETTERS", "month.abb", "month.name",
    }  # fmt: skip
    assert list(folder.iterdir()) == []


def _mostly(fine, odd):
    """Three of four from what may be fitted, so that both ways are tried."""
    return st.integers(0, 3).flatmap(lambda k: st.sampled_from(odd if k == 3 else fine))


PIECES = _mostly(
    ["x", "z", "f", ".", "2", "`x`"],
    ["y", "1", "-3", "nobody", '"x"', 'system("touch canary")', 'get("system")', "I", "log", "poly", "bs",
     "NULL", "TRUE", "function(x) x", "c(1.5, 2)"],
)  # fmt: skip


def _grown(inner):
    operator = _mostly(["+", "-", "*", ":"], ["/", "^", "%in%", "$", "<-", "|", "~", ";", "\n"])
    function = _mostly(
        ["I", "log", "sqrt", "abs", "poly", "bs", ""],
        ["ns", "exp", "offset", "cbind", "system", "-", "c"],
    )
    return st.one_of(
        st.tuples(inner, operator, inner).map(" ".join),
        st.tuples(function, inner).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(function, inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
    )


EXPRESSIONS = st.recursive(PIECES, _grown, max_leaves=6)


@pytest.mark.needs_r
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
@settings(
    max_examples=250, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(left=st.one_of(st.just("y"), st.just("log(y)"), EXPRESSIONS), right=EXPRESSIONS)
def test_any_text_is_fitted_or_refused(data, folder, left, right):
    """Whatever is fitted predicts its training data without R as R did; nothing is ever run."""
    try:
        model = Earth.from_formula(f"{left} ~ {right}", data)
    except PyEarthDofError as error:
        assert str(error)
        assert "please report it" not in str(error)
    else:
        assert np.isfinite(model.predict(data)).all()
    assert list(folder.iterdir()) == []
