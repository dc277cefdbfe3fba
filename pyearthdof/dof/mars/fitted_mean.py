"""Corrected penalty and model size with noise around the fit instead of around zero.

A search uses fewer degrees of freedom on noise if it finds a signal. The degrees of freedom are therefore
measured around a fit, with noise of its variance RSS/(n - df). The fit that they select is the next mean,
until the choice repeats. All iterations use the same random numbers, so that only the mean changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ...exceptions import InvalidInputError
from ...mars.data.design import Design
from ...mars.earth import Earth
from ..criteria import AGREES, FULL, MOST, PERFECT, SWINGS, TIRED, settle
from ..montecarlo.designs import the_designs
from ..montecarlo.draws import Draws, RandomState, Responses, authors_draws
from ..montecarlo.errors import check_n_rep
from ..montecarlo.measurement import Measurement, measure
from ..montecarlo.variance_reduction import choose
from ..results import Estimate
from .correction import MarsSearch, corrected_penalty, default_penalty, nominal
from .sizes import (
    Mean,
    SizeChoice,
    choose_size,
    fits_of_sizes,
    measure_sizes,
    n_weighted,
    rss_of_fit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLOSE = 0.01  # tolerance between two penalties


@dataclass(frozen=True, eq=False)
class AroundFit(Estimate):
    """A corrected penalty measured with noise around the fit.

    Attributes
    ----------
    penalty, se : float
        The penalty, and the standard error of its last measurement.
    default_penalty : float
    df, n_terms : float
        Actual degrees of freedom and mean number of terms of the unpruned fits, in the last measurement.
    sigma : float
        Noise standard deviation: the root of RSS/(n - nominal df at the penalty).
    ended : str
        Termination: converged, oscillated (the largest penalty of the cycle is used), not converged, or
        stopped because the degrees of freedom reached n or the fit is perfect.
    steps : DataFrame
        One row per measurement: penalty and n_terms of the fit, sigma, and the measured penalty.
    n_rep : int

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import CorrectedEarth, Earth
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = 5 * np.abs(X[:, 0]) + rng.normal(size=100)
    >>> model = CorrectedEarth(Earth(engine="native"), mu="fitted", n_rep=50).fit(X, y)
    >>> model.correction_.ended
    'converged'
    """

    penalty: float
    se: float
    default_penalty: float
    df: float
    n_terms: float
    sigma: float
    ended: str
    steps: pd.DataFrame
    n_rep: int

    _TABLE = "steps"

    def __repr__(self) -> str:
        return (
            f"AroundFit({self.default_penalty:g} -> {self.penalty:.6g} ± {self.se:.2g}, df={self.df:.6g}, "
            f"n_terms={self.n_terms:.6g}, sigma={self.sigma:.4g}, {self.ended}, n_rep={self.n_rep})"
        )

    def _draw(self, ax: Axes) -> None:
        """Draw the penalty of each fit, and the penalty measured around it."""
        at = range(1, len(self.steps) + 1)
        if not at:
            raise InvalidInputError("nothing was measured around the fit: there is nothing to draw")
        ax.plot(at, self.steps["penalty"], "o-", label="of the fit")
        ax.plot(at, self.steps["measured"], "s--", label="measured around it")
        ax.errorbar(
            [at[-1]], [self.penalty], yerr=1.96 * self.se, fmt="ko", capsize=2, label="taken"
        )
        ax.set(xlabel="measurement", ylabel="penalty", xticks=list(at))
        ax.legend()


def penalty_around_fit(
    search: MarsSearch,
    fit: Callable,
    n_rep: int | None,
    draws: Draws | str | None,
    random_state: RandomState,
    **run: Any,
) -> AroundFit:
    """Iterate Algorithm 2 around its own fit.

    `fit(penalty)` is the estimator with that penalty, fitted to the data; `run` has n_jobs and progress.
    """
    n_rep = check_n_rep(n_rep, None)
    stream = authors_draws(draws, random_state)
    procedure, unpruned = search.once_checked(), search.procedure
    penalty = default = default_penalty(unpruned.degree)
    rows, ended, found = [], TIRED, None
    seen: dict[tuple, int] = {}
    for step in range(MOST):
        model = fit(penalty)
        n = len(model.fitted_values_)
        cost = float(nominal(model.n_terms_, penalty))
        if cost >= n:
            ended = FULL
            break
        sigma = float(np.sqrt(rss_of_fit(model) / (n - cost)))
        if sigma == 0:
            ended = PERFECT
            break
        draws_of_step = stream.copy()
        designs = the_designs(search.design, draws_of_step, n_rep, None)
        responses = Responses(n, model.fitted_values_, np.full(n, sigma), draws_of_step)
        reduction = choose("auto", procedure, search.design, responses, designs.counts)
        found = measure(procedure, designs, responses, reduction=reduction, **run)
        r, last = _terms(found), penalty
        # Algorithm 2; the default if no term was added.
        penalty = float(corrected_penalty(found.df.value, r)) if r > 1 else default
        rows.append((last, int(model.n_terms_), sigma, penalty))
        if abs(penalty - last) < CLOSE:
            ended = AGREES
            break
        key = (round(last / CLOSE), round(penalty / CLOSE))
        if key in seen:
            ended = SWINGS
            penalty = max(row[3] for row in rows[seen[key] :])
            break
        seen[key] = step
    steps = pd.DataFrame(rows, columns=["penalty", "n_terms", "sigma", "measured"])
    df, se = (np.nan, np.nan) if found is None else (found.df.value, found.df.se)
    r = 1.0 if found is None else _terms(found)
    return AroundFit(
        penalty=penalty,
        se=2 * se / (r - 1) if r > 1 else np.nan,
        default_penalty=default,
        df=df,
        n_terms=r,
        sigma=rows[-1][2] if rows else 0.0,
        ended=ended,
        steps=steps,
        n_rep=n_rep,
    )


def _terms(found: Measurement) -> float:
    assert found.n_coef is not None  # MARS reports its terms
    return found.n_coef.value


def size_around_fit(
    design: Design,
    long: Earth,
    first: SizeChoice,
    estimator: Any,
    weights: ArrayLike | None,
    nprune: int | None,
    **run: Any,
) -> SizeChoice:
    """Iterate the choice of a size around its own fit.

    All sizes come from `long`, fitted with penalty -1 and without nprune. `first` is the choice by the curve
    at the null, and `estimator` is the measured search; `run` has n_rep, draws, random_state, n_jobs and
    progress.
    """
    stream = authors_draws(run.pop("draws"), run.pop("random_state"))
    rows, choice = [], first
    projections, n = fits_of_sizes(long, design), n_weighted(long)
    fits, rss = projections(long.fitted_values_ + long.residuals_), first.table["rss"].to_numpy()

    def around(size: int) -> int | str:
        nonlocal choice
        df = choice.df
        sigma = float(np.sqrt(rss[size - 1] / (n - df))) if n > df else 0.0
        if sigma == 0:
            return FULL if n <= df else PERFECT
        mean = Mean(fits[size - 1], sigma, projections(fits[size - 1]))
        curve = measure_sizes(design, estimator, weights, mean, draws=stream.copy(), **run)
        choice = choose_size(curve, rss, criterion=first.criterion, n=n, nprune=nprune)
        rows.append((size, df, sigma, choice.size))
        return choice.size

    size, ended = settle(first.size, around)
    steps = pd.DataFrame(rows, columns=["size", "df", "sigma", "measured"])
    df = float(choice.table["df"][size - 1])
    return replace(choice, size=size, df=df, ended=ended, steps=steps)
