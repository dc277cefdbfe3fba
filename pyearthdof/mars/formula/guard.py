"""Functions, names and sizes allowed in formulas.

A formula is text that R could run. It is parsed, never evaluated, and refused unless every part is known. Its
terms and columns are counted before any computation, because a short text can request more than any
machine can store.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NoReturn

import numpy as np

from ..data.columns import Column, MatrixColumn
from .arguments import (
    NAMED_CONSTANTS,
    NAMED_TEXTS,
    OF_COLUMNS,
    SIGNATURES,
    matched_arguments,
    whole_of,
)
from .functions import FUNCTIONS, SUMMARIES
from .syntax import EMPTY, Constant, FunctionCall, Name, Node, refuse, short_text, shortened
from .terms import OPERATORS, Terms

# columns and numbers limit terms other than plain columns, whose size is that of the data.
LIMITS = {
    "terms": 2000, "depth": 100, "power": 100, "degree": 50, "df": 1000, "functions": 300,
    "columns": 2000, "numbers": 25_000_000, "levels": 1000,
}  # fmt: skip

ARITHMETIC = ("+", "-", "*", "/", "^", "(")
ELEMENTWISE = (
    "I", "log", "log2", "log10", "log1p", "exp", "sqrt", "abs", "sin", "cos", "tan", "pmin", "pmax", "ifelse",
    "as.numeric", "as.integer", "round", "floor", "ceiling", "trunc", "sign", "is.na", "%%", "%/%",
    "findInterval",
)  # fmt: skip
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
LOGICAL = ("!", "&", "|", *COMPARISONS)
FACTORS = (
    "factor", "as.factor", "ordered", "as.ordered", "droplevels", "relevel", "interaction", "cut",
)  # fmt: skip
TEXTS_OF_COLUMNS = ("as.character", "[")  # factors as terms, but not as responses
# Permitted functions by place. "right" is the level of terms on the right-hand side, "left" the outermost
# call on the left one, "value" the inside of a function or bracket of arithmetic, "factor" the same where a
# factor or strings are permitted, "bound" an argument of cbind, "operand" a side of a comparison, which may
# be a string, "constant" a numeric argument such as knots, and "texts" an argument such as labels.
VALUES = (*ARITHMETIC, *ELEMENTWISE, *LOGICAL, "%in%", *SUMMARIES, "quantile")
CONSTANTS = (
    *ARITHMETIC, "c", ":", "seq", "seq_len", "rep", "rev", "%%", "%/%", "log", "log2", "log10",
    "log1p", "exp", "sqrt", "abs", "round", "floor", "ceiling", "trunc", "sign", *OF_COLUMNS,
)  # fmt: skip
CALLS = {
    "right": (*ARITHMETIC, ":", "%in%", *ELEMENTWISE, *LOGICAL, "poly", "bs", "ns", "cbind", "offset",
              "scale", *FACTORS, *TEXTS_OF_COLUMNS),
    "left": (*VALUES, "cbind", "scale", *FACTORS),
    "columns": (*VALUES, "cbind"),
    "value": VALUES,
    "factor": (*VALUES, *FACTORS, *TEXTS_OF_COLUMNS),
    "operand": (*VALUES, *FACTORS, *TEXTS_OF_COLUMNS),
    "bound": (*VALUES, *FACTORS),
    "constant": CONSTANTS,
    "texts": (*CONSTANTS, "["),
}  # fmt: skip
WHERE = {
    "left": "as the response", "constant": "where a number should be", "right": "as a term",
    "texts": "where a text should be",
}  # fmt: skip
# Numbers of arguments; those of FUNCTIONS are in that table, all others take one.
MANY = range(1, 1001)
ARITY = {
    ":": range(2, 3), "%in%": range(2, 3), "poly": MANY, "bs": MANY, "ns": MANY, "c": MANY, "factor": MANY,
    "cut": MANY, "interaction": MANY, "scale": range(1, 4), "ordered": range(1, 4), "seq": range(1, 4),
    "relevel": range(2, 3), "rep": range(2, 4), "[": range(2, 3), "findInterval": range(2, 6),
} | dict.fromkeys(OF_COLUMNS, MANY) | {name: counts for name, (_, counts) in FUNCTIONS.items()}  # fmt: skip
FLAGS = (
    "intercept", "raw", "ordered", "right", "include.lowest", "ordered_result", "na.rm", "names",
    "drop", "lex.order", "rightmost.closed", "all.inside", "left.open",
)  # fmt: skip
TEXTS = ("levels", "labels", "ref", "sep")


def check_sides(left: Node, right: Node, kinds: Mapping[str, str]) -> None:
    """Reject a formula with any unknown part; `kinds` are those of the data's columns."""
    _check(left, "left", kinds)
    _check(right, "right", kinds)


