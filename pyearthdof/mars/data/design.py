"""Validation of data for MARS, with errors that name the column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar

import numpy as np
import pandas as pd
from sklearn.utils.validation import _check_y, validate_data

from ..._utils.checks import as_pandas, check_choice
from ..._utils.warnings import warn_user
from ...exceptions import ColumnWarning, InvalidInputError
from .classes import indicator_columns, indicator_names
from .columns import (
    Column,
    Columns,
    check_finite,
    check_kind,
    column_names,
    frame_of_mapping,
    numbers_of_series,
    quoted_name,
    without_na,
)

MISSING = ("raise", "indicator")
LARGEST_Y = 1e150  # larger values have infinite squares, for which earth may loop forever


@dataclass(frozen=True, eq=False)
class Design:
    """Predictors as numbers."""

    values: np.ndarray  # doubles, factors expanded
    names: tuple[str, ...]
    columns: Columns | None = None  # expansion of raw columns; None if all are numeric
    raw: dict[str, np.ndarray] | None = None  # see `Columns.values`

    def rows(self, subset: np.ndarray) -> Design:
        """Return the design of a subset of the rows."""
        raw = None if self.raw is None else {name: v[subset] for name, v in self.raw.items()}
        return Design(self.values[subset], self.names, self.columns, raw)


@dataclass(frozen=True, eq=False)
class Responses:
    """Responses of a fit: (n,) for one response, (n, m) for several, and their names.

    `classes`, if set, contains the levels of the factor that the responses indicate.
    """

    values: np.ndarray
    names: tuple[str, ...]
    classes: tuple[str, ...] | None = None

    @property
    def matrix(self) -> np.ndarray:
        """Responses as an (n, m) matrix."""
        return self.values.reshape(len(self.values), -1)

    @property
    def codes(self) -> np.ndarray:
        """Positions in `classes`; for two classes, the response is the indicator of the second."""
        one = self.values.ndim == 1
        return self.values.astype(int) if one else self.values.argmax(axis=1)

    def rows(self, subset: np.ndarray) -> Responses:
        """Return the responses of a subset of the rows."""
        return Responses(self.values[subset], self.names, self.classes)


def check_training_data(estimator: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return numeric X and one response as float64 arrays; sets the attributes of scikit-learn."""
    design = check_design(estimator, X)
    if design.columns is not None:
        name = next(c.name for c in design.columns.columns if c.kind != "number")
        raise InvalidInputError(f"column {name!r} of X should contain numbers")
    responses = check_responses(estimator, y, len(design.values))
    if responses.values.ndim != 1:
        raise InvalidInputError(f"y has shape {responses.values.shape} but it should be one column")
    return design.values, responses.values


def check_design(estimator: Any, X: Any) -> Design:
    """Return the predictors as numbers; sets `n_features_in_` and `feature_names_in_`.

    As in scikit-learn, column names that are not strings are ignored.
    """
    missing = check_choice("missing", getattr(estimator, "missing", "raise"), MISSING)
    X, indicators = as_pandas(X), missing == "indicator"
    if is_plain(X, ndim=2) and len(X) >= 2 and X.shape[1] >= 1:
        estimator.n_features_in_ = X.shape[1]
        if hasattr(estimator, "feature_names_in_"):  # from an earlier fit
            del estimator.feature_names_in_
        return _matrix_design(X, default_names(X.shape[1]), indicators)
    X = _all_named(X)
    if isinstance(X, pd.DataFrame):
        frame = _renamed(X, check_names(column_names("X", X) or default_names(X.shape[1])))
        columns = Columns.learn(frame, indicators=indicators)
        if not columns.is_numeric:
            return _check_factors(estimator, X, columns)
    else:
        check_kind("X", X)
    X = _floats(estimator, X, ensure_min_samples=2)
    names = getattr(estimator, "feature_names_in_", default_names(X.shape[1]))
    return _matrix_design(X, check_names(names), indicators)


def _matrix_design(X: np.ndarray, names: tuple[str, ...], indicators: bool) -> Design:
    """Design of a numeric matrix, optionally with indicators of missing values."""
    if np.isfinite(X).all():
        return Design(X, names)
    check_finite(X, names, gaps=indicators)
    frame = pd.DataFrame(X, columns=list(names))
    columns = Columns.learn(frame, indicators=True)
    return Design(
        columns.expand(frame), check_names(columns.feature_names), columns, columns.values(frame)
    )


def _floats(estimator: Any, X: Any, **options: Any) -> np.ndarray:
    """Validate a numeric matrix with scikit-learn."""
    X = without_na(X)
    try:
        return validate_data(estimator, X, dtype=np.float64, ensure_all_finite=False, **options)
    except ValueError as error:
        if not _is_text_error(error):
            raise
        raise InvalidInputError(
            f"X is a {type(X).__name__} with texts ({error}) but it should contain numbers, or be a "
            "DataFrame, whose columns of texts are factors"
        ) from None


