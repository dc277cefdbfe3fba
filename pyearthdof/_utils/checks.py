"""Validation of function arguments before any computation.

All errors have one form: argument=value but it should be ...
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
import pandas as pd
from joblib import effective_n_jobs

from ..exceptions import InvalidInputError
from .warnings import warn_user

_LONGEST = 200  # characters of a value in a message
_LARGEST = 1e300  # of a response: sums of a hundred million values stay finite
_KNOWN = (pd.DataFrame, pd.Series, pd.Index, np.ndarray, list, tuple, dict, str)


def refusal(name: str, value, right: str) -> InvalidInputError:
    """Return the error to raise for an invalid value.

    >>> print(refusal("nk", -1, "an integer of 1 or more"))
    nk=-1 but it should be an integer of 1 or more
    """
    return InvalidInputError(f"{name}={_in_words(value)} but it should be {right}")


def _in_words(value) -> str:
    """Return the repr of a value, numpy's numbers as plain ones, shortened if it is long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    if "\n" in text and hasattr(value, "shape"):
        return f"<{type(value).__name__} of shape {value.shape}>"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def is_flag(value) -> TypeGuard[bool]:
    """Return True for True and False themselves."""
    return isinstance(value, (bool, np.bool_))


def is_integer(value) -> TypeGuard[int]:
    """Return True for integers other than True and False."""
    return isinstance(value, Integral) and not is_flag(value)


def is_number(value) -> TypeGuard[float]:
    """Return True for real numbers, including infinity and nan, other than True and False."""
    return isinstance(value, Real) and not is_flag(value)


def check_count(name: str, value, low: int, high: int | None = None, because: str = "") -> int:
    """Return an integer from `low` to `high`; `because` ends the message with a reason."""
    if not is_integer(value) or value < low or (high is not None and value > high):
        right = f"of {low} or more" if high is None else f"from {low} to {high}"
        raise refusal(name, value, f"an integer {right}{because}")
    return int(value)


def check_number(name: str, value, because: str = "") -> float:
    """Return a finite number, 0 or more."""
    if not is_number(value) or not 0 <= value < math.inf:
        raise refusal(name, value, f"a finite number, 0 or more{because}")
    return float(value)


def check_positive(name: str, value, because: str = "") -> float:
    """Return a finite number above 0."""
    if not is_number(value) or not 0 < value < math.inf:
        raise refusal(name, value, f"a finite number above 0{because}")
    return float(value)


def check_level(level) -> float:
    """Return the coverage of an interval, between 0 and 1."""
    if not is_number(level) or not 0 < level < 1:
        raise refusal("level", level, "a number between 0 and 1")
    return float(level)


def check_flag(name: str, value) -> bool:
    """Return True or False; refuse other values, because "no" would be true."""
    if not is_flag(value):
        raise refusal(name, value, "True or False")
    return bool(value)


