"""Adapters: procedures from scikit-learn's regressors and from functions.

For most fitted scikit-learn regressors, the matrix of the fit S(y) y and its trace are known: a tree
averages over its leaves, the lasso is a weighted ridge regression on its columns, a pipeline is its last
step on the transformed X. Classes are recognised by name, without subclasses, which may fit differently.
"""

from __future__ import annotations

import inspect
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import get_tags

from ..._utils.checks import refusal
from ...contract import Fits, Rows
from ...exceptions import InvalidInputError

_MAX_MATRIX = 2000  # rows up to which an (n, n) matrix is made for each fit


@dataclass(frozen=True)
class Structure:
    """Known quantities of one fit, as in `Fits`; None if unknown."""

    trace: float | None = None
    n_coef: float | None = None
    rank: int | None = None
    refitted: np.ndarray | None = None


UNKNOWN = Structure()


def structure_of(model: Any, X: Rows, y: np.ndarray) -> Structure:
    """Return the structure of a fitted regressor at the data that it was fitted to.

    A linear smoother may have been fitted to several responses at once.
    """
    rule = _STRUCTURES.get(_name(model))
    return UNKNOWN if rule is None else rule(model, X, y)


def is_linear_smoother(model: Any) -> bool:
    """Return whether the fit of a regressor is S y with an S that does not depend on y, and known."""
    name = _name(model)
    if name == "Pipeline":
        return _transforms_blindly(model) and is_linear_smoother(model.steps[-1][1])
    if name in ("LinearRegression", "Ridge"):
        return not model.positive
    if name == "DummyRegressor":
        return model.strategy == "mean"
    return name in ("KernelRidge", "KNeighborsRegressor")


def df_statistic_of(model: Any) -> str | None:
    """Return the field whose mean is the df: the lasso's nonzeros, the levels of an isotonic fit."""
    name = _name(model)
    if name == "Pipeline":
        return df_statistic_of(model.steps[-1][1]) if _transforms_blindly(model) else None
    if is_linear_smoother(model):
        return "trace"
    if name in ("Lasso", "LassoLars", "IsotonicRegression"):
        bounded = getattr(model, "positive", False) or not _is_unbounded(model)
        return None if bounded else "n_coef"
    return None


def _is_unbounded(model: Any) -> bool:
    return getattr(model, "y_min", None) is None and getattr(model, "y_max", None) is None


def _name(model: Any) -> str | None:
    kind = type(model)
    return kind.__name__ if kind.__module__.startswith("sklearn.") else None


# Transformers that do not look at y, and draw no random numbers that would matter.
_BLIND = {
    "AdditiveChi2Sampler", "Binarizer", "FrozenEstimator", "FunctionTransformer", "KBinsDiscretizer",
    "KNNImputer", "MaxAbsScaler", "MinMaxScaler", "MissingIndicator", "Normalizer", "OneHotEncoder",
    "OrdinalEncoder", "PolynomialFeatures", "PowerTransformer", "RobustScaler", "SimpleImputer",
    "SplineTransformer",
    "StandardScaler", "VarianceThreshold",
}  # fmt: skip


def is_blind(step: Any) -> bool:
    """Return whether a transformer ignores y."""
    if step is None or isinstance(step, str):  # "passthrough", "drop"
        return True
    name = _name(step)
    if name == "Pipeline":
        return all(is_blind(part) for _, part in step.steps)
    if name == "ColumnTransformer":
        return all(is_blind(part) for _, part, _ in step.transformers)
    if name == "FeatureUnion":
        return all(is_blind(part) for _, part in step.transformer_list)
    if name == "PCA":  # "randomized" is an approximation that differs between fits
        return step.svd_solver != "randomized" or step.random_state is not None
    return name in _BLIND


def _transforms_blindly(pipeline: Any) -> bool:
    """Return whether all steps before the last ignore y."""
    return all(is_blind(step) for _, step in pipeline.steps[:-1])


def _dense(X: Rows) -> np.ndarray:
    X = X.toarray() if hasattr(X, "toarray") else X
    return np.asarray(X, dtype=float)


def _centred(model: Any, X: Rows) -> np.ndarray:
    X = _dense(X)
    return X - X.mean(axis=0) if model.fit_intercept else X


def _rank(X: Rows) -> int:
    return int(np.linalg.matrix_rank(X)) if X.size else 0


