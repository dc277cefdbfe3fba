"""Variance models without R: plain R's coefficients, iterations and intervals, for every method."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, MarsModel
from pyearthdof.exceptions import InvalidInputError, RWarning
from pyearthdof.mars.engines.native.regression import (
    fit_robust,
    robust_errors,
)
from pyearthdof.random import RDraws
from tests.support.rscript import needs_rscript, run_r
from tests.support.without_r import run_without_r

SEED = 11
EXACT = {"rtol": 1e-8, "atol": 1e-10}
R_NAMES = {
    "varmod_method": "varmod.method", "varmod_exponent": "varmod.exponent", "varmod_conv": "varmod.conv",
    "varmod_clamp": "varmod.clamp", "varmod_minspan": "varmod.minspan", "pmethod": "pmethod",
    "degree": "degree",
}  # fmt: skip
METHODS = ("const", "lm", "rlm", "earth", "power", "power0", "x.lm", "x.rlm", "x.earth")


def variants():
    """Options: every method, and every detail with the methods that have it."""
    plain = [{"varmod_method": method} for method in METHODS]
    exponents = [
        {"varmod_method": method, "varmod_exponent": exponent}
        for method, exponent in itertools.product(("lm", "rlm", "earth"), (0.5, 2, 0.3))
    ]
    clamps = [
        {"varmod_method": method, "varmod_clamp": clamp}
        for method, clamp in itertools.product(("lm", "earth", "x.lm", "const"), (0, 0.8, 1))
    ]
    convs = [
        {"varmod_method": method, "varmod_conv": conv}
        for method, conv in itertools.product(("lm", "x.lm", "rlm", "const"), (0.01, 50, -1, -3))
    ]
    convs += [
        {"varmod_method": "earth", "varmod_conv": -1},
        {"varmod_method": "power0", "varmod_conv": -2},
    ]
    minspans = [
        {"varmod_method": method, "varmod_minspan": minspan}
        for method, minspan in itertools.product(("earth", "x.earth"), (-1, -8, 0, 12))
    ]
    others = [
        {"varmod_method": "lm", "pmethod": "cv"},
        {"varmod_method": "x.earth", "degree": 2},
        {"varmod_method": "lm", "varmod_conv": -60},
    ]
    return plain + exponents + clamps + convs + minspans + others


VARIANTS = variants()
DATA = ("noise", "weights", "factor")


def frame(n=160):
    rng = np.random.default_rng(4)
    d = pd.DataFrame({"a": rng.uniform(0, 2, n), "b": rng.normal(size=n)})
    d["kind"] = rng.choice(["u", "v", "w"], n)
    mean = 3 + np.abs(d["a"] - 1) * 3 + d["a"] * (d["b"] > 0) + 2.0 * (d["kind"] == "v")
    d["y"] = mean + 0.08 * mean**1.5 * rng.normal(size=n)
    d["weight"] = rng.uniform(0.5, 2, n)
    return d


def predictors(name):
    return ["a", "b", "kind"] if name == "factor" else ["a", "b"]


def r_arguments(options):
    values = {R_NAMES[k]: f'"{v}"' if isinstance(v, str) else v for k, v in options.items()}
    return ", ".join(f"{name} = {value}" for name, value in values.items())


R_RUN = """
out <- list()
d$kind <- factor(d$kind)
for (i in seq_along(args)) tryCatch({
  x <- d[, if (data[i] == "factor") c("a", "b", "kind") else c("a", "b")]
  w <- if (data[i] == "weights") d$weight
  new <- x[seq(1, nrow(x), 5), ]
  new$a <- new$a * 1.3 - 0.1
  # R's own predict looks for the predictors of these regressions by name
  expanded <- as.data.frame(earth:::expand.arg(new, environment(), 0, FALSE, "x"))
  new.x <- if (grepl('"x', args[i])) expanded else new
  set.seed(seed)
  call <- paste0("earth(x, d$y, weights = w, nfold = 3, ncross = 4, ", args[i], ")")
  fit <- suppressWarnings(eval(parse(text = call)))
  put <- function(name, value) out[[paste("case", i, name, sep = "|")]] <<- value
  model <- fit$varmod$residmod
  put("coef", if (inherits(model, "earth")) as.double(model$coefficients) else as.double(coef(model)))
  put("min.sd", fit$varmod$min.sd)
  put("iters", fit$varmod$iters)
  put("converged", fit$varmod$converged)
  put("train", as.matrix(predict(fit, interval = "pint", level = 0.8)))
  put("mean", as.matrix(predict(fit, interval = "cint", level = 0.8)))
  put("se", predict(fit, interval = "se"))
  put("abs", predict(fit, interval = "abs.residual"))
  put("standardize", as.vector(residuals(fit, type = "standardize")))
  se <- predict(fit$varmod, newdata = new.x, type = "se")
  put("new.se", se)
  put("new", as.matrix(predict(fit$varmod, newdata = new.x, type = "pint", level = 0.9)))
}, error = refused)
"""
CASES = list(itertools.product(DATA, range(len(VARIANTS))))


@pytest.fixture(scope="module")
def found():
    args = [r_arguments(VARIANTS[k]) for _, k in CASES]
    data = [name for name, _ in CASES]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run_r(
            R_RUN,
            packages=("earth", "MASS"),
            d=frame(),
            args=args,
            data=data,
            seed=SEED,
            timeout=900,
        )


def fitted(name, options, engine="native", **more):
    d = frame()
    weights = d["weight"].to_numpy() if name == "weights" else None
    model = Earth(engine=engine, nfold=3, ncross=4, random_state=SEED, **options, **more)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(d[predictors(name)], d["y"], weights)


def new_rows(name):
    new = frame()[predictors(name)].iloc[::5]
    return new.assign(a=new["a"] * 1.3 - 0.1)


@needs_rscript
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}, {r_arguments(VARIANTS[c[1]])}")
def test_intervals_are_rs(found, case):
    number = CASES.index(case) + 1
    r = {key.split("|")[2]: v for key, v in found.items() if key.startswith(f"case|{number}|")}
    name, options = case[0], VARIANTS[case[1]]
    if "coef" not in r:  # R's nls gives up after 100 iterations
        assert options["varmod_method"] == "power"
        with pytest.raises(InvalidInputError, match="iteration limit reached"):
            fitted(name, options)
        return
    model = fitted(name, options)
    varmod = model.model_.varmod
    assert (varmod.iterations, varmod.converged) == (r["iters"][0], bool(r["converged"][0]))
    is_power = options["varmod_method"].startswith("power")
    coef = np.append(varmod.coef, varmod.power) if is_power else varmod.coef
    np.testing.assert_allclose(coef, np.nan_to_num(r["coef"]), **EXACT)
    np.testing.assert_allclose(varmod.min_sd, r["min.sd"][0], **EXACT)
    new = new_rows(name)
    ours = {
        "train": model.predict_interval(level=0.8),
        "mean": model.predict_interval(level=0.8, kind="confidence"),
        "se": model.predict_sd(),
        "abs": model.predict_sd() / np.sqrt(np.pi / 2),
        "standardize": model.residuals("standardize"),
        "new": model.predict_interval(new, level=0.9),
        "new.se": model.predict_sd(new),
    }
    if name == "factor" and "pmethod" in options:
        assert "new" not in r  # R does not find the columns of the factor then
        ours = {what: values for what, values in ours.items() if what in r}
    for what, values in ours.items():
        np.testing.assert_allclose(np.asarray(values), r[what], err_msg=what, **EXACT)
    assert list(model.predict_interval(new).index) == list(new.index)


R_RLM = """
out <- list()
for (i in seq_along(sizes)) tryCatch({
  n <- sizes[i]
  set.seed(i)
  first <- MASS::rlm(x[1:n, ], y[1:n], w[1:n], method = "MM")
  second <- MASS::rlm(x[1:n, 1:2], y[1:n], w[1:n], method = "MM")
  out[[paste0("first", i)]] <- as.double(first$coefficients)
  out[[paste0("second", i)]] <- as.double(second$coefficients)
}, error = refused)
"""


@needs_rscript
def test_robust_regression_is_rs():
    """Few rows: all samples; many: R's draws, which go on from one call to the next."""
    rng = np.random.default_rng(6)
    x = np.column_stack([np.ones(400), rng.normal(size=(400, 2))])
    y = x @ [1.0, 2.0, -1.0] + rng.standard_t(2, size=400)
    w, sizes = rng.uniform(0.5, 2, 400), [12, 30, 90, 101, 400]
    r = run_r(R_RLM, packages=("MASS",), x=x, y=y, w=w, sizes=np.array(sizes, dtype=float))
    for i, n in enumerate(sizes, 1):
        draws = RDraws(i)
        for name, columns in (("first", x[:n]), ("second", x[:n, :2])):
            ours, _ = fit_robust(columns, y[:n], w[:n], draws)
            np.testing.assert_allclose(ours, r[f"{name}{i}"], rtol=1e-9, err_msg=f"{name} {n}")