def _check(expression: Node, place: str, kinds: Mapping[str, str]) -> None:
    """Check every node with a stack instead of recursion: a sum is nested as deep as it is long."""
    pieces = [(expression, place, 1)]
    while pieces:
        piece, place, depth = pieces.pop()
        for inside, its_place in reversed(_check_piece(piece, place, kinds)):
            below = depth + 1 if its_place == place else 1
            if below > (LIMITS["terms"] if its_place == "right" else LIMITS["depth"]):
                refuse("it is nested too deeply or has too many terms")
            pieces.append((inside, its_place, below))


def _check_piece(piece: Node, place: str, kinds) -> list[tuple[Node, str]]:
    """Check one node; return its children, each with its place."""
    if piece is EMPTY:
        refuse("an argument of a function is empty")
    if isinstance(piece, Name):
        _check_name(piece.text, place, kinds)
        return []
    if isinstance(piece, FunctionCall):
        return _check_call(piece, place, kinds)
    _check_constant(piece, place)
    return []


def _check_constant(piece: Constant, place: str) -> None:
    value = piece.value
    is_number = isinstance(value, (bool, int, float))
    if place == "texts" or (place == "operand" and isinstance(value, str)):
        if not (isinstance(value, str) or is_number):
            refuse(f"it contains {short_text(piece)} where a text should be")
    elif not is_number:
        needed = "a number" if place == "constant" else "a number, a column or a function"
        refuse(f"it contains {short_text(piece)} where {needed} should be")
    elif place == "right" and value not in (0, 1):
        refuse(f"it has the term {short_text(piece)} but a number as a term should be 0 or 1")


def _check_name(name: str, place: str, kinds: Mapping[str, str]) -> None:
    if name in NAMED_CONSTANTS and name not in kinds and place not in ("left", "right"):
        return
    if name in NAMED_TEXTS and name not in kinds and place == "texts":
        return
    if place in ("constant", "texts"):
        refuse(f"it uses {name} where a {'number' if place == 'constant' else 'text'} should be")
    if name == ".":
        if place != "right":
            refuse("a dot may only be a term on the right-hand side")
    elif name not in kinds:
        refuse(f"the data has no column '{shortened(name)}'")
    elif kinds[name] == "matrix":
        if place not in ("left", "right"):
            refuse(f"the column '{name}' is a matrix, which may only be a term of its own")
    elif place in ("value", "columns") and kinds[name] in ("factor", "ordered"):
        refuse(
            f"the column '{name}' is a factor, which may only be a term of its own, compared, or inside of "
            f"{', '.join(FACTORS[:-1])}, cbind, is.na, as.character, as.numeric and as.integer"
        )


def _check_call(piece: FunctionCall, place: str, kinds) -> list[tuple[Node, str]]:
    name = piece.name
    if not name or name in ("::", ":::"):
        function = piece if name else piece.function
        refuse(f"it calls {short_text(function)}, which is not a supported function")
    if name not in CALLS[place]:
        _refuse_call(name, place)
    if len(piece.args) not in ARITY.get(name, range(1, 2)):
        refuse(f"{name} has {len(piece.args)} argument(s) in {short_text(piece)}")
    if name in SIGNATURES:
        return _check_named(piece, name, place)
    labels = [label for label, _ in piece.args if label is not None]
    if labels and name == "cbind" and "deparse.level" in labels:
        refuse("cbind takes columns only")
    if labels and name != "cbind":
        refuse(f"{short_text(piece)}: {name} takes no argument by the name {labels[0]}")
    if name == "^" and place == "right":
        check_whole(piece.values[1], "an exponent of terms", LIMITS["power"], 2)
        return [(piece.values[0], "right")]
    if name == "[":
        return _check_index(piece, place, kinds)
    if name == "%in%" and place != "right":
        return [(piece.values[0], "factor"), (piece.values[1], "texts")]
    return [(value, _inner_place(name, place)) for value in piece.values]


def _check_index(piece: FunctionCall, place: str, kinds) -> list[tuple[Node, str]]:
    texts, index = piece.values
    if not isinstance(texts, Name) or texts.text not in NAMED_TEXTS or texts.text in kinds:
        refuse(
            f"{short_text(piece)}: only the texts of {', '.join(NAMED_TEXTS)} may be chosen by their numbers"
        )
    return [(index, "constant" if place == "texts" else "factor")]


def _inner_place(name: str, place: str) -> str:
    if place == "constant" or (place == "texts" and name not in ("c", "(", "rev")):
        return "constant"
    if name in COMPARISONS:
        return "operand"
    if name in (
        "as.numeric", "as.integer", "is.na", "as.factor", "as.ordered", "as.character", "droplevels",
    ):  # fmt: skip
        return "factor"
    if name == "cbind":
        return "bound"
    if name in ELEMENTWISE or name in LOGICAL or name == "offset":
        return "value"
    if name == "(" and place == "columns":
        return "columns"
    if place == "texts":
        return "texts"
    if place == "left" and name != "+":
        return "value"
    if place in ("factor", "operand", "bound", "columns") and name != "(":
        return "value"
    return place


