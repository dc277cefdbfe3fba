"""Our summary is R's text, but for the call in its first line."""

import pickle

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth
from pyearthdof.datasets import load_ozone
from pyearthdof.mars.inspect.importance import importance_table
from pyearthdof.mars.inspect.summary import model_summary
from pyearthdof.mars.printing import r_format, r_round
from tests.mars.test_identity import fit_case
from tests.support.mars.cases import CASES
from tests.support.mars.r_models import FITS, r_found, r_model
from tests.support.rscript import needs_rscript, run_r

pytestmark = needs_rscript
OZONE = load_ozone()
WEIGHTS = np.tile([1, 2, 0.5], 110)


def without_call(text):
    return text.split("\n\n", 1)[1]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_summary_as_in_r(case):
    model, _ = fit_case(case, engine="r")
    ours = model_summary(model.model_, "x", model.nprune, model._row_summary().weights)
    assert without_call(ours) == without_call(model.summary())


# R's arguments: weights, ours
FIT_WITH = {
    "weights=w": (WEIGHTS, {}),
    "weights=w / 3e5, nk=9": (WEIGHTS / 3e5, {"nk": 9}),
    "weights=w + 0.25, nprune=3": (WEIGHTS + 0.25, {"nprune": 3}),
    "weights=w / w * 2": (WEIGHTS / WEIGHTS * 2, {}),
    "nprune=30": (None, {"nprune": 30}),
    'nprune=3, pmethod="none"': (None, {"nprune": 3, "pmethod": "none"}),
    "Force.weights=TRUE, degree=2": (None, {"force_weights": True, "degree": 2}),
    "weights=w * 1.0123456789, subset=6:205": (
        WEIGHTS * 1.0123456789,
        {"subset": np.arange(5, 205)},
    ),
    "Force.weights=TRUE, subset=1:17": (None, {"force_weights": True, "subset": np.arange(17)}),
    "weights=w, Force.weights=TRUE, subset=2:20": (
        WEIGHTS, {"force_weights": True, "subset": np.arange(1, 20)}),
    "Force.weights=TRUE, subset=1:17, glm=list(family=poisson)": (
        None, {"force_weights": True, "subset": np.arange(17), "glm_family": "poisson"}),
    "weights=w, subset=seq(1, 330, 3), glm=list(family=gaussian)": (
        WEIGHTS, {"subset": np.arange(0, 330, 3), "glm_family": "gaussian"}),
}  # fmt: skip


def test_weights_and_nprune_are_told_as_in_r():
    X, y = OZONE.drop(columns="O3"), OZONE["O3"].to_numpy(dtype=float)
    code = "out <- list()\n" + "".join(
        f'out[["s{k}"]] <- capture.output(print(summary(earth(as.matrix(x), y, {r}))))\n'
        for k, r in enumerate(FIT_WITH)
    )
    expected = run_r(code, packages=("earth",), x=X, y=y, w=WEIGHTS)
    for k, (weights, options) in enumerate(FIT_WITH.values()):
        options = dict(options)
        subset = options.pop("subset", None)
        model = Earth(engine="native", **options).fit(X, y, weights, subset=subset)
        for shown in (model, pickle.loads(pickle.dumps(model)), Earth.from_json(model.to_json())):
            assert without_call(shown.summary()) == without_call("\n".join(expected[f"s{k}"]))


