"""A fit with all that earth builds on it: cross-validation, the size it prefers, the variance model."""

from __future__ import annotations

from dataclasses import replace

from ....random import RDraws
from ...model.mars_model import FitDetails, MarsModel
from ...options import EarthOptions
from .fit import fit_one, reprune

__all__ = ["fit_complete"]


def fit_complete(
    data, options: EarthOptions, n_jobs: int = 1, seed=None
) -> tuple[MarsModel, FitDetails]:
    """Fit one model to a `TrainingData`; `seed` is the one of R's stream, for nfold of 2 or more."""
    if options.nfold < 2:
        return fit_one(data, options, n_jobs)
    from .cross_validation import cross_validate
    from .varmod import fit_variance

    if data.subset is not None:  # the folds are of the rows to fit on
        data = replace(
            data,
            all_design=data.design,
            all_responses=data.responses,
            all_weights=data.training_weights,
            subset=None,
            all_offset=data.offset,
        )
    draws = RDraws(seed)
    by_cv = options.pmethod == "cv"
    first = replace(options, pmethod="backward") if by_cv else options
    model, details = fit_one(data, first, n_jobs)
    cv = cross_validate(model, data, options, draws, n_jobs)
    if by_cv:
        model, details = _prune_by_cv(model, data, options, cv)
    details = replace(details, cv=cv)
    if options.varmod_method == "none":
        return model, details
    varmod, errors = fit_variance(model, details, data, options, cv, draws)
    sd = varmod.sd(details.fitted, data.design.values)
    return replace(model, varmod=varmod), replace(details, sd=sd, varmod_errors=errors)


def _prune_by_cv(model, data, options: EarthOptions, cv) -> tuple[MarsModel, FitDetails]:
    """The subset of the size that cross-validation prefers; the pruning pass stays as it was."""
    from .cross_validation import best_size

    size = best_size(cv, options.nprune)
    chosen, details = reprune(model, data, replace(options, nprune=size))
    kept = ("rss_per_subset", "gcv_per_subset", "prune_terms")
    return replace(chosen, **{name: getattr(model, name) for name in kept}), details
