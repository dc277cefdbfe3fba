"""Predictions outside of the training range: allowed as in R, warned of, moved to its ends, or refused."""

from __future__ import annotations

import numpy as np

from ..._utils.checks import refusal
from ..._utils.warnings import warn_user
from ...exceptions import ExtrapolationWarning, InvalidInputError

__all__ = ["EXTRAPOLATE", "within_range"]

EXTRAPOLATE = ("allow", "warn", "clip", "refuse")
NAMED = 3  # columns in the message


def within_range(model, X, extrapolate: str):
    """X itself, or with numbers moved into the training range; the columns that the model uses count.

    A model from a file of an earlier release has no ranges: there is nothing to warn of.
    """
    if not isinstance(extrapolate, str) or extrapolate not in EXTRAPOLATE:
        raise refusal("extrapolate", extrapolate, f"one of {', '.join(EXTRAPOLATE)}")
    if extrapolate == "allow" or (model.ranges is None and extrapolate == "warn"):
        return X
    if model.ranges is None:
        raise InvalidInputError(
            f"extrapolate={extrapolate!r} but the model does not keep the ranges of its training rows: it "
            "is from a file of an earlier release, or from R"
        )
    if extrapolate == "clip":
        return model.ranges.clipped(X)
    used = _used_columns(model)
    outside = {name: rows for name, rows in model.ranges.outside(X).items() if name in used}
    if outside:
        said = _said(model, X, outside)
        if extrapolate == "refuse":
            raise InvalidInputError(f"{said}, and extrapolate='refuse'")
        warn_user(
            f"{said}: hinges go on as straight lines there; extrapolate='clip' stops at the ends",
            ExtrapolationWarning,
        )
    return X


def _said(model, X, outside) -> str:
    rows = np.unique(np.concatenate(list(outside.values())))
    each = [
        f"{name!r} (from {model.ranges[name].low:g} to {model.ranges[name].high:g})"
        for name in list(outside)[:NAMED]
    ]
    more = ", ..." if len(outside) > NAMED else ""
    return (
        f"{len(rows)} of {len(X)} rows of X, the first one row {rows[0]}, are outside of the training range "
        f"of {', '.join(each)}{more}"
    )


def _used_columns(model) -> set[str]:
    used = np.flatnonzero(np.any(model.dirs[model.selected] != 0, axis=0))
    return set().union(*(model.owners[j] for j in used))
