"""Knowledge of scikit-learn's regressors: the structure of a fit, and the choices that a search made.

Most of scikit-learn's fitted regressors are S(y) y with a matrix that can be written down once the fit is
known: a tree averages over its leaves, the lasso is a weighted ridge on its columns, a pipeline is its last
step on the transformed X. Their trace is that of this matrix. A class is recognised by its name, without its
subclasses, which may fit otherwise.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import clone
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LassoLars,
    LogisticRegression,
    OrthogonalMatchingPursuit,
    Ridge,
)
from sklearn.metrics.pairwise import pairwise_kernels

from ..contract import Fits, Rows, collect, side_by_side

_MAX_MATRIX = 2000  # rows up to which an (n, n) matrix is made for each fit


@dataclass(frozen=True)
class Structure:
    """Knowledge about one fit; the fields are those of `Fits`, None where it is not known."""

    trace: float | None = None
    n_coef: float | None = None
    rank: int | None = None
    refitted: np.ndarray | None = None


UNKNOWN = Structure()


def structure_of(model: Any, X: Rows, y: np.ndarray) -> Structure:
    """The structure of a fitted regressor at the data that it was fitted to.

    A linear smoother may have been fitted to several responses at once.
    """
    rule = _STRUCTURES.get(_name(model))
    return UNKNOWN if rule is None else rule(model, X, y)


def is_linear_smoother(model: Any) -> bool:
    """Whether the fit of a regressor is S y with an S that does not depend on y, and known."""
    name = _name(model)
    if name == "Pipeline":
        return _transforms_blindly(model) and is_linear_smoother(model.steps[-1][1])
    if name in ("LinearRegression", "Ridge"):
        return not model.positive
    if name == "DummyRegressor":
        return model.strategy == "mean"
    return name in ("KernelRidge", "KNeighborsRegressor")


def df_statistic_of(model: Any) -> str | None:
    """The field whose mean is the df: the lasso's nonzeros, the levels of an isotonic fit."""
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
    """Whether a transformer learns nothing from y, so that it has nothing to choose by it."""
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
    """Whether all steps before the last are."""
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


def _neighbors(model: Any, X: Rows, y: np.ndarray) -> Structure:
    """A row's own weight among its neighbours; n/k neighbourhoods would not overlap."""
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
    """The mean of each level: a projection on as many columns as there are levels."""
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
    """The mean over trees of a row's own weight in its leaf, by how often the tree has drawn it."""
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
    """A rule that takes attributes of the fitted model, too."""
    return lambda model, X, y: rule(model, X, y, *(getattr(model, name) for name in names))


def _search(model: Any, X: Rows, y: np.ndarray) -> Structure:
    return structure_of(model.best_estimator_, X, y) if model.refit else UNKNOWN


_STRUCTURES: dict[str | None, Callable[..., Structure]] = {
    "BayesianRidge": lambda model, X, y: _ridge(model, X, y, model.lambda_ / model.alpha_),
    "DecisionTreeRegressor": _tree,
    "DummyRegressor": lambda model, X, y: (
        Structure(1.0, 1) if model.strategy == "mean" else UNKNOWN
    ),
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
    **dict.fromkeys(
        ("RFE", "RFECV"), lambda model, X, y: structure_of(model.estimator_, model.transform(X), y)
    ),
    **dict.fromkeys(
        ("GridSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV", "RandomizedSearchCV"),
        _search,
    ),
}


class RegressorProcedure:
    """A scikit-learn regressor: cloned, fitted, and asked to predict its own rows.

    Set the attribute `is_equivariant = True` on the regressor to declare that it is. Of scikit-learn's own
    regressors more is known, see `structure`.
    """

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor
        self.is_equivariant = bool(getattr(regressor, "is_equivariant", False))
        self.is_linear = is_linear_smoother(regressor)
        self.df_statistic = df_statistic_of(regressor)

    def __repr__(self) -> str:
        return repr(self.regressor)

    def fitted_model(self, X: Rows, y: np.ndarray) -> Any:
        """A clone of the regressor, fitted to y."""
        regressor = clone(self.regressor, safe=False)
        fix_random_state(regressor, y)
        return regressor.fit(X, y)

    def fit_many(self, X: Rows, Y: np.ndarray) -> Fits:
        if self.is_linear:  # these take many responses at once
            model = self.fitted_model(X, Y)
            known, fitted = structure_of(model, X, Y), np.reshape(model.predict(X), Y.shape)
            counts = {name: getattr(known, name) for name in _COUNTS}
            every = {k: None if v is None else np.full(Y.shape[1], v) for k, v in counts.items()}
            return Fits(fitted=fitted, refitted=known.refitted, **every)
        models = [self.fitted_model(X, np.ascontiguousarray(y)) for y in Y.T]
        fitted = side_by_side(
            [np.asarray(model.predict(X), dtype=float) for model in models], len(Y)
        )
        each = [structure_of(model, X, y) for model, y in zip(models, Y.T, strict=True)]
        every = {name: collect(each, name) for name in _COUNTS}
        return Fits(fitted=fitted, refitted=collect(each, "refitted", np.column_stack), **every)


