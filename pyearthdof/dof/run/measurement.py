"""One Monte Carlo run: every quantity of the paper with its leave-one-out values."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

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
    fitted = refitted = None
    statistics: dict[str, list] = {name: [] for name in _STATISTICS}
    has_refit, engine, versions = False, None, {}
    for block in blocks:
        fits, engine, versions = block.result, block.engine, block.versions
        if fitted is None:
            fitted, refitted = (
                estimator(variance_reduction, block.X, responses, groups) for _ in range(2)
            )
        if statistic is None:
            fitted.add(block.Y, fits.fitted)
        if fits.refitted is not None:
            has_refit = True
            refitted.add(block.Y, fits.refitted)
        for name, values in statistics.items():
            values.append(getattr(fits, name))
    means = {name: _mean(values, groups) for name, values in statistics.items()}
    found = Covariance(None, means[statistic]) if statistic else fitted.result()
    return Measurement(
        df=found.total,
        per_observation=found.per_observation,
        df_refitted=refitted.result().total if has_refit else None,
        engine=engine,
        versions=versions,
        **means,
    )


def over_designs(each: list[Measurement], counts) -> Measurement:
    """The means over the designs; a single measurement as it is."""
    if len(each) == 1:
        return each[0]
    estimates = ("df", "df_refitted", *_STATISTICS)
    parts = {name: [getattr(found, name) for found in each] for name in estimates}
    vectors = [found.per_observation for found in each]
    return Measurement(
        per_observation=None
        if any(vector is None for vector in vectors)
        else np.average(vectors, axis=0, weights=counts),
        engine=each[-1].engine,
        versions=each[-1].versions,
        **{
            name: None if any(v is None for v in values) else mean_over_designs(values, counts)
            for name, values in parts.items()
        },
    )


def _mean(blocks, groups) -> Jackknife | None:
    if any(values is None for values in blocks):
        return None
    return mean_of(np.concatenate([np.atleast_1d(values) for values in blocks]), groups)
