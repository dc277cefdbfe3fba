"""Variables of a formula, from its parse tree and the data: levels, knots and coefficients."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...exceptions import InvalidInputError
from ..data.columns import MatrixColumn
from ..printing import r_format
from .arguments import (
    NAMED_CONSTANTS,
    OF_COLUMNS,
    Arguments,
    constant_numbers,
    constant_values,
    flag_of,
    matched_arguments,
    number_of,
    texts_at,
    whole_of,
)
from .expression import (
    Call,
    Codes,
    Cut,
    DateColumn,
    Expression,
    LevelNumbers,
    Levels,
    Number,
    Poly,
    RawColumn,
    Scaled,
    Spline,
    Summary,
    Variable,
    evaluate,
)
from .functions import (
    cut_breaks,
    cut_labels,
    exponents,
    inner_knots,
    orthogonal_polynomials,
    polynomials,
    scaling,
)
from .guard import COMPARISONS, FACTORS, LIMITS, LOGICAL
from .syntax import Constant, FunctionCall, Name, Node, call, label_of, quoted, refuse, short_text

if TYPE_CHECKING:
    from .learning import FormulaFrame

OUTSIDE = "some 'x' values beyond boundary knots may cause ill-conditioned bases"
SHOVED = "shoving 'interior' knots matching boundary knots to inside"
TOO_SMALL = "'df' was too small; have used {}"
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
WITH_LEVELS = ("factor", "ordered", "character")
QUARTILES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


@dataclass(frozen=True)
class Typed:
    """An expression with its kind and, for a factor, its levels.

    Kinds are those of variables, "text" for a constant, and "character" for strings by row, which are a
    factor as a term.
    """

    expression: Expression
    kind: str
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class LearnedVariable:
    """A variable, its training values (codes of factors), and the names of its columns.

    `shown` is its label in names; `suffixes` follow it if there are several columns.
    """

    variable: Variable
    values: np.ndarray
    shown: str
    suffixes: tuple[str, ...]
    given_names: list[str] | None = None


class Learner:
    """Derives the variables of a formula from the raw columns: numbers, and codes of factors."""

    def __init__(
        self, data: FormulaFrame, raw: Mapping[str, np.ndarray], moves_knots: Callable[[], bool]
    ):
        self.columns, self.units, self.matrices = data.columns, data.units, data.matrices
        self.raw, self.moves_knots = raw, moves_knots
        self.kinds = {name: column.kind for name, column in data.columns.items()}
        self.n_rows = len(next(iter(raw.values()))) if raw else 0
        self.warnings: list[str] = []
        self.bases: Mapping[str, Callable[[FunctionCall, str], LearnedVariable]] = {
            "poly": self._poly, "bs": self._spline, "ns": self._spline, "scale": self._scale,
            "cbind": self._cbind,
        }  # fmt: skip
        self.readers: Mapping[str, Callable[[FunctionCall], Typed]] = {
            "factor": self._factor, "ordered": self._factor, "as.factor": self._as_factor,
            "as.ordered": self._as_factor, "relevel": self._relevel, "interaction": self._interaction,
            "cut": self._cut, "log": self._log, "round": self._round, "%in%": self._in,
            "droplevels": self._droplevels, "as.character": self._as_character, "[": self._texts_at,
            "findInterval": self._find_interval,
        }  # fmt: skip

    def variable(self, node: Node) -> LearnedVariable:
        label = label_of(node, between_lines="\n")
        if isinstance(node, Name):
            return self._column(node, label)
        if isinstance(node, FunctionCall) and node.name in self.bases:
            return self.bases[node.name](node, label)
        typed = self.typed(node)
        if typed.kind == "text":
            refuse(f"{short_text(node)} is a text, not a variable")
        return self._learned(label, typed)

    def _learned(
        self, label, typed: Typed, suffixes=(), values=None, given=None
    ) -> LearnedVariable:
        if not any(True for _ in typed.expression.raw_names()):
            refuse(f"{label[:60]} has no column of the data in it")
        kind = "factor" if typed.kind == "character" else typed.kind
        variable = Variable(label, kind, typed.levels, typed.expression)
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
        """Return an argument of a basis: its expression and its finite values."""
        expression = _as_numbers(self.typed(node))
        return expression, self._learned(label_of(node), Typed(expression, "number")).values

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
                label, Typed(Poly("poly", arguments, degree, None, None), "number"), suffixes
            )
        tables, alpha, norm2 = zip(
            *(orthogonal_polynomials(label[:60], x, degree) for x in values), strict=True
        )
        expression = Poly(
            "poly",
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
        knots = np.sort(self.numbers(args.named["knots"])) if "knots" in args.named else None
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
            (argument,),
            tuple(knots.tolist()),
            (float(ends[0]), float(ends[1])),
            degree,
            intercept,
        )
        suffixes = [str(k + 1) for k in range(expression.n_columns)]
        return self._learned(label, Typed(expression, "number"), suffixes)

    def _ends(self, name, args: Arguments, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if "Boundary.knots" not in args.named:
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
        if "df" not in args.named:
            return np.empty(0)
        taken = 1 + intercept if name == "ns" else degree + intercept
        n_knots = whole_of(args.named["df"]) - taken
        if n_knots < 0:
            self.warnings.append(TOO_SMALL.format(taken))
        if n_knots > 0 and len(x) == 0:
            refuse(f"{name} has no values inside of its boundary, from which knots could be made")
        return inner_knots(x, n_knots)

    def _inside(self, name: str, knots: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Move quantiles on an end by an eighth of the distance to their neighbour, as in R 4.5 and later."""
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
            "scale", tuple(e for e, _ in found), tuple(center.tolist()), tuple(scale.tolist())
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
        args = tuple(_as_numbers(self.typed(value)) for value in node.values)
        given = bound_names(node)
        suffixes = given or [str(k + 1) for k in range(len(args))]
        return self._learned(label, Typed(Call("cbind", args), "number"), suffixes, given=given)

    def _raw(self, name: str) -> Expression:
        return DateColumn(name, self.units[name]) if name in self.units else RawColumn(name)

    def typed(self, node: Node) -> Typed:
        """Return an expression of known functions; the guard has checked all of it."""
        if isinstance(node, Constant):
            return _typed_constant(node)
        if isinstance(node, Name):
            if node.text not in self.columns:
                return _typed_constant(Constant(NAMED_CONSTANTS[node.text], node.text))
            return self._typed_column(node.text)
        name = node.name
        if name in ("(", "I", "offset"):
            return self.typed(node.values[0])
        if name in COMPARISONS:
            return self._comparison(node)
        if name in self.readers:
            return self.readers[name](node)
        if name in OF_COLUMNS:
            return self._summary(node)
        values = matched_arguments(node).variables if name == "ifelse" else node.values
        args = [self.typed(value) for value in values]
        if name in ("as.numeric", "as.integer") and args[0].kind == "character":
            args = [Typed(self._numbers_of_texts(node), "number")]
        elif name in ("as.numeric", "as.integer") and args[0].levels:
            return Typed(_as_numbers(args[0]), "number")
        kinds = {arg.kind for arg in args[1:]} if name == "ifelse" else set()
        logical = name in (*LOGICAL, "is.na") or kinds == {"logical"}
        expression = Call(name, tuple(arg.expression for arg in args))
        if name in ("-", "*") and is_integer(node, self.kinds):
            expression = Call("as.integer", (expression,))  # R's integers have no negative zero
        return Typed(expression, "logical" if logical else "number")

    def _typed_column(self, name: str) -> Typed:
        column = self.columns[name]
        if column.kind in ("factor", "ordered"):
            codes = Codes(name, column.levels, column.kind == "ordered")
            return Typed(codes, column.kind, column.levels)
        return Typed(self._raw(name), column.kind)

    def _log(self, node: FunctionCall) -> Typed:
        args = matched_arguments(node)
        expressions = [self.typed(args.variables[0]).expression]
        if "base" in args.named:
            expressions.append(self._one_number(node, args, "base"))
        return Typed(Call("log", tuple(expressions)), "number")

    def _round(self, node: FunctionCall) -> Typed:
        args = matched_arguments(node)
        digits = self._one_number(node, args, "digits") if "digits" in args.named else Number(0.0)
        if not np.isfinite(digits.value):
            refuse(f"{short_text(node)}: digits should be one number")
        inner = self.typed(args.variables[0]).expression
        return Typed(Call("round", (inner, digits)), "number")

    def _one_number(self, node: FunctionCall, args: Arguments, part: str) -> Number:
        found = self.numbers(args.named[part])
        if len(found) != 1:
            refuse(f"{short_text(node)}: {part} should be one number")
        return Number(float(found[0]))

    def _in(self, node: FunctionCall) -> Typed:
        """Return an expression that tests membership in the given values, the levels of factor()."""
        inner = self.typed(node.values[0])
        given = constant_values(node.values[1], self._summarised)
        if inner.levels:
            texts = [_level_text(None, value) for value in given]
            values = [float(inner.levels.index(text)) for text in texts if text in inner.levels]
        else:
            values = [self._level_value(node, inner, value) for value in given]
        codes = Levels("factor", (inner.expression,), tuple(dict.fromkeys(values)) or (-1.0,))
        return Typed(Call("!", (Call("is.na", (codes,)),)), "logical")

    def numbers(self, node: Node) -> np.ndarray:
        """Return the numbers of an argument such as knots, which may use summaries of columns."""
        return constant_numbers(node, self._summarised)

    def _summarised(self, node: FunctionCall) -> np.ndarray:
        found = [self._numbers(summary, single=True) for summary in self._summaries(node)]
        return np.concatenate([np.ravel(values) for values in found])

    def _summary(self, node: FunctionCall) -> Typed:
        summaries = self._summaries(node)
        if len(summaries) != 1 or len(summaries[0].shares) > 1:
            refuse(f"{short_text(node)} should be one number here")
        return Typed(summaries[0], "number")

    def _summaries(self, node: FunctionCall) -> list[Summary]:
        args = matched_arguments(node)
        dropped = flag_of(args.named.get("na.rm"), False)
        variables = tuple(self.typed(value).expression for value in args.variables)
        if node.name == "range":
            return [Summary(name, variables, dropped) for name in ("min", "max")]
        if node.name != "quantile":
            return [Summary(node.name, variables, dropped)]
        shares = self.numbers(args.named["probs"]) if "probs" in args.named else QUARTILES
        if not ((shares >= 0) & (shares <= 1)).all():
            refuse(f"{short_text(node)}: probs should be from 0 to 1")
        return [Summary("quantile", variables, dropped, tuple(shares.tolist()))]

    def _numbers_of_texts(self, node: FunctionCall) -> Expression:
        """Return the numeric values of a factor's levels: as.numeric(as.character(f))."""
        inner = node.values[0]
        while isinstance(inner, FunctionCall) and inner.name == "(":
            inner = inner.values[0]
        assert isinstance(inner, FunctionCall)  # strings by row come from a function
        factor = self.typed(inner.values[0]) if inner.name == "as.character" else None
        if factor is None or not factor.levels:
            refuse(f"{short_text(node)}: only the texts of a factor's levels may become numbers")
        for level in factor.levels:
            if not DECIMAL.fullmatch(level.strip()) or np.isinf(float(level)):
                refuse(f"{short_text(node)}: the level {level!r} is not a number")
        numbers = tuple(float(level) for level in factor.levels)
        return LevelNumbers("level.numbers", (factor.expression,), numbers)

    def _find_interval(self, node: FunctionCall) -> Typed:
        """Count the breaks that a number has reached, with separate rules for the outermost break."""
        args = matched_arguments(node)
        breaks = constant_numbers(args.named["vec"])  # summaries of columns would use the new rows
        closed, inside, is_open = (
            flag_of(args.named.get(part), False)
            for part in ("rightmost.closed", "all.inside", "left.open")
        )
        _check_levels(node, len(breaks))
        if not (np.diff(breaks) >= 0).all() or np.isnan(breaks).any():
            refuse(f"{short_text(node)}: vec should be numbers in ascending order")
        x = self.typed(args.variables[0]).expression
        counted: list[Expression] = [
            Call(">" if is_open else ">=", (x, Number(value))) for value in breaks.tolist()
        ]
        if closed and is_open:
            counted.append(Call("==", (x, Number(float(breaks[0])))))
        elif closed:
            counted.append(Call("-", (Call("==", (x, Number(float(breaks[-1])))),)))
        found = _sum_of(counted)
        if inside:
            most = Number(float(max(1, len(breaks) - 1)))
            found = Call("pmin", (Call("pmax", (found, Number(1.0))), most))
        return Typed(found, "number")

    def _comparison(self, node: FunctionCall) -> Typed:
        """Compare a factor with strings by its codes; a string that is not a level equals none."""
        left, right = (self.typed(value) for value in node.values)
        name = node.name
        if (right.levels and right.kind != "text" and not left.levels) or left.kind == "text":
            flipped = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
            left, right, name = right, left, flipped.get(name, name)
        if left.kind in WITH_LEVELS:
            right = self._as_code(node, name, left, right)
        elif right.kind == "text":
            refuse(f"{short_text(node)} compares text with something other than a factor")
        return Typed(Call(name, (left.expression, right.expression)), "logical")

    def _as_code(self, node, name: str, factor: Typed, other: Typed) -> Typed:
        if name not in ("==", "!=") and factor.kind != "ordered":
            refuse(f"{short_text(node)}: {name} is not meaningful for factors")
        if other.kind in WITH_LEVELS:
            if other.levels != factor.levels:
                refuse(f"{short_text(node)} compares factors of different levels")
            return other
        if not isinstance(other.expression, Number):
            refuse(f"{short_text(node)} compares a factor with something other than text")
        text = (
            other.levels[0] if other.kind == "text" else _level_text(other, other.expression.value)
        )
        if text not in factor.levels:
            if name not in ("==", "!="):
                refuse(f"{short_text(node)}: {text!r} is not a level of the factor")
            return Typed(Number(-1.0), "number")
        return Typed(Number(float(factor.levels.index(text))), "number")

    def _factor(self, node: FunctionCall) -> Typed:
        args = matched_arguments(node)
        inner = self.typed(args.variables[0])
        if "levels" in args.named:
            values, levels = self._given_levels(node, inner, args.named["levels"])
        else:
            values = self._found(node, inner)
            levels = [_level_text(inner, value) for value in values]
        if "labels" in args.named:
            levels = self._labels(node, args, len(levels))
        ordered = flag_of(args.named.get("ordered"), inner.kind == "ordered")
        ordered = ordered or node.name == "ordered"
        return self._with_levels(
            node, Levels("factor", (inner.expression,), tuple(values)), levels, ordered
        )

    def _given_levels(
        self, node: FunctionCall, inner: Typed, given: Node
    ) -> tuple[list[float], list[str]]:
        """Return numbers or codes and their texts; a text that the factor lacks is a level of no row."""
        values, levels = [], []
        for place, level in enumerate(constant_values(given, self._summarised)):
            if inner.levels and _level_text(None, level) not in inner.levels:
                values.append(-1.0 - place)
                levels.append(_level_text(None, level))
            else:
                values.append(self._level_value(node, inner, level))
                levels.append(_level_text(inner, values[-1]))
        return values, levels

    def _as_factor(self, node: FunctionCall) -> Typed:
        """Return a factor with all its levels; `as.ordered` drops the unused ones of an unordered factor."""
        inner = self.typed(node.values[0])
        keeps = inner.kind == "ordered" or (inner.levels and node.name == "as.factor")
        values = _all_codes(inner) if keeps else self._found(node, inner)
        levels = [_level_text(inner, value) for value in values]
        ordered = inner.kind == "ordered" or node.name == "as.ordered"
        return self._with_levels(
            node, Levels("factor", (inner.expression,), tuple(values)), levels, ordered
        )

    def _droplevels(self, node: FunctionCall) -> Typed:
        inner = self.typed(node.values[0])
        if inner.kind not in ("factor", "ordered"):
            refuse(f"{short_text(node)}: droplevels takes a factor")
        values = self._found(node, inner)
        levels = [inner.levels[int(code)] for code in values]
        codes = Levels("factor", (inner.expression,), tuple(values))
        return self._with_levels(node, codes, levels, inner.kind == "ordered")

    def _as_character(self, node: FunctionCall) -> Typed:
        inner = self.typed(node.values[0])
        values = self._found(node, inner)
        return self._texts(node, inner.expression, values, [_level_text(inner, v) for v in values])

    def _texts_at(self, node: FunctionCall) -> Typed:
        """letters[k] and the like."""
        index = self.typed(node.values[1])
        if index.kind == "logical":
            refuse(f"{short_text(node)}: the texts are chosen by numbers, not by truth values")
        if not any(True for _ in index.expression.raw_names()):
            return Typed(Number(0.0), "text", texts_at(node, self.numbers(node.values[1])))
        whole = Call("as.integer", (_as_numbers(index),))
        values = self._found(node, Typed(whole, "number"))
        return self._texts(node, whole, values, texts_at(node, np.array(values)))

    def _texts(self, node, expression, values: Sequence[float], texts: Sequence[str]) -> Typed:
        """Return the texts of distinct values: levels sorted by character codes."""
        pairs = sorted(zip(texts, values, strict=True))
        codes = Levels("factor", (expression,), tuple(value for _, value in pairs))
        found = self._with_levels(node, codes, [text for text, _ in pairs], ordered=False)
        return replace(found, kind="character")

    def _found(self, node, inner: Typed) -> list[float]:
        """Return the distinct values of an expression, or codes."""
        if isinstance(inner.expression, DateColumn):
            name = inner.expression.name
            refuse(
                f"{short_text(node)} makes levels of dates; write as.numeric({name}) for their numbers"
            )
        found = np.unique(self._numbers(inner.expression))
        found = found[np.isfinite(found)]
        _check_levels(node, len(found))
        return found.tolist()

    def _relevel(self, node: FunctionCall) -> Typed:
        args = matched_arguments(node)
        inner = self.typed(args.variables[0])
        if inner.kind != "factor":
            refuse(f"{short_text(node)}: relevel takes a factor that is not ordered")
        given = constant_values(args.named["ref"], self._summarised)
        ref = given[0] if len(given) == 1 else None
        if isinstance(ref, (int, float)) and 1 <= ref < len(inner.levels) + 1:
            ref = inner.levels[int(ref) - 1]
        if ref not in inner.levels:
            refuse(f"{short_text(node)}: ref should be one level of its variable")
        first = float(inner.levels.index(ref))
        values = [first, *(code for code in _all_codes(inner) if code != first)]
        levels = [inner.levels[int(code)] for code in values]
        return self._with_levels(
            node, Levels("factor", (inner.expression,), tuple(values)), levels, False
        )

    def _interaction(self, node: FunctionCall) -> Typed:
        """Return the combinations of levels; the first factor's vary fastest, unless in lexical order."""
        args = matched_arguments(node)
        separator = constant_values(args.named["sep"]) if "sep" in args.named else ["."]
        if len(separator) != 1 or not isinstance(separator[0], str):
            refuse(f"{short_text(node)}: sep should be one text")
        drop, lexical = (flag_of(args.named.get(part), False) for part in ("drop", "lex.order"))
        codes: Expression = Number(0.0)
        levels = [""]
        for k, variable in enumerate(args.variables[::-1]):
            factor = self._as_factor(call("as.factor", variable))
            inner, own = factor.expression, list(factor.levels)
            if drop:
                used = self._found(node, factor)
                inner, own = (
                    Levels("factor", (inner,), tuple(used)),
                    [own[int(code)] for code in used],
                )
            _check_levels(node, len(own) * len(levels))
            if k == 0:
                codes, levels = inner, own
                continue
            one, other = (codes, inner) if lexical else (inner, codes)
            width = float(len(levels) if lexical else len(own))
            codes = Call("+", (one, Call("*", (other, Number(width)))))
            pairs = (
                [(a, b) for a in own for b in levels]
                if lexical
                else [(a, b) for b in levels for a in own]
            )
            levels = [f"{a}{separator[0]}{b}" for a, b in pairs]
            if drop:
                used = self._found(node, Typed(codes, "number"))
                codes, levels = (
                    Levels("factor", (codes,), tuple(used)),
                    [levels[int(code)] for code in used],
                )
        values = tuple(float(code) for code in range(len(levels)))
        return self._with_levels(node, Levels("factor", (codes,), values), levels, False)

    def _level_value(self, node, inner: Typed, level) -> float:
        """Return the number or code of a given level."""
        if inner.levels:
            text = level if isinstance(level, str) else _level_text(None, float(level))
            if text not in inner.levels:
                refuse(f"{short_text(node)}: {text!r} is not a level of its variable")
            return float(inner.levels.index(text))
        if inner.kind == "logical" and level in ("TRUE", "FALSE"):
            return float(level == "TRUE")
        try:
            return float(level)
        except ValueError:
            refuse(f"{short_text(node)}: {level!r} is not a level of numbers")

    def _with_levels(self, node, expression, levels: list[str], ordered: bool) -> Typed:
        if len(set(levels)) < len(levels):
            refuse(f"{short_text(node)} has two levels of one name")
        if not levels:
            refuse(f"{short_text(node)} has no levels")
        _check_levels(node, len(levels))
        return Typed(expression, "ordered" if ordered else "factor", tuple(levels))

    def _cut(self, node: FunctionCall) -> Typed:
        args = matched_arguments(node)
        inner = self.typed(args.variables[0])
        if isinstance(inner.expression, DateColumn):
            name = inner.expression.name
            refuse(f"{short_text(node)} cuts dates; write as.numeric({name}) to cut their numbers")
        right = flag_of(args.named.get("right"), True)
        lowest = flag_of(args.named.get("include.lowest"), False)
        breaks = np.sort(self.numbers(args.named["breaks"]))
        if len(breaks) == 1:
            count = breaks[0]
            if not 2 <= count <= LIMITS["levels"] or count != int(count):
                refuse(
                    f"{short_text(node)}: breaks should be two numbers or more, or a whole number of "
                    f"intervals from 2 to {LIMITS['levels']}"
                )
            breaks = cut_breaks(self._numbers(inner.expression), int(count))
        if not (np.diff(breaks) > 0).all():
            refuse(f"{short_text(node)}: 'breaks' are not unique")
        codes = Cut("cut", (inner.expression,), tuple(breaks.tolist()), right, lowest)
        labels = args.named.get("labels")
        given = None if labels is None else constant_values(labels, self._summarised)
        if given == [False]:
            return Typed(Call("+", (codes, Number(1.0))), "number")
        levels = cut_labels(breaks, right, lowest, whole_of(args.named.get("dig.lab"), 3))
        if given not in (None, [True]):
            levels = self._labels(node, args, len(levels), repeats=False)
        ordered = flag_of(args.named.get("ordered_result"), False)
        return self._with_levels(node, codes, levels, ordered)

    def _numbers(self, expression: Expression, single: bool = False) -> np.ndarray:
        with np.errstate(all="ignore"):
            values = np.asarray(expression.evaluate(self.raw), dtype=float)
        return values if single else np.broadcast_to(values, (self.n_rows,))

    def _labels(self, node, args: Arguments, n_levels: int, repeats: bool = True) -> list[str]:
        given = constant_values(args.named["labels"], self._summarised)
        labels = [_level_text(None, value) for value in given]
        if len(labels) == 1 and n_levels > 1 and repeats:
            return [f"{labels[0]}{k + 1}" for k in range(n_levels)]
        if len(labels) != n_levels:
            refuse(f"{short_text(node)} has {len(labels)} labels for {n_levels} levels")
        return labels


