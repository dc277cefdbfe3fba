"""Algorithm 1 of the paper: degrees of freedom at the rows of the design, with Gaussian noise."""

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
_MAX_SMOOTHER = 2000  # maximum number of rows for an exact S from n fits
_N_COLUMNS = 500  # columns of a matrix smoothed at once
_N_PILOT = (10, 50)  # minimum and maximum number of repetitions
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
    """Estimate the degrees of freedom of a fitting procedure on a design, with Gaussian noise.

    Implements Algorithm 1 of the paper, at the rows of X. See `prediction_df` for predictions at new
    rows, and `family_df` for classifiers and counts.

    Parameters
    ----------
    procedure : procedure, scikit-learn estimator, or function (X, y) -> fitted
        Regressors are cloned for every fit. The trace and the number of parameters are known for
        scikit-learn's linear models, trees, forests, boosting, nearest neighbours, kernel and isotonic
        regression, and pipelines and searches of them. For functions and other regressors, `trace`,
        `n_coef`, `rank`, `msdf` and `sdf` are None.
    X : (n, p) array, DataFrame, or tuple (n, p)
        The design; a tuple requests standard Gaussian predictors, drawn after the responses. See
        `n_designs`.
    y : (n,) array, optional
        The response for `mu="fitted"`.
    mu : None, "fitted", float or (n,) array
        True mean of the responses: zero, the fit to `y` (a parametric bootstrap), or given values.
    sigma : float, (n,) array or (n, n) array, optional
        Standard deviation of y, one for each row, or the covariance matrix of y; 1 by default. With a
        matrix, the df are tr(sigma^-1 Cov(muhat, y)), which agrees for diagonal matrices. With an array or
        a matrix, the result also has `optimism_df`, for use in criteria of the unweighted RSS.
        With `mu="fitted"`, sigma^2 is estimated by RSS/(n - df) if not given, where df is the trace of a
        linear smoother or comes from two pilot runs of 10 to 50 repetitions around the fit. If n - df is
        below 1, as for interpolating fits, sigma is required. For fits that shrink residuals strongly, such
        as forests, the estimate is too small.
    n_rep : int, optional
        Number of responses to draw and fit; 100 by default. With `target_se`, the maximum number, 10,000
        by default.
    target_se : float, optional
        Draw until the standard error of df is this small, with at least 30 and at most `n_rep` repetitions
        and a warning if that is not enough. Without `n_designs`, a tuple uses as many designs as needed,
        with five repetitions each. If many repetitions are needed, the run restarts with orthogonal
        responses; `n_rep` of the result counts only these.
    draws : RDraws, optional
        R's random numbers. Responses fill an n by n_rep matrix column by column, as in R.
    random_state : int, RandomState, Generator or None
        Numpy's random numbers, used if `draws` is not given.
    n_designs : int, optional
        Number of designs to draw for a tuple `(n, p)`, which share the repetitions, at least two each.
        Degrees of freedom differ between designs: with several, the result is their mean and its errors
        cover the draws of y and of the design; with 1, the result and its errors apply to that design
        only. Default 20, and 1 with `draws`, as in the authors' code.
    method : {"auto", "monte-carlo", "exact"}
        "monte-carlo" is Algorithm 1, sample covariances with divisor n_rep - 1. "exact" is tr(S) for linear
        smoothers; the mean over the repetitions of the declared `df_statistic`, such as the number of
        nonzeros of the lasso; Tibshirani's (2015) formula for best subset and the relaxed lasso on
        orthogonal columns; and `stump_df` for a tree with one split of one predictor at a constant mean.
        "auto" is "exact" for linear smoothers and "monte-carlo" otherwise.
    variance_reduction : {"auto", "best", "orthogonal", "direction", "control", None}
        The estimator; all are unbiased. None is the paper's. "direction" integrates out the length of
        y - ybar; it requires a constant mean, one sigma and a procedure with `is_equivariant`. "control"
        uses linear smoothers of known trace (least squares on X and its powers up to 5, the identity) as
        control variates, for any mean. "orthogonal" applies both, if their conditions hold, to responses in
        orthogonal frames, each marginally Gaussian. "best" is the same with frames only if there are enough
        repetitions; see the notes. "auto" is the paper's estimator with `draws`, otherwise "best".
        `settings["variance_reduction"]` is the estimator used.
    n_jobs : int, optional
        Number of workers. Results are bit-identical for any number. In a `joblib.parallel_config("dask")`
        context, the workers of the cluster are used.
    progress : bool
        Show a progress bar.

    Returns
    -------
    DegreesOfFreedom
        Standard errors are computed by the jackknife over repetitions (over 32 groups of them if more than
        four million responses are drawn; nan with two repetitions), over frames, or over designs.
        `interval()` returns confidence intervals.

    Raises
    ------
    FittingError
        If a repetition fails; the error has the attributes `repetition`, its number, and `y`, its response.

    Notes
    -----
    A frame has n - 1 responses orthogonal to the constant if "direction" is valid, and n otherwise. Only
    complete frames remove the variance of the linear part of a fit; m of n responses reduce it by
    (m - 1)/(n - 1). Responses within a frame are dependent, so the error is computed between frames. "best"
    therefore uses frames only if there are ten complete ones (two per design if several are drawn), that is
    with `n_rep` of about 10 n, and uses a whole number of frames. "orthogonal" uses ten smaller frames below
    that.

    With 100 repetitions, the variance of one fit is 1.2 to 15 times smaller than with the paper's estimator,
    in complete frames up to 490 times; see the page "Variance reduction" of the documentation.

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
            # The mean of a statistic is not a covariance.
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
    """Return the closed form for a nonlinear procedure on this design, if any."""
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
    """Raise an error for a response that would not be used."""
    if y is not None and not isinstance(mu, str):
        raise InvalidInputError(
            "y is given but it should be None unless mu='fitted', which alone uses it"
        )


def _exact(procedure: Any, X: Rows, responses: Responses) -> Measurement:
    """Return tr(S) of a linear smoother, from one fit; its search cost is zero."""
    [Y] = responses.blocks([0, 1])
    bound = bind(procedure, X)
    fits = FitMany(procedure)(bound, Y)
    if fits.trace is None:
        raise InvalidInputError(f"{procedure!r} declares is_linear but does not provide its trace")
    trace, rank = _known(fits.trace), None if fits.rank is None else _known(fits.rank)
    return Measurement(
        df=trace,
        # The diagonal of S, from fits to unit vectors.
        per_observation=np.diag(bound.fit_many(np.eye(len(X))).fitted).copy()
        if len(X) <= _MAX_SMOOTHER
        else None,
        trace=trace,
        n_coef=None if fits.n_coef is None else _known(fits.n_coef),
        rank=rank,
        # Refitted on a set independent of y: a projection, whose df is its rank.
        df_refitted=None if fits.refitted is None else rank,
        optimism_df=None if has_one_sigma(responses) else _optimism(bound, responses),
    )


def _optimism(bound: Bound, responses: Responses) -> Jackknife:
    """Return tr(S C)/mean(sigma^2) for a linear smoother and noise with covariance matrix C."""
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
    """Return responses whose mean is the fit to y, and the df used to estimate their sigma.

    If sigma is not given, sigma^2 = RSS/(n - df), with the exact df of a linear smoother. The df of other
    procedures depend on sigma: they come from a pilot run around the fit with an initial sigma, and a second
    one with the resulting sigma.
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
        # Otherwise the df of a nearly interpolating fit are too noisy to determine how many are left.
        "reduction": Reduction(control=is_numeric(X)),
    }
    for _ in range(_N_ROUNDS):
        df = measure(procedure, pilot, Responses(n, mean, sigmas, after), **run).df.value
        sigmas = _sigmas(rss, n, df)
    return Responses(n, mean, sigmas, stream), df


def _residual_squares(y: np.ndarray, mean: np.ndarray) -> float:
    residuals = y - mean
    rss, n = float(residuals @ residuals), len(y)
    # Rounding leaves residuals of a few eps if the fit interpolates y.
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