def _refuse_call(name: str, place: str) -> NoReturn:
    known = {name for names in CALLS.values() for name in names}
    if name not in known:
        names = [name for name in CALLS["right"] if name != "("]
        refuse(f"it calls {name[:60]}, which is not one of {' '.join(names)}")
    refuse(f"{name} may not stand {WHERE.get(place, 'inside another function')}")


def check_whole(value: Node, what: str, largest: int, smallest: int = 1) -> int:
    """Return an integer from the formula's text."""
    number = value.value if isinstance(value, Constant) else None
    if (
        not isinstance(number, (int, float))
        or not smallest <= number <= largest
        or number != int(number)
    ):
        refuse(
            f"{what} is {short_text(value)} but it should be a whole number from {smallest} to {largest}"
        )
    return int(number)


def _check_named(piece: FunctionCall, name: str, place: str) -> list[tuple[Node, str]]:
    """Return the arguments of functions that take more than variables, by R's matching rules."""
    args = matched_arguments(piece)
    for size in ("degree", "df"):
        if size in args.named:
            check_whole(args.named[size], f"{size} of {name}", LIMITS[size])
    if "dig.lab" in args.named:
        check_whole(args.named["dig.lab"], f"dig.lab of {name}", LIMITS["degree"])
    for flag in FLAGS:
        if flag in args.named:
            _check_flag(args.named[flag], flag, name)
    degree = whole_of(args.named.get("degree"))
    n_variables = min(len(args.variables), 20)
    # R enumerates all combinations of exponents.
    if name == "poly" and n_variables > 1 and (degree + 1) ** n_variables > 1e5:
        refuse(f"{short_text(piece)} has too many columns")
    inner = "columns" if name == "scale" else "factor" if name in FACTORS[:-1] else "value"
    if place in ("constant", "texts") and name not in OF_COLUMNS:
        inner = place if name == "rep" else "constant"
    pieces = [(variable, inner) for variable in args.variables]
    pieces += [(v, "texts" if k in TEXTS else "constant") for k, v in args.named.items()]
    return pieces


def _check_flag(value: Node, flag: str, name: str) -> None:
    given = value.value if isinstance(value, Constant) else None
    if isinstance(value, Name):
        given = NAMED_CONSTANTS.get(value.text)
    if not isinstance(given, (bool, int, float)) or given != given:
        refuse(f"{flag} of {name} is {short_text(value)} but it should be TRUE or FALSE")


def check_terms(right: Node, n_columns: int) -> None:
    """Reject a formula that may have too many terms."""
    count = count_terms(right, n_columns)
    if count > LIMITS["terms"]:
        shown = _whole(count)
        refuse(f"it may make {shown} terms but it should make at most {LIMITS['terms']}")


def count_terms(node: Node, n_columns: int) -> float:
    """Return an upper bound of the number of terms."""
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
    if name == "^":  # all distinct products of at most this many terms
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
    """Reject a formula whose functions and products create too many columns or numbers.

    `numbers` evaluates an argument such as knots.
    """
    columns = dict(columns) | {
        name: Column(name, "factor", matrix.parts) for name, matrix in matrices.items()
    }
    plain = [isinstance(node, Name) for node in terms.variables]
    n_functions = plain.count(False)
    # earth compares all variables pairwise in R, slowly if several come from one column.
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
    check_made("its functions and products", made, n_rows)


def check_made(what: str, made: float, n_rows: int) -> None:
    """Reject too many columns or numbers."""
    shown = _whole(made)
    if made > LIMITS["columns"]:
        refuse(f"{what} make {shown} columns but they should make at most {LIMITS['columns']}")
    if made * n_rows > LIMITS["numbers"]:
        refuse(
            f"{what} make {shown} columns of {n_rows} rows, but at most {LIMITS['numbers']:g} numbers are "
            "taken"
        )


def _whole(number: float) -> str:
    return f"{number:.0f}" if number < 1e15 else f"{number:.3g}"


def _width(node: Node, columns: Mapping[str, Column], numbers) -> int:
    """Return an upper bound of the number of columns of a variable."""
    if isinstance(node, Name):
        return max(1, len(columns[node.text].levels))
    if isinstance(node, Constant):
        return 1
    name = node.name
    if name == "cbind":
        return len(node.args)
    if name == "scale":
        return _width(node.values[0], columns, numbers)
    if name in (*FACTORS, *TEXTS_OF_COLUMNS):
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
    """Limit the levels of factor() once they are known."""
    if name != "cut":
        return 2
    return len(numbers(matched_arguments(node).named["breaks"]))
