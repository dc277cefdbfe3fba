"""MARS of the R package mda: a single fit, and many responses on one design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .... import bridge
from ....contract import Fits, PathFits
from ...model.fit import Fit
from ...options import EarthOptions
from .engine import BoundInR, batch, fit_from, refuse_weights

MdaOptions = Mapping[str, Any]  # specified options, by mda's names


def fit_mda(
    X: np.ndarray, y: np.ndarray, names: tuple[str, ...], options: MdaOptions
) -> tuple[Fit, float]:
    """Fit one response; return the fit and the GCV reported by mda."""
    found = bridge.call("mars.one", bridge.NamedMatrix(X, names), y, dict(options), package="mda")
    settings = EarthOptions(
        n_features=len(names), degree=options["degree"], thresh=options["thresh"],
        pmethod="backward" if options["prune"] else "none",
    )  # fmt: skip
    return fit_from(found, settings), float(found["mars.gcv"][0])


class BoundMda(BoundInR):
    """mda's MARS bound to one design."""

    def __init__(self, X: np.ndarray, names: tuple[str, ...], options: MdaOptions):
        settings = {
            name: options[name] for name in ("degree", "thresh", "nk", "penalty") if name in options
        }
        super().__init__(X, names, EarthOptions(n_features=len(names), **settings))
        self.given = dict(options)

    def fit_many(
        self, Y: np.ndarray, n_threads: int = 1, weights: np.ndarray | None = None
    ) -> Fits:
        refuse_weights(weights)
        fitted, terms = self._many(Y, self.given)
        return Fits(fitted, terms, terms)

    def fit_path(
        self, Y: np.ndarray, nks: Sequence[int], n_threads: int = 1, weights: np.ndarray | None = None,
    ) -> PathFits:  # fmt: skip
        """Fit every nk separately: mda does not return its path."""
        refuse_weights(weights)
        each = [self._many(Y, self.given | {"nk": nk}) for nk in nks]
        return PathFits(np.stack([fitted for fitted, _ in each]), np.stack([n for _, n in each]))

    def _many(self, Y: np.ndarray, options: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        return batch("mars.many", self.X, Y, self.names, options, package="mda")
