"""CorrectedEarth: MARS with the penalty at which its nominal degrees of freedom are the actual ones."""

from __future__ import annotations

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..contract import Bound, Fits
from ..exceptions import InvalidInputError
from ..mars.design.data import check_design, check_responses
from ..mars.earth import Earth
from ..mars.earth_fit import EarthFit
from ..mars.mda import Mars
from ..mars.regressor import check_many
from .correction import PenaltyCorrection, correct_penalty

__all__ = ["CorrectedEarth"]

_PASSED_ON = ("n_rep", "draws", "random_state", "n_designs", "n_jobs", "progress")


def _has(name):
    return lambda self: hasattr(self._inner, name)


class CorrectedEarth(MetaEstimatorMixin, BaseEstimator):
    """MARS with a corrected penalty: `correct_penalty` for the data at hand, then the fit.

    What is measured is the search of the estimator, with all its options except thresh, penalty, pmethod
    and nprune, for which Algorithm 2 has values of its own.

    Parameters
    ----------
    estimator : Earth, EarthClassifier or Mars, optional
        What is corrected; `Earth()` by default. Its own penalty does not count.
    design : {"gaussian", "data"}
        Measure the search on Gaussian noise of X's shape, as the authors do, or on X itself.
    n_rep : int, default 100
        Number of responses drawn and fitted.
    draws, random_state, n_designs
        Whose random numbers, and on how many drawn designs, as in `correct_penalty`.
    n_jobs : int, optional
        Number of workers; the result does not depend on it.
    progress : bool, default False
        Show a progress bar.

    Attributes
    ----------
    correction_ : PenaltyCorrection
        What was measured.
    estimator_ : Earth, EarthClassifier or Mars
        The estimator with the corrected penalty, fitted. What it has learned (`penalty_`, `terms_`,
        `model_` and all other names that end in _) is here, too.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import CorrectedEarth, Earth
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = CorrectedEarth(Earth(minspan=5), n_rep=20).fit(x, np.abs(x[:, 0]))
    >>> model.penalty_ == model.correction_.penalty
    True
    >>> model.predict([[-1.0, 0.0]]).round(1)
    array([1.])
    """

    def __init__(
        self,
        estimator=None,
        *,
        design="gaussian",
        n_rep=100,
        draws=None,
        random_state=None,
        n_designs=None,
        n_jobs=None,
        progress=False,
    ):
        self.estimator = estimator
        self.design = design
        self.n_rep = n_rep
        self.draws = draws
        self.random_state = random_state
        self.n_designs = n_designs
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X, y, sample_weight=None):
        """Measure, and fit with the penalty that was found.

        Parameters
        ----------
        X, y
            The data, as the estimator takes them.
        sample_weight : array, (n,), optional
            Weights of the final fit. The measurement does not count them: Algorithm 2 knows no weights.
        """
        self._check(X, y)
        self.correction_ = self._measure(X)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = self._with(self.correction_.penalty).fit(X, y, **weights)
        return self

    def predict(self, X):
        """Predict at the rows of X as the fitted estimator does."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X):
        """Probabilities of the classes at the rows of X, as the fitted classifier tells them."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_has("predict_interval"))
    def predict_interval(self, X=None, level=0.95, kind="prediction"):
        """Intervals of the fitted estimator; X, level and kind as in `Earth.predict_interval`."""
        check_is_fitted(self)
        return self.estimator_.predict_interval(X, level, kind)

    def score(self, X, y, sample_weight=None) -> float:
        """The estimator's own score: R squared, or the share of right classes.

        X, y and sample_weight are the data that it is computed on.
        """
        check_is_fitted(self)
        return self.estimator_.score(X, y, sample_weight)

    def summary(self) -> str:
        """The summary of the fitted model, as R prints it."""
        check_is_fitted(self)
        return self.estimator_.summary()

    def report(self, path, X=None, y=None, *, df=None, level=0.95, title=None) -> None:
        """Write the fitted model as one HTML page, with the df that were measured for its correction.

        path, X, y, df, level and title as in `Earth.report`.
        """
        check_is_fitted(self)
        df = self.correction_ if df is None else df
        self.estimator_.report(path, X, y, df=df, level=level, title=title)

    def bind(self, X) -> Bound:
        """This estimator on a design, for many fits: the penalty depends on X alone."""
        return self._with(self._measure(X).penalty).bind(X)

    def fit_many(self, X, Y) -> Fits:
        """Fit every column of Y on the same X with the penalty that was measured once."""
        bound = self.bind(X)
        return bound.fit_many(check_many(Y, len(bound.X)))

    @property
    def _inner(self):
        return Earth() if self.estimator is None else self.estimator

    def _check(self, X, y) -> None:
        """Refuse bad data before anything is measured."""
        if not isinstance(self._inner, (EarthFit, Mars)):
            raise InvalidInputError(
                f"estimator={self.estimator!r} but it should be an Earth, an EarthClassifier or a Mars"
            )
        estimator = clone(self._inner)
        check_consistent_length(X, y)
        design = check_design(estimator, X)
        if not is_classifier(estimator):
            check_responses(estimator, y, len(design.values))

    def _measure(self, X) -> PenaltyCorrection:
        if self.design not in ("gaussian", "data"):
            raise InvalidInputError(f"design={self.design!r} but it should be 'gaussian' or 'data'")
        settings = {name: getattr(self, name) for name in _PASSED_ON}
        gaussian = self.design == "gaussian"
        return correct_penalty(X, estimator=self._inner, gaussian=gaussian, **settings)

    def _with(self, penalty: float):
        return clone(self._inner).set_params(penalty=penalty)

    def __getattr__(self, name):
        """What the fitted estimator has learned."""
        if name.endswith("_") and not name.startswith("_") and "estimator_" in vars(self):
            return getattr(self.estimator_, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __sklearn_is_fitted__(self):
        return "estimator_" in vars(self)

    def __sklearn_tags__(self):
        tags, inner = super().__sklearn_tags__(), get_tags(self._inner)
        tags.estimator_type = inner.estimator_type
        tags.regressor_tags, tags.classifier_tags = inner.regressor_tags, inner.classifier_tags
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags
