"""Degrees of freedom where the rows to be predicted are new: random-X.

The classical degrees of freedom measure the optimism of the training error ErrT as an estimate of the
error at the same rows, OptF = 2 sigma^2 df/n. At new rows x* the error is ErrR = sigma^2 + E(muhat(x*) -
mu(x*))^2, and

    OptR = ErrR - ErrT = E(muhat* - mu*)^2 - E|muhat - mu|^2/n + 2 sigma^2 df/n .

Three measures are made of it:

predictive (Luan, Lee and Zhu 2021)
    df + n/2 (E Var(muhat*) - sum_i Var(muhat_i)/n)/sigma^2. With muhat* = h*'y, as they define it, this is
    tr H + n/2 (E|h*|^2 - tr(H'H)/n).
emergent, intrinsic (Patil, Du and Tibshirani 2024)
    The number k of Gaussian predictors with which least squares has the same optimism at new rows,
    OptR/sigma^2 = k/n + k/(n - k - 1) (Rosset and Tibshirani 2020). Emergent is at the mean in question, so
    that bias counts; intrinsic is on pure noise, mu = 0.

Least squares on p Gaussian predictors, without intercept, has the predictive df p/2 + n p/(2 (n - p - 1))
for p < n - 1, and n/2 + n^2/(2 (p - n - 1)) for p > n + 1, where it interpolates with the least norm; the
emergent and intrinsic ones are p in the first case.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from .._utils.checks import check_design, check_sigma, is_shape, refusal
from .montecarlo.adapters import RegressorProcedure, as_procedure, takes_missing
from .montecarlo.designs import in_words, the_designs
from .montecarlo.noise import as_draws
from .montecarlo.pilot import responses_around_fit
from .new_rows import draw_splits
from .optimism_parts import FitAndPredict, measure_parts
from .results import DegreesOfFreedom, as_fields
from .versions import package_versions

__all__ = ["RandomXDegreesOfFreedom", "equivalent_predictors", "random_x_degrees_of_freedom"]

_RANDOM_X = ("predictive", "emergent", "intrinsic", "optimism", "prediction_error")


@dataclass(frozen=True, eq=False)
class RandomXDegreesOfFreedom(DegreesOfFreedom):
    """The degrees of freedom of a procedure whose predictions are for new rows.

    Attributes
    ----------
    df, se : float
        The classical degrees of freedom, at the rows of X.
    predictive, predictive_se : float
        Luan, Lee and Zhu's: the excess of the variance at new rows counts, too.
    emergent, emergent_se : float
        Patil, Du and Tibshirani's: as many Gaussian predictors give least squares the same optimism.
    intrinsic, intrinsic_se : float
        The same on pure noise; equal to `emergent` where the mean is 0.
    optimism, optimism_se : float
        Error at new rows less training error, OptR, in units of y squared.
    prediction_error, prediction_error_se : float
        Mean squared error at new rows, noise included.
    n_new : int
        Number of new rows, for each design.
    others
        As in `DegreesOfFreedom`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from pyearthdof import degrees_of_freedom
    >>> fit = LinearRegression(fit_intercept=False)
    >>> found = degrees_of_freedom(fit, (50, 10), X_new=200, random_state=0)
    >>> found
    RandomXDegreesOfFreedom(df=10, predictive=... ± ..., intrinsic=... ± ..., over 20 designs)
    """

    predictive: float = np.nan
    predictive_se: float = np.nan
    emergent: float = np.nan
    emergent_se: float = np.nan
    intrinsic: float = np.nan
    intrinsic_se: float = np.nan
    optimism: float = np.nan
    optimism_se: float = np.nan
    prediction_error: float = np.nan
    prediction_error_se: float = np.nan
    n_new: int = 0

    _QUANTITIES = ("df", *_RANDOM_X)

    def __repr__(self) -> str:
        shown: tuple[str, ...] = ("df", "predictive", "emergent", "intrinsic")
        if self.settings.get("mu") == "zero":
            shown = ("df", "predictive", "intrinsic")
        end = f", n_rep={self.n_rep}" if self.n_rep else ""
        known = ", ".join(f"{name}={self._text(name)}" for name in shown)
        return f"RandomXDegreesOfFreedom({known}{end}{in_words(self.n_designs)})"


def equivalent_predictors(ratio, n: int):
    """The k at which k/n + k/(n - k - 1) is the given OptR/sigma^2; it stays below n - 1.

    Examples
    --------
    >>> from pyearthdof.dof.prediction import equivalent_predictors
    >>> round(float(equivalent_predictors(10 / 50 + 10 / 39, 50)), 10)
    10.0
    """
    # k^2 - k (2n - 1 + n ratio) + n (n - 1) ratio = 0, the smaller root, without cancellation.
    ratio = np.asarray(ratio, dtype=float)
    b = 2 * n - 1 + n * ratio
    root = np.sqrt(np.maximum(b * b - 4 * n * (n - 1) * ratio, 0.0))
    return 2 * n * (n - 1) * ratio / (b + root)


def random_x_degrees_of_freedom(
    procedure, X, X_new, *, y, mu, mu_new, sigma, n_rep, draws, random_state, n_designs, method, n_jobs,
    progress,
) -> RandomXDegreesOfFreedom:  # fmt: skip
    """`degrees_of_freedom` with predictions at new rows; arguments as there."""
    procedure = as_procedure(procedure)
    at_once = isinstance(procedure, RegressorProcedure) and procedure.is_linear
    work = FitAndPredict(_estimator_of(procedure), at_once)
    linear = bool(getattr(procedure, "is_linear", False)) and method != "monte-carlo"
    if method == "exact" and not linear:
        raise refusal("method", method, f"'monte-carlo': {procedure!r} is not linear")
    stream = as_draws(draws, random_state)
    check = partial(check_design, missing=takes_missing(work.estimator))
    source = X if callable(X) else check(X)
    # Of a sampler only the number of designs is asked for.
    shape = source if is_shape(source) else (2, 1)
    drawn = callable(X) or is_shape(source)
    designs = the_designs(shape if drawn else source, stream, n_rep, n_designs, exact=linear)
    fitted = isinstance(mu, str) and mu == "fitted"
    if fitted:
        if drawn:
            raise refusal("X", "drawn", "the design that y belongs to, with mu='fitted'")
        responses, _ = responses_around_fit(
            procedure, designs, y, sigma, stream, n_jobs=n_jobs, progress=progress
        )
        model = work.fitted_model(source, np.asarray(y, dtype=float))
        mu, mu_new, sigma = model.predict, None, float(responses.sigma[0])
    if np.ndim(sigma):
        raise refusal(
            "sigma", "an array", "a number: new rows have no standard deviation of their own"
        )
    deviation = float(check_sigma(sigma, 1)[0])
    splits = list(draw_splits(check, source, X_new, mu, mu_new, stream, n_rep, len(designs)))
    run = partial(measure_parts, work, splits, deviation, designs.counts, linear, n_jobs, progress)
    start = stream.copy()
    parts = run(stream)
    noise = all(not split.mu.any() and not split.mu_new.any() for split in splits)
    pure = parts if noise else run(start, pure=True)
    return _result(
        parts, pure, splits, designs, drawn, linear, deviation,
        {
            "procedure": repr(procedure), "design": designs.setting if is_shape(source) else "given",
            "mu": "zero" if noise else "fitted" if fitted else "given", "draws": repr(stream),
            "sigma": deviation, "method": "exact" if linear else "monte-carlo",
        },
    )  # fmt: skip


def _estimator_of(procedure):
    if isinstance(procedure, RegressorProcedure):
        return procedure.regressor
    if hasattr(procedure, "fit") and hasattr(procedure, "predict"):
        return procedure
    raise refusal("procedure", procedure, "able to predict at new rows: an estimator with X_new")


def _result(
    parts, pure, splits, designs, drawn, linear, sigma, settings
) -> RandomXDegreesOfFreedom:
    n = len(splits[0].X)

    def ratio(df, error_fit, error_new, *_):
        return error_new - error_fit + 2 * df / n

    def predictive(df, _fit, _new, variance_fit, variance_new):
        return df + n / 2 * (variance_new - variance_fit)

    found = {
        "df": parts.df,
        "predictive": parts.combined(predictive),
        "emergent": parts.combined(lambda *p: equivalent_predictors(ratio(*p), n)),
        "intrinsic": pure.combined(lambda *p: equivalent_predictors(ratio(*p), n)),
        "optimism": parts.combined(lambda *p: sigma**2 * ratio(*p)),
        "prediction_error": parts.combined(lambda _df, _fit, new, *_: sigma**2 * (1 + new)),
    }
    one = "" if linear else "the draws of y"
    several = f"{one or 'the draws'} of the design and of the new rows"
    given = (
        f"{one}, for the given design and new rows"
        if one
        else "nothing, it is exact for the given rows"
    )
    if drawn and len(splits) == 1:
        given = given.replace("given", "drawn")
    return RandomXDegreesOfFreedom(
        **as_fields(found),
        per_observation=None,
        n_rep=0 if linear else designs.n_rep,
        n_designs=len(splits) if drawn else None,
        se_covers=several.replace("y of", "y, of") if len(splits) > 1 else given,
        settings=settings,
        versions=package_versions(),
        n_new=len(splits[0].X_new),
    )
