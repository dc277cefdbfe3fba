"""The arguments of the functions that take more than variables, matched by R's rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .deparse import short_text
from .syntax import Constant, FunctionCall, Node, variables_in
from .tokens import refuse

__all__ = ["SIGNATURES", "Arguments", "matched_arguments"]

# What may be given, the same whatever R's own version knows beside it. A variable is called x.
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
NEEDED = {"cut": "breaks", "relevel": "ref"}
OR_NULL = ("df", "knots", "labels")  # NULL is the same as nothing
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
    """The variables of a call, and what else was given to it by name or by place."""

    variables: tuple[Node, ...]
    named: Mapping[str, Node]


def matched_arguments(piece: FunctionCall) -> Arguments:
    """Match the arguments of one of SIGNATURES: exact names, beginnings of names, then places."""
    name = piece.name
    given = _matched(piece, SIGNATURES[name])
    given = {part: v for part, v in given.items() if part not in OR_NULL or not _is_null(v)}
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
    variables = tuple(value for _, value in _unnamed(piece, given.pop("...", [])))
    if "x" in given:
        variables = (given.pop("x"),)
    if not variables:
        refuse(f"{short_text(piece)} has no variable")
    if name in NEEDED and NEEDED[name] not in given:
        refuse(f"{short_text(piece)} has no {NEEDED[name]}")
    return Arguments(variables, given)


def _unnamed(piece: FunctionCall, dots: list) -> list:
    """What a function takes any number of, none of which has a name."""
    for label, _ in dots:
        if label is not None:
            refuse(f"{short_text(piece)}: {piece.name} takes no argument by the name {label}")
    return dots


def _matched(piece: FunctionCall, signature: tuple[str, ...]) -> dict:
    """By name to value; what is left over for dots is a list under that name."""
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


def _is_null(value) -> bool:
    return isinstance(value, Constant) and value.value is None


def _put(piece, found, label, value) -> None:
    if label in found:
        refuse(f"{short_text(piece)}: argument {label} is given twice")
    found[label] = value


def _poly(piece: FunctionCall, given: dict) -> Arguments:
    """poly(x, 2) and poly(x, z, degree = 2): what follows x is the degree or more variables."""
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
