"""The degrees of freedom of a fitting procedure: Algorithm 1 of the paper, or exactly."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
from dataclasses import dataclass, field, fields

import numpy as np
import pandas as pd

from .._checks import (
    check_choice,
    check_design,
    check_level,
    check_mean,
    refusal,
)  # fmt: skip
from .._version import __version__
from ..contract import bind
from ..exceptions import InvalidInputError
from .orthogonal import has_orthogonal_formula, orthogonal_measurement
from .pilot import responses_around_fit
from .run.adapters import as_procedure, takes_missing
from .run.correlated import CorrelatedResponses, the_responses
from .run.designs import Designs, in_words, the_designs
from .run.jackknife import Jackknife
from .run.measurement import Measurement, measure, over_designs
from .run.montecarlo import FitMany
from .run.noise import Responses, as_draws
from .run.target import Target, check_n_rep, check_target, warn_if_missed
from .run.variance import PLAIN, choose
from .shown import ShownDegreesOfFreedom

__all__ = ["DegreesOfFreedom", "degrees_of_freedom"]

QUANTITIES = ("df", "trace", "n_coef", "rank", "msdf", "sdf")
METHODS = ("auto", "monte-carlo", "exact")
_MAX_SMOOTHER = 2000  # rows up to which the diagonal of an exact S is worth n fits


@dataclass(frozen=True, eq=False)
class DegreesOfFreedom(ShownDegreesOfFreedom):
    """The degrees of freedom of a procedure and what they are made of.

    Each estimate has its standard error beside it, the number after ± where it is printed; it is 0.0
    where the estimate is exact. None stands for what the procedure cannot tell.

    Attributes
    ----------
    df, se : float
        Degrees of freedom, sum of Cov(muhat_i, y_i)/sigma_i^2.
    trace, n_coef, rank : float or None
        Mean tr S(y), number of free parameters and rank of the active set.
    msdf : float or None
        Modified search cost, df - E[tr S(y)].
    sdf : float or None
        Search cost, df(refitted) - E[rank].
    trace_se, n_coef_se, rank_se, msdf_se, sdf_se : float or None
    per_observation : (n,) array or None
        The n covariances that add up to df.
    n_rep : int
        Number of fits; 0 where none was needed.
    n_designs : int or None
        Number of designs that were drawn; None where the design was given.
    se_covers : str
        What the standard errors and intervals cover: the draws of y for one design, or those of y and
        of the design.
    left_out : dict
        For each quantity, its estimates without one repetition (group of them, design).
    settings, versions : dict

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import degrees_of_freedom
    >>> from pyearthdof.procedures import NearestNeighbors
    >>> found = degrees_of_freedom(NearestNeighbors(k=2), np.arange(10.0)[:, None])
    >>> found.df, found.se, found.msdf, found.sdf
    (5.0, 0.0, 0.0, None)
    >>> found.to_frame()["quantity"].tolist()
    ['df', 'trace', 'n_coef', 'msdf']
    >>> found.se_covers
    'nothing, it is exact for the given design'
    """

    df: float
    se: float
    trace: float | None
    trace_se: float | None
    n_coef: float | None
    n_coef_se: float | None
    rank: float | None
    rank_se: float | None
    msdf: float | None
    msdf_se: float | None
    sdf: float | None
    sdf_se: float | None
    per_observation: np.ndarray | None
    n_rep: int
    n_designs: int | None
    se_covers: str
    left_out: dict[str, np.ndarray] = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    versions: dict = field(default_factory=dict)

    _QUANTITIES = QUANTITIES  # what is estimated; a subclass may have others

    def __repr__(self) -> str:
        known = [f"{name}={self._text(name)}" for name in self._QUANTITIES if self._known(name)]
        end = f"n_rep={self.n_rep}{in_words(self.n_designs)}"
        return f"DegreesOfFreedom({', '.join(known)}, {end})"

    def _known(self, name) -> bool:
        return getattr(self, name) is not None

    def _se(self, name) -> float | None:
        return self.se if name == "df" else getattr(self, f"{name}_se")

    def _text(self, name) -> str:
        se = self._se(name)
        return f"{getattr(self, name):.6g}" + (f" ± {se:.2g}" if se else "")

    def interval(self, quantity: str = "df", level: float = 0.95) -> tuple[float, float]:
        """An interval that holds the true value with probability `level`.

        The standard error alone says too little where a few repetitions make up most of the estimate:
        twice the error then misses, on the low side. The interval is adjusted for that skewness. In
        1,000 runs each of MARS with and without pruning, a tree, the lasso, best subset, ridge and
        nearest neighbours, by the paper's estimator, it held the truth in 94.5 to 96.7 % of the runs at
        level 0.95, and ± 1.96 errors in 91.6 to 96.0 %; with 20 instead of 100 repetitions, for MARS and
        the tree, in 95.3 to 96.1 % and 86.8 to 95.0 %. What it is about, one design or all, is in
        `se_covers`.

        Parameters
        ----------
        quantity : {"df", "trace", "n_coef", "rank", "msdf", "sdf"}
        level : float
            Between 0 and 1.

        Examples
        --------
        >>> from pyearthdof import Earth, RDraws, degrees_of_freedom
        >>> X = RDraws(1).normal(200).reshape(100, 2)
        >>> found = degrees_of_freedom(Earth(degree=2, engine="native"), X, draws=RDraws(2))
        >>> f"{found.df:.2f} ± {found.se:.2f}"
        '3.63 ± 0.58'
        >>> "{:.2f} to {:.2f}".format(*found.interval())
        '2.68 to 5.19'
        """
        level = check_level(level)
        check_choice("quantity", quantity, self._QUANTITIES)
        if not self._known(quantity):
            raise refusal("quantity", quantity, f"one of {', '.join(self.left_out)} here")
        return Jackknife(getattr(self, quantity), self.left_out[quantity]).interval(level)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """One row for each known quantity: estimate, standard error, and interval of that level."""
        rows = []
        for name in filter(self._known, self._QUANTITIES):
            lower, upper = self.interval(name, level)
            rows.append(
                {
                    "quantity": name,
                    "estimate": getattr(self, name),
                    "se": self._se(name),
                    "lower": lower,
                    "upper": upper,
                }
            )
        return pd.DataFrame(rows)

    def to_dict(self) -> dict:
        """Everything as plain Python values, ready for JSON; intervals of 95 % in place of `left_out`."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "left_out"}
        if self.per_observation is not None:
            values["per_observation"] = self.per_observation.tolist()
        values["intervals"] = {
            name: list(self.interval(name)) for name in filter(self._known, self._QUANTITIES)
        }
        return values


