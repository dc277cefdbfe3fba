"""What the MARS regressors share: prediction, and checks of many responses at once."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from .._utils.checks import check_responses, refusal
from ..contract import Procedure
from ..exceptions import InvalidInputError
from .data.columns import check_kind
from .data.design import check_names, check_new_data, default_names
from .data.new_rows import (
    check_missing,
    predict_complete_rows,
    within_range,
)
from .fitted import FittedMars
from .inspect.contributions import additive_terms

__all__ = ["MarsRegressor", "check_many"]


class MarsRegressor(FittedMars, Procedure):
    """Prediction by a fitted `MarsModel`; subclasses fit it."""

    takes_several_responses: ClassVar[bool] = False

    def predict(self, X, type="response", *, missing="refuse", thresh=0.5, extrapolate="allow"):
        """Predict at the rows of X; needs no R.

        Parameters
        ----------
        X : (n, p) array or DataFrame
            As in `fit`.
        type : {"response", "link", "earth", "class", "terms"}
            For a generalised linear model: means, linear predictors, or the least-squares fit of the terms.
            Without one all three are the same. "class" gives the level of a y that was a factor, truth
            values or two numbers that differ by 1; "terms" is R's: a DataFrame with a column for each
            predictor, the sum of the terms that use it alone (`contributions` has all terms).
        missing : {"refuse", "propagate"}
            Missing values in X are refused; "propagate" gives NaN for the rows where a column is missing
            that the model uses, as R does.
        thresh : float
            For "class" with one response: above it is the second level. Of several responses the largest
            decides.
        extrapolate : {"allow", "warn", "clip", "refuse"}
            What to do with rows where a column that the model uses is outside of its training range: predict,
            as R does; warn of them, too; predict at the nearest end of the range; or refuse them.

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
        propagate = check_missing(missing)

        def checked(rows):
            return within_range(self.model_, check_new_data(self, rows), extrapolate)

        if type == "terms":
            index = X.index if isinstance(X, pd.DataFrame) else None
            return additive_terms(self.model_, checked(X), index)
        if type == "class":
            return self._predict_class(X, thresh, missing, extrapolate)
        if not propagate:
            return self.model_.predict(checked(X), type)
        return predict_complete_rows(
            self.model_, X, lambda rows: self.model_.predict(checked(rows), type)
        )

    def _predict_class(self, X, thresh, missing, extrapolate) -> np.ndarray:
        levels = getattr(self, "levels_", None)
        if levels is None:
            raise InvalidInputError(
                "type='class' but it should be one of response, link, earth, terms: y was no factor, no "
                "truth values and no two numbers that differ by 1"
            )
        if isinstance(thresh, bool) or not np.isreal(thresh) or not np.isfinite(thresh):
            raise refusal("thresh", thresh, "a number")
        raw = self.predict(X, "response", missing=missing, extrapolate=extrapolate)
        if np.isnan(raw).any():
            raise InvalidInputError("missing='propagate' but a class cannot be missing")
        chosen = (raw > thresh).astype(int) if raw.ndim == 1 else raw.argmax(axis=1)
        return np.asarray(levels)[chosen]

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
