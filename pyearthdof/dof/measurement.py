"""One Monte Carlo run: every quantity of the paper with its leave-one-out values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .covariance import Covariance, jackknife_groups
from .jackknife import Jackknife, mean_of
from .montecarlo import FitMany, block_edges, run_blocks
from .search import modified_search_cost, search_cost
from .variance import estimator

__all__ = ["Measurement", "measure"]

_STATISTICS = ("trace", "n_coef", "rank")


@dataclass(frozen=True)
class Measurement:
    """What a run found; None for what the procedure cannot tell."""

    df: Jackknife
    per_observation: np.ndarray | None
    trace: Jackknife | None
    n_coef: Jackknife | None
    rank: Jackknife | None
    df_refitted: Jackknife | None
    versions: dict = field(default_factory=dict)

    @property
    def msdf(self) -> Jackknife | None:
        return modified_search_cost(self.df, self.trace)

    @property
    def sdf(self) -> Jackknife | None:
        return search_cost(self.df_refitted, self.rank)


def measure(
    procedure,
    X,
    responses,
    n_rep: int,
    *,
    statistic: str | None = None,
    variance_reduction: str | None = None,
    n_jobs=None,
    progress=False,
) -> Measurement:
    """Run the fits and reduce them in the order of the repetitions.

    With `statistic`, the df is the mean of that field of the fits instead of a covariance.
    """
    width = 2  # a fit and perhaps a refit for each response
    edges = block_edges(responses.n, n_rep)
    groups = jackknife_groups(responses.n, n_rep, width)
    fitted = estimator(variance_reduction, X, responses, groups)
    refitted = estimator(variance_reduction, X, responses, groups)
    statistics: dict[str, list] = {name: [] for name in _STATISTICS}
    has_refit, versions = False, {}
    for block in run_blocks(
        FitMany(procedure), X, responses, edges, n_jobs=n_jobs, progress=progress
    ):
        fits, versions = block.result, block.versions
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
        versions=versions,
        **means,
    )


def _mean(blocks, groups) -> Jackknife | None:
    if any(values is None for values in blocks):
        return None
    return mean_of(np.concatenate([np.atleast_1d(values) for values in blocks]), groups)
