"""R's update() of cross-validated models: when the folds have forward passes, and when they only prune."""

import warnings

import numpy as np
import pytest

from pyearthdof import Earth
from pyearthdof.exceptions import InvalidInputError
from tests.support.mars.earth_cases import R_CASES, R_DATA, read_frames
from tests.support.rscript import needs_rscript, run_r

SEED = 7
OZONE = ("ozone", "temp|ibh|doy|vis", "O3")
LM = 'ncross=3, varmod.method="lm"'
OUR_LM = {"ncross": 3, "varmod_method": "lm"}
PAIRS = {"glm_family": "binomial"}
# data, predictors, responses, R's arguments, R's change: our arguments, our change
CASES = {
    (*OZONE, "nfold=5", ""): ({"nfold": 5}, {}),
    (*OZONE, "nfold=3, degree=2, keepxy=TRUE", ""): ({"nfold": 3, "degree": 2, "keepxy": True}, {}),
    (*OZONE, "nfold=5", "nprune=4"): ({"nfold": 5}, {"nprune": 4}),
    (*OZONE, "nfold=5", "nprune=4, ponly=TRUE"): ({"nfold": 5}, {"nprune": 4, "ponly": True}),
    (*OZONE, "nfold=5", "nfold=3"): ({"nfold": 5}, {"nfold": 3}),
    (*OZONE, "nfold=5", "nfold=0, ponly=TRUE"): ({"nfold": 5}, {"nfold": 0, "ponly": True}),
    (*OZONE, "", "nfold=4, ncross=2, ponly=TRUE"): (
        {}, {"nfold": 4, "ncross": 2, "ponly": True}),
    (*OZONE, "nfold=5, minspan=50", "penalty=6, ponly=TRUE"): (
        {"nfold": 5, "minspan": 50}, {"penalty": 6, "ponly": True}),
    (*OZONE, "nfold=5, degree=2", 'pmethod="none", ponly=TRUE'): (
        {"nfold": 5, "degree": 2}, {"pmethod": "none", "ponly": True}),
    (*OZONE, "nfold=5, nk=9, keepxy=TRUE", 'pmethod="seqrep", ponly=TRUE'): (
        {"nfold": 5, "nk": 9, "keepxy": True}, {"pmethod": "seqrep", "ponly": True}),
    (*OZONE, 'nfold=5, pmethod="cv"', "nprune=5, ponly=TRUE"): (
        {"nfold": 5, "pmethod": "cv"}, {"nprune": 5, "ponly": True}),
    (*OZONE, "nfold=5, weights=w, keepxy=TRUE", ""): ({"nfold": 5, "keepxy": True}, {}),
    (*OZONE, f"nfold=5, {LM}", ""): ({"nfold": 5, **OUR_LM}, {}),
    (*OZONE, f"nfold=5, {LM}, weights=w", "penalty=4, ponly=TRUE"): (
        {"nfold": 5, **OUR_LM}, {"penalty": 4, "ponly": True}),
    ("ozone", "temp|ibh", "O3|wind", "nfold=4, keepxy=TRUE", ""): ({"nfold": 4, "keepxy": True}, {}),
    ("titanic", "pclass|sex|parch", "age", "nfold=4", ""): ({"nfold": 4}, {}),
    ("titanic", "pclass|sex|age", "survived", "nfold=4, glm=list(family=binomial)", ""): (
        {"nfold": 4, **PAIRS}, {}),
    ("beetles", "dose|kind", "killed|alive", "nfold=3, glm=list(family=binomial)", ""): (
        {"nfold": 3, **PAIRS}, {}),
}  # fmt: skip
TABLES = [
    f"cv.{name}.tab"
    for name in ("rsq", "maxerr", "class.rate", "deviance", "calib.int", "calib.slope", "auc",
                 "oof.rsq", "infold.rsq")
]  # fmt: skip
R_RUN = (
    R_CASES
    + """
  w <- weights.all[seq_len(nrow(d))]
  call <- function(...) suppressWarnings(eval(parse(text = paste0(...)), parent.frame()))
  fit <- call("earth(x, y", if (nzchar(args[i])) ", ", args[i], ")")
  set.seed(seed)
  again <- call("update(fit", if (nzchar(changes[i])) ", ", changes[i], ")")
  again$folds <- names(again$cv.list)
  again$fold.terms <- sapply(again$cv.list, function(fold) length(fold$selected.terms))
  again$varmod.coef <- coef(again$varmod$residmod)
  for (name in c("coefficients", "selected.terms", "gcv", "rss", "rss.per.subset", "dirs", "cuts",
                 "fitted.values", "glm.coefficients", "folds", "fold.terms", "varmod.coef", tables))
    if (length(again[[name]])) out[[paste("case", i, name, sep = "|")]] <- again[[name]]
}, error = refused)
"""
)


