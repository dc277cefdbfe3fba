"""Every way through R once: what it gives, as plain values that can be compared."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from pyearthdof import Earth, EarthClassifier, Mars
from pyearthdof.procedures import RBSpline, RNaturalSpline, RSmoothingSpline


def everything() -> dict:
    """Fits of every kind that R does for us; numbers in full, texts as they are."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(60, 3)) * [1, 1e-5, 12345.678], columns=["a", "b c", "T"])
    frame["kind"] = pd.Categorical(rng.choice(["low", "mid", "high"], 60))
    frame["rank"] = pd.Categorical(rng.choice(["1st", "2nd", "3rd"], 60), ordered=True)
    y = np.abs(frame["a"]) + 1e-4 * frame["T"] + (frame["kind"] == "mid") + rng.normal(size=60) / 9
    Y = np.column_stack([y, rng.normal(size=(60, 4))])
    numbers = frame[["a", "b c", "T"]].to_numpy()
    found = {}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = Earth(degree=2, engine="r").fit(frame, y)
        found["earth"] = [model.terms_, model.term_coef_, model.cuts_, model.gcv_, model.summary()]
        found["importance"] = model.importance().to_string()
        formula = Earth.from_formula("log(y + 9) ~ a * kind + ns(T, 3) + rank", frame.assign(y=y))
        found["formula"] = [formula.terms_, formula.term_coef_, formula.summary()]
        classes = EarthClassifier(engine="r").fit(numbers, frame["kind"].astype(str))
        found["classes"] = [classes.predict_proba(numbers), classes.summary()]
        folds = Earth(pmethod="cv", nfold=3, engine="r", random_state=1).fit(numbers, y)
        found["folds"] = [folds.term_coef_, folds.summary()]
        found["constant"] = Earth(engine="r").fit(numbers, np.ones(60)).term_coef_
        found["many"] = Earth(engine="r").fit_many(numbers, Y).fitted
        found["mda"] = Mars().fit(numbers, y).term_coef_
        for spline in (RBSpline(6), RNaturalSpline(5), RSmoothingSpline(df=4)):
            fitted = spline.fit(numbers[:, :1], y).predict(numbers[:, :1])
            found[type(spline).__name__] = [fitted, spline.fit_many(numbers[:, :1], Y).fitted]
    found["warnings"] = [str(w.message) for w in heard]
    return found


def differences(found, expected) -> list[str]:
    """Names of what is not the same to the last bit."""
    return [name for name in expected if not _same(found[name], expected[name])]


def _same(one, other) -> bool:
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    return np.array_equal(one, other)
