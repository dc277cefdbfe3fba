"""The search that Algorithm 2 measures: whose MARS, with which options, on which design."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from ..._utils.checks import check_count, check_design, is_shape, refusal
from ...mars.base import search_options
from ...mars.classifier import EarthClassifier
from ...mars.data.columns import Columns
from ...mars.data.design import check_design as check_predictors
from ...mars.data.design import default_names
from ...mars.earth import Earth
from ...mars.mda import Mars
from ...mars.model.mars_model import MarsModel
from ...mars.options import OPTIONS, default_nk
from ..consistency.mars import unpruned_mars

__all__ = ["MarsSearch", "mars_search"]

_DEFAULTS = {option.name: option.default for option in OPTIONS} | {"linpreds": ()}


@dataclass(frozen=True)
class MarsSearch:
    """A forward pass and the design that it is measured on.

    Attributes
    ----------
    procedure : Earth or Mars
        Without threshold and without pruning.
    design : (n, p) array, DataFrame of numbers, or tuple (n, p)
    names : column names for a design that is drawn, or None
    p : number of predictors, factors expanded
    package : "earth" or "mda"
    options : what differs from the package's defaults, apart from degree and nk, as plain values
    """

    procedure: Earth | Mars
    design: tuple[int, int] | np.ndarray | pd.DataFrame
    names: tuple[str, ...] | None
    p: int
    package: str
    options: dict


@dataclass(frozen=True)
class _Predictors:
    """What is known of the predictors: the design, names with factors expanded, where they come from."""

    design: tuple[int, int] | np.ndarray | pd.DataFrame
    p: int
    names: tuple[str, ...]
    columns: Columns | None = None


def mars_search(design, estimator, gaussian: bool, given: dict) -> MarsSearch:
    """Put together what is measured; `given` has degree, nk, engine and package, None where left out."""
    model = getattr(design, "model_", design)
    if isinstance(model, MarsModel):
        predictors = _of_model(model)
        if estimator is None and isinstance(design, BaseEstimator):
            estimator = design
    elif isinstance(design, BaseEstimator):
        raise refusal("design", design, "fitted first")
    else:
        model, predictors = None, _of_data(design, gaussian)
    package = _package(estimator, given["package"])
    degree = _first(given["degree"], estimator, model, "degree", 1)
    nk = _first(given["nk"], estimator, model, "nk", _default_nk(package, predictors.p))
    engine = _first(given["engine"], estimator, None, "engine", "auto")
    options = {}
    if isinstance(estimator, (Earth, EarthClassifier)):
        options = search_options(estimator, predictors.names, predictors.columns)
    procedure = unpruned_mars(
        package,
        check_count("degree", degree, 1),
        check_count("nk", nk, 1),
        engine,
        **{name: value for name, value in options.items() if name not in ("degree", "nk")},
    )
    return MarsSearch(
        procedure,
        predictors.design,
        None if predictors.names == default_names(predictors.p) else predictors.names,
        predictors.p,
        package,
        {name: _plain(value) for name, value in options.items() if _counts(name, value)},
    )


def _of_model(model: MarsModel) -> _Predictors:
    names = tuple(model.feature_names)
    return _Predictors((model.n_samples, len(names)), len(names), names, model.columns)


def _of_data(design, gaussian: bool) -> _Predictors:
    design = check_design(design, "design")
    if is_shape(design):
        return _Predictors(design, design[1], default_names(design[1]))
    found = check_predictors(Earth(), design)
    n, p = found.values.shape
    if gaussian:
        return _Predictors((n, p), p, found.names, found.columns)
    if found.columns is not None:
        design = pd.DataFrame(found.values, columns=list(found.names))
    return _Predictors(design, p, found.names, found.columns)


def _package(estimator, package) -> str:
    if estimator is None:
        return "earth" if package is None else package
    if not isinstance(estimator, (Earth, EarthClassifier, Mars)):
        raise refusal("estimator", estimator, "an Earth, an EarthClassifier or a Mars")
    own = "mda" if isinstance(estimator, Mars) else "earth"
    if package not in (None, own):
        raise refusal("package", package, f"None or {own!r}, that of the estimator")
    return own


def _default_nk(package: str, p: int) -> int:
    return max(21, 2 * p + 1) if package == "mda" else default_nk(p)


def _first(given, estimator, model, name, default):
    """The first that is not None: what was asked for, the estimator's, the model's, the default."""
    values = (given, getattr(estimator, name, None), getattr(model, name, None), default)
    return next(value for value in values if value is not None)


def _counts(name: str, value) -> bool:
    return name not in ("degree", "nk") and value != _DEFAULTS[name]


def _plain(value):
    """A value that JSON can hold."""
    if isinstance(value, tuple):
        return list(value)
    return getattr(value, "__name__", repr(value)) if callable(value) else value
