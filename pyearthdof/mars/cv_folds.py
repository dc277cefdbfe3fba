"""The scores of many options on one fold, from one forward pass for each search."""

from __future__ import annotations

import copy
import inspect
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import _safe_indexing

from .._utils.checks import is_integer
from .._utils.warnings import warn_user
from ..exceptions import InvalidInputError
from .base import EarthFit
from .classifier import EarthClassifier
from .earth import Earth
from .engines.native.fit import fit_one
from .engines.native.prune import choose
from .engines.native.shared import SharedSearch

__all__ = ["Fold", "FoldData", "results", "score_fold"]


@dataclass(frozen=True)
class FoldData:
    """The data of all folds, and what is to be told of each."""

    X: Any
    y: Any
    weights: np.ndarray | None
    scorer: Any
    with_train: bool
    error_score: Any

    def rows(self, which) -> tuple:
        """X, y and weights of some rows."""
        weights = None if self.weights is None else self.weights[which]
        return _safe_indexing(self.X, which), _safe_indexing(self.y, which), weights

    def score(self, model, X, y, weights) -> dict:
        """The scores of a model by name; weighted where the scorer knows how, as in scikit-learn."""
        given = (
            {} if weights is None or not _takes_weights(self.scorer) else {"sample_weight": weights}
        )
        scores = self.scorer(model, X, y, **given)
        return scores if isinstance(scores, dict) else {"score": scores}


def _takes_weights(scorer) -> bool:
    """What scikit-learn asks its scorers, in the versions whose searches weigh scores."""
    accept = getattr(scorer, "_accept_sample_weight", None)
    if accept is None and inspect.isfunction(scorer):
        return "sample_weight" in inspect.signature(scorer).parameters
    return bool(accept and accept())


@dataclass(frozen=True)
class Fold:
    """Scores of all candidates on a fold, by the names of the scores; times; and what failed."""

    test: list[dict]
    train: list[dict]
    fit_time: list[float]
    score_time: list[float]
    errors: list[Exception | None]
    n_passes: list[int]


class _Known(Exception):
    """The model was fitted before."""


class _FoldSearch(SharedSearch):
    """Ends a fit as soon as it is known to give a model that has its scores already."""

    def __init__(self, nk):
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


class _Sharing(EarthFit):
    """An estimator whose terms come from a search that it shares with others."""

    _shared: _FoldSearch

    def _compute(self, data, options, seed):
        return fit_one(data, options, 1, self._shared.search)


class _SharingEarth(_Sharing, Earth):
    pass


class _SharingClassifier(_Sharing, EarthClassifier):
    pass


FROM_THE_SEQUENCE = ("penalty", "nk", "nprune", "pmethod")


def score_fold(estimator, candidates: list[dict], data: FoldData, train, test) -> Fold:
    """Fit every candidate on the rows `train` and score it on the rows `test`."""
    X, y, weights = data.rows(train)
    X_test, y_test, test_weights = data.rows(test)
    given = {} if weights is None else {"sample_weight": weights}
    kind = _SharingClassifier if isinstance(estimator, EarthClassifier) else _SharingEarth
    plain = kind(**clone(estimator).get_params() | {"get_leverages": False, "n_jobs": None})
    numbers = [candidate.get("nk", estimator.nk) for candidate in candidates]
    plain._shared = shared = _FoldSearch(max((int(k) for k in numbers if is_integer(k)), default=0))
    fold = Fold([], [], [], [], [], [])
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


def results(candidates: list[dict], folds: list[Fold], error_score) -> dict:
    """`cv_results_` as scikit-learn has them."""
    _tell_failures(candidates, folds, error_score)
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


def _tell_failures(candidates, folds, error_score) -> None:
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
