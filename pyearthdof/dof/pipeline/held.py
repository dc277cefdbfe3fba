"""A pipeline with some of its choices held: what a step chose on the data is kept for all responses.

A transformer that looks at y, as a selection of columns, is frozen as it was fitted to the data. An
estimator that searches for a parameter, as by cross-validation, is replaced by one that has the parameter
found on the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
    held: Any


def choices_of(estimator, model) -> list[Choice]:
    """The choices of an estimator, each held alone.

    Parameters
    ----------
    estimator : the estimator, not fitted
    model : the same, fitted to the data
    """
    kind = type(estimator).__name__
    if kind == "Pipeline":
        name, last = estimator.steps[-1]
        inner = choices_of(last, model.steps[-1][1])
        if type(last).__name__ not in _WRAPPERS:  # the choice of the last step itself
            inner = [Choice(name, choice.what, choice.held) for choice in inner]
        return _frozen_steps(estimator, model) + [_inside(estimator, name, each) for each in inner]
    if kind == "TransformedTargetRegressor" and estimator.regressor is not None:
        inner = choices_of(estimator.regressor, model.regressor_)
        return [_inside(estimator, "regressor", each) for each in inner]
    found = _parameter_held(model)
    return [] if found is None else [Choice(kind, *found)]


_WRAPPERS = ("Pipeline", "TransformedTargetRegressor")


def _inside(estimator, name: str, choice: Choice) -> Choice:
    return Choice(choice.step, choice.what, _replaced(estimator, name, choice.held))


def _frozen_steps(pipeline, model) -> list[Choice]:
    """The steps before the last that look at y, each frozen."""
    return [
        Choice(name, _what_it_made(fitted), _replaced(pipeline, name, FrozenEstimator(fitted)))
        for (name, step), (_, fitted) in zip(pipeline.steps[:-1], model.steps[:-1], strict=True)
        if not is_blind(step)
    ]


def with_all_held(estimator, model) -> tuple[object, int]:
    """The estimator with all its choices held, those of a searched pipeline, too; their number."""
    kind = type(estimator).__name__
    if kind == "Pipeline":
        held, frozen = estimator, _frozen_steps(estimator, model)
        for choice in frozen:
            held = _replaced(held, choice.step, choice.held.named_steps[choice.step])
        name, last = estimator.steps[-1]
        inner, more = with_all_held(last, model.steps[-1][1])
        return _replaced(held, name, inner), len(frozen) + more
    if kind == "TransformedTargetRegressor" and estimator.regressor is not None:
        inner, more = with_all_held(estimator.regressor, model.regressor_)
        return _replaced(estimator, "regressor", inner), more
    found = _parameter_held(model)
    if found is None:
        return estimator, 0
    best = getattr(model, "best_estimator_", None)
    inner, more = (found[1], 0) if best is None else with_all_held(found[1], best)
    return inner, 1 + more


def _replaced(pipeline, name: str, step):
    return clone(pipeline).set_params(**{name: step})


def _what_it_made(step) -> str:
    """What a fitted transformer chose: columns, by number, or something else."""
    kind = type(step).__name__
    if kind == "Pipeline":
        return "; ".join(_what_it_made(part) for _, part in step.steps if not is_blind(part))
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
    """An estimator of another kind with the parameters that both have, and those that were found.

    `precompute` may be "auto" for a search alone, and changes no fit.
    """
    known, given = kind().get_params(), model.get_params(deep=False)
    shared = {name: given[name] for name in given.keys() & known.keys() if name != "precompute"}
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
    found = {"C": float(np.ravel(model.C_)[0])}
    ratio = np.ravel(model.l1_ratio_)[0]
    if ratio is not None:
        found["l1_ratio"] = float(ratio)
    words = ", ".join(f"{name} = {_number(value)}" for name, value in found.items())
    return f"{words}, by LogisticRegressionCV", _same(model, LogisticRegression, **found)


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
