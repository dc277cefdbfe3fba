"""The links of generalised linear models as R has them: linear predictors, means, slopes, what is valid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arithmetic.elementary import (
    atan,
    exp,
    expm1,
    log,
    logistic,
    logistic_slope,
    normal,
    normal_density,
    normal_quantile,
    power,
    tan,
)
from .glm import CAUCHIT, EPSILON, PROBIT

__all__ = ["LINKS", "GlmStoppedError", "Link"]


class GlmStoppedError(Exception):
    """R's iteration stops with an error here; the message is R's."""


@dataclass(frozen=True)
class Link:
    """One link function.

    Attributes
    ----------
    linear : means to linear predictors (R's linkfun).
    mean : linear predictors to means (linkinv).
    slope : derivative of the mean (mu.eta).
    is_valid : whether R goes on with these linear predictors (valideta).
    is_nan : which linear predictors make R warn of NaN.
    """

    linear: Callable[[np.ndarray], np.ndarray]
    mean: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    is_valid: Callable[[np.ndarray], bool] = lambda eta: True
    is_nan: Callable[[np.ndarray], np.ndarray] | None = None


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
    """R's qcauchy, exact on both sides; outside of 0 to 1 it is not a number."""
    tail = np.where(mu > 0.5, 1 - mu, mu)
    slope = np.where(tail == 0.25, 1.0, tan(np.pi * tail))  # which is not rounded in R
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


def _is_positive(eta) -> bool:
    return bool((np.isfinite(eta) & (eta > 0)).all())


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
