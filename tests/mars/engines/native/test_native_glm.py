"""Generalised linear models of the native engine beside plain R's: every family with every link."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from pyearthdof import Earth, EarthClassifier, MarsModel, _core
from pyearthdof.exceptions import InvalidInputError, SeparationWarning
from pyearthdof.mars.components.glm import LINKS
from pyearthdof.mars.engines.native.glm_fit import (
    GlmStoppedError,
    fit_glm,
)
from tests.support.rscript import needs_rscript, r_warnings, run_r
from tests.support.versions import assert_bits, installed
from tests.support.without_r import run_without_r

RNG = np.random.default_rng(20)
N = 120
X = RNG.normal(size=(N, 3))
Z = np.abs(X[:, 0]) + 0.5 * X[:, 1] - 0.6
TRIALS = RNG.integers(0, 9, N)
WINS = RNG.binomial(TRIALS, 1 / (1 + np.exp(-Z)))
DATA = {
    "share": (Z + RNG.logistic(size=N) > 0) * 1.0,
    "rare": (RNG.random(N) < 0.15 * np.exp(0.4 * np.tanh(Z))) * 1.0,
    "fractions": np.clip(RNG.beta(2, 2, N) + 0.1 * Z, 0.0, 1.0),
    "separate": (X[:, 0] > 0.1) * 1.0,
    "pairs": np.column_stack([WINS, TRIALS - WINS]).astype(float),
    "two": np.column_stack([Z > 0, X[:, 2] + RNG.normal(size=N) > 0]).astype(float),
    "counts": RNG.poisson(np.exp(0.8 * np.tanh(Z))).astype(float),
    "many": RNG.poisson(20 + 10 * np.tanh(Z)).astype(float),
    "broken counts": RNG.poisson(20 + 10 * np.tanh(Z)) + 0.25,
    "some none": RNG.poisson(np.exp(Z)) * (X[:, 2] > -0.5).astype(float),
    "positive": np.exp(0.3 * np.tanh(Z)) * RNG.gamma(8.0, 0.125, N) + 0.05,
    "scattered": np.exp(0.5 * np.tanh(Z)) * RNG.gamma(2.0, 0.5, N) + 0.01,
    "exact": 2 + np.maximum(0, X[:, 0]),
    "real": Z + 0.3 * RNG.normal(size=N),
    "above": np.exp(0.4 * np.tanh(Z)) + 0.1 * RNG.random(N) + 0.3,
    "constant": np.full(N, 3.0),
    "three": np.column_stack([Z, X[:, 2] ** 2, RNG.normal(size=N)]) + 9.0,
}
WEIGHTS = {
    "": None,
    "uniform": RNG.uniform(0.2, 3.0, N),
    "whole": RNG.integers(1, 4, N).astype(float),
    "zeros": np.where(RNG.random(N) < 0.2, 0.0, RNG.integers(1, 4, N)).astype(float),
    "equal": np.full(N, 2.5),
}
R_FAMILIES = {"gamma": "Gamma", "inverse_gaussian": "inverse.gaussian"}
NUMBERS = ("null_deviance", "null_df", "deviance", "df", "aic", "iterations", "converged")


@dataclass(frozen=True)
class Case:
    """`earth(X, y, glm=list(family=family(link), ...))` beside `Earth(glm_family=..., ...)`."""

    y: str
    family: str
    link: str
    weights: str = ""
    options: dict = field(default_factory=dict, hash=False)

    def __str__(self):
        return f"{self.family}-{self.link}-{self.y}-{self.weights}-{self.options}".strip("-")

    @property
    def r_call(self) -> str:
        limits = "".join(
            f", {name}={self.options['glm_' + name]!r}"
            for name in ("maxit", "epsilon")
            if "glm_" + name in self.options
        )
        family = R_FAMILIES.get(self.family, self.family)
        others = {k: v for k, v in self.options.items() if not k.startswith("glm")}
        others = "".join(f", {k}={v}" for k, v in others.items())
        weights = f", weights=w[, {list(WEIGHTS).index(self.weights)}]" if self.weights else ""
        return (
            f'y <- all[["{self.y}"]]; earth(x, y, glm=list(family={family}(link="{self.link}"){limits})'
            f"{weights}{others})"
        )


def every(family, links, *data):
    """Each link on each of the data, with and without weights."""
    for link in links:
        for k, y in enumerate(data):
            for weights in ("", list(WEIGHTS)[1 + k % 4]):
                yield Case(y, family, link, weights)


LOGIT = ("logit", "probit", "cauchit", "cloglog")
CASES = [
    *every("binomial", LOGIT, "share", "rare", "pairs", "separate", "two", "fractions"),
    *every("binomial", ("log",), "rare", "pairs"),
    *every("quasibinomial", LOGIT, "share", "fractions", "pairs"),
    *every("quasibinomial", ("log",), "rare", "pairs"),
    *every("poisson", ("log", "sqrt"), "counts", "many", "broken counts", "some none"),
    *every("poisson", ("identity",), "many", "broken counts"),
    *every("quasipoisson", ("log", "sqrt"), "counts", "many"),
    *every("quasipoisson", ("identity",), "many", "broken counts"),
    *every("gamma", ("inverse", "identity", "log"), "positive", "scattered", "above"),
    *every("gaussian", ("identity", "log", "inverse"), "above", "positive", "three"),
    *every("gaussian", ("identity",), "real"),
    Case("constant", "gaussian", "identity"),
    *every("inverse_gaussian", ("1/mu^2", "inverse", "identity", "log"), "above", "positive"),
    # Links that R does not list for a family and takes all the same
    *every("binomial", ("identity", "sqrt", "inverse", "1/mu^2"), "fractions", "pairs"),
    *every("poisson", ("inverse", "1/mu^2"), "many"),
    *every("gamma", ("sqrt", "1/mu^2"), "above"),
    *every("gaussian", ("sqrt", "1/mu^2"), "above"),
    # Iterations that stop early, or go on
    *(
        Case(y, family, link, weights, {"glm_maxit": maxit})
        for y, family, link in (
            ("share", "binomial", "logit"), ("separate", "binomial", "logit"),
            ("separate", "binomial", "probit"), ("separate", "binomial", "cauchit"),
            ("separate", "binomial", "cloglog"), ("counts", "poisson", "log"),
            ("positive", "gamma", "inverse"), ("above", "inverse_gaussian", "1/mu^2"),
            ("pairs", "binomial", "cauchit"), ("three", "gaussian", "log"),
        )
        for weights, maxit in (("", 1), ("whole", 2), ("zeros", 3), ("", 60))
    ),
    Case("share", "binomial", "logit", "", {"glm_epsilon": 1e-14}),
    Case("counts", "poisson", "log", "uniform", {"glm_epsilon": 1e-3}),
    Case("positive", "gamma", "log", "", {"glm_epsilon": 1.0, "degree": 2}),
    # Few terms, and many
    Case("share", "binomial", "logit", "", {"nk": 1}),
    Case("pairs", "binomial", "logit", "uniform", {"nk": 1}),
    Case("counts", "poisson", "log", "zeros", {"nprune": 1}),
    Case("pairs", "binomial", "logit", "", {"degree": 2, "penalty": -1}),
    Case("counts", "poisson", "log", "", {"degree": 3, "penalty": 0, "thresh": 0}),
    Case("exact", "gamma", "identity"),
    Case("exact", "gaussian", "identity"),
]  # fmt: skip


@pytest.fixture(scope="module")
def in_r() -> dict:
    """What plain R answers to every case: the numbers and the warnings, or the refusal."""
    calls = ",\n".join(f"function() {{{case.r_call}}}" for case in CASES)
    code = f"""
