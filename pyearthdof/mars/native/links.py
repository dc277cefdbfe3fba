"""The links of generalised linear models as R has them: linear predictors, slopes, and what is valid.

The means are in `describe.glm`, because a fitted model needs them, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from ..describe.glm import EPSILON
from ..describe.glm import LINKS as MEANS

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
    return np.log(mu / (1 - mu))


def _logistic_slope(eta):
    growth = np.exp(np.clip(eta, -30, 30))
    return np.where(np.abs(eta) > 30, EPSILON, growth / (1 + growth) ** 2)


def _cauchy_quantile(mu):
    """R's qcauchy, exact on both sides; outside of 0 to 1 it is not a number."""
    tail = np.where(mu > 0.5, 1 - mu, mu)
    value = np.where(mu > 0.5, 1.0, -1.0) / np.tan(np.pi * tail)
    value = np.where(mu == 0.5, 0.0, value)
    return np.where((mu < 0) | (mu > 1), np.nan, value)


def _complementary_slope(eta):
    eta = np.minimum(eta, 700)
    return np.maximum(np.exp(eta) * np.exp(-np.exp(eta)), EPSILON)


def _exponential(eta):
    return np.maximum(np.exp(eta), EPSILON)


def _is_positive(eta) -> bool:
    return bool((np.isfinite(eta) & (eta > 0)).all())


def _is_not_zero(eta) -> bool:
    return bool((np.isfinite(eta) & (eta != 0)).all())


LINKS = {
    "identity": Link(lambda mu: mu, MEANS["identity"], np.ones_like),
    "logit": Link(_log_odds, MEANS["logit"], _logistic_slope),
    "probit": Link(
        ndtri,
        MEANS["probit"],
        lambda eta: np.maximum(np.exp(-0.5 * eta * eta) / np.sqrt(2 * np.pi), EPSILON),
    ),
    "cauchit": Link(
        _cauchy_quantile,
        MEANS["cauchit"],
        lambda eta: np.maximum(1 / (np.pi * (1 + eta * eta)), EPSILON),
    ),
    "cloglog": Link(lambda mu: np.log(-np.log(1 - mu)), MEANS["cloglog"], _complementary_slope),
    "log": Link(np.log, MEANS["log"], _exponential),
    "inverse": Link(lambda mu: 1 / mu, MEANS["inverse"], lambda eta: -1 / eta**2, _is_not_zero),
    "sqrt": Link(np.sqrt, MEANS["sqrt"], lambda eta: 2 * eta, _is_positive),
    "1/mu^2": Link(
        lambda mu: 1 / mu**2,
        MEANS["1/mu^2"],
        lambda eta: -1 / (2 * eta**1.5),
        _is_positive,
        lambda eta: eta < 0,
    ),
}