@pytest.fixture(scope="module")
def found():
    columns = list(zip(*CASES, strict=True))
    names = dict(zip(("data", "xs", "ys", "args", "changes"), map(list, columns), strict=True))
    result = run_r(R_DATA + R_RUN, packages=("earth",), seed=SEED, tables=TABLES, **names)
    return result, read_frames(result)


def fit(found, case, **options):
    data, x, y, args, _ = case
    frame, y = found[1]["frame"][data], y.split("|")
    weights = found[0]["weights.all"][: len(frame)] if "weights" in args else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Earth(random_state=SEED, **CASES[case][0] | options).fit(
            frame[x.split("|")], frame[y if len(y) > 1 else y[0]], weights
        )


@needs_rscript
@pytest.mark.needs_r
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.SeparationWarning")
@pytest.mark.parametrize("engine", ["native", "r"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_update_is_rs(found, case, engine):
    start = f"case|{list(CASES).index(case) + 1}|"
    r = {key.removeprefix(start): v for key, v in found[0].items() if key.startswith(start)}
    model = fit(found, case, engine=engine).update(**CASES[case][1])
    assert model.engine_ == engine
    exact = {"rtol": 1e-8, "atol": 1e-9} if engine == "native" else {"rtol": 1e-14}
    np.testing.assert_array_equal(model.selected_terms_ + 1, r["selected.terms"])
    np.testing.assert_array_equal(model.dirs_, r["dirs"])
    np.testing.assert_array_equal(model.cuts_, r["cuts"])
    for name, ours in {
        "coefficients": model.term_coef_, "gcv": model.gcv_, "rss": model.rss_,
        "rss.per.subset": model.rss_per_subset_, "fitted.values": model.fitted_values_,
    }.items():  # fmt: skip
        np.testing.assert_allclose(np.ravel(ours), r[name].ravel(), err_msg=name, **exact)
    if "glm.coefficients" in r:
        np.testing.assert_allclose(
            model.glm_coef_.ravel(), r["glm.coefficients"].ravel(), rtol=1e-6, atol=1e-9
        )
    assert hasattr(model, "cv_") == ("folds" in r)
    if "folds" in r:
        assert [name for name in model.cv_.index if name != "mean"] == r["folds"]
        terms = model.cv_["nterms"].drop("mean", errors="ignore")
        np.testing.assert_array_equal(terms, r["fold.terms"])
    short = {t: t.removeprefix("cv.").removesuffix(".tab").replace(".", "_") for t in TABLES}
    for table in set(TABLES).intersection(r):
        np.testing.assert_allclose(
            model.cv_tables_[short[table]].to_numpy(), r[table], err_msg=table, rtol=1e-6, atol=1e-8
        )
    varmod = model.model_.varmod
    assert (varmod is not None) == ("varmod.coef" in r)
    if varmod is not None:
        np.testing.assert_allclose(varmod.coef, r["varmod.coef"], rtol=1e-6)


@pytest.mark.parametrize("engine", ["native", pytest.param("r", marks=pytest.mark.needs_r)])
def test_a_size_by_cross_validation_needs_a_number_of_terms(engine):
    """R stops, too: 'nprune.org' is NULL, or should be between 1 and the number of terms."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    model = Earth(nfold=3, pmethod="cv", random_state=1, engine=engine).fit(x, np.abs(x[:, 0]))
    terms = len(model.dirs_)
    for nprune in (None, terms + 1):
        with pytest.raises(InvalidInputError, match=f"nprune={nprune}.*from 1 to {terms}"):
            model.update(nprune=nprune, ponly=True)
    assert model.update(nprune=2, ponly=True).n_terms_ <= 2
    assert model.update(nprune=2, ponly=True).pmethod == "cv"


def test_a_seed_alone_does_not_call_for_a_forward_pass():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    model = Earth(nfold=3, random_state=1, engine="native", degree=2).fit(x, x[:, 0] * x[:, 1])
    again, other = model.update(n_jobs=2, random_state=1), model.update(random_state=2)
    assert again.cv_.equals(model.update().cv_)
    assert not other.cv_.equals(again.cv_)
    assert not again.cv_.equals(model.cv_)  # there each fold has a forward pass
    with pytest.raises(InvalidInputError, match="varmod_method='gam' needs a model that R has fit"):
        model.update(varmod_method="gam", ncross=3, ponly=True)