def test_weights_of_pairs_are_told_as_in_r():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    trials = np.where(np.arange(60) < 40, 4, 7)
    wins = rng.binomial(trials, 1 / (1 + np.exp(-X[:, 0])))
    pairs, w = np.column_stack([wins, trials - wins]) * 1.0, np.where(trials == 4, 7.0, 4.0)
    calls = {
        "": (None, {}),
        ", Force.weights=TRUE": (None, {"force_weights": True}),
        ", Force.weights=TRUE, weights=w, subset=5:45": (w, {"force_weights": True}),
        ", weights=w": (w, {}),
        ", weights=w + 1, subset=1:30": (w + 1, {}),
    }
    code = "out <- list()\n" + "".join(
        f'out[["s{k}"]] <- capture.output(print(summary(earth(x, y, glm=list(family=binomial){r}))))\n'
        for k, r in enumerate(calls)
    )
    expected = run_r(code, packages=("earth",), x=X, y=pairs, w=w)
    for k, (r, (weights, options)) in enumerate(calls.items()):
        first, _, last = r.rpartition("subset=")[2].partition(":")
        rows = np.arange(int(first) - 1, int(last)) if "subset" in r else None
        model = Earth(engine="native", glm_family="binomial", **options)
        ours = model.fit(X, pairs, weights, subset=rows).summary()
        assert without_call(ours) == without_call("\n".join(expected[f"s{k}"])), r


R_CONSTANT = """
out <- list()
fit <- function(y, ...) suppressWarnings(earth(x, y, ...))
fits <- list(fit(y), fit(y, degree = 2, nprune = 3), fit(zero), fit(few), fit(two))
set.seed(5)
fits[[6]] <- fit(y, nfold = 3, stratify = FALSE)
set.seed(5)
fits[[7]] <- fit(y, nfold = 3, pmethod = "cv")
fits[[8]] <- fit(binary, glm = list(family = binomial))
for (k in seq_along(fits)) out[[paste0("s", k)]] <- capture.output(print(summary(fits[[k]])))
"""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("engine", ["r", "native"])
def test_several_responses_of_which_some_are_constant(engine):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 2))
    real = np.abs(X[:, 0]) + 0.1 * rng.normal(size=50)
    y = np.column_stack([real, np.full(50, 3.1), 1e5 * X[:, 1] ** 2])
    data = {
        "y": y, "zero": y * [1, 0, 1], "few": y[:, :2], "two": y[:, [1, 1]],
        "binary": np.column_stack([real > 0.5, np.ones(50)]) * 1.0,
    }  # fmt: skip
    r = run_r(R_CONSTANT, packages=("earth",), x=X, **data)
    folds = {"nfold": 3, "random_state": 5}
    fits = [
        ("y", {}), ("y", {"degree": 2, "nprune": 3}), ("zero", {}), ("few", {}), ("two", {}),
        ("y", {**folds, "stratify": False}), ("y", {**folds, "pmethod": "cv"}),
        ("binary", {"glm_family": "binomial"}),
    ]  # fmt: skip
    for k, (name, options) in enumerate(fits, start=1):
        model = Earth(engine=engine, **options).fit(X, data[name])
        for shown in (model, Earth.from_json(model.to_json())):
            assert without_call(shown.summary()) == without_call("\n".join(r[f"s{k}"])), (name, k)


@pytest.mark.parametrize("seed", range(8))
def test_wide_tables_are_wrapped_as_in_r(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 4))
    names = [f"{'p' * int(rng.integers(1, 40))}{j}" for j in range(4)]
    m = int(rng.integers(2, 13))
    Y = np.abs(X[:, rng.integers(4, size=m)]) * 10.0 ** rng.integers(-3, 5, size=m)
    Y += (X[:, 0] * X[:, 1])[:, None] + rng.normal(size=(120, m))
    responses = [f"{'r' * int(rng.integers(1, 25))}{k}" for k in range(m)]
    code = """
colnames(x) <- names
colnames(y) <- responses
out <- list(text = capture.output(print(summary(earth(x, y, degree = 2, thresh = 0.01)))))
"""
    expected = run_r(code, packages=("earth",), x=X, y=Y, names=names, responses=responses)["text"]
    frames = pd.DataFrame(X, columns=names), pd.DataFrame(Y, columns=responses)
    ours = Earth(degree=2, thresh=0.01, engine="native").fit(*frames).summary()
    assert without_call(ours) == without_call("\n".join(expected))


