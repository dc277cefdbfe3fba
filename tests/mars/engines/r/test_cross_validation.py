"""R's cross-validation, pmethod "cv", variance models and intervals, under R's own seed."""

import warnings

import numpy as np
import pytest

from pyearthdof import Earth, EarthClassifier
from tests.support.mars.earth_cases import R_DATA, read_frames
from tests.support.rscript import needs_rscript, run_r

pytestmark = [
    needs_rscript,
    pytest.mark.needs_r,
]

SEED = 3
# data, predictors, responses, R's arguments: ours
CASES = {
    ("ozone", "temp|ibh|doy", "O3", "nfold=3"): {"nfold": 3},
    ("ozone", "temp|ibh|doy", "O3", "nfold=4, ncross=2, degree=2, keepxy=TRUE"): {
        "nfold": 4, "ncross": 2, "degree": 2, "keepxy": True},
    ("ozone", "temp|ibh|doy", "O3", "nfold=5, stratify=FALSE"): {"nfold": 5, "stratify": False},
    ("ozone", "temp|ibh", "O3|wind", "nfold=3, ncross=2"): {"nfold": 3, "ncross": 2},
    ("ozone", "temp|ibh|doy", "O3", 'nfold=3, ncross=2, pmethod="cv"'): {
        "nfold": 3, "ncross": 2, "pmethod": "cv"},
    ("titanic", "pclass|sex|parch", "age", "nfold=3, weights=w"): {"nfold": 3},
    ("titanic", "pclass|sex|age", "survived", "nfold=3, glm=list(family=binomial)"): {
        "nfold": 3, "glm_family": "binomial"},
    ("insects", "spray", "count", "nfold=3, glm=list(family=poisson), keepxy=TRUE"): {
        "nfold": 3, "glm_family": "poisson", "keepxy": True},
}  # fmt: skip
VARMODS = {
    'varmod.method="const"': {"varmod_method": "const"},
    'varmod.method="lm"': {"varmod_method": "lm"},
    'varmod.method="rlm"': {"varmod_method": "rlm"},
    'varmod.method="earth"': {"varmod_method": "earth"},
    'varmod.method="earth", varmod.minspan=-5': {"varmod_method": "earth", "varmod_minspan": -5},
    'varmod.method="power"': {"varmod_method": "power"},
    'varmod.method="power0"': {"varmod_method": "power0"},
    'varmod.method="x.lm"': {"varmod_method": "x.lm"},
    'varmod.method="x.earth"': {"varmod_method": "x.earth"},
    'varmod.method="lm", varmod.exponent=0.5': {"varmod_method": "lm", "varmod_exponent": 0.5},
    'varmod.method="lm", varmod.clamp=0.3, varmod.conv=0.1': {
        "varmod_method": "lm", "varmod_clamp": 0.3, "varmod_conv": 0.1},
}  # fmt: skip

R_RUN = """
split.names <- function(text) strsplit(text, "|", fixed = TRUE)[[1]]
tables <- c("cv.rsq.tab", "cv.maxerr.tab", "cv.class.rate.tab", "cv.auc.tab", "cv.cor.tab",
            "cv.deviance.tab", "cv.calib.int.tab", "cv.calib.slope.tab", "cv.oof.rsq.tab",
            "cv.infold.rsq.tab", "cv.oof.fit.tab")
for (i in seq_along(args)) tryCatch({
  d <- frames[[data[i]]]
  x <- d[, split.names(xs[i]), drop = FALSE]
  y <- as.matrix(d[, split.names(ys[i]), drop = FALSE])
  w <- weights.all[seq_len(nrow(d))]
  set.seed(seed)
  fit <- suppressWarnings(eval(parse(text = paste0("earth(x, y, ", args[i], ")"))))
  put <- function(name, value) out[[paste("case", i, name, sep = "|")]] <<- value
  put("coef", fit$coefficients)
  put("selected", fit$selected.terms)
  put("folds", names(fit$cv.list))
  put("nterms", fit$cv.nterms.selected.by.gcv)
  put("nvars", fit$cv.nvars.selected.by.gcv)
  for (tab in tables) if (!is.null(fit[[tab]])) put(tab, fit[[tab]])
}, error = refused)
d <- frames$ozone
x <- d[, c("temp", "ibh", "doy")]
new <- news$ozone[1:40, names(x)]
for (i in seq_along(varmods)) tryCatch({
  set.seed(seed)
  fit <- suppressWarnings(eval(parse(text = paste0("earth(x, d$O3, nfold=3, ncross=3, ", varmods[i], ")"))))
  put <- function(name, value) out[[paste("varmod", i, name, sep = "|")]] <<- as.matrix(value)
  put("new", predict(fit, new, interval = "pint", level = 0.9))
  put("train", predict(fit, interval = "pint"))
  put("mean", predict(fit, interval = "cint", level = 0.5))
}, error = refused)
iris.x <- iris[, 1:2]
set.seed(seed)
fit <- suppressWarnings(earth(iris.x, iris$Species, nfold = 3, glm = list(family = binomial)))
out$iris.class.rate <- fit$cv.class.rate.tab
"""