def _least_squares(model: Any, X: Rows, y: np.ndarray) -> Structure:
    """Least squares on all columns, or on the selected ones: a projection, whose trace is its rank."""
    ones, columns = int(model.fit_intercept), _centred(model, X)
    if getattr(model, "positive", True):  # an OrthogonalMatchingPursuit selects columns, too
        columns = columns[:, model.coef_ != 0]
    rank = _rank(columns) + ones
    return Structure(float(rank), columns.shape[1] + ones, rank, _refit(columns, y, ones))


def _refit(columns: np.ndarray, y: np.ndarray, ones: int) -> np.ndarray:
    centre = y.mean(axis=0) if ones else 0.0
    if columns.shape[1] == 0:
        return np.zeros_like(y) + centre
    return columns @ np.linalg.lstsq(columns, y - centre, rcond=None)[0] + centre


def _ridge(model: Any, X: Rows, y: np.ndarray, alpha: float) -> Structure:
    """tr S is the sum of d^2/(d^2 + alpha); an intercept adds one."""
    if getattr(model, "positive", False) or np.ndim(alpha):
        return UNKNOWN
    ones, columns = int(model.fit_intercept), _centred(model, X)
    rank = _rank(columns) + ones
    trace = float(rank) if alpha == 0 else _ridge_trace(columns, alpha) + ones
    return Structure(trace, columns.shape[1] + ones, rank, _refit(columns, y, ones))


def _ridge_trace(columns: np.ndarray, penalty: float) -> float:
    d2 = np.linalg.svd(columns, compute_uv=False) ** 2 if columns.size else np.zeros(0)
    return float((d2 / (d2 + penalty)).sum())


def _lasso(model: Any, X: Rows, y: np.ndarray, alpha: float, l1_ratio: float = 1.0) -> Structure:
    """S(y) of Theorem 1: ridge on the columns with coefficients b, penalty n alpha/|b_j| for each.

    The elastic net adds n alpha (1 - l1_ratio) to it.
    """
    ones, columns = int(model.fit_intercept), _centred(model, X)
    chosen = model.coef_ != 0
    active, rank = columns[:, chosen], _rank(columns[:, chosen])
    penalty = len(columns) * alpha * (l1_ratio / np.abs(model.coef_[chosen]) + 1 - l1_ratio)
    trace = rank if alpha == 0 else _ridge_trace(active / np.sqrt(penalty), 1.0)
    return Structure(
        trace=float(trace) + ones,
        n_coef=int(chosen.sum()) + ones,
        rank=rank + ones,
        refitted=_refit(active, y, ones),
    )


def _dummy(model: Any, X: Rows, y: np.ndarray) -> Structure:
    return Structure(1.0, 1) if model.strategy == "mean" else UNKNOWN


def _neighbors(model: Any, X: Rows, y: np.ndarray) -> Structure:
    """Return the weight of each row among its own neighbours; the count is n/k."""
    n, k = len(y), model.n_neighbors
    distance, neighbour = model.kneighbors(X)
    if model.weights == "uniform":
        weight = np.full(distance.shape, 1.0)
    elif model.weights == "distance":
        same = distance == 0
        weight = np.where(same.any(axis=1, keepdims=True), same, 1 / np.where(same, 1.0, distance))
    else:
        weight = np.asarray(model.weights(distance), dtype=float)
    share = weight / weight.sum(axis=1, keepdims=True)
    return Structure(float(share[neighbour == np.arange(n)[:, None]].sum()), n / k)


def _kernel_ridge(model: Any, X: Rows, y: np.ndarray) -> Structure:
    """tr K (K + alpha I)^-1."""
    if np.ndim(model.alpha) or len(y) > _MAX_MATRIX or model.kernel == "precomputed":
        return UNKNOWN
    given = {name: getattr(model, name) for name in ("gamma", "degree", "coef0")}
    if callable(model.kernel):
        K = pairwise_kernels(model.X_fit_, metric=model.kernel, **(model.kernel_params or {}))
    else:
        K = pairwise_kernels(model.X_fit_, metric=model.kernel, filter_params=True, **given)
    d = np.clip(np.linalg.eigvalsh(K), 0.0, None)
    trace = float((d / (d + model.alpha)).sum())
    return Structure(trace, trace)