@pytest.mark.parametrize("engine", ["r", "native"])
@pytest.mark.parametrize("options", [{}, {"degree": 2}, {"penalty": 1000}, {"nk": 5}], ids=str)
def test_an_infinite_gcv_is_told(engine, options):
    """R's own summary stops where two sizes have an infinite GCV."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(9, 2))
    y = np.abs(X[:, 0]) + X[:, 1] + rng.normal(size=9)
    settings = {"pmethod": "none", "thresh": 0, "nk": 9, "endspan": 1, "minspan": 1}
    model = Earth(engine=engine, **(settings | options)).fit(X, y)
    assert np.isinf(model.gcv_)
    assert "GCV Inf" in model.summary() and "GRSq -Inf" in model.summary()
    assert len(model.anova()) >= 1 and (model.anova()["gcv"] > 0).all()
    assert model.importance()["gcv"].isna().all() and (model.importance()["rss"] > 0).all()
    np.testing.assert_allclose(model.feature_importances_.sum(), 1)


@pytest.mark.parametrize("name", [name for name in FITS if "nprune" not in FITS[name]])
def test_summary_of_responses_and_glm_as_in_r(name):
    expected = "\n".join(r_found()[name]["summary"])
    assert without_call(model_summary(r_model(name), "x")) == without_call(expected)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_importance_as_in_r(case):
    model, _ = fit_case(case, engine="r")
    (names, numbers) = r_importance(model)
    table = importance_table(model.model_)
    assert table.index.tolist() == [name.removesuffix("-unused") for name in names]
    numbers = numbers.reshape(len(names), 3)
    np.testing.assert_allclose(table[["nsubsets", "gcv", "rss"]], numbers, rtol=1e-12, atol=1e-12)


def r_importance(model):
    from pyearthdof import bridge

    found = bridge.call("earth.importance", model._fitted.r_object)
    return found["names"] or [], found["values"]


def test_numbers_as_r_formats_them():
    rng = np.random.default_rng(8)
    sizes = (1, 1, 1, 2, 3, 5) * 100
    groups = [rng.normal(size=k) * 10.0 ** rng.integers(-8, 9, size=k) for k in sizes]
    groups += [[0.0], [100000.0], [1e5, 1e-5], [123456789.0], [0.1 + 0.2], [np.nan, 1.0], [-np.inf]]
    groups += [[-0.0], [0.124, -0.0, 0.002], [1e-300, 1.0], [1e300]]
    digits = np.where(np.arange(len(groups)) % 2, 7, rng.integers(1, 18, size=len(groups)))
    code = """
    groups <- split(x, g)
    text <- function(k) format(groups[[k]], digits = digits[k])
    out <- list(text = unlist(lapply(seq_along(groups), text)))
    """
    flat = np.concatenate(groups)
    label = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
    expected = run_r(code, x=flat, g=label, digits=digits)["text"]
    ours = [text for group, d in zip(groups, digits, strict=True) for text in r_format(group, d)]
    assert ours == [text.strip() for text in expected]


def test_numbers_are_rounded_as_r_rounds_them():
    rng = np.random.default_rng(9)
    values = rng.normal(size=2000) * 10.0 ** rng.integers(-25, 12, size=2000)
    values = np.append(values, [0.5, 1.5, 0.15, 2.675, -0.125, np.inf, -np.inf, np.nan, 0.0])
    with np.errstate(all="ignore"):
        digits = np.nan_to_num(8 - np.log10(np.abs(values)) + rng.integers(-3, 3, size=len(values)))
    digits = np.clip(digits.round(), 0, 40)
    expected = run_r("out <- list(r = mapply(round, x, d))", x=values, d=digits)["r"]
    ours = [r_round(values[[k]], int(d))[0] for k, d in enumerate(digits)]
    np.testing.assert_array_equal(ours, expected)
