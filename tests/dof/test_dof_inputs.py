"""Bad input is refused before work starts; a failing repetition is named."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from pyearthdof.dof import correct_penalty, degrees_of_freedom, nominal_df, self_consistency
from pyearthdof.exceptions import FittingError, InvalidInputError
from pyearthdof.procedures.linear import LeastSquares, Ridge
from pyearthdof.random import RDraws

X = RDraws(11).normal(40).reshape(20, 2)
GAP = np.where(np.arange(20)[:, None] == 3, np.nan, X)


def mean(X, y):
    return np.full(len(y), y.mean())


def never(X, y):
    raise AssertionError("work started")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_rep": 1}, r"n_rep=1 is not possible; pass an integer >= 2"),
        ({"n_rep": 2.5}, r"n_rep=2.5"),
        ({"n_rep": True}, r"n_rep=True"),
        ({"sigma": 0.0}, r"sigma=0 is not possible; a standard deviation is positive"),
        ({"sigma": np.r_[np.ones(19), -2.0]}, r"sigma=-2 is not possible"),
        ({"sigma": np.ones(3)}, r"sigma has shape \(3,\), but there are 20 observations"),
        ({"mu": np.zeros(19)}, r"mu has shape \(19,\)"),
        ({"mu": np.full(20, np.nan)}, r"mu has missing or infinite values"),
        ({"mu": "guess"}, r"mu='guess' is unknown"),
        ({"mu": "fitted"}, r"mu='fitted' needs the response; pass y"),
        ({"y": np.zeros(20)}, r"y is used with mu='fitted' only"),
        ({"X": GAP}, r"X has missing or infinite values in column 0"),
        ({"X": pd.DataFrame(GAP, columns=["a", "b"])}, r"X has missing values in column 'a'"),
        ({"X": pd.DataFrame({"a": [np.inf, 1.0]})}, r"X has infinite values in column 'a'"),
        ({"X": [["a"], ["b"]]}, r"X is not a matrix of numbers"),
        ({"X": np.zeros((2, 2, 2))}, r"X has shape \(2, 2, 2\)"),
        ({"X": np.zeros((1, 2))}, r"X has 1 rows"),
        ({"X": (1, 2)}, r"design=\(1, 2\) is too small"),
        ({"draws": RDraws(1), "random_state": 1}, r"draws and random_state were both given"),
        ({"draws": 1234}, r"draws=1234 is no stream of random numbers; pass RDraws\(seed\)"),
        ({"random_state": -1}, r"random_state=-1 is negative"),
        ({"method": "guess"}, r"method='guess' is unknown"),
        ({"method": "exact"}, r"method='exact' is not possible: never is not linear"),
        ({"variance_reduction": "magic"}, r"variance_reduction='magic' is unknown"),
        ({"variance_reduction": "direction"}, r"needs a procedure that declares is_equivariant"),
        (
            {"variance_reduction": "control", "X": pd.DataFrame({"a": list("xyz")})},
            r"'control' needs numbers in every column of X",
        ),
        (
            {"variance_reduction": "direction", "mu": X[:, 0]},
            r"'direction' needs a constant mu and one sigma",
        ),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        degrees_of_freedom(never, **({"X": X} | arguments))


@pytest.mark.parametrize(
    ("procedure", "message"),
    [
        (DecisionTreeRegressor, r"is a class; pass an instance, DecisionTreeRegressor\(\)"),
        (LogisticRegression(), r"is a classifier"),
        (3, r"procedure=3 cannot fit"),
    ],
)
def test_bad_procedures(procedure, message):
    with pytest.raises(InvalidInputError, match=message):
        degrees_of_freedom(procedure, X)


@pytest.mark.parametrize(
    ("bad_fit", "message", "n_jobs"),
    [
        (lambda X, y: mean(X, y)[1:], r"ValueError: the fit has length 19, but y has length 20", 1),
        (lambda X, y: mean(X, y) * np.nan, r"ValueError: the fitted values contain nan", 1),
        (lambda X, y: 1 / 0, r"ZeroDivisionError: division by zero", 1),
        (lambda X, y: 1 / 0, r"ZeroDivisionError: division by zero", 2),
    ],
    ids=["length", "nan", "error", "error in a worker"],
)
def test_a_failing_repetition_is_named(bad_fit, message, n_jobs):
    target = RDraws(5).normal(20 * 42)[-20:]

    def fails_once(X, y):
        return bad_fit(X, y) if y[0] == target[0] else mean(X, y)

    with pytest.raises(FittingError, match=message) as caught:
        degrees_of_freedom(fails_once, X, draws=RDraws(5), n_rep=50, n_jobs=n_jobs)
    assert "repetition 41 of 50 (counted from 0)" in str(caught.value)
    assert "RDraws(5)" in str(caught.value)
    assert caught.value.repetition == 41
    assert np.array_equal(caught.value.y, target)


def test_a_procedure_with_the_wrong_shape():
    class Wrong(LeastSquares):
        def fit_many(self, X, Y):
            fits = super().fit_many(X, Y)
            return type(fits)(fits.fitted, trace=fits.trace[:0])

    with pytest.raises(FittingError, match="trace"):
        degrees_of_freedom(Wrong(), X, method="monte-carlo")


def test_a_wrong_parameter_is_reported_as_such():
    with pytest.raises(InvalidInputError, match="lam"):
        degrees_of_freedom(Ridge(lam=-1.0), X, method="monte-carlo")


def test_nominal_df_needs_a_fitted_model():
    with pytest.raises(InvalidInputError, match="call its fit first"):
        nominal_df(LeastSquares())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correct_penalty((100, 0)), r"design=\(100, 0\) is too small"),
        (lambda: correct_penalty(GAP), r"design has missing or infinite values in column 0"),
        (lambda: correct_penalty((20, 2), degree=0), r"degree=0"),
        (lambda: correct_penalty((20, 2), nk=0), r"nk=0"),
        (lambda: correct_penalty((20, 2), n_rep=1), r"n_rep=1"),
        (lambda: correct_penalty((20, 2), package="mars"), r"package='mars' is unknown"),
        (lambda: correct_penalty((20, 2), package="mda", engine="native"), r"not possible for mda"),
        (lambda: self_consistency((20, 2), nk=[]), r"nk is empty"),
        (lambda: self_consistency((20, 2), nk=[3, 0]), r"nk=0"),
    ],
)
def test_bad_input_of_the_correction(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
