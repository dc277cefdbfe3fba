"""Result of a fit: the model and quantities of its training rows."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..components.variance import VarianceErrors
from .mars_model import MarsModel

if TYPE_CHECKING:
    from ..data.training import Ranges


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted model and quantities of its training rows, as returned by an engine."""

    model: MarsModel
    bx: np.ndarray  # (n, n_terms)
    fitted: np.ndarray  # (n,) or (n, m)
    residuals: np.ndarray  # of the regression; y - fitted may be rounded to 0
    leverages: np.ndarray | None = None
    r_object: bytes | None = None  # serialised object of R's earth, if fitted by R
    cv: Mapping[str, Any] | None = None  # R's tables, named as in describe.cv in r_scripts/earth.R
    sd: np.ndarray | None = None  # standard deviations of an observation by the variance model
    varmod_errors: VarianceErrors | None = None
    glm_y: np.ndarray | None = None  # responses of a glm; fitted + residuals would round them
    weights: np.ndarray | None = None  # multiplied by the numbers of trials for a binomial model
    weights_kept: np.ndarray | None = None  # case weights as given, which R keeps

    def with_rows(
        self, ranges: Ranges | None, weights: np.ndarray | None, weights_kept: np.ndarray | None
    ) -> Fit:
        """Return the fit with the ranges of its columns and the weights of its rows."""
        fit, model = copy(self), copy(self.model)  # faster than dataclasses.replace()
        vars(model).update(ranges=ranges)
        vars(fit).update(model=model, weights=weights, weights_kept=weights_kept)
        return fit
