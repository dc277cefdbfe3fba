"""The training data that a formula makes from a frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError
from ..data.columns import MatrixColumn
from ..data.design import (
    Design,
    Responses,
    check_names,
    check_responses,
    check_subset,
    check_weights,
)
from ..data.training import Ranges, TrainingData
from .learning import FormulaFrame, LearnedFormula, frame_of_formula, learn_formula
from .syntax import updated_formula

__all__ = ["FormulaData"]


@dataclass(frozen=True, eq=False, kw_only=True)
class FormulaData(TrainingData):
    """Training data with the formula and the frame that they come from.

    `moves_knots` returns whether R's version moves the knots of splines away from the boundary.
    """

    learned: LearnedFormula
    frame: pd.DataFrame
    columns: FormulaFrame
    moves_knots: Callable[[], bool]
    class_order: Any = None

    @classmethod
    def learn(
        cls,
        text: str,
        frame: Any,
        weights: Any,
        subset: Any,
        *,
        moves_knots: Callable[[], bool],
        matrices: Mapping[str, MatrixColumn] | None = None,
        class_order: Any = None,
    ) -> FormulaData:
        """Read, check and learn a formula; nothing is fitted.

        `matrices` are those of an earlier frame. With a `class_order` the response is one of classes in
        that order.
        """
        columns = frame_of_formula(frame, matrices)
        frame = columns.frame
        learned = learn_formula(text, columns, moves_knots, class_order)
        made = learned.responses
        values = check_responses(None, made.values, len(frame)).values
        return cls(
            Design(learned.design, check_names(learned.names)),
            Responses(values, made.names, made.levels),
            check_weights(weights, len(frame)),
            check_subset(subset, len(frame)),
            learned.offset,
            learned=learned,
            frame=frame,
            columns=columns,
            moves_knots=moves_knots,
            class_order=class_order,
        )

    def __post_init__(self) -> None:
        # No moments: only the frame can change, everything else is a copy.
        object.__setattr__(self, "formula", self.learned.formula)
        object.__setattr__(self, "warnings", tuple(self.learned.warnings))

    def is_unchanged(self) -> bool:
        """Whether the frame still gives the predictors, responses and offset of the fit."""
        try:
            now = self._learn_again(self.learned.formula.text)
        except InvalidInputError:
            return False
        pairs = [
            (now.all_design.values, self.all_design.values),
            (now.all_responses.values, self.all_responses.values),
        ]
        if now.all_offset is not None and self.all_offset is not None:
            pairs.append((now.all_offset, self.all_offset))
        return all(np.array_equal(new, old) for new, old in pairs)

    def ranges(self) -> Ranges:
        """Of the columns of the frame at the rows to fit on."""
        frame = self.frame if self.subset is None else self.frame.iloc[self.subset]
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        formula = self.learned.formula
        return Ranges.learn(formula.raw_columns.columns, formula.raw_values(frame))

    def gives(self, basis: Callable[[np.ndarray], np.ndarray], bx: np.ndarray) -> bool:
        """Whether the terms of a model come out when the frame is taken for new data.

        `basis` evaluates the terms at the rows of a design.
        """
        frame = self.frame.set_axis([str(name) for name in self.frame.columns], axis=1)
        design = self.learned.formula.design(
            frame
        )  # of all rows: a mean in the formula is that of all of them
        found = basis(design if self.subset is None else design[self.subset])
        return np.allclose(found, bx, rtol=1e-9, atol=1e-9 * np.abs(bx).max())

    def with_formula(self, text: str) -> FormulaData:
        """The same data by another formula, in which dots stand for the sides of this one."""
        return self._learn_again(updated_formula(self.learned.formula.text, text))

    def _learn_again(self, text: str) -> FormulaData:
        return FormulaData.learn(
            text,
            self.frame,
            self.all_weights,
            self.subset,
            moves_knots=self.moves_knots,
            matrices=self.columns.matrices,
            class_order=self.class_order,
        )
