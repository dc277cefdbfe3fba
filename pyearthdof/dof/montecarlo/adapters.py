"""Turns whatever fits a curve into a procedure: something with `fit_many(X, Y) -> Fits`."""

from __future__ import annotations

import inspect
import zlib
from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import get_tags

from ..._utils.checks import refusal
from ...contract import Fits
from ...exceptions import InvalidInputError
from ..pipeline.structure import df_statistic_of, is_linear_smoother, structure_of

__all__ = ["RegressorProcedure", "as_procedure", "fix_random_state", "takes_missing"]


def as_procedure(procedure):
    """Return an object with `fit_many`: the procedure itself, or a wrapper around it.

    Parameters
    ----------
    procedure : object with `fit_many`, scikit-learn regressor, or function (X, y) -> fitted

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.dof.montecarlo.adapters import as_procedure
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
    df_statistic: str | None = None

    @abstractmethod
    def fit_one(self, X, y) -> np.ndarray:
        """Fitted values of one response."""

    def fit_many(self, X, Y) -> Fits:
        columns = [self.fit_one(X, np.ascontiguousarray(y)) for y in Y.T]
        return Fits(fitted=_columns(columns, len(Y)))


def _columns(columns, n: int) -> np.ndarray:
    """The fits side by side, each of length n."""
    lengths = {len(c) if c.ndim == 1 else c.shape for c in columns}
    if lengths != {n}:
        wrong = next(length for length in lengths if length != n)
        raise ValueError(f"the fit has length {wrong}, but y has length {n}")
    return np.column_stack(columns)


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

    Set the attribute `is_equivariant = True` on the regressor to declare that it is. Of scikit-learn's own
    regressors more is known, see `structure`.
    """

    def __init__(self, regressor):
        self.regressor = regressor
        self.is_equivariant = bool(getattr(regressor, "is_equivariant", False))
        self.is_linear = is_linear_smoother(regressor)
        self.df_statistic = df_statistic_of(regressor)

    def __repr__(self):
        return repr(self.regressor)

    def fitted_model(self, X, y):
        """A clone of the regressor, fitted to y."""
        regressor = clone(self.regressor, safe=False)
        fix_random_state(regressor, y)
        return regressor.fit(X, y)

    def fit_one(self, X, y):
        return np.asarray(self.fitted_model(X, y).predict(X), dtype=float)

    def fit_many(self, X, Y) -> Fits:
        if self.is_linear:  # these take many responses at once
            model = self.fitted_model(X, Y)
            known, fitted = structure_of(model, X, Y), np.reshape(model.predict(X), Y.shape)
            every = {name: _repeat(getattr(known, name), Y.shape[1]) for name in _COUNTS}
            return Fits(fitted=fitted, refitted=known.refitted, **every)
        models = [self.fitted_model(X, np.ascontiguousarray(y)) for y in Y.T]
        fitted = _columns([np.asarray(model.predict(X), dtype=float) for model in models], len(Y))
        each = [structure_of(model, X, y) for model, y in zip(models, Y.T, strict=True)]
        every = {name: _collect(each, name, np.array) for name in _COUNTS}
        return Fits(fitted=fitted, refitted=_collect(each, "refitted", np.column_stack), **every)


_COUNTS = ("trace", "n_coef", "rank")


def _repeat(value, m: int):
    return None if value is None else np.full(m, value)


def _collect(known, name: str, combine):
    values = [getattr(one, name) for one in known]
    return None if any(value is None for value in values) else combine(values)


def takes_missing(estimator) -> bool:
    """Whether missing values in X are the estimator's own concern, as where a pipeline fills them."""
    if hasattr(estimator, "steps"):
        return True
    if hasattr(estimator, "estimator"):
        return takes_missing(estimator.estimator)
    if not isinstance(estimator, BaseEstimator):
        return False
    return bool(get_tags(estimator).input_tags.allow_nan)


def fix_random_state(regressor, y) -> None:
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
