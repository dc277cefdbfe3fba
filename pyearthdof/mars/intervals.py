"""Prediction and confidence intervals of a fitted estimator, by its variance model."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from .. import bridge
from .._utils.checks import check_choice, check_level, refusal
from ..exceptions import InvalidInputError
from .data.design import check_new_data
from .engines.r import engine as engine_r
from .fitted import FittedMars
from .model.mars_model import KINDS, TYPES, interval_frame
from .options import VARMODS_ONLY_R

__all__ = ["MarsIntervals"]


class MarsIntervals(FittedMars):
    """What a fit with `varmod_method` knows of the noise."""

    varmod_method: str

    def predict_interval(
        self, X=None, level=0.95, kind="prediction", type="response"
    ) -> pd.DataFrame:
        """Intervals by the variance model of a fit with `varmod_method`; needs no R, but for a gam.

        Parameters
        ----------
        X : array or DataFrame, optional
            New rows; None means the training rows.
        level : float
            Coverage, between 0 and 1.
        kind : {"prediction", "confidence"}
            For a new observation, or for its mean.
        type : {"response", "link", "earth"}
            What the intervals are around. A generalised linear model has them for "earth" alone, the
            least-squares fit of its terms; without one all three are the same.

        Returns
        -------
        DataFrame
            `fit`, `lower` and `upper`.

        Notes
        -----
        With z the quantile of the normal distribution, a prediction interval is fit +- z sd(x), with the
        standard deviation sd(x) of `predict_sd`. A confidence interval at a training row is R's, fit +- z s,
        where s is the standard deviation of its out-of-fold predictions over the repetitions of
        cross-validation. At new rows R has none. There it is fit +- z sd(x) sqrt(h(x)) with the leverage
        h(x) = b(x)'(B'WB)^-1 b(x) of the row, where b(x) are the terms at x, B those of the training rows,
        and W the case weights; it takes the terms for given, so that it does not know of the search for
        them.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> rng = np.random.default_rng(0)
        >>> x = rng.uniform(size=(100, 1))
        >>> y = x[:, 0] + x[:, 0] * rng.normal(size=100) / 9
        >>> model = Earth(nfold=5, ncross=5, varmod_method="lm", random_state=1).fit(x, y)
        >>> model.predict_interval([[0.2], [0.8]]).round(3)
             fit  lower  upper
        0  0.201  0.149  0.253
        1  0.724  0.572  0.877
        >>> model.predict_sd([[0.2], [0.8]]).round(3)
        array([0.027, 0.078])
        """
        check_is_fitted(self)
        level = check_level(level)
        check_choice("kind", kind, KINDS)
        self._check_variance_model(type)
        new = None if X is None else check_new_data(self, X)
        if self.model_.varmod is None:
            table = self._interval_in_r(new, level, kind)
        elif new is not None:
            table = self.model_.predict_interval(new, level, kind)
        else:
            sd = self._sd if kind == "prediction" else self._sd_of_predictions()
            table = interval_frame(self.fitted_values_, sd, level)
        return table.set_axis(X.index) if isinstance(X, pd.DataFrame) else table

    def predict_sd(self, X=None) -> np.ndarray:
        """Standard deviations of new observations by the variance model: R's predict(interval="se").

        Parameters
        ----------
        X : array or DataFrame, optional
            New rows; None means the training rows.

        Examples
        --------
        See `predict_interval`.
        """
        check_is_fitted(self)
        self._check_variance_model("earth")
        new = None if X is None else check_new_data(self, X)
        if self.model_.varmod is None:
            return self._by_r(new, "se")[:, 0]
        return self._sd if new is None else self.model_.predict_sd(new)

    def _check_variance_model(self, type: str) -> None:
        in_r = self.varmod_method in VARMODS_ONLY_R and self._r_object is not None
        if self.model_.varmod is None and self.varmod_method in VARMODS_ONLY_R and not in_r:
            raise InvalidInputError(
                f"varmod_method={self.varmod_method!r} is R's alone, and a file does not hold it: fit again, "
                "or with varmod_method='earth'"
            )
        if self.model_.varmod is None and not in_r:
            raise InvalidInputError(
                f"varmod_method={self.varmod_method!r} but intervals need a variance model: fit with "
                "varmod_method='lm', nfold and ncross"
            )
        check_choice("type", type, TYPES)
        if self.model_.glm is not None and type != "earth":
            raise refusal(
                "type",
                type,
                "'earth' for intervals of a generalised linear model: they "
                "are around the least-squares fit of its terms",
            )

    def _sd_of_predictions(self) -> np.ndarray:
        """Of the training rows, over the repetitions of cross-validation."""
        table = getattr(self, "cv_tables_", {}).get("oof_fit")
        if table is None:
            raise InvalidInputError(
                "X should be new rows for confidence intervals: the model came without the table of its "
                "out-of-fold predictions"
            )
        return table.to_numpy().std(axis=1, ddof=1)

    def _interval_in_r(self, new, level, kind) -> pd.DataFrame:
        """A gam is in R alone."""
        if kind == "confidence" and new is not None:
            raise InvalidInputError(
                f"X should be None for confidence intervals with varmod_method={self.varmod_method!r}"
            )
        values = self._by_r(new, {"prediction": "pint", "confidence": "cint"}[kind], level)
        return pd.DataFrame(values, columns=["fit", "lower", "upper"])

    def _by_r(self, new, interval: str, level: float = 0.95) -> np.ndarray:
        assert self._r_object is not None  # or there were no variance model
        rows = None if new is None else self._rows_for_r(new)
        return engine_r.predict_interval(self._r_object, rows, interval, level)

    def _rows_for_r(self, X):
        """New rows for R's own predict: the raw columns that the model uses, factors with its levels."""
        model = self.model_
        values, _ = model.design(X), model.offset(X)  # they refuse what predict refuses
        # Variance models such as x.lm are regressions on the predictors and look for them by name.
        on_predictors = self.varmod_method.startswith("x.")
        if model.formula is None and (model.columns is None or on_predictors):
            return bridge.NamedMatrix(values, model.feature_names)
        if model.formula is not None:
            frame = engine_r.r_frame(model.formula.raw_columns, model.formula.raw_values(X))
        else:
            assert model.columns is not None  # the case without them is above
            frame = engine_r.r_frame(model.columns, model.columns.values(X))
        if not on_predictors:
            return frame
        return bridge.Frame(
            dict(zip(model.feature_names, values.T, strict=True)) | dict(frame.columns)
        )
