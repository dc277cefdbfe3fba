"""R's calls on a fitted model beside ours: predict's types, residuals, coef, update, summary's options."""

import functools
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth
from pyearthdof.datasets import load_ozone
from pyearthdof.exceptions import InvalidInputError, TrainingRowsError
from tests.support.rscript import needs_rscript, run_r
from tests.support.versions import assert_bits
from tests.support.without_r import run_without_r

OZONE = load_ozone().astype(float)
NAMES = ["vh", "wind", "humidity", "temp", "ibh"]
X, Y = OZONE[NAMES], OZONE["O3"].rename("y")
TWO = OZONE[["O3", "vis"]]
HIGH = (Y > 15).astype(float).rename("high")
GAPS = X.iloc[:6].copy()
GAPS.iloc[1, 0] = GAPS.iloc[2, 2] = GAPS.iloc[4, 3] = np.nan
WEIGHTS = np.tile([1, 2, 0.5], 110)

# Arguments of R's earth after x: ours, as y and options.
FITS = {
    "y, degree=2": (Y, {"degree": 2}),
    "y, linpreds=c(2, 4)": (Y, {"linpreds": [1, 3]}),
    "two, degree=2, nk=11": (TWO, {"degree": 2, "nk": 11}),
    "high, glm=list(family=binomial)": (HIGH, {"glm_family": "binomial"}),
    'high, glm=list(family=binomial("probit")), degree=2': (
        HIGH, {"glm_family": "binomial", "glm_link": "probit", "degree": 2}),
    'high, glm=list(family=binomial("cauchit"))': (HIGH, {"glm_family": "binomial", "glm_link": "cauchit"}),
    'high, glm=list(family=binomial("cloglog"))': (HIGH, {"glm_family": "binomial", "glm_link": "cloglog"}),
    "y, glm=list(family=poisson)": (Y, {"glm_family": "poisson"}),
    "y, glm=list(family=Gamma)": (Y, {"glm_family": "gamma", "glm_link": "inverse"}),
    "y, glm=list(family=gaussian)": (Y, {"glm_family": "gaussian"}),
    "y, glm=list(family=quasipoisson)": (Y, {"glm_family": "quasipoisson"}),
    'y, glm=list(family=inverse.gaussian("log"))': (Y, {"glm_family": "inverse_gaussian", "glm_link": "log"}),
    "two, glm=list(family=poisson)": (TWO, {"glm_family": "poisson"}),
}  # fmt: skip
TYPES = ("earth", "deviance", "response", "delever", "pearson", "working", "partial", "glm.response",
         "glm.pearson", "glm.working", "glm.partial")  # fmt: skip
SUMMARIES = {  # R's arguments: ours
    "": {},
    "digits=3": {"digits": 3},
    "digits=12": {"digits": 12},
    'decomp="none"': {"decomp": "none"},
    "fixed.point=FALSE": {"fixed_point": False},
    "details=TRUE": {"details": True},
    'style="pmax"': {"style": "pmax"},
    'style="max", digits=4': {"style": "max", "digits": 4},
    'style="C"': {"style": "C"},
    'style="bf", decomp="none"': {"style": "bf", "decomp": "none"},
}
CODE = """
out <- list()
y <- y.frame$y
two <- as.matrix(two)
for (i in seq_along(fits)) {
  w <- NULL
  fit <- suppressWarnings(eval(parse(text = paste0("earth(x, ", fits[i], ")"))))
  keep <- function(name, value) out[[paste0(name, ".", i)]] <<- value
  terms <- suppressWarnings(predict(fit, x, type = "terms"))
  keep("terms", unname(terms))
  keep("terms.names", c("", colnames(terms)))
  keep("gaps", unname(as.matrix(predict(fit, gaps))))
  keep("anova", suppressWarnings(unname(coef(fit, decomp = "anova"))))
  keep("none", suppressWarnings(unname(coef(fit))))
  keep("names", rownames(fit$coefficients))
  for (type in types) {
    found <- try(suppressWarnings(residuals(fit, type = type, warn = FALSE)), silent = TRUE)
    if (!inherits(found, "try-error")) keep(type, matrix(as.double(found), nrow(x)))
  }
  for (k in seq_along(summaries)) {
    text <- paste0("summary(fit", if (nchar(summaries[k])) ", ", summaries[k], ")")
    keep(paste0("summary", k), capture.output(print(eval(parse(text = text)))))
  }
}
"""


