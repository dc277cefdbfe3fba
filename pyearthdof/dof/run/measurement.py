"""One Monte Carlo run: every quantity of the paper with its leave-one-out values."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from ...exceptions import InvalidInputError
from ..search import modified_search_cost, search_cost
from .covariance import Covariance, jackknife_groups
from .designs import Designs
from .jackknife import Jackknife, mean_of, mean_over_designs
from .montecarlo import FitMany, run_blocks
from .variance import estimator

__all__ = ["Measurement", "measure", "over_designs"]

_STATISTICS = ("trace", "n_coef", "rank")
_WIDTH = 2  # a fit and perhaps a refit for each response


@dataclass(frozen=True)
class Measurement:
    """What a run found; None for what the procedure cannot tell."""

    df: Jackknife
    per_observation: np.ndarray | None
    trace: Jackknife | None
    n_coef: Jackknife | None
    rank: Jackknife | None
    df_refitted: Jackknife | None
    engine: str | None = None
    versions: dict = field(default_factory=dict)

    @property
    def msdf(self) -> Jackknife | None:
        return modified_search_cost(self.df, self.trace)

    @property
    def sdf(self) -> Jackknife | None:
        return search_cost(self.df_refitted, self.rank)


def measure(
    procedure,
    designs: Designs,
    responses,
    *,
    statistic: str | None = None,
    variance_reduction: str | None = None,
    n_jobs=None,
    progress=False,
) -> Measurement:
    """Run the fits and reduce them in the order of the repetitions.

    With `statistic`, the df is the mean of that field of the fits instead of a covariance.
    """
    blocks = run_blocks(FitMany(procedure), designs, responses, n_jobs=n_jobs, progress=progress)
    each = [
        _measure_one(of_one, responses, designs.counts[k], statistic, variance_reduction)
        for k, of_one in itertools.groupby(blocks, key=lambda block: block.design)
    ]
    return over_designs(each, designs.counts)


def _measure_one(blocks, responses, n_rep, statistic, variance_reduction) -> Measurement:
    """What the blocks of one design say."""
    groups = jackknife_groups(responses.n, n_rep, _WIDTH)
    first = next(blocks)
    fitted, refitted = (estimator(variance_reduction, first.X, responses, groups) for _ in range(2))
    statistics: dict[str, list] = {name: [] for name in _STATISTICS}
    has_refit = False
    for block in itertools.chain([first], blocks):
        fits = block.result
        if statistic is None:
            fitted.add(block.Y, fits.fitted)
        if fits.refitted is not None:
            has_refit = True
            refitted.add(block.Y, fits.refitted)
        for name, values in statistics.items():
            values.append(getattr(fits, name))
    means = {name: _mean(values, groups) for name, values in statistics.items()}
    found = fitted.result() if statistic is None else _stated(statistic, means[statistic])
    return Measurement(
        df=found.total,
        per_observation=found.per_observation,
        trace=means["trace"],
        n_coef=means["n_coef"],
        rank=means["rank"],
        df_refitted=refitted.result().total if has_refit else None,
        engine=block.engine,
        versions=block.versions,
    )


def _stated(statistic: str, mean: Jackknife | None) -> Covariance:
    if mean is None:
        raise InvalidInputError(
            f"the procedure declares df_statistic={statistic!r} but its fits do not tell it"
        )
    return Covariance(None, mean)


def over_designs(each: list[Measurement], counts) -> Measurement:
    """The means over the designs; a single measurement as it is."""
    if len(each) == 1:
        return each[0]

    def mean(name: str) -> Jackknife | None:
        found = [getattr(measurement, name) for measurement in each]
        return None if any(f is None for f in found) else mean_over_designs(found, counts)

    vectors = [found.per_observation for found in each if found.per_observation is not None]
    return Measurement(
        df=mean_over_designs([found.df for found in each], counts),
        per_observation=np.average(vectors, axis=0, weights=counts)
        if len(vectors) == len(each)
        else None,
        trace=mean("trace"),
        n_coef=mean("n_coef"),
        rank=mean("rank"),
        df_refitted=mean("df_refitted"),
        engine=each[-1].engine,
        versions=each[-1].versions,
    )


def _mean(blocks, groups) -> Jackknife | None:
    if any(values is None for values in blocks):
        return None
    return mean_of(np.concatenate([np.atleast_1d(values) for values in blocks]), groups)
