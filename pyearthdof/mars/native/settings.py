"""What the native engine prepares before the compiled loops run: design, settings, scaling."""

from __future__ import annotations

import numpy as np

from ... import _core
from ...exceptions import InvalidInputError
from ..options import default_nk, default_penalty
from .r_sums import r_mean

__all__ = [
    "is_scaled",
    "make_design",
    "penalty_of",
    "refuse_sizes",
    "resolve_settings",
    "response_importance",
    "scale_responses",
]

ALL_PARENTS = 10_001  # earth's number for it, above any nk
SIZES = (1e-75, 1e75)  # of the largest value of a column: products of sums of squares are numbers


def make_design(X: np.ndarray, n_threads: int = 1) -> _core.Design:
    """Sort the predictors, once for all fits on them."""
    design = _core.Design(X, n_threads)
    _refuse_largest("X", design.reach())
    return design


def resolve_settings(options, n: int, p: int) -> _core.Settings:
    """Options of the forward pass on n rows of p predictors, with earth's defaults filled in."""
    nk, fast_k, endspan = options["nk"], int(options["fast_k"]), int(options["endspan"])
    if endspan > n:
        raise InvalidInputError(
            f"endspan={endspan} but it should be at most the number of rows, {n}"
        )
    return _core.Settings(
        degree=int(options["degree"]),
        nk=default_nk(p) if nk is None else int(nk),
        penalty=penalty_of(options),
        thresh=float(options["thresh"]),
        minspan=max(int(options["minspan"]), -n),  # more knots than rows there are none
        endspan=endspan,
        newvar_penalty=float(options["newvar_penalty"]),
        fast_k=ALL_PARENTS if fast_k <= 0 else min(max(3, fast_k), ALL_PARENTS),
        fast_beta=float(options["fast_beta"]),
        adjust_endspan=float(options["adjust_endspan"]),
        auto_linpreds=bool(options["auto_linpreds"]),
    )


def penalty_of(options) -> float:
    """The penalty of a knot, earth's where none is given."""
    given = options["penalty"]
    return default_penalty(options["degree"]) if given is None else float(given)


def is_scaled(options, n_resp: int) -> bool:
    """Whether the responses are scaled for the forward pass; by default a single one without weight is."""
    if options["scale_y"] is None:
        return n_resp == 1 and options["response_weight"] is None
    return bool(options["scale_y"])


def response_importance(response_weight, n_resp: int) -> np.ndarray:
    """Factors of the responses: the root of earth's weights relative to their mean."""
    if response_weight is None:
        return np.ones(n_resp)
    weights = np.maximum(response_weight, r_mean(response_weight) / 1e8)
    return np.sqrt(weights / r_mean(weights))


def refuse_sizes(name: str, values: np.ndarray) -> None:
    """Refuse columns whose sums of squares overflow or vanish when multiplied: earth may never end."""
    _refuse_largest(name, np.abs(values).max(axis=0))


def _refuse_largest(name: str, largest: np.ndarray) -> None:
    bad = (largest > SIZES[1]) | ((largest < SIZES[0]) & (largest > 0))
    if bad.any():
        raise InvalidInputError(
            f"{name} has a column with values up to {largest[bad][0]:g}, whose squares are too "
            f"{'large' if largest[bad][0] > 1 else 'small'} for a double: scale it"
        )


def scale_responses(Y: np.ndarray, scale: bool) -> tuple[np.ndarray, np.ndarray]:
    """The responses as rows, by R's scale(), and the divisors.

    A constant response stays as it is, which leaves all responses of the fit as they are.
    """
    refuse_sizes("y", Y)
    rows = np.ascontiguousarray(Y.T)
    if scale:
        scaled, spread = _core.scale_rows(rows)
        if spread.all():
            return scaled, spread
    return rows, np.ones(len(rows))
