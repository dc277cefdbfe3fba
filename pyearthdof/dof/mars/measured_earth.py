"""Base classes of meta-estimators that measure degrees of freedom."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..._utils.checks import by_position
from ...contract import Bound, Fits, Rows
from ...mars.base import check_many
from ...mars.data.training import TrainingData
from ...mars.meta import EarthMeta


class MeasuredEarth(EarthMeta):
    """Base class of meta-estimators that select an Earth by measured degrees of freedom."""

    mu: Any  # an argument of every subclass

    def fit(self, X: Rows, y: np.ndarray, sample_weight: ArrayLike | None = None) -> Self:
        """Measure the degrees of freedom, choose, and fit.

        Parameters
        ----------
        X, y
            The data, in the estimator's formats.
        sample_weight : array, (n,), optional
            Case weights of the fit. `AutoEarth` takes the noise variance as inversely proportional to them;
            `CorrectedEarth` measures without weights, because Algorithm 2 does not support them.
        """
        self._check_arguments()
        estimator = clone(self._inner).set_params(penalty=None)  # its own penalty is ignored
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self._fit(estimator, estimator._check_data(X, y, **weights))
        return self

    @abstractmethod
    def _check_arguments(self) -> None:
        """Validate the constructor's arguments before any measurement."""

    @abstractmethod
    def _fit(self, estimator: Any, data: TrainingData) -> None:
        """Measure, select and fit; the data are validated."""

    @abstractmethod
    def bind(self, X: Rows) -> Bound:
        """Return this estimator bound to a design for many fits, with computations on X done once."""

    def fit_many(self, X: Rows, Y: np.ndarray) -> Fits:
        """Fit every column of Y on the same X, with computations on X done once."""
        by_position(X, Y=Y)
        bound = self.bind(X)
        return bound.fit_many(check_many(Y, len(bound.X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.mu == "fitted":
            tags.target_tags.multi_output = False
        return tags


class OneByOne(Bound):
    """A selection that depends on y: every response is fitted separately."""

    def __init__(self, X: Rows, fit: Callable[[np.ndarray], Any]) -> None:
        self.X, self.fit = X, fit

    def fit_many(self, Y: np.ndarray, n_threads: int = 1) -> Fits:
        models = [self.fit(y) for y in Y.T]
        terms = np.array([model.n_terms_ for model in models])
        # an average of projections is not a projection: its number of terms is not a trace
        trace = None if any(model.model_.is_merged for model in models) else terms
        return Fits(np.column_stack([model.fitted_values_ for model in models]), trace, terms)
