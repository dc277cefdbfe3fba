"""The forward pass of the native engine: which terms there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .... import _core
from ....exceptions import InvalidInputError
from ...arithmetic import sum_in_order
from ...data.design import default_names
from ...options import EarthOptions
from .allowed import Allowed
from .settings import make_design, pass_settings, response_importance, scale_responses

__all__ = ["ForwardPass", "forward_pass"]

ALMOST_ZERO = 1e-10  # earth refuses weights below it


@dataclass(frozen=True)
class ForwardPass:
    """What a forward pass found, dependent columns dropped.

    Attributes
    ----------
    dirs, cuts : (n_terms, p) arrays
        Directions and knots of the terms.
    bx : (n, n_terms) array
        Basis columns, times the square root of the case weights where there are any.
    steps : (n_terms,) array
        The step of the pass that added each term; 0 for the intercept.
    termcond : int
        Why the pass stopped, R's number.
    n_ties : int
        Steps that rounding decided, taken in earth's own order of operations.
    rss_null : float
        RSS of the intercept, in the units of the pass: of the scaled response.
    rss_after, terms_after : (n_steps,) arrays
        The RSS and the number of terms after each step that was tried.
    """

    dirs: np.ndarray
    cuts: np.ndarray
    bx: np.ndarray
    steps: np.ndarray
    termcond: int
    n_ties: int
    rss_null: float
    rss_after: np.ndarray
    terms_after: np.ndarray


def forward_pass(
    X,
    Y,
    options: EarthOptions,
    weights=None,
    feature_names=None,
    *,
    exact=False,
    n_threads=1,
) -> ForwardPass:
    """Run the forward pass; `exact` takes every step in earth's own order of operations."""
    settings = pass_settings(options, len(X))
    if weights is not None:
        _check_weighted(weights, settings)
    design = make_design(X, n_threads)
    importance = response_importance(options.response_weight, Y.shape[1])
    rows, spread = scale_responses(Y * importance, options.is_scaled(Y.shape[1]))
    given: tuple = (exact,)
    if weights is not None:
        given = (weights, _weighted_null_rss(rows, weights))
        rows = np.ascontiguousarray((np.sqrt(weights)[:, None] * Y * importance / spread).T)
    linpreds = list(options.linpreds)
    if options.allowed is not None:
        allowed = Allowed(options.allowed, feature_names or default_names(X.shape[1]))
        found = allowed.run(_core.Steps(design, settings, linpreds, rows, *given))
    else:
        run: Any = _core.forward_pass if weights is None else _core.weighted_pass
        found = run(design, settings, linpreds, rows, *given, n_threads)
    found["terms_after"] = np.array(found["terms_after"], dtype=int)
    return ForwardPass(bx=found.pop("columns").T, **found)


def _check_weighted(weights: np.ndarray, settings: _core.Settings) -> None:
    if settings.newvar_penalty != 0:
        raise InvalidInputError(
            f"newvar_penalty={settings.newvar_penalty:g} but it should be 0 with case weights, "
            "for which earth does not have it"
        )
    if (weights < ALMOST_ZERO).any():
        row = int(np.flatnonzero(weights < ALMOST_ZERO)[0])
        raise InvalidInputError(
            f"sample_weight[{row}]={weights[row]:g} but weights should be greater than {ALMOST_ZERO:g}"
        )


def _weighted_null_rss(rows: np.ndarray, weights: np.ndarray) -> float:
    """RSS of the intercept alone, in earth's order of sums; `rows` are the unweighted responses."""
    null = 0.0
    for row in rows:
        mean = sum_in_order(weights * row) / sum_in_order(weights)
        null = sum_in_order(np.append(null, weights * (row - mean) ** 2))
        null = max(null, 1e-8 * len(row))
    return null