@functools.cache
def plain_r():
    return run_r(
        CODE, packages=("earth",), x=X, two=TWO, high=HIGH.to_numpy(), gaps=GAPS, types=list(TYPES),
        summaries=list(SUMMARIES), fits=list(FITS), **{"y.frame": Y.to_frame()},
    )  # fmt: skip


@functools.cache
def fitted(k):
    y, options = list(FITS.values())[k]
    engine = "r" if "glm_family" in options else "native"
    return Earth(engine=engine, **options).fit(X, y)


def each_fit(function):
    marked = pytest.mark.needs_r(pytest.mark.parametrize("k", range(len(FITS)), ids=FITS)(function))
    ignored = pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
    return needs_rscript(ignored(marked))


def close(found, expected, tolerance=1e-9):
    found = np.reshape(np.asarray(found, dtype=float), np.shape(expected))
    scale = np.nanmax(np.abs(expected), initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


@each_fit
def test_terms_and_contributions(k):
    out, model = plain_r(), fitted(k)
    terms = model.predict(X, type="terms")
    assert list(terms.columns) == out[f"terms.names.{k + 1}"][1:]
    close(terms, out[f"terms.{k + 1}"])
    parts = model.contributions(X)
    if model.model_.coef.ndim == 1:
        assert tuple(parts.columns) == model.terms_
        close(parts.sum(axis=1), model.predict(X, type="link"))
    else:
        for m, name in enumerate(model.response_names_):
            close(parts[name].sum(axis=1), model.predict(X, type="link")[:, m])


@each_fit
def test_missing_values_give_nan_where_they_are_asked_to(k):
    out, model = plain_r(), fitted(k)
    kind = "link" if model.model_.glm is not None else "response"
    for rows in (GAPS, GAPS.to_numpy()) if k < 2 else (GAPS,):
        found = model.predict(rows, type=kind, missing="propagate")
        close(found, out[f"gaps.{k + 1}"])
        assert np.isnan(found).any()
    with pytest.raises(InvalidInputError, match="contains NaN"):
        model.predict(GAPS)


@each_fit
def test_residuals_of_all_types(k):
    out, model = plain_r(), fitted(k)
    for kind in TYPES:
        if f"{kind}.{k + 1}" in out:
            close(model.residuals(kind), out[f"{kind}.{k + 1}"], 1e-7)
        else:
            with pytest.raises(InvalidInputError, match="generalised linear models"):
                model.residuals(kind)


@each_fit
def test_coefficients_by_decomposition(k):
    out, model = plain_r(), fitted(k)
    for decomp in ("none", "anova"):
        found = model.coef(decomp=decomp)
        first = found if found.ndim == 1 else found.iloc[:, 0]
        close(first, out[f"{decomp}.{k + 1}"], 1e-8)
    for type in ("response", "earth"):
        assert list(model.coef(type).index) == out[f"names.{k + 1}"] == list(model.terms_)
    ours = model.coef(decomp="anova").reindex(model.coef().index)
    np.testing.assert_array_equal(ours, model.coef())


@each_fit
def test_summaries_with_options(k):
    out, model = plain_r(), fitted(k)
    for j, options in enumerate(SUMMARIES.values(), 1):
        expected = "\n".join(out[f"summary{j}.{k + 1}"]).split("\n\n", 1)[1]
        assert model.summary(**options).split("\n\n", 1)[1] == expected
        # without R's object, by us
        again = (
            Earth(**model.get_params()).fit(X, FITS_Y[k]) if model.engine_ == "native" else model
        )
        kept, again._fitted = again._fitted, replace(again._fitted, r_object=None)
        try:
            assert again.summary(**options).split("\n\n", 1)[1].rstrip() == expected.rstrip()
        finally:
            again._fitted = kept


R_STANDARDIZED = """
set.seed(1)
fit <- eval(parse(text = sprintf("earth(x, y.frame$y, nfold = 3, ncross = 3, %s)", options)))
out <- list(s = as.vector(residuals(fit, type = "standardize", warn = FALSE)))
"""
STANDARDIZED = {  # R's arguments: ours
    'varmod.method = "lm"': {"varmod_method": "lm"},
    'varmod.method = "lm", glm = list(family = poisson)': {
        "varmod_method": "lm", "glm_family": "poisson"},
}  # fmt: skip


@needs_rscript
@pytest.mark.parametrize("engine", [pytest.param("r", marks=pytest.mark.needs_r), "native"])
@pytest.mark.parametrize("options", STANDARDIZED)
def test_standardized_residuals(options, engine, tmp_path):
    """Of the least-squares fit, also with a glm; tests of the native variance models have them for all."""
    data = {"x": X, "y.frame": Y.to_frame()}
    expected = run_r(R_STANDARDIZED, packages=("earth",), options=options, **data)["s"]
    model = Earth(nfold=3, ncross=3, random_state=1, engine=engine, **STANDARDIZED[options])
    close(model.fit(X, Y).residuals("standardize"), expected)
    model.save(tmp_path / "model.json")
    with pytest.raises(TrainingRowsError, match="residuals_ needs the training rows"):
        Earth.load(tmp_path / "model.json").residuals("standardize")


def test_standardized_residuals_need_a_variance_model():
    with pytest.raises(InvalidInputError, match="there is no variance model"):
        Earth(engine="native").fit(X, Y).residuals("standardize")


@needs_rscript
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
def test_residuals_of_rows_without_weight():
    """R's binomial family takes their response for 0."""
    code = """
fit <- suppressWarnings(earth(x, high, weights = w, glm = list(family = binomial)))
out <- list()
for (type in types) out[[type]] <- as.vector(residuals(fit, type = type, warn = FALSE))
"""
    types = ["deviance", "glm.response", "glm.pearson", "glm.working"]
    weights = np.where(np.arange(len(X)) % 6 == 0, 0.0, 1.0 + np.arange(len(X)) % 2)
    out = run_r(code, packages=("earth",), x=X, high=HIGH.to_numpy(), w=weights, types=types)
    model = Earth(glm_family="binomial", engine="native").fit(X, HIGH, weights)
    for kind in types:
        close(model.residuals(kind), out[kind], 1e-7)


FITS_Y = [y for y, _ in FITS.values()]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"style": "x"}, "style='x'"), ({"digits": 0}, "digits=0"), ({"decomp": 1}, "decomp=1"),
        ({"details": 1}, "details=1"), ({"fixed_point": "no"}, "fixed_point='no'"),
    ],
)  # fmt: skip
def test_options_of_a_summary_are_checked(options, message):
    with pytest.raises(InvalidInputError, match=message):
        Earth(engine="native").fit(X, Y).summary(**options)


