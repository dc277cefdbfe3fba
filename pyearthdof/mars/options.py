"""The arguments of Earth: our names, R's names, R's defaults and what is allowed, in one table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from .._checks import is_flag, is_integer, is_number
from ..exceptions import InvalidInputError
from .describe.glm import FAMILIES, LINKS

__all__ = [
    "MANY_ROWS",
    "OPTIONS",
    "PMETHODS",
    "SEARCH_OPTIONS",
    "check_options",
    "default_nk",
    "default_penalty",
    "needs_native",
    "needs_r",
    "not_plain",
    "r_options",
]

PMETHODS = ("backward", "none", "exhaustive", "forward", "seqrep", "cv")
VARMODS = (
    "none", "const", "lm", "rlm", "earth", "gam", "power", "power0", "x.lm", "x.rlm", "x.earth", "x.gam",
)  # fmt: skip
MANY_ROWS = 100_000  # from here on leverages are computed where they are asked for, as in earth
VARMODS_ONLY_R = ("gam", "x.gam")
VARMODS_OF_A_POWER = ("lm", "rlm", "earth", "gam")  # of the fitted response: they take an exponent


@dataclass(frozen=True)
class Option:
    """One argument of earth; `check` tells whether a value is allowed, `allowed` says it in words."""

    name: str
    r_name: str
    default: Any
    allowed: str
    check: Callable[[Any], bool]
    single: bool = False  # what differs from the default is for a single fit, not for many at once
    only_native: bool = False  # and this for the native engine alone


def _number(low: float = -math.inf, high: float = math.inf, *, below_high: bool = False):
    def check(value):
        if not is_number(value):
            return False
        inside = low <= value <= high and not (below_high and value == high)
        return bool(inside and math.isfinite(value))

    return check


def _integer(low: float = -math.inf, high: float = math.inf):
    number = _number(low, high)
    return lambda value: number(value) and float(value).is_integer()


def _or_none(check):
    return lambda value: value is None or check(value)


_flag = is_flag


def _positive(value):
    return _number(0)(value) and value > 0


def _family(value):
    return isinstance(value, str) and value in FAMILIES


def _conv(value):
    return (_integer(high=0)(value) and value < 0) or (_number(0, 100)(value) and value > 0)


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
    # response_weight needs the number of responses, so it is checked by `response_weights`.
    Option("response_weight", "wp", None, "None or a number for each response", lambda value: True),
    Option("force_weights", "Force.weights", False, "True or False", _flag),
    Option("get_leverages", "Get.leverages", None, "None, True or False", _or_none(_flag)),
    Option("exhaustive_tol", "Exhaustive.tol", 1e-10, "a number, 0 or more", _number(0)),
    Option("keepxy", "keepxy", False, "True or False", _flag),
    # The glm options become one argument in R, see `_glm`.
    Option("glm_family", "glm", None, "None or one of " + ", ".join(FAMILIES), _or_none(_family), True),
    Option("glm_link", "", None, "None or one of " + ", ".join(LINKS), _or_none(LINKS.__contains__), True),
    Option("glm_maxit", "", None, "None or an integer, 1 or more", _or_none(_integer(1)), True),
    Option("glm_epsilon", "", None, "None or a number above 0", _or_none(_positive), True),
    Option("glm_l2", "", 0.0, "a number, 0 or more", _number(0), True, only_native=True),
    Option("nfold", "nfold", 0, "an integer, 0 or more", _integer(0), True),
    Option("ncross", "ncross", 1, "an integer from 1 to 1000", _integer(1, 1000), True),
    Option("stratify", "stratify", True, "True or False", _flag, True),
    Option("varmod_method", "varmod.method", "none", "one of " + ", ".join(VARMODS),
           VARMODS.__contains__, True),
    Option("varmod_exponent", "varmod.exponent", 1.0, "a number from 0.1 to 5", _number(0.1, 5), True),
    Option("varmod_conv", "varmod.conv", 1.0,
           "a percentage above 0 and up to 100, or a negative integer", _conv, True),
    Option("varmod_clamp", "varmod.clamp", 0.1, "a number from 0 to 1", _number(0, 1), True),
    Option("varmod_minspan", "varmod.minspan", -3, "an integer", _integer(), True),
)  # fmt: skip

# What decides, apart from penalty, thresh and the pruning, which terms the forward pass finds.
SEARCH_OPTIONS = (
    "degree", "nk", "minspan", "endspan", "newvar_penalty", "fast_k", "fast_beta", "adjust_endspan",
    "auto_linpreds", "scale_y", "allowed", "linpreds", "force_weights",
)  # fmt: skip


def check_options(
    params: dict[str, Any], feature_names: Sequence[str], n_samples: int, n_resp: int = 1
) -> dict:
    """Return the checked options by our names, linpreds as a sorted tuple of 0-based indices."""
    checked = {}
    for option in OPTIONS:
        value = params[option.name]
        if not _is_just(value, option.default) and not _passes(option, value):
            raise InvalidInputError(f"{option.name}={value!r} but it should be {option.allowed}")
        checked[option.name] = value
    for name in ("minspan", "endspan"):
        if checked[name] > n_samples:
            raise InvalidInputError(
                f"{name}={checked[name]} but it should be at most the number of rows, {n_samples}"
            )
    checked["linpreds"] = linear_predictors(params["linpreds"], feature_names)
    checked["response_weight"] = response_weights(params["response_weight"], n_resp)
    _check_together(checked, n_resp)
    if checked["varmod_method"] != "none" and n_samples >= MANY_ROWS:
        checked["get_leverages"] = True  # without which there is no variance model
    return checked


def _is_just(value, default) -> bool:
    """Whether a value is the default, of its type."""
    return value is default or (type(value) is type(default) and value == default)


def _passes(option: Option, value) -> bool:
    try:
        return bool(option.check(value))
    except TypeError:  # what cannot be hashed or compared is not allowed either
        return False


def _check_together(options: dict[str, Any], n_resp: int) -> None:
    """Options that only make sense together, R's rules in our names."""
    given = {name for name in ("glm_link", "glm_maxit", "glm_epsilon") if options[name] is not None}
    given |= {"glm_l2"} if options["glm_l2"] else set()
    if given and options["glm_family"] is None:
        raise InvalidInputError(f"{min(given)} is given but glm_family is None")
    folds = options["nfold"] > 1
    if options["pmethod"] == "cv" and not folds:
        raise InvalidInputError(f"nfold={options['nfold']} but pmethod='cv' needs 2 or more")
    if options["ncross"] > 1 and not folds:
        raise InvalidInputError(
            f"nfold={options['nfold']} but ncross={options['ncross']} needs 2 or more"
        )
    if options["varmod_method"] != "none":
        _check_variance(options, n_resp)
    if options["pmethod"] not in ("backward", "none", "cv") and n_resp > 1:
        raise InvalidInputError(
            f"pmethod={options['pmethod']!r} but it should be 'backward', 'none' or 'cv' with several "
            "responses"
        )
    if options["response_weight"] is not None and options["scale_y"]:
        raise InvalidInputError("scale_y=True but it should be None or False with response_weight")


def _check_variance(options: dict[str, Any], n_resp: int) -> None:
    """What a variance model needs."""
    method, exponent = options["varmod_method"], options["varmod_exponent"]
    if options["nfold"] < 2 or options["ncross"] < 3:
        raise InvalidInputError(
            f"nfold={options['nfold']}, ncross={options['ncross']} but varmod_method={method!r} needs "
            "nfold of 2 and ncross of 3 or more"
        )
    if n_resp > 1:
        raise InvalidInputError("varmod_method should be 'none' with several responses")
    if exponent != 1 and method not in VARMODS_OF_A_POWER:
        raise InvalidInputError(
            f"varmod_exponent={exponent!r} but it should be 1 with varmod_method={method!r}; the others "
            f"are for {', '.join(VARMODS_OF_A_POWER)}"
        )
    if options["get_leverages"] is False or options["get_leverages"] == 0:
        raise InvalidInputError(
            f"get_leverages=False but varmod_method={method!r} is computed from leverages"
        )


def needs_r(options: dict[str, Any]) -> str | None:
    """The first option, as text, for which there is only R's engine; None if there is none."""
    if options["varmod_method"] in VARMODS_ONLY_R:
        return f"varmod_method={options['varmod_method']!r}"
    return None


def not_plain(options: dict[str, Any]) -> str | None:
    """The first option, as text, that fits of many responses do not have; None if there is none."""
    for option in OPTIONS:
        if option.single and not _is_default(options[option.name], option.default):
            return f"{option.name}={options[option.name]!r}"
    return "pmethod='cv'" if options["pmethod"] == "cv" else None


def needs_native(options: dict[str, Any]) -> str | None:
    """The first option, as text, that R does not have; None if there is none."""
    for option in OPTIONS:
        if option.only_native and not _is_default(options[option.name], option.default):
            return f"{option.name}={options[option.name]!r}"
    return None


def response_weights(weights, n_resp: int) -> np.ndarray | None:
    """Weights of the responses as a vector, or None."""
    if weights is None:
        return None
    try:
        vector = np.atleast_1d(np.asarray(weights, dtype=float))
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (n_resp,) or not np.isfinite(vector).all() or (vector < 0).any():
        raise InvalidInputError(
            f"response_weight={weights!r} but it should be {n_resp} number(s), 0 or more"
        )
    if vector.mean() < 1e-8:
        raise InvalidInputError(f"response_weight={weights!r} but one at least should be above 0")
    return vector


def linear_predictors(linpreds, feature_names: Sequence[str]) -> tuple[int, ...]:
    """Indices of the predictors that may enter only linearly, from names, indices or a mask."""
    p = len(feature_names)
    if linpreds is None or linpreds is False:
        return ()
    if linpreds is True:
        return tuple(range(p))
    values = [linpreds] if isinstance(linpreds, (str, Integral)) else list(linpreds)
    if values and all(map(is_flag, values)):
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
    if is_integer(value) and 0 <= value < len(feature_names):
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
        if option.name == "glm_family":
            value = _glm(options)
        if option.r_name and value is not None and not _is_default(value, option.default):
            result[option.r_name] = value
    return result


def _glm(options: dict[str, Any]) -> dict[str, Any] | None:
    if options["glm_family"] is None:
        return None
    given = {"family": FAMILIES[options["glm_family"]]}
    for name in ("link", "maxit", "epsilon"):
        if options[f"glm_{name}"] is not None:
            given[name] = options[f"glm_{name}"]
    return given


def _is_default(value, default) -> bool:
    if value is None or default is None:
        return value is default
    return not isinstance(value, np.ndarray) and value == default


def default_penalty(degree: int) -> float:
    """earth's penalty where none is given: 2 for an additive model, 3 with interactions."""
    return 3.0 if degree > 1 else 2.0


def default_nk(n_features: int) -> int:
    """earth's nk where none is given, from the number of predictors."""
    return min(200, max(20, 2 * n_features)) + 1