def degrees_of_freedom(
    procedure,
    X,
    *,
    y=None,
    mu=None,
    sigma=None,
    n_rep=None,
    target_se=None,
    draws=None,
    random_state=None,
    n_designs=None,
    method="auto",
    variance_reduction="auto",
    X_new=None,
    mu_new=None,
    family=None,
    loss=None,
    n_jobs=None,
    progress=False,
) -> DegreesOfFreedom:
    """Estimate the degrees of freedom of a fitting procedure on a design.

    Parameters
    ----------
    procedure : procedure, scikit-learn estimator, or function (X, y) -> fitted
        A regressor is cloned for every fit. scikit-learn's linear models, trees, forests, boosting, nearest
        neighbours, kernel and isotonic regression, and pipelines and searches of them, tell their trace and
        parameters. Of a function and of other regressors only the fit is known, so `trace`, `n_coef`,
        `rank`, `msdf` and `sdf` are then None. A classifier has classes, see `family`.
    X : (n, p) array, DataFrame, or tuple (n, p)
        The design; a tuple asks for standard Gaussian numbers, drawn after the responses. See
        `n_designs`.
    y : (n,) array, optional
        The response that `mu="fitted"` is about.
    mu : None, "fitted", float or (n,) array
        The true mean: zero, the fit to `y` (a parametric bootstrap), or given.
    sigma : float, (n,) array or (n, n) array, optional
        Standard deviation of y, one for each row, or the covariance matrix of y; 1 by default. With a
        matrix the df are tr(sigma^-1 Cov(muhat, y)), which is the same for a diagonal one. With
        `mu="fitted"` the default is
        an estimate: its square is RSS/(n - df), df being the trace for a linear smoother, and else
        what a pilot run of 10 to 50 repetitions around the fit finds, done twice. Where n - df is below
        1, as for a fit that interpolates, sigma has to be given. A fit that shrinks more than it
        selects, such as a forest, leaves residuals that are too small even for n - df.
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
        "monte-carlo" is the paper's Algorithm 1, sample covariances with divisor n_rep - 1. "exact"
        is tr(S) for a linear smoother, and for a procedure that declares a `df_statistic` (the
        lasso: its nonzeros) the mean of that over the repetitions; for best subset and the relaxed lasso on
        orthogonal columns it is Tibshirani's (2015) formula. "auto" is "exact" for linear
        smoothers and "monte-carlo" for all others.
    variance_reduction : {"auto", "best", "orthogonal", "direction", "control", None}
        Which estimator; all are unbiased. None is the paper's. "direction" integrates the length of
        y - ybar out; it needs a constant mean, one sigma and a procedure that declares `is_equivariant`.
        "control" subtracts what least squares on X, its squares and cubes and the identity, linear
        smoothers of known trace, explain of the fit, for any mean. "orthogonal" is both of them, where
        their conditions hold, with responses in frames: orthogonal to each other, each still Gaussian.
        "best" is the same, with frames where there are repetitions enough; see the notes. "auto" is the
        paper's estimator with `draws` and "best" else. `settings["variance_reduction"]` says what it was.
    X_new : (m, p) array, DataFrame, function or int, optional
        New rows at which the fits are to predict, or a function `rng -> rows` that draws them; for a tuple
        X their number. The result is then a `RandomXDegreesOfFreedom`: how much more the error at new
        rows is than at those of X, by three measures. X may be a function, too; both are then drawn anew
        for each of `n_designs`. The mean at both is a number, a function `X -> mean`, or the fit.
    mu_new : (m,) array, optional
        The true mean at the new rows, where `mu` is an array.
    family : {None, "gaussian", "bernoulli", "poisson"}
        The distribution of y. Classifiers have classes, "bernoulli"; `mu` is then the probability of the
        second class, one half by default, or an (n, K) array of those of all classes. "poisson" are counts
        with mean `mu`, 1 by default, for a regressor. The result is a `FamilyDegreesOfFreedom`, by
        Efron's covariance penalties.
    loss : {None, "deviance", "squared", "counting"}
        Of classes and counts, what the covariance penalty is for: the deviance (None), the squared error,
        or the number of wrong classes.
    n_jobs : int, optional
        Number of workers. The result is the same, to the bit, for any number; inside
        `joblib.parallel_config("dask")` the cluster's workers are used.
    progress : bool
        Show a progress bar.

    Returns
    -------
    DegreesOfFreedom
        The standard errors are jackknife ones over the repetitions (over 32 groups of them when
        more than four million responses are drawn; nan with two repetitions), over frames, or over the
        designs. `interval()` gives intervals.

    Raises
    ------
    FittingError
        A repetition failed. The error has its number as `repetition` and its response as `y`.

    Notes
    -----
    A frame has n - 1 responses, orthogonal to the constant, where "direction" is valid, and else n. Only
    whole frames gain: with m of n the variance of the linear part of a fit falls by (m - 1)/(n - 1), and
    with all of them to nothing. The responses of a frame depend on each other, so the error is that
    between frames. Hence "best" takes frames where there are ten whole ones (two for each design where
    several are drawn), which needs `n_rep` of about 10 n, and as many repetitions as make whole frames.
    "orthogonal" takes ten smaller ones below that.

    How many times smaller than the paper's the variance of one fit is, with 100 repetitions and with ten
    frames; a Gaussian design of 100 rows (264 in the first two lines), mean zero unless it is given. MARS
    without pruning at (n, p, nk, degree):

    ====================================== ======== ========= ======
    fit                                    100 fits    frames   fits
    ====================================== ======== ========= ======
    (264, 9, 21, 1)                             3.2       5.9  2,630
    (264, 9, 21, 2)                             2.3       3.9  2,630
    (100, 10, 21, 2)                            4.1       5.4    990
    (100, 10, 21, 2), mean 3 x1^2               2.2       3.1  1,000
    (100, 50, 101, 2)                            15        14    990
    (100, 1, 21, 1)                             1.4       2.5    990
    MARS, pruned, p 5                           1.4       1.9    990
    MARS, pruned, p 5, degree 2                 1.3       1.5    990
    tree, p 5, depth 2                          1.9       2.9    990
    tree, p 10, depth 4                         1.7       2.2    990
    best 3 of 10 columns                        5.5        12  1,000
    lasso, p 10, lam 20, mean x1 + x2 + x3      3.6        17  1,000
    ridge, p 10, lam 10                          11       510  1,000
    5 nearest neighbours, p 5                   1.8     exact    990
    ====================================== ======== ========= ======

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
    common = {
        "y": y, "mu": mu, "n_rep": 100 if n_rep is None else n_rep, "draws": draws,
        "random_state": random_state, "n_designs": n_designs, "n_jobs": n_jobs, "progress": progress,
    }  # fmt: skip
    special = {"variance_reduction": variance_reduction, "target_se": target_se}
    of_family = _of_family(procedure, family, loss, method, sigma=sigma, X_new=X_new, **special)
    if of_family is not None:
        from .covariance_penalty import family_degrees_of_freedom

        X = check_design(X, missing=takes_missing(procedure))
        return family_degrees_of_freedom(procedure, X, family=of_family, loss=loss, **common)
    if X_new is not None:
        from .random_x import random_x_degrees_of_freedom

        _only_default("with X_new", **special)
        common |= {"mu_new": mu_new, "sigma": sigma, "method": method}
        return random_x_degrees_of_freedom(procedure, X, X_new, **common)
    _only_default("without X_new", mu_new=mu_new)
    X = check_design(X, missing=takes_missing(procedure))
    procedure = as_procedure(procedure)
    target_se = check_target(target_se)
    n_rep = check_n_rep(n_rep, target_se)
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
        responses = _responses(designs.n, y, mu, sigma, stream)
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
        warn_if_missed(found.df.se, target_se, n_rep)
    settings |= found.reduction.settings | {"engine": found.engine}
    return _result(found, designs, not linear, settings)


def _of_family(procedure, family, loss, method, **not_taken) -> str | None:
    """The family of a fit to classes or counts; None for Gaussian noise."""
    from .covariance_penalty import family_of

    family = family_of(procedure, family)
    if family is None:
        _only_default("for Gaussian noise", loss=loss)
        return None
    where = f"for the family {family!r}"
    _only_default(where, **not_taken)
    if check_choice("method", method, METHODS) == "exact":
        raise refusal("method", method, f"'monte-carlo' {where}")
    return family


def _only_default(where: str, **given) -> None:
    for name, value in given.items():
        if value is not None and not (isinstance(value, str) and value == "auto"):
            raise refusal(name, value, f"left out {where}")


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


def _responses(n, y, mu, sigma, stream) -> Responses:
    if y is not None:
        raise InvalidInputError(
            "y is given but it should be None unless mu='fitted', which alone uses it"
        )
    return the_responses(n, check_mean(mu, n), sigma, stream)


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
    estimates = {name: getattr(run, name) for name in QUANTITIES}
    parts: dict = {"df": run.df.value, "se": run.df.se}
    for name in QUANTITIES[1:]:
        estimate = estimates[name]
        parts[name] = None if estimate is None else estimate.value
        parts[f"{name}_se"] = None if estimate is None else estimate.se
    return DegreesOfFreedom(
        **parts,
        per_observation=run.per_observation,
        n_rep=designs.n_rep if fits else 0,
        n_designs=designs.n_drawn,
        se_covers=designs.covers(fits),
        left_out={name: e.left_out for name, e in estimates.items() if e is not None},
        settings=settings,
        versions=package_versions() | run.versions,
    )


@functools.cache
def package_versions() -> dict[str, str]:
    """Versions of Python and of the packages that compute here."""
    names = ("numpy", "scipy", "scikit-learn")
    versions = {"pyearthdof": __version__, "python": platform.python_version()}
    return versions | {name: importlib.metadata.version(name) for name in names}
