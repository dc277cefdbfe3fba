"""Evaluation of a formula on a data frame without R, as R's model.frame and model.matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from ..._utils.checks import refusal
from ...exceptions import InvalidInputError
from .. import reading as saved
from ..data.classes import (
    check_classes,
    class_names,
    indicator_columns,
    indicator_names,
    learn_classes,
)
from ..data.columns import (
    Column,
    Columns,
    MatrixColumn,
    check_levels,
    is_date,
    learn_column,
    named_frame,
    numbers_of_dates,
    power_name,
    unit_of,
)
from ..data.design import (
    Design,
    Responses,
    check_names,
    check_responses,
    check_subset,
    check_weights,
)
from ..data.training import Ranges, TrainingData
from .expression import DateColumn
from .guard import check_columns, check_made, check_sides, check_terms
from .model_matrix import Formula
from .syntax import (
    Constant,
    FunctionCall,
    Name,
    Node,
    call,
    gaps_in,
    label_of,
    parsed_formula,
    quoted,
    r_text,
    refuse,
    updated_formula,
    variables_in,
)
from .terms import DUMMIES, Terms, made_terms
from .variables import LearnedVariable, Learner, check_contrasts, is_integer

NO_INTERCEPT = "ignored -1 in formula (earth objects always have an intercept)"
LONGEST_NAME = 2000  # R has space for twice this, for two names
DROPPED = (
    "the response appeared on the right-hand side and was dropped",
    "problem with term {} in model.matrix: no columns are assigned",
)


@dataclass(frozen=True, eq=False)
class LearnedFormula:
    """A formula, and its training data."""

    formula: Formula  # for evaluation on new data
    names: tuple[str, ...]  # R's names of the predictors
    design: np.ndarray
    responses: ResponseSide
    offset: np.ndarray | None
    text: str  # the formula, rewritten from its parse tree
    warnings: tuple[str, ...]  # R's warnings
    classes: np.ndarray | None = None  # classes of a classifier's response


@dataclass(frozen=True, eq=False)
class FormulaFrame:
    """The columns of a frame with their kinds, dates as numbers; unusable columns (`odd`) have an error."""

    columns: Mapping[str, Column]
    units: Mapping[str, str]
    odd: Mapping[str, InvalidInputError]
    values: Mapping[str, pd.Series]
    n_rows: int
    matrices: Mapping[str, MatrixColumn]
    frame: pd.DataFrame

    @property
    def kinds(self) -> dict[str, str]:
        """Return the columns by their names in a formula, in the order of the data."""
        first = {matrix.parts[0]: name for name, matrix in self.matrices.items()}
        hidden = {part for matrix in self.matrices.values() for part in matrix.parts}
        kinds = {}
        for name, column in self.columns.items():
            if name in first:
                kinds[first[name]] = "matrix"
            elif name not in hidden:
                kinds[name] = column.kind
        return kinds


def frame_of_formula(data, matrices: Mapping[str, MatrixColumn] | None = None) -> FormulaFrame:
    """Read the columns of a frame, or of a mapping in which some are matrices.

    `matrices` are those of a frame that came from a mapping.
    """
    data, names, made = named_frame(data, "data", "a pandas DataFrame")
    matrices = made or matrices or {}
    if len(set(names)) < len(names):
        raise InvalidInputError("data has two columns of one name")
    columns, units, odd, values = {}, {}, {}, {}
    for position, name in enumerate(names):
        series = data.iloc[:, position]
        if is_date(series):
            units[name] = unit_of(series)
            series = pd.Series(numbers_of_dates(series, units[name]), data.index)
        try:
            columns[name] = learn_column(name, series, "data")
        except InvalidInputError as error:
            odd[name] = error
        values[name] = series
    if not columns or len(data) == 0:
        raise InvalidInputError("data has no rows or no columns that a formula could use")
    for name, matrix in matrices.items():
        if any(columns.get(part, Column("", "")).kind != "number" for part in matrix.parts):
            raise InvalidInputError(f"data[{name!r}] is a matrix but it should contain numbers")
    return FormulaFrame(columns, units, odd, values, len(data), matrices, data)


def learn_formula(
    text: str,
    data: FormulaFrame,
    moves_knots: Callable[[], bool] = lambda: True,
    class_order=None,
) -> LearnedFormula:
    """Read, check and learn a formula.

    `moves_knots` is called if knots of bs or ns fall on the boundary; it returns True if they are moved
    inside, as R does from 4.5 on. With a `class_order` (see `learn_classes`), the response is a factor
    of classes.
    """
    if not isinstance(text, str):
        raise refusal("formula", text, "text such as 'y ~ x'")
    left, right = parsed_formula(text)
    kinds = data.kinds
    used = variables_in(left) | variables_in(right)
    for name, error in data.odd.items():
        if name in used or "." in used:
            raise error
    check_sides(left, right, kinds)
    check_terms(right, len(kinds))
    sides = _summands(left)
    _refuse_parts("left", left)
    if sides is not None:
        _refuse_parts("right", right)
    terms = _terms(left, right, sides, list(kinds))
    # Also for a variable that the formula removed: R looks for its contrasts as well.
    for node in terms.variables[1:]:  # inside a function, one level suffices
        if isinstance(node, Name) and node.text in data.columns:
            check_levels(data.columns[node.text], "data")
    learner = Learner(data, _raw_values(data, left, terms), moves_knots)
    check_columns(terms, data.columns, data.n_rows, data.matrices, learner.numbers)
    classes = None
    if class_order is not None:
        if any(0 in term for term in terms.terms):
            _refuse_as_predictor(terms.variables[0])
        classes, left = factor_of_classes(left, learner, data.values, class_order)
        sides = None
    responses = learn_responses(left, sides, learner)
    learned = _learned(text, left, right, terms, learner, responses)
    return replace(learned, classes=classes)


def _refuse_as_predictor(response: Node) -> NoReturn:
    refuse(f"the response {r_text(response)} is also on the right-hand side")


def _refuse_parts(side: str, node: Node) -> None:
    """Refuse R's formulas of several parts, which earth does not support; their | is not "or"."""
    if isinstance(node, FunctionCall) and node.name == "|":
        refuse(
            f"its {side} side has several parts, {r_text(node)[:60]}; put it in parentheses if | means or"
        )


