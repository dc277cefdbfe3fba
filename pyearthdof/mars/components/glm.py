"""Generalised linear models as in R: links, families, and models fitted to the terms of earth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd
from scipy.special import gammaln, xlog1py, xlogy

from ...exceptions import InvalidInputError
from ..arithmetic import (
    atan,
    exp,
    expm1,
    log,
    log1p,
    logistic,
    logistic_slope,
    normal,
    normal_density,
    normal_quantile,
    power,
    r_sum,
    tan,
)
from ..options import GLM_LINKS
from ..reading import read_coefficients, read_text, read_vector

OF_SHARES = ("binomial", "quasibinomial")  # families with means in [0, 1]
OF_COUNTS = ("poisson", "quasipoisson")

EPSILON = np.finfo(float).eps  # distance that R keeps between means and their limits
AT_LIMIT = 10 * EPSILON  # closer means are at their limits according to R

PROBIT = 8.125890664701906  # -qnorm(.Machine$double.eps)
CAUCHIT = 1433540284805664.8  # -qcauchy(.Machine$double.eps)


class GlmStoppedError(Exception):
    """R's iteration fails with this error; the message is R's."""


@dataclass(frozen=True)
class Link:
    """Link function, with the components linkfun, linkinv, mu.eta and valideta of R."""

    linear: Callable[[np.ndarray], np.ndarray]
    mean: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    is_valid: Callable[[np.ndarray], bool] = lambda eta: True
    is_nan: Callable[[np.ndarray], np.ndarray] | None = None  # linear predictors for which R warns

    @property
    def half(self) -> float:
        """Linear predictor of the mean 1/2."""
        return float(self.linear(np.array([0.5]))[0])

    @property
    def is_decreasing(self) -> bool:
        """True if the mean decreases in the linear predictor."""
        return bool(self.slope(np.array([self.half]))[0] < 0)


def _log_odds(mu):
    if (outside := (mu < 0) | (mu > 1)).any():
        raise GlmStoppedError(f"Value {mu[outside][0]:g} out of range (0, 1)")
    return log(mu / (1 - mu))


def _cauchy(eta):
    """R's pcauchy, exact in both tails."""
    eta = np.clip(eta, -CAUCHIT, CAUCHIT)
    outside = np.abs(eta) > 1
    angle = atan(np.where(outside, 1 / eta, eta)) / np.pi
    return np.where(outside, np.where(eta > 0, 0.5 - angle + 0.5, -angle), 0.5 + angle)


def _cauchy_quantile(mu):
    """R's qcauchy, exact in both tails; NaN outside [0, 1]."""
    tail = np.where(mu > 0.5, 1 - mu, mu)
    slope = np.where(tail == 0.25, 1.0, tan(np.pi * tail))  # exact in R
    value = np.where(mu > 0.5, 1.0, -1.0) / slope
    value = np.where(mu == 0.5, 0.0, value)
    return np.where((mu < 0) | (mu > 1), np.nan, value)


def _complementary(eta):
    return np.clip(-expm1(-exp(eta)), EPSILON, 1 - EPSILON)


def _complementary_slope(eta):
    growth = exp(np.minimum(eta, 700))
    return np.maximum(growth * exp(-growth), EPSILON)


def _exponential(eta):
    return np.maximum(exp(eta), EPSILON)


def _is_share(mu) -> bool:
    return bool((np.isfinite(mu) & (mu > 0) & (mu < 1)).all())


def _is_positive(mu) -> bool:
    return bool((np.isfinite(mu) & (mu > 0)).all())


def _is_not_zero(eta) -> bool:
    return bool((np.isfinite(eta) & (eta != 0)).all())


LINKS = {
    "identity": Link(lambda mu: mu, lambda eta: eta, np.ones_like),
    "logit": Link(_log_odds, logistic, logistic_slope),
    "probit": Link(
        normal_quantile,
        lambda eta: normal(np.clip(eta, -PROBIT, PROBIT)),
        lambda eta: np.maximum(normal_density(eta), EPSILON),
    ),
    "cauchit": Link(
        _cauchy_quantile, _cauchy, lambda eta: np.maximum(1 / (np.pi * (1 + eta * eta)), EPSILON)
    ),
    "cloglog": Link(lambda mu: log(-log(1 - mu)), _complementary, _complementary_slope),
    "log": Link(log, _exponential, _exponential),
    "inverse": Link(lambda mu: 1 / mu, lambda eta: 1 / eta, lambda eta: -1 / eta**2, _is_not_zero),
    "sqrt": Link(np.sqrt, lambda eta: eta**2, lambda eta: 2 * eta, _is_positive),
    "1/mu^2": Link(
        lambda mu: 1 / mu**2,
        lambda eta: 1 / np.sqrt(eta),
        lambda eta: -1 / (2 * power(eta, 1.5)),
        _is_positive,
        lambda eta: eta < 0,
    ),
}


