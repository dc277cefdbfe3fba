"""Residuals of a fit, all of R's types."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy.special import xlogy
from scipy.stats import cauchy, norm

from ...exceptions import InvalidInputError
from .text import coef_matrix

__all__ = ["TYPES", "fit_residuals"]

TYPES = (
    "earth", "deviance", "response", "standardize", "delever", "pearson", "working", "partial",
    "glm.response", "glm.pearson", "glm.working", "glm.partial",
)  # fmt: skip
EPSILON = np.finfo(float).eps

VARIANCES: Mapping[str, Callable] = {
    "gaussian": np.ones_like,
    "binomial": lambda mu: mu * (1 - mu),
    "poisson": lambda mu: mu,
    "Gamma": np.square,
    "inverse.gaussian": lambda mu: mu**3,
}


def _logit_slope(eta):
    with np.errstate(over="ignore", invalid="ignore"):
        slope = np.exp(eta) / (1 + np.exp(eta)) ** 2
    return np.where(np.abs(eta) > 30, EPSILON, slope)


# Derivatives of the mean by the linear predictor, kept from zero as R keeps them.
SLOPES: Mapping[str, Callable] = {
    "identity": np.ones_like,
    "logit": _logit_slope,
    "probit": lambda eta: np.maximum(norm.pdf(eta), EPSILON),
    "cauchit": lambda eta: np.maximum(cauchy.pdf(eta), EPSILON),
    "cloglog": lambda eta: np.maximum(
        np.exp(np.minimum(eta, 700)) * np.exp(-np.exp(np.minimum(eta, 700))), EPSILON
    ),
    "log": lambda eta: np.maximum(np.exp(eta), EPSILON),
    "inverse": lambda eta: -1 / eta**2,
    "sqrt": lambda eta: 2 * eta,
    "1/mu^2": lambda eta: -1 / (2 * eta**1.5),
}


def _binomial_deviance(y, mu):
    with np.errstate(divide="ignore", invalid="ignore"):
        return 2 * (xlogy(y, y / mu) + xlogy(1 - y, (1 - y) / (1 - mu)))


def _poisson_deviance(y, mu):
    return 2 * np.where(y > 0, xlogy(y, y / mu) - (y - mu), mu)


DEVIANCES: Mapping = {
    "gaussian": lambda y, mu: (y - mu) ** 2,
    "binomial": _binomial_deviance,
    "poisson": _poisson_deviance,
    "Gamma": lambda y, mu: -2 * (np.log(np.where(y == 0, 1.0, y / mu)) - (y - mu) / mu),
    "inverse.gaussian": lambda y, mu: (y - mu) ** 2 / (y * mu**2),
}


def fit_residuals(
    model, kind: str, residuals, fitted, bx, leverages, weights, offset, *, is_pairs: bool
):
    """Residuals of the training rows; those of `residuals` and `fitted` are of the terms' least squares.

    `is_pairs` says that the responses were successes and failures.

    "standardize" needs a variance model and is not computed here.
    """
    if kind == "delever":
        if leverages is None:
            raise InvalidInputError(
                "type='delever' but leverages_ is None: fit with get_leverages=True"
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            return (residuals.T / np.sqrt(1 - leverages)).T
    plain = kind in ("deviance", "response") and model.glm is None
    if kind == "earth" or plain:
        return residuals
    if model.glm is None:
        raise InvalidInputError(
            f"type={kind!r} but it is for generalised linear models: fit with glm_family"
        )
    eta = bx @ model.glm.coef
    eta = eta if offset is None else (eta.T + offset).T
    y = residuals + fitted
    if model.glm.family.endswith("binomial") and weights is not None and not is_pairs:
        # which is what R's family makes of a row without weight
        y = np.where(weights.reshape(-1, *[1] * (y.ndim - 1)) == 0, 0.0, y)
    found = _of_glm(model.glm, kind.removeprefix("glm."), y, eta, weights)
    if kind.removeprefix("glm.") != "partial":
        return found
    return _partial(model, found, bx)


def _of_glm(glm, kind: str, y, eta, weights):
    family = glm.family.removeprefix("quasi")
    mu = glm.response(eta)
    prior = np.ones(len(y)) if weights is None else np.asarray(weights)
    prior = prior if y.ndim == 1 else prior[:, None]
    if kind == "response":
        return y - mu
    if kind == "pearson":
        return (y - mu) * np.sqrt(prior) / np.sqrt(VARIANCES[family](mu))
    if kind in ("working", "partial"):
        return (y - mu) / SLOPES[glm.link](eta)
    squares = prior * DEVIANCES[family](y, mu)
    return np.where(y > mu, 1.0, -1.0) * np.sqrt(np.maximum(squares, 0))


def _partial(model, working, bx) -> pd.DataFrame:
    """Working residuals plus what each term adds to the linear predictor, less its mean."""
    centred = (bx - bx.mean(axis=0))[:, 1:]
    coef, working = coef_matrix(model.glm.coef), working.reshape(len(bx), -1)
    names = list(model.selected_names[1:])
    blocks = [
        pd.DataFrame(working[:, [m]] + centred * coef[1:, m], columns=names)
        for m in range(coef.shape[1])
    ]
    if model.coef.ndim == 1:
        return blocks[0]
    return pd.concat(blocks, axis=1, keys=list(model.response_names))
