"""Many responses on one design, in threads: their fits, or their fits along a whole path of nk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ... import _core
from ...exceptions import InvalidInputError
from ..path import steps_allowed
from .fit import fit
from .settings import is_scaled, make_design, refuse_sizes, resolve_settings

__all__ = ["fit_many", "path_many"]

MOST_VALUES = 8_000_000  # fitted values of paths at a time: 64 MB


def fit_many(X, Y, feature_names, options, n_threads=1) -> tuple[np.ndarray, np.ndarray]:
    """Fitted values (n, m) and numbers of terms (m,) for every column of Y.

    Pruning is backward or none; other methods, an `allowed` function and the search for weights fit one
    response at a time.
    """
    X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
    alone = options["allowed"] is not None or options["force_weights"]
    if alone or options["pmethod"] not in ("none", "backward"):
        fits = [fit(X, y, options, None, feature_names) for y in Y.T]
        return np.column_stack([f.fitted for f in fits]), np.array([len(f.selected) for f in fits])
    refuse_sizes("y", Y)
    settings = resolve_settings(options, *X.shape)
    nprune = settings.nk if options["nprune"] is None else int(options["nprune"])
    fitted, n_terms = _core.fit_many(
        make_design(X, n_threads), settings, list(options["linpreds"]), np.ascontiguousarray(Y.T),
        is_scaled(options, 1), options["pmethod"] == "backward", nprune, n_threads,
    )  # fmt: skip
    return fitted.T, n_terms


def path_many(
    X, Y, nks: Sequence[int], options, n_threads=1
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for every column of Y in turn, its unpruned fits at each nk from one forward pass.

    Without a threshold the fit at nk = k is the beginning of the pass at any larger nk, so `thresh` must be
    0 and `pmethod` none. Yields (fitted (n, len(nks)), n_terms (len(nks),)): the caller keeps what it needs.
    """
    X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
    if options["thresh"] != 0 or options["pmethod"] != "none" or options["nprune"] is not None:
        raise InvalidInputError(
            f"thresh={options['thresh']!r}, pmethod={options['pmethod']!r}, "
            f"nprune={options['nprune']!r} but a path needs 0, 'none' and None"
        )
    if options["allowed"] is not None:
        raise InvalidInputError("allowed should be None for a path over many responses")
    refuse_sizes("y", Y)
    settings = resolve_settings(dict(options) | {"nk": max(nks)}, *X.shape)
    design, rows = make_design(X, n_threads), np.ascontiguousarray(Y.T)
    steps = [steps_allowed(nk) for nk in nks]
    piece = max(4 * n_threads, MOST_VALUES // (len(X) * len(nks)))
    for first in range(0, len(rows), piece):
        fitted, n_terms = _core.fit_paths(
            design, settings, list(options["linpreds"]), rows[first : first + piece],
            is_scaled(options, 1), steps, n_threads,
        )  # fmt: skip
        for values, counts in zip(fitted, n_terms, strict=True):
            yield values.T, counts