def _summands(left: Node) -> list[Node] | None:
    """Return the terms of a + b ~ ..., which earth treats as several responses; None without a sum."""
    if not isinstance(left, FunctionCall) or left.name != "+":
        return None
    found: list[Node] = []
    node: Node | None = left
    while isinstance(node, FunctionCall) and node.name == "+":
        found.append(node.values[-1])
        node = node.values[0] if len(node.args) == 2 else None
    if node is not None:
        found.append(node)
    found.reverse()
    for part in found:
        if not isinstance(part, Name):
            refuse(
                f"{r_text(part)[:60]} may not be one of several responses; write cbind(...) ~ ... for them"
            )
    return list(dict.fromkeys(found))


def _terms(left: Node, right: Node, sides: list[Node] | None, columns: list[str]) -> Terms:
    terms = made_terms(left, right, columns)
    if sides is not None:
        terms = made_terms(left, right, _in_order_of_terms(columns, terms))
    if not terms.terms:
        refuse("it has no predictors")
    if len(terms.offsets) > 1:
        refuse(f"it has {len(terms.offsets)} offsets but it should have at most one")
    if sides is not None:
        for variable in (terms.variables[v] for term in terms.terms for v in term):
            if variable in sides:
                _refuse_as_predictor(variable)
    if all(term == (0,) for term in terms.terms):
        refuse(f"its only predictor is the response {r_text(left)[:60]}")
    return terms


def _in_order_of_terms(columns: list[str], terms: Terms) -> list[str]:
    """Expand a dot beside several responses: R reads the formula again, on the model frame."""
    frame = [terms.variables[v] for term in terms.terms for v in term]
    met = dict.fromkeys(node.text for node in frame if isinstance(node, Name))
    return [
        *(name for name in met if name in columns),
        *(name for name in columns if name not in met),
    ]


def _raw_values(data: FormulaFrame, left: Node, terms: Terms) -> dict[str, np.ndarray]:
    """Return the columns in use as numbers and codes; refuse missing values by name."""
    nodes = (left, *terms.variables[1:])
    used = set().union(*(variables_in(node) for node in nodes))
    gaps = set().union(*(gaps_in(node) for node in nodes))
    gaps -= {node.text for node in nodes if isinstance(node, Name)}
    used |= {p for name, matrix in data.matrices.items() if name in used for p in matrix.parts}
    columns = Columns(tuple(data.columns[name] for name in data.columns if name in used))
    frame = pd.DataFrame({name: data.values[name] for name in columns.names})
    raw = columns.values(frame, "data", gaps)
    for name in gaps & set(raw):
        if np.isnan(raw[name]).all():
            refuse(f"the column '{name}' has no value in any row")
    return {name: values.astype(float) for name, values in raw.items()}


