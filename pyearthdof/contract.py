"""The contract between fitting procedures and `pyearthdof.dof`: what they declare, and what a fit returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import validate_data

from ._utils.checks import by_position, refuse_huge

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
        tr S(y), where the fit can be written as S(y) y.
    n_coef : (m,) array or None
        Number of free parameters.
    rank : (m,) array or None
        rank(X_A) of the active set; None where there is no active set.
    refitted : (n, m) array or None
        Least-squares fit on the active set, for the search cost `sdf`; None where there is none.

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

    A size that a response does not reach has the values of its longest model.
    """

    rss: np.ndarray
    products: np.ndarray | None  # of the fits with a direction for each response, if there was one
    n_terms: np.ndarray  # of the longest model


class Bound:
    """A procedure on one design: what depends on X alone was checked and computed once.

    This one knows nothing better than the procedure's own `fit_many`; procedures that do have a subclass.
    """

    engine: str | None = None  # "native" or "r" for MARS
    # `fit_many` works in as many threads as it is told, without the GIL, and hears Ctrl-C; others are given
    # to worker processes.
    has_threads: bool = False

    def __init__(self, procedure: Any, X: Rows) -> None:
        self.procedure, self.X = procedure, X

    @property
    def versions(self) -> dict[str, str]:
        """Versions of what computes beside Python."""
        return {}

    def fit_many(self, Y: np.ndarray, n_threads: int = 1) -> Fits:
        """Fit every column of Y, which is finite and has the rows of X."""
        return self.procedure.fit_many(self.X, Y)


def bind(procedure: Any, X: Rows) -> Bound:
    """The procedure on a design, whether it knows how to bind itself or has `fit_many` alone.

    A class that overrides `fit_many` of one that binds means its own `fit_many`.
    """
    return procedure.bind(X) if declares(procedure, "bind") else Bound(procedure, X)


def declares(procedure: object, name: str) -> bool:
    """Whether a procedure has a method that holds for its `fit_many`, which no subclass has replaced."""

    def home(method: str) -> int:
        classes = type(procedure).__mro__
        return next((k for k, c in enumerate(classes) if method in vars(c)), len(classes))

    return hasattr(procedure, name) and home(name) <= home("fit_many")


class Procedure(RegressorMixin, BaseEstimator):
    """A scikit-learn regressor that also has the paper's quantities of a fit.

    After `fit`, `trace_` is tr S(y), `n_coef_` the number of free parameters, `rank_` the rank of the
    active set where there is one, and `fitted_values_` the fit at the rows of X.

    A subclass declares what is known about it as data:

    is_linear
        The fit is S y with an S that does not depend on y, so df = tr(S) exactly.
    is_equivariant
        Shifting or scaling y shifts or scales the fit, and a constant y is fitted exactly.
    df_statistic
        The name of the field of `Fits` whose mean over y is the df (None: unknown).

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
        """R squared of the predictions for X, with the true y; `sample_weight` weights the rows."""
        y, sample_weight = by_position(X, y=y, sample_weight=sample_weight)
        return super().score(X, y, sample_weight)

    def bind(self, X: Rows) -> Bound:
        """This procedure on a design, for many fits. Subclasses do here what depends on X alone."""
        return Bound(self, X)

    def fit_many(self, X: Rows, Y: np.ndarray) -> Fits:
        """Fit every column of Y on the same X. Subclasses vectorise this; here is the plain loop."""
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
