"""Formulas as plain values, from files that may come from strangers: anything unexpected is refused."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...exceptions import InvalidInputError
from .. import reading as saved
from ..data.columns import KINDS, check_ordered
from .dates import UNITS
from .expression import (
    Call,
    Codes,
    Cut,
    DateColumn,
    Expression,
    Levels,
    Number,
    Poly,
    RawColumn,
    Scaled,
    Spline,
    Summary,
)
from .functions import FUNCTIONS, SUMMARIES
from .variable import Variable

__all__ = ["read_list", "read_offset", "read_term", "read_variable", "variable_from_r"]

# R's guard stops before: nested calls, degrees, exponents of poly of several variables.
MAX_DEPTH, MAX_DEGREE, MAX_EXPONENTS = 120, 50, 1e5
MAX_KNOTS = MAX_ARGUMENTS = 1000
MAX_LEVELS = 100_000  # of factor and cut
LARGEST = 1e150  # a coefficient of polynomials beyond makes all of them infinite


def read_list(name: str, value) -> list:
    """A list, refused by its name otherwise."""
    if not isinstance(value, list):
        raise InvalidInputError(f"{name} of the formula should be a list")
    return value


def read_variable(entry) -> Variable:
    """What `Variable.to_dict` gave."""
    if not isinstance(entry, Mapping) or set(entry) != {"label", "kind", "levels", "expression"}:
        raise InvalidInputError(
            "a variable of the formula should have label, kind, levels, expression"
        )
    label = saved.read_text("a label of the formula", entry["label"])
    levels = saved.read_texts("levels of the formula", entry["levels"])
    expression, kind = read_expression(entry["expression"]), entry["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidInputError(f"{label[:40]!r} in the formula has an unknown kind")
    is_factor = kind in ("factor", "ordered")
    if (len(levels) >= 2) != is_factor or (levels and not is_factor):
        raise InvalidInputError(f"{label[:40]!r} in the formula has the wrong number of levels")
    check_ordered(f"{label[:40]!r} in the formula", kind, levels)
    if len(set(levels)) < len(levels):
        raise InvalidInputError(f"the levels of {label[:40]!r} in the formula should be different")
    known = isinstance(expression, RawColumn) or _gives_codes(expression, len(levels))
    if (is_factor and not known) or (kind == "logical" and expression.n_columns != 1):
        raise InvalidInputError(f"{label[:40]!r} in the formula should be a single column")
    return Variable(label, kind, levels, expression)


def _gives_codes(expression: Expression, n_levels: int) -> bool:
    """Whether an expression computes codes of so many levels."""
    if isinstance(expression, Levels):
        return len(expression.values) == n_levels
    return isinstance(expression, Cut) and len(expression.breaks) - 1 == n_levels


def read_term(entry, variables) -> tuple[tuple[int, int], ...]:
    """A term: pairs of the position of a variable and its coding."""
    pairs = []
    for pair in read_list("a term", entry):
        values = saved.read_indices("a term of the formula", pair).tolist()
        if len(values) != 2 or not 0 <= values[0] < len(variables) or values[1] not in (1, 2):
            raise InvalidInputError(
                "a term of the formula should hold pairs of variable and coding"
            )
        pairs.append((values[0], values[1]))
    if not pairs or len({v for v, _ in pairs}) < len(pairs):
        raise InvalidInputError("a term of the formula should hold one variable or more, each once")
    return tuple(pairs)


def read_offset(value, variables) -> int | None:
    """The position of the variable that is the offset, or None."""
    if value is None:
        return None
    index = saved.read_integer("offset of the formula", value)
    if not 0 <= index < len(variables) or variables[index].kind != "number":
        raise InvalidInputError("offset of the formula should be the position of a number")
    if variables[index].expression.n_columns != 1:
        raise InvalidInputError("offset of the formula should be one column")
    return index


def variable_from_r(found) -> dict:
    """The entries of `read_variable` from R's, in which every value is a vector."""
    return {
        "label": found["label"][0],
        "kind": found["kind"][0],
        "levels": list(found["levels"] or ()),
        "expression": _expression_from_r(found["expression"]),
    }


def _expression_from_r(found) -> dict:
    if "column" in found:
        return {"column": found["column"][0]}
    if "number" in found:
        return {"number": float(found["number"][0])}
    entry = {"call": found["call"][0], "args": [_expression_from_r(a) for a in found["args"]]}
    if entry["call"] == "poly":
        coefficients = {k: found[k].tolist() if k in found else None for k in ("alpha", "norm2")}
        return entry | {"degree": int(found["degree"][0])} | coefficients
    if entry["call"] in ("bs", "ns"):
        entry |= {k: found[k].tolist() for k in ("knots", "boundary")}
        entry |= {"degree": int(found["degree"][0]), "intercept": found["intercept"]}
    if "dropped" in found:
        entry |= {"dropped": found["dropped"], "shares": found["shares"].tolist()}
    return entry


