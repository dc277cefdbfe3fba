"""The table of a generalised linear model in `summary(details=True)`, beside plain R's."""

import functools

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, EarthClassifier
from pyearthdof.mars.inspect.summary import _quantiles
from tests.support.rscript import needs_rscript, run_r
from tests.support.versions import assert_lines

RNG = np.random.default_rng(31)
N = 90
X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.uniform(1, 3, N), "c": RNG.normal(size=N)})
SIGNAL = np.abs(X["a"]) + 0.4 * X["b"] * (X["c"] > 0)
TRIALS = RNG.integers(0, 6, N)
WINS = RNG.binomial(TRIALS, 1 / (1 + np.exp(1.5 - SIGNAL)))
D = pd.DataFrame(
    {
        "y": SIGNAL + 0.2 * RNG.uniform(size=N) + 0.1,
        "high": (SIGNAL + RNG.normal(size=N) > 1.3) * 1.0,
        "share": np.round(1 / (1 + np.exp(1 - SIGNAL + 0.3 * RNG.normal(size=N))), 3),
        "counts": RNG.poisson(np.exp(0.6 * SIGNAL)) * 1.0,
        "won": WINS * 1.0,
        "lost": (TRIALS - WINS) * 1.0,
        "tiny": 1e-6 * (SIGNAL + RNG.normal(size=N)),
        "w": np.where(np.arange(N) % 7 == 0, 0.0, 1.0 + np.arange(N) % 3),
    }
)
FRAME = X.join(D).assign(
    e=np.linspace(1, 3, N), k=np.where(D["y"] > 1.6, "u", np.where(X["a"] > 0, "v", "w"))
)
RESPONSES = {name: D[name] for name in D} | {
    "two": D[["counts", "y"]],
    "pairs": D[["won", "lost"]],
    "both": D[["high", "share"]],
}
# R's arguments: the name of the response and our options
CASES = {
    "high, glm=list(family=binomial)": ("high", {"glm_family": "binomial"}),
    'high, glm=list(family=binomial("cauchit")), degree=2': (
        "high", {"glm_family": "binomial", "glm_link": "cauchit", "degree": 2}),
    "high, glm=list(family=binomial), weights=d$w": ("high", {"glm_family": "binomial"}),
    "counts, glm=list(family=poisson)": ("counts", {"glm_family": "poisson"}),
    "counts, glm=list(family=quasipoisson)": ("counts", {"glm_family": "quasipoisson"}),
    "counts, glm=list(family=quasipoisson), weights=d$w": ("counts", {"glm_family": "quasipoisson"}),
    "y, glm=list(family=Gamma)": ("y", {"glm_family": "gamma", "glm_link": "inverse"}),
    'y, glm=list(family=Gamma("log")), weights=d$w': ("y", {"glm_family": "gamma", "glm_link": "log"}),
    "y, glm=list(family=gaussian)": ("y", {"glm_family": "gaussian"}),
    'y, glm=list(family=inverse.gaussian("log"))': (
        "y", {"glm_family": "inverse_gaussian", "glm_link": "log"}),
    "share, glm=list(family=quasibinomial)": ("share", {"glm_family": "quasibinomial"}),
    "high, glm=list(family=binomial, maxit=2)": ("high", {"glm_family": "binomial", "glm_maxit": 2}),
    "pairs, glm=list(family=binomial)": ("pairs", {"glm_family": "binomial"}),
    "pairs, glm=list(family=quasibinomial)": ("pairs", {"glm_family": "quasibinomial"}),
    "two, glm=list(family=poisson)": ("two", {"glm_family": "poisson"}),
    "two, glm=list(family=gaussian), nk=7": ("two", {"glm_family": "gaussian", "nk": 7}),
    "both, glm=list(family=quasibinomial)": ("both", {"glm_family": "quasibinomial"}),
    "tiny, glm=list(family=gaussian)": ("tiny", {"glm_family": "gaussian"}),
    "high, glm=list(family=binomial), nk=1": ("high", {"glm_family": "binomial", "nk": 1}),
}  # fmt: skip
SUMMARIES = {
    "": {}, ", digits=3": {"digits": 3}, ", digits=1": {"digits": 1}, ", digits=12": {"digits": 12},
    ', style="pmax"': {"style": "pmax"}, ', decomp="none", fixed.point=FALSE': {
        "decomp": "none", "fixed_point": False},
}  # fmt: skip
# R's formulas and arguments: ours
FORMULAS = {
    "counts ~ a + b + c + offset(log(e)), glm=list(family=poisson)": {"glm_family": "poisson"},
    "y ~ a + b + c + offset(e), glm=list(family=gaussian), weights=w": {
        "glm_family": "gaussian", "sample_weight": D["w"]},
    "counts ~ a + b + c, glm=list(family=quasipoisson), subset=1:60": {
        "glm_family": "quasipoisson", "subset": np.arange(N) < 60},
    "cbind(won, lost) ~ a * b, glm=list(family=binomial), weights=w": {
        "glm_family": "binomial", "sample_weight": D["w"]},
    "factor(k) ~ a + b + c, glm=list(family=binomial), nk=5": {"glm_family": "binomial", "nk": 5},
    "cbind(counts, y) ~ a + b + offset(log(e)), glm=list(family=quasipoisson)": {
        "glm_family": "quasipoisson"},
}  # fmt: skip
# rows of a small sample, so that few degrees of freedom are left
FEW = {"y ~ a, 12 rows": (12, 7), "9 rows": (9, 5), "6 rows": (6, 5)}
CODE = """
for (name in names(d)) assign(name, d[[name]])
two <- as.matrix(d[, c("counts", "y")]); pairs <- as.matrix(d[, c("won", "lost")])
both <- as.matrix(d[, c("high", "share")])
out <- list()
for (i in seq_along(calls)) {
  fit <- suppressWarnings(eval(parse(text = paste0("earth(x, ", calls[i], ")"))))
  for (k in seq_along(summaries)) {
    text <- paste0("print(summary(fit, details=TRUE", summaries[k], "))")
    out[[paste0("s", i, ".", k)]] <- suppressWarnings(capture.output(eval(parse(text = text))))
  }
}
for (i in seq_along(formulas)) {
  fit <- suppressWarnings(eval(parse(text = paste0("earth(", formulas[i], ", data=frame)"))))
  out[[paste0("f", i)]] <- suppressWarnings(capture.output(print(summary(fit, details = TRUE))))
}
for (i in seq_along(rows)) {
  keep <- seq_len(rows[i])
  y <- d$y[keep]
  fit <- suppressWarnings(earth(x[keep, ], y, nk = nk[i], pmethod = "none", thresh = 0, penalty = -1,
                                glm = list(family = gaussian)))
  out[[paste0("few", i)]] <- suppressWarnings(capture.output(print(summary(fit, details = TRUE))))
}
"""


