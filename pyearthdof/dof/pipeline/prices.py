"""What the choices of an estimator cost: the runs of a report, all with the same random numbers."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from ...exceptions import FittingError, PyEarthDofError
from ..degrees_of_freedom import degrees_of_freedom
from ..montecarlo.jackknife import Jackknife
from ..results import DegreesOfFreedom
from .held import Choice
from .parameters import last_step
from .structure import is_linear_smoother

__all__ = ["Price", "Runs", "own_search", "priced"]

_QUICK = 2.0  # seconds of a fit that may be done twice, to tell how long one takes


@dataclass(frozen=True)
class Price:
    """What a choice costs in degrees of freedom.

    Attributes
    ----------
    step : str
        The step that chooses.
    what : str
        What it chose on the data, in words.
    price, se : float
        The df of all less that with this choice held, from the same draws or, where the error is smaller,
        from the df of a fit that is linear once it is held.
    df_held : float
        The df with this choice of the data held.

    Examples
    --------
    >>> from pyearthdof import Price
    >>> Price("select", "3 of 9 columns, by SelectKBest", 2.5, 0.3, 4.0).price
    2.5
    """

    step: str
    what: str
    price: float
    se: float
    df_held: float


class Runs:
    """The fit to the data, how long it took, and runs with the same random numbers."""

    def __init__(self, estimator, X, n_rep, seed, n_jobs, progress):
        self.estimator, self.X, self.n_rep = estimator, X, n_rep
        self.seed, self.n_jobs, self.progress = seed, n_jobs, progress
        self.n_fits, self.start = 0, time.perf_counter()

    def fit(self, fit):
        """The fit to the data, as those of the runs with one thread; the first of a process takes longer."""
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
        """Say before it begins how long it will take."""
        seconds = n_fits * self.seconds_per_fit / effective_n_jobs(self.n_jobs)
        self.say(
            f"df_report: about {n_fits} fits of up to {_duration(self.seconds_per_fit)}, "
            f"{_duration(seconds)} or less"
        )

    def say(self, words: str) -> None:
        if self.progress:
            print(words, file=sys.stderr, flush=True)

    def measure(self, words: str, estimator, n_pilot: int = 0, **options) -> DegreesOfFreedom:
        self.say(words)
        found = degrees_of_freedom(
            estimator, self.X, n_rep=self.n_rep, n_jobs=self.n_jobs, progress=self.progress,
            **self.seed, **options,
        )  # fmt: skip
        self.n_fits += n_pilot + found.n_rep
        return found


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{max(1, round(1000 * seconds))} ms"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def priced(run: Runs, found, choices: list[Choice], all_held, n_held, around):
    """The price of each choice, and of all of them together where there are several."""
    prices = []
    for choice in choices:
        held = run.measure(f"with {choice.step} held", choice.held, **around)
        known = _exact(run, choice.held)
        prices.append(_price(choice.step, choice.what, found, held, known))
    if n_held > 1:
        held = run.measure("with all choices held", all_held, **around)
        prices.append(_price("all of these", "held together", found, held, _exact(run, all_held)))
    return prices, held


def _exact(run: Runs, held) -> float | None:
    """The df of what is linear in y once its choice is held."""
    if is_linear_smoother(held):
        return degrees_of_freedom(held, run.X, method="exact").df
    return None


def _price(step, what, found, held, known: float | None) -> Price:
    """The difference from the same draws, or from the df that is known, whichever has the smaller error."""
    total, same = (Jackknife(run.df, run.left_out["df"]) for run in (found, held))
    if known is None:
        price = total - same
        return Price(step, what, price.value, price.se, held.df)
    exactly = Jackknife(total.value - known, total.left_out - known)
    price = min(total - same, exactly, key=lambda each: each.se)
    return Price(step, what, price.value, price.se, known)


_OWN = {
    "tree": "its splits",
    "forest": "its splits",
    "boosting": "its splits",
    "earth": "its terms",
    "lasso": "its columns, and their shrinkage",
    "elasticnet": "its columns, and their shrinkage",
}


def own_search(model, all_held, fixed: float) -> Price:
    """What the last step finds while it fits: splits, terms, columns; S(y) of the data held."""
    kind = type(last_step(model)).__name__
    words = next(
        (words for part, words in _OWN.items() if part in kind.lower()), "what y decides in the fit"
    )
    return Price("the fit itself", f"{words}, {kind}", all_held.df - fixed, all_held.se, fixed)
