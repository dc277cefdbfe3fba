"""What the MARS regressors share: prediction, and checks of many responses at once."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._checks import check_responses
from ..contract import Procedure
from .design.data import check_names, check_new_data, default_names
from .design.kinds import check_kind
from .fitted import FittedMars

__all__ = ["MarsRegressor", "check_many"]


class MarsRegressor(FittedMars, Procedure):
    """Prediction by a fitted `MarsModel`; subclasses fit it."""

    takes_several_responses: ClassVar[bool] = False

    def predict(self, X, type="response"):
        """Predict at the rows of X; needs no R.

        Parameters
        ----------
        X : (n, p) array or DataFrame
            As in `fit`.
        type : {"response", "link", "earth"}
            For a generalised linear model: means, linear predictors, or the least-squares fit of the terms.
            Without one all three are the same.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = Earth(engine="native").fit(x, x[:, 0])
        >>> model.predict([[0.5, 9.0]]).round(6)
        array([0.5])
        """
        check_is_fitted(self)
        return self.model_.predict(check_new_data(self, X), type)

    def _feature_names(self, n_features: int) -> tuple[str, ...]:
        return check_names(getattr(self, "feature_names_in_", default_names(n_features)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.takes_several_responses
        return tags


def check_many(Y, n: int) -> np.ndarray:
    """Many responses for n rows, as an (n, m) matrix of finite numbers."""
    check_kind("Y", Y)
    return check_responses(Y, n)
