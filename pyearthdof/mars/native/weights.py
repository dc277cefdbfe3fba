"""earth's way with case weights."""

from __future__ import annotations

import numpy as np

from ..options import EarthOptions
from .r_sums import r_mean

__all__ = ["differ", "effective_weights"]


def differ(weights: np.ndarray) -> bool:
    """Whether weights are weights to earth: equal ones are none."""
    return bool((np.abs(weights - weights[0]) > 1e-8).any())


def effective_weights(weights, n: int, options: EarthOptions) -> np.ndarray | None:
    """The weights that earth works with: none where all are equal, and nothing too close to zero.

    Too close is below a hundred millionth of their mean.
    """
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    if not (options.force_weights or differ(weights)):
        return None
    return np.maximum(weights, r_mean(weights) / 1e8)
