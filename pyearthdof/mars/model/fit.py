"""A fit: the model, and what is known about the rows that it was fitted on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..components.variance import VarianceErrors
from .mars_model import MarsModel


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model and its training rows, as an engine returns them.

    Attributes
    ----------
    model : MarsModel
    bx : (n, n_terms) basis matrix.
    fitted, residuals : (n,) or (n, m) arrays. The residuals are those of the regression: y - fitted may
        round to 0 where they are not.
    leverages : (n,) array, or None if they were not asked for.
    r_object : the object of R's earth, serialised; None unless R fitted it.
    cv : R's tables of the cross-validation, as describe.cv in r_scripts/earth.R names them.
    sd : (n,) standard deviations of an observation by the variance model.
    varmod_errors : standard errors of the variance model.
    glm_y : responses of a generalised linear model; fitted + residuals would round them.
    weights : case weights; successes and failures of a binomial model weigh a row by their number, too.
    weights_kept : the case weights that R keeps with a fit, as they were given.
    """

    model: MarsModel
    bx: np.ndarray
    fitted: np.ndarray
    residuals: np.ndarray
    leverages: np.ndarray | None = None
    r_object: bytes | None = None
    cv: Mapping[str, Any] | None = None
    sd: np.ndarray | None = None
    varmod_errors: VarianceErrors | None = None
    glm_y: np.ndarray | None = None
    weights: np.ndarray | None = None
    weights_kept: np.ndarray | None = None
