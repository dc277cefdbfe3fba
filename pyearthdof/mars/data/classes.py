"""Classes of a classifier: validation, order and names in R."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..._utils.checks import as_pandas, check_positive, refusal
from ...exceptions import InvalidInputError
from .columns import check_kind, check_masked, is_missing, level_text

ORDERS = ("sorted", "levels")

ALLOWED = "classes should be texts, whole numbers, truth values or numpy's dates, all of one kind"


def learn_classes(y: Any, n_samples: int, order: Any = "sorted") -> tuple[np.ndarray, np.ndarray]:
    """Return the ordered classes, and the position of the class of each row.

    `order` is "sorted", "levels" (those of a categorical, otherwise sorted), or the classes themselves.
    """
    y = as_pandas(y, "y")
    wanted = _wanted(y, order)
    if y is None:
        raise InvalidInputError("requires y to be passed, but the target y is None")
    y = class_vector(y)
    if len(y) != n_samples:
        raise InvalidInputError(
            f"y has {len(y)} rows but X has {n_samples}: inconsistent numbers of samples"
        )
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    names = class_names(classes)
    for name, k in {name: names.count(name) for name in names}.items():
        if k > 1:
            raise InvalidInputError(f"y holds {k} classes that R would both call {name!r}")
    return (classes, codes) if wanted is None else _ordered(classes, codes, wanted, order)


def class_vector(y: Any) -> np.ndarray:
    """Return the classes of the rows as a vector of one kind; objects that are numbers are converted."""
    y = _vector(y)
    if y.dtype.kind in "OS":
        return _of_one_kind(y)
    if y.dtype.kind in "mM" and np.isnat(y).any():
        _refuse_missing(np.isnat(y))
    return y


def _wanted(y: Any, order: Any) -> list | None:
    """Return the classes in the requested order; None for sorted."""
    if isinstance(order, str):
        if order not in ORDERS:
            raise refusal("class_order", order, f"one of {', '.join(ORDERS)}, or the classes")
        dtype = getattr(y, "dtype", None)
        if order == "levels" and isinstance(dtype, pd.CategoricalDtype):
            return list(dtype.categories)
        return None
    try:
        return list(order)
    except TypeError:
        raise refusal("class_order", order, f"one of {', '.join(ORDERS)}, or the classes") from None


def _ordered(
    classes: np.ndarray, codes: np.ndarray, wanted: list, order: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Reorder sorted classes; classes without rows are dropped."""
    known = classes.tolist()
    places = [known.index(value) for value in wanted if value in known]
    if sorted(places) != list(range(len(known))):
        missing = [value for value in known if value not in wanted]
        said = f"it lacks {missing[0]!r}, which y holds" if missing else "it holds a class twice"
        raise InvalidInputError(f"class_order={order!r} but {said}: name each class once")
    rank = np.empty(len(places), dtype=int)
    rank[places] = np.arange(len(places))
    return classes[places], rank[codes]


def class_weights(
    class_weight: Any,
    classes: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray | None,
    rows: np.ndarray | None,
) -> np.ndarray | None:
    """Case weights multiplied by those of the classes, as in scikit-learn.

    "balanced" is based on the rows of the fit, with their case weights.

    >>> class_weights("balanced", np.array(["a", "b"]), np.array([0, 0, 0, 1]), None, None)
    array([0.66666667, 0.66666667, 0.66666667, 2.        ])
    """
    if class_weight is None:
        return weights
    if isinstance(class_weight, Mapping):
        named = {
            level_text(key): check_positive(f"class_weight[{key!r}]", weight)
            for key, weight in class_weight.items()
        }
        names = class_names(classes)
        unknown = [name for name in named if name not in names]
        if unknown:
            raise InvalidInputError(
                f"class_weight names the class {unknown[0]!r} but y has {', '.join(map(repr, names))}"
            )
        factors = np.array([named.get(name, 1.0) for name in names])
    elif isinstance(class_weight, str) and class_weight == "balanced":
        used = np.arange(len(codes)) if rows is None else rows
        own = None if weights is None else weights[used]
        totals = np.bincount(codes[used], own, minlength=len(classes))
        factors = totals.sum() / (len(classes) * totals)
    else:
        raise refusal("class_weight", class_weight, "None, 'balanced' or a dict of weights")
    return factors[codes] if weights is None else factors[codes] * weights


