"""Prediction intervals take the rows that predict takes, and are plain R's."""

import warnings

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth
from pyearthdof.exceptions import InvalidInputError
from tests.support.rscript import needs_rscript, run_r

pytestmark = [pytest.mark.needs_r, pytest.mark.filterwarnings("ignore")]

FORMULAS = {
    "columns": "y ~ x + kind",
    "computed": "y ~ log(x) + kind * rank + flag",
    "offset": "y ~ poly(x, 2) + kind + offset(w)",
    "in functions": "y ~ I(x * flag) + ns(w, df = 3) + kind",
}
METHODS = ("lm", "earth", "const", "x.lm", "x.earth")


def data(n=150) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.uniform(1, 5, n), "w": rng.normal(size=n)})
    frame["kind"] = rng.choice(["a", "b", "c"], n)
    frame["rank"] = pd.Categorical(
        rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True
    )
    frame["flag"] = rng.random(n) < 0.5
    frame["y"] = np.log(frame["x"]) + (frame["kind"] == "b") + frame["flag"] + frame["w"]
    frame["y"] += 0.2 * frame["x"] * rng.normal(size=n)
    return frame


def fitted(text, method):
    return Earth.from_formula(text, data(), nfold=3, ncross=3, random_state=1, varmod_method=method)


@pytest.fixture(scope="module")
def models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {(f, m): fitted(FORMULAS[f], m) for f in FORMULAS for m in METHODS}


def rows() -> dict[str, pd.DataFrame]:
    """New rows that predict takes, whatever else is beside the columns of the formula."""
    frame = data()
    one = frame[frame["kind"] == "b"].iloc[:1]
    odd = frame.iloc[:6].assign(
        when=pd.Timestamp("2020-01-01"), number=1j, what=[b"?"] * 6, same="level"
    )
    return {
        "one row": one,
        "one level": frame[frame["kind"] == "c"].iloc[:5],
        "odd columns beside": odd,
        "other order": frame.iloc[:6, ::-1],
        "without the response": frame.drop(columns="y").iloc[:6],
        "nothing beside": None,
        "categories": frame.iloc[:6].assign(kind=pd.Categorical(frame["kind"][:6], list("cdab"))),
        "plain texts": frame.iloc[:6].astype({"rank": str}),
        "numbers for truth": frame.iloc[:6].assign(flag=frame["flag"][:6].astype(object)),
        "missing beside": frame.iloc[:6].assign(y=np.nan, extra=None),
        "twice beside": pd.concat([frame.iloc[:6], frame[["y", "y"]].iloc[:6]], axis=1),
        "another index": frame.iloc[:6].set_axis(list("uvwxyz")),
    }


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_intervals_take_what_predict_takes(models, formula, method):
    model = models[formula, method]
    whole = model.predict_interval(data())
    np.testing.assert_allclose(whole.to_numpy(), model.predict_interval().to_numpy(), rtol=1e-9)
    for name, new in rows().items():
        if new is None:
            new = data()[list(model.feature_names_in_)].iloc[3:9]
        found = model.predict_interval(new)
        np.testing.assert_allclose(found["fit"], model.predict(new), rtol=1e-9, err_msg=name)
        assert (found["lower"] < found["fit"]).all() and (found["fit"] < found["upper"]).all()
        assert list(found.index) == list(new.index)
    # The same row has the same interval in any company.
    place = data().index.get_loc(rows()["one row"].index[0])
    np.testing.assert_allclose(
        model.predict_interval(rows()["one row"]).to_numpy()[0], whole.to_numpy()[place], rtol=1e-12
    )


@pytest.mark.parametrize("formula", FORMULAS)
def test_what_predict_refuses_is_refused(models, formula):
    model = models[formula, "lm"]
    for change, message in (
        ({"kind": "z"}, "column 'kind' of X has the level 'z'"),
        ({"kind": None}, "column 'kind' of X has a missing value"),
        ({"x": np.nan}, "contains NaN: column 'x'"),
        ({"x": "text"}, "column 'x' of X has the type"),
    ):
        new = data().iloc[:4].assign(**change)
        for function in (model.predict, model.predict_interval):
            with pytest.raises(InvalidInputError, match=message):
                function(new)
    with pytest.raises(InvalidInputError, match="X lacks the column 'kind'"):
        model.predict_interval(data().drop(columns="kind"))


@needs_rscript
def test_they_are_plain_rs(tmp_path):
    """R fits and predicts; we read its fit. R itself wants the levels of all rows in the new ones."""
    frame = data().astype({"rank": str, "flag": float})
    code = """
out <- list()
d$kind <- factor(d$kind)
d$rank <- factor(d$rank, c("low", "mid", "high"), ordered = TRUE)
for (i in seq_along(texts)) {
  set.seed(1)
  fit <- earth(as.formula(texts[i]), data = d, nfold = 3, ncross = 3, varmod.method = "lm")
  saveRDS(fit, file.path(target, paste0(i, ".rds")))
  out[[paste0("p", i)]] <- as.matrix(predict(fit, d[d$kind == "b", ], interval = "pint", level = 0.9))
}
"""
    r = run_r(
        code,
        packages=("earth", "splines"),
        d=frame,
        texts=list(FORMULAS.values()),
        target=str(tmp_path),
    )
    for i in range(1, len(FORMULAS) + 1):
        model = Earth.from_r(tmp_path / f"{i}.rds")
        new = frame[frame["kind"] == "b"].drop(columns="y").assign(odd=1j)
        np.testing.assert_allclose(
            model.predict_interval(new, 0.9).to_numpy(), r[f"p{i}"], rtol=1e-12, atol=1e-12
        )


@needs_rscript
def test_a_formula_that_only_r_knows(tmp_path):
    """Such a model predicts from the matrix of its predictors, and so do its intervals."""
    frame = data()[["x", "w", "y", "kind"]]
    code = """
d$kind <- factor(d$kind)
fit <- earth(y ~ sinh(x) + w + kind, data = d, nfold = 3, ncross = 3, varmod.method = "lm")
saveRDS(fit, file.path(target, "sinh.rds"))
saveRDS(earth(y ~ sinh(x) + kind + offset(w), data = d), file.path(target, "offset.rds"))
out <- list(x = model.matrix(~ sinh(x) + w + kind, d)[, -1],
            p = as.matrix(predict(fit, d, interval = "pint")),
            train = as.matrix(predict(fit, interval = "pint")))
"""
    r = run_r(code, packages=("earth",), d=frame, target=str(tmp_path))
    model = Earth.from_r(tmp_path / "sinh.rds")
    new = pd.DataFrame(r["x"], columns=model.model_.feature_names)
    exact = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(model.predict_interval(new).to_numpy(), r["p"], **exact)
    np.testing.assert_allclose(model.predict_interval().to_numpy(), r["train"], **exact)
    with pytest.raises(InvalidInputError, match=r"adds an offset.* calls sinh"):
        Earth.from_r(tmp_path / "offset.rds")


@pytest.mark.parametrize("method", METHODS)
def test_a_frame_with_factors(method):
    frame = data()
    X, y = frame[["x", "kind", "rank"]], frame["y"]
    model = Earth(nfold=3, ncross=3, random_state=1, varmod_method=method).fit(X, y)
    whole = model.predict_interval(X)
    np.testing.assert_allclose(whole["fit"], model.predict(X), rtol=1e-9)
    one = model.predict_interval(X.iloc[4:5])
    np.testing.assert_allclose(one.to_numpy()[0], whole.to_numpy()[4], rtol=1e-12)


def test_a_fit_ignores_odd_columns_that_its_formula_does_not_name():
    """A dot inside a number or a name is no dot that stands for all columns."""
    odd = data().assign(when=pd.Timedelta("1h"), same="level")
    odd["a.b"] = odd["x"]
    for text in ("y ~ I(1.5 * x) + kind", "y ~ a.b", "y ~ log(x)"):
        plain = Earth.from_formula(text, odd.drop(columns=["when", "same"]))
        assert Earth.from_formula(text, odd).model_ == plain.model_
    for text, message in (
        ("y ~ .", "column 'when' of data has the type timedelta64"),
        ("y ~ x + when", "column 'when' of data has the type timedelta64"),
        ("y ~ x + same", "column 'same' of data has 1 level"),
        ("y ~ x + `same`", "column 'same' of data has 1 level"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            Earth.from_formula(text, odd)