calls <- list({calls})
all <- lapply(seq_along(names), function(k) get(paste0("y", k)))
names(all) <- names
out <- list()
for (i in seq_along(calls)) {{
  warned <- character(0)
  tag <- function(name) sprintf("%04d.%s", i, name)
  fit <- tryCatch(
    withCallingHandlers(calls[[i]](), warning = function(w) {{
      warned <<- c(warned, conditionMessage(w))
      invokeRestart("muffleWarning")
    }}),
    error = function(e) conditionMessage(e))
  if (is.character(fit)) {{
    out[[tag("refused")]] <- fit
    next
  }}
  each <- function(what) vapply(fit$glm.list, function(g) as.double(g[[what]]), 0)
  out[[tag("warned")]] <- c("", gsub("\\n", " ", warned))
  out[[tag("coef")]] <- unname(fit$glm.coefficients)
  out[[tag("numbers")]] <- cbind(each("null.deviance"), each("df.null"), each("deviance"),
    each("df.residual"), each("aic"), each("iter"), each("converged"))
  out[[tag("response")]] <- unname(as.matrix(predict(fit, x[1:20, ] + 0.1, type = "response")))
}}
"""
    data = {f"y{k + 1}": values for k, values in enumerate(DATA.values())}
    weights = np.column_stack([np.ones(N) if w is None else w for w in WEIGHTS.values()])
    # the weights of a case are w[, place], counted from 0, so that the first name, none, needs no column
    weights = np.column_stack([weights[:, 1:], weights[:, :1]])
    found = run_r(code, packages=("earth",), names=list(DATA), x=X, w=weights, **data)
    answers = {k: {} for k in range(len(CASES))}
    for name, value in found.items():
        number, part = name.split(".")
        answers[int(number) - 1][part] = value
    return answers


def fit(case: Case, engine="native"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator = Earth(glm_family=case.family, glm_link=case.link, engine=engine, **case.options)
        estimator.fit(X, DATA[case.y], WEIGHTS[case.weights])
    return estimator, [" ".join(text.split()) for text in r_warnings(caught)]


@needs_rscript
@pytest.mark.parametrize("k", range(len(CASES)), ids=[str(case) for case in CASES])
def test_same_as_plain_r(k, in_r):
    case, r = CASES[k], in_r[k]
    if "refused" in r:
        with pytest.raises(InvalidInputError) as refusal:
            fit(case)
        words = r["refused"][0].split(":")[0]
        assert words in str(refusal.value) or "y holds" in str(refusal.value)
        return
    model, warned = fit(case)
    assert model.engine_ == "native"
    assert warned == [" ".join(text.split()) for text in r["warned"][1:]]
    glm = model.model_.glm
    ours = np.column_stack([getattr(glm, name) for name in NUMBERS])
    np.testing.assert_array_equal(ours[:, [1, 3, 5, 6]], r["numbers"][:, [1, 3, 5, 6]])
    np.testing.assert_allclose(ours, r["numbers"], rtol=1e-8, atol=1e-8, equal_nan=True)
    coef = r["coef"]
    np.testing.assert_allclose(
        glm.coef.reshape(coef.shape), coef, rtol=1e-8, atol=1e-8 * np.abs(coef).max()
    )
    response = model.model_.predict(X[:20] + 0.1).reshape(r["response"].shape)
    np.testing.assert_allclose(response, r["response"], rtol=1e-8, atol=1e-8, equal_nan=True)
    assert MarsModel.from_json(model.model_.to_json()) == model.model_


@needs_rscript
def test_most_of_the_cases_are_fits(in_r):
    fitted = [k for k in range(len(CASES)) if "refused" not in in_r[k]]
    stopped = [k for k in fitted if not in_r[k]["numbers"][:, -1].all()]
    assert len(fitted) > 200 and len(stopped) > 30
    fits = {(CASES[k].family, CASES[k].link) for k in fitted}
    assert len(fits) >= 30


COLUMNS = np.array([np.ones(N), np.maximum(0, X[:, 0]), np.maximum(0, -X[:, 0]), X[:, 1]])
TRACED = [
    ("share", "binomial", "logit"), ("separate", "binomial", "logit"), ("separate", "binomial", "probit"),
    ("separate", "binomial", "cauchit"), ("separate", "binomial", "cloglog"),
    ("pairs", "binomial", "cauchit"), ("rare", "binomial", "log"), ("counts", "poisson", "log"),
    ("many", "poisson", "identity"),
    ("some none", "poisson", "sqrt"), ("positive", "gamma", "inverse"), ("above", "gamma", "identity"),
    ("above", "inverse_gaussian", "1/mu^2"), ("scattered", "inverse_gaussian", "log"),
    ("above", "gaussian", "inverse"), ("real", "gaussian", "identity"),
]  # fmt: skip


@needs_rscript
@pytest.mark.parametrize(("y", "family", "link"), TRACED)
@pytest.mark.parametrize("with_offset", [False, True])
def test_each_iteration_is_rs(y, family, link, with_offset):
    """R's deviances, coefficients and null deviance after 1, 2, ... iterations; glm's own, without earth."""
    offset = 0.05 * np.tanh(X[:, 2]) if with_offset else None
    code = """
