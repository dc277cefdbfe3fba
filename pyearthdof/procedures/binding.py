"""What procedures share: `fit_many` by `bind`, and predictions by coefficients."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from .._utils.checks import check_responses
from ..contract import Fits, Procedure

__all__ = ["BindingProcedure", "LinearPrediction"]


class LinearPrediction:
    """For a procedure that learns `coef_` and `intercept_`."""

    coef_: np.ndarray
    intercept_: float

    def predict(self, X) -> np.ndarray:
        """X @ coef_ + intercept_."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return X @ self.coef_ + self.intercept_


class BindingProcedure(Procedure):
    """A procedure whose `bind` checks X; a subclass has no `fit_many` of its own."""

    def fit_many(self, X, Y) -> Fits:
        """Fit every column of Y on the same X.

        Parameters
        ----------
        X : (n, p) array
        Y : (n, m) array

        Returns
        -------
        Fits
        """
        bound = self.bind(X)
        return bound.fit_many(check_responses(Y, len(X)))