def _learned(text, left, right, terms, learner, responses) -> LearnedFormula:
    skipped = 0 if any(0 in term for term in terms.terms) else None
    used = sorted({v for term in terms.terms if term != (0,) for v in term} | set(terms.offsets))
    variables = {v: learner.variable(terms.variables[v]) for v in used}
    for one in variables.values():
        check_contrasts(one.variable.label, one.variable)
    n_variables = range(len(terms.variables))
    is_factor = [v in variables and variables[v].variable.kind != "number" for v in n_variables]
    codings = terms.coding(is_factor, skipped)
    place = {v: k for k, v in enumerate(used)}
    offset = place[terms.offsets[0]] if terms.offsets else None
    formula = Formula(
        text,
        tuple(variables[v].variable for v in used),
        tuple(tuple((place[v], c) for v, c in coded.items()) for coded in codings),
        offset,
    )
    # again, with the levels that factor() found
    made = sum(formula.widths[k] for k, term in enumerate(formula.terms) if len(term) > 1)
    check_made("its products", made, learner.n_rows)
    Formula.from_dict(saved.plain(formula.to_dict()))  # check that the saved form can be read
    values = {place[v]: variables[v].values for v in used}
    names = _names(codings, variables)
    return LearnedFormula(
        formula,
        names,
        formula.design_of(values),
        responses,
        None if offset is None else values[offset],
        f"{r_text(left)} ~ {r_text(right)}",
        (*learner.warnings, *_warnings(terms, skipped)),
    )


def _names(codings, variables: Mapping[int, LearnedVariable]) -> tuple[str, ...]:
    found: list[str] = []
    for coded in codings:
        found += column_labels([(variables[v], coding) for v, coding in coded.items()])
    seen = set()
    for name in found:
        if name in seen:
            refuse(f"it makes two columns named {name[:60]!r}, but names should be unique")
        if len(name.encode("utf-8", "surrogatepass")) > LONGEST_NAME:
            refuse(
                f"it makes a column with a name of {len(name)} characters, {name[:40]}..., but R has room "
                f"for {LONGEST_NAME}"
            )
        seen.add(name)
    return tuple(found)


def _warnings(terms: Terms, skipped: int | None) -> list[str]:
    found = []
    alone = [k for k, term in enumerate(terms.terms, 1) if term == (0,)]
    for k in alone:
        found += [DROPPED[0], DROPPED[1].format(k)]
    if not terms.intercept:
        found.append(NO_INTERCEPT)
    return found


@dataclass(frozen=True, eq=False)
class ResponseSide:
    """Return values, (n,) or (n, m), their names, and the levels of a single factor."""

    values: np.ndarray
    names: tuple[str, ...]
    levels: tuple[str, ...] | None = None


def learn_responses(left: Node, sides: list[Node] | None, learner: Learner) -> ResponseSide:
    """Return the responses of y, cbind(y, z) or y + z; a factor of 3 or more levels becomes indicators."""
    if sides is not None and len(sides) > 1:
        return _summed([learner.variable(side) for side in sides])
    node = left if sides is None else sides[0]
    learned = learner.variable(node)
    variable, label = learned.variable, label_of(node, integers=True)
    _refuse_dates(learned)
    check_contrasts(f"the response {label}", variable)
    if variable.levels:
        return ResponseSide(
            indicator_columns(learned.values, len(variable.levels)),
            indicator_names(variable.levels),
            variable.levels,
        )
    values = np.asarray(learned.values, dtype=float)
    width = 1 if values.ndim == 1 else values.shape[1]
    given = learned.given_names if width > 1 else None  # R names a single response by the formula
    names = generated_names(given, label, "y", width)
    if is_integer(node, learner.kinds):
        names = [quoted(name) for name in names]
    if len(set(names)) < len(names):
        refuse(f"it has two responses named {next(n for n in names if names.count(n) > 1)[:60]!r}")
    levels = ("FALSE", "TRUE") if variable.kind == "logical" else None
    return ResponseSide(
        values[:, 0] if width == 1 and values.ndim == 2 else values, tuple(names), levels
    )