out <- list()
for (m in 1:30) {
  fit <- suppressWarnings(tryCatch(
    glm(y ~ x, family = FAMILY(link = link), weights = w, OFFSET control = list(maxit = m)),
    error = function(e) NULL))
  if (is.null(fit)) break
  out[[sprintf("coef%02d", m)]] <- unname(coef(fit))
  out[[sprintf("numbers%02d", m)]] <- c(fit$deviance, fit$null.deviance, fit$aic, fit$iter, fit$converged)
  if (fit$converged) break
}
"""
    code = code.replace("OFFSET", "offset = offset," if with_offset else "")
    code = code.replace("FAMILY", R_FAMILIES.get(family, family))
    weights = WEIGHTS["whole"]
    data = {"offset": offset} if with_offset else {}
    r = run_r(code, x=COLUMNS[1:].T, y=DATA[y], w=weights, link=link, **data)
    count = len(r) // 2
    if count == 0:
        with pytest.raises(GlmStoppedError):
            fit_glm(COLUMNS, DATA[y], family, link, weights=weights, offset=offset)
        return
    for m in range(1, count + 1):
        ours = fit_glm(COLUMNS, DATA[y], family, link, weights=weights, offset=offset, maxit=m)
        coef, numbers = r[f"coef{m:02d}"], r[f"numbers{m:02d}"]
        np.testing.assert_allclose(ours.coef, coef, rtol=1e-8, atol=1e-8 * np.abs(coef).max())
        found = [ours.deviance, ours.null_deviance, ours.aic, ours.iterations, ours.converged]
        np.testing.assert_allclose(found, numbers, rtol=1e-8, atol=1e-8)
        assert ours.deviances[-1] == ours.deviance and len(ours.deviances) == ours.iterations


@needs_rscript
def test_links_are_rs_to_the_bit():
    """Where a mean is close to its limit the last bit counts: iterations that diverge stay R's only so."""
    rng = np.random.default_rng(4)
    eta = np.concatenate([rng.normal(size=300) * 10.0**k for k in range(-3, 18)])
    mu = np.concatenate([rng.uniform(size=3000), [0.25, 0.5, 0.75, 1e-15, 1 - 1e-15]])
    code = """
out <- list()
for (k in seq_along(links)) {
  link <- make.link(links[k])
  out[[paste0(k, "linear")]] <- link$linkfun(mu)
  out[[paste0(k, "mean")]] <- suppressWarnings(link$linkinv(eta))
  out[[paste0(k, "slope")]] <- link$mu.eta(eta)
}
"""
    r = run_r(code, eta=eta, mu=mu, links=list(LINKS))
    with np.errstate(all="ignore"):
        for k, (name, link) in enumerate(LINKS.items(), 1):
            # from 4.5 on qcauchy takes the tangent from another end
            if name == "cauchit" and not installed("R").startswith("4.2."):
                np.testing.assert_allclose(link.linear(mu), r[f"{k}linear"], rtol=1e-12, atol=1e-15)
            else:
                assert_bits(link.linear(mu), r[f"{k}linear"], name)
            assert_bits(link.mean(eta), r[f"{k}mean"], name)
            assert_bits(link.slope(eta), r[f"{k}slope"], name)


