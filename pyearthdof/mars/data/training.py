"""The training data of a fit: predictors, responses and case weights."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...exceptions import InvalidInputError
from .design import (
    Design,
    Responses,
    check_design,
    check_responses,
    check_subset,
    check_weights,
    taken,
)

if TYPE_CHECKING:
    from ..formula.model_matrix import Formula

__all__ = ["TrainingData", "response_levels", "training_data"]


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Predictors, responses and case weights of all rows, and 0-based numbers of the rows to fit on.

    The predictors are not copied: `is_unchanged` notices if they were changed in place. earth judges the
    weights of all rows before it takes the subset, so the engines get both.
    """

    all_design: Design
    all_responses: Responses
    all_weights: np.ndarray | None = None
    subset: np.ndarray | None = None
    all_offset: np.ndarray | None = None  # a formula's: the terms are fitted to what is left
    moments: np.ndarray = field(init=False, repr=False)
    formula: Formula | None = field(default=None, init=False)  # that made the design from a frame
    warnings: tuple[str, ...] = field(default=(), init=False)  # R's while it makes the design

    def __post_init__(self) -> None:
        object.__setattr__(self, "moments", _moments(self.all_design.values))

    @cached_property
    def design(self) -> Design:
        """Of the rows to fit on."""
        return self.all_design if self.subset is None else self.all_design.rows(self.subset)

    @cached_property
    def responses(self) -> Responses:
        """Of the rows to fit on."""
        return self.all_responses if self.subset is None else self.all_responses.rows(self.subset)

    @cached_property
    def training_weights(self) -> np.ndarray | None:
        """Of the rows to fit on."""
        return taken(self.all_weights, self.subset)

    @cached_property
    def offset(self) -> np.ndarray | None:
        """Of the rows to fit on."""
        return taken(self.all_offset, self.subset)

    def case_weights(self, n_responses: int) -> np.ndarray | None:
        """Of the rows to fit on; successes and failures, one response, weigh a row by their number, too."""
        weights, responses = self.training_weights, self.responses.matrix
        if responses.shape[1] == n_responses:
            return weights
        numbers = responses.sum(axis=1)
        return numbers if weights is None else numbers * weights

    def of_subset(self) -> TrainingData:
        """The rows to fit on alone."""
        if self.subset is None:
            return self
        return replace(
            self,
            all_design=self.design,
            all_responses=self.responses,
            all_weights=self.training_weights,
            subset=None,
            all_offset=self.offset,
        )

    def with_formula(self, text: str) -> TrainingData:
        """The same data by another formula."""
        raise InvalidInputError("formula is given but the model was fitted without a formula")

    def is_unchanged(self) -> bool:
        """Whether the predictors are still those of the fit."""
        now = _moments(self.all_design.values)
        return np.array_equal(now, self.moments)


def training_data(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, subset: Any = None
) -> TrainingData:
    """The data of a fit, checked; the estimator gets `n_features_in_` and `feature_names_in_`."""
    design = check_design(estimator, X)
    n = len(design.values)
    responses = check_responses(estimator, y, n, factors=True)
    return TrainingData(design, responses, check_weights(sample_weight, n), check_subset(subset, n))


def _moments(X: np.ndarray) -> np.ndarray:
    """A sum over the bits of each column that changes with every value and with their order."""
    # odd, so that a change of one value is never lost
    odd = np.arange(1, 2 * len(X), 2, dtype=np.uint64)
    return np.einsum("i,ij->j", odd, X.view(np.uint64))


def response_levels(responses: Responses, y: Any = None) -> np.ndarray | None:
    """R's levels of what was fitted: of a factor, of truth values, of two numbers that differ by 1."""
    if responses.classes is not None:
        if responses.classes == ("FALSE", "TRUE"):
            return np.array([False, True])
        return np.array(responses.classes, dtype=object)
    if responses.values.ndim > 1:
        return None
    if y is not None and np.asarray(y).dtype == bool:
        return np.array([False, True])
    ends = np.array([responses.values.min(), responses.values.max()])
    return ends if ends[1] - ends[0] == 1 else None
