"""The degrees of freedom of a fitting procedure: Algorithm 1 of the paper, or exactly."""

from __future__ import annotations

import functools
import importlib.metadata
import platform
from dataclasses import dataclass, field, fields

import numpy as np
import pandas as pd

from .._version import __version__
from ..exceptions import InvalidInputError
from .adapters import as_procedure, engine_of
from .checks import check_count, check_design, check_mean, check_sigma, check_vector
from .jackknife import Jackknife
from .measurement import Measurement, measure
from .montecarlo import FitMany
from .noise import Responses, as_draws, drawn_design, is_shape
from .variance import check_variance_reduction

__all__ = ["DegreesOfFreedom", "degrees_of_freedom"]

QUANTITIES = ("df", "trace", "n_coef", "rank", "msdf", "sdf")
METHODS = ("auto", "monte-carlo", "exact")
_MAX_SMOOTHER = 2000  # rows up to which the diagonal of an exact S is worth n fits


@dataclass(frozen=True, eq=False)
class DegreesOfFreedom:
    """The degrees of freedom of a procedure and what they are made of.

    Each estimate has its standard error beside it; it is 0.0 where the estimate is exact. None
    stands for what the procedure cannot tell.

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
    settings: dict = field(default_factory=dict)
    versions: dict = field(default_factory=dict)

    def __repr__(self) -> str:
        known = [f"{name}={self._text(name)}" for name in QUANTITIES if self._known(name)]
        return f"DegreesOfFreedom({', '.join(known)}, n_rep={self.n_rep})"

    def _known(self, name) -> bool:
        return getattr(self, name) is not None

    def _se(self, name) -> float | None:
        return self.se if name == "df" else getattr(self, f"{name}_se")

    def _text(self, name) -> str:
        se = self._se(name)
        return f"{getattr(self, name):.6g}" + (f" ± {se:.2g}" if se else "")

    def to_frame(self) -> pd.DataFrame:
        """One row for each known quantity: its estimate and its standard error."""
        rows = [
            {"quantity": name, "estimate": getattr(self, name), "se": self._se(name)}
            for name in QUANTITIES
            if self._known(name)
        ]
        return pd.DataFrame(rows)

    def to_dict(self) -> dict:
        """Everything as plain Python values, ready for JSON."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        if self.per_observation is not None:
            values["per_observation"] = self.per_observation.tolist()
        return values


