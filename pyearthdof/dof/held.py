"""A pipeline with some of its choices held: what a step chose on the data is kept for all responses.

A transformer that looks at y, as a selection of columns, is frozen as it was fitted to the data. An
estimator that searches for a parameter, as by cross-validation, is replaced by one that has the parameter
found on the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LassoLars,
    LogisticRegression,
    OrthogonalMatchingPursuit,
    Ridge,
)

from .structure import is_blind

__all__ = ["Choice", "choices_of", "with_all_held"]


@dataclass(frozen=True)
class Choice:
    """Something that an estimator chooses by looking at y.

    Attributes
    ----------
    step : str
        The name of the step in its pipeline, or of the estimator.
    what : str
        What was chosen on the data, in words.
    held : estimator
        The estimator with this choice held; not fitted, but for frozen steps.
    """

    step: str
    what: str
    held: object


def choices_of(estimator, model) -> list[Choice]:
    """The choices of an estimator, each held alone.

    Parameters
    ----------
    estimator : the estimator, not fitted
    model : the same, fitted to the data
    """
    if type(estimator).__name__ != "Pipeline":
        found = _parameter_held(model)
        return [] if found is None else [Choice(type(estimator).__name__, *found)]
    choices = []
    for k, (name, step) in enumerate(estimator.steps[:-1]):
        if not is_blind(step):
            fitted = model.steps[k][1]
            held = _replaced(estimator, name, FrozenEstimator(fitted))
            choices.append(Choice(name, _what_it_made(fitted), held))
    name = estimator.steps[-1][0]
    last = _parameter_held(model.steps[-1][1])
    if last is not None:
        choices.append(Choice(name, last[0], _replaced(estimator, name, last[1])))
    return choices


def with_all_held(estimator, model) -> tuple[object, int]:
    """The estimator with all its choices held, those of a searched pipeline, too; their number."""
    if type(estimator).__name__ != "Pipeline":
        found = _parameter_held(model)
        if found is None:
            return estimator, 0
        inner = getattr(model, "best_estimator_", None)
        held, more = (found[1], 0) if inner is None else with_all_held(found[1], inner)
        return held, 1 + more
    held, choices = estimator, choices_of(estimator, model)
    for choice in choices:
        held = _replaced(held, choice.step, dict(choice.held.steps)[choice.step])  # type: ignore[attr-defined]
    return held, len(choices)


def _replaced(pipeline, name: str, step):
    return clone(pipeline).set_params(**{name: step})


def _what_it_made(step) -> str:
    """What a fitted transformer chose: columns, by number, or something else."""
    kind = type(step).__name__
    if not hasattr(step, "get_support"):
        return f"what {kind} made of the columns"
    chosen = np.asarray(step.get_support())
    return f"{int(chosen.sum())} of {len(chosen)} columns, by {kind}"


def _parameter_held(model) -> tuple[str, object] | None:
    """What a fitted search chose, in words, and an estimator that has it; None without a search."""
    rule = _SEARCHES.get(type(model).__name__)
    if rule is None or not type(model).__module__.startswith("sklearn."):
        return None
    return rule(model)


def _same(model, kind, **found) -> object:
    """An estimator of another kind with the parameters that both have, and those that were found."""
    known, given = kind().get_params(), model.get_params(deep=False)
    shared = {k: given[k] for k in given.keys() & known.keys() if not isinstance(given[k], str)}
    return kind(**(shared | found))


def _number(value) -> str:
    return f"{float(value):.4g}"


def _alpha(kind) -> Callable:
    def rule(model):
        return f"alpha = {_number(model.alpha_)}, by {type(model).__name__}", _same(
            model, kind, alpha=float(model.alpha_)
        )

    return rule


def _elastic_net(model):
    words = (
        f"alpha = {_number(model.alpha_)}, l1_ratio = {_number(model.l1_ratio_)}, by ElasticNetCV"
    )
    found = {"alpha": float(model.alpha_), "l1_ratio": float(model.l1_ratio_)}
    return words, _same(model, ElasticNet, **found)


def _pursuit(model):
    size = int(model.n_nonzero_coefs_)
    return f"{size} columns, by {type(model).__name__}", _same(
        model, OrthogonalMatchingPursuit, n_nonzero_coefs=size
    )


def _logistic(model):
    C = float(np.ravel(model.C_)[0])
    found = {"C": C, "solver": model.solver}
    return f"C = {_number(C)}, by LogisticRegressionCV", _same(model, LogisticRegression, **found)


def _best(model):
    words = ", ".join(f"{name} = {value}" for name, value in model.best_params_.items())
    return f"{words}, by {type(model).__name__}", clone(model.best_estimator_)


_SEARCHES: dict[str, Callable] = {
    "ElasticNetCV": _elastic_net,
    "GridSearchCV": _best,
    "HalvingGridSearchCV": _best,
    "HalvingRandomSearchCV": _best,
    "LassoCV": _alpha(Lasso),
    "LassoLarsCV": _alpha(LassoLars),
    "LassoLarsIC": _alpha(LassoLars),
    "LogisticRegressionCV": _logistic,
    "OrthogonalMatchingPursuitCV": _pursuit,
    "RandomizedSearchCV": _best,
    "RidgeCV": _alpha(Ridge),
}
