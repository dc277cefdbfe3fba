"""The options of earth in one table: our names, R's names, R's defaults, allowed values, and stages.

To add an option, add a field to `EarthOptions` and an argument to the constructors of `Earth` and
`EarthClassifier`; every other list of options is derived from the table.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import combinations
from numbers import Integral
from typing import Any, Literal

import numpy as np

from .._utils.checks import is_flag, is_integer, is_number, refusal
from ..exceptions import InvalidInputError

MISSING = ("raise", "indicator")
PMETHODS = ("backward", "none", "exhaustive", "forward", "seqrep", "cv")
GLM_FAMILIES = {  # our names and R's
    "binomial": "binomial", "poisson": "poisson", "gamma": "Gamma", "gaussian": "gaussian",
    "inverse_gaussian": "inverse.gaussian", "quasibinomial": "quasibinomial", "quasipoisson": "quasipoisson",
}  # fmt: skip
GLM_LINKS = (
    "identity", "logit", "probit", "cauchit", "cloglog", "log", "inverse", "sqrt", "1/mu^2",
)  # fmt: skip
VARMODS = (
    "none", "const", "lm", "rlm", "earth", "gam", "power", "power0", "x.lm", "x.rlm", "x.earth", "x.gam",
)  # fmt: skip
FEWEST_ARGUMENTS, MOST_ARGUMENTS = 3, 5  # of an `allowed` function
MANY_ROWS = 100_000  # from here on leverages are computed where they are asked for, as in earth
VARMODS_ONLY_R = ("gam", "x.gam")
VARMODS_OF_A_POWER = ("lm", "rlm", "earth", "gam")  # of the fitted response: they take an exponent


Stage = Literal["forward", "prune", "glm", "cv", "varmod", "runtime"]


@dataclass(frozen=True)
class Option:
    """One argument of earth; `convert` gives an allowed value its type, `allowed` says it in words.

    `stage` is the part of a fit that the option decides: the forward pass, the pruning pass, the
    generalised linear model, cross-validation, the variance model, or ("runtime") nothing about the model.
    """

    stage: Stage
    r_name: str
    default: Any
    allowed: str
    convert: Callable[[Any], Any]
    only_native: bool = False  # R does not have it
    name: str = ""  # that of the field of EarthOptions

    def check(self, value) -> Any:
        """Return the value with its type; refused if it is not allowed."""
        if value is self.default or (type(value) is type(self.default) and value == self.default):
            return value
        try:
            return self.convert(value)
        except (TypeError, ValueError, OverflowError):
            raise refusal(self.name, value, self.allowed) from None

    def is_default(self, value) -> bool:
        """Return whether a checked value is R's default."""
        if value is None or self.default is None:
            return value is self.default
        return not isinstance(value, np.ndarray) and value == self.default


def _option(*args: Any, **kwargs: Any) -> Any:
    option = Option(*args, **kwargs)
    return field(default=option.default, metadata={"option": option})


def _number(low: float = -math.inf, high: float = math.inf, *, below_high: bool = False):
    def convert(value) -> float:
        inside = is_number(value) and low <= value <= high and not (below_high and value == high)
        if not inside or not math.isfinite(value):
            raise ValueError
        return float(value)

    return convert


def _integer(low: float = -math.inf, high: float = math.inf):
    number = _number(low, high)

    def convert(value) -> int:
        if not number(value).is_integer():
            raise ValueError
        return int(value)

    return convert


def _flag(value) -> bool:
    if not is_flag(value):
        raise ValueError
    return bool(value)


def _word(words: Collection[str]):
    def convert(value) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError
        return value

    return convert


def _or_none(convert):
    return lambda value: None if value is None else convert(value)


def _positive(value) -> float:
    if value == 0:
        raise ValueError
    return _number(0)(value)


def _conv(value) -> float:
    return float(_integer(high=-1)(value)) if value < 0 else _positive(_number(high=100)(value))


def _penalty(value) -> float:
    return -1.0 if value == -1 else _number(0, 1000)(value)


def _function(value) -> Callable[..., Any]:
    if not callable(value) or n_arguments(value) is None:
        raise TypeError
    return value


