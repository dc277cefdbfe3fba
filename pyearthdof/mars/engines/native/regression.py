"""Weighted least squares as R's lm(), and robust regression as R's MASS::rlm(method="MM").

Robust regression starts with an S-estimate from exact fits of small samples of rows, drawn as in R. It is
followed by M-estimation with the bisquare function and the scale of the S-estimate.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.linalg import qr, solve_triangular

from .... import _core
from ...._utils.warnings import warn_user
from ....exceptions import InvalidInputError, RWarning
from ....random import RDraws

LM_TOLERANCE = 1e-7


def wls(columns: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Coefficients; NaN for columns that depend on earlier ones."""
    root = np.sqrt(weights)
    rows = np.ascontiguousarray((columns * root[:, None]).T)
    chosen = sorted(_core.find_independent(rows, LM_TOLERANCE))
    if not chosen:
        raise nothing_left()
    coef = np.full(len(rows), np.nan)
    found = _core.regress(
        np.ascontiguousarray(rows[chosen]), (y * root)[None, :], leverages=False, n_threads=1
    )
    coef[chosen] = found["coef"][:, 0]
    return coef


def nothing_left() -> InvalidInputError:
    """Return the error for residuals to which no variance model can be fitted."""
    return InvalidInputError(
        "the residuals are next to nothing, which leaves nothing for a variance model: use "
        "varmod_method='const'"
    )


def wls_errors(columns: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Standard errors of the coefficients; NaN for columns that depend on earlier ones."""
    coef, root = wls(columns, y, weights), np.sqrt(weights)
    known = ~np.isnan(coef)
    rest = root * (y - columns[:, known] @ coef[known])
    errors = np.full(len(coef), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(np.sum(rest**2) / np.float64(len(y) - known.sum()))
    errors[known] = root_of_inverse(columns[:, known] * root[:, None]) * spread
    return errors


def root_of_inverse(X: np.ndarray) -> np.ndarray:
    """Square roots of the diagonal of (X'X)^-1; NaN if X'X is singular."""
    if not np.isfinite(X).all() or len(X) < X.shape[1]:
        return np.full(X.shape[1], np.nan)
    triangle = qr(X, mode="r")[0][: X.shape[1]]
    if not np.diag(triangle).all():
        return np.full(X.shape[1], np.nan)
    inverse = solve_triangular(triangle, np.eye(len(triangle)))
    return np.sqrt(np.sum(inverse**2, axis=1))


K0, BETA = 1.548, 0.5  # of the S-estimate: breakdown at one half
C = 4.685  # of the bisquare function: 95% efficiency
MAD = 0.6745
ALL_SAMPLES_BELOW = 5000
TOLERANCE = 1e-7


def fit_robust(
    columns: np.ndarray, y: np.ndarray, weights: np.ndarray, draws: RDraws
) -> tuple[np.ndarray, float]:
    """Coefficients of y on the columns, and the scale of the residuals; weights are inverse variances."""
    root = np.sqrt(weights)
    independent = _core.find_independent(np.ascontiguousarray(columns.T), TOLERANCE)
    if len(independent) < columns.shape[1]:
        raise _dependent("singular fits are not implemented in 'rlm'")
    X, y = columns * root[:, None], y * root
    residuals, scale = _s_estimate(X, y, draws)
    for _ in range(20):
        before = residuals
        coef = wls(X, y, _bisquare(residuals / (C * scale)))
        residuals = y - X @ coef
        change = math.sqrt(np.sum((before - residuals) ** 2) / max(1e-20, np.sum(before**2)))
        if change <= 1e-4:
            return coef, scale
    warn_user("'rlm' failed to converge in 20 steps", RWarning)
    return coef, scale


def _dependent(words: str) -> InvalidInputError:
    return InvalidInputError(
        "the regressors of the variance model depend on each other, which robust regression does not "
        f"take (R: {words}): use 'lm' in varmod_method"
    )


def robust_errors(X: np.ndarray, residuals: np.ndarray, scale: float) -> np.ndarray:
    """Standard errors of the coefficients; rows and residuals times the roots of the weights.

    Huber's formula: s (kappa / m) sqrt(diag (X'X)^-1), from the residuals times their weights and the mean
    m of the derivative of psi. R inverts the triangle of X and rejects a column close to zero.
    """
    n, p = X.shape
    if not np.linalg.cond(np.linalg.qr(X, mode="r"), 1) <= 1 / np.finfo(float).eps:
        raise _dependent("system is computationally singular")
    with np.errstate(divide="ignore", invalid="ignore"):  # no errors for a scale of 0
        u = residuals / scale
        squares = (u / C) ** 2
        slopes = np.where(squares < 1, (1 - squares) * (1 - 5 * squares), 0.0)
        mean = slopes.mean()
        kappa = 1 + p * slopes.var(ddof=1) / (n * mean**2)
        spread = np.sqrt(np.sum((residuals * _bisquare(u / C)) ** 2) / np.float64(n - p))
        return root_of_inverse(X) * spread * (kappa / mean)


def _bisquare(u: np.ndarray) -> np.ndarray:
    return (1 - np.minimum(1, np.abs(u)) ** 2) ** 2


def _chi(u: np.ndarray) -> np.ndarray:
    """Tukey's bisquare function, 1 outside [-1, 1]."""
    u = np.minimum(u**2, 1.0)
    return u * (3 + u * (-3 + u))


def _s_estimate(X: np.ndarray, y: np.ndarray, draws: RDraws) -> tuple[np.ndarray, float]:
    """Residuals and scale of the best exact fit of a sample, refined by reweighting."""
    n, p = X.shape
    target = (n - p) * BETA
    best, coef = _best_sample(X, y, target, draws)
    residuals, scale = y - X @ coef, best
    for _ in range(30):
        found = wls(X, y, _bisquare(residuals / scale / K0))
        residuals = y - X @ found
        new = scale * math.sqrt(np.sum(_chi(residuals / scale / K0)) / target)
        if abs(new / scale - 1) < 1e-5:
            break
        scale = new
    return residuals, scale


def _best_sample(
    X: np.ndarray, y: np.ndarray, target: float, draws: RDraws
) -> tuple[float, np.ndarray]:
    """Return the smallest scale of the exact fits of p rows, and the coefficients of that fit."""
    n = len(X)
    best: float | None = None
    chosen = np.empty(0)
    for coef in _exact_fits(X, y, draws):
        residuals = y - X @ coef
        if best is None:
            scale = np.partition(np.abs(residuals), n // 2)[n // 2] / MAD
            if scale == 0:
                raise nothing_left()
        elif np.sum(_chi(residuals / (K0 * best))) > target:
            continue
        else:
            scale = best
        for _ in range(30):
            share = np.sum(_chi(residuals / (K0 * scale))) / target
            new = math.sqrt(share) * scale
            if abs(share - 1) < 1e-4:
                break
            scale = new
        if best is None or new < best:
            best, chosen = new, coef
    if best is None:
        raise InvalidInputError("robust regression found no sample of rows that is not singular")
    return best, chosen


def _exact_fits(X: np.ndarray, y: np.ndarray, draws: RDraws) -> np.ndarray:
    """Coefficients of exact fits to p rows, for all samples of p rows or those drawn as in R."""
    n, p = X.shape
    if math.comb(n, p) < ALL_SAMPLES_BELOW:
        samples = np.array(list(itertools.combinations(range(n), p)))
    else:
        samples = _draw_samples(n, p, min(500 * p, 3000), draws)
    rows = X[samples]
    triangles = np.linalg.qr(rows, mode="r")
    sizes = np.abs(np.diagonal(triangles, axis1=1, axis2=2))
    regular = (sizes >= TOLERANCE * np.linalg.norm(rows, axis=1)).all(axis=1)
    regular &= (sizes > 0).all(axis=1)
    return np.linalg.solve(rows[regular], y[samples[regular]][..., None])[..., 0]


def _draw_samples(n: int, p: int, n_samples: int, draws: RDraws) -> np.ndarray:
    """Sample without replacement like MASS: one uniform number per row."""
    uniforms = draws.uniform(n_samples * p).reshape(n_samples, p)
    places = (uniforms * (n - np.arange(p))).astype(int)
    samples = np.empty((n_samples, p), dtype=int)
    for sample, chosen in zip(samples, places, strict=True):
        moved: dict[int, int] = {}
        for k, place in enumerate(chosen):
            sample[k] = moved.get(place, place)
            moved[place] = moved.get(n - k - 1, n - k - 1)
    return samples