def _gaussian_process(model: Any, X: Rows, y: np.ndarray) -> Structure:
    """tr K* (K + alpha I)^-1 with the kernel that the fit chose; centring y adds its mean."""
    if len(y) > _MAX_MATRIX:
        return UNKNOWN
    X = model.X_train_
    K = model.kernel_(X) + np.diag(np.broadcast_to(model.alpha, len(X)))
    S = cho_solve(cho_factor(K, lower=True), model.kernel_(X, X).T).T
    trace = float(np.trace(S))
    if model.normalize_y:  # S (I - 11'/n) + 11'/n
        trace += 1.0 - float(S.sum()) / len(X)
    return Structure(trace, trace)


def _isotonic(model: Any, X: Rows, y: np.ndarray) -> Structure:
    """Return the mean of each level: a projection on as many columns as there are levels."""
    if not _is_unbounded(model):
        return UNKNOWN
    levels = len(np.unique(model.predict(np.ravel(_dense(X)))))
    return Structure(float(levels), levels)


def _tree(model: Any, X: Rows, y: np.ndarray) -> Structure:
    """Means of the leaves: tr S(y) is their number."""
    if model.criterion == "absolute_error" or model.monotonic_cst is not None:
        return UNKNOWN
    return Structure(float(model.get_n_leaves()), int(model.get_n_leaves()))


def _forest(model: Any, X: Rows, y: np.ndarray) -> Structure:
    """Return the mean over trees of the weight of a row in its own leaf, given its bootstrap counts."""
    if model.criterion == "absolute_error" or model.monotonic_cst is not None:
        return UNKNOWN
    n, trace = len(y), 0.0
    for leaf, rows in zip(model.apply(X).T, model.estimators_samples_, strict=True):
        drawn = np.bincount(rows, minlength=n).astype(float)
        total = np.bincount(leaf, weights=drawn)
        trace += float((drawn / total[leaf]).sum())
    leaves = sum(tree.get_n_leaves() for tree in model.estimators_)
    return Structure(trace / len(model.estimators_), leaves)


def _boosting(model: Any, X: Rows, y: np.ndarray) -> Structure:
    """S_m = S_{m-1} + rate P_m (I - S_{m-1}) from S_0 = 11'/n, P_m the means of tree m's leaves."""
    n = len(y)
    whole = model.subsample == 1.0 and model.n_iter_no_change is None
    if not whole or model.loss != "squared_error" or model.init is not None or n > _MAX_MATRIX:
        return UNKNOWN
    rest = np.eye(n) - 1 / n  # I - S_m
    leaves = model.apply(X).astype(int)
    for leaf in leaves.T:
        _, place = np.unique(leaf, return_inverse=True)
        sums = np.zeros((place.max() + 1, n))
        np.add.at(sums, place, rest)
        rest = rest - model.learning_rate * (sums / np.bincount(place)[:, None])[place]
    n_coef = 1 + sum(len(np.unique(leaf)) for leaf in leaves.T)
    return Structure(n - float(np.trace(rest)), n_coef)


def _pipeline(model: Any, X: Rows, y: np.ndarray) -> Structure:
    transformed = X
    for _, step in model.steps[:-1]:
        if step is not None and not isinstance(step, str):
            transformed = step.transform(transformed)
    return structure_of(model.steps[-1][1], transformed, y)


def _with(rule: Callable[..., Structure], *names: str) -> Callable[..., Structure]:
    """Return a rule that takes attributes of the fitted model, too."""
    return lambda model, X, y: rule(model, X, y, *(getattr(model, name) for name in names))


def _search(model: Any, X: Rows, y: np.ndarray) -> Structure:
    return structure_of(model.best_estimator_, X, y) if model.refit else UNKNOWN


def _eliminated(model: Any, X: Rows, y: np.ndarray) -> Structure:
    return structure_of(model.estimator_, model.transform(X), y)