def n_arguments(function: Callable[..., Any]) -> int | None:
    """How many of R's arguments an `allowed` function takes: three, four or five; None for another number."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of a compiled function nothing is known
        return MOST_ARGUMENTS
    kinds = inspect.Parameter
    in_order = [
        p for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    ]
    has_rest = any(p.kind is kinds.VAR_POSITIONAL for p in parameters)
    most = MOST_ARGUMENTS if has_rest else min(len(in_order), MOST_ARGUMENTS)
    needed = [p for p in parameters if p.default is kinds.empty]
    needed = [p for p in needed if p.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)]
    if (
        most < FEWEST_ARGUMENTS
        or len(needed) > most
        or any(p.kind is kinds.KEYWORD_ONLY for p in needed)
    ):
        return None
    return most


def _later(value) -> Any:
    """Checked by `linear_predictors` and `response_weights`, which know the columns of X and y."""
    return value


@dataclass(frozen=True, kw_only=True, eq=False)
class EarthOptions:
    """All options of a fit to `n_features` predictors, with earth's own values for those left out.

    `check_options` makes them from what a user gave; who makes them directly gives what is allowed.

    >>> options = EarthOptions(n_features=15, degree=2)
    >>> options.nk, options.penalty, options.linpreds
    (31, 3.0, ())
    """

    n_features: int
    # Columns that indicate missing values, each with the other columns of its predictor.
    gaps: tuple[tuple[int, tuple[int, ...]], ...] = ()
    # fmt: off
    degree: int = _option("forward", "degree", 1, "an integer from 1 to 10", _integer(1, 10))
    penalty: float = _option(
        "forward", "penalty", None, "None, -1, or a number from 0 to 1000", _or_none(_penalty))
    nk: int = _option("forward", "nk", None, "None or an integer from 1 to 1000", _or_none(_integer(1, 1000)))
    thresh: float = _option(
        "forward", "thresh", 0.001, "a number from 0 to below 1", _number(0, 1, below_high=True))
    minspan: int = _option("forward", "minspan", 0, "an integer", _integer())
    endspan: int = _option("forward", "endspan", 0, "an integer, 0 or more", _integer(0))
    newvar_penalty: float = _option("forward", "newvar.penalty", 0.0, "a number, 0 or more", _number(0))
    fast_k: int = _option("forward", "fast.k", 20, "an integer", _integer())
    fast_beta: float = _option("forward", "fast.beta", 1.0, "a number from 0 to 1000", _number(0, 1000))
    pmethod: str = _option("prune", "pmethod", "backward", "one of " + ", ".join(PMETHODS), _word(PMETHODS))
    nprune: int | None = _option(
        "prune", "nprune", None, "None or an integer, 1 or more", _or_none(_integer(1)))
    adjust_endspan: float = _option("forward", "Adjust.endspan", 2.0, "a number from 0 to 10", _number(0, 10))
    auto_linpreds: bool = _option("forward", "Auto.linpreds", True, "True or False", _flag)
    scale_y: bool | None = _option("forward", "Scale.y", None, "None, True or False", _or_none(_flag))
    allowed: Callable[..., Any] | None = _option(  # noqa: RUF009
        "forward", "allowed", None,
        "None or a function of degree, pred, parents and, if wanted, namesx and first", _or_none(_function))
    linpreds: tuple[int, ...] = _option("forward", "linpreds", None, "None, True, names or indices", _later)
    missing: str = _option(
        "forward", "", "raise", "one of " + ", ".join(MISSING), _word(MISSING), only_native=True)
    monotone: tuple[tuple[int, int], ...] | None = _option(
        "forward", "", None, "None or a dictionary of columns and 1 or -1", _later, only_native=True)
    interactions: tuple[tuple[int, ...], ...] | None = _option(
        "forward", "", None, "None or groups of columns that may interact", _later)
    response_weight: np.ndarray | None = _option(  # noqa: RUF009
        "forward", "wp", None, "None or a number for each response", _later)
    force_weights: bool = _option("forward", "Force.weights", False, "True or False", _flag)
    get_leverages: bool | None = _option(
        "prune", "Get.leverages", None, "None, True or False", _or_none(_flag))
    exhaustive_tol: float = _option("prune", "Exhaustive.tol", 1e-10, "a number, 0 or more", _number(0))
    keepxy: bool = _option("runtime", "keepxy", False, "True or False", _flag)
    # The glm options become one argument in R, see `_glm_in_r`.
    glm_family: str | None = _option(
        "glm", "glm", None, "None or one of " + ", ".join(GLM_FAMILIES), _or_none(_word(GLM_FAMILIES)))
    glm_link: str | None = _option(
        "glm", "", None, "None or one of " + ", ".join(GLM_LINKS), _or_none(_word(GLM_LINKS)))
    glm_maxit: int | None = _option(
        "glm", "", None, "None or an integer, 1 or more", _or_none(_integer(1)))
    glm_epsilon: float | None = _option(
        "glm", "", None, "None or a number above 0", _or_none(_positive))
    glm_l2: float = _option("glm", "", 0.0, "a number, 0 or more", _number(0), only_native=True)
    nfold: int = _option("cv", "nfold", 0, "an integer, 0 or more", _integer(0))
    ncross: int = _option("cv", "ncross", 1, "an integer from 1 to 1000", _integer(1, 1000))
    stratify: bool = _option("cv", "stratify", True, "True or False", _flag)
    varmod_method: str = _option(
        "varmod", "varmod.method", "none", "one of " + ", ".join(VARMODS), _word(VARMODS))
    varmod_exponent: float = _option(
        "varmod", "varmod.exponent", 1.0, "a number from 0.1 to 5", _number(0.1, 5))
    varmod_conv: float = _option(
        "varmod", "varmod.conv", 1.0, "a percentage above 0 and up to 100, or a negative integer", _conv)
    varmod_clamp: float = _option("varmod", "varmod.clamp", 0.1, "a number from 0 to 1", _number(0, 1))
    varmod_minspan: int = _option("varmod", "varmod.minspan", -3, "an integer", _integer())
    # fmt: on

    def __post_init__(self):
        own = {
            "nk": default_nk(self.n_features),
            "penalty": default_penalty(self.degree),
            "linpreds": (),
        }
        for name, value in own.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    @property
    def only_r(self) -> str | None:
        """The first option, as text, for which there is only R's engine; None if there is none."""
        only = self.varmod_method in VARMODS_ONLY_R
        return f"varmod_method={self.varmod_method!r}" if only else None

    @property
    def only_native(self) -> str | None:
        """The first option, as text, that R does not have; None if there is none."""
        return self._first_given(_ONLY_NATIVE)

    @property
    def not_plain(self) -> str | None:
        """The first option, as text, that fits of many responses do not have; None if there is none."""
        given = self._first_given(_NOT_PLAIN)
        return "pmethod='cv'" if given is None and self.pmethod == "cv" else given

    def _first_given(self, options: Iterable[Option]) -> str | None:
        for option in options:
            value = getattr(self, option.name)
            if not option.is_default(value):
                return (
                    f"{option.name}={value:g}" if is_number(value) else f"{option.name}={value!r}"
                )
        return None

    def is_scaled(self, n_resp: int) -> bool:
        """Whether the forward pass scales the responses; by default it does a single one without weight."""
        if self.scale_y is None:
            return n_resp == 1 and self.response_weight is None
        return self.scale_y

    @cached_property
    def apart(self) -> tuple[tuple[int, int], ...]:
        """Pairs of columns that no term has: by `interactions`, `monotone` and missing values."""
        pairs = {(j, k) for k, others in self.gaps for j in others}
        alone = {j for j, _ in self.monotone or ()}
        if alone or self.interactions is not None:
            together = {
                pair for group in self.interactions or () for pair in combinations(sorted(group), 2)
            }
            pairs |= {
                pair
                for pair in combinations(range(self.n_features), 2)
                if alone.intersection(pair)
                or (self.interactions is not None and pair not in together)
            }
        return tuple(sorted(pairs))

    def may_interact(self) -> Callable[..., bool] | None:
        """`interactions` as an `allowed` function of R."""
        if self.interactions is None:
            return None
        apart = set(self.apart)

        def allowed(degree: int, pred: int, parents: np.ndarray) -> bool:
            others = np.flatnonzero(parents).tolist()
            return not any((min(pred, j), max(pred, j)) in apart for j in others)

        return allowed

    def in_r(self) -> dict[str, Any]:
        """By R's names; what has R's default is left out, so that $call stays readable."""
        values: dict[str, Any] = {o.name: getattr(self, o.name) for o in OPTIONS if o.r_name}
        values["linpreds"] = np.array(self.linpreds, dtype=float) + 1 if self.linpreds else None
        values["glm_family"] = self._glm_in_r()
        if self.nk == default_nk(self.n_features):
            values["nk"] = None
        if self.penalty == default_penalty(self.degree):
            values["penalty"] = None
        given = (o for o in OPTIONS if values.get(o.name) is not None)
        return {o.r_name: values[o.name] for o in given if not o.is_default(values[o.name])}

    def _glm_in_r(self) -> dict[str, Any] | None:
        if self.glm_family is None:
            return None
        given = {"link": self.glm_link, "maxit": self.glm_maxit, "epsilon": self.glm_epsilon}
        family = {"family": GLM_FAMILIES[self.glm_family]}
        return family | {name: value for name, value in given.items() if value is not None}


OPTIONS = tuple(
    replace(f.metadata["option"], name=f.name) for f in fields(EarthOptions) if f.metadata
)
_ONLY_NATIVE = tuple(option for option in OPTIONS if option.only_native)
_NOT_PLAIN = tuple(option for option in OPTIONS if option.stage in ("glm", "cv", "varmod"))


def of_stage(*stages: Stage) -> tuple[str, ...]:
    """Names of the options that decide these parts of a fit.

    >>> of_stage("cv")
    ('nfold', 'ncross', 'stratify')
    """
    return tuple(option.name for option in OPTIONS if option.stage in stages)


# The options that decide which terms an endless forward pass on one response finds.
SEARCH_OPTIONS = tuple(
    name for name in of_stage("forward") if name not in ("penalty", "thresh", "response_weight")
)


_OF_GLM = tuple(sorted(name for name in of_stage("glm") if name != "glm_family"))


def check_options(
    params: Mapping[str, Any], feature_names: Sequence[str], n_samples: int, n_resp: int = 1, *,
    pairs: bool = False, gaps: tuple[tuple[int, tuple[int, ...]], ...] = (),
) -> EarthOptions:  # fmt: skip
    """The user's arguments by our names, checked for these columns and numbers of rows and responses.

    With `pairs` the two responses are the successes and failures of one; `gaps` are those of the columns.
    """
    checked = {option.name: option.check(params[option.name]) for option in OPTIONS}
    for name in ("minspan", "endspan"):
        if checked[name] > n_samples:
            raise refusal(name, checked[name], f"at most the number of rows, {n_samples}")
    checked["linpreds"] = linear_predictors(params["linpreds"], feature_names)
    checked["monotone"] = monotone_columns(params["monotone"], feature_names)
    checked["interactions"] = interacting_groups(params["interactions"], feature_names, gaps)
    if pairs and params["response_weight"] is not None:
        raise refusal(
            "response_weight", params["response_weight"], "None with successes and failures"
        )
    checked["response_weight"] = response_weights(params["response_weight"], n_resp)
    if (
        checked["varmod_method"] != "none"
        and n_samples >= MANY_ROWS
        and checked["get_leverages"] is None
    ):
        checked["get_leverages"] = True  # without which there is no variance model
    options = EarthOptions(n_features=len(feature_names), gaps=gaps, **checked)
    _check_together(options, n_resp, pairs)
    return options