@pytest.mark.parametrize(
    ("family", "y", "more", "message"),
    [
        ("binomial", 3 * DATA["share"], {}, "y holds 3 but it should be a number from 0 to 1, or two"),
        ("quasibinomial", -DATA["share"], {}, "y holds -1 but it should be a number from 0 to 1"),
        ("poisson", DATA["real"] - 9, {}, "but it should be a number, 0 or more, for glm_family='poisson'"),
        ("gamma", DATA["counts"], {}, "y holds 0 but it should be a number above 0"),
        ("inverse_gaussian", DATA["counts"], {}, "y holds 0 but it should be a number above 0"),
        ("gaussian", DATA["counts"], {"glm_link": "log"}, "a number above 0 for .*glm_link='log'"),
        ("gaussian", DATA["counts"], {"glm_link": "inverse"}, "any number but 0 for"),
        ("gamma", DATA["above"] + 1, {"glm_link": "logit"}, "response 'y' cannot be fitted so .R: Value"),
        ("binomial", DATA["share"], {"glm_l2": -1}, "glm_l2=-1 but it should be a number, 0 or more"),
        ("binomial", DATA["share"], {"glm_l2": 1, "engine": "r"}, "engine='r' but glm_l2=1 needs engine"),
        (None, DATA["share"], {"glm_l2": 1}, "glm_l2 is given but glm_family is None"),
    ],
)  # fmt: skip
def test_what_a_family_cannot_have_is_refused(family, y, more, message):
    with pytest.raises(InvalidInputError, match=message):
        Earth(**{"glm_family": family, "engine": "native"} | more).fit(X, y)