@needs_rscript
@pytest.mark.needs_r
@pytest.mark.parametrize("engine", ["r", "native"])
def test_factors_as_responses(engine):
    """One factor of two levels, of three, and a frame with both; classes by threshold."""
    kind = pd.Series(
        pd.Categorical(np.where(Y > 15, "hi", np.where(Y > 8, "mid", "lo")), ["lo", "mid", "hi"])
    )
    high = pd.Series(pd.Categorical(np.where(Y > 15, "yes", "no")))
    frame = pd.DataFrame({"a b": kind, "high": high, "O3": Y})
    code = """
kind <- factor(kind, c("lo", "mid", "hi")); high <- factor(high)
frame <- data.frame(kind, high, y.frame$y); names(frame) <- c("a b", "high", "O3")
fits <- list(earth(x, kind), earth(x, high), earth(x, frame), earth(x, high == "yes"))
out <- list()
for (i in 1:4) {
  out[[paste0("names", i)]] <- colnames(fits[[i]]$coefficients)
  out[[paste0("fitted", i)]] <- unname(fits[[i]]$fitted.values)
}
out$class1 <- as.character(predict(fits[[1]], x, type = "class"))
out$class2 <- as.character(predict(fits[[2]], x, type = "class", thresh = 0.3))
out$class4 <- as.character(predict(fits[[4]], x, type = "class"))
"""
    out = run_r(
        code, packages=("earth",), x=X, kind=list(map(str, kind)), high=list(map(str, high)),
        **{"y.frame": Y.to_frame()},
    )  # fmt: skip
    ys = (kind, high, frame, high == "yes")
    models = [Earth(engine=engine).fit(X, y) for y in ys]
    for k, model in enumerate(models[:3], 1):
        assert list(model.response_names_) == out[f"names{k}"]
        close(model.fitted_values_, out[f"fitted{k}"], 1e-9)
    assert list(models[0].predict(X, type="class")) == out["class1"]
    assert list(models[1].predict(X, type="class", thresh=0.3)) == out["class2"]
    assert [str(c).upper() for c in models[3].predict(X, type="class")] == out["class4"]
    assert models[0].levels_.tolist() == ["lo", "mid", "hi"]
    with pytest.raises(InvalidInputError, match="type='class' but it should be one of"):
        models[2].predict(X, type="class")


