"""earth's way with case weights."""

from __future__ import annotations

import numpy as np

from ...arithmetic import r_mean
from ...data.design import differ
from ...options import EarthOptions

__all__ = ["effective_weights"]


def effective_weights(weights, n: int, options: EarthOptions) -> np.ndarray | None:
    """The weights that earth works with: none where all are equal, and nothing too close to zero.

    Too close is below a hundred millionth of their mean.
    """
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    if not (options.force_weights or differ(weights)):
        return None
    return np.maximum(weights, r_mean(weights) / 1e8)
