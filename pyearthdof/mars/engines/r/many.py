"""Many responses on one design by R's earth, in few crossings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .... import bridge
from ....contract import BoundMars, Fits, PathFits
from ...options import EarthOptions
from ..path import check_path
from . import engine as engine_r

__all__ = ["BoundInR", "BoundR"]


class BoundInR(BoundMars):
    """What R fits."""

    engine = "r"

    @property
    def versions(self) -> dict[str, str]:
        return bridge.r_versions()


class BoundR(BoundInR):
    """MARS by R's earth on one design.

    Parameters
    ----------
    X : (n, p) array
    names : names of its columns
    options : EarthOptions
    """

    def __init__(self, X, names, options: EarthOptions):
        self.X, self.names, self.options = X, names, options

    def fit_many(self, Y, n_threads: int = 1) -> Fits:
        """Fitted values and numbers of terms for every column of Y; R has one thread."""
        fitted, terms = engine_r.fit_many(self.X, Y, self.names, self.options)
        return Fits(fitted, terms, terms)

    def fit_path(self, Y, nks, n_threads: int = 1) -> PathFits:
        """Unpruned fits at each nk from one forward pass for each response, where it can be cut."""
        check_path(self.options)
        fitted, terms = np.empty((len(nks), *Y.shape)), np.empty((len(nks), Y.shape[1]))
        paths = engine_r.path_many(self.X, Y, nks, replace(self.options, nk=max(nks)))
        for j, (fits, sizes) in enumerate(paths):
            fitted[:, :, j] = fits.T
            terms[:, j] = sizes
        return PathFits(fitted, terms)