def test_robust_regression_of_dependent_columns():
    x = np.ones((30, 2))
    with pytest.raises(InvalidInputError, match="depend on each other"):
        fit_robust(x, np.arange(30.0), np.ones(30), RDraws(1))


def test_robust_errors_of_a_column_of_next_to_nothing():
    """R cannot invert its triangle."""
    x = np.column_stack([np.ones(30), 1e-17 * np.arange(30.0)])
    with pytest.raises(InvalidInputError, match="system is computationally singular"):
        robust_errors(x, np.sin(np.arange(30.0)), 1.0)


@pytest.mark.needs_r
@pytest.mark.parametrize("method", METHODS)
def test_models_of_both_engines(method, tmp_path):
    """The same plain model, whoever fitted it; old files have none."""
    models = [fitted("factor", {"varmod_method": method}, engine) for engine in ("r", "native")]
    new = new_rows("factor")
    for kind in ("prediction", "confidence"):
        tables = [m.predict_interval(new, kind=kind).to_numpy() for m in models]
        np.testing.assert_allclose(*tables, **EXACT)
    for model in models:
        model.model_.save(tmp_path / "model.json")
        read = MarsModel.load(tmp_path / "model.json")
        assert read == model.model_
        for kind in ("prediction", "confidence"):
            pd.testing.assert_frame_equal(
                read.predict_interval(new, 0.7, kind), model.predict_interval(new, 0.7, kind)
            )
        entries = model.model_.to_dict()
        del entries["varmod"]
        assert MarsModel.from_dict(entries).varmod is None


