"""Turns whatever fits a curve into a procedure: something with `fit_many(X, Y) -> Fits`."""

from __future__ import annotations

import inspect
import zlib
from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import clone, is_classifier

from ..._checks import refusal
from ...contract import Fits
from ...exceptions import InvalidInputError

__all__ = ["as_procedure"]


def as_procedure(procedure):
    """Return an object with `fit_many`: the procedure itself, or a wrapper around it.

    Parameters
    ----------
    procedure : object with `fit_many`, scikit-learn regressor, or function (X, y) -> fitted

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.dof.run.adapters import as_procedure
    >>> mean = as_procedure(lambda X, y: np.full(len(y), y.mean()))
    >>> mean.fit_many(np.zeros((2, 1)), np.array([[1.0, 5.0], [3.0, 7.0]])).fitted
    array([[2., 6.],
           [2., 6.]])
    """
    if inspect.isclass(procedure):
        name = procedure.__name__
        raise InvalidInputError(f"procedure={name} but it should be an instance, {name}()")
    if hasattr(procedure, "fit_many"):
        return procedure
    if hasattr(procedure, "fit") and hasattr(procedure, "predict"):
        if is_classifier(procedure):
            raise refusal("procedure", procedure, "a regressor; this is a classifier")
        return RegressorProcedure(procedure)
    if callable(procedure):
        return FunctionProcedure(procedure)
    right = "a procedure with fit_many, a scikit-learn regressor or a function (X, y) -> fitted"
    raise refusal("procedure", procedure, right)


class _OneByOne(ABC):
    """A procedure that can fit one response at a time and tells only its fit."""

    is_linear = False
    is_equivariant = False
    df_statistic = None

    @abstractmethod
    def fit_one(self, X, y) -> np.ndarray:
        """Fitted values of one response."""

    def fit_many(self, X, Y) -> Fits:
        columns = [self.fit_one(X, np.ascontiguousarray(y)) for y in Y.T]
        lengths = {len(c) if c.ndim == 1 else c.shape for c in columns}
        if lengths != {len(Y)}:
            wrong = next(length for length in lengths if length != len(Y))
            raise ValueError(f"the fit has length {wrong}, but y has length {len(Y)}")
        return Fits(fitted=np.column_stack(columns))


class FunctionProcedure(_OneByOne):
    """A plain function (X, y) -> fitted."""

    def __init__(self, function):
        self.function = function

    def __repr__(self):
        return getattr(self.function, "__name__", repr(self.function))

    def fit_one(self, X, y):
        return np.asarray(self.function(X, y), dtype=float)


class RegressorProcedure(_OneByOne):
    """A scikit-learn regressor: cloned, fitted, and asked to predict its own rows.

    Set the attribute `is_equivariant = True` on the regressor to declare that it is.
    """

    def __init__(self, regressor):
        self.regressor = regressor
        self.is_equivariant = bool(getattr(regressor, "is_equivariant", False))

    def __repr__(self):
        return repr(self.regressor)

    def fit_one(self, X, y):
        regressor = clone(self.regressor, safe=False)
        _fix_random_state(regressor, y)
        return np.asarray(regressor.fit(X, y).predict(X), dtype=float)


def _fix_random_state(regressor, y) -> None:
    """Give every open `random_state` a seed made of y.

    An open one would take numpy's global numbers, and the result would depend on which worker
    fitted which repetition.
    """
    if not hasattr(regressor, "get_params"):
        return
    names = [
        name
        for name, value in regressor.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    if names:
        seed = zlib.crc32(y.tobytes()) % 2**31
        regressor.set_params(**dict.fromkeys(names, seed))