NAN = "NaNs produced"  # R's warning
NOT_WHOLE = 1e-3  # distance from an integer above which R warns about counts


@dataclass(frozen=True)
class Response:
    """Response prepared as in R's family."""

    y: np.ndarray  # shares of successes for a binomial pair
    weights: np.ndarray  # prior weights, including the numbers of trials
    trials: np.ndarray  # 1 unless y is a pair
    start: np.ndarray  # starting values of the means


@dataclass(frozen=True)
class Family:
    """Family; the functions take y, means and weights, and append R's warnings to a list."""

    name: str
    link: str
    variance: Callable[[np.ndarray], np.ndarray]
    deviances: Callable[..., np.ndarray]
    aic: Callable[..., float]
    is_valid: Callable[[np.ndarray], bool] = lambda mu: True


def respond(family: Family, y, weights, notes: list[str]) -> Response:
    """Prepare the response: (n,) values, or (n, 2) successes and failures for a binomial family."""
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
    from ... import _core

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
    """Logarithm of mean^x exp(-mean)/x!, also for non-integer x.

    Uses Loader's saddle-point expansion, as R does: the plain formula loses all digits if x and the mean
    are large and close to each other, as in a gamma model with an almost exact fit.
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
    """Error of Stirling's formula for log(x!)."""
    exact = gammaln(x + 1) - (x + 0.5) * log(x) + x - 0.5 * log(2 * np.pi)
    square = x * x
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / x
    return np.where(x > 15, series, exact)


def _binomial(name, aic) -> Family:
    return Family(name, "logit", lambda mu: mu * (1 - mu), _binomial_deviances, aic, _is_share)


def _poisson(name, aic) -> Family:
    return Family(name, "log", lambda mu: mu, _poisson_deviances, aic, _is_positive)


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


def is_pairs(Y: np.ndarray, family: str | None) -> bool:
    """Return True if earth treats two columns as successes and failures of one binomial response."""
    if family not in OF_SHARES or Y.ndim != 2 or Y.shape[1] != 2:
        return False
    return bool((np.round(Y) == Y).all() and (Y >= 0).all() and (Y.sum(axis=1) > 1).any())


@dataclass(frozen=True, eq=False)
class GlmPart:
    """GLM on the selected terms, with R's names, `coef` shaped as in `MarsModel`, (m,) statistics."""

    family: str
    link: str
    coef: np.ndarray
    null_deviance: np.ndarray
    null_df: np.ndarray
    deviance: np.ndarray
    df: np.ndarray
    aic: np.ndarray
    iterations: np.ndarray
    converged: np.ndarray

    def response(self, eta: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):  # infinities and NaN propagate as in R
            return LINKS[self.link].mean(eta)

    def slope(self, eta: np.ndarray) -> np.ndarray:
        """Return the derivative of the response with respect to the linear predictor."""
        with np.errstate(all="ignore"):
            return LINKS[self.link].slope(eta)

    @property
    def deviance_ratio(self) -> np.ndarray:
        """Share of the null deviance explained by the model; not finite if it is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 - self.deviance / self.null_deviance

    def to_frame(self, response_names) -> pd.DataFrame:
        """Return one row per response."""
        names = ["null_deviance", "null_df", "deviance", "df", "deviance_ratio", "aic"]
        names += ["iterations", "converged"]
        index = list(response_names)[: len(self.deviance)]
        kinds = {"null_df": int, "df": int, "iterations": int, "converged": bool}
        columns = {name: getattr(self, name).astype(kinds.get(name, float)) for name in names}
        return pd.DataFrame(columns, index=index)

    def to_dict(self) -> dict:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_dict(cls, entries) -> GlmPart:
        """Read the result of `to_dict` from JSON; reject inconsistent entries."""
        names = {f.name for f in fields(cls)}
        if not isinstance(entries, Mapping) or set(entries) != names:
            raise InvalidInputError(f"glm should have exactly {', '.join(sorted(names))}")
        link = read_text("glm.link", entries["link"])
        if link not in GLM_LINKS:
            raise InvalidInputError(
                f"glm.link={link[:40]!r} but it should be one of {', '.join(GLM_LINKS)}"
            )
        vectors = {
            name: read_vector(f"glm.{name}", entries[name])
            for name in names - {"family", "link", "coef"}
        }
        if len({len(v) for v in vectors.values()}) != 1:
            raise InvalidInputError("glm has statistics of different lengths")
        return cls(
            family=read_text("glm.family", entries["family"]),
            link=link,
            coef=read_coefficients("glm.coef", entries["coef"]),
            **vectors,
        )