def _typed_constant(node: Constant) -> Typed:
    if isinstance(node.value, str):
        return Typed(Number(0.0), "text", (node.value,))
    kind = "logical" if isinstance(node.value, bool) else "number"
    return Typed(Number(number_of(node)), kind)


def _as_numbers(typed: Typed) -> Expression:
    """Return the 1-based level numbers of a factor."""
    if typed.kind == "character":
        refuse("it has texts where numbers should be; as.factor makes levels of them")
    if typed.kind in WITH_LEVELS:
        return Call("+", (typed.expression, Number(1.0)))
    return typed.expression


def _sum_of(terms: Sequence[Expression]) -> Expression:
    """Combine terms in balanced halves, so that many terms are not nested deeply."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return Call("+", (_sum_of(terms[:half]), _sum_of(terms[half:])))


def _all_codes(factor: Typed) -> list[float]:
    return [float(code) for code in range(len(factor.levels))]


def _check_levels(node, count: int) -> None:
    if count > LIMITS["levels"]:
        refuse(
            f"{short_text(node)} makes {count} levels but it should make at most {LIMITS['levels']}"
        )


def _level_text(inner: Typed | None, value) -> str:
    """R's as.character."""
    if inner is not None and inner.levels:
        return inner.levels[int(value)]
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or (inner is not None and inner.kind == "logical"):
        return "TRUE" if value else "FALSE"
    return r_format([float(value)], 15)[0]


