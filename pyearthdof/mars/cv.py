"""EarthCV: cross-validated options of earth with one forward pass per fold and degree."""

from __future__ import annotations

import copy
import inspect
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import _safe_indexing, indexable

from .._utils.checks import by_position, check_choice, is_integer, refusal
from .._utils.warnings import CollectedWarnings, warn_once, warn_user
from ..exceptions import InvalidInputError
from .classifier import EarthClassifier
from .data.design import check_design, check_responses, check_weights
from .earth import Earth
from .engines.native.cross_validation import in_threads
from .engines.native.engine import choose
from .engines.native.shared import SharedEngine
from .meta import EarthMeta
from .options import default_nk

PENALTIES = (
    0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 25, 30, 50, 100,
)  # fmt: skip
PARTS = ("penalty", "size")


class EarthCV(EarthMeta):
    """MARS with options selected by cross-validation, using one forward pass per fold and degree.

    Equivalent to `GridSearchCV` over an Earth, with the same scores in `cv_results_`, but faster. The forward
    pass does not depend on penalty, size and pruning, except for its end, and the pass for a smaller nk is
    the beginning of the pass for a larger one. Each fold therefore needs one pass per degree; all other
    options are evaluated along its pruning sequence, and each distinct model is scored once.

    Parameters
    ----------
    estimator : Earth or EarthClassifier, optional
        Default `Earth()`. Folds are fitted by the native engine, the final model by the estimator's engine.
    param_grid : dict or list of dicts, optional
        Arguments of the estimator and the values to try, as in `GridSearchCV`. Values of arguments other
        than penalty, nprune, degree and nk need separate forward passes.
    choose : {"penalty", "size"}
        Candidates if `param_grid` is not given: 24 penalties from 0 to 100, or all sizes, nprune = 1, 2,
        ... with penalty -1.
    cv : int, splitter or iterable, default 10
        As in `GridSearchCV`; `RFolds(nfold, random_state=seed)` gives the folds of R's earth.
    scoring, refit, error_score, return_train_score
        As in `GridSearchCV`.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Attributes
    ----------
    cv_results_ : dict
        As in `GridSearchCV`.
    best_params_, best_score_, best_index_
        Options with the best mean score, that score, and their index.
    best_estimator_ : Earth or EarthClassifier
        Fitted to all data with `best_params_`, unless refit is False. Its fitted attributes are available
        on the EarthCV as well.
    n_splits_, refit_time_, scorer_, multimetric_
        As in `GridSearchCV`.
    n_passes_ : int
        Number of forward passes for the folds.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from pyearthdof import EarthCV
    >>> X, y = make_friedman1(100, random_state=0)
    >>> search = EarthCV(param_grid={"penalty": [0, 2, 4, 8], "degree": [1, 2]}, cv=5).fit(X, y)
    >>> search.best_params_, search.n_passes_
    ({'degree': 2, 'penalty': 0}, 10)
    """

    _fitted_name = "best_estimator_"

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
        """Score all options on all folds, and refit with the best ones.

        Parameters
        ----------
        X, y
            Training data, as for the estimator.
        sample_weight : array, (n,), optional
            Case weights of the fits, and of the scores where `GridSearchCV` uses them.
        groups : array, (n,), optional
            Groups, for splitters that use them.
        """
        with CollectedWarnings() as heard:
            self._search(X, y, sample_weight, groups)
        warn_once(heard)
        return self

    def _search(self, X, y, sample_weight, groups) -> None:
        """Score all options, and refit with the best ones."""
        inner = self._check()
        y, sample_weight, groups = by_position(X, y=y, sample_weight=sample_weight, groups=groups)
        design = check_design(clone(inner), X)
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
        data = _FoldData(X, y, weights, scorer, self.return_train_score, self.error_score)
        asked = inner.allowed is not None or any(
            candidate.get("allowed") for candidate in candidates
        )
        # the user's function is asked by one thread
        folds = in_threads(
            lambda train, test: _score_fold(inner, candidates, data, train, test),
            splits,
            1 if asked else self.n_jobs,
        )
        self.n_passes_ = sum(sum(fold.n_passes) for fold in folds)
        self.cv_results_ = _results(candidates, folds, self.error_score)
        if not self._pick():
            return
        best = clone(inner).set_params(**clone(self.best_params_, safe=False))
        began = time.time()
        self.best_estimator_ = best.fit(
            X, y, **({} if weights is None else {"sample_weight": weights})
        )
        self.refit_time_ = time.time() - began

    def score(self, X, y, sample_weight=None) -> float:
        """Return the score of the refitted model, with the scorer of the selection, as in `GridSearchCV`.

        X, y and sample_weight are the test data.
        """
        model = self._chosen()
        y, sample_weight = by_position(X, y=y, sample_weight=sample_weight)
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
        """Return the candidates, with validated names."""
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
        """Set the best options; return whether to refit."""
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


@dataclass(frozen=True)
class _FoldData:
    """Data of all folds, and the scores to compute."""

    X: Any
    y: Any
    weights: np.ndarray | None
    scorer: Any
    with_train: bool
    error_score: Any

    def rows(self, which) -> tuple:
        weights = None if self.weights is None else self.weights[which]
        return _safe_indexing(self.X, which), _safe_indexing(self.y, which), weights

    def score(self, model, X, y, weights) -> dict:
        """Return the scores of a model by name, weighted if the scorer supports it, as in scikit-learn."""
        given = (
            {} if weights is None or not _takes_weights(self.scorer) else {"sample_weight": weights}
        )
        scores = self.scorer(model, X, y, **given)
        return scores if isinstance(scores, dict) else {"score": scores}