@functools.cache
def plain_r():
    rows, nk = np.array(list(FEW.values()), dtype=float).T
    return run_r(
        CODE, packages=("earth",), x=X, d=D, calls=list(CASES), summaries=list(SUMMARIES), rows=rows, nk=nk,
        formulas=list(FORMULAS), frame=FRAME,
    )  # fmt: skip


def below_the_call(text):
    return text.split("\n\n", 1)[1].rstrip().split("\n")


@needs_rscript
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
@pytest.mark.parametrize("case", CASES)
def test_same_as_plain_r(case):
    y, options = CASES[case]
    weights = D["w"] if "weights" in case else None
    model = Earth(engine="native", **options).fit(X, RESPONSES[y], weights)
    for k, given in enumerate(SUMMARIES.values(), 1):
        theirs = plain_r()[f"s{1 + list(CASES).index(case)}.{k}"]
        ours = below_the_call(model.summary(details=True, **given))
        assert_lines(ours, below_the_call("\n".join(theirs)))


@needs_rscript
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.SeparationWarning")
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
@pytest.mark.parametrize("case", FORMULAS)
def test_same_as_plain_r_by_a_formula(case):
    model = Earth.from_formula(case.split(", glm=")[0], FRAME, engine="native", **FORMULAS[case])
    theirs = plain_r()[f"f{1 + list(FORMULAS).index(case)}"]
    ours = below_the_call(model.summary(details=True))
    assert ours == below_the_call("\n".join(theirs))


@needs_rscript
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
@pytest.mark.parametrize("case", FEW)
def test_each_residual_where_few_degrees_of_freedom_are_left(case):
    rows, nk = FEW[case]
    model = Earth(
        engine="native", nk=nk, pmethod="none", thresh=0, penalty=-1, glm_family="gaussian"
    )
    model.fit(X[:rows], D["y"][:rows])
    theirs = plain_r()[f"few{1 + list(FEW).index(case)}"]
    ours = below_the_call(model.summary(details=True))
    assert ours == below_the_call("\n".join(theirs))


@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
def test_without_the_training_rows_the_table_is_left_out():
    model = Earth(engine="native", glm_family="poisson").fit(X, D["counts"])
    loaded = Earth.from_json(model.to_json())
    text = loaded.summary(details=True)
    assert "Earth coefficients" in text and "needs the training rows" in text
    assert "Std. Error" in model.summary(details=True) and "Std. Error" not in text


@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
def test_a_classifier_and_a_ridge_penalty_have_a_table():
    plain = EarthClassifier(engine="native").fit(X, D["high"])
    ridge = EarthClassifier(engine="native", glm_l2=5.0).fit(X, D["high"])
    errors = [_errors(model.summary(details=True)) for model in (plain, ridge)]
    assert len(errors[0]) == len(errors[1]) > 1
    assert (errors[1] < errors[0]).all()


def _errors(text):
    lines = text.split("GLM coefficients (family")[1].split("\n\n")[0].split("\n")[2:]
    return np.array([float(line.replace("< ", "").split()[-3]) for line in lines])


@needs_rscript
def test_quantiles_are_rounded_as_in_r():
    rng = np.random.default_rng(2)
    groups = [np.append(rng.normal(size=k), [-1.1774, 1.1774]) for k in range(1, 60)]
    groups += [np.repeat([-1.17741, 1.17741 + 2**-52], k) for k in range(1, 9)]
    code = "out <- list(q = t(sapply(split(x, g), quantile)))"
    label = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
    expected = run_r(code, x=np.concatenate(groups), g=label)["q"]
    np.testing.assert_array_equal([_quantiles(group) for group in groups], expected)
