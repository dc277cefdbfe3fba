"""Constants of a formula: what knots, breaks and labels are given as."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..native.elementary import power
from .deparse import short_text
from .syntax import EMPTY, Constant, FunctionCall, Name, Node, Value
from .tokens import refuse

__all__ = [
    "constant_numbers",
    "constant_texts",
    "count_numbers",
    "flag_of",
    "number_of",
    "whole_of",
]

OPERATIONS: dict[str, Callable] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "^": power,
}  # fmt: skip


def count_numbers(node: Node) -> int:
    """How many numbers a constant holds: those of c(), and of the longest part of arithmetic."""
    if not isinstance(node, FunctionCall):
        return 0 if node is EMPTY or (isinstance(node, Constant) and node.value is None) else 1
    counts = [count_numbers(value) for value in node.values]
    return sum(counts) if node.name == "c" else max(counts, default=0)


def number_of(node: Constant) -> float:
    """The number of a constant that the guard has let pass."""
    if not isinstance(node.value, (int, float)):
        refuse(f"it holds {short_text(node)} where a number should be")
    return float(node.value)


def constant_numbers(node: Node) -> np.ndarray:
    """The numbers of a constant that the guard has let pass."""
    if isinstance(node, Name):
        refuse(f"it uses {short_text(node)} where a number should be")
    if isinstance(node, Constant):
        return np.array([number_of(node)])
    parts = [constant_numbers(value) for value in node.values]
    if node.name == "c":
        return np.concatenate(parts)
    if node.name == "(":
        return parts[0]
    if len(parts) == 1:
        return -parts[0] if node.name == "-" else parts[0]
    longest = max(map(len, parts))
    with np.errstate(all="ignore"):
        return OPERATIONS[node.name](*(np.resize(part, longest) for part in parts))


def constant_texts(node: Node) -> list[Value]:
    """The texts, or numbers, of a constant that the guard has let pass."""
    if isinstance(node, Constant):
        return [node.value]
    if isinstance(node, Name):
        refuse(f"it uses {short_text(node)} where a text should be")
    if node.name == "-":
        return constant_numbers(node).tolist()
    return [text for value in node.values for text in constant_texts(value)]


def flag_of(node: Node | None, default: bool) -> bool:
    """A truth value."""
    return default if node is None else bool(constant_numbers(node)[0])


def whole_of(node: Node | None, default: int = 1) -> int:
    """A whole number."""
    return default if node is None else int(constant_numbers(node)[0])
