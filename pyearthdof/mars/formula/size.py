"""How much a formula makes, counted before anything is computed.

A short text can ask for more terms or columns than any machine holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from ..data.columns import Column, MatrixColumn
from .arguments import matched_arguments
from .constants import whole_of
from .guard import FACTORS, LIMITS
from .syntax import Constant, FunctionCall, Name, Node
from .terms import OPERATORS, Terms
from .tokens import refuse

__all__ = ["check_columns", "check_terms", "count_terms"]


def check_terms(right: Node, n_columns: int) -> None:
    """Refuse a formula that may make too many terms."""
    count = count_terms(right, n_columns)
    if count > LIMITS["terms"]:
        shown = _whole(count)
        refuse(f"it may make {shown} terms but it should make at most {LIMITS['terms']}")


def count_terms(node: Node, n_columns: int) -> float:
    """An upper bound of the number of terms."""
    chain = []
    while isinstance(node, FunctionCall) and node.name in OPERATORS:
        chain.append(node)
        node = node.values[0]
    count = float(n_columns if node == Name(".") else 1)
    for operation in reversed(chain):
        if len(operation.args) == 2:
            count = _joined(operation, count, n_columns)
    return count


def _joined(operation: FunctionCall, count: float, n_columns: int) -> float:
    name, right = operation.name, operation.values[1]
    if name == "^":  # all different products of at most so many terms
        most = int(min(whole_of(right), count))
        if count > LIMITS["terms"]:
            return count
        return float(sum(math.comb(int(count), k) for k in range(1, most + 1)))
    other = count_terms(right, n_columns)
    if name in ("+", "-", "/"):
        return count + other
    return count * other if name in (":", "%in%") else count + other + count * other


def check_columns(
    terms: Terms,
    columns: Mapping[str, Column],
    n_rows: int,
    matrices: Mapping[str, MatrixColumn],
    numbers: Callable[[Node], np.ndarray],
) -> None:
    """Refuse a formula whose functions and products make too much of the data.

    `numbers` computes an argument such as knots.
    """
    columns = dict(columns) | {
        name: Column(name, "factor", matrix.parts) for name, matrix in matrices.items()
    }
    plain = [isinstance(node, Name) for node in terms.variables]
    n_functions = plain.count(False)
    # earth compares all variables with each other in R, slowly where several are made of one column.
    if n_functions > LIMITS["functions"]:
        refuse(
            f"it has {n_functions} different functions but it should have at most {LIMITS['functions']}"
        )
    widths = [_width(node, columns, numbers) for node in terms.variables]
    made = sum(
        math.prod(float(widths[k]) for k in term)
        for term in terms.terms
        if len(term) > 1 or not plain[term[0]]
    )
    shown = _whole(made)
    if made > LIMITS["columns"]:
        refuse(
            f"its functions and products make {shown} columns but they should make at most "
            f"{LIMITS['columns']}"
        )
    if made * n_rows > LIMITS["numbers"]:
        refuse(
            f"its functions and products make {shown} columns of {n_rows} rows, but at most "
            f"{LIMITS['numbers']:g} numbers are taken"
        )


def _whole(number: float) -> str:
    return f"{number:.0f}" if number < 1e15 else f"{number:.3g}"


def _width(node: Node, columns: Mapping[str, Column], numbers) -> int:
    """How many columns a variable makes, or a few more."""
    if isinstance(node, Name):
        return max(1, len(columns[node.text].levels))
    if isinstance(node, Constant):
        return 1
    name = node.name
    if name == "cbind":
        return len(node.args)
    if name == "scale":
        return _width(node.values[0], columns, numbers)
    if name in FACTORS:
        return _levels(node, name, numbers)
    if name not in ("poly", "bs", "ns"):
        return 1
    args = matched_arguments(node)
    degree = whole_of(args.named.get("degree"), 1 if name == "poly" else 3)
    if name == "poly":
        return math.comb(len(args.variables) + degree, degree) - 1
    df = whole_of(args.named.get("df"), 0)
    n_knots = len(numbers(args.named["knots"])) if "knots" in args.named else 0
    return 1 + degree + max(n_knots, df)


def _levels(node: FunctionCall, name: str, numbers) -> int:
    """The levels of factor() are counted when it has them."""
    if name != "cut":
        return 2
    return len(numbers(matched_arguments(node).named["breaks"]))
