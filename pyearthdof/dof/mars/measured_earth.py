"""Meta-estimators that measure degrees of freedom first, and fits of many responses by them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._utils.checks import by_position
from ...contract import Bound, Fits, Rows
from ...mars.base import check_many
from ...mars.meta import EarthMeta


class MeasuredEarth(EarthMeta):
    """Base class of the estimators that choose an Earth by measured degrees of freedom."""

    mu: Any  # an argument of every subclass

    @abstractmethod
    def bind(self, X: Rows) -> Bound:
        """This estimator on a design, for many fits: what depends on X alone is measured once."""

    def fit_many(self, X: Rows, Y: np.ndarray) -> Fits:
        """Fit every column of Y on the same X; what depends on X alone is measured once."""
        by_position(X, Y=Y)
        bound = self.bind(X)
        return bound.fit_many(check_many(Y, len(bound.X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.mu == "fitted":
            tags.target_tags.multi_output = False
        return tags


class OneByOne(Bound):
    """A choice that depends on y: every response is fitted by itself."""

    def __init__(self, X: Rows, fit: Callable[[np.ndarray], Any]) -> None:
        self.X, self.fit = X, fit

    def fit_many(self, Y: np.ndarray, n_threads: int = 1) -> Fits:
        models = [self.fit(y) for y in Y.T]
        terms = np.array([model.n_terms_ for model in models])
        # an average of projections is no projection: its terms are no trace
        trace = None if any(model.model_.is_merged for model in models) else terms
        return Fits(np.column_stack([model.fitted_values_ for model in models]), trace, terms)
