"""A fit: the model, and the quantities of its training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..components.variance import VarianceErrors
from .mars_model import MarsModel


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model and its training rows, as an engine returns them."""

    model: MarsModel
    bx: np.ndarray  # (n, n_terms)
    fitted: np.ndarray  # (n,) or (n, m)
    residuals: np.ndarray  # of the regression: y - fitted may round to 0 where they are not
    leverages: np.ndarray | None = None
    r_object: bytes | None = None  # the object of R's earth, serialised, if R fitted it
    cv: Mapping[str, Any] | None = (
        None  # R's tables, as describe.cv in r_scripts/earth.R names them
    )
    sd: np.ndarray | None = None  # standard deviations of an observation by the variance model
    varmod_errors: VarianceErrors | None = None
    glm_y: np.ndarray | None = None  # responses of a glm; fitted + residuals would round them
    weights: np.ndarray | None = None  # times the numbers of trials of a binomial model
    weights_kept: np.ndarray | None = None  # the case weights that R keeps, as they were given
