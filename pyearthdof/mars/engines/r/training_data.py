"""What a fit was computed from, for pruning it again: a design, or a frame and a formula."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .... import bridge
from ....exceptions import InvalidInputError
from ...data.design import (
    Design,
    Responses,
    check_names,
    check_responses,
    check_subset,
    check_weights,
    taken,
)
from ...options import EarthOptions
from . import engine as engine_r
from . import objects as robject

if TYPE_CHECKING:
    from ...formula.learn import FormulaFrame, LearnedFormula
    from ...formula.model_matrix import Formula

__all__ = ["FormulaData", "TrainingData"]


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

    def __post_init__(self):
        object.__setattr__(self, "moments", _moments(self.all_design.values))

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

    @property
    def offset(self) -> np.ndarray | None:
        """Of the rows to fit on."""
        return taken(self.all_offset, self.subset)

    @property
    def formula(self) -> Formula | None:
        """What made the design of a frame."""
        return None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What R would say while it makes the design."""
        return ()

    def check_options(self, estimator) -> EarthOptions:
        """The estimator's options, checked for these data."""
        return estimator._options_for(self.design, self.all_responses.matrix)

    def with_formula(self, text) -> FormulaData:
        """The same data by another formula."""
        raise InvalidInputError("formula is given but the model was fitted without a formula")

    def is_unchanged(self) -> bool:
        """Whether the predictors are still those of the fit."""
        now = _moments(self.all_design.values)
        return np.array_equal(now, self.moments)

    def fit_in_r(self, options: EarthOptions, seed=None, r_object: bytes | None = None):
        """Fit in R, or prune again what an earlier fit left there."""
        if r_object is not None:
            return engine_r.reprune(r_object, self, options)
        return engine_r.fit_one(self, options, seed)


@dataclass(frozen=True, eq=False, kw_only=True)
class FormulaData(TrainingData):
    """The training data that a formula makes of a frame, and both."""

    learned: LearnedFormula
    frame: pd.DataFrame
    columns: FormulaFrame
    class_order: Any = None

    @classmethod
    def learn(
        cls, text: str, frame, weights, subset, matrices=None, class_order=None
    ) -> FormulaData:
        """Read, check and learn a formula; nothing is fitted.

        `matrices` are those of an earlier frame. With a `class_order` the response is one of classes in
        that order.
        """
        from ...formula.learn import frame_of_formula, learn_formula

        columns = frame_of_formula(frame, matrices)
        frame = columns.frame
        learned = learn_formula(text, columns, _moves_knots, class_order)
        design = Design(learned.design, check_names(learned.names))
        made = learned.responses
        values = check_responses(None, made.values, len(frame)).values
        responses = Responses(values, made.names, made.levels)
        return cls(
            design,
            responses,
            check_weights(weights, len(frame)),
            check_subset(subset, len(frame)),
            learned.offset,
            learned=learned,
            frame=frame,
            columns=columns,
            class_order=class_order,
        )

    def __post_init__(self):
        """All but the frame are arrays of its own."""

    def is_unchanged(self) -> bool:
        """Whether the frame still gives the predictors, responses and offset of the fit."""
        try:
            now = self._learn_again(self.formula.text)
        except InvalidInputError:
            return False
        pairs = [
            (now.all_design.values, self.all_design.values),
            (now.all_responses.values, self.all_responses.values),
        ]
        if now.all_offset is not None and self.all_offset is not None:
            pairs.append((now.all_offset, self.all_offset))
        return all(np.array_equal(new, old) for new, old in pairs)

    def gives(self, model, bx) -> bool:
        """Whether the terms of a model come out when the frame is taken for new data."""
        frame = self.frame.set_axis([str(name) for name in self.frame.columns], axis=1)
        design = model.design(frame)  # of all rows: a mean in the formula is that of all of them
        return _same(model.basis(design if self.subset is None else design[self.subset]), bx)

    def with_formula(self, text) -> FormulaData:
        """The same data by another formula, in which dots stand for the sides of this one."""
        from ...formula.update import updated_formula

        text = updated_formula(self.learned.formula.text, text)
        return self._learn_again(text)

    def _learn_again(self, text: str) -> FormulaData:
        matrices = self.columns.matrices
        return FormulaData.learn(
            text, self.frame, self.all_weights, self.subset, matrices, self.class_order
        )

    @property
    def formula(self) -> Formula:
        """What made the design of the frame."""
        return self.learned.formula

    @property
    def warnings(self) -> tuple[str, ...]:
        """What R would say while it evaluates the formula."""
        return tuple(self.learned.warnings)

    def fit_in_r(self, options: EarthOptions, seed=None, r_object: bytes | None = None):
        """Fit in R, or prune again what an earlier fit left there."""
        frame = robject.frame_for_r(self.columns)
        return engine_r.fit_formula(self, frame, options, seed, r_object)


def _moves_knots() -> bool:
    """Whether the R that is here moves knots from the boundary; the newest does, where there is none."""
    version = bridge.installed_version("R")
    return version is None or tuple(int(part) for part in version.split(".")[:2]) >= (4, 5)


def _moments(X: np.ndarray) -> np.ndarray:
    """A sum over the bits of each column that changes with every value and with their order."""
    odd = np.arange(
        1, 2 * len(X), 2, dtype=np.uint64
    )  # so that a change of one value is never lost
    return np.einsum("i,ij->j", odd, X.view(np.uint64))


def _same(basis: np.ndarray, bx: np.ndarray) -> bool:
    return np.allclose(basis, bx, rtol=1e-9, atol=1e-9 * np.abs(bx).max())
