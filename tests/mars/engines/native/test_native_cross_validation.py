"""Cross-validation without R: plain R's folds and tables, in any number of threads."""

import warnings

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth
from pyearthdof._utils.warnings import warn_user
from pyearthdof.exceptions import InvalidInputError, RWarning
from pyearthdof.mars.engines.native.cross_validation import draw_folds, in_threads
from pyearthdof.random import RDraws
from tests.support.mars.earth_cases import R_DATA, read_frames
from tests.support.rscript import needs_rscript, run_r
from tests.support.without_r import run_without_r

SEED = 7
EXACT = {"rtol": 1e-8, "atol": 1e-10}
# data, predictors, responses, R's arguments: ours
CASES = {
    ("ozone", "temp|ibh|doy", "O3", "nfold=3"): {"nfold": 3},
    ("ozone", "temp|ibh|doy", "O3", "nfold=10, degree=2"): {"nfold": 10, "degree": 2},
    ("ozone", "temp|ibh|doy", "O3", "nfold=4, ncross=2, degree=2, keepxy=TRUE"): {
        "nfold": 4, "ncross": 2, "degree": 2, "keepxy": True},
    ("ozone", "temp|ibh|doy", "O3", "nfold=5, stratify=FALSE"): {"nfold": 5, "stratify": False},
    ("ozone", "temp|ibh|doy", "O3", "nfold=3, nprune=4, keepxy=TRUE"): {
        "nfold": 3, "nprune": 4, "keepxy": True},
    ("ozone", "temp|ibh|doy", "O3", "nfold=3, pmethod='none', nk=9, keepxy=TRUE"): {
        "nfold": 3, "pmethod": "none", "nk": 9, "keepxy": True},
    ("ozone", "temp|ibh|doy", "O3", "nfold=3, pmethod='exhaustive', nk=11"): {
        "nfold": 3, "pmethod": "exhaustive", "nk": 11},
    ("ozone", "temp|ibh|doy", "O3", "nfold=3, pmethod='seqrep', keepxy=TRUE"): {
        "nfold": 3, "pmethod": "seqrep", "keepxy": True},
    ("ozone", "temp|ibh|doy", "O3", "nfold=3, penalty=-1, thresh=0, minspan=-4, linpreds=2"): {
        "nfold": 3, "penalty": -1, "thresh": 0, "minspan": -4, "linpreds": [1]},
    ("ozone", "temp|ibh|doy", "O3", "nfold=3, weights=w, keepxy=TRUE"): {"nfold": 3, "keepxy": True},
    ("ozone", "temp|ibh|doy", "O3", "nfold=3, subset=rows, ncross=2"): {"nfold": 3, "ncross": 2},
    ("ozone", "temp|ibh|doy", "O3", "nfold=3, subset=rows, weights=w"): {"nfold": 3},
    ("ozone", "temp|ibh", "O3|wind", "nfold=3, ncross=2"): {"nfold": 3, "ncross": 2},
    ("ozone", "temp|ibh", "O3|wind", "nfold=3, wp=c(1, 3), keepxy=TRUE"): {
        "nfold": 3, "response_weight": [1, 3], "keepxy": True},
    ("ozone", "temp|ibh", "O3|wind|vis", "nfold=4, weights=w, keepxy=TRUE"): {
        "nfold": 4, "keepxy": True},
    ("ozone", "temp|ibh|doy", "O3", 'nfold=3, ncross=2, pmethod="cv"'): {
        "nfold": 3, "ncross": 2, "pmethod": "cv"},
    ("ozone", "temp|ibh|doy", "O3", 'nfold=5, pmethod="cv", nprune=5, degree=2'): {
        "nfold": 5, "pmethod": "cv", "nprune": 5, "degree": 2},
    ("ozone", "temp|ibh|doy", "O3", 'nfold=5, pmethod="cv", weights=w, penalty=0'): {
        "nfold": 5, "pmethod": "cv", "penalty": 0},
    ("ozone", "temp|ibh", "O3|wind", 'nfold=3, pmethod="cv", keepxy=TRUE'): {
        "nfold": 3, "pmethod": "cv", "keepxy": True},
    ("titanic", "pclass|sex|parch", "age", "nfold=3, weights=w"): {"nfold": 3},
    ("titanic", "pclass|sex|age", "survived", "nfold=3, keepxy=TRUE"): {"nfold": 3, "keepxy": True},
    ("titanic", "pclass|sex|age", "survived|child01", "nfold=3"): {"nfold": 3},
    ("trees", "Girth|Height", "Volume", "nfold=31, keepxy=TRUE"): {"nfold": 31, "keepxy": True},
    ("trees", "Girth|Height", "Volume", "nfold=100, stratify=FALSE"): {
        "nfold": 100, "stratify": False},
    ("insects", "spray", "count", "nfold=3, ncross=3, keepxy=TRUE"): {
        "nfold": 3, "ncross": 3, "keepxy": True},
}  # fmt: skip
TABLES = (
    "cv.rsq.tab", "cv.maxerr.tab", "cv.class.rate.tab", "cv.oof.rsq.tab", "cv.infold.rsq.tab",
)  # fmt: skip

