"""Interface between fitting procedures and `pyearthdof.dof`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import validate_data

from ._utils.checks import as_numbers, by_position, refuse_huge

__all__ = ["Bound", "Fits", "PathFits", "Procedure", "SizeFits", "bind", "declares"]


Rows: TypeAlias = np.ndarray | pd.DataFrame  # of a design


@dataclass(frozen=True)
class Fits:
    """Many fits on one design: column j belongs to column j of Y.

    Attributes
    ----------
    fitted : (n, m) array
        Fitted values.
    trace : (m,) array or None
        tr S(y), if the fit can be written as S(y) y.
    n_coef : (m,) array or None
        Number of free parameters.
    rank : (m,) array or None
        rank(X_A) of the active set; None without active set.
    refitted : (n, m) array or None
        Least-squares fit on the active set, for the search cost `sdf`; None without active set.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.procedures import Ridge
    >>> fits = Ridge(lam=1.0).fit_many(np.eye(3)[:, :2], np.ones((3, 4)))
    >>> fits.fitted.shape, fits.trace.round(6).tolist()
    ((3, 4), [1.0, 1.0, 1.0, 1.0])
    """

    fitted: np.ndarray
    trace: np.ndarray | None = None
    n_coef: np.ndarray | None = None
    rank: np.ndarray | None = None
    refitted: np.ndarray | None = None


@dataclass(frozen=True)
class PathFits:
    """Fits along nk: `fitted` is (n_nk, n, m) and `n_terms` (n_nk, m) for m responses."""

    fitted: np.ndarray
    n_terms: np.ndarray


@dataclass(frozen=True)
class SizeFits:
    """Pruning sequences: row j belongs to response j, column k to models of k + 1 terms.

    Sizes that a response does not reach have the values of its largest model.
    """

    rss: np.ndarray
    products: np.ndarray | None  # of the fits with a direction for each response, if there was one
    n_terms: np.ndarray  # of the longest model


class Bound:
    """A procedure bound to one design, with everything that depends on X alone computed once.

    This class calls the procedure's `fit_many`; procedures with a faster way use a subclass.
    """

    engine: str | None = None  # "native" or "r" for MARS
    # `fit_many` works in as many threads as it is told, without the GIL, and hears Ctrl-C; others are given
    # to worker processes.
    has_threads: bool = False

    def __init__(self, procedure: Any, X: Rows) -> None:
        self.procedure, self.X = procedure, X

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the software that computes the fits."""
        return {}

    def fit_many(self, Y: np.ndarray, n_threads: int = 1) -> Fits:
        """Fit every column of Y, validated by the caller."""
        return self.procedure.fit_many(self.X, Y)


def bind(procedure: Any, X: Rows) -> Bound:
    """Bind a procedure to a design, by its own `bind` or a plain `Bound`.

    If a class overrides the `fit_many` of a base class with `bind`, its `fit_many` is used.
    """
    return procedure.bind(X) if declares(procedure, "bind") else Bound(procedure, X)


def declares(procedure: object, name: str) -> bool:
    """Return whether a procedure has a method consistent with its `fit_many`."""

    def home(method: str) -> int:
        classes = type(procedure).__mro__
        return next((k for k, c in enumerate(classes) if method in vars(c)), len(classes))

    return hasattr(procedure, name) and home(name) <= home("fit_many")


class Procedure(RegressorMixin, BaseEstimator):
    """Base class of scikit-learn regressors that report the paper's quantities.

    After `fit`, `trace_` is tr S(y), `n_coef_` the number of free parameters, `rank_` the rank of the
    active set, if any, and `fitted_values_` the fit at the rows of X.

    Subclasses declare their properties as class attributes:

    is_linear
        The fit is S y with an S that does not depend on y, so df = tr(S) exactly.
    is_equivariant
        Shifting or scaling y shifts or scales the fit, and a constant y is fitted exactly.
    df_statistic
        The field of `Fits` whose expectation is the df, or None.

    A procedure that selects columns of X may define `orthogonal_rule(X)`, which gives exact degrees of
    freedom on orthogonal columns. With u_j the columns scaled to length one, it returns how many of the
    largest `|u_j'y|` the fit keeps, or the threshold of each column above which it keeps them. A
    procedure that splits the rows once may define `split_sizes(X)`: the numbers of rows left of the
    candidate splits of one predictor, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import degrees_of_freedom
    >>> from pyearthdof.procedures import Procedure
    >>> class ShrunkenMean(Procedure):
    ...     is_linear = True
    ...     def __init__(self, factor):
    ...         self.factor = factor
    ...     def fit(self, X, y):
    ...         self.mean_ = self.factor * np.mean(y)
    ...         self.fitted_values_ = np.full(len(y), self.mean_)
    ...         self.trace_, self.n_coef_ = self.factor, 1
    ...         return self
    ...     def predict(self, X):
    ...         return np.full(len(X), self.mean_)
    >>> degrees_of_freedom(ShrunkenMean(factor=0.5), np.zeros((10, 1)))
    DegreesOfFreedom(df=0.5, trace=0.5, n_coef=1, msdf=0, n_rep=0)
    """

    is_linear: bool = False
    is_equivariant: bool = False
    df_statistic: Literal["trace", "n_coef"] | None = None

    def _checked(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """X and y of a fit, as doubles."""
        by_position(X, y=y)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = as_numbers("y", y, "be a vector of numbers")
        refuse_huge("X", X)
        refuse_huge("y", y)
        return X, y

    def _keep(self, fits: Fits) -> None:
        """Set the paper's quantities from the fit of a single response."""
        self.fitted_values_ = fits.fitted[:, 0]
        if fits.refitted is not None:
            self.refitted_values_ = fits.refitted[:, 0]
        if fits.trace is not None:
            self.trace_ = float(fits.trace[0])
        if fits.n_coef is not None:
            self.n_coef_ = fits.n_coef[0].item()
        if fits.rank is not None:
            self.rank_ = int(fits.rank[0])

    def score(self, X, y, sample_weight=None) -> float:
        """Return R squared of the predictions at X for y, weighted by `sample_weight`."""
        y, sample_weight = by_position(X, y=y, sample_weight=sample_weight)
        return super().score(X, y, sample_weight)

    def bind(self, X: Rows) -> Bound:
        """Prepare a design for many fits; subclasses compute everything that depends on X alone."""
        return Bound(self, X)

    def fit_many(self, X: Rows, Y: np.ndarray) -> Fits:
        """Fit every column of Y on the same X. Subclasses may vectorise this loop."""
        Y = np.asarray(Y, dtype=float)
        fits = [clone(self).fit(X, y) for y in Y.T]
        return Fits(
            fitted=np.column_stack([f.fitted_values_ for f in fits]),
            trace=collect(fits, "trace_"),
            n_coef=collect(fits, "n_coef_"),
            rank=collect(fits, "rank_"),
            refitted=collect(fits, "refitted_values_", np.column_stack),
        )


def collect(
    fits: Any, name: str, combine: Callable[..., np.ndarray] = np.array
) -> np.ndarray | None:
    """A quantity of many fits, which is known of all of them or taken as unknown."""
    values = [getattr(f, name, None) for f in fits]
    return None if any(v is None for v in values) else combine(values)


def side_by_side(columns: list[np.ndarray], n: int) -> np.ndarray:
    """Fits of one response each, each of length n, as the columns of an array."""
    lengths = {len(c) if c.ndim == 1 else c.shape for c in columns}
    if lengths != {n}:
        wrong = next(length for length in lengths if length != n)
        raise ValueError(f"the fit has length {wrong}, but y has length {n}")
    return np.column_stack(columns)
