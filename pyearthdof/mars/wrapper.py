"""What estimators share that choose an option of an Earth and then are that Earth."""

from __future__ import annotations

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .earth import Earth

__all__ = ["EarthWrapper"]


def _has(name):
    return lambda self: hasattr(self._inner, name)


class EarthWrapper(MetaEstimatorMixin, BaseEstimator):
    """Predicts by the estimator that it has chosen, and knows what that one has learned.

    A subclass has a parameter `estimator`, None for `Earth()`, and names the attribute that holds the
    fitted one.
    """

    _holder = "estimator_"

    def predict(self, X, *args, **options):
        """Predict at the rows of X; args and options are those of the fitted estimator's `predict`."""
        return self._chosen().predict(X, *args, **options)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X, *, extrapolate="allow"):
        """Probabilities of the classes at the rows of X, as in `EarthClassifier.predict_proba`.

        What `extrapolate` does outside of the training range: as in `Earth.predict`.
        """
        return self._chosen().predict_proba(X, extrapolate=extrapolate)

    @available_if(_has("predict_interval"))
    def predict_interval(self, X=None, level=0.95, kind="prediction", type="response"):
        """Intervals of the fitted estimator; X, level, kind and type as in `Earth.predict_interval`."""
        return self._chosen().predict_interval(X, level, kind, type)

    def score(self, X, y, sample_weight=None) -> float:
        """The estimator's own score: R squared, or the share of right classes.

        X, y and sample_weight are the data that it is computed on.
        """
        return self._chosen().score(X, y, sample_weight)

    def summary(self) -> str:
        """The summary of the fitted model, as R prints it."""
        return self._chosen().summary()

    @property
    def _inner(self):
        return Earth() if self.estimator is None else self.estimator

    def _chosen(self):
        check_is_fitted(self)
        return vars(self)[self._holder]

    def __getattr__(self, name):
        """What the fitted estimator has learned; its methods are its own."""
        chosen = vars(self).get(self._holder)
        if name.endswith("_") and not name.startswith("_") and chosen is not None:
            return getattr(chosen, name)
        there = "" if name.startswith("_") or not hasattr(chosen, name) else f", {self._holder} has"
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{there}")

    def __sklearn_is_fitted__(self):
        return self._holder in vars(self)

    def __sklearn_tags__(self):
        tags, inner = super().__sklearn_tags__(), get_tags(self._inner)
        tags.estimator_type = inner.estimator_type
        tags.regressor_tags, tags.classifier_tags = inner.regressor_tags, inner.classifier_tags
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags
