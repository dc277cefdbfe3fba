"""Expressions of a formula with their kinds: numbers, truth values, factors and their levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..describe.text import r_format
from ..design.columns import Column
from .arguments import Arguments, matched_arguments
from .bases import cut_breaks, cut_labels
from .constants import constant_numbers, constant_texts, flag_of, number_of
from .deparse import short_text
from .expression import Call, Codes, Cut, DateColumn, Expression, Levels, Number, RawColumn
from .guard import COMPARISONS, LIMITS, LOGICAL
from .syntax import Constant, FunctionCall, Name, Node
from .tokens import refuse

__all__ = ["Typed", "TypedReader"]


@dataclass(frozen=True)
class Typed:
    """An expression with its kind and, for a factor, its levels."""

    expression: Expression
    kind: str
    levels: tuple[str, ...] = ()


class TypedReader:
    """Reads expressions of the raw columns: `raw` are numbers, and codes of factors."""

    def __init__(
        self,
        columns: Mapping[str, Column],
        units: Mapping[str, str],
        raw: Mapping[str, np.ndarray],
    ):
        self.columns, self.units, self.raw = columns, units, raw
        self.n_rows = len(next(iter(raw.values()))) if raw else 0

    def _raw(self, name: str) -> Expression:
        return DateColumn(name, self.units[name]) if name in self.units else RawColumn(name)

    def typed(self, node: Node) -> Typed:
        """An expression of known functions; the guard has looked at all of it."""
        if isinstance(node, Constant):
            if isinstance(node.value, str):
                return Typed(Number(0.0), "text", (node.value,))
            kind = "logical" if isinstance(node.value, bool) else "number"
            return Typed(Number(number_of(node)), kind)
        if isinstance(node, Name):
            return self._typed_column(node.text)
        name = node.name
        if name in ("(", "I", "offset"):
            return self.typed(node.values[0])
        if name in COMPARISONS:
            return self._comparison(node)
        if name == "factor":
            return self._factor(node)
        if name == "cut":
            return self._cut(node)
        if name == "log":
            return self._log(node)
        values = matched_arguments(node).variables if name == "ifelse" else node.values
        args = [self.typed(value) for value in values]
        if name in ("as.numeric", "as.integer") and args[0].levels:
            return Typed(Call("+", (args[0].expression, Number(1.0))), "number")
        kinds = {arg.kind for arg in args[1:]} if name == "ifelse" else set()
        logical = name in LOGICAL or kinds == {"logical"}
        expressions = tuple(arg.expression for arg in args)
        return Typed(Call(name, expressions), "logical" if logical else "number")

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
            bases = constant_numbers(args.named["base"])
            if len(bases) != 1:
                refuse(f"{short_text(node)}: base should be one number")
            expressions.append(Number(float(bases[0])))
        return Typed(Call("log", tuple(expressions)), "number")

    def _comparison(self, node: FunctionCall) -> Typed:
        """A factor is compared with texts by its codes; one that is no level of it is equal to none."""
        left, right = (self.typed(value) for value in node.values)
        name = node.name
        if (right.levels and right.kind != "text" and not left.levels) or left.kind == "text":
            flipped = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
            left, right, name = right, left, flipped.get(name, name)
        if left.kind in ("factor", "ordered"):
            right = self._as_code(node, name, left, right)
        elif right.kind == "text":
            refuse(f"{short_text(node)} compares a text with what is no factor")
        return Typed(Call(name, (left.expression, right.expression)), "logical")

    def _as_code(self, node, name: str, factor: Typed, other: Typed) -> Typed:
        if name not in ("==", "!=") and factor.kind != "ordered":
            refuse(f"{short_text(node)}: {name} is not meaningful for factors")
        if other.kind in ("factor", "ordered"):
            if other.levels != factor.levels:
                refuse(f"{short_text(node)} compares factors of different levels")
            return other
        if not isinstance(other.expression, Number):
            refuse(f"{short_text(node)} compares a factor with what is no text")
        text = (
            other.levels[0] if other.kind == "text" else _number_text(other.expression, other.kind)
        )
        if text not in factor.levels:
            if name not in ("==", "!="):
                refuse(f"{short_text(node)}: {text!r} is not a level of the factor")
            return Typed(Number(-1.0), "number")
        return Typed(Number(float(factor.levels.index(text))), "number")

    def _factor(self, node: FunctionCall) -> Typed:
        args = matched_arguments(node)
        inner = self.typed(args.variables[0])
        found = np.unique(self._numbers(inner.expression))
        found = found[np.isfinite(found)]
        if len(found) > LIMITS["levels"] and "levels" not in args.named:
            refuse(
                f"{short_text(node)} makes {len(found)} levels but it should make at most "
                f"{LIMITS['levels']}"
            )
        if "levels" in args.named:
            given = constant_texts(args.named["levels"])
            values = [self._level_value(node, inner, level) for level in given]
        else:
            values = found.tolist()
        levels = [_level_text(inner, value) for value in values]
        if "labels" in args.named:
            levels = _labels_of(node, args, len(levels))
        ordered = flag_of(args.named.get("ordered"), inner.kind == "ordered")
        return self._with_levels(node, Levels(inner.expression, tuple(values)), levels, ordered)

    def _level_value(self, node, inner: Typed, level) -> float:
        """The number or code that stands for a level that was given."""
        if inner.levels:
            text = level if isinstance(level, str) else _level_text(None, float(level))
            if text not in inner.levels:
                refuse(f"{short_text(node)}: {text!r} is no level of its variable")
            return float(inner.levels.index(text))
        if inner.kind == "logical" and level in ("TRUE", "FALSE"):
            return float(level == "TRUE")
        try:
            return float(level)
        except ValueError:
            refuse(f"{short_text(node)}: {level!r} is no level of numbers")

    def _with_levels(self, node, expression, levels: list[str], ordered: bool) -> Typed:
        if len(set(levels)) < len(levels):
            refuse(f"{short_text(node)} has two levels of one name")
        if not levels:
            refuse(f"{short_text(node)} has no levels")
        return Typed(expression, "ordered" if ordered else "factor", tuple(levels))

    def _cut(self, node: FunctionCall) -> Typed:
        args = matched_arguments(node)
        inner = self.typed(args.variables[0])
        right = flag_of(args.named.get("right"), True)
        lowest = flag_of(args.named.get("include.lowest"), False)
        breaks = np.sort(constant_numbers(args.named["breaks"]))
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
        codes = Cut(inner.expression, tuple(breaks.tolist()), right, lowest)
        labels = args.named.get("labels")
        if labels is not None and constant_texts(labels) == [False]:
            return Typed(Call("+", (codes, Number(1.0))), "number")
        levels = cut_labels(breaks, right, lowest)
        if labels is not None and constant_texts(labels) != [True]:
            levels = _labels_of(node, args, len(levels), repeats=False)
        ordered = flag_of(args.named.get("ordered_result"), False)
        return self._with_levels(node, codes, levels, ordered)

    def _numbers(self, expression: Expression) -> np.ndarray:
        with np.errstate(all="ignore"):
            values = np.asarray(expression.evaluate(self.raw), dtype=float)
        return np.broadcast_to(values, (self.n_rows,))


def _labels_of(node, args: Arguments, n_levels: int, repeats: bool = True) -> list[str]:
    labels = [_level_text(None, value) for value in constant_texts(args.named["labels"])]
    if len(labels) == 1 and n_levels > 1 and repeats:
        return [f"{labels[0]}{k + 1}" for k in range(n_levels)]
    if len(labels) != n_levels:
        refuse(f"{short_text(node)} has {len(labels)} labels for {n_levels} levels")
    return labels


def _level_text(inner: Typed | None, value) -> str:
    """R's as.character."""
    if inner is not None and inner.levels:
        return inner.levels[int(value)]
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or (inner is not None and inner.kind == "logical"):
        return "TRUE" if value else "FALSE"
    return r_format([float(value)], 15)[0]


def _number_text(number: Number, kind: str) -> str:
    return _level_text(None, bool(number.value) if kind == "logical" else number.value)
