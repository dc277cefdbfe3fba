"""Degrees of freedom at the rows of the design, for Gaussian noise: Algorithm 1 of the paper, or exactly."""

from __future__ import annotations

import numpy as np

from .._utils.checks import check_choice, check_mean, refusal
from ..contract import bind
from ..exceptions import InvalidInputError
from .montecarlo.adapters import as_procedure
from .montecarlo.blocks import FitMany
from .montecarlo.correlated import CorrelatedResponses, the_responses
from .montecarlo.designs import Designs, the_designs
from .montecarlo.jackknife import Jackknife
from .montecarlo.measurement import Measurement, measure, over_designs
from .montecarlo.noise import as_draws
from .montecarlo.pilot import responses_around_fit
from .montecarlo.target import Target
from .montecarlo.variance import PLAIN, choose
from .orthogonal import has_orthogonal_formula, orthogonal_measurement
from .results import QUANTITIES, DegreesOfFreedom, as_fields
from .versions import package_versions

__all__ = ["METHODS", "fixed_x_degrees_of_freedom"]

METHODS = ("auto", "monte-carlo", "exact")
_MAX_SMOOTHER = 2000  # rows up to which the diagonal of an exact S is worth n fits


def fixed_x_degrees_of_freedom(
    procedure, X, *, y, mu, sigma, n_rep, target_se, draws, random_state, n_designs, method,
    variance_reduction, n_jobs, progress,
) -> DegreesOfFreedom:  # fmt: skip
    """`degrees_of_freedom` for Gaussian noise, at the rows of X; the design X has been checked."""
    procedure = as_procedure(procedure)
    orthogonal = method == "exact" and has_orthogonal_formula(procedure, X)
    method = "exact" if orthogonal else _resolve_method(method, procedure)
    stream = as_draws(draws, random_state)
    linear = orthogonal or (method == "exact" and getattr(procedure, "is_linear", False))
    designs = the_designs(X, stream, n_rep, n_designs, exact=linear, target_se=target_se)
    settings = {
        "procedure": repr(procedure),
        "design": designs.setting,
        "mu": _describe(mu, "zero"),
        "draws": repr(stream),
        "method": method,
        "target_se": target_se,
    }
    run = {"n_jobs": n_jobs, "progress": progress}
    if isinstance(mu, str) and mu == "fitted":
        responses, settings["sigma_df"] = responses_around_fit(
            procedure, designs, y, sigma, stream, **run
        )
    else:
        responses = the_responses(designs.n, check_mean(mu, designs.n), sigma, stream)
    settings["sigma"] = _sigma_setting(responses)
    reduction = choose(variance_reduction, procedure, X, responses, designs.counts, target_se)
    if orthogonal:
        found = orthogonal_measurement(procedure, X, responses)
    elif linear:
        found = over_designs(
            [_exact(procedure, X, responses) for X in designs], np.ones(len(designs))
        )
    else:
        found = measure(
            procedure,
            designs,
            responses,
            statistic=procedure.df_statistic if method == "exact" else None,
            # The mean of a statistic is no covariance.
            reduction=PLAIN if method == "exact" else reduction,
            target=None if target_se is None else Target(target_se, lambda found: found.df.se),
            **run,
        )
        designs = designs.first(found.counts)
    settings |= found.reduction.settings | {"engine": found.engine}
    return _result(found, designs, not linear, settings)


def _resolve_method(method, procedure) -> str:
    check_choice("method", method, METHODS)
    linear = getattr(procedure, "is_linear", False)
    if method == "auto":
        return "exact" if linear else "monte-carlo"
    if method == "exact" and not linear and getattr(procedure, "df_statistic", None) is None:
        right = f"'monte-carlo': {procedure!r} is not linear and declares no df_statistic"
        raise refusal("method", method, right)
    return method


def _describe(value, default: str) -> str:
    return default if value is None else value if isinstance(value, str) else "given"


def _sigma_setting(responses):
    if isinstance(responses, CorrelatedResponses):
        return "a covariance matrix"
    return float(responses.sigma[0]) if np.ptp(responses.sigma) == 0 else "given"


def _exact(procedure, X, responses) -> Measurement:
    """tr(S) of a linear smoother, from one fit; y does not choose S, so nothing was searched."""
    [Y] = responses.blocks([0, 1])
    bound = bind(procedure, X)
    fits = FitMany(procedure)(bound, Y)
    if fits.trace is None:
        raise InvalidInputError(f"{procedure!r} declares is_linear but does not tell its trace")
    trace, rank = _known(fits.trace), None if fits.rank is None else _known(fits.rank)
    return Measurement(
        df=trace,
        per_observation=_smoother_diagonal(bound, len(X)),
        trace=trace,
        n_coef=None if fits.n_coef is None else _known(fits.n_coef),
        rank=rank,
        # Refitted on a set that y does not choose: a projection, whose df is its rank.
        df_refitted=None if fits.refitted is None else rank,
    )


def _known(values) -> Jackknife:
    return Jackknife(float(values[0]), np.zeros(2))


def _smoother_diagonal(bound, n: int) -> np.ndarray | None:
    """The diagonal of S, from its fits to unit vectors."""
    if n > _MAX_SMOOTHER:
        return None
    return np.diag(bound.fit_many(np.eye(n)).fitted).copy()


def _result(run: Measurement, designs: Designs, fits: bool, settings: dict) -> DegreesOfFreedom:
    return DegreesOfFreedom(
        **as_fields({name: getattr(run, name) for name in QUANTITIES}),
        per_observation=run.per_observation,
        n_rep=designs.n_rep if fits else 0,
        n_designs=designs.n_drawn,
        se_covers=designs.covers(fits),
        settings=settings,
        versions=package_versions() | run.versions,
    )
