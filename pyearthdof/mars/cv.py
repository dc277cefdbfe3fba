"""EarthCV: options of earth by cross-validation, with one forward pass for each fold and degree."""

from __future__ import annotations

import time

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import indexable

from .._utils.checks import by_position, check_choice, refusal
from .._utils.warnings import CollectedWarnings, warn_once
from ..exceptions import InvalidInputError
from .classifier import EarthClassifier
from .cv_folds import FoldData, results, score_fold
from .data.design import check_design, check_responses, check_weights
from .earth import Earth
from .engines.native.cross_validation import in_threads
from .options import default_nk
from .wrapper import EarthWrapper

__all__ = ["PENALTIES", "EarthCV"]

PENALTIES = (
    0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 25, 30, 50, 100,
)  # fmt: skip
PARTS = ("penalty", "size")


class EarthCV(EarthWrapper):
    """MARS with options chosen by cross-validation, at the price of one forward pass a fold and degree.

    It finds what `GridSearchCV` over an Earth finds, with the same scores in `cv_results_`. But the forward
    pass does not depend on the penalty, the size or the pruning, except for its end, and one with a smaller
    nk is the beginning of one with a larger nk. So each fold has one pass for each degree, everything else
    comes from its pruning sequence, and a model that several options choose is scored once.

    Parameters
    ----------
    estimator : Earth or EarthClassifier, optional
        `Earth()` by default. The folds are fitted by the native engine, the last fit by the estimator's own.
    param_grid : dict or list of dicts, optional
        Arguments of the estimator and the values to try, as in `GridSearchCV`: penalty, nprune, degree,
        nk, or any other; each value of another one takes passes of its own.
    choose : {"penalty", "size"}
        What is tried without a `param_grid`: 24 penalties from 0 to 100, or every size, which is
        nprune = 1, 2, ... with the penalty -1.
    cv : int, splitter or iterable, default 10
        As in `GridSearchCV`; `RFolds(nfold, random_state=seed)` are the folds of R's earth.
    scoring, refit, error_score, return_train_score
        As in `GridSearchCV`.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Attributes
    ----------
    cv_results_ : dict
        As in `GridSearchCV`.
    best_params_, best_score_, best_index_
        The options with the best mean score, that score, and their place.
    best_estimator_ : Earth or EarthClassifier
        Fitted to all data with `best_params_`, unless refit is False. What it has learned is here, too.
    n_splits_, refit_time_, scorer_, multimetric_
        As in `GridSearchCV`.
    n_passes_ : int
        Forward passes that the folds took.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import EarthCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 10))
    >>> y = 2 * np.maximum(X[:, 0], 0) + rng.normal(size=100)
    >>> search = EarthCV(param_grid={"penalty": [0, 2, 4, 8], "degree": [1, 2]}, cv=5).fit(X, y)
    >>> search.best_params_, search.n_passes_
    ({'degree': 1, 'penalty': 4}, 10)
    """

    _holder = "best_estimator_"

    def __init__(
        self,
        estimator=None,
        param_grid=None,
        *,
        choose="penalty",
        cv=10,
        scoring=None,
        refit=True,
        error_score=np.nan,
        return_train_score=False,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.choose = choose
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None, groups=None):
        """Score all options on all folds, and fit with the best ones.

        Parameters
        ----------
        X, y
            The data, as the estimator takes them.
        sample_weight : array, (n,), optional
            Case weights of the fits, and of the scores as far as `GridSearchCV` counts them there.
        groups : array, (n,), optional
            For splitters that keep groups together.
        """
        with CollectedWarnings() as heard:
            self._search(X, y, sample_weight, groups)
        warn_once(heard)
        return self

    def _search(self, X, y, sample_weight, groups) -> None:
        """Score all options, and fit with the best ones."""
        inner = self._check()
        y, sample_weight, groups = by_position(X, y=y, sample_weight=sample_weight, groups=groups)
        design = check_design(self, X)
        if y is None or not is_classifier(inner):
            check_responses(self, y, len(design.values), factors=True)
        X, y, groups = indexable(X, y, groups)
        candidates = self._candidates(design.values.shape[1])
        weights = (
            None if sample_weight is None else check_weights(sample_weight, len(design.values))
        )
        scorer = check_scoring(inner, self.scoring)
        self.multimetric_ = isinstance(self.scoring, (list, tuple, set, dict))
        self.scorer_ = scorer
        splits = list(check_cv(self.cv, y, classifier=is_classifier(inner)).split(X, y, groups))
        self.n_splits_ = len(splits)
        data = FoldData(X, y, weights, scorer, self.return_train_score, self.error_score)
        asked = inner.allowed is not None or any(
            candidate.get("allowed") for candidate in candidates
        )
        # the user's function is asked by one thread
        folds = in_threads(
            lambda train, test: score_fold(inner, candidates, data, train, test),
            splits,
            1 if asked else self.n_jobs,
        )
        self.n_passes_ = sum(sum(fold.n_passes) for fold in folds)
        self.cv_results_ = results(candidates, folds, self.error_score)
        if not self._pick():
            return
        best = clone(inner).set_params(**clone(self.best_params_, safe=False))
        began = time.time()
        self.best_estimator_ = best.fit(
            X, y, **({} if weights is None else {"sample_weight": weights})
        )
        self.refit_time_ = time.time() - began

    def score(self, X, y, sample_weight=None) -> float:
        """The score that options were chosen by, of the last fit; as in `GridSearchCV`.

        X, y and sample_weight are the data that it is computed on.
        """
        model = self._chosen()
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        if not self.multimetric_:
            return self.scorer_(model, X, y, **given)
        if callable(self.refit):
            return model.score(X, y, **given)
        return self.scorer_(model, X, y, **given)[self.refit]

    def _check(self):
        check_choice("choose", self.choose, PARTS)
        inner = self._inner
        if not isinstance(inner, (Earth, EarthClassifier)):
            raise refusal("estimator", self.estimator, "an Earth or an EarthClassifier")
        if inner.nfold > 1:
            raise refusal("nfold", inner.nfold, "0 in EarthCV, which makes its own folds")
        several = isinstance(self.scoring, (list, tuple, set, dict))
        if several and self.refit is True:
            right = "the name of a score, a function or False with several scores"
            raise refusal("refit", self.refit, right)
        return inner

    def _candidates(self, p: int) -> list[dict]:
        """The options to try, checked for their names."""
        candidates = list(ParameterGrid(self._grid(p)))
        known = type(self._inner)._argument_names()
        for name in sorted({name for candidate in candidates for name in candidate}):
            if name not in known:
                raise InvalidInputError(
                    f"param_grid has {name!r} but {type(self._inner).__name__} has no such argument"
                )
            if name == "nfold":
                raise InvalidInputError("param_grid has 'nfold' but EarthCV makes its own folds")
        return candidates

    def _grid(self, p: int):
        if self.param_grid is not None:
            return self.param_grid
        if self.choose == "penalty":
            return {"penalty": list(PENALTIES)}
        nk = default_nk(p) if self._inner.nk is None else self._inner.nk
        return {"penalty": [-1], "nprune": list(range(1, nk + 1))}

    def _pick(self) -> bool:
        """Set the best options; tell whether there is to be a last fit."""
        if callable(self.refit):
            self.best_index_ = int(self.refit(self.cv_results_))
        elif self.refit or not self.multimetric_:
            name = self.refit if self.multimetric_ else "score"
            self.best_index_ = int(self.cv_results_[f"rank_test_{name}"].argmin())
            self.best_score_ = self.cv_results_[f"mean_test_{name}"][self.best_index_]
        else:
            return False
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        return bool(self.refit)
