"""Degrees of freedom for prediction at new rows (random X).

At new rows x* the error is ErrR = sigma^2 + E(muhat(x*) - mu(x*))^2, and with ErrT the training error

    OptR = ErrR - ErrT = E(muhat* - mu*)^2 - E|muhat - mu|^2/n + 2 sigma^2 df/n .

There are three measures of it:

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

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from .._utils.checks import (
    by_position,
    check_choice,
    check_count,
    check_design,
    check_mean,
    check_sigma,
    is_integer,
    is_shape,
    refusal,
)
from ..contract import Bound, Rows
from ..exceptions import InvalidInputError
from ..procedures.scikit_learn import RegressorProcedure, fix_random_state
from .degrees_of_freedom import METHODS, check_y_is_used, responses_around_fit
from .montecarlo.adapters import as_procedure, takes_missing
from .montecarlo.designs import Designs, in_words, the_designs
from .montecarlo.draws import Draws, RandomState, Responses, as_draws
from .montecarlo.errors import Jackknife, mean_of, mean_over_designs
from .montecarlo.variance_reduction import covariance_sum, jackknife_groups
from .montecarlo.workers import check_finite, check_result_shape, one_blas_thread, run_blocks
from .results import DegreesOfFreedom, as_fields, package_versions


@dataclass(frozen=True)
class Split:
    """A design, the rows to predict, and the true mean at both."""

    X: Any
    X_new: Any
    mu: np.ndarray
    mu_new: np.ndarray

    def __len__(self) -> int:
        return len(self.X)


def draw_splits(
    check: Callable[..., Any],
    source: Any,
    X_new: Any,
    mu: Any,
    mu_new: Any,
    stream: Draws,
    n_rep: int,
    n_designs: int,
) -> Iterator[Split]:
    """Draw the designs and their new rows from random numbers after those of all responses.

    `check` validates rows.
    """
    after = stream.copy()
    after.skip_normals((source[0] if is_shape(source) else 1) * n_rep)
    rng = np.random.default_rng(np.frombuffer(after.normal(8).tobytes(), dtype=np.uint32))
    for _ in range(n_designs):
        if is_shape(source):
            X = np.ascontiguousarray(after.normal(source[0] * source[1]).reshape(source[::-1]).T)
        else:
            X = check(source(rng)) if callable(source) else source
        rows = _new_rows(check, X_new, X, source, rng)
        yield Split(X, rows, _mean(mu, X), _mean(mu, rows, mu_new))


def _new_rows(
    check: Callable[..., Any], X_new: Any, X: Rows, source: Any, rng: np.random.Generator
) -> Any:
    if callable(X_new):
        rows = check(X_new(rng), "X_new")
    elif is_integer(X_new):
        if not is_shape(source):
            raise refusal("X_new", X_new, "rows, or a function that draws them, for this X")
        rows = rng.standard_normal((check_count("X_new", X_new, 1), source[1]))
    else:
        rows = check(X_new, "X_new")
    if is_shape(rows) or np.shape(rows)[1] != np.shape(X)[1]:
        raise InvalidInputError(
            f"X_new has shape {np.shape(rows)} but it should have the {np.shape(X)[1]} columns of X"
        )
    return rows


def _mean(mu: np.ndarray, X: Rows, mu_new: Any = None) -> np.ndarray:
    """Return the true mean at some rows: from a function, a number, or a vector."""
    if mu_new is not None:
        return check_mean(mu_new, len(X))
    if callable(mu):
        return check_mean(np.asarray(mu(X), dtype=float), len(X))
    if np.ndim(mu) == 1 and len(mu) != len(X):
        raise InvalidInputError(
            f"mu has {len(mu)} values but it should be a number or a function (X -> mean), or mu_new should "
            f"be given for the {len(X)} new rows"
        )
    return check_mean(mu, len(X))


@dataclass(frozen=True)
class FitAndPredict:
    """Task for one block: fit every response and predict at the rows of X and at the new rows.

    scikit-learn's linear smoothers fit many responses `at_once`.
    """

    estimator: object
    at_once: bool = False

    @property
    def procedure(self) -> Any:
        """Object to bind to designs: this task, because the estimator may bind itself for other fits."""
        return self

    def fitted_model(self, X: Rows, y: np.ndarray) -> Any:
        model = clone(self.estimator, safe=False)
        fix_random_state(model, y)
        return model.fit(X, y)

    def __call__(self, bound: Any, Y: np.ndarray, n_threads: int = 1) -> Any:
        split = bound.X
        if self.at_once:
            model = self.fitted_model(split.X, Y)
            return tuple(
                np.reshape(model.predict(rows), (len(rows), Y.shape[1]))
                for rows in (split.X, split.X_new)
            )
        fitted, predicted = np.empty(Y.shape), np.empty((len(split.X_new), Y.shape[1]))
        for j, y in enumerate(Y.T):
            model = self.fitted_model(split.X, np.ascontiguousarray(y))
            for values, rows in ((fitted, split.X), (predicted, split.X_new)):
                found = np.asarray(model.predict(rows), dtype=float)
                check_result_shape("predictions", found, (len(rows),))
                check_finite(found)
                values[:, j] = found
        return fitted, predicted


@dataclass(frozen=True)
class Parts:
    """Components of OptR, in units of sigma^2 and per row, with jackknife estimates from the same draws."""

    df: Jackknife
    error_fit: Jackknife
    error_new: Jackknife
    variance_fit: Jackknife
    variance_new: Jackknife

    def combined(self, function: Callable[..., Any]) -> Jackknife:
        """Return a function of the five components, for the estimates and the leave-one-out values."""
        parts = list(vars(self).values())
        return Jackknife(
            float(function(*(part.value for part in parts))),
            np.asarray(function(*(part.left_out for part in parts))),
        )


def measure_parts(
    work: Any,
    splits: list[Split],
    sigma: float,
    counts: Sequence[int],
    linear: bool,
    stream: Draws,
    *,
    pure: bool = False,
    **run: Any,
) -> Parts:
    """Compute the components over all designs."""
    each = []
    for split, count in zip(splits, counts, strict=True):
        if pure:
            zero = np.zeros(len(split.mu)), np.zeros(len(split.mu_new))
            split = Split(split.X, split.X_new, *zero)
        if linear:
            each.append(_exactly(work, split, sigma))
        else:
            each.append(_by_draws(work, split, sigma, count, stream, **run))
    names = Parts.__dataclass_fields__
    return Parts(*(mean_over_designs([getattr(e, name) for e in each], counts) for name in names))


@one_blas_thread()
def _by_draws(
    work: Any, split: Split, sigma: float, n_rep: int, stream: Draws, **run: Any
) -> Parts:
    n, n_new = len(split.X), len(split.X_new)
    responses = Responses(n, split.mu, np.full(n, sigma), stream)
    groups = jackknife_groups(max(n, n_new), n_rep, 2)
    df = covariance_sum(split.mu, responses.sigma, groups)
    spread = [
        covariance_sum(mean, np.full(len(mean), sigma), groups) for mean in (split.mu, split.mu_new)
    ]
    errors: tuple[list, list] = ([], [])
    designs = Designs(split, (n_rep,), stream)
    for block in run_blocks(work, designs, responses, width=2 + n_new // n, **run):
        df.add(block.Y, block.result[0])
        for k, (values, mean) in enumerate(
            zip(block.result, (split.mu, split.mu_new), strict=True)
        ):
            spread[k].add(values, values)
            errors[k].append(((values - mean[:, None]) ** 2).mean(axis=0) / sigma**2)
    error_fit, error_new = (mean_of(np.concatenate(values), groups) for values in errors)
    variances = [
        Jackknife(total.value / size, total.left_out / size)
        for total, size in zip((s.result().total for s in spread), (n, n_new), strict=True)
    ]
    return Parts(df.result().total, error_fit, error_new, *variances)


def _exactly(work: Any, split: Split, sigma: float) -> Parts:
    """Compute the rows of H and H* of a linear smoother from its fits to unit vectors."""
    H, H_new = work(Bound(None, split), np.eye(len(split.X)))
    variances = [(matrix**2).sum() / len(matrix) for matrix in (H, H_new)]
    biases = [
        (((matrix @ split.mu - mean) / sigma) ** 2).mean()
        for matrix, mean in ((H, split.mu), (H_new, split.mu_new))
    ]
    values = [np.trace(H), *np.add(variances, biases), *variances]
    return Parts(*(Jackknife(float(value), np.zeros(2) + float(value)) for value in values))


_RANDOM_X = ("predictive", "emergent", "intrinsic", "optimism", "prediction_error")


@dataclass(frozen=True, eq=False)
class RandomXDegreesOfFreedom(DegreesOfFreedom):
    """Degrees of freedom of a procedure for prediction at new rows.

    Attributes
    ----------
    df, se : float
        Classical degrees of freedom, at the rows of X.
    predictive, predictive_se : float
        Degrees of freedom of Luan, Lee and Zhu, which include the excess variance at new rows.
    emergent, emergent_se : float
        Degrees of freedom of Patil, Du and Tibshirani: the number of Gaussian predictors for which least
        squares has the same optimism.
    intrinsic, intrinsic_se : float
        The same on pure noise; equal to `emergent` if the mean is 0.
    optimism, optimism_se : float
        Error at new rows minus training error, OptR, in units of y squared.
    prediction_error, prediction_error_se : float
        Mean squared error at new rows, including noise.
    n_new : int
        Number of new rows per design.
    others
        As in `DegreesOfFreedom`.

    Examples
    --------
    >>> from pyearthdof import prediction_df
    >>> from pyearthdof.procedures import Ridge
    >>> found = prediction_df(Ridge(lam=1.0), (30, 3), 50, random_state=0)
    >>> found.n_new, found.predictive > found.df
    (50, True)
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