def _check_together(options: EarthOptions, n_resp: int, pairs: bool) -> None:
    """Options that only make sense together, R's rules in our names."""
    if options.glm_family is None:
        for name in _OF_GLM:
            if getattr(options, name):
                raise InvalidInputError(f"{name} is given but glm_family is None")
    if options.interactions is not None and options.allowed is not None:
        raise InvalidInputError(
            "allowed and interactions are both given but they decide the same: give one of them"
        )
    if options.monotone:
        _check_monotone(options, n_resp)
    folds = options.nfold > 1
    if options.pmethod == "cv" and not folds:
        raise InvalidInputError(f"nfold={options.nfold} but pmethod='cv' needs 2 or more")
    if options.ncross > 1 and not folds:
        raise InvalidInputError(
            f"nfold={options.nfold} but ncross={options.ncross} needs 2 or more"
        )
    if options.varmod_method != "none":
        _check_variance(options, n_resp)
    # with dependent terms R searches backward for "exhaustive", which the pruning pass finds out
    if options.pmethod in ("forward", "seqrep") and n_resp > 1 and not pairs:
        raise refusal(
            "pmethod", options.pmethod, "'backward', 'none' or 'cv' with several responses"
        )
    if options.response_weight is not None and options.scale_y:
        raise InvalidInputError("scale_y=True but it should be None or False with response_weight")


def _check_monotone(options: EarthOptions, n_resp: int) -> None:
    """Refuse options that constrained least squares does not have."""
    if n_resp > 1:
        raise InvalidInputError("monotone should be None with several responses")
    if options.pmethod not in ("backward", "none"):
        raise refusal("pmethod", options.pmethod, "'backward' or 'none' with monotone")
    if options.varmod_method != "none":
        raise refusal("varmod_method", options.varmod_method, "'none' with monotone")


