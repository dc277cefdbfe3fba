"""Which expressions are integers in R: earth writes the name of such a response in another way."""

from __future__ import annotations

from collections.abc import Mapping

from .arguments import matched_arguments
from .constants import flag_of
from .guard import COMPARISONS
from .syntax import Constant, FunctionCall, Name, Node

__all__ = ["is_integer"]

WHOLE, LOGICAL, OTHER = "integer", "logical", "other"
TRUTHS = (*COMPARISONS, "!", "&", "|", "%in%", "is.na")
OF_WHOLE = ("+", "-", "*", "%%", "%/%", "abs", "pmin", "pmax", "sum", "min", "max")


def is_integer(node: Node, kinds: Mapping[str, str]) -> bool:
    """Whether R computes integers; `kinds` are those of the columns, whose numbers are doubles.

    >>> from .syntax import parsed_formula
    >>> [is_integer(parsed_formula(f"{y} ~ x")[0], {}) for y in ("as.integer(y)", "y * 2L", "(y > 1) + 1L")]
    [True, False, True]
    """
    return _kind(node, kinds) == WHOLE


def _kind(node: Node, kinds: Mapping[str, str]) -> str:
    if isinstance(node, Name):
        return LOGICAL if kinds.get(node.text) == "logical" or node.text in ("T", "F") else OTHER
    if isinstance(node, Constant):
        if isinstance(node.value, bool):
            return LOGICAL
        return WHOLE if node.literal.endswith("L") else OTHER
    name = node.name
    if name in TRUTHS:
        return LOGICAL
    if name == "as.integer":
        return WHOLE
    if name == "cut":
        labels = matched_arguments(node).named.get("labels")
        is_code = isinstance(labels, (Constant, Name)) and _kind(labels, {}) == LOGICAL
        return WHOLE if is_code and not flag_of(labels, True) else OTHER
    inside = [_kind(value, kinds) for value in _arguments(node)]
    if OTHER in inside or not inside:
        return OTHER
    if name == "ifelse":
        return WHOLE if WHOLE in inside else LOGICAL
    if name == "cbind":
        return WHOLE if WHOLE in inside else OTHER
    if name in ("(", "I"):
        return inside[0]
    return WHOLE if name in OF_WHOLE else OTHER


def _arguments(node: FunctionCall) -> tuple[Node, ...]:
    if node.name == "ifelse":
        return matched_arguments(node).variables[1:]
    return node.values