def degrees_of_freedom(
    procedure,
    X,
    *,
    y=None,
    mu=None,
    sigma=1.0,
    n_rep=100,
    draws=None,
    random_state=None,
    method="auto",
    variance_reduction=None,
    n_jobs=None,
    progress=False,
) -> DegreesOfFreedom:
    """Estimate the degrees of freedom of a fitting procedure on a design.

    Parameters
    ----------
    procedure : procedure, scikit-learn regressor, or function (X, y) -> fitted
        A regressor is cloned for every fit. Of a regressor and a function only the fit is known, so
        `trace`, `n_coef`, `rank`, `msdf` and `sdf` are then None.
    X : (n, p) array, DataFrame, or tuple (n, p)
        The design; a tuple asks for standard Gaussian numbers, drawn after the responses.
    y : (n,) array, optional
        The response that `mu="fitted"` is about.
    mu : None, "fitted", float or (n,) array
        The true mean: zero, the fit to `y` (a parametric bootstrap), or given.
    sigma : float or (n,) array
        Standard deviation of y, or one for each row. With `mu="fitted"` and sigma left at 1.0 it is
        estimated: RSS/(n - tr S), or RSS/n where the trace is unknown, is its square.
    n_rep : int
        Number of responses drawn and fitted.
    draws : RDraws, optional
        R's random numbers. The responses fill an n by n_rep matrix column by column, as in R.
    random_state : int, RandomState, Generator or None
        Numpy's random numbers, where `draws` is not given.
    method : {"auto", "monte-carlo", "exact"}
        "monte-carlo" is the paper's Algorithm 1, sample covariances with divisor n_rep - 1. "exact"
        is tr(S) for a linear smoother, and for a procedure that declares a `df_statistic` (the
        lasso: its nonzeros) the mean of that over the repetitions. "auto" is "exact" for linear
        smoothers and "monte-carlo" for all others.
    variance_reduction : {None, "direction", "control"}
        None is the paper's estimator. "direction" integrates the length of y - ybar out; it needs a
        constant mean, one sigma and a procedure that declares `is_equivariant`. "control" subtracts
        what least squares on X and the identity, two linear smoothers of known trace, explain.
        Both are unbiased and use the same fits; see the notes for what they gain.
    n_jobs : int, optional
        Number of workers. The result is the same, to the bit, for any number; inside
        `joblib.parallel_config("dask")` the cluster's workers are used.
    progress : bool
        Show a progress bar.

    Returns
    -------
    DegreesOfFreedom
        The standard errors are jackknife ones over the repetitions (over 32 groups of them when
        more than four million responses are drawn; nan with two repetitions).

    Raises
    ------
    FittingError
        A repetition failed. The error has its number as `repetition` and its response as `y`.

    Notes
    -----
    How many times smaller the variance became, same fits, mean zero, 1,000 repetitions. MARS without
    pruning at (n, p, nk, degree):

    ==================== ========= =======
    fit                  direction control
    ==================== ========= =======
    (100, 1, 21, 1)            1.2     1.2
    (264, 9, 21, 1)            1.3     1.6
    (100, 10, 21, 2)           2.5     2.8
    (100, 50, 101, 2)           16      16
    tree, p 5, depth 2         1.4     1.8
    tree, p 10, depth 4        1.4     1.6
    nearest neighbours         1.4     1.4
    ridge                        -      13
    ==================== ========= =======

    Examples
    --------
    >>> from pyearthdof import RDraws, degrees_of_freedom
    >>> from pyearthdof.procedures.linear import Ridge
    >>> X = RDraws(1).normal(200).reshape(50, 4)
    >>> degrees_of_freedom(Ridge(lam=10.0), X)
    DegreesOfFreedom(df=3.21618, trace=3.21618, n_coef=4, rank=4, msdf=0, sdf=0, n_rep=0)
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> degrees_of_freedom(DecisionTreeRegressor(max_depth=2), X, draws=RDraws(2))
    DegreesOfFreedom(df=15.0352 ± 0.48, n_rep=100)
    """
    procedure = as_procedure(procedure)
    X = check_design(X)
    n_rep = check_count("n_rep", n_rep, 2)
    method = _resolve_method(method, procedure)
    stream = as_draws(draws, random_state)
    settings = {
        "procedure": repr(procedure),
        "design": list(X) if is_shape(X) else "given",
        "mu": _describe(mu, "zero"),
        "sigma": float(sigma) if np.ndim(sigma) == 0 else "given",
        "draws": repr(stream),
        "method": method,
        "variance_reduction": variance_reduction,
    }
    if is_shape(X):
        X = drawn_design(X, stream, n_rep)
    responses = _responses(procedure, X, y, mu, sigma, stream)
    check_variance_reduction(variance_reduction, procedure, X, responses)
    if method == "exact" and getattr(procedure, "is_linear", False):
        return _exact(procedure, X, responses, settings)
    run = measure(
        procedure,
        X,
        responses,
        n_rep,
        statistic=procedure.df_statistic if method == "exact" else None,
        variance_reduction=variance_reduction,
        n_jobs=n_jobs,
        progress=progress,
    )
    settings |= {"engine": engine_of(procedure), "sigma": _sigma_setting(responses)}
    return _result(run, n_rep, settings)


def _resolve_method(method, procedure) -> str:
    if method not in METHODS:
        raise InvalidInputError(
            f"method={method!r} is unknown; pass 'auto', 'monte-carlo' or 'exact'."
        )
    linear = getattr(procedure, "is_linear", False)
    if method == "auto":
        return "exact" if linear else "monte-carlo"
    if method == "exact" and not linear and getattr(procedure, "df_statistic", None) is None:
        raise InvalidInputError(
            f"method='exact' is not possible: {procedure!r} is not linear and declares no "
            "df_statistic; pass 'monte-carlo'."
        )
    return method


