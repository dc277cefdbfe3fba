"""Engine interface: fitting a single model, and fitting many responses on one design."""

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
    """Base class for MARS engines: R's earth, or compiled code that fits the same models without R."""

    name: ClassVar[str]

    @abstractmethod
    def fit(
        self, data: TrainingData, options: EarthOptions, seed: int | None = None, n_threads: int = 1
    ) -> Fit:
        """Fit one model; `seed` seeds R's cross-validation if nfold is 2 or more."""

    @abstractmethod
    def reprune(
        self, fit: Fit, data: TrainingData, options: EarthOptions, seed: int | None = None,
        n_threads: int = 1,
    ) -> Fit:  # fmt: skip
        """Prune the forward pass of a fit again, including the folds of its cross-validation."""

    @abstractmethod
    def bind(self, design: Design, options: EarthOptions) -> BoundEngine:
        """Bind the engine to a design, for many fits."""


class BoundEngine(Bound):
    """Engine bound to one design."""

    engine: str

    def __init__(self, X: np.ndarray, names: Sequence[str], options: EarthOptions):
        self.X, self.names, self.options = X, names, options

    @abstractmethod
    def fit_many(
        self, Y: np.ndarray, n_threads: int = 1, weights: np.ndarray | None = None
    ) -> Fits:
        """Fit every column of Y, with optional case weights: fitted values and numbers of terms."""

    @abstractmethod
    def fit_path(
        self, Y: np.ndarray, nks: Sequence[int], n_threads: int = 1, weights: np.ndarray | None = None,
    ) -> PathFits:  # fmt: skip
        """Fit every column of Y for every nk, with optional case weights."""

    def fit_sizes(
        self, Y: np.ndarray, Z: np.ndarray | None = None, weights: np.ndarray | None = None,
        n_threads: int = 1,
    ) -> SizeFits:  # fmt: skip
        """Pruning sequence of every column of Y, if the engine provides it."""
        raise InvalidInputError(
            f"engine={self.engine!r} but pruning sequences need engine='native'"
        )