R_RUN = """
split.names <- function(text) strsplit(text, "|", fixed = TRUE)[[1]]
for (i in seq_along(args)) tryCatch({
  d <- frames[[data[i]]]
  w <- weights.all[seq_len(nrow(d))]
  if (grepl("subset=rows, ", args[i])) {  # which R does not cross-validate
    rows <- seq_len(nrow(d)) %% 3 != 1
    d <- d[rows, ]
    w <- w[rows]
  }
  x <- d[, split.names(xs[i]), drop = FALSE]
  y <- as.matrix(d[, split.names(ys[i]), drop = FALSE])
  set.seed(seed)
  call <- sub("subset=rows, ", "", paste0("earth(x, y, ", args[i], ")"))
  fit <- suppressWarnings(eval(parse(text = call)))
  put <- function(name, value) out[[paste("case", i, name, sep = "|")]] <<- value
  put("coef", fit$coefficients)
  put("selected", fit$selected.terms)
  put("rss", fit$rss)
  put("gcv.per.subset", fit$gcv.per.subset)
  put("folds", names(fit$cv.list))
  put("fold.terms", sapply(fit$cv.list, function(f) length(f$selected.terms)))
  put("nterms", fit$cv.nterms.selected.by.gcv)
  put("nvars", fit$cv.nvars.selected.by.gcv)
  for (tab in tables) if (!is.null(fit[[tab]])) {
    put(tab, fit[[tab]])
    put(paste0(tab, ".columns"), colnames(fit[[tab]]))
    put(paste0(tab, ".rows"), rownames(fit[[tab]]))
  }
}, error = refused)
for (j in 1:3) {
  set.seed(seed + j)
  y <- matrix(ys.for.folds[, seq_len(j)], ncol = j)
  out[[paste0("folds", j)]] <- replicate(3, earth:::get.groups(y, j + 1, j > 1))
}
"""


@pytest.fixture(scope="module")
def found():
    columns = list(zip(*CASES, strict=True))
    names = dict(zip(("data", "xs", "ys", "args"), map(list, columns), strict=True))
    result = run_r(
        R_DATA + R_RUN, packages=("earth",), seed=SEED, tables=list(TABLES), timeout=600,
        **{"ys.for.folds": responses_for_folds()}, **names,
    )  # fmt: skip
    return result, read_frames(result)


def responses_for_folds():
    return np.random.default_rng(1).integers(0, 2, size=(57, 3)).astype(float)


