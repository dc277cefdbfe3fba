"""Where we differ from R on purpose: what we refuse and R fits, and what R fails on and we fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tests.support.fuzzing.case import Case
from tests.support.fuzzing.rserver import Refused

__all__ = ["LOOSER_THAN_R", "STRICTER_THAN_R", "is_rs_own"]


@dataclass(frozen=True)
class Stricter:
    """A case that R fits and we refuse on purpose."""

    message: str  # how our refusal begins
    applies: Callable[[Case], bool]
    reason: str


def _option(name: str, is_meant: Callable[[Any], bool]) -> Callable[[Case], bool]:
    return lambda case: name in case.options and is_meant(case.options[name])


def _beyond_integers(value) -> bool:
    return not abs(value) < 2**31 or value != int(value)


def _unusual(values, low: float = 1e-75, high: float = 1e75) -> bool:
    """Whether a column has a largest value far outside of the usual sizes."""
    if isinstance(values, pd.DataFrame):
        values = values.select_dtypes("number").to_numpy()
    if not values.size:
        return False
    largest = np.abs(values.reshape(len(values), -1)).max(axis=0)
    return bool(((largest > high) | ((largest < low) & (largest > 0))).any())


STRICTER_THAN_R = (
    Stricter("newvar_penalty=", _option("newvar_penalty", lambda v: not 0 <= v < np.inf),
             "a negative one has no meaning; R fits or fails an assertion, as it comes"),
    Stricter("newvar_penalty=", lambda case: case.weights is not None,
             "with weights R refuses it too, but only once it looks for a knot"),
    Stricter("fast_k=", _option("fast_k", _beyond_integers),
             "R takes infinities and numbers beyond its integers as 'all parents'"),
    Stricter("pmethod=", _option("pmethod", lambda v: v == "back"),
             "R completes beginnings of names"),
    Stricter("linpreds=", _option("linpreds", lambda v: min(v) < 0),
             "our index -1 is R's 0, which R takes as no predictor at all"),
    Stricter("minspan=", _option("minspan", _beyond_integers),
             "R turns numbers beyond its integers into an arbitrary number of knots"),
    Stricter("nprune=", _option("nprune", _beyond_integers),
             "R takes an infinite one as no limit"),
    Stricter("X has a column with values up to", lambda case: bool(case.formula) or _unusual(case.X),
             "sums of squares overflow or vanish; R fits or fails, as it comes"),
    Stricter("y has a column with values up to", lambda case: _unusual(case.y),
             "close to overflow R's searches may never end"),
    Stricter("formula is refused: the response", lambda case: bool(case.formula),
             "R fits one of several responses by itself, and a factor of one level as a constant named NA"),
    Stricter("formula is refused: poly may not stand as the response", lambda case: True,
             "R fits the columns of a basis as responses"),
)  # fmt: skip


@dataclass(frozen=True)
class Looser:
    """A case that R cannot fit for a reason of its own and that the native engine fits."""

    message: str  # how R's error begins
    only_extreme: bool  # on data far outside of the usual sizes
    reason: str
    bridged: bool = False  # also through the bridge, which gives R other data than these


LOOSER_THAN_R = (
    Looser("internal assertion failed", True, "R's sums overflow or vanish, ours are others"),
    Looser("NA/NaN/Inf in foreign function call", True, "the same"),
    Looser("non-finite value in rss.per.subset", True, "the same"),
    Looser("duplicated name", False, "R's glm takes terms apart by names with rounded cuts"),
    Looser("length of 'scale' must equal", False, "R forgets that a constant y cannot be scaled"),
    Looser(
        "'x' must be an array of at least two dimensions",
        False,
        "R's table of sizes has one column where the forward pass found no term",
    ),
    Looser(
        "undefined columns selected",
        False,
        "MASS::rlm does not find the columns of an ordered factor, whose names are not R's",
    ),
    Looser(
        "model frame and formula mismatch in model.matrix()",
        False,
        "R loses a column that the right-hand side takes away from the dot of several responses",
    ),
    Looser(
        "subscript out of bounds",
        False,
        "R reads the dot of several responses once more, of a frame that also has calls such as log(a)",
    ),
    Looser(
        "replacement has length zero",
        False,
        "R takes the weights for one of the columns that the dot of several responses stands for",
    ),
    Looser("the offset variable '", False, "R looks for the text of the offset among the columns"),
    Looser(
        "y is a character variable",
        False,
        "strings of a frame are factors, as R's own data.frame had them",
        True,
    ),
    Looser(
        "NROW(offset) == NROW(fitted.values) is not TRUE",
        False,
        "R takes the offset of all rows for that of a subset",
    ),
    Looser(
        "Binomial response (see above): all values should be between 0 and 1",
        False,
        "R subtracts an offset from a binomial response before it looks whether it is one",
    ),
    Looser("Fortran routine XHAUST returned", False, "R searches subsets of one term exhaustively"),
)
USUAL_SIZES = (1e-14, 1e30)


def is_rs_own(case: Case, r: Refused, engine: str = "native") -> bool:
    """Whether R failed for a reason in LOOSER_THAN_R."""
    extreme = _unusual(case.X, *USUAL_SIZES) or _unusual(case.y, *USUAL_SIZES)
    return any(
        r.message.startswith(known.message)
        and (extreme or not known.only_extreme)
        and (engine == "native" or known.bridged)
        for known in LOOSER_THAN_R
    )