def _is_text_error(error: ValueError) -> bool:
    return str(error).startswith("could not convert string to float")


def is_plain(values: Any, ndim: int) -> TypeGuard[np.ndarray]:
    """Return True if no conversion is needed; scikit-learn takes 0.1 ms for this check."""
    return type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == ndim


def _all_named(X: Any) -> Any:
    """Return a pandas frame with earth's names x1, x2, ... in place of empty ones."""
    if not isinstance(X, pd.DataFrame) or not any(label == "" for label in X.columns):
        return X
    column_names("X", X)
    return X.set_axis(list(check_names(X.columns)), axis=1)


def _renamed(X: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    return X.set_axis(pd.Index(names, dtype=object), axis=1)  # any string is a valid name


def _check_factors(estimator: Any, X: pd.DataFrame, columns: Columns) -> Design:
    if len(X) < 2:
        raise InvalidInputError(f"X has {len(X)} row(s) but a minimum of 2 is required")
    validate_data(estimator, X, skip_check_array=True)
    X = _renamed(X, columns.names)
    warn_of_columns(X, columns.columns)
    names = check_names(columns.feature_names)
    return Design(columns.expand(X), names, columns, columns.values(X))


def check_responses(estimator: Any, y: Any, n_samples: int, *, factors: bool = False) -> Responses:
    """Return the responses, (n,) or (n, m), by default with R's names y or y1, y2, ....

    With `factors`, pandas categories and string columns of a frame are expanded to indicators as in R.
    """
    if y is None:
        raise InvalidInputError(
            "requires y to be passed, but the target y is None: pass one number for each row of X"
        )
    y = as_pandas(y, "y")
    if factors and _has_categories(y):
        return _check_factor_responses(estimator, y, n_samples)
    names = _response_names(y)
    values = y if is_plain(y, ndim=1) and np.isfinite(y).all() else _converted(estimator, y)
    if len(values) != n_samples:
        raise InvalidInputError(
            f"y has {len(values)} rows but X has {n_samples}: inconsistent numbers of samples"
        )
    if np.abs(values).max(initial=0.0) > LARGEST_Y:
        raise InvalidInputError(
            f"y holds {np.abs(values).max():g}, whose square is too large for a double: scale it"
        )
    n_resp = 1 if values.ndim == 1 else values.shape[1]
    if n_resp == 0:
        raise InvalidInputError(f"y has shape {values.shape} but it should have a column")
    if names is None:
        names = ("y",) if n_resp == 1 else tuple(f"y{j + 1}" for j in range(n_resp))
    return Responses(values.copy(), names)  # a copy: pruning again requires the original values


def _converted(estimator: Any, y: Any) -> np.ndarray:
    check_kind("y", y)
    shape = np.asarray(y).shape
    several = (
        len(shape) == 2 and shape[1] > 1
    )  # one column becomes a vector, with scikit-learn's warning
    try:
        found = _check_y(_numbers(y), multi_output=several, y_numeric=True, estimator=estimator)
        return np.asarray(found, dtype=np.float64)
    except TypeError as error:  # Python's own message for a non-numeric object
        raise InvalidInputError(f"y should contain numbers: {error}") from None
    except ValueError as error:
        if not _is_text_error(error):
            raise
        raise InvalidInputError(
            f"y holds texts ({error}) but it should contain numbers; EarthClassifier takes classes"
        ) from None


def _has_categories(y: Any) -> bool:
    if isinstance(y, pd.DataFrame):
        columns = (y.iloc[:, j] for j in range(y.shape[1]))
        return any(_has_categories(column) or _holds_words(column) for column in columns)
    return isinstance(getattr(y, "dtype", None), pd.CategoricalDtype)


def _holds_words(column: pd.Series) -> bool:
    """Return True for a column of strings of which at least one is not a number."""
    if not (
        pd.api.types.is_object_dtype(column.dtype) or pd.api.types.is_string_dtype(column.dtype)
    ):
        return False
    if pd.api.types.infer_dtype(column, skipna=True) != "string":
        return False
    try:
        pd.to_numeric(column)
    except (TypeError, ValueError):
        return True
    return False


def _check_factor_responses(estimator: Any, y: Any, n_samples: int) -> Responses:
    """Return 0 and 1 for a factor with two levels, otherwise one column per level.

    Strings in a frame give one column per level for any number of levels: R converts them to factors later.
    """
    if not isinstance(y, pd.DataFrame):
        learned = Columns.learn(pd.Series(y).to_frame("y"), "y").columns[0]
        codes = Columns((learned,)).values(pd.Series(y).to_frame("y"), "y")["y"]
        values = indicator_columns(codes, len(learned.levels))
        checked = check_responses(estimator, values, n_samples)
        return Responses(checked.values, indicator_names(learned.levels), learned.levels)
    names = _response_names(y) or tuple(f"y{j + 1}" for j in range(y.shape[1]))
    frame = y.set_axis(list(names), axis=1)
    columns = Columns.learn(frame, "y")
    by_name, blocks, made = columns.values(frame, "y"), [], []
    for j, column in enumerate(columns.columns):
        n_levels = len(column.levels)
        own = by_name[column.name]
        quoted = quoted_name(column.name)
        if n_levels > 2 or _holds_words(frame.iloc[:, j]):
            blocks.append((own[:, None] == np.arange(n_levels)).astype(float))
            made += [quoted + level for level in column.levels]
        else:
            blocks.append(own.astype(float))
            made.append(quoted)
    checked = check_responses(estimator, np.column_stack(blocks), n_samples)
    return Responses(checked.values, tuple(made))


def _response_names(y: Any) -> tuple[str, ...] | None:
    if isinstance(y, pd.DataFrame):
        names = column_names("y", y)
        return names and tuple(name or f"y{j + 1}" for j, name in enumerate(names))
    return (y.name,) if isinstance(y, pd.Series) and isinstance(y.name, str) else None


def check_subset(subset: Any, n_samples: int) -> np.ndarray | None:
    """Return the rows to fit on as indices, given a mask or 0-based indices; None means all."""
    if subset is None:
        return None
    subset = as_pandas(subset, "subset")
    check_kind("subset", subset)
    subset = np.array(subset)  # a copy, as of the responses
    if subset.dtype == bool:
        if subset.shape != (n_samples,):
            raise InvalidInputError(
                f"subset has shape {subset.shape} but a mask should be ({n_samples},)"
            )
        subset = np.flatnonzero(subset)
    if subset.ndim != 1 or subset.dtype.kind not in "iu":
        raise InvalidInputError("subset should be a mask or a list of row numbers, 0-based")
    if len(subset) < 2:
        raise InvalidInputError(f"subset has {len(subset)} row(s) but a minimum of 2 is required")
    if len(subset) == n_samples > 2 and np.isin(subset, (0, 1)).all():
        raise InvalidInputError(
            f"subset holds {n_samples} numbers that are 0 or 1, one for each row, but a mask should contain "
            "True and False: pass subset.astype(bool), or the numbers of the rows"
        )
    if subset.min() < 0 or subset.max() >= n_samples:
        odd = subset[(subset < 0) | (subset >= n_samples)][0]
        raise InvalidInputError(f"subset holds {odd} but rows run from 0 to {n_samples - 1}")
    return subset


Values = TypeVar("Values", np.ndarray, np.ndarray | None)


def differ(weights: np.ndarray) -> bool:
    """Return True if the weights differ; earth ignores equal weights."""
    return bool((np.abs(weights - weights[0]) > 1e-8).any())


def taken(values: Values, rows: np.ndarray | None) -> Values:
    """Select rows of values; all values if `rows` is None, None if `values` is None."""
    return values if values is None or rows is None else values[rows]


def check_new_data(estimator: Any, X: Any) -> Any:
    """Return X in the form of the fitted model: a float64 matrix, or a frame if it has factors."""
    model = estimator.model_
    if _is_known(estimator, X):
        if not np.isfinite(X).all():
            check_finite(X, default_names(X.shape[1]))
        return X
    X = _all_named(as_pandas(X))
    if model.columns is None and model.formula is None:
        check_kind("X", X)
        if isinstance(X, pd.DataFrame):
            column_names("X", X)
        X = _floats(estimator, X, reset=False)
        check_finite(X, getattr(estimator, "feature_names_in_", default_names(X.shape[1])))
        return X
    if isinstance(X, Mapping) and model.formula is not None:
        X, _ = frame_of_mapping(X)
    if not isinstance(X, pd.DataFrame):
        if model.formula is None and model.columns.has_numbers_only:
            X = _floats(estimator, X, reset=False)
            return pd.DataFrame(X, columns=list(model.columns.names))
        raise InvalidInputError(
            f"X is a {type(X).__name__} but it should be a pandas DataFrame: the model was fitted on "
            "columns that it knows by name"
        )
    if model.formula is not None:
        return X
    named = column_names("X", X) is not None and hasattr(estimator, "feature_names_in_")
    validate_data(estimator, X, reset=False, skip_check_array=True)
    return X if named else _renamed(X, model.columns.names)


def _is_known(estimator: Any, X: Any) -> bool:
    """Return True if X is an array like that of the fit, for which only NaN must be checked."""
    model = estimator.model_
    return (
        is_plain(X, ndim=2)
        and len(X) > 0
        and X.shape[1] == estimator.n_features_in_
        and getattr(estimator, "feature_names_in_", None) is None
        and model.columns is None
        and model.formula is None
    )


def numbers_by_name(X: Any, names: tuple[str, ...]) -> np.ndarray:
    """Return the columns `names` of X as a numeric matrix: by name for a frame, by position for an array.

    If `names` are earth's default names, a frame without any of them is matched by position, with a
    warning.
    """
    X = _all_named(as_pandas(X))
    own = column_names("X", X) if isinstance(X, pd.DataFrame) else None
    by_position = own is None or (names == default_names(len(names)) and not set(names) & set(own))
    if not by_position:
        missing = [name for name in names if name not in X.columns]
        if missing:
            raise InvalidInputError(f"X lacks the column {missing[0]!r} that the model needs")
        X = X[list(names)]
    check_kind("X", X)
    values = numbers_of_array(X)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise InvalidInputError(
            f"X has shape {values.shape} but the model needs {len(names)} columns"
        )
    if by_position and own is not None:
        shown = ", ".join(map(repr, own[:3])) + (", ..." if len(own) > 3 else "")
        warn_user(
            f"X has the column names {shown} but the model was fitted without names: its columns are taken "
            "by position",
            ColumnWarning,
        )
    return values


def numbers_of_array(X: Any) -> np.ndarray:
    """Convert a frame or an array-like to doubles."""
    if hasattr(X, "toarray"):
        raise InvalidInputError("X is a sparse matrix but it should be dense: X.toarray()")
    X = without_na(X)
    try:
        is_frame = isinstance(X, pd.DataFrame)
        return X.to_numpy(float, na_value=np.nan) if is_frame else np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"X should contain numbers: {error}") from None


