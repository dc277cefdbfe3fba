"""Random fitted models: factors, truth values, odd names, glms, classes, several responses."""

import warnings

import numpy as np
import pandas as pd

from pyearthdof import Earth, EarthClassifier

NAMES = [
    "x",
    "car speed",
    'a "quote"',
    "größe",
    "row",
    "x0",
    "__proto__",
    "constructor",
    "</script>",
    "it's",
    "_v0",
]
LEVELS = ["low", "high", "très", "'", '"', "a b", "</script>", "10", "0.5", "TRUE", ""]
FAMILIES = {
    "binomial": ("logit", "probit", "cauchit", "cloglog", "log"),
    "poisson": ("log", "sqrt", "identity"),
    "gamma": ("inverse", "log", "identity"),
    "gaussian": ("identity", "log", "inverse"),
    "inverse_gaussian": ("1/mu^2", "log"),
}


def random_frame(rng, n, numbers_only) -> pd.DataFrame:
    names = rng.permutation(NAMES)[: rng.integers(1, 6)]
    columns = {}
    for name in names.tolist():
        kind = (
            "number"
            if numbers_only
            else rng.choice(["number", "number", "factor", "ordered", "bool"])
        )
        if kind == "number":
            columns[name] = rng.normal(size=n) * 10.0 ** rng.integers(-2, 3) + rng.normal()
        elif kind == "bool":
            columns[name] = rng.random(n) < 0.5
        else:
            levels = rng.permutation(LEVELS)[: rng.integers(2, 5)].tolist()
            codes = np.concatenate(
                [np.arange(len(levels)), rng.integers(len(levels), size=n - len(levels))]
            )
            columns[name] = pd.Categorical.from_codes(codes, levels, ordered=kind == "ordered")
    return pd.DataFrame(columns)


def random_mean(rng, X) -> np.ndarray:
    total = np.zeros(len(X))
    for name in X:
        values = X[name]
        codes = (
            values.cat.codes
            if isinstance(values.dtype, pd.CategoricalDtype)
            else values.astype(float)
        )
        scaled = (codes - codes.mean()) / (codes.std() or 1.0)
        total += rng.normal() * np.maximum(0, scaled - rng.normal() / 2) + rng.normal() * scaled * (
            total > 0
        )
    return np.clip(total, -3, 3)


def random_model(seed: int):
    """A fitted estimator and its training rows; None where R's iteration stops on these data."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 120))
    X = random_frame(rng, n, numbers_only=rng.random() < 0.25)
    mean = random_mean(rng, X)
    options = {
        "degree": int(rng.integers(1, 4)),
        "engine": "native",
        "penalty": float(rng.choice([0, 2, 3])),
    }
    kind = rng.choice(["plain", "several", "glm", "classes", "varmod"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "plain":
            return Earth(**options).fit(X, mean + rng.normal(size=n) / 5), X
        if kind == "several":
            Y = pd.DataFrame({"a": mean + rng.normal(size=n) / 5, "b": rng.normal(size=n) - mean})
            return Earth(**options).fit(X, Y), X
        if kind == "varmod":
            method = rng.choice(["const", "lm", "rlm", "earth", "power", "x.lm", "x.earth"])
            options |= {"varmod_method": str(method), "nfold": 3, "ncross": 3, "random_state": seed}
            return Earth(**options).fit(
                X, 5 + mean + rng.normal(size=n) * (1 + np.abs(mean)) / 5
            ), X
        if kind == "classes":
            y = np.digitize(mean + rng.normal(size=n), [-0.5, 0.5][: rng.integers(1, 3)])
            y[:3] = [0, 1, y.max()]
            texts = np.array(["no", "maybe", "yes"], dtype=object)
            link = str(rng.choice(["logit", "probit", "cauchit"]))
            model = EarthClassifier(**options, glm_link=link, threshold=0.4, glm_l2=0.01)
            return model.fit(X, texts[y] if rng.random() < 0.5 else y), X
        family = str(rng.choice(list(FAMILIES)))
        link = str(rng.choice(FAMILIES[family]))
        y = response_of(rng, family, mean)
        if link in ("identity", "inverse", "sqrt", "1/mu^2", "log"):
            options["degree"] = 1
        return Earth(**options, nprune=4, glm_family=family, glm_link=link).fit(X, y), X


def response_of(rng, family, mean):
    if family == "binomial":
        return (rng.random(len(mean)) < 1 / (1 + np.exp(-mean))).astype(float)
    if family == "poisson":
        return rng.poisson(np.exp(mean / 3 + 2)).astype(float)
    return np.exp(mean / 9 + 1) * rng.gamma(20, 1 / 20, size=len(mean))


def random_models(seeds):
    """Those of the seeds that R's iteration fits, with their number."""
    for seed in seeds:
        try:
            model, X = random_model(seed)
        except (ValueError, RuntimeError):  # R's iteration stops: no model
            continue
        yield seed, model, X


def new_rows(rng, X, n=15) -> pd.DataFrame:
    """Rows like those of X, numbers also beyond them."""
    rows = X.iloc[rng.integers(len(X), size=n)].reset_index(drop=True)
    for name in X.select_dtypes("number"):
        rows[name] = rows[name] + X[name].std() * rng.normal(size=n)
    return rows
