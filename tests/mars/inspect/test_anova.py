"""Friedman's decomposition beside plain R's least squares on the same terms."""

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth
from tests.support.mars.earth_cases import R_CASES, R_DATA, read_frames
from tests.support.rscript import needs_rscript, run_r

pytestmark = needs_rscript

CASES = [
    ("ozone", "temp|ibh|doy|vis", "O3", "degree=2", {"degree": 2}),
    ("ozone", "temp|ibh|doy|vis", "O3", "degree=3, penalty=0", {"degree": 3, "penalty": 0}),
    ("ozone", "temp|ibh|doy", "O3|wind", "degree=2", {"degree": 2}),
    ("ozone", "temp|ibh|doy", "O3", "weights=w", {}),
    ("titanic", "pclass|sex|parch", "age", "degree=2", {"degree": 2}),
    ("ozone", "temp", "O3", "nk=1", {"nk": 1}),
]
R_RUN = (
    R_CASES
    + """
  w <- if (grepl("weights", args[i])) weights.all[seq_len(nrow(d))] else rep(1, nrow(d))
  fit <- eval(parse(text = paste0("earth(x, y, ", args[i], ")")))
  used <- fit$dirs[fit$selected.terms, , drop = FALSE] != 0
  key <- apply(used, 1, function(u) paste(colnames(fit$dirs)[u], collapse = " "))
  for (group in setdiff(unique(key), "")) {
    rest <- fit$bx[, key != group, drop = FALSE]
    left <- lm.wfit(rest, y, w)$residuals
    cost <- ncol(rest) + fit$penalty * (ncol(rest) - 1) / 2
    n <- nrow(y)
    part <- fit$bx[, key == group, drop = FALSE] %*% fit$coefficients[key == group, , drop = FALSE]
    out[[paste("case", i, group, sep = "|")]] <-
      c(sum(key == group), apply(part, 2, sd), sum(w * left^2) / (n * (1 - cost / n)^2))
  }
}, error = refused)
"""
)


@pytest.fixture(scope="module")
def found():
    names = {k: [case[j] for case in CASES] for j, k in enumerate(("data", "xs", "ys", "args"))}
    result = run_r(R_DATA + R_RUN, packages=("earth",), **names)
    return result, read_frames(result)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_groups_are_measured(found, number):
    data, x, y, args, options = CASES[number]
    prefix = f"case|{number + 1}|"
    expected = {k.removeprefix(prefix): v for k, v in found[0].items() if k.startswith(prefix)}
    frame, y = found[1]["frame"][data], y.split("|")
    weights = found[0]["weights.all"][: len(frame)] if "weights" in args else None
    model = Earth(engine="native", **options)
    model.fit(frame[x.split("|")], frame[y if len(y) > 1 else y[0]], weights)
    table = model.anova()
    assert set(table.index) == set(expected) and len(table) == len(expected)
    for group, values in expected.items():
        np.testing.assert_allclose(table.loc[group].to_numpy(dtype=float), values, rtol=1e-8)
    spreads = ["sd"] if len(y) == 1 else [f"sd_{name}" for name in y]
    assert list(table.columns) == ["terms", *spreads, "gcv"]
    assert (np.diff([name.count(" ") for name in table.index]) >= 0).all()


def test_importance_of_raw_columns_adds_up_to_one():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=120),
            "f": rng.choice(["u", "v", "w"], 120),
            "z": rng.normal(size=120),
        }
    )
    y = np.abs(frame["a"]) + 2.0 * (frame["f"] == "w")
    shares = Earth(engine="native").fit(frame, y).feature_importances_
    assert shares.shape == (3,) and shares.sum() == pytest.approx(1) and shares[:2].min() > 0.1


def test_importance_of_the_columns_of_a_formula():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120)})
    frame["y"] = np.abs(frame["a"]) * frame["b"]
    model = Earth.from_formula("y ~ a * b", frame)
    assert model.feature_importances_.shape == (model.n_features_in_,) == (2,)
    assert model.feature_importances_.sum() == pytest.approx(1)
