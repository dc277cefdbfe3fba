"""Arguments of functions beyond their variables: matching by R's rules, and constants."""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from .functions import FUNCTIONS, SUMMARIES
from .syntax import Constant, FunctionCall, Name, Node, Value, refuse, short_text, variables_in

# The permitted arguments, independent of R's version. A variable is called x.
SIGNATURES = {
    "log": ("x", "base"),
    "ifelse": ("test", "yes", "no"),
    "poly": ("x", "...", "degree", "coefs", "raw", "simple"),
    "bs": ("x", "df", "knots", "degree", "intercept", "Boundary.knots"),
    "ns": ("x", "df", "knots", "intercept", "Boundary.knots"),
    "factor": ("x", "levels", "labels", "exclude", "ordered", "nmax"),
    "ordered": ("x", "levels", "labels", "exclude", "nmax"),
    "relevel": ("x", "ref"),
    "interaction": ("...", "drop", "sep", "lex.order"),
    "cut": ("x", "breaks", "labels", "include.lowest", "right", "dig.lab", "ordered_result"),
    "scale": ("x", "center", "scale"),
    "round": ("x", "digits"),
    "findInterval": ("x", "vec", "rightmost.closed", "all.inside", "left.open"),
    "mean": ("x", "trim", "na.rm"),
    "median": ("x", "na.rm"),
    "sd": ("x", "na.rm"),
    "var": ("x", "y", "na.rm", "use"),
    "min": ("...", "na.rm"),
    "max": ("...", "na.rm"),
    "sum": ("...", "na.rm"),
    "range": ("...", "na.rm"),
    "quantile": ("x", "probs", "na.rm", "names", "type"),
    "seq": ("from", "to", "by", "length.out"),
    "seq_len": ("length.out",),
    "rep": ("x", "times", "each"),
}
REFUSED = {
    "poly": ("coefs", "simple"),
    "factor": ("exclude", "nmax"),
    "ordered": ("exclude", "nmax"),
    "mean": ("trim",),
    "var": ("y", "use"),
    "quantile": ("type",),
}
NEEDED = {"cut": "breaks", "relevel": "ref", "findInterval": "vec"}
OR_NULL = ("df", "knots", "labels")  # NULL is the same as an omitted argument
TAKES = {
    "poly": "variables, degree and raw",
    "factor": "a variable, levels, labels and ordered",
    "ordered": "a variable, levels and labels",
    "mean": "a variable and na.rm",
    "var": "a variable and na.rm",
    "quantile": "a variable, probs and na.rm",
}


@dataclass(frozen=True)
class Arguments:
    """The variables of a call, and its other arguments by name or position."""

    variables: tuple[Node, ...]
    named: Mapping[str, Node]


def matched_arguments(piece: FunctionCall) -> Arguments:
    """Match the arguments of one of SIGNATURES: exact names, beginnings of names, then positions."""
    name = piece.name
    given = _matched(piece, SIGNATURES[name])
    nothing = [part for part in OR_NULL if isinstance(given.get(part), Constant)]
    for part in nothing:
        if given[part].value is None:
            del given[part]
    if name == "ifelse":
        missing = [part for part in SIGNATURES[name] if part not in given]
        if missing:
            refuse(f"{short_text(piece)} has no {missing[0]}")
        return Arguments(tuple(given[part] for part in SIGNATURES[name]), {})
    if name == "poly":
        return _poly(piece, given)
    for odd in REFUSED.get(name, ()):
        if odd in given:
            refuse(f"{short_text(piece)}: {name} takes {TAKES[name]}")
    if name in ("seq", "seq_len"):
        return Arguments((), given)
    dots = given.pop("...", [])  # without names
    for label, _ in dots:
        if label is not None:
            refuse(f"{short_text(piece)}: {name} takes no argument by the name {label}")
    variables = tuple(value for _, value in dots)
    if "x" in given:
        variables = (given.pop("x"),)
    if not variables:
        refuse(f"{short_text(piece)} has no variable")
    if name in NEEDED and NEEDED[name] not in given:
        refuse(f"{short_text(piece)} has no {NEEDED[name]}")
    return Arguments(variables, given)