def _describe(value, default: str) -> str:
    return default if value is None else value if isinstance(value, str) else "given"


def _sigma_setting(responses):
    return float(responses.sigma[0]) if np.ptp(responses.sigma) == 0 else "given"


def _responses(procedure, X, y, mu, sigma, stream) -> Responses:
    n = len(X)
    sigmas = check_sigma(sigma, n)
    if isinstance(mu, str) and mu == "fitted":
        mean, estimated = _fit_of_data(procedure, X, y)
        if np.ndim(sigma) == 0 and sigma == 1.0:
            sigmas = np.full(n, estimated)
        if not (sigmas > 0).all():
            raise InvalidInputError(
                "sigma cannot be estimated because the fit leaves no residuals; pass sigma."
            )
        return Responses(n, mean, sigmas, stream)
    if y is not None:
        raise InvalidInputError(
            "y is used with mu='fitted' only; pass mu='fitted', or leave y out."
        )
    return Responses(n, check_mean(mu, n), sigmas, stream)


def _fit_of_data(procedure, X, y) -> tuple[np.ndarray, float]:
    """The fit to y, and the standard deviation of its residuals."""
    if y is None:
        raise InvalidInputError("mu='fitted' needs the response; pass y.")
    y = check_vector("y", y, len(X))
    fits = FitMany(procedure)(X, y[:, None])
    residuals = y - fits.fitted[:, 0]
    used = 0.0 if fits.trace is None else float(fits.trace[0])
    rss = float(residuals @ residuals)
    rounding = len(y) * (np.finfo(float).eps * np.abs(y).max()) ** 2
    left = len(y) - used
    return fits.fitted[:, 0], np.sqrt(rss / left) if left > 0 and rss > rounding else 0.0


def _exact(procedure, X, responses, settings) -> DegreesOfFreedom:
    """tr(S) of a linear smoother, from one fit; y does not choose S, so nothing was searched."""
    [Y] = responses.blocks([0, 1])
    fits = FitMany(procedure)(X, Y)
    if fits.trace is None:
        raise InvalidInputError(f"{procedure!r} declares is_linear but does not tell its trace.")
    exact = {
        name: None if values is None else Jackknife(float(values[0]), np.zeros(2))
        for name, values in (("trace", fits.trace), ("n_coef", fits.n_coef), ("rank", fits.rank))
    }
    run = Measurement(
        df=exact["trace"],
        per_observation=_smoother_diagonal(procedure, X),
        # Refitted on a set that y does not choose: a projection, whose df is its rank.
        df_refitted=None if fits.refitted is None else exact["rank"],
        **exact,
    )
    return _result(run, 0, settings | {"engine": engine_of(procedure)})


def _smoother_diagonal(procedure, X) -> np.ndarray | None:
    """The diagonal of S, from its fits to unit vectors."""
    if len(X) > _MAX_SMOOTHER:
        return None
    return np.diag(procedure.fit_many(X, np.eye(len(X))).fitted).copy()


def _result(run: Measurement, n_rep: int, settings: dict) -> DegreesOfFreedom:
    parts: dict = {"df": run.df.value, "se": run.df.se}
    for name in QUANTITIES[1:]:
        estimate = getattr(run, name)
        parts[name] = None if estimate is None else estimate.value
        parts[f"{name}_se"] = None if estimate is None else estimate.se
    return DegreesOfFreedom(
        **parts,
        per_observation=run.per_observation,
        n_rep=n_rep,
        settings=settings,
        versions=package_versions() | run.versions,
    )


@functools.cache
def package_versions() -> dict[str, str]:
    """Versions of Python and of the packages that compute here."""
    names = ("numpy", "scipy", "scikit-learn")
    versions = {"pyearthdof": __version__, "python": platform.python_version()}
    return versions | {name: importlib.metadata.version(name) for name in names}