def read_expression(entry, depth: int = 1) -> Expression:
    """Read `to_dict`'s result of an expression; anything else is refused."""
    if not isinstance(entry, Mapping):
        raise InvalidInputError("an expression of the formula should be a mapping")
    if depth > MAX_DEPTH:
        raise InvalidInputError("an expression of the formula is nested too deeply")
    if set(entry) == {"column"}:
        return RawColumn(saved.read_text("a column of the formula", entry["column"]))
    if set(entry) == {"number"}:
        return Number(saved.read_number("a number of the formula", entry["number"]))
    if set(entry) == {"date", "unit"}:
        return _read_date(entry)
    if set(entry) == {"codes", "levels", "ordered"}:
        return _read_codes(entry)
    function = entry.get("call")
    if function == "factor":
        return _read_levels(entry, depth)
    if function == "cut":
        return _read_cut(entry, depth)
    if isinstance(function, str) and function in (*SUMMARIES, "quantile"):
        return _read_summary(entry, depth)
    if depth == 1 and function == "scale":
        return _read_scaled(entry)
    if depth == 1 and function == "poly":
        return _read_poly(entry)
    if depth == 1 and function in ("bs", "ns"):
        return _read_spline(entry)
    if not isinstance(function, str) or function not in FUNCTIONS or set(entry) != {"call", "args"}:
        raise InvalidInputError(f"the formula uses {str(function)[:40]!r}, which is not known here")
    if function == "cbind" and depth > 1:
        raise InvalidInputError("the formula uses cbind inside another function")
    args = _read_arguments(entry, depth)
    if len(args) not in FUNCTIONS[function][1]:
        raise InvalidInputError(f"the formula gives {function} {len(args)} argument(s)")
    if function == "round" and not all(isinstance(digits, Number) for digits in args[1:]):
        raise InvalidInputError("the formula rounds to digits that are no number")
    return Call(function, args)


def _read_summary(entry, depth: int) -> Summary:
    _check_keys(entry, {"call", "args", "dropped", "shares"})
    args = _read_arguments(entry, depth)
    shares = saved.read_vector("shares", entry["shares"])
    wanted = 1 if entry["call"] == "quantile" else 0
    if not isinstance(entry["dropped"], bool) or len(shares) != wanted:
        raise InvalidInputError(f"{entry['call']} in the formula has the wrong shares or dropped")
    if not ((shares >= 0) & (shares <= 1)).all():
        raise InvalidInputError(f"{entry['call']} in the formula has the wrong shares or dropped")
    return Summary(entry["call"], args, entry["dropped"], tuple(shares.tolist()))


def _read_date(entry) -> DateColumn:
    unit = entry["unit"]
    if not isinstance(unit, str) or unit not in UNITS:
        raise InvalidInputError(f"a date of the formula is counted in {str(unit)[:40]!r}")
    return DateColumn(saved.read_text("a column of the formula", entry["date"]), unit)


def _read_codes(entry) -> Codes:
    name = saved.read_text("a column of the formula", entry["codes"])
    levels = saved.read_texts("levels of the formula", entry["levels"])
    if not levels or len(set(levels)) < len(levels) or not isinstance(entry["ordered"], bool):
        raise InvalidInputError(f"the factor {name[:40]!r} in the formula has the wrong levels")
    return Codes(name, levels, entry["ordered"])


def _read_levels(entry, depth: int) -> Levels:
    _check_keys(entry, {"call", "args", "values"})
    args = _read_variables(entry, depth)
    values = saved.read_vector("values", entry["values"])
    if len(args) != 1 or not 1 <= len(values) <= MAX_LEVELS or len(set(values)) < len(values):
        raise InvalidInputError(
            "factor in the formula should have one variable and distinct values"
        )
    if not np.isfinite(values).all():
        raise InvalidInputError("factor in the formula has values that are not finite numbers")
    return Levels(args[0], tuple(values.tolist()))