@pytest.fixture(scope="module")
def found():
    columns = list(zip(*CASES, strict=True))
    names = dict(zip(("data", "xs", "ys", "args"), map(list, columns), strict=True))
    result = run_r(
        R_DATA + R_RUN, packages=("earth",), varmods=list(VARMODS), seed=SEED, timeout=600, **names
    )
    return result, read_frames(result)


def fit(found, case, **options):
    data, x, y, args = case
    frame = found[1]["frame"][data]
    y = y.split("|")
    weights = found[0]["weights.all"][: len(frame)] if "weights" in args else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Earth(random_state=SEED, engine="r", **options)
        return model.fit(frame[x.split("|")], frame[y if len(y) > 1 else y[0]], weights)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_folds_are_rs(found, case):
    number = list(CASES).index(case) + 1
    r = {key.split("|")[2]: v for key, v in found[0].items() if key.startswith(f"case|{number}|")}
    model = fit(found, case, **CASES[case])
    np.testing.assert_array_equal(model.term_coef_.ravel(), r["coef"].ravel())
    np.testing.assert_array_equal(model.selected_terms_ + 1, r["selected"])
    n_folds = CASES[case]["nfold"] * CASES[case].get("ncross", 1)
    assert len(r["folds"]) == n_folds
    if "nterms" in r:  # pmethod "cv" has no statistics of the folds but one
        assert list(model.cv_.index) == [*r["folds"], "mean"]
        np.testing.assert_array_equal(model.cv_["nterms"], r["nterms"])
        np.testing.assert_array_equal(model.cv_["nvars"], r["nvars"])
        assert {"rsq", "maxerr"} <= set(model.cv_)
    tables = [name for name in r if name.endswith(".tab")]
    assert len(tables) >= (1 if "nterms" not in r else 2)
    for name in tables:
        short = name.removeprefix("cv.").removesuffix(".tab").replace(".", "_")
        np.testing.assert_array_equal(model.cv_tables_[short].to_numpy(), r[name], name)
        if short in model.cv_:
            np.testing.assert_array_equal(model.cv_[short], r[name][:, -1])


def test_columns_of_several_responses(found):
    case = ("ozone", "temp|ibh", "O3|wind", "nfold=3, ncross=2")
    assert {"rsq_O3", "rsq_wind"} <= set(fit(found, case, **CASES[case]).cv_)


def test_another_seed_gives_other_folds(found):
    case = ("ozone", "temp|ibh|doy", "O3", "nfold=3")
    frame = found[1]["frame"]["ozone"]
    X, y = frame[["temp", "ibh", "doy"]], frame["O3"]
    here = fit(found, case, nfold=3).cv_
    again = fit(found, case, nfold=3).cv_
    other = Earth(nfold=3, random_state=SEED + 1).fit(X, y).cv_
    drawn = Earth(nfold=3, random_state=np.random.RandomState(0)).fit(X, y).cv_
    assert here.equals(again) and not here.equals(other) and not here.equals(drawn)


@pytest.mark.parametrize("args", VARMODS)
def test_intervals_are_rs(found, args):
    number = list(VARMODS).index(args) + 1
    frames = found[1]
    x = ["temp", "ibh", "doy"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Earth(nfold=3, ncross=3, random_state=SEED, **VARMODS[args])
        model.fit(frames["frame"]["ozone"][x], frames["frame"]["ozone"]["O3"])
    new = frames["new"]["ozone"][x].iloc[:40]
    ours = {
        "new": model.predict_interval(new, level=0.9),
        "train": model.predict_interval(),
        "mean": model.predict_interval(kind="confidence", level=0.5),
    }
    for name, table in ours.items():
        assert list(table.columns) == ["fit", "lower", "upper"]
        expected = found[0][f"varmod|{number}|{name}"]
        np.testing.assert_allclose(table.to_numpy(), expected, rtol=1e-12, atol=1e-12, err_msg=name)
    assert list(ours["new"].index) == list(new.index)


def test_a_classifier_is_cross_validated(found):
    iris = found[1]["frame"]["iris"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = EarthClassifier(nfold=3, random_state=SEED)
        model.fit(iris[["Sepal.Length", "Sepal.Width"]], iris["Species"])
    expected = found[0]["iris.class.rate"]
    np.testing.assert_array_equal(model.cv_tables_["class_rate"].to_numpy(), expected)
    assert "class_rate_setosa" in model.cv_