def _check_variance(options: EarthOptions, n_resp: int) -> None:
    """Refuse a variance model without the options that it needs."""
    method, exponent = options.varmod_method, options.varmod_exponent
    if options.nfold < 2 or options.ncross < 3:
        raise InvalidInputError(
            f"nfold={options.nfold}, ncross={options.ncross} but varmod_method={method!r} needs "
            "nfold of 2 and ncross of 3 or more"
        )
    if n_resp > 1:
        raise InvalidInputError("varmod_method should be 'none' with several responses")
    if exponent != 1 and method not in VARMODS_OF_A_POWER:
        raise InvalidInputError(
            f"varmod_exponent={exponent:g} but it should be 1 with varmod_method={method!r}; the others "
            f"are for {', '.join(VARMODS_OF_A_POWER)}"
        )
    if options.get_leverages is False:
        raise InvalidInputError(
            f"get_leverages=False but varmod_method={method!r} is computed from leverages"
        )


def response_weights(weights, n_resp: int) -> np.ndarray | None:
    """Weights of the responses as a vector, or None."""
    if weights is None:
        return None
    try:
        vector = np.atleast_1d(np.asarray(weights, dtype=float))
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (n_resp,) or not np.isfinite(vector).all() or (vector < 0).any():
        raise refusal("response_weight", weights, f"{n_resp} number(s), 0 or more")
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


def monotone_columns(monotone, feature_names: Sequence[str]) -> tuple[tuple[int, int], ...] | None:
    """Columns and the signs of their slopes, from a dictionary of names or indices.

    >>> monotone_columns({"price": -1, "age": 1}, ["age", "price"])
    ((0, 1), (1, -1))
    """
    if monotone is None:
        return None
    try:
        given = dict(monotone)
    except (TypeError, ValueError):
        raise refusal("monotone", monotone, "None or a dictionary of columns and 1 or -1") from None
    for value in given.values():
        if is_flag(value) or value not in (1, -1):
            raise refusal("monotone", monotone, "None or a dictionary of columns and 1 or -1")
    found = [(_column_index(k, feature_names, "monotone"), int(v)) for k, v in given.items()]
    if len({j for j, _ in found}) < len(found):
        raise InvalidInputError(f"monotone={monotone!r} but it should have each column once")
    return tuple(sorted(found))


def interacting_groups(
    interactions, feature_names: Sequence[str], gaps: tuple[tuple[int, tuple[int, ...]], ...] = ()
) -> tuple[tuple[int, ...], ...] | None:
    """Columns that may interact, as groups of indices; indicators of missing values belong to their columns.

    >>> interacting_groups([("age", "sex"), (0, 2)], ["age", "sex", "price"])
    ((0, 1), (0, 2))
    """
    if interactions is None:
        return None
    right = "None or a list of groups of two or more columns, such as [('age', 'sex')]"
    if isinstance(interactions, str):
        raise refusal("interactions", interactions, right)
    try:
        groups = [list(group) for group in interactions if not isinstance(group, str)]
        if len(groups) < len(list(interactions)) or min(map(len, groups), default=2) < 2:
            raise TypeError
    except TypeError:
        raise refusal("interactions", interactions, right) from None
    found = []
    for group in groups:
        own = {_column_index(value, feature_names, "interactions") for value in group}
        own |= {k for k, others in gaps if own.intersection(others)}
        found.append(tuple(sorted(own)))
    return tuple(found)


def _column_index(value, feature_names: Sequence[str], option: str = "linpreds") -> int:
    if isinstance(value, str):
        if value not in feature_names:
            raise InvalidInputError(
                f"{option} names {value!r}, which is not a column of X: {', '.join(feature_names)}"
            )
        return list(feature_names).index(value)
    if is_integer(value) and 0 <= value < len(feature_names):
        return int(value)
    raise refusal(option, value, f"a column name or an index from 0 to {len(feature_names) - 1}")


def default_penalty(degree: int) -> float:
    """earth's penalty where none is given: 2 for an additive model, 3 with interactions."""
    return 3.0 if degree > 1 else 2.0


def default_nk(n_features: int) -> int:
    """earth's nk where none is given, from the number of predictors."""
    return min(200, max(20, 2 * n_features)) + 1
