"""The functions of formulas are R's to the bit: the last one decides between near-tied terms."""

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth
from pyearthdof.mars.formula.functions import FUNCTIONS, powers_of, scaling
from tests.support.rscript import needs_rscript, run_r

EDGES = [
    0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 10.0, 100.0, -2.0, -3.0, 1e-300, 1e300, 1e-310, 1e22, 710.0,
    -745.0, -0.999999, np.inf, -np.inf, np.nan,
]  # fmt: skip
ONE_ARGUMENT = ["log", "log2", "log10", "log1p", "exp", "sqrt", "sin", "cos", "tan", "abs"]
BASES = [2.0, 3.0, 10.0, 0.5]
EXPONENTS = [*range(-3, 7), -0.5, 1 / 3, 0.5, 1.5, 10.0, np.inf, -np.inf]


def assert_same_bits(ours, theirs, what):
    ours, theirs = (np.where(np.isnan(v), np.nan, v) for v in (ours, theirs))
    np.testing.assert_array_equal(ours.view("int64"), theirs.view("int64"), err_msg=str(what))


@needs_rscript
@pytest.mark.parametrize("n", [3_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_functions_are_rs_to_the_bit(n):
    rng = np.random.default_rng(n)
    wide = rng.normal(size=n) * np.exp(3 * rng.normal(size=n))
    rounded = rng.exponential(size=n).round(3)
    x = np.concatenate([wide, rounded, np.repeat(EDGES, len(EDGES))])
    z = np.concatenate([rng.normal(size=2 * n).round(1), np.tile(EDGES, len(EDGES))])
    code = """
        out <- list(to = 2^x, powers = x^z, least = pmin(x, z), most = pmax(x, z), poly = outer(x, 0:5, `^`))
        for (name in functions) out[[name]] <- suppressWarnings(match.fun(name)(x))
        for (b in bases) out[[paste("base", b)]] <- suppressWarnings(log(x, b))
        for (i in seq_along(exponents)) out[[paste("exponent", i)]] <- x^exponents[i]
    """
    r = run_r(code, x=x, z=z, functions=ONE_ARGUMENT, bases=BASES, exponents=EXPONENTS)
    ours = {name: function for name, (function, _) in FUNCTIONS.items()}
    with np.errstate(all="ignore"):
        for name in ONE_ARGUMENT:
            assert_same_bits(ours[name](x), r[name], name)
        for base in BASES:
            assert_same_bits(ours["log"](x, base), r[f"base {base:g}"], base)
        for i, exponent in enumerate(EXPONENTS):
            assert_same_bits(ours["^"](x, exponent), r[f"exponent {i + 1}"], exponent)
        assert_same_bits(ours["^"](x, z), r["powers"], "x^z")
        assert_same_bits(ours["pmin"](x, z), r["least"], "pmin")
        assert_same_bits(ours["pmax"](x, z), r["most"], "pmax")
        assert_same_bits(ours["^"](2.0, x), r["to"], "2^x")
        assert_same_bits(powers_of(x, 5), r["poly"], "poly")


@needs_rscript
def test_scale_is_rs_to_the_bit():
    rng = np.random.default_rng(3)
    tables = {f"t{n}": rng.normal(3, 2, (n, 40)).round(2) for n in range(2, 60)}
    code = """
        out <- list()
        for (name in names) {
            scaled <- scale(get(name))
            out[[name]] <- rbind(attr(scaled, "scaled:center"), attr(scaled, "scaled:scale"))
            out[[paste0(name, "s")]] <- attr(scale(get(name), center = FALSE), "scaled:scale")
        }
    """
    r = run_r(code, names=list(tables), **tables)
    for name, table in tables.items():
        assert_same_bits(np.array(scaling(table, True, True)), r[name], name)
        assert_same_bits(scaling(table, False, True)[1], r[f"{name}s"], name)


@needs_rscript
def test_a_near_tie_after_a_function_goes_as_in_r():
    rng = np.random.default_rng(29)
    n = 60
    p = np.round(rng.exponential(size=n) + 0.01, 3)
    d = pd.DataFrame({"p": p, "x": np.round(rng.normal(size=n), 2), "k": rng.poisson(3, n) * 1.0})
    d["y"] = (np.maximum(d.x, 0) + np.log1p(d.p) + 0.3 * rng.normal(size=n)).round(6)
    code = """
        set.seed(1)
        m <- earth(y ~ log10(p) + p + x, data = d, degree = 3, nfold = 5)
        out <- list(rsq = m$cv.rsq.tab["mean", "mean"])
    """
    r = run_r(code, packages=("earth",), d=d)
    formula = "y ~ log10(p) + p + x"
    ours = Earth.from_formula(formula, d, degree=3, nfold=5, random_state=1, engine="native")
    assert ours.cv_.loc["mean", "rsq"] == pytest.approx(r["rsq"][0], rel=1e-9)