def _read_cut(entry, depth: int) -> Cut:
    _check_keys(entry, {"call", "args", "breaks", "right", "lowest"})
    args = _read_variables(entry, depth)
    breaks = saved.read_vector("breaks", entry["breaks"])
    flags = (entry["right"], entry["lowest"])
    if len(args) != 1 or not all(isinstance(flag, bool) for flag in flags):
        raise InvalidInputError("cut in the formula should have one variable, right and lowest")
    if not 2 <= len(breaks) <= MAX_LEVELS or not (np.diff(breaks) > 0).all():
        raise InvalidInputError("cut in the formula should have ascending breaks")
    return Cut(args[0], tuple(breaks.tolist()), *flags)


def _read_scaled(entry) -> Scaled:
    _check_keys(entry, {"call", "args", "center", "scale"})
    args = _read_variables(entry)
    center, scale = (saved.read_vector(name, entry[name]) for name in ("center", "scale"))
    sizes = len(center) == len(scale) == len(args)
    if not sizes or not (np.isfinite(center).all() and np.isfinite(scale).all() and scale.all()):
        raise InvalidInputError("scale in the formula has the wrong center or scale")
    return Scaled(args, tuple(center.tolist()), tuple(scale.tolist()))


def _read_arguments(entry, depth: int) -> tuple[Expression, ...]:
    args = entry["args"]
    if not isinstance(args, list) or not 1 <= len(args) <= MAX_ARGUMENTS:
        raise InvalidInputError(
            f"a function in the formula should have a list of 1 to {MAX_ARGUMENTS} arguments"
        )
    return tuple(read_expression(argument, depth + 1) for argument in args)


def _read_poly(entry) -> Poly:
    _check_keys(entry, {"call", "args", "degree", "alpha", "norm2"})
    args, degree = _read_variables(entry), _read_degree(entry)
    if len(args) > 1 and (degree + 1.0) ** min(len(args), 20) > MAX_EXPONENTS:
        raise InvalidInputError("poly in the formula has too many columns")
    if entry["alpha"] is None and entry["norm2"] is None:
        return Poly(args, degree, None, None)
    alpha, norm2 = (_read_finite(name, entry[name]) for name in ("alpha", "norm2"))
    n = len(args)
    if alpha.shape != (n, degree) or norm2.shape != (n, degree + 2) or (norm2 <= 0).any():
        raise InvalidInputError("poly in the formula has the wrong alpha or norm2")
    return Poly(args, degree, _tuples(alpha), _tuples(norm2))


def _read_spline(entry) -> Spline:
    _check_keys(entry, {"call", "args", "knots", "boundary", "degree", "intercept"})
    args, degree, function = _read_variables(entry), _read_degree(entry), entry["call"]
    knots, boundary = saved.read_vector("knots", entry["knots"]), entry["boundary"]
    boundary = saved.read_vector("boundary", boundary)
    if len(args) != 1 or not isinstance(entry["intercept"], bool) or len(boundary) != 2:
        raise InvalidInputError(f"{function} in the formula should have one variable and two ends")
    if len(knots) > MAX_KNOTS:
        raise InvalidInputError(
            f"{function} in the formula has {len(knots)} knots but it should have at most {MAX_KNOTS}"
        )
    every = np.concatenate([boundary, knots])
    if not np.isfinite(every).all() or (np.diff(knots) < 0).any() or boundary[0] >= boundary[1]:
        raise InvalidInputError(
            f"{function} in the formula should have finite, ascending knots and ends"
        )
    if function == "ns" and degree != 3:
        raise InvalidInputError(f"ns in the formula has degree {degree} but it should be 3")
    ends = (float(boundary[0]), float(boundary[1]))
    return Spline(function, args[0], tuple(knots.tolist()), ends, degree, entry["intercept"])


def _read_variables(entry, depth: int = 1) -> tuple[Expression, ...]:
    args = _read_arguments(entry, depth)
    if not all(any(True for _ in argument.raw_names()) for argument in args):
        raise InvalidInputError(f"{entry['call']} in the formula has an argument without a column")
    return args


def _read_degree(entry) -> int:
    degree = saved.read_integer("degree", entry["degree"])
    if not 1 <= degree <= MAX_DEGREE:
        raise InvalidInputError(
            f"degree={degree} in the formula but it should be 1 to {MAX_DEGREE}"
        )
    return degree


def _read_finite(name, value) -> np.ndarray:
    matrix = saved.read_matrix(name, value)
    if not (np.abs(matrix) <= LARGEST).all():
        raise InvalidInputError(
            f"{name} in the formula has entries that are not finite numbers, or larger than {LARGEST:g}"
        )
    return matrix


def _check_keys(entry, keys) -> None:
    if set(entry) != keys:
        raise InvalidInputError(
            f"{entry['call']} in the formula should have {', '.join(sorted(keys))}"
        )


def _tuples(matrix: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())
