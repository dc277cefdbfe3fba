"""Algorithm 1 of the paper: degrees of freedom at the rows of the design, for Gaussian noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.checks import (
    by_position,
    check_choice,
    check_design,
    check_mean,
    check_vector,
    is_shape,
    refusal,
)
from ..contract import Bound, Rows, bind
from ..exceptions import InvalidInputError
from .exact import has_orthogonal_formula, orthogonal_measurement
from .montecarlo.adapters import as_procedure, takes_missing
from .montecarlo.designs import Designs, the_designs
from .montecarlo.draws import (
    CorrelatedResponses,
    Draws,
    RandomState,
    Responses,
    as_draws,
    has_one_sigma,
    the_responses,
)
from .montecarlo.errors import Jackknife, Target, check_n_rep, check_target, warn_if_missed
from .montecarlo.measurement import Measurement, measure, over_designs
from .montecarlo.variance_reduction import PLAIN, Reduction, choose, is_numeric
from .montecarlo.workers import FitMany
from .results import QUANTITIES, DegreesOfFreedom, as_fields, package_versions
from .stump import has_split_formula, split_measurement

METHODS = ("auto", "monte-carlo", "exact")
_MAX_SMOOTHER = 2000  # rows up to which the diagonal of an exact S is worth n fits
_N_COLUMNS = 500  # of a matrix that are smoothed at once
_N_PILOT = (10, 50)  # repetitions at least and at most
_N_ROUNDS = 2


def degrees_of_freedom(
    procedure: Any,
    X: Rows | tuple[int, int],
    *,
    y: ArrayLike | None = None,
    mu: ArrayLike | str | None = None,
    sigma: ArrayLike | None = None,
    n_rep: int | None = None,
    target_se: float | None = None,
    draws: Draws | None = None,
    random_state: RandomState = None,
    n_designs: int | None = None,
    method: str = "auto",
    variance_reduction: str | None = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
) -> DegreesOfFreedom:
    """Estimate the degrees of freedom of a fitting procedure on a design, for Gaussian noise.

    This is the paper's Algorithm 1, at the rows of X. See `prediction_df` for predictions at new rows, and
    `family_df` for classifiers and counts. The standard errors are jackknife ones over the repetitions (over
    32 groups of them when more than four million responses are drawn; nan with two repetitions), over frames,
    or over the designs. A repetition that fails raises a `FittingError`, with its number and its response.

    Parameters
    ----------
    procedure : procedure, scikit-learn estimator, or function (X, y) -> fitted
        A regressor is cloned for every fit. scikit-learn's linear models, trees, forests, boosting, nearest
        neighbours, kernel and isotonic regression, and pipelines and searches of them, have a known trace
        and number of parameters. Of a function and of other regressors only the fit is known, so `trace`,
        `n_coef`, `rank`, `msdf` and `sdf` are then None.
    X : (n, p) array, DataFrame, or tuple (n, p)
        The design; a tuple asks for standard Gaussian numbers, drawn after the responses. See
        `n_designs`.
    y : (n,) array, optional
        The response that `mu="fitted"` is about.
    mu : None, "fitted", float or (n,) array
        The true mean: zero, the fit to `y` (a parametric bootstrap), or given.
    sigma : float, (n,) array or (n, n) array, optional
        Standard deviation of y, one for each row, or the covariance matrix of y; 1 by default. With a
        matrix the df are tr(sigma^-1 Cov(muhat, y)), which is the same for a diagonal one. With an array
        or a matrix the result also has `optimism_df`, which belongs into criteria of the unweighted RSS.
        With `mu="fitted"` the default is an estimate: its square is RSS/(n - df), df being the trace for a
        linear smoother, and else what a pilot run of 10 to 50 repetitions around the fit finds, done twice.
        Where n - df is below 1, as for a fit that interpolates, sigma has to be given. A fit that shrinks
        more than it selects, such as a forest, leaves residuals that are too small even for n - df.
    n_rep : int, optional
        Number of responses drawn and fitted; 100 by default. With `target_se` the largest number, 10,000
        by default.
    target_se : float, optional
        Draw until the standard error of df is this small: 30 repetitions at least, `n_rep` at most, with a
        warning where that is not enough. Without `n_designs` a tuple gets as many designs as it takes, with
        five repetitions each. Where the first look says that many repetitions are needed, it begins
        again with orthogonal responses; `n_rep` of the result counts those.
    draws : RDraws, optional
        R's random numbers. The responses fill an n by n_rep matrix column by column, as in R.
    random_state : int, RandomState, Generator or None
        Numpy's random numbers, where `draws` is not given.
    n_designs : int, optional
        How many designs are drawn for a tuple `(n, p)`; the repetitions are shared out among them, two
        at least for each. The degrees of freedom differ between designs: with several, the result is
        their mean and its errors cover the draws of y and of the design; with 1 it holds for that
        design alone, and so do its errors. By default 20, and 1 for `draws`, as the authors do.
    method : {"auto", "monte-carlo", "exact"}
        "monte-carlo" is the paper's Algorithm 1, sample covariances with divisor n_rep - 1. "exact" is
        tr(S) for a linear smoother, and for a procedure that declares a `df_statistic` (the lasso: its
        nonzeros) the mean of that over the repetitions; for best subset and the relaxed lasso on orthogonal
        columns it is Tibshirani's (2015) formula, and for a tree with one split of one predictor, at a
        constant mean, that of `stump_df`. "auto" is "exact" for linear smoothers and "monte-carlo" for all
        others.
    variance_reduction : {"auto", "best", "orthogonal", "direction", "control", None}
        Which estimator; all are unbiased. None is the paper's. "direction" integrates the length of
        y - ybar out; it needs a constant mean, one sigma and a procedure that declares `is_equivariant`.
        "control" subtracts what least squares on X, its powers up to 5 and the identity, linear
        smoothers of known trace, explain of the fit, for any mean. "orthogonal" is both of them, where
        their conditions hold, with responses in frames: orthogonal to each other, each still Gaussian.
        "best" is the same, with frames where there are repetitions enough; see the notes. "auto" is the
        paper's estimator with `draws` and "best" else. `settings["variance_reduction"]` says what it was.
    n_jobs : int, optional
        Number of workers. The result is the same, to the bit, for any number; inside
        `joblib.parallel_config("dask")` the cluster's workers are used.
    progress : bool
        Show a progress bar.

    Notes
    -----
    A frame has n - 1 responses, orthogonal to the constant, where "direction" is valid, and else n. Only
    whole frames gain: with m of n the variance of the linear part of a fit falls by (m - 1)/(n - 1), and
    with all of them to nothing. The responses of a frame depend on each other, so the error is that
    between frames. Hence "best" takes frames where there are ten whole ones (two for each design where
    several are drawn), which needs `n_rep` of about 10 n, and as many repetitions as make whole frames.
    "orthogonal" takes ten smaller ones below that.

    The gains are on the page "What does a search cost?" of the documentation: with 100 repetitions the
    variance of one fit is 1.2 to 15 times smaller, and in whole frames up to 490 times.

    Examples
    --------
    >>> from pyearthdof import RDraws, degrees_of_freedom
    >>> from pyearthdof.procedures.linear import Ridge
    >>> X = RDraws(1).normal(200).reshape(50, 4)
    >>> degrees_of_freedom(Ridge(lam=10.0), X)
    DegreesOfFreedom(df=3.21618, trace=3.21618, n_coef=4, rank=4, msdf=0, sdf=0, n_rep=0)
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> found = degrees_of_freedom(DecisionTreeRegressor(max_depth=2), X, draws=RDraws(2))
    >>> f"{found.n_coef:.2f} leaves, df {found.df:.1f} ± {found.se:.1f}"
    '3.88 leaves, df 15.0 ± 0.5'
    """
    check_y_is_used(y, mu)
    y, mu, sigma = by_position(X, y=y, mu=mu, sigma=sigma)
    X = check_design(X, missing=takes_missing(procedure))
    target_se = check_target(target_se)
    n_rep = check_n_rep(n_rep, target_se)
    procedure = as_procedure(procedure)
    formula = _formula(procedure, X) if method == "exact" else None
    method = "exact" if formula is not None else _resolve_method(method, procedure)
    stream = as_draws(draws, random_state)
    linear = formula is not None or (method == "exact" and getattr(procedure, "is_linear", False))
    designs = the_designs(X, stream, n_rep, n_designs, exact=linear, target_se=target_se)
    settings = {
        "procedure": repr(procedure),
        "design": designs.setting,
        "mu": "zero" if mu is None else mu if isinstance(mu, str) else "given",
        "draws": repr(stream),
        "method": method,
        "target_se": target_se,
    }
    run: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    if isinstance(mu, str) and mu == "fitted":
        responses, settings["sigma_df"] = responses_around_fit(
            procedure, designs, y, sigma, stream, **run
        )
    else:
        responses = the_responses(designs.n, check_mean(mu, designs.n), sigma, stream)
    settings["sigma"] = float(responses.sigma[0]) if np.ptp(responses.sigma) == 0 else "given"
    if isinstance(responses, CorrelatedResponses):
        settings["sigma"] = "a covariance matrix"
    reduction = choose(variance_reduction, procedure, X, responses, designs.counts, target_se)
    if formula is not None:
        found = formula(procedure, X, responses)
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
    if not linear:
        warn_if_missed(found.df.se, target_se, n_rep)
    return DegreesOfFreedom(
        **as_fields({name: getattr(found, name) for name in (*QUANTITIES, "optimism_df")}),
        per_observation=found.per_observation,
        n_rep=0 if linear else designs.n_rep,
        n_designs=designs.n_drawn,
        se_covers=designs.covers(not linear),
        settings=settings,
        versions=package_versions() | found.versions,
    )


def _formula(procedure: Any, X: Rows) -> Callable[..., Measurement] | None:
    """The closed form of a procedure that is not linear, if there is one for this design."""
    if is_shape(X):
        return None
    if has_orthogonal_formula(procedure, X):
        return orthogonal_measurement
    return split_measurement if has_split_formula(procedure, X) else None


def _resolve_method(method: str, procedure: Any) -> str:
    check_choice("method", method, METHODS)
    linear = getattr(procedure, "is_linear", False)
    if method == "auto":
        return "exact" if linear else "monte-carlo"
    if method == "exact" and not linear and getattr(procedure, "df_statistic", None) is None:
        right = f"'monte-carlo': {procedure!r} is not linear and declares no df_statistic"
        raise refusal("method", method, right)
    return method


def check_y_is_used(y: ArrayLike | None, mu: Any) -> None:
    """Refuse a response that nothing would be fitted to."""
    if y is not None and not isinstance(mu, str):
        raise InvalidInputError(
            "y is given but it should be None unless mu='fitted', which alone uses it"
        )


def _exact(procedure: Any, X: Rows, responses: Responses) -> Measurement:
    """tr(S) of a linear smoother, from one fit; y does not choose S, so nothing was searched."""
    [Y] = responses.blocks([0, 1])
    bound = bind(procedure, X)
    fits = FitMany(procedure)(bound, Y)
    if fits.trace is None:
        raise InvalidInputError(f"{procedure!r} declares is_linear but does not tell its trace")
    trace, rank = _known(fits.trace), None if fits.rank is None else _known(fits.rank)
    return Measurement(
        df=trace,
        # The diagonal of S, from its fits to unit vectors.
        per_observation=np.diag(bound.fit_many(np.eye(len(X))).fitted).copy()
        if len(X) <= _MAX_SMOOTHER
        else None,
        trace=trace,
        n_coef=None if fits.n_coef is None else _known(fits.n_coef),
        rank=rank,
        # Refitted on a set that y does not choose: a projection, whose df is its rank.
        df_refitted=None if fits.refitted is None else rank,
        optimism_df=None if has_one_sigma(responses) else _optimism(bound, responses),
    )


def _optimism(bound: Bound, responses: Responses) -> Jackknife:
    """tr(S C)/mean(sigma^2) of a linear smoother and noise with the covariance matrix C."""
    n, total = responses.n, 0.0
    for first in range(0, n, _N_COLUMNS):
        rows = np.arange(first, min(first + _N_COLUMNS, n))
        fitted = bound.fit_many(np.ascontiguousarray(responses.covariance(rows))).fitted
        total += float(fitted[rows, rows - first].sum())
    return _known(np.array([total / np.mean(responses.sigma**2)]))


def _known(values: np.ndarray) -> Jackknife:
    return Jackknife(float(values[0]), np.zeros(2))


def responses_around_fit(
    procedure: Any,
    designs: Designs,
    y: ArrayLike | None,
    sigma: ArrayLike | None,
    stream: Draws,
    **run: Any,
) -> tuple[Responses, float | None]:
    """Responses whose mean is the fit to y, and the df by which their sigma was estimated.

    A given sigma is taken as it is. Else sigma^2 = RSS/(n - df), with the exact df of a linear smoother.
    Other df, the cost of the search included, depend on sigma itself: they come from a pilot run around
    the fit with a first sigma, and from a second one with the sigma that the first one gives.
    """
    if designs.drawn:
        raise InvalidInputError(
            f"X={designs.source} but it should be the design that y belongs to, with mu='fitted'"
        )
    if y is None:
        raise InvalidInputError("y=None but it should be the response, with mu='fitted'")
    X, n = designs.source, designs.n
    y = check_vector("y", y, n)
    fits = FitMany(procedure)(bind(procedure, X), y[:, None])
    mean = fits.fitted[:, 0]
    if sigma is not None:
        return the_responses(n, mean, sigma, stream), None
    rss = _residual_squares(y, mean)
    trace = None if fits.trace is None else float(fits.trace[0])
    if getattr(procedure, "is_linear", False) and trace is not None:
        return Responses(n, mean, _sigmas(rss, n, trace), stream), trace
    sigmas = _sigmas(rss, n, trace if trace is not None and n - trace >= 1 else 0.0)
    after = stream.copy()
    after.skip_normals(n * designs.n_rep)
    pilot = Designs(X, (int(np.clip(designs.n_rep, *_N_PILOT)),), after)
    run |= {
        "statistic": getattr(procedure, "df_statistic", None),
        # Without it the df of a fit that nearly interpolates are too noisy to say how many are left.
        "reduction": Reduction(control=is_numeric(X)),
    }
    for _ in range(_N_ROUNDS):
        df = measure(procedure, pilot, Responses(n, mean, sigmas, after), **run).df.value
        sigmas = _sigmas(rss, n, df)
    return Responses(n, mean, sigmas, stream), df


def _residual_squares(y: np.ndarray, mean: np.ndarray) -> float:
    residuals = y - mean
    rss, n = float(residuals @ residuals), len(y)
    # Rounding leaves residuals of a few eps where the fit goes through y.
    if np.sqrt(rss / n) <= n * np.finfo(float).eps * np.abs(y).max():
        raise InvalidInputError(
            "sigma=None but it should be given: the fit leaves no residuals to estimate it from"
        )
    return rss


def _sigmas(rss: float, n: int, df: float) -> np.ndarray:
    if n - df < 1:
        raise InvalidInputError(
            f"sigma=None but it should be given: the fit takes {df:.4g} degrees of freedom of {n} "
            "observations, which leaves less than 1 for the noise to estimate it from"
        )
    return np.full(n, np.sqrt(rss / (n - df)))
