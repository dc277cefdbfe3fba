"""What the native engine prepares before the compiled loops run: design, settings, scaling."""

from __future__ import annotations

import numpy as np

from .... import _core
from ...._utils.checks import check_sizes, refusal
from ...arithmetic.sums import r_mean
from ...options import EarthOptions

__all__ = [
    "make_design",
    "pass_settings",
    "refuse_sizes",
    "response_importance",
    "scale_responses",
]

ALL_PARENTS = 10_001  # earth's number for it, above any nk
SIZES = (1e-75, 1e75)  # of the largest value of a column: products of sums of squares are numbers


def make_design(X: np.ndarray, n_threads: int = 1) -> _core.Design:
    """Sort the predictors, once for all fits on them."""
    design = _core.Design(X, n_threads)
    check_sizes("X", design.reach(), *SIZES)
    return design


def pass_settings(options: EarthOptions, n: int) -> _core.Settings:
    """What the forward pass on n rows is told, in earth's limits."""
    if options.endspan > n:  # of the rows of a fold; for all rows it was checked
        raise refusal("endspan", options.endspan, f"at most the number of rows, {n}")
    fast_k = options.fast_k
    return _core.Settings(
        degree=options.degree,
        nk=options.nk,
        penalty=options.penalty,
        thresh=options.thresh,
        minspan=max(options.minspan, -n),  # more knots than rows there are none
        endspan=options.endspan,
        newvar_penalty=options.newvar_penalty,
        fast_k=ALL_PARENTS if fast_k <= 0 else min(max(3, fast_k), ALL_PARENTS),
        fast_beta=options.fast_beta,
        adjust_endspan=options.adjust_endspan,
        auto_linpreds=options.auto_linpreds,
    )


def response_importance(response_weight: np.ndarray | None, n_resp: int) -> np.ndarray:
    """Factors of the responses: the root of earth's weights relative to their mean."""
    if response_weight is None:
        return np.ones(n_resp)
    weights = np.maximum(response_weight, r_mean(response_weight) / 1e8)
    return np.sqrt(weights / r_mean(weights))


def refuse_sizes(name: str, values: np.ndarray) -> None:
    """Refuse columns whose sums of squares overflow or vanish when multiplied: earth may never end."""
    check_sizes(name, np.abs(values).max(axis=0), *SIZES)


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
