"""The variables of a formula: each read from its expression, with what it learns from the training data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ...exceptions import InvalidInputError
from ..data.columns import Column
from ..data.matrices import MatrixColumn
from .arguments import Arguments, matched_arguments
from .bases import inner_knots, orthogonal_polynomials, scaling
from .constants import flag_of, whole_of
from .deparse import label_of, quoted, short_text
from .expression import Call, Expression, Poly, RawColumn, Scaled, Spline
from .functions import exponents, polynomials
from .syntax import Constant, FunctionCall, Name, Node
from .tokens import refuse
from .typed import Typed, TypedReader
from .variable import Variable, evaluate

__all__ = ["LearnedVariable", "Learner", "check_contrasts"]

OUTSIDE = "some 'x' values beyond boundary knots may cause ill-conditioned bases"
SHOVED = "shoving 'interior' knots matching boundary knots to inside"
TOO_SMALL = "'df' was too small; have used {}"


@dataclass(frozen=True, eq=False)
class LearnedVariable:
    """A variable, its training values (codes of factors), and what its columns are called.

    `shown` is its label in names, `suffixes` follow it where it has several columns.
    """

    variable: Variable
    values: np.ndarray
    shown: str
    suffixes: tuple[str, ...]
    given_names: list[str] | None = None


class Learner(TypedReader):
    """Learns variables from the raw columns."""

    def __init__(
        self,
        columns: Mapping[str, Column],
        units: Mapping[str, str],
        raw: Mapping[str, np.ndarray],
        matrices: Mapping[str, MatrixColumn],
        moves_knots: Callable[[], bool],
    ):
        super().__init__(columns, units, raw)
        self.matrices, self.moves_knots = matrices, moves_knots
        self.warnings: list[str] = []

    def variable(self, node: Node) -> LearnedVariable:
        """Learn one variable."""
        label = label_of(node, between_lines="\n")
        if isinstance(node, Name):
            return self._column(node, label)
        name = node.name if isinstance(node, FunctionCall) else ""
        special: Mapping[str, Callable] = {
            "poly": self._poly, "bs": self._spline, "ns": self._spline, "scale": self._scale,
            "cbind": self._cbind,
        }  # fmt: skip
        if name in special:
            return special[name](node, label)
        typed = self.typed(node)
        if typed.kind == "text":
            refuse(f"{short_text(node)} is a text, not a variable")
        return self._learned(label, typed)

    def _learned(
        self, label, typed: Typed, suffixes=(), values=None, given=None
    ) -> LearnedVariable:
        if not any(True for _ in typed.expression.raw_names()):
            refuse(f"{label[:60]} has no column of the data in it")
        variable = Variable(label, typed.kind, typed.levels, typed.expression)
        if not np.ndim(self._numbers(typed.expression, single=True)):
            refuse(f"{label[:60]} is one number, not a column")
        try:
            found = evaluate(variable, self.raw, self.n_rows, "data")
        except InvalidInputError as error:
            refuse(error)
        return LearnedVariable(
            variable, found if values is None else values, label, tuple(suffixes), given
        )

    def _column(self, node: Name, label: str) -> LearnedVariable:
        if node.text in self.matrices:
            return self._matrix(self.matrices[node.text], label)
        column = self.columns[node.text]
        levels = column.levels if column.kind in ("factor", "ordered") else ()
        typed = Typed(self._raw(node.text), column.kind, levels)
        variable = Variable(label, typed.kind, typed.levels, typed.expression)
        return LearnedVariable(variable, self.raw[node.text], quoted(label), ())

    def _matrix(self, matrix: MatrixColumn, label: str) -> LearnedVariable:
        names = list(matrix.names) if matrix.names is not None else None
        suffixes = names or [str(k + 1) for k in range(len(matrix.parts))]
        expression = Call("cbind", tuple(RawColumn(part) for part in matrix.parts))
        variable = Variable(label, "number", (), expression)
        values = evaluate(variable, self.raw, self.n_rows, "data")
        return LearnedVariable(variable, values, quoted(label), tuple(suffixes), names)

    def _finite(self, node: Node) -> tuple[Expression, np.ndarray]:
        """An argument of a basis: its expression and its values, which should be finite."""
        typed = self.typed(node)
        return typed.expression, self._learned(
            label_of(node), Typed(typed.expression, "number")
        ).values

    def _poly(self, node: FunctionCall, label: str) -> LearnedVariable:
        args = matched_arguments(node)
        degree = whole_of(args.named.get("degree"))
        arguments, values = zip(*(self._finite(v) for v in args.variables), strict=True)
        if len(values) == 1:
            suffixes = [str(k) for k in range(1, degree + 1)]
        else:
            chosen = exponents(len(values), degree)
            suffixes = [".".join(map(str, powers)) for powers in chosen]
        if flag_of(args.named.get("raw"), False):
            return self._learned(
                label, Typed(Poly(arguments, degree, None, None), "number"), suffixes
            )
        tables, alpha, norm2 = zip(
            *(orthogonal_polynomials(label[:60], x, degree) for x in values), strict=True
        )
        expression = Poly(
            arguments,
            degree,
            tuple(tuple(a.tolist()) for a in alpha),
            tuple(tuple(n.tolist()) for n in norm2),
        )
        made = polynomials(values, degree, tables=tables)
        return self._learned(label, Typed(expression, "number"), suffixes, made)

    def _spline(self, node: FunctionCall, label: str) -> LearnedVariable:
        name, args = node.name, matched_arguments(node)
        argument, x = self._finite(args.variables[0])
        degree = whole_of(args.named.get("degree"), 3)
        intercept = flag_of(args.named.get("intercept"), False)
        inside, ends = self._ends(name, args, x)
        knots = np.sort(self.numbers(args.named["knots"])) if _given(args, "knots") else None
        if knots is None:
            knots = self._knots(name, args, inside, degree, intercept)
            knots = self._inside(name, knots, ends)
        if not (np.isfinite(knots).all() and np.isfinite(ends).all()) or ends[0] == ends[1]:
            refuse(
                f"{label[:60]} has the boundary {ends[0]:g} to {ends[1]:g} but that and its knots should be "
                "finite numbers, and the ends should differ"
            )
        if name == "ns" and (knots == ends[1]).any():
            refuse(
                f"{label[:60]} has a knot on the right end of its boundary, {ends[1]:g}, where R's ns has no "
                "basis: give knots inside of it, or a smaller df"
            )
        expression = Spline(
            name,
            argument,
            tuple(knots.tolist()),
            (float(ends[0]), float(ends[1])),
            degree,
            intercept,
        )
        suffixes = [str(k + 1) for k in range(expression.n_columns)]
        return self._learned(label, Typed(expression, "number"), suffixes)

    def _ends(self, name, args: Arguments, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not _given(args, "Boundary.knots"):
            return x, np.array([x.min(), x.max()])
        given = args.named["Boundary.knots"]
        ends = np.sort(self.numbers(given))
        if len(ends) != 2:
            refuse(
                f"Boundary.knots of {name} is {short_text(given)} but it should be two numbers, such as "
                "c(0, 1)"
            )
        inside = (x >= ends[0]) & (x <= ends[1])
        if not inside.all():
            self.warnings.append(OUTSIDE)
        return x[inside], ends

    def _knots(self, name, args: Arguments, x, degree: int, intercept: bool) -> np.ndarray:
        if not _given(args, "df"):
            return np.empty(0)
        taken = 1 + intercept if name == "ns" else degree + intercept
        n_knots = whole_of(args.named["df"]) - taken
        if n_knots < 0:
            self.warnings.append(TOO_SMALL.format(taken))
        if n_knots > 0 and len(x) == 0:
            refuse(f"{name} has no values inside of its boundary, from which knots could be made")
        return inner_knots(x, n_knots)

    def _inside(self, name: str, knots: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Quantiles that fell on an end, an eighth of the way to their neighbour, as R 4.5 and later."""
        on_ends = [knots == end for end in ends]
        if not any(on.any() for on in on_ends) or not self.moves_knots():
            return knots
        moved, all_on_one = knots.copy(), False
        for on, end, side in zip(on_ends, ends, ("left", "right"), strict=True):
            if on.all():
                all_on_one = True
                text = f"all interior knots match {side} boundary knot"
                if name == "ns":
                    refuse(f"ns has no knots inside of its boundary (R: {text})")
                self.warnings.append(text)
            elif on.any():
                moved[on] += (min(moved[~on], key=lambda knot: abs(knot - end)) - end) / 8
        if not all_on_one:
            self.warnings.append(SHOVED)
        return moved

    def _scale(self, node: FunctionCall, label: str) -> LearnedVariable:
        args = matched_arguments(node)
        inner = args.variables[0]
        while isinstance(inner, FunctionCall) and inner.name == "(":
            inner = inner.values[0]
        parts, given = [inner], None
        if isinstance(inner, FunctionCall) and inner.name == "cbind":
            parts, given = list(inner.values), bound_names(inner)
        found = [self._finite(part) for part in parts]
        columns = np.column_stack([values for _, values in found])
        center, scale = (
            self._scale_argument(node, args.named.get(part), len(parts))
            for part in ("center", "scale")
        )
        center, scale = scaling(columns, center, scale)
        if not (np.isfinite(scale).all() and scale.all()):
            refuse(f"{label[:60]} divides by 0")
        expression = Scaled(
            tuple(e for e, _ in found), tuple(center.tolist()), tuple(scale.tolist())
        )
        suffixes = given or [str(k + 1) for k in range(len(parts))]
        return self._learned(label, Typed(expression, "number"), suffixes, given=given)

    def _scale_argument(self, node, value: Node | None, width: int) -> bool | np.ndarray:
        if value is None:
            return True
        if isinstance(value, Constant) and isinstance(value.value, bool):
            return value.value
        numbers = self.numbers(value)
        if len(numbers) != width:
            refuse(
                f"{short_text(node)}: center and scale should be TRUE, FALSE or {width} number(s)"
            )
        return numbers

    def _cbind(self, node: FunctionCall, label: str) -> LearnedVariable:
        args = tuple(self.typed(value).expression for value in node.values)
        given = bound_names(node)
        suffixes = given or [str(k + 1) for k in range(len(args))]
        return self._learned(label, Typed(Call("cbind", args), "number"), suffixes, given=given)


def check_contrasts(what: str, variable: Variable) -> None:
    """Refuse a factor of one level, which has no contrasts."""
    if len(variable.levels) == 1:
        refuse(f"{what[:60]} has 1 level(s) but a factor should have 2 or more")


def bound_names(node: FunctionCall) -> list[str] | None:
    """cbind's names of columns: those that are given, and of columns; None where there are none."""
    names = [label or (value.text if isinstance(value, Name) else "") for label, value in node.args]
    return names if any(names) else None


def _given(args: Arguments, name: str) -> bool:
    return args.named.get(name) is not None
