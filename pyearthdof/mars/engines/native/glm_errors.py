"""Standard errors, dispersion and deviance residuals of a generalised linear model, as in R's summary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...components.glm import (
    FAMILIES,
    LINKS,
    respond,
)
from .glm import GlmFit, ridge_roots
from .regression import root_of_inverse

__all__ = ["GlmErrors", "glm_errors"]

OF_ONE = ("binomial", "poisson")  # families whose dispersion is 1


@dataclass(frozen=True)
class GlmErrors:
    """What the training rows tell of a fitted generalised linear model.

    Attributes
    ----------
    stderr : (m,) standard errors of the coefficients, NaN where no degrees of freedom are left.
    dispersion : float
    is_estimated : bool
        Whether the dispersion comes from the rows, not from the family.
    residuals : (n,) deviance residuals.
    """

    stderr: np.ndarray
    dispersion: float
    is_estimated: bool
    residuals: np.ndarray


def glm_errors(columns, y, family: str, link: str | None, fit: GlmFit, weights, l2) -> GlmErrors:
    """Of a fit of `fit_glm` with the same arguments.

    The weights are those of the last regression, and the residuals those after it: R's summary has both.
    With a ridge penalty the errors are those of the penalised regression.
    """
    kind = FAMILIES[family]
    with np.errstate(all="ignore"):
        response = respond(kind, np.asarray(y, dtype=float), weights, [])
        working = (response.y - fit.mean) / LINKS[link or kind.link].slope(fit.linear)
        is_estimated = kind.name not in OF_ONE
        dispersion = 1.0
        if is_estimated:
            counted = fit.working > 0
            total = np.sum(fit.working[counted] * working[counted] ** 2)
            dispersion = float(total / fit.df) if fit.df > 0 else np.nan
        rows = (columns * np.sqrt(fit.working)).T
        if l2:
            rows = np.vstack([rows, np.diag(ridge_roots(columns, response.weights, l2))])
        stderr = root_of_inverse(rows) * np.sqrt(dispersion)
        residuals = np.zeros(len(working))
        if fit.df > 0:
            squares = kind.deviances(response.y, fit.mean, response.weights, [])
            sizes = np.sqrt(np.maximum(squares, 0))
            residuals = np.where(response.y > fit.mean, sizes, -sizes)
    return GlmErrors(stderr, dispersion, is_estimated, residuals)
