"""What every MARS regressor shares once it is fitted, whoever computed the fit."""

from __future__ import annotations

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import bridge
from .._version import __version__
from ..exceptions import InvalidInputError
from ..procedures.base import Procedure
from . import engine_r
from .data import check_names, check_new_data, check_training_data, default_names
from .importance import importance_table
from .text import model_summary

__all__ = ["MarsRegressor"]


class MarsRegressor(TransformerMixin, Procedure):
    """Prediction, basis and learned attributes of a fitted `MarsModel`; subclasses fit it."""

    def predict(self, X):
        """Predict at the rows of X; needs no R."""
        check_is_fitted(self)
        return self.model_.predict(check_new_data(self, X))

    def transform(self, X):
        """Evaluate the selected terms at the rows of X: an (n, n_terms_) matrix; needs no R."""
        check_is_fitted(self)
        return self.model_.basis(check_new_data(self, X))

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of `transform`: R's names of the selected terms."""
        check_is_fitted(self)
        return np.array(self.terms_, dtype=object)

    def summary(self) -> str:
        """R's own summary of the model; where there is no R, the same layout by us."""
        check_is_fitted(self)
        if self._r_object is not None and bridge.is_available():
            return engine_r.summary_text(self._r_object)
        return model_summary(self.model_, repr(self))

    def importance(self, *, trim=True, sqrt=True):
        """Importance of the predictors as a DataFrame, R's `evimp`: nsubsets, gcv, rss, used.

        Parameters
        ----------
        trim : bool
            Leave out predictors that are in no subset of the pruning pass.
        sqrt : bool
            Take the square root of gcv and rss before scaling them to 100.
        """
        check_is_fitted(self)
        return importance_table(self.model_, trim=trim, sqrt=sqrt)

    def _check_many(self, X, Y):
        """Check a design and many responses without touching this estimator."""
        Y = np.asarray(Y, dtype=np.float64)
        if Y.ndim != 2 or Y.shape[1] == 0:
            raise InvalidInputError(f"Y has shape {Y.shape} but it should be (n, m) with m >= 1")
        if not np.isfinite(Y).all():
            raise InvalidInputError("Y contains NaN or infinity")
        probe = type(self)()
        X, _ = check_training_data(probe, X, Y[:, 0])
        return X, Y, probe._feature_names(X.shape[1])

    def _feature_names(self, n_features: int) -> tuple[str, ...]:
        return check_names(getattr(self, "feature_names_in_", default_names(n_features)))

    def _learn(self, model, details) -> None:
        """Set the learned attributes that scikit-learn users look for."""
        self.model_ = model
        self.bx_ = details.bx
        self.fitted_values_ = details.fitted
        self.leverages_ = details.leverages
        self._r_object = details.r_object
        self.coef_ = model.coef
        self.terms_ = model.selected_names
        self.dirs_, self.cuts_ = model.dirs, model.cuts
        self.selected_terms_ = model.selected
        self.rss_, self.rsq_, self.gcv_, self.grsq_ = model.rss, model.rsq, model.gcv, model.grsq
        self.rss_per_subset_ = model.rss_per_subset
        self.gcv_per_subset_ = model.gcv_per_subset
        self.prune_terms_ = model.prune_terms
        self.n_terms_ = self.n_coef_ = model.n_terms
        self.trace_ = float(model.n_terms)
        self.nominal_df_ = model.nominal_df
        self.nk_, self.penalty_ = model.nk, model.penalty
        self.termcond_ = model.termcond
        self.engine_ = model.engine
        self.versions_ = {"pyearthdof": __version__} | dict(model.versions)

    def __str__(self) -> str:
        return str(self.model_) if hasattr(self, "model_") else repr(self)