def _matched(piece: FunctionCall, signature: tuple[str, ...]) -> dict:
    """Return values by name; the rest for dots is a list under that name."""
    dots = signature.index("...") if "..." in signature else len(signature)
    found: dict = {}
    left = []
    for label, value in piece.args:
        if label in signature and label != "...":
            _put(piece, found, label, value)
        else:
            left.append((label, value))
    rest = []
    for label, value in left:
        beginnings = [
            part
            for part in signature[:dots]
            if label and part.startswith(label) and part not in found
        ]
        if len(beginnings) > 1:
            refuse(f"{short_text(piece)}: argument {label} matches several of its arguments")
        if beginnings:
            _put(piece, found, beginnings[0], value)
        else:
            rest.append((label, value))
    free = [part for part in signature[:dots] if part not in found]
    for label, value in rest:
        if label is None and free:
            found[free.pop(0)] = value
        elif dots < len(signature):
            found.setdefault("...", []).append((label, value))
        else:
            shown = short_text(value) if label is None else f"{label} = {short_text(value)}"
            refuse(f"{short_text(piece)}: unused argument ({shown})")
    return found


def _put(piece, found, label, value) -> None:
    if label in found:
        refuse(f"{short_text(piece)}: argument {label} is given twice")
    found[label] = value


def _poly(piece: FunctionCall, given: dict) -> Arguments:
    """Match poly(x, 2) and poly(x, z, degree = 2): further arguments are the degree or more variables."""
    if "x" not in given:
        refuse(f"{short_text(piece)} has no variable")
    dots = given.pop("...", [])
    odd = any(label is not None for label, _ in dots) or not {"coefs", "simple"}.isdisjoint(given)
    variables = [given.pop("x")]
    values = [value for _, value in dots]
    if len(values) == 1 and isinstance(values[0], Constant) and dots[0][0] is None:
        given["degree"] = values.pop()
    for value in values:
        if not variables_in(value):
            refuse(f"{short_text(piece)} has an odd degree or variable")
    if odd:
        refuse(f"{short_text(piece)}: poly takes {TAKES['poly']}")
    return Arguments((*variables, *values), given)


NAMED_CONSTANTS: dict[str, Value] = {"pi": math.pi, "T": True, "F": False}
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
NAMED_TEXTS = {
    "letters": tuple(string.ascii_lowercase),
    "LETTERS": tuple(string.ascii_uppercase),
    "month.abb": tuple(month[:3] for month in MONTHS),
    "month.name": MONTHS,
}
OF_COLUMNS = (*SUMMARIES, "quantile", "range")  # functions of whole columns
MAX_NUMBERS = 10_000
FUZZ = 1e-10  # tolerance of R's sequences beyond their end

# Evaluates one of OF_COLUMNS.
Summarise = Callable[[FunctionCall], np.ndarray]


def _no_columns(node: FunctionCall) -> NoReturn:
    refuse(f"it uses {short_text(node)} where a number should be")


def number_of(node: Constant) -> float:
    """Return the number of a constant accepted by the guard."""
    return _number_of_value(node.value, node)


def constant_numbers(node: Node, summarise: Summarise = _no_columns) -> np.ndarray:
    """Return the numbers of a constant accepted by the guard."""
    return np.array([_number_of_value(value, node) for value in constant_values(node, summarise)])


def constant_values(node: Node, summarise: Summarise = _no_columns) -> list[Value]:
    """Return the numbers, booleans or strings of a constant accepted by the guard."""
    if isinstance(node, Constant):
        return [node.value]
    if isinstance(node, Name):
        return list(NAMED_TEXTS.get(node.text) or [NAMED_CONSTANTS[node.text]])
    name = node.name
    if name == "[":
        return list(texts_at(node, constant_numbers(node.values[1], summarise)))
    if name == "(":
        return constant_values(node.values[0], summarise)
    if name == "c":
        return _combined(node, summarise)
    if name == "rev":
        return constant_values(node.values[0], summarise)[::-1]
    if name == "rep":
        return _repeated(node, summarise)
    if name in OF_COLUMNS:
        found = summarise(node)
    elif name in ("seq", "seq_len"):
        found = _sequence(node, summarise)
    else:
        found = _computed(node, summarise)
    return found.tolist()


def texts_at(node: FunctionCall, numbers: np.ndarray) -> tuple[str, ...]:
    """Return elements of one of NAMED_TEXTS by 1-based index, with fractions truncated as in R."""
    texts = constant_values(node.values[0])
    for number in numbers:
        if not 1 <= number < len(texts) + 1:
            refuse(
                f"{short_text(node)} has the index {number:g} but it should be 1 to {len(texts)}"
            )
    return tuple(str(texts[int(number) - 1]) for number in numbers)


def _combined(node: FunctionCall, summarise: Summarise) -> list[Value]:
    values: list[Value] = []
    for part in node.values:
        values += constant_values(part, summarise)
        _check_count(node, len(values))
    is_mixed = len({type(value) for value in values}) > 1
    if is_mixed and not any(isinstance(value, str) for value in values):
        return [_number_of_value(value, node) for value in values]
    return values