@pytest.mark.needs_r
def test_generalised_linear_models_have_intervals_around_their_least_squares_fit():
    d = frame()
    y = np.round(d["y"])
    model = Earth(glm_family="poisson", nfold=3, ncross=3, varmod_method="lm", random_state=1)
    model.fit(d[["a", "b"]], y)
    with pytest.raises(InvalidInputError, match="type='response' but it should be 'earth'"):
        model.predict_interval(d[["a", "b"]])
    table = model.predict_interval(d[["a", "b"]], type="earth")
    np.testing.assert_array_equal(table["fit"], model.model_.predict(d[["a", "b"]], "earth"))
    np.testing.assert_allclose(table.to_numpy(), model.predict_interval(type="earth"), rtol=1e-10)


@pytest.mark.parametrize("engine", [pytest.param("r", marks=pytest.mark.needs_r), "native"])
def test_where_there_is_no_r(engine, tmp_path):
    """A model with factors and a variance model: saved here, its intervals there."""
    model = fitted("factor", {"varmod_method": "x.earth"}, engine)
    new = new_rows("factor")
    model.model_.save(tmp_path / "model.json")
    new.to_csv(tmp_path / "new.csv")
    expected = model.predict_interval(new, kind="confidence")
    expected.to_csv(tmp_path / "expected.csv")
    code = """
import sys
import numpy as np, pandas as pd
from pyearthdof import Earth, MarsModel
folder = sys.argv[1]
new, expected = (pd.read_csv(f"{folder}/{name}.csv", index_col=0) for name in ("new", "expected"))
found = MarsModel.load(f"{folder}/model.json").predict_interval(new, kind="confidence")
np.testing.assert_allclose(found.to_numpy(), expected.to_numpy(), rtol=1e-13)
rng = np.random.default_rng(0)
x = rng.uniform(size=(80, 2))
for method in ("const", "lm", "rlm", "earth", "power0", "x.lm", "x.rlm", "x.earth"):
    model = Earth(nfold=3, ncross=3, varmod_method=method, random_state=1)
    model.fit(x, 3 + x[:, 0] + (1 + x[:, 1]) * rng.normal(size=80) / 9)
    assert model.engine_ == "native" and (model.predict_interval(x)["upper"] > model.predict(x)).all()
print("done")
"""
    assert run_without_r(code, str(tmp_path)).split() == ["done"]


