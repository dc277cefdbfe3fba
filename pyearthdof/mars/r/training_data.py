"""What a fit was computed from, for pruning it again: a design, or a frame and a formula."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..design.data import Design, Responses, taken
from ..options import check_options
from . import engine as engine_r
from . import objects as robject

__all__ = ["FormulaData", "TrainingData"]


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Predictors, responses and case weights of all rows, and 0-based numbers of the rows to fit on.

    They are not copied. earth judges the weights of all rows before it takes the subset, so the engines
    get both.
    """

    all_design: Design
    all_responses: Responses
    all_weights: np.ndarray | None = None
    subset: np.ndarray | None = None

    @cached_property
    def design(self) -> Design:
        """Of the rows to fit on."""
        return self.all_design if self.subset is None else self.all_design.rows(self.subset)

    @cached_property
    def responses(self) -> Responses:
        """Of the rows to fit on."""
        return self.all_responses if self.subset is None else self.all_responses.rows(self.subset)

    @property
    def training_weights(self) -> np.ndarray | None:
        """Of the rows to fit on."""
        return taken(self.all_weights, self.subset)

    def check_options(self, estimator) -> dict:
        """The estimator's options, checked for these data."""
        return estimator._check_options(self.design, self.responses)

    def gives(self, model, bx) -> bool:
        """Whether the terms of a model are still what they were."""
        return _same(model.basis(self.design.values), bx)

    def prune_in_r(self, r_object, options, linpreds):
        """The pruning pass again, by R."""
        return engine_r.reprune(r_object, self, options)


@dataclass(frozen=True, eq=False)
class FormulaData:
    """A formula, its frame, case weights of all its rows, and 0-based numbers of the rows to fit on."""

    text: str
    frame: pd.DataFrame
    weights: np.ndarray | None
    rows: np.ndarray | None

    @property
    def training_weights(self) -> np.ndarray | None:
        """Of the rows to fit on."""
        return taken(self.weights, self.rows)

    def check_options(self, estimator) -> dict:
        """The estimator's options; R alone knows the predictors, so it checks linpreds."""
        weights = estimator.response_weight
        n_resp = 1 if weights is None else np.size(weights)
        params = estimator.get_params() | {"linpreds": None}
        return check_options(params, (), len(self.frame), n_resp)

    def gives(self, model, bx) -> bool:
        """Whether our design gives R's terms, without which predictions would be wrong."""
        frame = self.frame if self.rows is None else self.frame.iloc[self.rows]
        return _same(model.basis(frame.set_axis([str(n) for n in frame.columns], axis=1)), bx)

    def fit(self, options, linpreds, seed=None, r_object=None):
        """Fit in R, or prune an earlier fit again."""
        frame = robject.frame_for_r(self.frame, self.text)
        return engine_r.fit_formula(
            self.text, frame, self.weights, self.rows, options, linpreds, seed, r_object
        )

    def prune_in_r(self, r_object, options, linpreds):
        """The pruning pass again, by R."""
        return self.fit(options, linpreds, r_object=r_object)


def _same(basis: np.ndarray, bx: np.ndarray) -> bool:
    return np.allclose(basis, bx, rtol=1e-9, atol=1e-9 * np.abs(bx).max())