def _repeated(node: FunctionCall, summarise: Summarise) -> list[Value]:
    args = matched_arguments(node)
    values = constant_values(args.variables[0], summarise)
    times, each = (
        _whole_number(node, part, args.named.get(part), summarise) for part in ("times", "each")
    )
    _check_count(node, float(len(values)) * times * each)
    return [value for value in values for _ in range(each)] * times


def _whole_number(node, part: str, given: Node | None, summarise: Summarise) -> int:
    if given is None:
        return 1
    numbers = constant_numbers(given, summarise)
    if len(numbers) != 1 or not 1 <= numbers[0] <= MAX_NUMBERS:
        refuse(f"{short_text(node)}: {part} should be a number from 1 to {MAX_NUMBERS}")
    return int(numbers[0])


def _computed(node: FunctionCall, summarise: Summarise) -> np.ndarray:
    """Evaluate arithmetic and functions of numbers, recycling the shorter ones."""
    parts = [constant_numbers(value, summarise) for value in node.values]
    if node.name == ":":
        return _steps(node, *(_single(node, part) for part in parts))
    longest = max(map(len, parts))
    with np.errstate(all="ignore"):
        function = FUNCTIONS[node.name][0]
        if node.name == "round":
            return function(parts[0], *(_single(node, part) for part in parts[1:]))
        return np.asarray(function(*(np.resize(part, longest) for part in parts)), dtype=float)


def _sequence(node: FunctionCall, summarise: Summarise) -> np.ndarray:
    """R's seq: by a step, by a number of values, or in steps of one."""
    named = {
        part: _single(node, constant_numbers(value, summarise))
        for part, value in matched_arguments(node).named.items()
    }
    if len(named) == 1 and "from" in named:
        return _steps(node, 1.0, named["from"])
    start, end, step = (named.get(part) for part in ("from", "to", "by"))
    if "length.out" in named:
        return _spaced(node, start, end, step, named["length.out"])
    start, end = (1.0 if value is None else value for value in (start, end))
    if step is None:
        return _steps(node, start, end)
    count = (end - start) / step if step else math.nan
    if not count >= 0:
        refuse(f"{short_text(node)}: by={step:g} does not lead from {start:g} to {end:g}")
    _check_count(node, count)
    found = start + np.arange(int(count + FUZZ) + 1) * step
    return np.minimum(found, end) if step > 0 else np.maximum(found, end)


def _spaced(node, start, end, step, length: float) -> np.ndarray:
    length = math.ceil(length)
    if length < 1:
        refuse(f"{short_text(node)}: length.out should be at least 1")
    _check_count(node, length)
    if step is not None:
        if start is not None and end is not None:
            refuse(f"{short_text(node)} has too many arguments")
        if end is not None:
            return end - np.arange(length)[::-1] * step
        return (1.0 if start is None else start) + np.arange(length) * step
    if start is None and end is None:
        return np.arange(1.0, length + 1)
    if end is None:
        end = start + (length - 1)
    if start is None:
        start = end - (length - 1)
    found = start + np.arange(length) * ((end - start) / max(1, length - 1))
    found[-1] = end if length > 1 else start
    return found


def _steps(node, start: float, end: float) -> np.ndarray:
    count = math.floor(abs(end - start) + FUZZ) + 1
    _check_count(node, count)
    return start + np.arange(count) * (1.0 if start <= end else -1.0)


def _single(node, numbers: np.ndarray) -> float:
    if len(numbers) != 1 or not np.isfinite(numbers[0]):
        refuse(f"{short_text(node)} should have single, finite numbers")
    return float(numbers[0])


def _check_count(node, count: float) -> None:
    if not 1 <= max(count, 1) <= MAX_NUMBERS:
        refuse(
            f"{short_text(node)} makes {count:.0f} values but it should make at most {MAX_NUMBERS}"
        )


def _number_of_value(value: Value, node: Node) -> float:
    if not isinstance(value, (int, float)):
        shown = short_text(node if isinstance(node, Constant) else Constant(value, str(value)))
        refuse(f"it contains {shown} where a number should be")
    return float(value)


def flag_of(node: Node | None, default: bool) -> bool:
    """Return a truth value."""
    return default if node is None else bool(constant_numbers(node)[0])


def whole_of(node: Node | None, default: int = 1) -> int:
    """Return a whole number."""
    return default if node is None else int(constant_numbers(node)[0])