_STRUCTURES: dict[str | None, Callable[..., Structure]] = {
    "BayesianRidge": lambda model, X, y: _ridge(model, X, y, model.lambda_ / model.alpha_),
    "DecisionTreeRegressor": _tree,
    "DummyRegressor": _dummy,
    "ElasticNet": _with(_lasso, "alpha", "l1_ratio"),
    "ElasticNetCV": _with(_lasso, "alpha_", "l1_ratio_"),
    "ExtraTreeRegressor": _tree,
    "ExtraTreesRegressor": _forest,
    "GaussianProcessRegressor": _gaussian_process,
    "GradientBoostingRegressor": _boosting,
    "IsotonicRegression": _isotonic,
    "KNeighborsRegressor": _neighbors,
    "KernelRidge": _kernel_ridge,
    "LinearRegression": _least_squares,
    "OrthogonalMatchingPursuit": _least_squares,
    "OrthogonalMatchingPursuitCV": _least_squares,
    "Pipeline": _pipeline,
    "RandomForestRegressor": _forest,
    "Ridge": _with(_ridge, "alpha"),
    "RidgeCV": _with(_ridge, "alpha_"),
    **dict.fromkeys(("Lasso", "LassoLars"), _with(_lasso, "alpha")),
    **dict.fromkeys(("LassoCV", "LassoLarsCV", "LassoLarsIC"), _with(_lasso, "alpha_")),
    **dict.fromkeys(("RFE", "RFECV"), _eliminated),
    **dict.fromkeys(
        ("GridSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV", "RandomizedSearchCV"),
        _search,
    ),
}


def as_procedure(procedure: Any) -> Any:
    """An object with `fit_many`: the procedure itself, or a wrapper around a regressor or a function."""
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
    """Return whether an estimator has a method, if only after its fit, as stacking has `predict`."""
    return hasattr(estimator, name) or hasattr(type(estimator), name)


class _OneByOne(ABC):
    """Procedure that fits one response at a time and provides only the fit."""

    is_linear = False
    is_equivariant = False
    df_statistic: str | None = None

    @abstractmethod
    def fit_one(self, X: Rows, y: np.ndarray) -> np.ndarray:
        """Fitted values of one response."""

    def fit_many(self, X: Rows, Y: np.ndarray) -> Fits:
        columns = [self.fit_one(X, np.ascontiguousarray(y)) for y in Y.T]
        return Fits(fitted=_columns(columns, len(Y)))


def _columns(columns: list[np.ndarray], n: int) -> np.ndarray:
    """Stack the fits as columns, each of length n."""
    lengths = {len(c) if c.ndim == 1 else c.shape for c in columns}
    if lengths != {n}:
        wrong = next(length for length in lengths if length != n)
        raise ValueError(f"the fit has length {wrong}, but y has length {n}")
    return np.column_stack(columns)


class FunctionProcedure(_OneByOne):
    """A plain function (X, y) -> fitted."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __repr__(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))

    def fit_one(self, X: Rows, y: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(X, y), dtype=float)


class RegressorProcedure(_OneByOne):
    """Procedure that clones and fits a scikit-learn regressor, and predicts its training rows.

    Set the attribute `is_equivariant = True` on the regressor to declare equivariance. For scikit-learn's own
    regressors, see also `structure_of`.
    """

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor
        self.is_equivariant = bool(getattr(regressor, "is_equivariant", False))
        self.is_linear = is_linear_smoother(regressor)
        self.df_statistic = df_statistic_of(regressor)

    def __repr__(self) -> str:
        return repr(self.regressor)

    def fitted_model(self, X: Rows, y: np.ndarray) -> Any:
        """Return a clone of the regressor, fitted to y."""
        regressor = clone(self.regressor, safe=False)
        fix_random_state(regressor, y)
        return regressor.fit(X, y)

    def fit_one(self, X: Rows, y: np.ndarray) -> np.ndarray:
        return np.asarray(self.fitted_model(X, y).predict(X), dtype=float)

    def fit_many(self, X: Rows, Y: np.ndarray) -> Fits:
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


def _repeat(value: Any, m: int) -> Any:
    return None if value is None else np.full(m, value)


def _collect(known: Any, name: str, combine: Callable[..., np.ndarray]) -> np.ndarray | None:
    values = [getattr(one, name) for one in known]
    return None if any(value is None for value in values) else combine(values)


def takes_missing(estimator: Any) -> bool:
    """Return whether the estimator handles missing values in X, such as an imputing pipeline."""
    if hasattr(estimator, "steps"):
        return True
    if hasattr(estimator, "estimator"):
        return takes_missing(estimator.estimator)
    if not isinstance(estimator, BaseEstimator):
        return False
    return bool(get_tags(estimator).input_tags.allow_nan)


def fix_random_state(regressor: Any, y: np.ndarray) -> None:
    """Set every `random_state` of None to a seed derived from y.

    Otherwise results would depend on which worker fits which repetition.
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