def _takes_weights(scorer) -> bool:
    """Return whether a scorer accepts weights, in scikit-learn versions whose searches weight scores."""
    accept = getattr(scorer, "_accept_sample_weight", None)
    if accept is None and inspect.isfunction(scorer):
        return "sample_weight" in inspect.signature(scorer).parameters
    return bool(accept and accept())


@dataclass(frozen=True)
class _Fold:
    """Scores of all candidates on a fold by name, times, and failures."""

    test: list[dict]
    train: list[dict]
    fit_time: list[float]
    score_time: list[float]
    errors: list[Exception | None]
    n_passes: list[int]


class _Known(Exception):
    """The model has been fitted before."""


class _FoldEngine(SharedEngine):
    """Engine that stops a fit as soon as its model is known to have been scored."""

    def __init__(self, nk: int):
        super().__init__(nk)
        self.scored: dict = {}
        self.rest: str = ""  # the candidate's options that decide more than the terms
        self.key: tuple = ()

    def subsets(self, columns, Y, options):
        found = super().subsets(columns, Y, options)
        selected = choose(found, options).selected
        self.key = (self.last_pass, len(columns), tuple(selected.tolist()), self.rest)
        if self.key in self.scored:
            raise _Known
        return found


FROM_THE_SEQUENCE = ("penalty", "nk", "nprune", "pmethod")


def _score_fold(estimator, candidates: list[dict], data: _FoldData, train, test) -> _Fold:
    """Fit every candidate on the rows `train` and score it on the rows `test`."""
    X, y, weights = data.rows(train)
    X_test, y_test, test_weights = data.rows(test)
    given = {} if weights is None else {"sample_weight": weights}
    plain = clone(estimator).set_params(get_leverages=False, n_jobs=None)
    numbers = [candidate.get("nk", estimator.nk) for candidate in candidates]
    shared = _FoldEngine(max((int(k) for k in numbers if is_integer(k)), default=0))
    plain._engine = shared
    fold = _Fold([], [], [], [], [], [])
    for candidate in candidates:
        model = copy.copy(plain)
        for name, value in candidate.items():
            setattr(model, name, value)
        rest = {name: value for name, value in candidate.items() if name not in FROM_THE_SEQUENCE}
        shared.rest, began, error = repr(sorted(rest.items())), time.time(), None
        try:
            model.fit(X, y, **given)
            fitted = time.time()
            scores = data.score(model, X_test, y_test, test_weights)
            on_train = data.score(model, X, y, weights) if data.with_train else {}
            shared.scored[shared.key] = scores, on_train
        except _Known:
            fitted = time.time()
            scores, on_train = shared.scored[shared.key]
        except Exception as failure:
            if isinstance(data.error_score, str) and data.error_score == "raise":
                raise
            error, fitted, scores, on_train = failure, time.time(), {}, {}
        fold.test.append(scores)
        fold.train.append(on_train)
        fold.fit_time.append(fitted - began)
        fold.score_time.append(time.time() - fitted)
        fold.errors.append(error)
    fold.n_passes.append(shared.n_passes)
    return fold


def _results(candidates: list[dict], folds: list[_Fold], error_score) -> dict:
    """Return `cv_results_` in scikit-learn's form."""
    _warn_of_failures(candidates, folds, error_score)
    table: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        times = np.array([getattr(fold, name) for fold in folds])
        table[f"mean_{name}"], table[f"std_{name}"] = times.mean(axis=0), times.std(axis=0)
    for name in sorted({name for candidate in candidates for name in candidate}):
        given = [name in candidate for candidate in candidates]
        values = np.ma.MaskedArray(np.empty(len(candidates), dtype=object), mask=~np.array(given))
        for k, candidate in enumerate(candidates):
            if name in candidate:
                values[k] = candidate[name]
        table[f"param_{name}"] = values
    table["params"] = candidates
    names = next(iter(scores for fold in folds for scores in fold.test if scores))
    for part in ("test", "train"):
        for name in names if part == "test" or folds[0].train[0] else ():
            _add_scores(table, folds, part, name, error_score)
    return table


def _add_scores(table: dict, folds, part: str, name: str, error_score) -> None:
    rows = [[scores.get(name, error_score) for scores in getattr(fold, part)] for fold in folds]
    values = np.array(rows, dtype=float)
    for k, row in enumerate(values):
        table[f"split{k}_{part}_{name}"] = row
    table[f"mean_{part}_{name}"] = mean = values.mean(axis=0)
    table[f"std_{part}_{name}"] = values.std(axis=0)
    if part == "test":
        # what failed comes last
        known = np.where(np.isnan(mean), np.nanmin(mean) - 1 if (mean == mean).any() else 0, mean)
        table[f"rank_test_{name}"] = rankdata(-known, method="min").astype(np.int32)


def _warn_of_failures(candidates, folds, error_score) -> None:
    errors = [error for fold in folds for error in fold.errors if error is not None]
    if not errors:
        return
    if len(errors) == len(folds) * len(candidates):
        raise InvalidInputError(f"all fits failed, the first with: {errors[0]}") from errors[0]
    warn_user(
        f"{len(errors)} of {len(folds) * len(candidates)} fits failed, and have the score {error_score}; the "
        f"first with: {errors[0]}",
        FitFailedWarning,
    )
