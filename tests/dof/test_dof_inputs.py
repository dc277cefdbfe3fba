"""Bad input is refused before work starts; a failing repetition is named."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

from pyearthdof.contract import Fits
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
        ({"n_rep": 1}, r"n_rep=1 but it should be an integer of 2 or more"),
        ({"n_rep": 2.5}, r"n_rep=2.5"),
        ({"n_rep": True}, r"n_rep=True"),
        ({"sigma": 0.0}, r"sigma=0.0 but it should be a positive number"),
        ({"sigma": np.r_[np.ones(19), -2.0]}, r"sigma=-2.0 but it should be a positive"),
        ({"sigma": np.ones(3)}, r"sigma has shape \(3,\) but it should be \(20,\)"),
        ({"mu": np.zeros(19)}, r"mu has shape \(19,\)"),
        ({"mu": np.full(20, np.nan)}, r"mu has missing or infinite values"),
        ({"mu": "guess"}, r"mu='guess' but it should be None, 'fitted', a number"),
        ({"mu": "fitted"}, r"y=None but it should be the response, with mu='fitted'"),
        ({"y": np.zeros(20)}, r"y is given but it should be None unless mu='fitted'"),
        ({"X": GAP}, r"X has missing or infinite values in column 0"),
        ({"X": pd.DataFrame(GAP, columns=["a", "b"])}, r"X has missing values in column 'a'"),
        ({"X": pd.DataFrame({"a": [np.inf, 1.0]})}, r"X has infinite values in column 'a'"),
        ({"X": [["a"], ["b"]]}, r"X is a list but it should be a matrix of numbers"),
        ({"X": np.zeros((2, 2, 2))}, r"X has shape \(2, 2, 2\)"),
        ({"X": np.zeros((1, 2))}, r"X has 1 rows"),
        ({"X": (1, 2)}, r"X=\(1, 2\) but it should be \(n, p\) with n >= 2"),
        (
            {"draws": RDraws(1), "random_state": 1},
            r"draws=RDraws\(1\) and random_state=1 but one of them should be None",
        ),
        ({"draws": 1234}, r"draws=1234 but it should be RDraws\(seed\)"),
        ({"random_state": -1}, r"random_state=-1 but it should be an integer of 0 or more"),
        ({"method": "guess"}, r"method='guess' but it should be 'auto', 'monte-carlo' or 'exact'"),
        (
            {"method": "exact"},
            r"method='exact' but it should be 'monte-carlo': never is not linear",
        ),
        (
            {"variance_reduction": "magic"},
            r"variance_reduction='magic' but it should be 'auto', 'best', 'orthogonal', 'direction'",
        ),
        (
            {"variance_reduction": "direction"},
            r"'control' or None, because never does not declare is_equivariant",
        ),
        (
            {"variance_reduction": "control", "X": pd.DataFrame({"a": list("xyz")})},
            r"'control' but it should be 'best', 'direction' or None where a column of X",
        ),
        (
            {"variance_reduction": "orthogonal", "n_rep": 19},
            r"'orthogonal' but it should be 'best', unless there are 20 repetitions or more",
        ),
        ({"target_se": 0}, r"target_se=0 but it should be a finite number above 0"),
        (
            {"target_se": 0.1, "n_rep": 29},
            r"n_rep=29 but it should be an integer of 30 or more with target_se",
        ),
        (
            {"target_se": 0.1, "n_designs": 5, "X": (10, 2)},
            r"n_designs=5 but it should be None, for as many as target_se takes, or 1",
        ),
        (
            {"variance_reduction": "direction", "mu": X[:, 0]},
            r"'direction' but it should be 'best', 'control' or None where mu is not constant",
        ),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        degrees_of_freedom(never, **({"X": X} | arguments))


@pytest.mark.parametrize(
    ("procedure", "message"),
    [
        (
            DecisionTreeRegressor,
            r"procedure=DecisionTreeRegressor but it should be an instance, DecisionTreeRegressor\(\)",
        ),
        (3, r"procedure=3 but it should be a procedure with fit_many"),
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


def test_a_procedure_that_does_not_tell_its_statistic():
    class Silent(LeastSquares):
        is_linear = False

        def fit_many(self, X, Y):
            return Fits(Y * 0.5)

    with pytest.raises(
        InvalidInputError, match="df_statistic='trace' but its fits do not provide it"
    ):
        degrees_of_freedom(Silent(), X, method="exact", n_rep=4)


def test_a_wrong_parameter_is_reported_as_such():
    with pytest.raises(InvalidInputError, match="lam"):
        degrees_of_freedom(Ridge(lam=-1.0), X, method="monte-carlo")


def test_nominal_df_needs_a_fitted_model():
    with pytest.raises(
        InvalidInputError, match=r"model=LeastSquares\(\) but it should be a fitted MARS model"
    ):
        nominal_df(LeastSquares())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correct_penalty((100, 0)), r"X=\(100, 0\) but it should be \(n, p\)"),
        (lambda: correct_penalty(GAP), r"X contains NaN: column 'x1', row 3"),
        (lambda: correct_penalty((20, 2), degree=0), r"degree=0"),
        (lambda: correct_penalty((20, 2), nk=0), r"nk=0"),
        (lambda: correct_penalty((20, 2), n_rep=1), r"n_rep=1"),
        (
            lambda: correct_penalty((20, 2), package="mars"),
            r"package='mars' but it should be 'earth' or 'mda'",
        ),
        (
            lambda: correct_penalty((20, 2), package="mda", engine="native"),
            r"engine='native' but it should be 'auto' or 'r' for mda",
        ),
        (lambda: self_consistency((20, 2), nk=[]), r"nk is empty"),
        (lambda: self_consistency((20, 2), nk=[3, 0]), r"nk=0"),
    ],
)
def test_bad_input_of_the_correction(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