@needs_rscript
@pytest.mark.needs_r
@pytest.mark.parametrize("dtype", [object, "string", "str"])
@pytest.mark.parametrize("engine", ["r", "native"])
def test_texts_in_a_frame_of_responses_are_factors(engine, dtype):
    kind = np.where(Y > 15, "hi", np.where(Y > 8, "mid", "lo"))
    high = np.where(Y > 15, "yes", "no")
    frame = pd.DataFrame({"kind": kind, "high": high}).astype(dtype).assign(O3=Y)
    code = """
frame <- data.frame(kind, high, O3 = y.frame$y)
stopifnot(is.character(frame$kind), is.character(frame$high))
fits <- list(earth(x, frame), earth(x, frame["kind"]), earth(x, frame["high"]))
out <- list()
for (i in 1:3) {
  out[[paste0("names", i)]] <- colnames(fits[[i]]$coefficients)
  out[[paste0("fitted", i)]] <- unname(fits[[i]]$fitted.values)
}
"""
    out = run_r(
        code, packages=("earth",), x=X, kind=list(kind), high=list(high),
        **{"y.frame": Y.to_frame()},
    )  # fmt: skip
    for k, columns in enumerate((["kind", "high", "O3"], ["kind"], ["high"]), 1):
        model = Earth(engine=engine).fit(X, frame[columns])
        assert list(model.response_names_) == out[f"names{k}"]
        close(model.fitted_values_.ravel(), out[f"fitted{k}"].ravel(), 1e-9)


def test_texts_that_are_numbers_stay_numbers():
    model = Earth(engine="native").fit(X, pd.DataFrame({"y": Y.map(str)}))
    np.testing.assert_array_equal(
        model.fitted_values_, Earth(engine="native").fit(X, Y).fitted_values_
    )


def test_columns_without_a_name_have_rs():
    frame = X.set_axis(["a", "", "c", "", "e"], axis=1)
    model = Earth(engine="native").fit(frame, TWO.set_axis(["", "b"], axis=1))
    assert model.model_.feature_names == ("a", "x2", "c", "x4", "e")
    assert model.response_names_ == ("y1", "b")
    assert np.isfinite(model.predict(frame)).all()


@needs_rscript
@pytest.mark.needs_r
@pytest.mark.parametrize("engine", ["r", "native"])
def test_update_is_rs(engine):
    code = """
d <- cbind(x, O3 = y.frame$y, w = w)
fit <- earth(O3 ~ . - w, data = d, weights = w, keepxy = TRUE)
keep <- function(name, f) { out[[paste0(name, ".terms")]] <<- rownames(f$coefficients)
                            out[[paste0(name, ".coef")]] <<- as.vector(f$coefficients) }
out <- list()
keep("nprune", update(fit, nprune = 4))
keep("degree", update(fit, degree = 2))
keep("penalty", update(fit, penalty = 5))
keep("ponly", update(fit, penalty = 5, ponly = TRUE))
keep("pmethod", update(fit, pmethod = "none", thresh = 0.01))
keep("formula", update(fit, log(.) ~ . - wind - temp + poly(temp, 2), nk = 15))
keep("sided", update(fit, ~ . - wind))
"""
    out = run_r(code, packages=("earth",), x=X, w=WEIGHTS, **{"y.frame": Y.to_frame()})
    data = X.assign(O3=Y, w=WEIGHTS)
    fit = Earth.from_formula("O3 ~ . - w", data, WEIGHTS, engine=engine)
    found = {
        "nprune": fit.update(nprune=4),
        "degree": fit.update(degree=2),
        "penalty": fit.update(penalty=5),
        "ponly": fit.update(penalty=5, ponly=True),
        "pmethod": fit.update(pmethod="none", thresh=0.01),
        "formula": fit.update(formula="log(.) ~ . - wind - temp + poly(temp, 2)", nk=15),
        "sided": fit.update(formula=" ~ . - wind"),
    }
    for name, model in found.items():
        assert model is not fit and model.engine_ == engine
        assert list(model.terms_) == out[f"{name}.terms"], name
        close(model.term_coef_, out[f"{name}.coef"], 1e-8)
        assert np.isfinite(model.predict(data)).all()


