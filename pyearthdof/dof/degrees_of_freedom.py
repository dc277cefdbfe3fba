"""The degrees of freedom of a fitting procedure: one function for all kinds of responses and rows."""

from __future__ import annotations

from .._utils.checks import by_position, check_choice, check_design, refusal
from ..exceptions import InvalidInputError
from .covariance_penalty import family_degrees_of_freedom, family_of
from .fixed_x import METHODS, fixed_x_degrees_of_freedom
from .montecarlo.adapters import takes_missing
from .montecarlo.target import check_n_rep, check_target, warn_if_missed
from .prediction import random_x_degrees_of_freedom
from .results import DegreesOfFreedom

__all__ = ["DegreesOfFreedom", "degrees_of_freedom"]


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
        "control" subtracts what least squares on X, its powers up to 5 and the identity, linear
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
    if y is not None and not isinstance(mu, str):
        raise InvalidInputError(
            "y is given but it should be None unless mu='fitted', which alone uses it"
        )
    y, mu, sigma = by_position(X, y=y, mu=mu, sigma=sigma)
    common = {
        "y": y, "mu": mu, "draws": draws, "random_state": random_state, "n_designs": n_designs,
        "n_jobs": n_jobs, "progress": progress,
    }  # fmt: skip
    special = {"variance_reduction": variance_reduction, "target_se": target_se}
    of_family = _of_family(procedure, family, loss, method, sigma=sigma, X_new=X_new, **special)
    if of_family is not None:
        common |= {"family": of_family, "loss": loss, "n_rep": check_n_rep(n_rep, None)}
        X = check_design(X, missing=takes_missing(procedure))
        return family_degrees_of_freedom(procedure, X, **common)
    common |= {"sigma": sigma, "method": method}
    if X_new is not None:
        _only_default("with X_new", **special)
        common |= {"mu_new": mu_new, "n_rep": check_n_rep(n_rep, None)}
        return random_x_degrees_of_freedom(procedure, X, X_new, **common)
    _only_default("without X_new", mu_new=mu_new)
    X = check_design(X, missing=takes_missing(procedure))
    special["target_se"] = check_target(target_se)
    n_rep = check_n_rep(n_rep, target_se)
    found = fixed_x_degrees_of_freedom(procedure, X, n_rep=n_rep, **common, **special)
    if found.n_rep:
        warn_if_missed(found.se, target_se, n_rep)
    return found


def _of_family(procedure, family, loss, method, **not_taken) -> str | None:
    """The family of a fit to classes or counts; None for Gaussian noise."""
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
