"""R's update of a formula: a dot stands for the side of the old one."""

from __future__ import annotations

from ..._utils.checks import refusal
from .deparse import r_text
from .syntax import FunctionCall, Name, Node, call, parsed_formula

__all__ = ["updated_formula"]


def updated_formula(old: str, new: str) -> str:
    """The text of a new formula in which dots stand for the old left and right side.

    >>> updated_formula("y ~ x + z", "log(.) ~ . - z")
    'log(y) ~ (x + z) - z'
    """
    if not isinstance(new, str):
        raise refusal("formula", new, "text such as '. ~ . - x'")
    old_sides, new_sides = parsed_formula(old), parsed_formula(new)
    left = _replaced(new_sides[0], old_sides[0])
    right = _replaced(new_sides[1], call("(", old_sides[1]))
    return f"{r_text(left)} ~ {r_text(right)}"


def _replaced(node: Node, by: Node) -> Node:
    """A long sum is nested as deep as it is long, so its left side is walked."""
    chain = []
    while isinstance(node, FunctionCall) and node.args:
        chain.append(node)
        node = node.values[0]
    found = by if node == Name(".") else node
    for outer in reversed(chain):
        rest = tuple((label, _replaced(value, by)) for label, value in outer.args[1:])
        found = FunctionCall(outer.function, ((outer.args[0][0], found), *rest))
    return found