def test_update_without_a_formula_and_with_unknown_options():
    fit = Earth(engine="native").fit(X, Y)
    assert (
        fit.update(degree=2, nk=9).terms_ == Earth(engine="native", degree=2, nk=9).fit(X, Y).terms_
    )
    assert fit.update(nprune=3).n_terms_ == 3
    assert fit.degree == 1
    for options, message in (
        ({"colour": 1}, "colour=1 but Earth has no such argument"),
        ({"formula": "y ~ x"}, "fitted without a formula"),
        ({"ponly": 3}, "ponly=3"),
        ({"degree": 0}, "degree=0"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            fit.update(**options)


def test_missing_values_among_factors_and_unused_columns():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"x": rng.normal(size=90), "unused": 0.0, "f": rng.choice(list("abc"), 90)}
    )
    y = np.abs(frame["x"]) + (frame["f"] == "b")
    model = Earth(engine="native").fit(frame, y)
    new = frame.iloc[:5].astype({"f": object}).copy()
    new.loc[0, "unused"] = np.nan
    new.loc[1, "f"] = None
    new.loc[2, "x"] = np.nan
    found = model.predict(new, missing="propagate")
    assert np.isnan(found).tolist() == [False, True, True, False, False]
    np.testing.assert_array_equal(found[[0, 3, 4]], model.predict(frame.iloc[[0, 3, 4]]))
    with pytest.raises(InvalidInputError, match="missing='drop'"):
        model.predict(new, missing="drop")


def test_a_formula_without_r():
    """Everything that is about formulas where R cannot be found."""
    code = """
import warnings, numpy as np, pandas as pd
from pyearthdof import Earth, MarsModel
from pyearthdof.datasets import load_ozone
ozone = load_ozone()
fit = Earth.from_formula("O3 ~ . - doy", ozone, degree=2)
print(fit)
print(fit.engine_)
text = "cbind(O3, wind) ~ poly(temp, 2) * (vis > 100) + ns(ibt, 3) + offset(humidity)"
several = Earth.from_formula(text, ozone)
again = MarsModel.from_json(several.model_.to_json())
print((again.predict(ozone) == several.predict(ozone)).all(), several.engine_)
print(several.update(formula=". ~ . - ns(ibt, 3)").model_.feature_names)
print(fit.summary(style="pmax", digits=3).splitlines()[2])
try:
    Earth.from_formula("O3 ~ system('ls')", ozone)
except ValueError as error:
    print(str(error)[:45])
"""
    printed = run_without_r(code).splitlines()
    assert printed[0] == "MARS model: selected 13 of 21 terms, and 7 of 8 predictors"
    assert printed[1].startswith("GCV 15.35427    RSS 4159.658    GRSq 0.7614895    RSq 0.8030037")
    assert printed[2] == "native"
    assert printed[3] == "True native"
    assert "poly(temp, 2)1:vis > 100TRUE" in printed[4] and "ns(" not in printed[4]
    assert printed[5] == "O3 ="
    assert printed[6] == "formula is refused: it calls system, which is"


R_SEPARATED = """
out <- list()
for (i in seq_along(calls)) {
  fit <- suppressWarnings(eval(parse(text = paste0("earth(x, ", calls[i], ")"))))
  for (type in types)
    out[[paste(type, i, sep = "|")]] <- unname(as.matrix(residuals(fit, type = type, warn = FALSE)))
}
"""
# R's arguments: response, whether there are weights, ours
SEPARATED = {
    "y, glm=list(family=binomial)": ("y", False, {"glm_family": "binomial"}),
    "y, weights=w, glm=list(family=binomial)": ("y", True, {"glm_family": "binomial"}),
    "y, glm=list(family=binomial(link=probit))": (
        "y", False, {"glm_family": "binomial", "glm_link": "probit"}),
    "two, glm=list(family=quasibinomial)": ("two", False, {"glm_family": "quasibinomial"}),
    "pairs, glm=list(family=binomial)": ("pairs", False, {"glm_family": "binomial"}),
    "pairs, weights=w, glm=list(family=binomial)": ("pairs", True, {"glm_family": "binomial"}),
    "counts, glm=list(family=poisson)": ("counts", False, {"glm_family": "poisson"}),
}  # fmt: skip


@needs_rscript
@pytest.mark.filterwarnings("ignore")
def test_residuals_of_separated_fits_are_rs_to_the_bit(tmp_path):
    """Where fitted probabilities are 0 and 1, y - mu is a few last bits."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(90, 3)).round(2)
    y = (x[:, 0] + 0.5 * x[:, 1] > 0.1) * 1.0
    trials = rng.integers(1, 5, 90)
    data = {
        "y": y,
        "two": np.column_stack([y, (1 - y) * (rng.random(90) > 0.5)]),
        "pairs": np.column_stack([y * trials, (1 - y) * trials]),
        "counts": y * rng.poisson(4, 90),
    }
    w = rng.integers(0, 3, 90) * 1.0
    types = [kind for kind in TYPES if kind != "standardize"]
    r = run_r(
        R_SEPARATED, packages=("earth",), x=x, w=w, calls=list(SEPARATED), types=types, **data
    )
    for i, (name, weighted, options) in enumerate(SEPARATED.values(), start=1):
        for engine in ("r", "native"):
            model = Earth(engine=engine, **options).fit(x, data[name], w if weighted else None)
            if engine == "r":
                model.to_rds(tmp_path / "model.rds")
                adopted = [Earth.from_r(tmp_path / "model.rds")]
            for found in (model, pickle.loads(pickle.dumps(model)), *adopted):
                for kind in types:
                    expected = r[f"{kind}|{i}"]
                    ours = np.asarray(found.residuals(kind)).reshape(len(x), -1)
                    if kind.endswith("partial"):
                        np.testing.assert_allclose(ours, expected, 1e-9, 1e-9)
                    else:
                        assert_bits(ours, expected, f"{engine} {name} {kind}")


@needs_rscript
def test_residuals_at_a_leverage_of_one():
    """y - fitted may be 0 there, the residual of R's regression is a last bit: infinite over 0."""
    rng = np.random.default_rng(3)
    fits = []
    for k in range(12):
        n = int(rng.integers(9, 30))
        x = np.column_stack([rng.normal(size=(n, 2)).round(2), np.arange(n) == 1])
        y = (np.abs(x[:, 0]) + rng.normal(size=n) + 20 * x[:, 2]).round(3)
        y = np.column_stack([y, x[:, 1] + rng.normal(size=n)]) if k % 3 == 0 else y
        fits.append((x, y, rng.integers(1, 4, n) * 1.0 if k % 2 else np.ones(n)))
    code = """
out <- list()
for (i in seq_len(count)) {
  fit <- earth(get(paste0("x", i)), get(paste0("y", i)), weights = get(paste0("w", i)), minspan = 1,
               endspan = 1, pmethod = "none", nk = 11)
  out[[paste0("h", i)]] <- fit$leverages
  for (type in c("earth", "delever"))
    out[[paste0(type, i)]] <- unname(as.matrix(residuals(fit, type = type)))
}
"""
    sent = {f"{n}{i}": v for i, fit in enumerate(fits, 1) for n, v in zip("xyw", fit, strict=True)}
    r = run_r(code, packages=("earth",), count=len(fits), **sent)
    options = {"minspan": 1, "endspan": 1, "pmethod": "none", "nk": 11}
    for i, (x, y, w) in enumerate(fits, 1):
        for engine in ("r", "native"):
            model = Earth(engine=engine, **options).fit(x, y, w)
            for kind in ("earth", "delever"):
                ours = model.residuals(kind).reshape(len(x), -1)
                assert_bits(ours, r[f"{kind}{i}"], f"{engine} {kind} {i}")
    assert any((r[f"h{i}"] == 1).any() for i in range(1, len(fits) + 1))
    assert any(np.isinf(r[f"delever{i}"]).any() for i in range(1, len(fits) + 1))
