"""What `summary` says of cross-validation beside plain R's own words."""

import functools

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth
from tests.support.rscript import needs_rscript, run_r

RNG = np.random.default_rng(12)
N = 120
X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.uniform(1, 3, N), "c": RNG.normal(size=N)})
SIGNAL = np.abs(X["a"]) + X["b"] * (X["c"] > 0)
TRIALS = RNG.integers(0, 6, N)
WINS = RNG.binomial(TRIALS, 1 / (1 + np.exp(1.5 - SIGNAL)))
RESPONSES = {
    "y": (SIGNAL + 0.3 * RNG.normal(size=N)).rename("y"),
    "two": pd.DataFrame({"u": SIGNAL, "v": RNG.normal(size=N)}),
    "high": pd.Series((SIGNAL + RNG.normal(size=N) > 2) * 1.0, name="high"),
    "counts": pd.Series(RNG.poisson(np.exp(0.4 * SIGNAL)) * 1.0, name="counts"),
    "pairs": pd.DataFrame({"won": WINS * 1.0, "lost": (TRIALS - WINS) * 1.0}),
    "rare": pd.Series((np.arange(N) % 30 == 0) * 1.0, name="rare"),
    "noise": pd.Series(RNG.poisson(2, N) * 1.0, name="noise"),
    "mixed": pd.DataFrame({"some": RNG.poisson(np.exp(0.4 * SIGNAL)), "none": np.zeros(N)}),
    "kind": pd.Series(
        pd.Categorical(np.where(SIGNAL > 3, "hi", np.where(X["a"] > 0, "mid", "lo")))
    ),
}
# R's arguments: ours
CASES = {
    "y, nfold=4": ("y", {"nfold": 4}),
    "y, nfold=3, ncross=2, degree=2": ("y", {"nfold": 3, "ncross": 2, "degree": 2}),
    'y, nfold=4, pmethod="cv"': ("y", {"nfold": 4, "pmethod": "cv"}),
    'y, nfold=4, pmethod="cv", nprune=3': ("y", {"nfold": 4, "pmethod": "cv", "nprune": 3}),
    "two, nfold=3": ("two", {"nfold": 3}),
    'two, nfold=3, pmethod="cv"': ("two", {"nfold": 3, "pmethod": "cv"}),
    "high, nfold=3": ("high", {"nfold": 3}),
    "high, nfold=3, glm=list(family=binomial)": ("high", {"nfold": 3, "glm_family": "binomial"}),
    'high, nfold=3, pmethod="cv", glm=list(family=binomial)': (
        "high", {"nfold": 3, "pmethod": "cv", "glm_family": "binomial"}),
    "counts, nfold=3, glm=list(family=poisson)": ("counts", {"nfold": 3, "glm_family": "poisson"}),
    "pairs, nfold=3, glm=list(family=binomial)": ("pairs", {"nfold": 3, "glm_family": "binomial"}),
    "rare, nfold=6, stratify=FALSE, glm=list(family=binomial)": (
        "rare", {"nfold": 6, "stratify": False, "glm_family": "binomial"}),
    "rare, nfold=6, stratify=FALSE": ("rare", {"nfold": 6, "stratify": False}),
    "noise, nfold=3, penalty=6, glm=list(family=poisson)": (
        "noise", {"nfold": 3, "penalty": 6, "glm_family": "poisson"}),
    "mixed, nfold=3, stratify=FALSE": ("mixed", {"nfold": 3, "stratify": False}),
    "kind, nfold=3": ("kind", {"nfold": 3}),
}  # fmt: skip
CODE = """
y <- d$y; two <- d[, c("u", "v")]; high <- d$high; counts <- d$counts; rare <- d$rare
noise <- d$noise; mixed <- d[, c("some", "none")]
pairs <- as.matrix(d[, c("won", "lost")]); kind <- factor(d$kind, levels = c("hi", "lo", "mid"))
out <- list()
for (i in seq_along(calls)) {
  set.seed(5)
  fit <- suppressWarnings(eval(parse(text = paste0("earth(x, ", calls[i], ")"))))
  out[[paste0("s", i)]] <- capture.output(print(summary(fit)))
  out[[paste0("p", i)]] <- capture.output(print(fit))
  if (!is.null(fit$cv.rsq.tab)) out[[paste0("r", i)]] <- fit$cv.rsq.tab[nrow(fit$cv.rsq.tab), ]
}
"""


@functools.cache
def plain_r():
    d = pd.concat([v for k, v in RESPONSES.items() if k != "kind"], axis=1)
    d["kind"] = RESPONSES["kind"].astype(str)
    return run_r(CODE, packages=("earth",), x=X, d=d, calls=list(CASES))


def after_the_coefficients(lines):
    start = next(k for k, line in enumerate(lines) if "elected" in line)
    return [line.rstrip() for line in lines[start:]]


@needs_rscript
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_same_as_plain_r(case):
    name, options = CASES[case]
    model = Earth(engine="native", random_state=5, **options).fit(X, RESPONSES[name])
    theirs = plain_r()[f"s{1 + list(CASES).index(case)}"]
    ours = after_the_coefficients(model.summary().split("\n"))
    loaded = Earth.from_json(model.to_json()).summary().split("\n")
    assert after_the_coefficients(loaded) == ours
    assert ours == after_the_coefficients(list(theirs))


@needs_rscript
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_print_has_the_lines_of_rs_print(case):
    """On the generalised linear model and the cross-validation."""
    name, options = CASES[case]
    model = Earth(engine="native", random_state=5, **options).fit(X, RESPONSES[name])
    number = 1 + list(CASES).index(case)
    theirs = [line.rstrip() for line in plain_r()[f"p{number}"]]
    ours = [line.rstrip() for line in str(model).split("\n")]
    assert str(Earth.from_json(model.to_json())).split("\n")[0] == ours[0]
    n_glm = theirs.index("") if theirs[0].startswith("GLM") else 0
    assert ours[2 : 2 + n_glm] == theirs[:n_glm]
    folds = ours[2 + n_glm :]
    if options.get("pmethod") == "cv":
        start = next(k for k, line in enumerate(theirs) if line.startswith("pmethod="))
        assert folds[1:] == theirs[start:]
        if name != "two":
            assert folds[0].split(" at ")[0] in next(line for line in theirs if "mean.oof" in line)
    elif len(model.response_names_) == 1:
        assert theirs[-1].endswith(folds[0])
    else:
        values = [float(word) for word in folds[0].split()[2::2]]
        np.testing.assert_allclose(values, plain_r()[f"r{number}"], rtol=1e-6)
