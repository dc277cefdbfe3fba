"""Base class for meta-estimators that select an option of an Earth and delegate to the fitted estimator."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import reading as saved
from .base import MarsEstimator
from .classifier import EarthClassifier
from .earth import Earth
from .mda import Mars
from .model.estimator_file import EstimatorFile


def load_estimator(text: str) -> MarsEstimator:
    """Return the estimator in the text of a saved file, of its saved class; `Earth` for a bare model."""
    file = EstimatorFile.from_json(text)
    kinds: dict[str | None, type[MarsEstimator]] = {
        kind.__name__: kind for kind in (Earth, EarthClassifier, Mars)
    }
    return kinds.get(file.kind, Earth)._of_file(file)


def _delegated(name: str, of: type[MarsEstimator] = Earth) -> Callable[..., Any]:
    """Return a method that delegates to the fitted estimator, with the signature and docstring in `of`."""

    @wraps(getattr(of, name), assigned=("__name__", "__doc__"))
    def method(self, *args, **options):
        return getattr(self._chosen(), name)(*args, **options)

    return method


def _where_it_has(name: str, of: type[MarsEstimator] = Earth) -> Any:
    """Return the same for a method that not every estimator has."""
    return available_if(lambda self: hasattr(self._inner, name))(_delegated(name, of))


def _learned(name: str) -> Any:
    return property(lambda self: getattr(self._estimator(name), name))


class EarthMeta(MetaEstimatorMixin, TransformerMixin, BaseEstimator):
    """Base class of estimators that select options, fit an Earth, and delegate to it.

    A subclass has a parameter `estimator`, None for `Earth()`, and names the attribute of the fitted one.
    Methods have the arguments of `Earth`.
    """

    _fitted_name = "estimator_"

    model_, levels_, classes_ = map(_learned, ("model_", "levels_", "classes_"))
    terms_, term_coef_, dirs_, cuts_ = map(_learned, ("terms_", "term_coef_", "dirs_", "cuts_"))
    selected_terms_, prune_terms_ = map(_learned, ("selected_terms_", "prune_terms_"))
    bx_, fitted_values_, residuals_ = map(_learned, ("bx_", "fitted_values_", "residuals_"))
    leverages_, weights_ = map(_learned, ("leverages_", "weights_"))
    rss_, rsq_, gcv_, grsq_ = map(_learned, ("rss_", "rsq_", "gcv_", "grsq_"))
    rss_per_response_, rsq_per_response_, gcv_per_response_, grsq_per_response_ = map(
        _learned,
        ("rss_per_response_", "rsq_per_response_", "gcv_per_response_", "grsq_per_response_"),
    )
    rss_per_subset_, gcv_per_subset_ = map(_learned, ("rss_per_subset_", "gcv_per_subset_"))
    n_terms_, n_coef_, trace_ = map(_learned, ("n_terms_", "n_coef_", "trace_"))
    nominal_df_, nk_, penalty_ = map(_learned, ("nominal_df_", "nk_", "penalty_"))
    termcond_, engine_, versions_ = map(_learned, ("termcond_", "engine_", "versions_"))
    response_names_, feature_importances_ = map(
        _learned, ("response_names_", "feature_importances_")
    )
    n_features_in_, feature_names_in_ = map(_learned, ("n_features_in_", "feature_names_in_"))
    glm_, glm_coef_, cv_, cv_tables_ = map(_learned, ("glm_", "glm_coef_", "cv_", "cv_tables_"))
    mda_gcv_ = _learned("mda_gcv_")

    def predict(self, X, *args, **options):
        """Predict at the rows of X; args and options as in the fitted estimator's `predict`."""
        return self._chosen().predict(X, *args, **options)

    predict_proba = _where_it_has("predict_proba", EarthClassifier)
    predict_log_proba = _where_it_has("predict_log_proba", EarthClassifier)
    predict_raw_proba = _where_it_has("predict_raw_proba", EarthClassifier)
    decision_function = _where_it_has("decision_function", EarthClassifier)
    predict_interval = _where_it_has("predict_interval")
    predict_sd = _where_it_has("predict_sd")

    def score(self, X, y, sample_weight=None) -> float:
        """Return the score of the fitted estimator: R squared, or the accuracy of a classifier.

        X, y and sample_weight are the test data.
        """
        return self._chosen().score(X, y, sample_weight)

    transform = _delegated("transform")
    get_feature_names_out = _delegated("get_feature_names_out")
    contributions = _delegated("contributions")
    predict_deriv = _delegated("predict_deriv")
    residuals = _delegated("residuals")
    coef = _delegated("coef")
    importance = _delegated("importance")
    anova = _delegated("anova")
    summary = _delegated("summary")
    format = _delegated("format")
    to_python = _delegated("to_python")
    to_sympy = _delegated("to_sympy")
    to_sql = _delegated("to_sql")
    to_javascript = _delegated("to_javascript")
    to_excel = _delegated("to_excel")
    to_onnx = _delegated("to_onnx")
    to_frame = _delegated("to_frame")
    save = _delegated("save")
    to_json = _delegated("to_json")
    to_rds = _where_it_has("to_rds")
    reprune = _where_it_has("reprune")
    update = _where_it_has("update")

    def report(self, path, X=None, y=None, *, df=None, level=0.95, title=None) -> None:
        """Write the fitted model as one HTML page, with its measured degrees of freedom.

        path, X, y, df, level and title as in `Earth.report`.
        """
        model = self._chosen()
        df = self._measured if df is None else df
        model.report(path, X, y, df=df, level=level, title=title)

    @property
    def _measured(self) -> Any:
        """Return the measured degrees of freedom of the fitted model, if any."""
        return None

    @classmethod
    def load(cls, path):
        """Load the selected estimator from the file `path` written by `save`."""
        return load_estimator(saved.read_file(path))

    @classmethod
    def from_json(cls, text: str):
        """Load the selected estimator from the text of `to_json`."""
        return load_estimator(text)

    @property
    def _inner(self):
        return Earth() if self.estimator is None else self.estimator

    @property
    def _data(self):
        """Return the training data, for plots."""
        return self._chosen()._data

    def _chosen(self):
        check_is_fitted(self)
        return vars(self)[self._fitted_name]

    def _estimator(self, attribute: str):
        if self._fitted_name not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {attribute!r}")
        return vars(self)[self._fitted_name]

    def __str__(self) -> str:
        return str(self._chosen()) if self.__sklearn_is_fitted__() else repr(self)

    def __sklearn_is_fitted__(self):
        return self._fitted_name in vars(self)

    def __sklearn_tags__(self):
        tags, inner = super().__sklearn_tags__(), get_tags(self._inner)
        tags.estimator_type = inner.estimator_type
        tags.regressor_tags, tags.classifier_tags = inner.regressor_tags, inner.classifier_tags
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags
