"""The arguments of Earth: our names, R's names, R's defaults and what is allowed, in one table."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import InvalidInputError

__all__ = ["OPTIONS", "PMETHODS", "check_options", "default_nk", "default_penalty", "r_options"]

PMETHODS = ("backward", "none", "exhaustive", "forward", "seqrep")


@dataclass(frozen=True)
class Option:
    """One argument of earth; `check` tells whether a value is allowed, `allowed` says it in words."""

    name: str
    r_name: str
    default: Any
    allowed: str
    check: Callable[[Any], bool]


def _number(low: float = -math.inf, high: float = math.inf, *, below_high: bool = False):
    def check(value):
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
            return False
        inside = low <= value <= high and not (below_high and value == high)
        return bool(inside and math.isfinite(value))

    return check


def _integer(low: float = -math.inf, high: float = math.inf):
    number = _number(low, high)
    return lambda value: number(value) and float(value).is_integer()


def _or_none(check):
    return lambda value: value is None or check(value)


def _flag(value):
    return isinstance(value, (bool, np.bool_))


def _penalty(value):
    return _number(0, 1000)(value) or value == -1


OPTIONS = (
    Option("degree", "degree", 1, "an integer from 1 to 10", _integer(1, 10)),
    Option("penalty", "penalty", None, "None, -1, or a number from 0 to 1000", _or_none(_penalty)),
    Option("nk", "nk", None, "None or an integer from 1 to 1000", _or_none(_integer(1, 1000))),
    Option("thresh", "thresh", 0.001, "a number from 0 to below 1", _number(0, 1, below_high=True)),
    Option("minspan", "minspan", 0, "an integer", _integer()),
    Option("endspan", "endspan", 0, "an integer, 0 or more", _integer(0)),
    Option("newvar_penalty", "newvar.penalty", 0.0, "a number, 0 or more", _number(0)),
    Option("fast_k", "fast.k", 20, "an integer", _integer()),
    Option("fast_beta", "fast.beta", 1.0, "a number from 0 to 1000", _number(0, 1000)),
    Option(
        "pmethod", "pmethod", "backward", "one of " + ", ".join(PMETHODS), PMETHODS.__contains__
    ),
    Option("nprune", "nprune", None, "None or an integer, 1 or more", _or_none(_integer(1))),
    Option("adjust_endspan", "Adjust.endspan", 2.0, "a number from 0 to 10", _number(0, 10)),
    Option("auto_linpreds", "Auto.linpreds", True, "True or False", _flag),
    Option("scale_y", "Scale.y", None, "None, True or False", _or_none(_flag)),
    Option("allowed", "allowed", None, "None or a function", _or_none(callable)),
    # linpreds needs the column names, so it is checked by `linear_predictors`.
    Option("linpreds", "linpreds", None, "None, True, names or indices", lambda value: True),
)


def check_options(params: dict[str, Any], feature_names: Sequence[str], n_samples: int) -> dict:
    """Return the checked options by our names, linpreds as a sorted tuple of 0-based indices."""
    checked = {}
    for option in OPTIONS:
        value = params[option.name]
        if not option.check(value):
            raise InvalidInputError(f"{option.name}={value!r} but it should be {option.allowed}")
        checked[option.name] = value
    if checked["minspan"] > n_samples:
        raise InvalidInputError(
            f"minspan={checked['minspan']} but it should be at most the number of rows, {n_samples}"
        )
    checked["linpreds"] = linear_predictors(params["linpreds"], feature_names)
    return checked


def linear_predictors(linpreds, feature_names: Sequence[str]) -> tuple[int, ...]:
    """Indices of the predictors that may enter only linearly, from names, indices or a mask."""
    p = len(feature_names)
    if linpreds is None or linpreds is False:
        return ()
    if linpreds is True:
        return tuple(range(p))
    values = [linpreds] if isinstance(linpreds, (str, numbers.Integral)) else list(linpreds)
    if values and all(isinstance(v, (bool, np.bool_)) for v in values):
        if len(values) != p:
            raise InvalidInputError(
                f"linpreds has {len(values)} truth values but X has {p} columns"
            )
        return tuple(j for j, v in enumerate(values) if v)
    return tuple(sorted({_column_index(v, feature_names) for v in values}))


def _column_index(value, feature_names: Sequence[str]) -> int:
    if isinstance(value, str):
        if value not in feature_names:
            raise InvalidInputError(
                f"linpreds names {value!r}, which is not a column of X: {', '.join(feature_names)}"
            )
        return list(feature_names).index(value)
    if isinstance(value, numbers.Integral) and 0 <= value < len(feature_names):
        return int(value)
    raise InvalidInputError(
        f"linpreds={value!r} but it should be a column name or an index from 0 to "
        f"{len(feature_names) - 1}"
    )


def r_options(options: dict[str, Any]) -> dict[str, Any]:
    """Checked options in R's names; what has R's default is left out, so that $call stays readable."""
    result = {}
    for option in OPTIONS:
        value = options[option.name]
        if option.name == "linpreds":
            value = np.array(value, dtype=float) + 1 if value else None
        if value is not None and not _is_default(value, option.default):
            result[option.r_name] = value
    return result


def _is_default(value, default) -> bool:
    return not isinstance(value, np.ndarray) and default is not None and value == default


def default_penalty(degree: int) -> float:
    """earth's penalty where none is given: 2 for an additive model, 3 with interactions."""
    return 3.0 if degree > 1 else 2.0


def default_nk(n_features: int) -> int:
    """earth's nk where none is given, from the number of predictors."""
    return min(200, max(20, 2 * n_features)) + 1
