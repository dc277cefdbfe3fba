"""Costs of the choices of a pipeline: its df minus those with the choices for the data held fixed.

A transformer that uses y, such as a selection of columns, is frozen as fitted to the data. An estimator that
searches for a parameter, for example by cross-validation, is replaced by one with the parameter found on the
data.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from threadpoolctl import threadpool_limits

from ...contract import Rows
from ...exceptions import FittingError, PyEarthDofError
from ...mars.components.terms import nominal_df
from ...mars.options import default_penalty
from ...procedures.scikit_learn import (
    is_blind,
    is_ensemble,
    is_linear_smoother,
    own_choices,
    search_held,
)
from ..degrees_of_freedom import degrees_of_freedom
from ..families import family_df
from ..montecarlo.draws import Draws
from ..montecarlo.errors import Jackknife
from ..results import DegreesOfFreedom, jackknife


def naive_df(model: Any, fits: Any = None) -> float | None:
    """Return the conventional number of parameters of a fitted estimator; None if there is no convention.

    `fits` is its fit. For MARS, these are the nominal degrees of freedom, with earth's default penalty in
    place of -1, as after a choice of the size; for a tree the leaves, for a linear model the nonzero
    coefficients, for a smoother the trace. One of K classes has coefficients determined by the others. An
    ensemble has more leaves than observations, so tr S(y) is used. A mean of several MARS models has no
    conventional count.
    """
    last = last_step(model)
    if is_ensemble(last):
        return None if fits is None or fits.trace is None else float(fits.trace[0])
    if hasattr(last, "nominal_df_"):
        return _of_mars(last)
    if fits is not None and fits.n_coef is not None:
        return fits.n_coef[0].item()
    if hasattr(last, "get_n_leaves"):
        return int(last.get_n_leaves())
    if hasattr(last, "coef_"):
        return _free(last.coef_) + _free(np.atleast_1d(getattr(last, "intercept_", 0.0))[:, None])
    return None


def _of_mars(model: Any) -> float | None:
    if model.model_.is_merged:
        return None
    if model.penalty_ >= 0:
        return float(model.nominal_df_)
    earth = getattr(model, "estimator_", model)
    return float(nominal_df(model.n_terms_, default_penalty(earth.degree)))


def _free(coefficients: np.ndarray) -> int:
    """Count nonzero coefficients; of K > 2 rows, one for each class, at most K - 1 in each column."""
    table = np.atleast_2d(coefficients)
    return int(np.minimum((table != 0).sum(axis=0), max(1, len(table) - 1)).sum())


def last_step(model: Any) -> Any:
    """Return the last step of a pipeline, the best of a search, the regressor of a transformed response."""
    while True:
        if hasattr(model, "steps"):
            model = model.steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "regressor_"):
            model = model.regressor_
        else:
            return model


@dataclass(frozen=True)
class Choice:
    """A choice of an estimator that depends on y."""

    step: str  # name of the pipeline step, or the estimator
    what: str  # the choice on the data, in words
    held: Any  # the unfitted estimator with this choice held; only frozen steps are fitted


def choices_of(estimator: Any, model: Any) -> list[Choice]:
    """Return the choices of an estimator, each held separately; `model` is its fit to the data."""
    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        inner = choices_of(last, model.steps[-1][1])
        if not hasattr(last, "steps") and not hasattr(
            last, "regressor"
        ):  # the choice made by the last step
            inner = [Choice(name, choice.what, choice.held) for choice in inner]
        return _frozen_steps(estimator, model) + [_inside(estimator, name, each) for each in inner]
    if getattr(estimator, "regressor", None) is not None:
        inner = choices_of(estimator.regressor, model.regressor_)
        return [_inside(estimator, "regressor", each) for each in inner]
    found = search_held(model)
    return [] if found is None else [Choice(type(estimator).__name__, *found)]


def _inside(estimator: Any, name: str, choice: Choice) -> Choice:
    return Choice(choice.step, choice.what, _replaced(estimator, name, choice.held))


def _frozen_steps(pipeline: Any, model: Any) -> list[Choice]:
    """Return the steps before the last that use y, each frozen."""
    return [
        Choice(name, _what_it_made(fitted), _replaced(pipeline, name, FrozenEstimator(fitted)))
        for (name, step), (_, fitted) in zip(pipeline.steps[:-1], model.steps[:-1], strict=True)
        if not is_blind(step)
    ]


def with_all_held(estimator: Any, model: Any) -> tuple[object, int]:
    """Return the estimator with all choices held, including those of a searched pipeline; their number."""
    if hasattr(estimator, "steps"):
        held, frozen = estimator, _frozen_steps(estimator, model)
        for choice in frozen:
            held = _replaced(held, choice.step, choice.held.named_steps[choice.step])
        name, last = estimator.steps[-1]
        inner, more = with_all_held(last, model.steps[-1][1])
        return _replaced(held, name, inner), len(frozen) + more
    if getattr(estimator, "regressor", None) is not None:
        inner, more = with_all_held(estimator.regressor, model.regressor_)
        return _replaced(estimator, "regressor", inner), more
    found = search_held(model)
    if found is None:
        return estimator, 0
    best = getattr(model, "best_estimator_", None)
    inner, more = (found[1], 0) if best is None else with_all_held(found[1], best)
    return inner, 1 + more


def _replaced(pipeline: Any, name: str, step: Any) -> Any:
    return clone(pipeline).set_params(**{name: step})


def _what_it_made(step: Any) -> str:
    """Describe the choice of a fitted transformer: the number of columns, or its output."""
    if hasattr(step, "steps"):
        return "; ".join(_what_it_made(part) for _, part in step.steps if not is_blind(part))
    if not hasattr(step, "get_support"):
        return f"the output of {type(step).__name__}"
    chosen = np.asarray(step.get_support())
    return f"{int(chosen.sum())} of {len(chosen)} columns, by {type(step).__name__}"


_QUICK = 2.0  # seconds up to which a fit may be repeated to time it


@dataclass(frozen=True)
class Price:
    """The cost of a choice in degrees of freedom.

    Attributes
    ----------
    step, what : str
        The step that chooses, and a description of its choice on the data.
    price, se : float
        The df of all choices minus those with this choice held, from the same draws or, if the error is
        smaller, from the df of a fit that becomes linear with the choice held.
    df_held : float
        The df with this choice held.

    Examples
    --------
    >>> from pyearthdof.results import Price
    >>> Price("select", "3 of 9 columns, by SelectKBest", 2.5, 0.3, 4.0).price
    2.5
    """

    step: str
    what: str
    price: float
    se: float
    df_held: float


class Runs:
    """The fit to the data, its time, and runs with the same random numbers."""

    def __init__(
        self,
        estimator: Any,
        X: Rows,
        family: str | None,
        n_rep: int,
        draws: Draws,
        n_jobs: int | None,
        progress: bool,
    ) -> None:
        self.estimator, self.X, self.n_rep = estimator, X, n_rep
        self.draws, self.n_jobs, self.progress = draws, n_jobs, progress
        gaussian = family == "gaussian"
        self.df = degrees_of_freedom if gaussian else partial(family_df, family=family)
        self.n_fits, self.start = 0, time.perf_counter()

    def fit(self, fit: Callable[..., Any]) -> Any:
        """Fit the data with one thread, as in the runs; the first fit of a process takes longer."""
        with threadpool_limits(1):
            start = time.perf_counter()
            try:
                model = fit()
            except PyEarthDofError:
                raise
            except Exception as error:
                words = " ".join(str(error).split("\n")[0].split())
                message = f"the fit to the data failed with {type(error).__name__}: {words}"
                raise FittingError(message, X=self.X) from error
            if time.perf_counter() - start < _QUICK:
                start = time.perf_counter()
                model = fit()
        self.seconds_per_fit = time.perf_counter() - start
        self.n_fits += 1
        return model

    def announce(self, n_fits: int) -> None:
        """Print the expected running time before the runs."""
        seconds = n_fits * self.seconds_per_fit / effective_n_jobs(self.n_jobs)
        self.say(
            f"df_report: about {n_fits} fits of up to {_duration(self.seconds_per_fit)}, "
            f"{_duration(seconds)} or less"
        )

    def say(self, words: str) -> None:
        if self.progress:
            print(words, file=sys.stderr, flush=True)

    def measure(
        self, words: str, estimator: Any, n_pilot: int = 0, **options: Any
    ) -> DegreesOfFreedom:
        self.say(words)
        found = self.df(
            estimator, self.X, n_rep=self.n_rep, n_jobs=self.n_jobs, progress=self.progress,
            draws=self.draws, **options,
        )  # fmt: skip
        self.n_fits += n_pilot + found.n_rep
        return found


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{max(1, round(1000 * seconds))} ms"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def priced(
    run: Runs,
    found: DegreesOfFreedom,
    choices: list[Choice],
    all_held: Any,
    n_held: int,
    around: dict[str, Any],
) -> Any:
    """Return the price of each choice, and of all of them together if there are several."""
    prices = []
    for choice in choices:
        held = run.measure(f"with {choice.step} held", choice.held, **around)
        known = _exact(run, choice.held)
        prices.append(_price(choice.step, choice.what, found, held, known))
    if n_held > 1:
        held = run.measure("with all choices held", all_held, **around)
        prices.append(_price("all of these", "held together", found, held, _exact(run, all_held)))
    return prices, held


def _exact(run: Runs, held: Any) -> float | None:
    """Return the df of an estimator that is linear in y with its choice held."""
    if is_linear_smoother(held):
        return degrees_of_freedom(held, run.X, method="exact").df
    return None


def _price(step: Any, what: str, found: DegreesOfFreedom, held: Any, known: float | None) -> Price:
    """Return the difference from the same draws or from known df, whichever has the smaller error."""
    total, same = jackknife(found), jackknife(held)
    prices = [total - same]
    if known is not None:
        prices.append(Jackknife(total.value - known, total.left_out - known))
    price = min(prices, key=lambda each: each.se)
    return Price(step, what, price.value, price.se, held.df if known is None else known)


def own_search(model: Any, all_held: Any, fixed: float) -> Price:
    """Return the search of the last step (splits, terms, columns), from S(y) of the data held."""
    last = last_step(model)
    words = f"{own_choices(last)}, {type(last).__name__}"
    return Price("the fit itself", words, all_held.df - fixed, all_held.se, fixed)
