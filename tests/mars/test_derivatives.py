"""Exact derivatives of predictions, beside differences of the predictions themselves."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from pyearthdof import Earth, EarthClassifier, EarthCV, MarsModel
from pyearthdof.exceptions import InvalidInputError

RNG = np.random.default_rng(5)
N = 150
X = pd.DataFrame(RNG.uniform(1, 3, size=(N, 3)), columns=["a", "b", "c"])
SIGNAL = np.maximum(X["a"] - 2, 0) * X["b"] + np.abs(X["c"] - 1.5)
Y = SIGNAL + 0.1 * RNG.normal(size=N)
NEW = pd.DataFrame(RNG.uniform(0.5, 3.5, size=(60, 3)), columns=X.columns)
STEP = 1e-6


def differences(predict, new, name):
    up, down = new.copy(), new.copy()
    up[name] += STEP
    down[name] -= STEP
    found = (predict(up) - predict(down)) / (2 * STEP)
    return np.asarray(found, dtype=float).reshape(len(new), -1)


def check(model, new, names, **options):
    found = model.predict_deriv(new, **options)
    assert found.shape == (len(new), len(names), len(model.model_.response_names))
    for k, name in enumerate(names):
        expected = differences(lambda rows: model.predict(rows, **options), new, name)
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_they_are_the_slopes_of_predict(degree):
    check(Earth(engine="native", degree=degree).fit(X, Y), NEW, ["a", "b", "c"])


@pytest.mark.parametrize("family", ["binomial", "poisson", "gamma", "gaussian", "inverse_gaussian"])
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.SeparationWarning")
def test_of_generalised_linear_models_on_each_scale(family):
    y = {"binomial": (Y > 1.5) * 1.0, "poisson": np.round(Y - Y.min())}.get(family, Y - Y.min() + 1)
    link = "log" if family == "inverse_gaussian" else None
    model = Earth(engine="native", degree=2, glm_family=family, glm_link=link).fit(X, y)
    for kind in ("response", "link", "earth"):
        check(model, X.iloc[:40] + 0.00123, ["a", "b", "c"], type=kind)  # off the knots


def test_of_several_responses_factors_and_formulas():
    two = pd.DataFrame({"u": Y, "v": X["a"] * X["b"]})
    check(Earth(engine="native", degree=2).fit(X, two), NEW, ["a", "b", "c"])
    kind = pd.Categorical(np.where(np.arange(N) % 3, "p", "q"))
    frame = X.assign(kind=kind)
    odd = frame.rename(columns={"a": "the a"})
    check(
        Earth(engine="native").fit(odd, Y),
        NEW.rename(columns={"a": "the a"}).assign(kind=kind[:60]),
        ["the a", "b", "c"],
    )
    model = Earth(engine="native", degree=2).fit(frame, Y + (kind == "q") * X["b"])
    new = NEW.assign(kind=kind[:60])
    check(model, new, ["a", "b", "c"])
    with pytest.raises(InvalidInputError, match="variables='kind' but it should be among the num"):
        model.predict_deriv(frame, "kind")
    data = frame.assign(y=Y)
    of_formula = Earth.from_formula("y ~ a + log(b) + c:kind + `c` + kind", data, engine="native")
    check(of_formula, new, ["a"])
    with pytest.raises(InvalidInputError, match=r"'b' but .* enter the formula by themselves: a"):
        of_formula.predict_deriv(data, ["a", "b"])


def test_variables_as_in_py_earth():
    model = Earth(engine="native", degree=2).fit(X, Y)
    whole = model.predict_deriv(NEW)
    assert whole.shape == (60, 3, 1)
    np.testing.assert_array_equal(model.predict_deriv(NEW, 0), whole[:, :1])
    np.testing.assert_array_equal(model.predict_deriv(NEW, "b"), whole[:, 1:2])
    np.testing.assert_array_equal(model.predict_deriv(NEW, ["c", "a"]), whole[:, [2, 0]])
    assert model.predict_deriv(NEW, []).shape == (60, 0, 1)
    assert np.array_equal(MarsModel.from_json(model.to_json()).predict_deriv(NEW), whole)
    for wrong in ("z", 3, -1, 0.5, None):
        with pytest.raises(
            InvalidInputError, match=r"variables=.* among the numeric columns: a, b, c"
        ):
            model.predict_deriv(NEW, [wrong])
    with pytest.raises(NotFittedError):
        Earth().predict_deriv(NEW)
    with pytest.raises(ValueError, match="feature"):
        model.predict_deriv(NEW.iloc[:, :2])


def test_on_a_knot_the_slope_is_that_to_its_right():
    x = np.linspace(0, 1, 101)[:, None]
    model = Earth(engine="native", thresh=0).fit(x, np.abs(x[:, 0] - 0.5))
    knots = np.unique(model.cuts_[model.selected_terms_[1:]])[:, None]
    assert len(knots) > 1 and model.dirs_.min() == -1
    np.testing.assert_array_equal(model.predict_deriv(knots), model.predict_deriv(knots + 1e-9))


def test_of_classifiers_and_searches():
    classes = np.where(Y > 1.5, "high", "low")
    model = EarthClassifier(engine="native").fit(X, classes)
    expected = differences(lambda rows: model.predict_proba(rows)[:, 1], NEW, "c")
    np.testing.assert_allclose(model.predict_deriv(NEW, "c")[:, 0], expected, rtol=1e-4, atol=1e-7)
    search = EarthCV(Earth(engine="native"), {"degree": [1, 2]}, cv=2).fit(X, Y)
    assert np.array_equal(search.predict_deriv(NEW), search.best_estimator_.predict_deriv(NEW))


def test_where_a_value_is_missing_there_is_no_derivative():
    holes = X.mask(RNG.random(X.shape) < 0.2)
    model = Earth(engine="native", degree=2, missing="indicator").fit(holes, Y)
    new = NEW.copy()
    new.iloc[::3, 0] = np.nan
    found = model.predict_deriv(new)
    assert np.isnan(found[::3, 0]).all() and np.isfinite(found[1::3]).all()
    expected = differences(lambda rows: model.predict(rows), new, "b")
    np.testing.assert_allclose(found[:, 1], expected, rtol=1e-5, atol=1e-7)