def check_threshold(threshold: Any) -> None:
    """Reject a threshold that is not a probability."""
    is_number = isinstance(threshold, numbers.Real) and not isinstance(threshold, bool)
    if not is_number or not 0 <= threshold <= 1:
        raise refusal("threshold", threshold, "a number from 0 to 1")


def _vector(y: Any) -> np.ndarray:
    check_masked("y", y)
    if getattr(getattr(y, "dtype", None), "kind", "O") in "cV":
        check_kind("y", y)
    if isinstance(y, (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)):
        y = pd.Series(y)
        if y.isna().any():
            _refuse_missing(y.isna().to_numpy())
        return y.to_numpy()
    if isinstance(y, (list, tuple)) and not any(
        isinstance(v, (list, tuple, np.ndarray)) for v in y
    ):
        found = np.empty(len(y), dtype=object)
        found[:] = y  # numpy would convert numbers next to strings to strings
        found = _of_one_kind(found)
        return np.array(y) if all(isinstance(v, str) and "\0" not in v for v in y) else found
    return column_or_1d(y, warn=True)


def _of_one_kind(y: np.ndarray) -> np.ndarray:
    """Convert objects that are numbers or booleans; strings remain objects."""
    values = y.tolist()
    missing = np.array([is_missing(v) for v in values], dtype=bool)
    if missing.any():
        _refuse_missing(missing)
    kinds = {_kind(v): v for v in values}
    if None in kinds:
        raise InvalidInputError(f"y holds {kinds[None]!r:.60} but {ALLOWED}")
    if len(kinds) > 1:
        first, second, *_ = kinds.values()
        raise InvalidInputError(f"y holds {first!r:.40} and {second!r:.40} but {ALLOWED}")
    if str in kinds:
        return np.array(values, dtype=object)
    found = np.array(values)
    if found.dtype.kind == "O":  # integers too large for numpy
        raise InvalidInputError(f"y holds {max(values, key=abs)} but a class should be below 2**63")
    return found


def _kind(value: Any) -> type | None:
    if isinstance(value, str):
        return str
    if isinstance(value, (bool, np.bool_)):
        return bool
    return float if isinstance(value, (numbers.Integral, float, np.floating)) else None


def _refuse_missing(missing: np.ndarray) -> None:
    row = int(np.flatnonzero(missing)[0])
    raise InvalidInputError(f"Input y contains NaN: the class of row {row} is missing")


def class_names(classes: np.ndarray) -> tuple[str, ...]:
    """Names of the classes in R."""
    if classes.dtype.kind in "mM":
        return tuple(str(c) for c in classes)
    return tuple(level_text(c) for c in classes.tolist())


def check_classes(classes: np.ndarray, codes: np.ndarray, where: str = "y holds") -> None:
    """Reject data with a single class."""
    if len(set(codes.tolist())) < 2:
        only = classes[codes[0]] if len(codes) else None
        only = only.item() if isinstance(only, np.generic) else only
        raise InvalidInputError(
            f"{where} one class only, {only!r}, but a classifier needs two or more"
        )


def indicator_columns(codes: np.ndarray, n_levels: int) -> np.ndarray:
    """Return the codes for two levels, otherwise one column of 0 and 1 per level."""
    if n_levels == 2:
        return codes.astype(float)
    return (codes[:, None] == np.arange(n_levels)).astype(float)


def indicator_names(levels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the second of two levels, otherwise all levels.

    earth removes the prefix x added by R, unless all names continue with a dot.
    """
    if len(levels) == 2:
        return levels[1:]
    if all(level.startswith(".") for level in levels):
        return tuple("x" + level for level in levels)
    return tuple(level[:60] for level in levels)
