"""Bad input ends in one sentence that names the argument; what R accepts is R's result and R's warning."""

import os

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from pyearthdof import Earth
from pyearthdof.exceptions import InvalidInputError, PyEarthDofError, RWarning
from tests.support.rscript import needs_rscript, run_r

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3))
Y = np.abs(X[:, 0]) + 0.1 * RNG.normal(size=40)


def frame(**columns):
    """A frame with a number `a` and another column."""
    return pd.DataFrame({"a": X[:, 0]} | columns)


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
        (X, np.empty((40, 0)), "0 feature"),
        (X, np.column_stack([Y, Y])[None], "dim 3|1d array"),
        (
            X,
            pd.DataFrame({"a": Y, "b": Y}).set_axis(["a", "a"], axis=1),
            "y has two columns named 'a'",
        ),
        (np.array([["a"], ["b"]]), [1.0, 2.0], "X is a ndarray with texts .* or be a DataFrame"),
        (np.array([[1, "b"]] * 2, dtype=object), [1.0, 2.0], "X is a ndarray with texts"),
        (pd.DataFrame({"a": list("uu")}), [1.0, 2.0], "column 'a' of X has 1 level"),
        (sparse.csr_array(X), Y, "[Ss]parse"),
        (
            frame(when=pd.date_range("2020", periods=40)),
            Y,
            "column 'when' of X has the type datetime64",
        ),
        (frame(z=np.ones(40) * 1j), Y, "column 'z' of X has the type complex"),
        (frame(z=[b"x"] * 40), Y, "column 'z' of X holds"),
        (frame(z=["u", 1.5] * 20), Y, "column 'z' of X holds 'u'"),
        (frame(z=["u", None] * 20), Y, "column 'z' of X has a missing value in row 1"),
        (frame(z=["u", "v", None, "v"] * 10), Y, "column 'z' of X has a missing value in row 2"),
        (frame(z=pd.Categorical(["u", "v", None, "v"] * 10)), Y, "missing value in row 2"),
        (frame(z=pd.Series([True, None] * 20, dtype="boolean")), Y, "missing value in row 1"),
        (frame(z=pd.Categorical([1, 1] * 20, ["1", 1])), Y, "two levels that read the same"),
        (
            frame(z=pd.Categorical(["a"] * 40, [f"l{k}" for k in range(96)] + ["a"], ordered=True)),
            Y,
            "97 levels but an ordered factor should have at most 95",
        ),
        (frame(z=list("uv") * 20).assign(a=np.nan), Y, "contains NaN: column 'a', row 0"),
        (pd.DataFrame({"a": list("uv")}).iloc[:1], [1.0], "1 level|minimum of 2"),
        (X, ["u"] * 40, "y holds texts .* EarthClassifier takes classes"),
        (X, pd.Series(["u"] * 40), "y has the type"),
        (X, None, "target y is None"),
    ],
)
def test_bad_data(x, y, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
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
        ("linpreds", [3]), ("linpreds", [True]), ("engine", "julia"), ("response_weight", [1, 2]),
        ("response_weight", [0]), ("response_weight", [-1]), ("response_weight", "heavy"),
        ("response_weight", [np.nan]), ("glm_family", "normal"), ("glm_family", ["binomial"]),
        ("glm_link", "logit"), ("glm_link", "nolink"), ("glm_maxit", 20), ("glm_maxit", 0),
        ("glm_epsilon", 1e-9), ("glm_epsilon", 0), ("nfold", -1), ("nfold", 2.5), ("ncross", 0),
        ("stratify", "yes"), ("varmod_method", "ols"), ("varmod_exponent", 0), ("varmod_conv", "no"),
        ("varmod_clamp", -1), ("varmod_minspan", 0.5), ("exhaustive_tol", -1), ("keepxy", 1),
        ("get_leverages", "no"), ("n_jobs", 0), ("n_jobs", 1.5), ("n_jobs", True),
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
    np.testing.assert_array_equal(model.term_coef_, expected["coef"])
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
    np.testing.assert_array_equal(model.term_coef_, plain.term_coef_)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    assert any(name in term for term in model.terms_)
    model.summary()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("columns", "message"),
    [(["a", "a", "b"], "two columns named 'a'"), (["x2", "", "b"], "two columns named 'x2'"),
     (["a\0b", "c", "d"], "NUL")],
)  # fmt: skip
def test_impossible_column_names_are_refused(columns, message):
    with pytest.raises(InvalidInputError, match=message):
        Earth().fit(pd.DataFrame(X, columns=columns), Y)


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"pmethod": "cv"}, Y, "nfold=0 but pmethod='cv' needs 2 or more"),
        ({"varmod_method": "lm"}, Y, "nfold=0, ncross=1 but varmod_method='lm' needs"),
        ({"varmod_method": "lm", "nfold": 3, "ncross": 2}, Y, "needs nfold of 2 and ncross of 3"),
        ({"varmod_method": "lm", "nfold": 3, "ncross": 3}, np.column_stack([Y, Y**2]),
         "varmod_method should be 'none' with several responses"),
        ({"pmethod": "seqrep"}, np.column_stack([Y, Y**2]), "with several responses"),
        ({"response_weight": [1, 2, 3]}, np.column_stack([Y, Y**2]), "it should be 2 number"),
        ({"response_weight": [1, 2], "scale_y": True}, np.column_stack([Y, Y**2]), "scale_y=True"),
        ({"engine": "native", "glm_link": "log"}, Y, "glm_link is given but glm_family is None"),
        ({"engine": "r", "glm_family": "gaussian", "glm_l2": 2.0}, Y, "but glm_l2=2 needs engine='native'"),
        ({"engine": "native", "varmod_method": "gam", "nfold": 3, "ncross": 3}, Y,
         "engine='native' but varmod_method='gam' needs engine='r'"),
        ({"ncross": 2}, Y, "nfold=0 but ncross=2 needs 2 or more"),
        ({"nfold": 2, "ncross": 1001}, Y, "ncross=1001 but it should be an integer from 1 to 1000"),
        ({"varmod_exponent": 0.05}, Y, "varmod_exponent=0.05 but it should be a number from 0.1 to 5"),
        ({"varmod_clamp": 2}, Y, "varmod_clamp=2 but it should be a number from 0 to 1"),
        ({"varmod_conv": 0}, Y, "varmod_conv=0 but it should be a percentage above 0"),
        ({"varmod_conv": -1.5}, Y, "varmod_conv=-1.5 but it should be a percentage above 0"),
        ({"varmod_method": "power", "varmod_exponent": 2, "nfold": 3, "ncross": 3}, Y,
         "varmod_exponent=2 but it should be 1 with varmod_method='power'"),
        ({"varmod_method": "lm", "get_leverages": False, "nfold": 3, "ncross": 3}, Y,
         "get_leverages=False but varmod_method='lm' is computed from leverages"),
        ({"engine": "native", "nfold": 2}, np.zeros(len(Y)), "stratify=True but a response is 0 everywhere"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(options, y, message):
    with pytest.raises(InvalidInputError, match=message):
        Earth(**options).fit(X, y)


@pytest.mark.parametrize(
    ("subset", "message"),
    [
        ([True, False], r"a mask should be \(40,\)"),
        ([0, 40], "subset holds 40 but rows run from 0 to 39"),
        ([-1, 3], "subset holds -1"),
        ([0.5, 1], "a mask or a list of row numbers"),
        ([[1, 2]], "a mask or a list of row numbers"),
        (["a", "b"], "a mask or a list of row numbers"),
        ([3], "subset has 1 row"),
        (np.zeros(40, dtype=bool), "subset has 0 row"),
        ([0, 1] * 20, r"subset holds 40 numbers that are 0 or 1, .* pass subset.astype\(bool\)"),
        (pd.Series([1] * 39 + [0]), "subset holds 40 numbers that are 0 or 1"),
    ],
)
def test_bad_subset(subset, message):
    with pytest.raises(InvalidInputError, match=message):
        Earth().fit(X, Y, subset=subset)


@needs_rscript
@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"glm_family": "poisson"}, Y - 5, "negative values not allowed"),
        ({"glm_family": "binomial"}, 3 + Y, "all values should be between 0 and 1"),
        ({"glm_family": "gamma", "glm_link": "probit"}, Y, "starting values"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_the_family_does_not_take_is_rs_own_message(options, y, message):
    with pytest.raises(PyEarthDofError, match=message):
        Earth(**options).fit(X, y)


def test_new_rows_for_a_model_with_factors():
    data = frame(kind=["u", "v", "w", "v"] * 10, flag=[True, False] * 20)
    model = Earth(degree=2).fit(data, Y)
    wrong = {
        "column 'kind' of X has the level 'x' in row 1, which the model does not know": data.assign(
            kind=["u", "x"] * 20
        ),
        "column 'kind' of X has a missing value in row 0": data.assign(kind=[None, "u"] * 20),
        "column 'flag' of X has the level '2'": data.assign(flag=2),
        "column 'a' of X has the type": data.assign(a="text"),
        "contains infinity: column 'a', row 0": data.assign(a=np.inf),
        "X is a ndarray but it should be a pandas DataFrame": data.to_numpy(),
        "feature names": data.drop(columns="a"),
    }
    for message, new in wrong.items():
        with pytest.raises(ValueError, match=message):
            model.predict(new)
    # Only some levels, another type of category, another order of categories: all the same.
    part = data.iloc[1:2]
    for new in (
        part,
        part.astype({"kind": "category"}),
        part.assign(kind=pd.Categorical(["v"], ["w", "v"])),
    ):
        np.testing.assert_array_equal(model.predict(new), model.predict(data)[1:2])


def test_intervals_refuse_wrong_arguments():
    model = Earth(engine="native").fit(X, Y)
    for arguments, message in [
        ({"level": 0}, "level=0 but it should be a number between 0 and 1"),
        ({"level": 1.0}, "level=1.0"),
        ({"level": "high"}, "level='high'"),
        ({"level": True}, "level=True"),
        ({"kind": "tolerance"}, "kind='tolerance' but it should be 'prediction' or 'confidence'"),
        ({}, "varmod_method='none' but intervals need a variance model"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            model.predict_interval(X, **arguments)


def test_type_of_prediction_and_formula_are_checked():
    model = Earth(engine="native").fit(X, Y)
    with pytest.raises(InvalidInputError, match="type='class' but it should be one of"):
        model.predict(X, type="class")
    data = frame(y=Y)
    for arguments, message in [
        ((3, data), "formula=3"),
        (("y ~ a", X), "data is a ndarray"),
        (("y ~ a", data.iloc[:0]), "no rows"),
        (("y ~ a", data.set_axis(["a", "a"], axis=1)), "two columns of one name"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            Earth.from_formula(*arguments)
    assert Earth.from_formula("y ~ a", data, engine="native").engine_ == "native"
