"""The penalty c of MARS: from terms to nominal degrees of freedom and back."""

from __future__ import annotations

import numpy as np

from ...mars.components.terms import nominal_df as nominal
from ...mars.options import default_penalty

__all__ = ["corrected_penalty", "default_penalty", "nominal", "penalty_before_zero"]


def corrected_penalty(df, r):
    """The penalty at which r terms have df nominal degrees of freedom, never below 0 (Algorithm 2).

    Examples
    --------
    >>> from pyearthdof.dof.mars.penalty import corrected_penalty
    >>> float(corrected_penalty(51.0, 21))
    3.0
    """
    return np.maximum(penalty_before_zero(df, r), 0.0)


def penalty_before_zero(df, r):
    """2 (df - r)/(r - 1), which is smooth in df and r also where the penalty itself is 0."""
    return 2 * (df - r) / (r - 1)
