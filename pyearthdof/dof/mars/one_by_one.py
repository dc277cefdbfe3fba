"""Many responses for an estimator whose choice depends on the response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...contract import Bound, Fits, Rows


class OneByOne(Bound):
    """A choice that depends on y: every response is fitted by itself."""

    def __init__(self, X: Rows, fit: Callable[[np.ndarray], Any]) -> None:
        self.X, self.fit = X, fit

    def fit_many(self, Y: np.ndarray, n_threads: int = 1) -> Fits:
        models = [self.fit(y) for y in Y.T]
        terms = np.array([model.n_terms_ for model in models])
        # a mean of projections is none: its terms are no trace
        trace = None if any(model.model_.is_merged for model in models) else terms
        return Fits(np.column_stack([model.fitted_values_ for model in models]), trace, terms)
