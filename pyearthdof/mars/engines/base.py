"""The interface of an engine: fits of one model, and a design that many responses are fitted on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...contract import Bound, Fits, PathFits, SizeFits
from ...exceptions import InvalidInputError

if TYPE_CHECKING:
    from ..data.design import Design
    from ..data.training import TrainingData
    from ..model.fit import Fit
    from ..options import EarthOptions


class Engine(ABC):
    """Fits MARS: R's earth, or the compiled code that gives the same models without R."""

    name: ClassVar[str]

    @abstractmethod
    def fit(
        self, data: TrainingData, options: EarthOptions, seed: int | None = None, n_threads: int = 1
    ) -> Fit:
        """Fit one model; `seed` is R's of the cross-validation, for nfold of 2 or more."""

    @abstractmethod
    def reprune(
        self, fit: Fit, data: TrainingData, options: EarthOptions, seed: int | None = None,
        n_threads: int = 1,
    ) -> Fit:  # fmt: skip
        """Prune the forward pass of a fit again, in the folds of a cross-validation, too."""

    @abstractmethod
    def bind(self, design: Design, options: EarthOptions) -> BoundEngine:
        """The engine on a design, for many fits."""


class BoundEngine(Bound):
    """An engine on one design."""

    engine: str

    def __init__(self, X: np.ndarray, names: Sequence[str], options: EarthOptions):
        self.X, self.names, self.options = X, names, options

    @abstractmethod
    def fit_many(
        self, Y: np.ndarray, n_threads: int = 1, weights: np.ndarray | None = None
    ) -> Fits:
        """Fitted values and numbers of terms for every column of Y, with case weights if there are any."""

    @abstractmethod
    def fit_path(
        self, Y: np.ndarray, nks: Sequence[int], n_threads: int = 1, weights: np.ndarray | None = None,
    ) -> PathFits:  # fmt: skip
        """Fit every column of Y for every nk, with case weights if there are any."""

    def fit_sizes(
        self, Y: np.ndarray, Z: np.ndarray | None = None, weights: np.ndarray | None = None,
        n_threads: int = 1,
    ) -> SizeFits:  # fmt: skip
        """The pruning sequence of every column of Y, as far as the engine has it."""
        raise InvalidInputError(
            f"engine={self.engine!r} but pruning sequences need engine='native'"
        )