def factor_of_classes(
    left: Node, learner: Learner, columns: Mapping[str, pd.Series], order
) -> tuple[np.ndarray, Node]:
    """Return the ordered classes of the left side, and the left side as a factor with these levels."""
    learned = learner.variable(left)
    variable, values = learned.variable, np.asarray(learned.values)
    if isinstance(left, Name) and left.text in columns:
        y = columns[left.text]
    elif variable.levels:
        y = pd.Series(pd.Categorical.from_codes(values.astype(int), variable.levels))
    else:
        y = pd.Series(values != 0 if variable.kind == "logical" else values.ravel())
    if isinstance(variable.expression, DateColumn) or len(y) != learner.n_rows:
        refuse(f"the response {label_of(left)[:60]} should be one column of classes")
    classes, codes = learn_classes(y, learner.n_rows, order)
    check_classes(classes, codes)
    if variable.levels:
        levels = [Constant(name, name) for name in class_names(classes)]
    elif variable.kind == "logical":
        levels = [Constant(bool(value), str(bool(value)).upper()) for value in classes]
    else:
        levels = [Constant(float(value), repr(float(value))) for value in classes]
    arguments = ((None, left), ("levels", call("c", *levels)))
    return classes, FunctionCall(Name("factor"), arguments)


def _summed(learned: list[LearnedVariable]) -> ResponseSide:
    """Name the responses as earth's data frame does, which keeps the names of columns."""
    blocks, names = [], []
    for one in learned:
        _refuse_dates(one)
        check_contrasts(f"the response {one.variable.label}", one.variable)
        levels, name = one.variable.levels, quoted(one.variable.label)
        if len(levels) > 2:
            blocks.append(indicator_columns(one.values, len(levels)))
            names += [name + level for level in levels]
        else:
            blocks.append(one.values)
            names.append(name)
    return ResponseSide(np.column_stack(blocks), tuple(names))


def _refuse_dates(learned: LearnedVariable) -> None:
    if isinstance(learned.variable.expression, DateColumn):
        refuse(f"the response {learned.variable.label} is a date")


LONG_PREFIX, LONGEST_RESPONSE = 30, 60


def column_labels(factors) -> list[str]:
    """Return the column names of a term, from its variables and codings; the first one's vary fastest."""
    names = [""]
    for k, (learned, coding) in enumerate(factors):
        own = _labels(learned, coding)
        names = own if k == 0 else [f"{first}:{second}" for second in own for first in names]
    return names


def _labels(learned, coding: int) -> list[str]:
    variable, label = learned.variable, learned.shown
    if variable.kind == "number":
        if variable.expression.n_columns == 1:
            return [label]
        return [label + suffix for suffix in learned.suffixes]
    levels = ("FALSE", "TRUE") if variable.kind == "logical" else variable.levels
    if coding == DUMMIES:
        return [label + level for level in levels]
    if variable.kind == "ordered":
        return [label + power_name(k) for k in range(len(levels) - 1)]
    return [label + level for level in levels[1:]]


def generated_names(
    given: list[str] | None, prefix: str, alternative: str, width: int
) -> list[str]:
    """Return earth's names of responses: those given, otherwise a prefix with a number.

    >>> generated_names(["", "b"], "cbind(log(a), b)", "y", 2)
    ['cbind(log(a), b)1', 'b']
    """
    if len(prefix) > LONG_PREFIX and any(mark in prefix for mark in "([,"):
        prefix = alternative
    prefix = prefix[:LONGEST_RESPONSE]
    made = [prefix] if width == 1 else [f"{prefix}{k + 1}" for k in range(width)]
    return made if given is None else [name or own for name, own in zip(given, made, strict=True)]


@dataclass(frozen=True, eq=False, kw_only=True)
class FormulaData(TrainingData):
    """Training data with their formula and frame.

    `moves_knots` returns True if R's version moves the knots of splines away from the boundary.
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
        """Read, check and evaluate a formula without fitting.

        `matrices` are those of an earlier frame. With a `class_order`, the response is a factor of classes in
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
        super().__post_init__()
        vars(self).update(formula=self.learned.formula, warnings=tuple(self.learned.warnings))

    def is_unchanged(self) -> bool:
        """Return True if the frame still gives the predictors, responses and offset of the fit."""
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
        """Select columns of the frame at the training rows."""
        frame = self.frame if self.subset is None else self.frame.iloc[self.subset]
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        formula = self.learned.formula
        return Ranges.learn(formula.raw_columns.columns, formula.raw_values(frame))

    def gives(self, basis: Callable[[np.ndarray], np.ndarray], bx: np.ndarray) -> bool:
        """Return True if the terms of a model are reproduced with the frame as new data.

        `basis` evaluates the terms at the rows of a design.
        """
        frame = self.frame.set_axis([str(name) for name in self.frame.columns], axis=1)
        # from all rows, because a mean in the formula is over all of them
        design = self.learned.formula.design(frame)
        found = basis(design if self.subset is None else design[self.subset])
        return np.allclose(found, bx, rtol=1e-9, atol=1e-9 * np.abs(bx).max())

    def with_formula(self, text: str) -> FormulaData:
        """Return the same data with another formula, in which dots represent the sides of this one."""
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