def check_choice(name: str, value, choices: Sequence[str | None]):
    """Return one of the given words, or None if that is a choice."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        words = [repr(choice) for choice in choices]
        right = ", ".join(words[:-1]) + f" or {words[-1]}" if len(words) > 1 else words[0]
        raise refusal(name, value, right)
    return value


def check_jobs(n_jobs) -> int:
    """Return the number of threads for `n_jobs`, by joblib's rules.

    Inside a joblib worker, it is the share of that worker.
    """
    if n_jobs is not None and (not is_integer(n_jobs) or n_jobs == 0):
        raise refusal("n_jobs", n_jobs, "None or an integer other than 0; -1 is all processors")
    return effective_n_jobs(n_jobs)


def is_shape(design) -> TypeGuard[tuple[int, int]]:
    """Return True for the shape (n, p) of a design to be drawn."""
    return isinstance(design, (tuple, list)) and len(design) == 2 and all(map(is_integer, design))


def check_shape(design) -> tuple[int, int]:
    """Return the shape (n, p) of a design to be drawn."""
    n, p = design
    if n < 2 or p < 1:
        raise refusal("X", (int(n), int(p)), "(n, p) with n >= 2 and p >= 1")
    return int(n), int(p)


def by_position(X, called: str = "X", **given) -> tuple:
    """Return the given values; warn of pandas values with the row labels of X in another order.

    Rows are matched by position. The returned values have the labels of X, so that a second check is
    silent.
    """
    index = getattr(X, "index", None)
    if not isinstance(index, pd.Index):
        return tuple(given.values())
    return tuple(_with_labels(index, called, name, values) for name, values in given.items())


def _with_labels(index: pd.Index, called: str, name: str, values):
    if not isinstance(values, (pd.Series, pd.DataFrame)) or len(values) != len(index):
        return values
    own = values.index
    if own.equals(index) or not (own.isin(index).all() and index.isin(own).all()):
        return values
    warn_user(
        f"{name} has the row labels of {called} in another order, but rows are matched by position: pass "
        f"{name}.loc[{called}.index] to match them by label, or {name}.to_numpy() if the order is right"
    )
    return values.set_axis(index)


def as_pandas(data: Any, name: str = "X") -> Any:
    """Convert frames and series of polars, pyarrow, modin and others to pandas; return other data unchanged.

    Text and categorical columns remain factors. The levels of a dictionary or an enumeration keep their
    order; those of polars' Categorical, which is unordered, are sorted.
    """
    if data is None or isinstance(data, _KNOWN):
        return data
    from .frames import to_pandas

    return to_pandas(data, name)


def check_design(X, name: str = "X", missing: bool = False):
    """Return an array of doubles, or the DataFrame unchanged; refuse missing values unless `missing`."""
    if is_shape(X):
        return check_shape(X)
    X = as_pandas(X)
    if isinstance(X, pd.DataFrame):
        if not missing:
            _check_frame(X, name)
    else:
        X = _check_matrix(X, name, missing)
    if len(X) < 2:
        raise InvalidInputError(f"{name} has {len(X)} rows but it should have 2 or more")
    return X


def _check_frame(X, name) -> None:
    missing = X.columns[X.isna().any()]
    if len(missing):
        raise InvalidInputError(
            f"{name} has missing values in column {missing[0]!r} but it should have none"
        )
    numbers = X.select_dtypes("number")
    infinite = numbers.columns[np.isinf(numbers.to_numpy(dtype=float)).any(axis=0)]
    if len(infinite):
        raise InvalidInputError(
            f"{name} has infinite values in column {infinite[0]!r} but it should have none"
        )


def _check_matrix(X, name, missing) -> np.ndarray:
    X = as_numbers(name, X, "be a matrix of numbers").copy()
    if X.ndim == 1:
        X = X[:, None]
    if X.ndim != 2 or X.shape[1] == 0:
        raise InvalidInputError(
            f"{name} has shape {X.shape} but it should be a matrix of n rows and p columns"
        )
    bad = np.flatnonzero(~np.isfinite(X).all(axis=0))
    if len(bad) and not missing:
        raise InvalidInputError(
            f"{name} has missing or infinite values in column {bad[0]} (counted from 0) but it should "
            "have none"
        )
    return X


def as_numbers(name: str, values, should: str) -> np.ndarray:
    """Return an array of doubles; `should` ends the error message for other values."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "cmM":
            raise TypeError  # numpy would drop imaginary parts and convert dates to nanoseconds
        return array.astype(float, copy=False)
    except (TypeError, ValueError, OverflowError):  # OverflowError: an integer beyond doubles
        what = type(values).__name__
        raise InvalidInputError(f"{name} is a {what} but it should {should}") from None


def check_responses(Y, n: int) -> np.ndarray:
    """Return Y as a finite (n, m) array of doubles, m at least 1."""
    Y = as_numbers("Y", Y, "be a matrix of numbers")
    if Y.ndim != 2 or len(Y) != n or Y.shape[1] == 0:
        raise InvalidInputError(
            f"Y has shape {Y.shape} but it should be ({n}, m), a row for each of X and m >= 1 responses"
        )
    if not np.isfinite(Y).all():
        raise InvalidInputError("Y contains NaN or infinity but every value should be finite")
    refuse_huge("Y", Y)
    return Y


def refuse_huge(name: str, values: np.ndarray) -> None:
    """Reject values so large that their sums and means overflow."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest > _LARGEST:
        raise InvalidInputError(
            f"{name} has values up to {largest:g} but they should be at most {_LARGEST:g}, so that sums of "
            "them are numbers: scale it"
        )


def check_sizes(name: str, largest: np.ndarray, low: float = 1e-140, high: float = 1e140) -> None:
    """Reject columns whose sums of squares overflow or vanish; `largest` are their maxima."""
    bad = (largest > high) | ((largest < low) & (largest > 0))
    if bad.any():
        raise InvalidInputError(
            f"{name} has a column with values up to {largest[bad][0]:g}, whose squares are too "
            f"{'large' if largest[bad][0] > 1 else 'small'} for a double: scale it"
        )


def check_vector(name: str, values, n: int) -> np.ndarray:
    """Return a finite vector of length n."""
    try:
        values = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise refusal(name, values, "a vector of numbers") from None
    if values.shape != (n,):
        raise InvalidInputError(
            f"{name} has shape {values.shape} but it should be ({n},), one number for each observation"
        )
    if not np.isfinite(values).all():
        raise InvalidInputError(
            f"{name} has missing or infinite values but every value should be finite"
        )
    return values


def check_mean(mu, n: int) -> np.ndarray:
    """Return the true mean as a vector: zero for None, constant for a number."""
    if mu is None:
        return np.zeros(n)
    if isinstance(mu, str):
        raise refusal("mu", mu, "None, 'fitted', a number or a vector")
    return check_vector("mu", np.full(n, mu) if isinstance(mu, Real) else mu, n)


def check_sigma(sigma, n: int) -> np.ndarray:
    """Return the standard deviations as a vector of positive numbers; ones for None."""
    sigma = 1.0 if sigma is None else sigma
    values = np.full(n, sigma, dtype=float) if isinstance(sigma, Real) else sigma
    values = check_vector("sigma", values, n)
    if (values <= 0).any():
        raise refusal(
            "sigma", float(values[values <= 0][0]), "a positive number or a vector of them"
        )
    return values
