"""Many responses on one design, in threads: their fits, or their fits along a whole path of nk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .... import _core
from ....contract import BoundMars, Fits, PathFits, SizeFits
from ...options import EarthOptions
from ..path import check_path, steps_allowed
from .fit import fit
from .settings import make_design, pass_settings, refuse_sizes
from .sizes import fit_sizes

__all__ = ["BoundNative"]


class BoundNative(BoundMars):
    """MARS with the native engine on one design, whose columns are sorted once.

    Parameters
    ----------
    X : (n, p) array
    names : names of its columns, for an `allowed` function
    options : EarthOptions
    """

    engine = "native"
    has_threads = True

    def __init__(self, X, names, options: EarthOptions):
        self.X, self.names, self.options = np.asarray(X, dtype=float), names, options
        self.settings = pass_settings(options, len(self.X))
        self.design = make_design(self.X)
        self.linpreds, self.is_scaled = list(options.linpreds), options.is_scaled(1)

    def fit_many(self, Y, n_threads: int = 1) -> Fits:
        """Fitted values and numbers of terms for every column of Y.

        Pruning is backward or none; other methods, an `allowed` function and the search for weights fit one
        response at a time.
        """
        options = self.options
        alone = options.allowed is not None or options.force_weights
        if alone or options.pmethod not in ("none", "backward"):
            fits = [fit(self.X, y, options, None, self.names) for y in Y.T]
            terms = np.array([len(f.selected) for f in fits])
            return Fits(np.column_stack([f.fitted for f in fits]), terms, terms)
        refuse_sizes("Y", Y)
        nprune = options.nk if options.nprune is None else min(options.nprune, options.nk)
        is_pruned = options.pmethod == "backward"
        fitted, terms = _core.fit_many(
            self.design, self.settings, self.linpreds, np.ascontiguousarray(Y.T), self.is_scaled,
            is_pruned, nprune, n_threads,
        )  # fmt: skip
        return Fits(fitted.T, terms, terms)

    def fit_path(self, Y, nks, n_threads: int = 1) -> PathFits:
        """Unpruned fits at each nk from one forward pass for each response.

        Without a threshold the fit at nk = k is the beginning of the pass at any larger nk, so `thresh`
        must be 0 and `pmethod` none.
        """
        check_path(self.options)
        refuse_sizes("Y", Y)
        settings = pass_settings(replace(self.options, nk=max(nks)), len(self.X))
        fitted, terms = _core.fit_paths(
            self.design, settings, self.linpreds, np.ascontiguousarray(Y.T), self.is_scaled,
            [steps_allowed(nk) for nk in nks], n_threads,
        )  # fmt: skip
        return PathFits(np.ascontiguousarray(fitted.transpose(1, 2, 0)), terms.T.astype(float))

    def fit_sizes(self, Y, Z=None, weights=None, n_threads: int = 1) -> SizeFits:
        """The pruning sequence of every column of Y: see `sizes.fit_sizes`."""
        return fit_sizes(self, Y, Z, weights, n_threads)
