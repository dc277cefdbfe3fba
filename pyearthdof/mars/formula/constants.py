"""Constants of a formula: what knots, breaks and labels are given as."""

from __future__ import annotations

import numpy as np

from .deparse import short_text
from .syntax import Constant, FunctionCall, Name, Node
from .tokens import refuse

__all__ = ["constant_numbers", "constant_texts", "count_numbers", "flag_of"]

OPERATIONS = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "^": np.power}


def count_numbers(node: Node | None) -> int:
    """How many numbers a constant holds: those of c(), and of the longest part of arithmetic."""
    if not isinstance(node, FunctionCall):
        return 0 if node is None or (isinstance(node, Constant) and node.value is None) else 1
    counts = [count_numbers(value) for value in node.values]
    return sum(counts) if node.name == "c" else max(counts, default=0)


def constant_numbers(node: Node | None) -> np.ndarray:
    """The numbers of a constant that the guard has let pass."""
    if node is None or isinstance(node, Name):
        refuse(f"it uses {short_text(node)} where a number should be")
    if isinstance(node, Constant):
        return np.array([float(node.value)])
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


def constant_texts(node: Node | None) -> list[str | float | bool]:
    """The texts, or numbers, of a constant that the guard has let pass."""
    if isinstance(node, Constant):
        return [node.value]
    if node.name == "-":
        return constant_numbers(node).tolist()
    return [text for value in node.values for text in constant_texts(value)]


def flag_of(node: Node | None, default: bool) -> bool:
    """A truth value."""
    return default if node is None else bool(node.value)