def equivalent_predictors(ratio: Any, n: int) -> np.ndarray:
    """Return the k below n - 1 for which k/n + k/(n - k - 1) equals OptR/sigma^2."""
    # k^2 - k (2n - 1 + n ratio) + n (n - 1) ratio = 0, the smaller root, without cancellation.
    ratio = np.asarray(ratio, dtype=float)
    b = 2 * n - 1 + n * ratio
    root = np.sqrt(np.maximum(b * b - 4 * n * (n - 1) * ratio, 0.0))
    return 2 * n * (n - 1) * ratio / (b + root)


def prediction_df(
    procedure: Any,
    X: Rows | tuple[int, int] | Callable[[np.random.Generator], Rows],
    X_new: Rows | int | Callable[[np.random.Generator], Rows],
    *,
    y: ArrayLike | None = None,
    mu: ArrayLike | str | Callable[[Rows], np.ndarray] | None = None,
    mu_new: ArrayLike | None = None,
    sigma: float | None = None,
    n_rep: int = 100,
    draws: Draws | None = None,
    random_state: RandomState = None,
    n_designs: int | None = None,
    method: str = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
) -> RandomXDegreesOfFreedom:
    """Estimate the degrees of freedom of predictions at new rows, with Gaussian noise.

    Three measures describe how much larger the error is at new rows than at the rows of X.

    Parameters
    ----------
    procedure : procedure or scikit-learn regressor
        A procedure with `predict`.
    X : (n, p) array, DataFrame, tuple (n, p), or function
        The design. A tuple requests standard Gaussian predictors; a function `rng -> rows` draws the rows of
        each of `n_designs` designs.
    X_new : (m, p) array, DataFrame, function or int
        New rows, or a function `rng -> rows` that draws them; for a tuple X, their number.
    y : (n,) array, optional
        The response for `mu="fitted"`.
    mu : None, "fitted", float, (n,) array or function
        True mean: zero, the fit to `y`, or given; a function `X -> mean` applies to both kinds of rows.
    mu_new : (m,) array, optional
        True mean at the new rows, if `mu` is an array.
    sigma : float, optional
        Standard deviation of y, 1 by default. With `mu="fitted"`, estimated as in `degrees_of_freedom`.
    n_rep, draws, random_state, n_designs, n_jobs, progress
        As in `degrees_of_freedom`.
    method : {"auto", "monte-carlo", "exact"}
        "exact" applies to linear smoothers; "auto" uses it if possible.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from pyearthdof import prediction_df
    >>> prediction_df(LinearRegression(fit_intercept=False), (50, 10), 200, random_state=0)
    RandomXDegreesOfFreedom(df=10, predictive=... ± ..., intrinsic=... ± ..., over 20 designs)
    """
    check_choice("method", method, METHODS)
    check_y_is_used(y, mu)
    y, mu, sigma = by_position(X, y=y, mu=mu, sigma=sigma)
    n_rep = check_count("n_rep", n_rep, 2)
    run: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    procedure = as_procedure(procedure)
    if isinstance(procedure, RegressorProcedure):
        work = FitAndPredict(procedure.regressor, at_once=procedure.is_linear)
    elif hasattr(procedure, "fit") and hasattr(procedure, "predict"):
        work = FitAndPredict(procedure)
    else:
        right = "able to predict at new rows: an estimator with X_new"
        raise refusal("procedure", procedure, right)
    linear = bool(getattr(procedure, "is_linear", False)) and method != "monte-carlo"
    if method == "exact" and not linear:
        raise refusal("method", method, f"'monte-carlo': {procedure!r} is not linear")
    stream = as_draws(draws, random_state)
    check = partial(check_design, missing=takes_missing(work.estimator))
    source = X if callable(X) else check(X)
    # For a sampler, only the number of designs is used.
    shape = source if is_shape(source) else (2, 1)
    drawn = callable(X) or is_shape(source)
    designs = the_designs(shape if drawn else source, stream, n_rep, n_designs, exact=linear)
    fitted = isinstance(mu, str) and mu == "fitted"
    if fitted:
        if drawn:
            raise refusal("X", "drawn", "the design that y belongs to, with mu='fitted'")
        responses, _ = responses_around_fit(procedure, designs, y, sigma, stream, **run)
        model = work.fitted_model(source, np.asarray(y, dtype=float))
        mu, mu_new, sigma = model.predict, None, float(responses.sigma[0])
    if np.ndim(sigma):
        raise refusal(
            "sigma", "an array", "a number: new rows have no standard deviation of their own"
        )
    deviation = float(check_sigma(sigma, 1)[0])
    splits = list(draw_splits(check, source, X_new, mu, mu_new, stream, n_rep, len(designs)))
    what = work, splits, deviation, designs.counts, linear
    start = stream.copy()
    parts = measure_parts(*what, stream, **run)
    noise = all(not split.mu.any() and not split.mu_new.any() for split in splits)
    pure = parts if noise else measure_parts(*what, start, pure=True, **run)
    return RandomXDegreesOfFreedom(
        **as_fields(_measures(parts, pure, len(splits[0]), deviation)),
        per_observation=None,
        n_rep=0 if linear else designs.n_rep,
        n_designs=len(splits) if drawn else None,
        se_covers=_covers(len(splits), drawn, linear),
        settings={
            "procedure": repr(procedure), "design": designs.setting if is_shape(source) else "given",
            "mu": "zero" if noise else "fitted" if fitted else "given", "draws": repr(stream),
            "sigma": deviation, "method": "exact" if linear else "monte-carlo",
        },
        versions=package_versions(),
        n_new=len(splits[0].X_new),
    )  # fmt: skip


def _measures(parts: Parts, pure: Parts, n: int, sigma: float) -> dict[str, Jackknife]:
    def ratio(df: Any, error_fit: Any, error_new: Any, *_: Any) -> Any:
        return error_new - error_fit + 2 * df / n

    def predictive(df: Any, _fit: Any, _new: Any, variance_fit: Any, variance_new: Any) -> Any:
        return df + n / 2 * (variance_new - variance_fit)

    return {
        "df": parts.df,
        "predictive": parts.combined(predictive),
        "emergent": parts.combined(lambda *p: equivalent_predictors(ratio(*p), n)),
        "intrinsic": pure.combined(lambda *p: equivalent_predictors(ratio(*p), n)),
        "optimism": parts.combined(lambda *p: sigma**2 * ratio(*p)),
        "prediction_error": parts.combined(lambda _df, _fit, new, *_: sigma**2 * (1 + new)),
    }


def _covers(n_splits: int, drawn: bool, linear: bool) -> str:
    if n_splits > 1:
        return f"{'the draws' if linear else 'the draws of y,'} of the design and of the new rows"
    rows = "drawn" if drawn else "given"
    if linear:
        return f"nothing, it is exact for the {rows} rows"
    return f"the draws of y, for the {rows} design and new rows"
