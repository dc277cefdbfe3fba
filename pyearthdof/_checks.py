"""What the functions of this package accept, checked before any work starts."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
import pandas as pd
from joblib import effective_n_jobs

from .exceptions import InvalidInputError

__all__ = [
    "check_count",
    "check_design",
    "check_jobs",
    "check_level",
    "check_mean",
    "check_shape",
    "check_sigma",
    "check_vector",
    "is_shape",
]


def check_count(name: str, value, low: int) -> int:
    """An integer of at least `low`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < low:
        raise InvalidInputError(f"{name}={value!r} is not possible; pass an integer >= {low}.")
    return int(value)


def check_jobs(n_jobs) -> int:
    """The number of threads that `n_jobs` stands for, as joblib counts.

    Inside a worker of joblib it is what is left for that worker.

    Examples
    --------
    >>> check_jobs(3)
    3
    """
    integer = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not integer or n_jobs == 0):
        raise InvalidInputError(
            f"n_jobs={n_jobs!r} but it should be None or an integer other than 0; -1 is all processors"
        )
    return effective_n_jobs(n_jobs)


def is_shape(design) -> bool:
    """Tell whether a design was given as its shape (n, p), to be drawn."""
    return (
        isinstance(design, (tuple, list))
        and len(design) == 2
        and all(isinstance(d, Integral) and not isinstance(d, bool) for d in design)
    )


def check_shape(design) -> tuple[int, int]:
    """(n, p) of a design that is to be drawn."""
    n, p = design
    if n < 2 or p < 1:
        raise InvalidInputError(f"design=({n}, {p}) is too small; pass (n, p) with n >= 2, p >= 1.")
    return int(n), int(p)


def check_design(X, name: str = "X"):
    """A design without missing values: an array of doubles, or the DataFrame as it is."""
    if is_shape(X):
        return check_shape(X)
    if isinstance(X, pd.DataFrame):
        _check_frame(X, name)
    else:
        X = _check_matrix(X, name)
    if len(X) < 2:
        raise InvalidInputError(f"{name} has {len(X)} rows; at least 2 are needed.")
    return X


def _check_frame(X, name) -> None:
    missing = X.columns[X.isna().any()]
    if len(missing):
        raise InvalidInputError(
            f"{name} has missing values in column {missing[0]!r}; drop or fill them."
        )
    numbers = X.select_dtypes("number")
    infinite = numbers.columns[np.isinf(numbers.to_numpy(dtype=float)).any(axis=0)]
    if len(infinite):
        raise InvalidInputError(f"{name} has infinite values in column {infinite[0]!r}; drop them.")


def _check_matrix(X, name) -> np.ndarray:
    try:
        X = np.array(X, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} is not a matrix of numbers.") from None
    if X.ndim == 1:
        X = X[:, None]
    if X.ndim != 2 or X.shape[1] == 0:
        raise InvalidInputError(
            f"{name} has shape {X.shape}; pass a matrix of n rows and p columns."
        )
    bad = np.flatnonzero(~np.isfinite(X).all(axis=0))
    if len(bad):
        raise InvalidInputError(
            f"{name} has missing or infinite values in column {bad[0]} (counted from 0); drop or "
            "fill them."
        )
    return X


def check_vector(name: str, values, n: int) -> np.ndarray:
    """A finite vector of length n."""
    try:
        values = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name}={values!r} is not a vector of numbers.") from None
    if values.shape != (n,):
        raise InvalidInputError(
            f"{name} has shape {values.shape}, but there are {n} observations; pass one number for "
            "each."
        )
    if not np.isfinite(values).all():
        raise InvalidInputError(
            f"{name} has missing or infinite values; every value must be finite."
        )
    return values


def check_mean(mu, n: int) -> np.ndarray:
    """The true mean as a vector: zero for None, a number for a constant one."""
    if mu is None:
        return np.zeros(n)
    if isinstance(mu, str):
        raise InvalidInputError(f"mu={mu!r} is unknown; pass None, 'fitted', a number or a vector.")
    return check_vector("mu", np.full(n, mu, dtype=float) if isinstance(mu, Real) else mu, n)


def check_level(level) -> float:
    """The coverage of an interval, between 0 and 1."""
    number = isinstance(level, Real) and not isinstance(level, (bool, np.bool_))
    if not number or not 0 < level < 1:
        raise InvalidInputError(f"level={level!r} is not possible; pass a number between 0 and 1.")
    return float(level)


def check_sigma(sigma, n: int) -> np.ndarray:
    """The standard deviations as a vector of positive numbers; ones for None."""
    sigma = 1.0 if sigma is None else sigma
    values = np.full(n, sigma, dtype=float) if isinstance(sigma, Real) else sigma
    values = check_vector("sigma", values, n)
    if (values <= 0).any():
        bad = values[values <= 0][0]
        raise InvalidInputError(f"sigma={bad:g} is not possible; a standard deviation is positive.")
    return values