def fit(found, case, **options):
    data, x, y, args = case
    frame, y = found[1]["frame"][data], y.split("|")
    weights = found[0]["weights.all"][: len(frame)] if "weights" in args else None
    rows = np.arange(1, len(frame) + 1) % 3 != 1 if "subset" in args else None
    model = Earth(random_state=SEED, engine="native", **CASES[case] | options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target = frame[y if len(y) > 1 else y[0]]
        return model.fit(frame[x.split("|")], target, weights, subset=rows)


@needs_rscript
@pytest.mark.parametrize("case", CASES, ids=str)
def test_tables_are_rs(found, case):
    number = list(CASES).index(case) + 1
    r = {key.split("|")[2]: v for key, v in found[0].items() if key.startswith(f"case|{number}|")}
    model = fit(found, case)
    assert model.engine_ == "native"
    np.testing.assert_allclose(model.term_coef_.ravel(), r["coef"].ravel(), **EXACT)
    np.testing.assert_array_equal(model.selected_terms_ + 1, r["selected"])
    np.testing.assert_allclose(model.rss_, r["rss"][0], **EXACT)
    np.testing.assert_allclose(model.gcv_per_subset_, r["gcv.per.subset"], **EXACT)
    if CASES[case].get("pmethod") == "cv":
        assert list(model.cv_.index) == r["folds"]
        np.testing.assert_array_equal(model.cv_["nterms"], r["fold.terms"])
    else:
        assert list(model.cv_.index) == [*r["folds"], "mean"]
        np.testing.assert_allclose(model.cv_["nterms"], r["nterms"], rtol=1e-12)
        np.testing.assert_allclose(model.cv_["nvars"], r["nvars"], rtol=1e-12)
    tables = [name for name in TABLES if name in r]
    short = {
        name: name.removeprefix("cv.").removesuffix(".tab").replace(".", "_") for name in tables
    }
    assert set(model.cv_tables_) == set(short.values())
    for name in tables:
        table = model.cv_tables_[short[name]]
        np.testing.assert_allclose(table.to_numpy(), r[name], err_msg=name, **EXACT)
        assert list(table.columns) == r[f"{name}.columns"]
        if r.get(f"{name}.rows") is not None:
            assert list(table.index) == r[f"{name}.rows"]


@needs_rscript
@pytest.mark.parametrize("n_resp", [1, 2, 3])
def test_folds_are_rs(found, n_resp):
    ours = draw_folds(
        responses_for_folds()[:, :n_resp], n_resp + 1, 3, n_resp > 1, RDraws(SEED + n_resp)
    )
    np.testing.assert_array_equal(ours.T + 1, found[0][f"folds{n_resp}"])


def data(n=200):
    rng = np.random.default_rng(3)
    x = rng.uniform(size=(n, 3))
    return x, 2 + np.abs(x[:, 0] - 0.5) + x[:, 1] * (1 + 0.2 * rng.normal(size=n))


def test_any_number_of_threads_gives_the_same_bits():
    x, y = data()
    for options in ({"keepxy": True}, {"pmethod": "cv"}, {"varmod_method": "lm"}):
        fits = [
            Earth(engine="native", nfold=4, ncross=3, random_state=1, n_jobs=jobs, **options).fit(
                x, y
            )
            for jobs in (1, 2, 5)
        ]
        for other in fits[1:]:
            assert other.model_ == fits[0].model_
            pd.testing.assert_frame_equal(other.cv_, fits[0].cv_, check_exact=True)
            for name, table in fits[0].cv_tables_.items():
                pd.testing.assert_frame_equal(other.cv_tables_[name], table, check_exact=True)


def test_folds_follow_the_seed():
    x, y = data()

    def cv(seed):
        return Earth(engine="native", nfold=3, random_state=seed).fit(x, y).cv_

    assert cv(1).equals(cv(1)) and not cv(1).equals(cv(2))
    assert not cv(1).equals(cv(np.random.RandomState(0)))


def test_a_rule_for_terms_is_asked_in_every_fold():
    x, y = data()
    asked = []

    def allowed(degree, pred, parents, namesx, first):
        asked.append(first)
        return pred != 1

    model = Earth(engine="native", nfold=3, random_state=1, allowed=allowed, n_jobs=2).fit(x, y)
    assert "x2" not in model.model_.used_features() and sum(asked) == 4


def test_without_enough_data():
    x, y = data(10)
    y = np.r_[y[:5], np.zeros(5)]
    with pytest.raises(InvalidInputError, match="nfold=9 but there are not enough data"):
        for seed in range(20):
            Earth(engine="native", nfold=9, random_state=seed).fit(x, y)
    with pytest.raises(InvalidInputError, match="number of rows of a fold, 5"):
        Earth(engine="native", nfold=2, minspan=8, random_state=1, stratify=False).fit(x, y)
    with pytest.raises(InvalidInputError, match="the forward pass found no term"):
        Earth(engine="native", nfold=3, pmethod="cv", random_state=1).fit(x, np.full(10, 2.0))


def test_warnings_of_folds_are_said_once():
    def run(cross, fold):
        warn_user("a term is odd", RWarning)
        return fold

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert in_threads(run, [(0, k) for k in range(5)], 2) == list(range(5))
    assert [(str(w.message), w.category) for w in caught] == [("a term is odd", RWarning)]


def test_where_there_is_no_r():
    code = """
import numpy as np
from pyearthdof import Earth
rng = np.random.default_rng(0)
x = rng.normal(size=(100, 3))
y = np.abs(x[:, 0]) * x[:, 1] + rng.normal(size=100)
model = Earth(degree=2, nfold=5, ncross=2, keepxy=True, random_state=1).fit(x, y)
print(model.engine_, *model.cv_.shape, *model.cv_tables_["oof_rsq"].shape)
print(Earth(degree=2, nfold=5, pmethod="cv", random_state=1).fit(x, y).engine_)
"""
    words = run_without_r(code).split()
    assert words[0] == words[-1] == "native" and words[1:4] == ["11", "4", "11"]
