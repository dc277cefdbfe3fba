"""The families of generalised linear models as R has them: variance, deviance, AIC, starting values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from ... import _core
from ..arithmetic.elementary import log, log1p, power
from ..arithmetic.sums import r_sum

__all__ = ["FAMILIES", "NAN", "Family", "Response", "respond"]

NAN = "NaNs produced"  # R's warning
NOT_WHOLE = 1e-3  # counts that differ more from a whole number get R's warning


@dataclass(frozen=True)
class Response:
    """What is fitted, as R's family prepares it.

    Attributes
    ----------
    y : (n,) values; shares of successes for a binomial pair.
    weights : (n,) prior weights, the numbers of trials in them.
    trials : (n,) numbers of trials, 1 where y is no pair.
    start : (n,) first means.
    """

    y: np.ndarray
    weights: np.ndarray
    trials: np.ndarray
    start: np.ndarray


@dataclass(frozen=True)
class Family:
    """One family; the functions take y, means and weights, and note R's warnings in a list."""

    name: str
    link: str
    variance: Callable[[np.ndarray], np.ndarray]
    deviances: Callable[..., np.ndarray]
    aic: Callable[..., float]
    is_valid: Callable[[np.ndarray], bool] = lambda mu: True


def respond(family: Family, y, weights, notes: list[str]) -> Response:
    """Prepare the response: (n,) values, or (n, 2) successes and failures of a binomial family."""
    weights = np.ones(len(y)) if weights is None else weights
    trials = np.ones(len(y))
    is_binomial = family.name == "binomial"
    if y.ndim == 2:
        if is_binomial and (np.abs(y - np.round(y)) > NOT_WHOLE).any():
            notes.append("non-integer counts in a binomial glm!")
        trials = y.sum(axis=1)
        with np.errstate(invalid="ignore"):
            y = np.where(trials == 0, 0.0, y[:, 0] / trials)
        return Response(y, weights * trials, trials, (trials * y + 0.5) / (trials + 1))
    if family.name in ("binomial", "quasibinomial"):
        y = np.where(weights == 0, 0.0, y)
        successes = weights * y
        if is_binomial and (np.abs(successes - np.round(successes)) > NOT_WHOLE).any():
            notes.append("non-integer #successes in a binomial glm!")
        return Response(y, weights, trials, (successes + 0.5) / (weights + 1))
    start = y + 0.1 if family.name.endswith("poisson") else y
    return Response(y, weights, trials, start)


def _log(values, notes: list[str]) -> np.ndarray:
    if (values < 0).any():
        notes.append(NAN)
    return log(values)


def _binomial_deviances(y, mu, weights, notes) -> np.ndarray:
    return _core.binomial_deviances(y, mu, weights)


def _poisson_deviances(y, mu, weights, notes) -> np.ndarray:
    logs = _log(y / mu, notes)
    return 2 * np.where(y > 0, weights * (y * logs - (y - mu)), mu * weights)


def _gamma_deviances(y, mu, weights, notes) -> np.ndarray:
    return -2 * weights * (_log(np.where(y == 0, 1.0, y / mu), notes) - (y - mu) / mu)


def _binomial_aic(response: Response, mu, deviance, notes) -> float:
    y, weights, trials = response.y, response.weights, response.trials
    m = trials if (trials > 1).any() else weights
    share = np.where(m > 0, weights / np.where(m > 0, m, 1.0), 0.0)
    n, x = np.round(m), np.round(m * y)
    ways = 0.0
    if (n > 1).any():
        ways = gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1)
    return -2 * r_sum(share * (ways + xlogy(x, mu) + xlog1py(n - x, -mu)))


def _poisson_aic(response: Response, mu, deviance, notes) -> float:
    y = response.y
    whole = np.round(y)
    broken = np.abs(y - whole) > 1e-7 * np.maximum(1, np.abs(y))
    notes += [f"non-integer x = {value:f}" for value in y[broken]]
    logs = np.where(broken, -np.inf, _log_poisson(whole, mu))
    return -2 * r_sum(logs * response.weights)


def _gamma_aic(response: Response, mu, deviance, notes) -> float:
    y, weights = response.y, response.weights
    dispersion = deviance / r_sum(weights)
    if not dispersion > 0:
        notes.append(NAN)
        return np.nan
    shape = 1 / dispersion
    scaled = y / (mu * dispersion)
    if shape < 1:
        logs = _log_poisson(shape, scaled) + log(shape / y)
    else:
        logs = _log_poisson(shape - 1, scaled) - log(mu * dispersion)
    return -2 * r_sum(logs * weights) + 2


def _gaussian_aic(response: Response, mu, deviance, notes) -> float:
    n = len(response.y)
    return n * (log(deviance / n * 2 * np.pi) + 1) + 2 - r_sum(log(response.weights))


def _inverse_gaussian_aic(response: Response, mu, deviance, notes) -> float:
    total = r_sum(response.weights)
    logs = 3 * r_sum(log(response.y) * response.weights)
    return total * (1 + log(deviance / total * 2 * np.pi)) + logs + 2


def _no_aic(response: Response, mu, deviance, notes) -> float:
    return np.nan


def _log_poisson(x, mean) -> np.ndarray:
    """Logarithm of mean^x exp(-mean)/x!, also for an x that is not whole.

    By Loader's saddle-point expansion, as R does it: the plain formula loses all digits where x and the
    mean are large and close to each other, as in a gamma model that fits almost exactly.
    """
    x, mean = np.broadcast_arrays(np.asarray(x, dtype=float), mean)
    large = np.where(x > 0, x, 1.0)
    excess = (mean - large) / large
    near = np.abs(mean - large) < 0.1 * (mean + large)
    close = excess - log1p(np.where(near, excess, 0.0))
    apart = large * np.where(near, close, excess + log(large / mean))
    logs = -0.5 * log(2 * np.pi * large) - _stirling_error(large) - apart
    return np.where(x > 0, logs, -mean)


def _stirling_error(x) -> np.ndarray:
    """log(x!) less Stirling's formula."""
    exact = gammaln(x + 1) - (x + 0.5) * log(x) + x - 0.5 * log(2 * np.pi)
    square = x * x
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / x
    return np.where(x > 15, series, exact)


def _is_share(mu) -> bool:
    return bool((np.isfinite(mu) & (mu > 0) & (mu < 1)).all())


def _is_positive(mu) -> bool:
    return bool((np.isfinite(mu) & (mu > 0)).all())


def _binomial(name, aic) -> Family:
    return Family(name, "logit", lambda mu: mu * (1 - mu), _binomial_deviances, aic, _is_share)


def _poisson(name, aic) -> Family:
    return Family(name, "log", lambda mu: mu, _poisson_deviances, aic, _is_positive)


# By our names, as in `describe.glm`.
FAMILIES = {
    "binomial": _binomial("binomial", _binomial_aic),
    "poisson": _poisson("poisson", _poisson_aic),
    "gamma": Family(
        "Gamma", "inverse", lambda mu: mu**2, _gamma_deviances, _gamma_aic, _is_positive
    ),
    "gaussian": Family(
        "gaussian",
        "identity",
        np.ones_like,
        lambda y, mu, weights, notes: weights * (y - mu) ** 2,
        _gaussian_aic,
    ),
    "inverse_gaussian": Family(
        "inverse.gaussian",
        "1/mu^2",
        lambda mu: power(mu, 3.0),
        lambda y, mu, weights, notes: weights * (y - mu) ** 2 / (y * mu**2),
        _inverse_gaussian_aic,
    ),
    "quasibinomial": _binomial("quasibinomial", _no_aic),
    "quasipoisson": _poisson("quasipoisson", _no_aic),
}