def test_confidence_intervals_at_training_rows_and_new_ones():
    """At the training rows the leverages are those of the fit."""
    for name in ("noise", "weights"):
        model = fitted(name, {"varmod_method": "lm"})
        X = frame()[predictors(name)]
        weights = frame()["weight"].to_numpy() if name == "weights" else np.ones(len(X))
        table = model.predict_interval(X, kind="confidence", level=0.95)
        half = (table["upper"] - table["lower"]).to_numpy() / 2
        sd = model.predict_sd(X) * np.sqrt(model.leverages_ / weights)
        np.testing.assert_allclose(half, 1.959963984540054 * sd, rtol=1e-8)


def test_confidence_intervals_cover():
    """Terms given, noise of one size: 90% intervals of the mean cover it at about 90% of rows and draws."""
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 80)[:, None]
    grid = np.linspace(0.02, 0.98, 25)[:, None]
    inside = []
    for seed in range(60):
        y = 1 + 2 * x[:, 0] + 0.3 * rng.normal(size=80)
        model = Earth(engine="native", linpreds=True, nfold=4, ncross=3, varmod_method="const",
                      penalty=-1, random_state=seed).fit(x, y)  # fmt: skip
        table = model.predict_interval(grid, level=0.9, kind="confidence")
        mean = 1 + 2 * grid[:, 0]
        inside.append(((table["lower"] < mean) & (mean < table["upper"])).mean())
    assert 0.84 < np.mean(inside) < 0.96


def test_what_is_refused():
    plain = Earth(engine="native").fit(frame()[["a", "b"]], frame()["y"])
    for function in (plain.predict_interval, plain.predict_sd):
        with pytest.raises(InvalidInputError, match="varmod_method='none' but intervals need"):
            function()
    with pytest.raises(InvalidInputError, match="the model has no variance model"):
        plain.model_.predict_interval(frame()[["a", "b"]])
    model = fitted("noise", {"varmod_method": "lm"})
    for options, message in (
        ({"level": 1.0}, "level=1.0 but it should be a number between 0 and 1"),
        ({"level": "a"}, "level='a' but it should be a number between 0 and 1"),
        ({"kind": "mean"}, "kind='mean' but it should be 'prediction' or 'confidence'"),
        ({"type": "class"}, "type='class' but it should be 'response', 'link' or 'earth'"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            model.predict_interval(**options)
    negative = frame().assign(y=-frame()["y"])
    for options, message in (
        (
            {"varmod_method": "power"},
            "varmod_method='power' but 1e[+]02% of the fitted values are not",
        ),
        ({"varmod_method": "lm", "varmod_exponent": 0.5}, "varmod_exponent=0.5 but 1e[+]02%"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            Earth(engine="native", nfold=3, ncross=3, random_state=1, **options).fit(
                negative[["a", "b"]], negative["y"]
            )


def test_what_is_warned_of():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(60, 1))
    with pytest.warns(RWarning, match="singularities"):
        Earth(engine="native", nfold=3, ncross=3, random_state=1, varmod_method="lm").fit(
            x, 5 + rng.normal(size=60)
        )
    d = frame()
    with pytest.warns(RWarning, match="varmod did not converge after 50 iterations"):
        Earth(engine="native", nfold=3, ncross=3, random_state=1, varmod_method="lm",
              varmod_conv=-60).fit(d[["a", "b"]], d["y"])  # fmt: skip


def test_a_damaged_variance_model_is_refused():
    entries = fitted("noise", {"varmod_method": "lm"}).model_.to_dict()
    for name, value in (
        ("method", "gam"), ("coef", [1.0]), ("dirs", [[0.0], [3.0]]), ("root", [[1.0]]),
        ("min_sd", -1.0), ("power", "nan"), ("converged", 1), ("iterations", 0.5), ("exponent", None),
        ("coef", [1.0, "inf"]), ("cuts", [[0.0]]),
    ):  # fmt: skip
        with pytest.raises(InvalidInputError, match="varmod"):
            MarsModel.from_dict(entries | {"varmod": entries["varmod"] | {name: value}})
    for varmod in ([], {}, "lm"):
        with pytest.raises(InvalidInputError, match="varmod"):
            MarsModel.from_dict(entries | {"varmod": varmod})


@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
def test_a_constant_response_leaves_nothing_for_robust_regression():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3)) * [1e3, 1.0, 1e-2]
    options = {"nfold": 3, "ncross": 3, "random_state": 5, "engine": "native"}
    for y in (3.7, -2e5, 0.1, 3.0):
        with pytest.raises(InvalidInputError, match="nothing for a variance model"):
            Earth(varmod_method="x.rlm", **options).fit(X, np.full(60, y))
