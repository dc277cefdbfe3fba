"""Earth(missing="indicator"): terms that are zero where a column is missing, and indicators of that."""

import re

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, EarthClassifier, EarthCV, degrees_of_freedom
from pyearthdof.exceptions import InvalidInputError
from tests.support.rscript import needs_rscript, run_r

N = 240


def with_gaps(share=0.2, n=N, seed=0, informative=False):
    """Two factors and three numbers; a and the factor lack values, and y depends on a, b and the factor."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    frame["kind"] = rng.choice(["u", "v", "w"], n)
    frame["flag"] = rng.random(n) > 0.5
    y = np.maximum(frame.a, 0) * 2 + frame.b + (frame.kind == "v") + 0.2 * rng.normal(size=n)
    gaps = frame.a > np.quantile(frame.a, 1 - share) if informative else rng.random(n) < share
    frame.loc[gaps, "a"] = np.nan
    frame.loc[rng.random(n) < share, "kind"] = None
    return frame, y.to_numpy()


@pytest.mark.parametrize("degree", [1, 2])
def test_complete_data_have_the_same_model(degree):
    X, y = with_gaps(0.0)
    plain = Earth(degree=degree, engine="native").fit(X, y)
    assert Earth(degree=degree, missing="indicator").fit(X, y).model_ == plain.model_


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6])
@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_terms_vanish_where_their_column_is_missing(share, degree, weighted):
    X, y = with_gaps(share, seed=round(100 * share))
    weights = np.linspace(1, 3, N) if weighted else None
    model = Earth(degree=degree, missing="indicator", penalty=1).fit(X, y, weights)
    assert np.isfinite(model.predict(X)).all()
    np.testing.assert_allclose(model.predict(X), model.fitted_values_, atol=1e-12)
    basis = pd.DataFrame(model.transform(X), columns=list(model.terms_))
    gaps = X["a"].isna()
    for name in model.terms_:
        uses_a = re.search(r"(?<!missing)\(a|\ba\b(?!\))", name)
        if "missing(a)" in name:
            assert not uses_a and (basis.loc[~gaps, name] == 0).all()
        elif uses_a:
            assert (basis.loc[gaps, name] == 0).all()
    degrees = [
        sum(not factor.startswith("missing(") for factor in name.split("*"))
        for name in model.terms_[1:]
    ]
    assert max(degrees) <= degree


def test_an_informative_gap_is_found():
    X, y = with_gaps(0.2, informative=True)
    model = Earth(missing="indicator").fit(X, y)
    assert "missing(a)" in model.terms_
    imputed = X.assign(a=X.a.fillna(X.a.median()), kind=X.kind.fillna("u"))
    assert model.rsq_ > Earth(engine="native").fit(imputed, y).rsq_ + 0.02
    assert model.importance().index[0] in ("missing(a)", "a")


@needs_rscript
def test_additive_fits_are_rs_with_the_smallest_value_and_an_indicator():
    """The columns span what R finds where missing values are the smallest one, beside a column of gaps."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200, 3))
    y = np.abs(x[:, 0]) + x[:, 1] + 0.3 * rng.normal(size=200)
    x[rng.random(200) < 0.3, 0] = np.nan
    filled = np.where(np.isnan(x), np.nanmin(x, axis=0), x)
    given = np.column_stack([filled[:, 0], np.isnan(x[:, 0]), filled[:, 1:]])
    r = run_r(
        'fit <- earth(x, y, linpreds = 2, pmethod = "none"); out <- list(fitted = fit$fitted.values[, 1])',
        packages=("earth",), x=given, y=y,
    )  # fmt: skip
    model = Earth(missing="indicator", interactions=[], pmethod="none").fit(x, y)
    np.testing.assert_allclose(model.fitted_values_, r["fitted"], atol=1e-10)


def test_new_rows_may_lack_what_the_training_rows_lacked():
    X, y = with_gaps()
    model = Earth(missing="indicator", penalty=0).fit(X, y)
    bad = X.copy()
    bad.loc[0, "b"] = np.nan
    with pytest.raises(InvalidInputError, match="contains NaN: column 'b', row 0"):
        model.predict(bad)
    found = model.predict(bad, missing="propagate")
    assert np.isnan(found[0])
    np.testing.assert_array_equal(found[1:], model.predict(X)[1:])
    numbers = X[["a", "b", "c"]].to_numpy()
    matrix = Earth(missing="indicator").fit(numbers, y)
    np.testing.assert_allclose(matrix.predict(numbers), matrix.fitted_values_, atol=1e-12)
    np.testing.assert_allclose(matrix.model_.predict(numbers), matrix.fitted_values_, atol=1e-12)


def test_everything_else_that_a_model_does():
    X, y = with_gaps(0.25, informative=True)
    model = Earth(missing="indicator", degree=2, nfold=3, random_state=1).fit(X, y)
    loaded = Earth.from_json(model.to_json())
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.missing == "indicator" and "missing(a)" in str(model.summary())
    assert model.reprune(nprune=3).n_terms_ == 3
    assert model.update(nprune=3).terms_ == model.reprune(nprune=3).terms_
    classes = EarthClassifier(missing="indicator", penalty=8).fit(X, y > 1)
    assert classes.score(X, y > 1) > 0.8
    chosen = EarthCV(Earth(missing="indicator", engine="native"), {"penalty": [2, 3]}).fit(X, y)
    assert np.isfinite(chosen.predict(X)).all()
    found = degrees_of_freedom(Earth(missing="indicator"), X, n_rep=3, random_state=1)
    assert np.isfinite(found.df)
    many = Earth(missing="indicator").fit_many(X, np.column_stack([y, -y]))
    single = Earth(missing="indicator").fit(X, y)
    np.testing.assert_allclose(many.fitted[:, 0], single.fitted_values_, atol=1e-9)


def test_exports_know_missing_values():
    X, y = with_gaps(0.25, informative=True)
    X["flag"] = X["flag"].astype(object)
    X.loc[::7, "flag"] = None
    model = Earth(missing="indicator", degree=2, penalty=1).fit(X, y)
    namespace = {}
    exec(model.to_python(), namespace)
    rows = X.astype(object).where(X.notna(), None)
    found = [namespace["predict"](**row) for row in rows.to_dict("records")]
    np.testing.assert_allclose(found, model.predict(X), atol=1e-10)
    duckdb = pytest.importorskip("duckdb")
    con = duckdb.connect()
    con.register("data", X.assign(flag=X.flag.astype("boolean")))
    sql = con.execute(f"SELECT {model.to_sql()} FROM data").fetchnumpy()
    np.testing.assert_allclose(next(iter(sql.values())), model.predict(X), atol=1e-10)


def test_a_page_shows_a_missing_level(tmp_path):
    X, y = with_gaps(0.25, informative=True)
    model = Earth(missing="indicator").fit(X, y)
    model.report(tmp_path / "page.html", X, y)
    text = (tmp_path / "page.html").read_text()
    assert "missing(a)" in text and ">missing</option>" in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda X, y: Earth(missing="drop").fit(X, y),
            "missing='drop' but it should be 'raise' or 'indicator'",
        ),
        (lambda X, y: Earth(missing="indicator", engine="r").fit(X, y), "needs engine='native'"),
        (lambda X, y: Earth().fit(X, y), "missing value"),
        (
            lambda X, y: Earth(missing="indicator").fit(X.assign(a=np.nan), y),
            "column 'a' of X has no value",
        ),
        (
            lambda X, y: Earth(missing="indicator").fit(X.assign(b=np.inf), y),
            "contains infinity: column 'b'",
        ),
        (
            lambda X, y: Earth.from_formula("y ~ a", X.assign(y=y), missing="indicator"),
            "missing='indicator' but it should be 'raise' with a formula",
        ),
    ],
)
def test_refused(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call(*with_gaps())