def check_contrasts(what: str, variable: Variable) -> None:
    """Reject a factor of one level, which has no contrasts."""
    if len(variable.levels) == 1:
        refuse(f"{what[:60]} has 1 level(s) but a factor should have 2 or more")


def bound_names(node: FunctionCall) -> list[str] | None:
    """Return cbind's column names, from argument names and columns; None if there are none."""
    names = [label or (value.text if isinstance(value, Name) else "") for label, value in node.args]
    return names if any(names) else None


TRUTHS = (*COMPARISONS, "!", "&", "|", "%in%", "is.na")
OF_WHOLE = ("+", "-", "*", "%%", "%/%", "abs", "pmin", "pmax", "sum", "min", "max")


def is_integer(node: Node, kinds: Mapping[str, str]) -> bool:
    """Return True if R computes integers; `kinds` are those of the columns, whose numbers are doubles.

    >>> from .syntax import parsed_formula
    >>> [is_integer(parsed_formula(f"{y} ~ x")[0], {}) for y in ("as.integer(y)", "y * 2L", "(y > 1) + 1L")]
    [True, False, True]
    """
    return _kind(node, kinds) == "integer"


def _kind(node: Node, kinds: Mapping[str, str]) -> str:
    """Return R's type of an expression: "integer", "logical" or "other"."""
    if isinstance(node, Name):
        kind = kinds.get(node.text)
        if kind in ("factor", "ordered"):  # cbind uses its codes
            return "integer"
        return "logical" if kind == "logical" or node.text in ("T", "F") else "other"
    if isinstance(node, Constant):
        if isinstance(node.value, bool):
            return "logical"
        return "integer" if node.literal.endswith("L") else "other"
    name = node.name
    if name in TRUTHS:
        return "logical"
    if name in ("as.integer", "findInterval", *FACTORS):  # cbind uses the codes of a factor
        return "integer"
    inside = [_kind(value, kinds) for value in _arguments(node)]
    if "other" in inside or not inside:
        return "other"
    if name == "ifelse":
        return "integer" if "integer" in inside else "logical"
    if name == "cbind":
        return "integer" if "integer" in inside else "other"
    if name in ("(", "I"):
        return inside[0]
    return "integer" if name in OF_WHOLE else "other"


def _arguments(node: FunctionCall) -> tuple[Node, ...]:
    if node.name == "ifelse":
        return matched_arguments(node).variables[1:]
    return node.values