def default_names(n_features: int) -> tuple[str, ...]:
    """R's names for a matrix without names: x for one column, otherwise x1, x2, ..."""
    return ("x",) if n_features == 1 else tuple(f"x{j + 1}" for j in range(n_features))


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return unique column names, with x1, x2, ... in place of empty ones as in earth."""
    names = tuple(str(name) or f"x{j + 1}" for j, name in enumerate(names))
    seen = set()
    for name in names:
        if name in seen:
            raise InvalidInputError(f"X has two columns named {name!r}, but names should be unique")
        if "\0" in name:
            raise InvalidInputError(f"X has a column name with a NUL character: {name!r}")
        seen.add(name)
    return names


def check_weights(weights: Any, n_samples: int) -> np.ndarray | None:
    """Return the case weights as a float64 vector, or None."""
    if weights is None:
        return None
    weights = as_pandas(weights, "sample_weight")
    check_kind("sample_weight", weights)
    try:
        weights = np.array(weights, dtype=np.float64)  # a copy, as of the responses
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"sample_weight should contain numbers: {error}") from None
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise InvalidInputError(
            f"sample_weight has shape {weights.shape} but it should be ({n_samples},)"
        )
    if not np.isfinite(weights).all():
        raise InvalidInputError("sample_weight contains NaN or infinity")
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise InvalidInputError(
            f"sample_weight[{row}]={weights[row]:g} but weights should be 0 or more"
        )
    if not weights.any():
        raise InvalidInputError(
            "sample_weight is zero everywhere, but one weight at least should be above 0"
        )
    return weights


def _numbers(y: Any) -> Any:
    """Convert pandas types of y to types that numpy converts correctly."""
    if isinstance(y, pd.DataFrame):
        return y.apply(lambda column: numbers_of_series("y", column)) if y.shape[1] else y
    if isinstance(y, (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)):
        return numbers_of_series("y", pd.Series(y))
    return y


MANY_LEVELS = 100


def warn_of_columns(X: pd.DataFrame, columns: Iterable[Column]) -> None:
    """Warn about factors with more than a hundred levels and about ordered intervals of pandas."""
    for column in columns:
        if len(column.levels) > MANY_LEVELS:
            warn_user(
                f"column {column.name!r} of X has {len(column.levels)} levels, each of which becomes a "
                "predictor: drop it if it identifies the rows, merge rare levels, or convert it to numbers",
                ColumnWarning,
            )
        if column.kind == "ordered" and _has_intervals(X, column.name):
            warn_user(
                f"column {column.name!r} of X is ordered, as returned by pd.cut, so it enters as the "
                f"polynomials {column.name}.L, {column.name}.Q, ... as in R: X[{column.name!r}]"
                ".cat.as_unordered() gives an indicator for each interval",
                ColumnWarning,
            )


def _has_intervals(X: pd.DataFrame, name: str) -> bool:
    dtype = X[name].dtype if name in X.columns else None
    return isinstance(dtype, pd.CategoricalDtype) and isinstance(
        dtype.categories.dtype, pd.IntervalDtype
    )