def test_many_fits_are_plain_ones():
    with pytest.raises(InvalidInputError, match="glm_family='poisson' but fits of many responses"):
        Earth(glm_family="poisson", engine="native").fit_many(X, DATA["two"])


def test_a_ridge_penalty_is_that_of_logistic_regression():
    """Against scikit-learn's, on standardised terms: its C is 1/glm_l2."""
    y = DATA["separate"]
    for l2 in (0.01, 1.0, 30.0):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = EarthClassifier(glm_l2=l2, glm_epsilon=1e-12, engine="native").fit(X, y)
        terms = model.bx_[:, 1:]
        scaled = (terms - terms.mean(axis=0)) / terms.std(axis=0)
        other = LogisticRegression(C=1 / l2, tol=1e-12, max_iter=10_000).fit(scaled, y)
        np.testing.assert_allclose(
            model.predict_raw_proba(X), other.predict_proba(scaled)[:, 1], rtol=1e-5, atol=1e-7
        )
        assert model.glm_["converged"].all()
        assert model.engine_ == "native"


@pytest.mark.parametrize("link", ["logit", "probit", "cauchit", "cloglog"])
def test_a_ridge_penalty_makes_separated_classes_converge(link):
    options = {"glm_link": link, "glm_maxit": 500, "engine": "native"}
    model = EarthClassifier(glm_l2=0.1, **options).fit(X, DATA["separate"])
    assert model.glm_["converged"].all() and np.abs(model.glm_coef_).max() < 1e3
    smaller = EarthClassifier(glm_l2=10, **options).fit(X, DATA["separate"])
    assert smaller.glm_["deviance"].iloc[0] > model.glm_["deviance"].iloc[0]


def test_one_warning_points_here_and_names_the_responses_and_the_penalty():
    numerically = "glm.fit: fitted probabilities numerically 0 or 1 occurred"
    for run in (
        lambda: EarthClassifier(engine="native").fit(X, DATA["separate"]),
        lambda: make_pipeline(EarthClassifier(engine="native")).fit(X, DATA["separate"]),
        lambda: EarthClassifier(engine="native", nfold=3).fit(X, DATA["separate"]),
        lambda: EarthClassifier(engine="native", nfold=3, n_jobs=2).fit(X, DATA["separate"]),
    ):
        with pytest.warns() as caught:
            run()
        (one,) = caught
        assert one.filename == __file__ and one.category is SeparationWarning
        assert "separate the response '1': fitted" in str(one.message)
        assert "such as glm_l2=1, does" in str(one.message)
        assert numerically in one.message.r_warnings
    model = Earth(glm_family="binomial", engine="native")
    with pytest.warns(SeparationWarning):
        model.fit(X, DATA["separate"])
    with pytest.warns() as caught:
        model.reprune(nprune=3)
    assert [w.category for w in caught] == [SeparationWarning]
    with pytest.warns(SeparationWarning, match="a larger glm_l2"):
        EarthClassifier(engine="native", glm_l2=1e-30).fit(X, DATA["separate"])


@pytest.mark.needs_r
@pytest.mark.parametrize("engine", ["r", "native"])
@pytest.mark.parametrize("options", [{}, {"nfold": 5, "random_state": 1}], ids=str)
def test_classes_that_separate_are_warned_of_once(engine, options):
    """R warns of each response, in each fold."""
    place = np.select([X[:, 0] > 0.5, X[:, 1] > 0.4], ["a", "b"], "c")
    with pytest.warns() as caught:
        EarthClassifier(degree=2, engine=engine, **options).fit(X, place)
    (one,) = caught
    assert one.category is SeparationWarning and "the responses 'a', 'b', 'c': " in str(one.message)
    assert len(one.message.r_warnings) > 3


def test_other_warnings_are_given_beside_it():
    shares = np.where(DATA["separate"] > 0, 1.0, 0.0)
    with pytest.warns() as caught:
        Earth(glm_family="binomial", engine="native").fit(X, shares, np.full(N, 0.5))
    texts = [str(w.message) for w in caught]
    assert texts[0] == "non-integer #successes in a binomial glm!" and len(texts) == 2
    assert caught[1].category is SeparationWarning


