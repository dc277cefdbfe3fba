"""EarthClassifier: R's earth with a binomial model of its terms, as a scikit-learn classifier."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import ClassifierMixin

from .._utils.checks import as_pandas, by_position
from ..exceptions import InvalidInputError
from .base import MarsEstimator
from .components.glm import LINKS
from .data.classes import (
    check_classes,
    check_threshold,
    class_names,
    class_vector,
    class_weights,
    indicator_columns,
    learn_classes,
)
from .data.design import Responses, check_design, check_subset, check_weights
from .data.training import TrainingData

WEIGHTED_SUCCESSES = "non-integer #successes in a binomial glm!"  # R's warning


def _check_rows(classes, codes, weights, rows) -> None:
    """Raise an error if the rows or weights leave only one class."""
    if rows is not None:
        check_classes(classes, codes[rows], "subset has rows of")
    if weights is not None:
        used = weights > 0 if rows is None else rows[weights[rows] > 0]
        check_classes(classes, codes[used], "sample_weight is above 0 in rows of")


class EarthClassifier(ClassifierMixin, MarsEstimator):
    """MARS for classification, as R's earth with `glm=list(family=binomial)`.

    Two classes use one binomial model of the second class, more classes one binomial model each, on common
    terms. These probabilities do not sum to 1: `predict_proba` normalises them, `predict_raw_proba` returns
    R's values.

    Parameters
    ----------
    glm_family : {"binomial", "quasibinomial", "gaussian", ...}, default None
        None means "binomial", with any `glm_link`; "gaussian" is least squares on 0 and 1, as earth without
        `glm`.
    threshold : float, default 0.5
        With two classes, `predict` returns the second if its probability is above this, as R's
        `predict(fit, type="class", thresh=)`. With more classes it returns the most probable one.
    class_order : {"sorted", "levels"} or a sequence of classes, default "sorted"
        Order of `classes_`: sorted, as in scikit-learn; R's levels, which keep the order of a pandas
        categorical and are sorted otherwise; or as given. The second of two classes is modelled. Levels
        without rows are omitted.
    class_weight : dict, "balanced" or None, default None
        Class weights, which multiply `sample_weight`; classes not in the dict have weight 1. "balanced"
        gives all classes the same total weight. R's earth has no such argument; the fit is R's with these
        case weights.
    others
        As in `Earth`.

    Attributes
    ----------
    classes_ : the classes, in the order of `class_order`.
    others
        As in `Earth`, with one response per class, or one for two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import EarthClassifier
    >>> x = np.random.default_rng(0).normal(size=(200, 2))
    >>> noise = np.random.default_rng(1).normal(size=200)
    >>> y = np.where(3 * np.maximum(0, x[:, 0]) + noise > 1, "out", "in")
    >>> model = EarthClassifier(nprune=2).fit(x, y)
    >>> model.classes_.tolist()
    ['in', 'out']
    >>> model.predict_proba([[0.0, 0.0], [3.0, 0.0]]).round(3)
    array([[0.761, 0.239],
           [0.   , 1.   ]])
    """

    def __init__(
        self,
        degree=1,
        penalty=None,
        nk=None,
        thresh=0.001,
        minspan=0,
        endspan=0,
        newvar_penalty=0.0,
        fast_k=20,
        fast_beta=1.0,
        linpreds=None,
        allowed=None,
        pmethod="backward",
        nprune=None,
        adjust_endspan=2.0,
        auto_linpreds=True,
        scale_y=None,
        response_weight=None,
        glm_family=None,
        glm_link=None,
        glm_maxit=None,
        glm_epsilon=None,
        glm_l2=0.0,
        nfold=0,
        ncross=1,
        stratify=True,
        varmod_method="none",
        varmod_exponent=1.0,
        varmod_conv=1.0,
        varmod_clamp=0.1,
        varmod_minspan=-3,
        force_weights=False,
        get_leverages=None,
        exhaustive_tol=1e-10,
        keepxy=False,
        random_state=None,
        engine="auto",
        n_jobs=None,
        *,
        missing="raise",
        monotone=None,
        interactions=None,
        threshold=0.5,
        class_order="sorted",
        class_weight=None,
    ):
        self._set_arguments(locals())

    def fit(self, X, y, sample_weight=None, *, subset=None, **others):
        """Fit the model; arguments as in `Earth.fit`, where y are strings, integers, booleans or dates."""
        self._refuse_others(others)
        self._fit(self._check_data(X, y, sample_weight, subset))
        return self

    def _check_data(self, X, y, sample_weight=None, subset=None) -> TrainingData:
        check_threshold(self.threshold)
        by_position(X, y=y, sample_weight=sample_weight, subset=subset)
        design = check_design(self, X)
        classes, codes = learn_classes(y, len(design.values), self.class_order)
        check_classes(classes, codes)
        weights = check_weights(sample_weight, len(codes))
        rows = check_subset(subset, len(codes))
        _check_rows(classes, codes, weights, rows)
        self.classes_ = classes
        weights = class_weights(self.class_weight, classes, codes, weights, rows)
        return TrainingData(design, self._indicators(codes), weights, rows)

    @classmethod
    def from_formula(cls, formula, data, sample_weight=None, *, subset=None, **options):
        """Fit by R's formula; its left side holds the classes, such as "sex ~ age" or "age > 18 ~ .".

        The arguments `formula`, `data`, `sample_weight`, `subset` and `options` are those of
        `Earth.from_formula`.

        Examples
        --------
        >>> import pandas as pd
        >>> from pyearthdof import EarthClassifier
        >>> data = pd.DataFrame({"x": range(40), "kind": ["low"] * 18 + ["high", "low"] * 2 + ["high"] * 18})
        >>> model = EarthClassifier.from_formula("kind ~ sqrt(x)", data, class_order=["low", "high"])
        >>> model.predict(pd.DataFrame({"x": [1, 39]})).tolist()
        ['low', 'high']
        """
        from .engines.r.engine import moves_knots
        from .formula.learning import FormulaData

        by_position(data, "data", sample_weight=sample_weight, subset=subset)
        estimator = cls(**options)
        estimator._refuse_indicators()
        check_threshold(estimator.threshold)
        learned = FormulaData.learn(
            formula,
            data,
            sample_weight,
            subset,
            moves_knots=moves_knots,
            class_order=estimator.class_order,
        )
        y = learned.all_responses.matrix
        codes = y[:, 0].astype(int) if y.shape[1] == 1 else y.argmax(axis=1)
        classes, weights, rows = learned.learned.classes, learned.all_weights, learned.subset
        assert classes is not None  # with a class_order
        _check_rows(classes, codes, weights, rows)
        weights = class_weights(estimator.class_weight, classes, codes, weights, rows)
        estimator._fit(replace(learned, all_weights=weights))
        return estimator

    def predict(self, X, *, missing="refuse", extrapolate="allow"):
        """Predict the most probable class; of two, the second if its probability is above `threshold`.

        X and `extrapolate` as in `Earth.predict`. `missing="propagate"` allows missing values in columns
        that the model does not use; a class itself cannot be missing.
        """
        self._check_fitted()
        check_threshold(self.threshold)
        raw = self.predict_raw_proba(X, missing=missing, extrapolate=extrapolate)
        if np.isnan(raw).any():
            raise InvalidInputError("missing='propagate' but a class cannot be missing")
        chosen = (raw > self.threshold).astype(int) if raw.ndim == 1 else raw.argmax(axis=1)
        return self.classes_[chosen]

    def predict_proba(self, X, *, missing="refuse", extrapolate="allow"):
        """Predict class probabilities at X, (n, n_classes); each row sums to 1.

        `missing` and `extrapolate` are those of `Earth.predict`.
        """
        raw = np.clip(self.predict_raw_proba(X, missing=missing, extrapolate=extrapolate), 0.0, 1.0)
        if raw.ndim == 1:
            return np.column_stack([1 - raw, raw])
        total = raw.sum(axis=1, keepdims=True)
        return np.where(total == 0, 1 / raw.shape[1], raw / np.where(total == 0, 1.0, total))

    def predict_log_proba(self, X, *, missing="refuse", extrapolate="allow"):
        """Predict log probabilities; X, missing and extrapolate as in `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, missing=missing, extrapolate=extrapolate))

    def predict_raw_proba(self, X, *, missing="refuse", extrapolate="allow"):
        """Predict R's probabilities at X: (n,) for the second of two classes, else (n, n_classes).

        `missing` and `extrapolate` are those of `Earth.predict`.
        """
        return self._predict(X, "response", missing, None, extrapolate)

    def decision_function(self, X, *, missing="refuse", extrapolate="allow"):
        """Compute linear predictors at X: (n,) for two classes, positive for the second; else (n, n_classes).

        They are relative to the value for probability one half, which is 0 for logit, probit and cauchit.
        `missing` and `extrapolate` are those of `Earth.predict`.
        """
        self._check_fitted()
        link = self._glm.link
        above = self._predict(X, "link", missing, None, extrapolate) - LINKS[link].half
        return -above if LINKS[link].is_decreasing else above

    def _warn(self, heard, options) -> None:
        if self.class_weight is not None:  # weighted successes are what was asked for
            heard = [entry for entry in heard if str(entry[0]) != WEIGHTED_SUCCESSES]
        super()._warn(heard, options)

    def score(self, X, y, sample_weight=None) -> float:
        """Return the accuracy on X and y, weighted by `sample_weight`."""
        y, sample_weight = by_position(X, y=y, sample_weight=sample_weight)
        return super().score(X, class_vector(as_pandas(y, "y")), sample_weight)

    def _indicators(self, codes: np.ndarray) -> Responses:
        """Return 0/1 for two classes, otherwise one indicator column per class, as earth expands factors."""
        names = class_names(self.classes_)
        values = indicator_columns(codes, len(names))
        return Responses(values, names[1:] if len(names) == 2 else names, names)

    def _params(self) -> dict:
        params = super()._params()
        return params | {"glm_family": params["glm_family"] or "binomial"}
