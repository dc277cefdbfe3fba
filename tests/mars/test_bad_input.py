"""Bad input ends in one sentence that names the argument; what R accepts is R's result and R's warning."""

import os

import numpy as np
import pandas as pd
import pytest
from rscript import needs_rscript, run_r

from pyearthdof import Earth
from pyearthdof.exceptions import InvalidInputError, RWarning

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3))
Y = np.abs(X[:, 0]) + 0.1 * RNG.normal(size=40)


def spoilt(value):
    bad = X.copy()
    bad[4, 1] = value
    return bad


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (spoilt(np.nan), Y, "contains NaN: column 'x2', row 4"),
        (spoilt(np.inf), Y, "contains infinity: column 'x2', row 4"),
        (spoilt(-np.inf), Y, "contains infinity: column 'x2', row 4"),
        (X, np.where(np.arange(40) == 3, np.nan, Y), "y contains NaN"),
        (X, np.where(np.arange(40) == 3, np.inf, Y), "y contains infinity"),
        (np.empty((0, 3)), np.empty(0), "0 sample"),
        (np.empty((40, 0)), Y, "0 feature"),
        (X[:1], Y[:1], "1 sample"),
        (X[:, 0], Y, "Expected 2D array"),
        (X[None], Y, "dim 3"),
        (X, Y[:39], "inconsistent numbers of samples"),
        (X, np.column_stack([Y, Y]), "y should be a 1d array"),
        (np.array([["a"], ["b"]]), [1.0, 2.0], "could not convert string to float"),
        (pd.DataFrame({"a": list("uv")}), [1.0, 2.0], "column 'a' of X has the type"),
        (X, ["u"] * 40, "could not convert|numeric"),
        (X, pd.Series(["u"] * 40), "y has the type"),
        (X, None, "target y is None"),
    ],
)
def test_bad_data(x, y, message):
    with pytest.raises(ValueError, match=message) as caught:
        Earth().fit(x, y)
    assert "Traceback" not in str(caught.value) and "earth.c" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nk", 0), ("nk", 1001), ("nk", 5.5), ("nk", "many"), ("degree", -1), ("degree", 11),
        ("degree", 0), ("degree", 2.5), ("degree", None), ("degree", True), ("pmethod", "best"),
        ("pmethod", None), ("penalty", -2), ("penalty", 1001), ("penalty", np.nan), ("thresh", -0.1),
        ("thresh", 1), ("endspan", -1), ("minspan", 1.5), ("minspan", 41), ("nprune", 0),
        ("newvar_penalty", -1), ("fast_beta", -1), ("fast_k", "all"), ("adjust_endspan", 11),
        ("auto_linpreds", 1), ("scale_y", "yes"), ("allowed", "no"), ("linpreds", "nosuch"),
        ("linpreds", [3]), ("linpreds", [True]), ("engine", "julia"),
    ],
)  # fmt: skip
def test_bad_argument(name, value):
    with pytest.raises(InvalidInputError) as caught:
        Earth(**{name: value}).fit(X, Y)
    assert str(caught.value).startswith(name)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(40, -1.0), r"sample_weight\[0\]=-1 but weights should be 0 or more"),
        (np.zeros(40), "sample_weight is zero everywhere"),
        (np.ones(39), "sample_weight has shape"),
        (np.full(40, np.nan), "sample_weight contains NaN"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(InvalidInputError, match=message):
        Earth().fit(X, Y, weights)


@pytest.mark.parametrize(
    ("Y_many", "message"), [(Y, "Y has shape"), (np.full((40, 2), np.nan), "Y contains NaN")]
)
def test_bad_responses_of_fit_many(Y_many, message):
    with pytest.raises(InvalidInputError, match=message):
        Earth().fit_many(X, Y_many)


def test_a_failed_fit_leaves_no_model():
    model = Earth(nk=0)
    with pytest.raises(InvalidInputError):
        model.fit(X, Y)
    assert not hasattr(model, "model_")


def test_predict_refuses_other_columns_and_missing_values():
    model = Earth().fit(pd.DataFrame(X, columns=list("abc")), Y)
    with pytest.raises(ValueError, match="contains NaN: column 'b'"):
        model.predict(pd.DataFrame(spoilt(np.nan), columns=list("abc")))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=list("cab")))
    with pytest.raises(ValueError, match="2 features"):
        model.predict(X[:, :2])


@needs_rscript
def test_constant_response_is_rs_result_and_rs_warning():
    with pytest.warns(RWarning, match="Cannot scale y"):
        model = Earth(engine="r").fit(X, np.full(40, 3.0))
    expected = run_r(
        "f <- suppressWarnings(earth(x, y)); out <- list(coef = c(f$coefficients), gcv = f$gcv)",
        packages=("earth",), x=X, y=np.full(40, 3.0),
    )  # fmt: skip
    np.testing.assert_array_equal(model.coef_, expected["coef"])
    np.testing.assert_array_equal(model.gcv_, expected["gcv"][0])
    np.testing.assert_allclose(model.predict(X), 3.0, rtol=1e-14)


@needs_rscript
def test_constant_column_is_not_an_error():
    x = np.column_stack([X, np.ones(40)])
    expected = run_r("out <- list(dirs = earth(x, y)$dirs)", packages=("earth",), x=x, y=Y)
    np.testing.assert_array_equal(Earth(engine="r").fit(x, Y).dirs_, expected["dirs"])


EVIL = '"); system("touch owned"); ("'


@pytest.mark.parametrize(
    "name",
    [EVIL, "`system('touch owned')`", "日本 é", "two words", "a\nb", "x$y", "NULL", "if", "h(x-1)"],
)
def test_any_column_name_works_and_nothing_is_executed(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=[name, "b", "c"])
    model = Earth(degree=2).fit(frame, Y)
    plain = Earth(degree=2).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    assert any(name in term for term in model.terms_)
    model.summary()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("columns", "message"),
    [(["a", "a", "b"], "two columns named 'a'"), (["", "a", "b"], "empty name"),
     (["a\0b", "c", "d"], "NUL")],
)  # fmt: skip
def test_impossible_column_names_are_refused(columns, message):
    with pytest.raises(InvalidInputError, match=message):
        Earth().fit(pd.DataFrame(X, columns=columns), Y)