@needs_rscript
@pytest.mark.parametrize("weights", ["", "uniform", "equal"])
def test_everything_that_is_told_of_a_model(weights):
    """summary, format, importance, anova, exports and JSON: as of the model that R fitted."""
    code = """
fit <- suppressWarnings(earth(x, y, degree = 2, weights = WEIGHTS, glm = list(family = binomial)))
out <- list(text = capture.output(print(summary(fit)))[-(1:2)], format = format(fit),
            importance = unclass(evimp(fit))[, c(4, 6)])
"""
    code = code.replace("WEIGHTS", "w" if weights else "NULL")
    w = WEIGHTS[weights]
    r = run_r(code, packages=("earth",), x=X, y=DATA["pairs"], **({"w": w} if weights else {}))
    model = Earth(degree=2, glm_family="binomial", engine="native").fit(X, DATA["pairs"], w)
    text = model.summary().splitlines()
    assert [line.rstrip() for line in text[2:]] == [line.rstrip() for line in r["text"]]
    assert model.format().split() == "\n".join(r["format"]).split()
    table = model.importance()
    np.testing.assert_allclose(table[["gcv", "rss"]], r["importance"], rtol=1e-8)
    assert list(model.anova().columns) == ["terms", "sd", "gcv"]
    scope = {}
    exec(model.to_python("f"), scope)
    row = X[3].tolist()
    assert scope["f"](*row) == pytest.approx(model.predict([row])[0], rel=1e-12)
    assert "EXP" in model.to_sql()
    assert MarsModel.from_json(model.model_.to_json()) == model.model_


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if c.weights == "whole" and c.link != "log" and not c.options][:12],
    ids=str,
)
def test_threads_do_not_matter(case):
    one, two = (
        Earth(glm_family=case.family, glm_link=case.link, engine="native", n_jobs=k) for k in (1, 3)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [e.fit(X, DATA[case.y], WEIGHTS["whole"]).glm_coef_ for e in (one, two)]
    np.testing.assert_array_equal(*found)


def test_pruned_again():
    model = Earth(glm_family="binomial", degree=2, engine="native").fit(X, DATA["pairs"])
    small = model.reprune(nprune=3)
    again = Earth(glm_family="binomial", degree=2, nprune=3, engine="native").fit(X, DATA["pairs"])
    np.testing.assert_allclose(small.glm_coef_, again.glm_coef_, rtol=1e-10)
    assert small.n_terms_ == 3 and small.response_names_ == ("y1",)


R_METHODS = """
out <- list()
put <- function(kind, fit) for (name in c("selected.terms", "coefficients", "glm.coefficients",
                                          "cv.rsq.tab", "cv.oof.rsq.tab"))
  if (!is.null(fit[[name]])) out[[paste(method, kind, name, sep = "|")]] <<- fit[[name]]
backward <- earth(x, y, degree = 2, weights = w, glm = list(family = binomial), keepxy = TRUE)
for (method in methods) {
  put("fit", earth(x, y, degree = 2, weights = w, glm = list(family = binomial), pmethod = method))
  put("reprune", update(backward, pmethod = method, ponly = TRUE))
  set.seed(3)
  put("folds", earth(x, y, degree = 2, weights = w, glm = list(family = binomial), pmethod = method,
                     nfold = 3, keepxy = method != "exhaustive"))
}
"""
METHODS = ("exhaustive", "seqrep", "forward")


@pytest.fixture(scope="module")
def methods_in_r():
    w = WEIGHTS["whole"]
    return run_r(R_METHODS, packages=("earth",), x=X, y=DATA["pairs"], w=w, methods=list(METHODS))


@needs_rscript
@pytest.mark.parametrize("engine", ["r", "native"])
@pytest.mark.parametrize("method", METHODS)
def test_pairs_are_one_response_for_every_pruning_method(methods_in_r, method, engine):
    base = {"degree": 2, "glm_family": "binomial", "engine": engine}
    sent = (X, DATA["pairs"], WEIGHTS["whole"])
    backward = Earth(**base).fit(*sent)
    folds = {"nfold": 3, "random_state": 3, "keepxy": method != "exhaustive"}
    found = {
        "fit": Earth(**base, pmethod=method).fit(*sent),
        "reprune": backward.reprune(pmethod=method),
        "folds": Earth(**base, pmethod=method, **folds).fit(*sent),
    }
    for kind, model in found.items():
        ours = {
            "selected.terms": model.selected_terms_ + 1,
            "coefficients": model.term_coef_[:, None],
            "glm.coefficients": model.glm_coef_[:, None],
        }
        if kind == "folds":
            ours["cv.rsq.tab"] = model.cv_tables_["rsq"].to_numpy()
            if method != "exhaustive":  # R's earth stops at the subset of one term
                ours["cv.oof.rsq.tab"] = model.cv_tables_["oof_rsq"].to_numpy()
        expected = {
            key.rpartition("|")[2]: value
            for key, value in methods_in_r.items()
            if key.startswith(f"{method}|{kind}|")
        }
        assert set(ours) == set(expected)
        for name, value in ours.items():
            np.testing.assert_allclose(value, expected[name], 1e-8, 1e-10, err_msg=f"{kind} {name}")
    again = backward.update(pmethod=method)
    np.testing.assert_array_equal(again.glm_coef_, found["reprune"].glm_coef_)
    for options in ({"response_weight": [1, 2]}, {"varmod_method": "lm", "nfold": 3, "ncross": 3}):
        with pytest.raises(InvalidInputError, match=next(iter(options))):
            Earth(**base, **options).fit(*sent)


def test_in_a_process_without_r():
    code = """
import warnings
import numpy as np
from pyearthdof import Earth, EarthClassifier
warnings.simplefilter("error")
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
z = np.abs(X[:, 0]) - 0.8
wins = rng.binomial(5, 1 / (1 + np.exp(-z)))
y = {
    "binomial": np.column_stack([wins, 5 - wins]), "quasibinomial": wins / 5, "poisson": wins,
    "quasipoisson": wins, "gamma": np.exp(z) * rng.gamma(5, size=200), "gaussian": z,
    "inverse_gaussian": np.exp(z / 3) + rng.random(200),
}
for family, response in y.items():
    link = "log" if family == "inverse_gaussian" else None
    model = Earth(glm_family=family, glm_link=link).fit(X, np.asarray(response, dtype=float))
    assert model.glm_["converged"].all() and "GLM" in model.summary()
    print(model.engine_, family, model.reprune(nprune=2).n_terms_)
label = np.array(["b", "c", "a"])[np.digitize(z + rng.normal(size=200), [-1, 1])]
model = EarthClassifier(class_order=["c", "a", "b"]).fit(X, label)
print(model.engine_, *model.classes_, model.predict_proba(X).sum() == 200)
"""
    lines = run_without_r(code).splitlines()
    assert len(lines) == 8 and all(line.startswith("native ") for line in lines)
    assert lines[-1] == "native c a b True"


@pytest.mark.parametrize("n, m", [(1, 1), (7, 7), (30, 7), (200, 8), (200, 23)])
def test_a_step_is_the_regression_to_the_last_bit(n, m):
    rng = np.random.default_rng(m)
    columns = np.vstack([np.ones(n), rng.normal(size=(m - 1, n))])
    root, target = rng.uniform(0.1, 3, size=n), rng.normal(size=n)
    wanted = _core.regress(columns * root, target[None, :], tolerance=1e-11)["coef"][:, 0]
    for n_threads in (1, 2):
        found = _core.solve_reweighted(columns, root, target, 1e-11, n_threads)
        assert np.array_equal(found, wanted)


def test_a_step_on_dependent_columns_is_refused():
    rng = np.random.default_rng(4)
    columns = rng.normal(size=(5, 40))
    columns[3] = columns[0] - 2 * columns[1]
    root, target = np.ones(40), rng.normal(size=40)
    assert _core.solve_reweighted(columns, root, target, 1e-11) is None
    assert _core.solve_reweighted(columns[:, :4].copy(), root[:4], target[:4], 1e-11) is None


def test_responses_side_by_side_are_those_one_after_the_other():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    y = np.digitize(X[:, 0] + np.abs(X[:, 1]) + rng.logistic(size=300), [0.0, 1.0, 2.0])
    one, two = (EarthClassifier(engine="native", n_jobs=k, degree=2).fit(X, y) for k in (1, 2))
    assert np.array_equal(one.model_.glm.coef, two.model_.glm.coef)
    assert np.array_equal(one.model_.glm.deviance, two.model_.glm.deviance)