_COUNTS = ("trace", "n_coef", "rank")


def fix_random_state(regressor: Any, y: np.ndarray) -> None:
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


_ENSEMBLES = ("Forest", "ExtraTrees", "Boosting", "Bagging", "AdaBoost")


def is_ensemble(model: Any) -> bool:
    """Whether a fit is a sum of trees, with more leaves than there are observations."""
    return any(part in type(model).__name__ for part in _ENSEMBLES)


_OWN = {
    "tree": "its splits",
    "forest": "its splits",
    "boosting": "its splits",
    "lasso": "its columns, and their shrinkage",
    "elasticnet": "its columns, and their shrinkage",
}


def own_choices(model: Any) -> str:
    """The choices that a fit makes of itself, beside those of searches and steps."""
    known = "its terms" if hasattr(model, "terms_") else "what y decides in the fit"
    kind = type(model).__name__.lower()
    return next((words for part, words in _OWN.items() if part in kind), known)


def search_held(model: Any) -> tuple[str, object] | None:
    """The choice of a fitted search in words, and an estimator that has it; None without a search."""
    rule = _SEARCHES.get(type(model).__name__)
    if rule is None or not type(model).__module__.startswith("sklearn."):
        return None
    return rule(model)


def _same(model: Any, kind: type, **found: Any) -> object:
    """Return an estimator of another kind with the shared parameters and the selected ones.

    `precompute` may be "auto" for a search alone, and changes no fit.
    """
    known, given = kind().get_params(), model.get_params(deep=False)
    shared = {name: given[name] for name in given.keys() & known.keys() if name != "precompute"}
    return kind(**(shared | found))


def _held(kind: type, **attributes: str) -> Callable:
    """The rule of a search: its parameters in words, and an estimator of another kind that has them."""

    def rule(model: Any) -> Any:
        found = {name: np.ravel(getattr(model, of))[0] for name, of in attributes.items()}
        found = {name: float(value) for name, value in found.items() if value is not None}
        words = ", ".join(f"{name} = {value:.4g}" for name, value in found.items())
        return f"{words}, by {type(model).__name__}", _same(model, kind, **found)

    return rule


def _pursuit(model: Any) -> Any:
    size = int(model.n_nonzero_coefs_)
    held = _same(model, OrthogonalMatchingPursuit, n_nonzero_coefs=size)
    return f"{size} columns, by {type(model).__name__}", held


def _best(model: Any) -> Any:
    words = ", ".join(f"{name} = {value}" for name, value in model.best_params_.items())
    return f"{words}, by {type(model).__name__}", clone(model.best_estimator_)


_SEARCHES: dict[str, Callable] = {
    "ElasticNetCV": _held(ElasticNet, alpha="alpha_", l1_ratio="l1_ratio_"),
    "GridSearchCV": _best,
    "HalvingGridSearchCV": _best,
    "HalvingRandomSearchCV": _best,
    "LassoCV": _held(Lasso, alpha="alpha_"),
    "LassoLarsCV": _held(LassoLars, alpha="alpha_"),
    "LassoLarsIC": _held(LassoLars, alpha="alpha_"),
    "LogisticRegressionCV": _held(LogisticRegression, C="C_", l1_ratio="l1_ratio_"),
    "OrthogonalMatchingPursuitCV": _pursuit,
    "RandomizedSearchCV": _best,
    "RidgeCV": _held(Ridge, alpha="alpha_"),
}
