"""Residuals of a fit, of all types in R."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from ..arithmetic import product_in_order
from ..components.glm import FAMILIES, LINKS
from .summary import coef_matrix

TYPES = (
    "earth", "deviance", "response", "standardize", "delever", "pearson", "working", "partial",
    "glm.response", "glm.pearson", "glm.working", "glm.partial",
)  # fmt: skip


def fit_residuals(model, kind: str, residuals, glm_y, bx, leverages, weights, offset):
    """Residuals of the training rows; `residuals` are those of the least-squares fit of the terms.

    `glm_y` contains the responses of a generalised linear model, in the form of R's family.

    "standardize" requires a variance model and is computed by `standardized`.
    """
    if kind == "delever":
        if leverages is None:
            raise InvalidInputError(
                "type='delever' but leverages_ is None: fit with get_leverages=True"
            )
        return standardized(residuals, 1.0, leverages)
    plain = kind in ("deviance", "response") and model.glm is None
    if kind == "earth" or plain:
        return residuals
    if model.glm is None:
        raise InvalidInputError(
            f"type={kind!r} but it is for generalised linear models: fit with glm_family"
        )
    eta = product_in_order(bx.T, model.glm.coef)
    eta = eta if offset is None else (eta.T + offset).T
    found = _of_glm(model.glm, kind.removeprefix("glm."), glm_y, eta, weights)
    if kind.removeprefix("glm.") != "partial":
        return found
    return _partial(model, found, bx)


def standardized(residuals, sd, leverages) -> np.ndarray:
    """Standardized residuals, e / (sd sqrt(1 - h)); as in R, not finite if h is 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return (residuals.T / (sd * np.sqrt(1 - leverages))).T


def _of_glm(glm, kind: str, y, eta, weights):
    if y.ndim == 2:
        columns = zip(y.T, eta.T, strict=True)
        return np.column_stack([_of_glm(glm, kind, *column, weights) for column in columns])
    family = next(f for f in FAMILIES.values() if f.name == glm.family)
    with np.errstate(all="ignore"):  # infinities and NaN propagate as in R
        mu = LINKS[glm.link].mean(eta)
    prior = np.ones(len(y)) if weights is None else np.asarray(weights)
    if kind == "response":
        return y - mu
    if kind == "pearson":
        return (y - mu) * np.sqrt(prior) / np.sqrt(family.variance(mu))
    if kind in ("working", "partial"):
        return (y - mu) / LINKS[glm.link].slope(eta)
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = family.deviances(y, mu, prior, [])
    return np.where(y > mu, 1.0, -1.0) * np.sqrt(np.maximum(squares, 0))


def _partial(model, working, bx) -> pd.DataFrame:
    """Working residuals plus the centred contribution of each term to the linear predictor."""
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
