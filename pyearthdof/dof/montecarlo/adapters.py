"""Adapters: procedures from scikit-learn's regressors and from functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import get_tags

from ..._utils.checks import refusal
from ...contract import Fits, Rows, side_by_side
from ...exceptions import InvalidInputError
from ...procedures.scikit_learn import RegressorProcedure


def as_procedure(procedure: Any) -> Any:
    """Return an object with `fit_many`: the procedure itself, or a wrapper of a regressor or a function."""
    if inspect.isclass(procedure):
        name = procedure.__name__
        raise InvalidInputError(f"procedure={name} but it should be an instance, {name}()")
    if hasattr(procedure, "fit_many"):
        return procedure
    if has_method(procedure, "fit") and has_method(procedure, "predict"):
        if is_classifier(procedure):
            raise refusal("procedure", procedure, "a regressor; this is a classifier")
        return RegressorProcedure(procedure)
    if callable(procedure):
        return FunctionProcedure(procedure)
    right = "a procedure with fit_many, a scikit-learn regressor or a function (X, y) -> fitted"
    raise refusal("procedure", procedure, right)


def has_method(estimator: Any, name: str) -> bool:
    """Return True if an estimator has a method, possibly only once fitted, as stacking has `predict`."""
    return hasattr(estimator, name) or hasattr(type(estimator), name)


class FunctionProcedure:
    """A function (X, y) -> fitted, which only provides fitted values."""

    is_linear = is_equivariant = False
    df_statistic: str | None = None

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __repr__(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))

    def fitted_model(self, X: Rows, y: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(X, y), dtype=float)

    def fit_many(self, X: Rows, Y: np.ndarray) -> Fits:
        columns = [self.fitted_model(X, np.ascontiguousarray(y)) for y in Y.T]
        return Fits(fitted=side_by_side(columns, len(Y)))


def takes_missing(estimator: Any) -> bool:
    """Return True if the estimator handles missing values in X, such as an imputing pipeline."""
    if hasattr(estimator, "steps"):
        return True
    if hasattr(estimator, "estimator"):
        return takes_missing(estimator.estimator)
    if not isinstance(estimator, BaseEstimator):
        return False
    return bool(get_tags(estimator).input_tags.allow_nan)
