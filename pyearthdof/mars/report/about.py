"""What a page is told beside the model: of the estimator, of its training rows, of new rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..options import EarthOptions

__all__ = ["About", "Rows"]


@dataclass(frozen=True)
class Rows:
    """Rows and what was observed there.

    Attributes
    ----------
    called : what the rows are, in words.
    predicted : (n, m) predictions; of a classifier shares.
    observed : (n, m) array, or None where it is not known; of a classifier 0 and 1.
    chosen : whether the predicted class of each row was right; of a classifier alone.
    controls : (n, number of controls) rows for the explorer, or None.
    outside : number of rows outside of the training range.
    """

    called: str
    predicted: np.ndarray
    observed: np.ndarray | None = None
    chosen: np.ndarray | None = None
    controls: np.ndarray | None = None
    outside: int = 0


@dataclass(frozen=True)
class About:
    """What is known of a fit beside its `MarsModel`; all of it may be missing."""

    title: str | None = None
    level: float = 0.95
    classes: tuple[str, ...] | None = None
    threshold: float = 0.5
    is_named: bool = False
    options: EarthOptions | None = None
    mda_options: Mapping[str, Any] | None = None
    seed: int | None = None
    has_weights: bool = False
    anova: pd.DataFrame | None = None
    cv: pd.DataFrame | None = None
    df: Any = None
    training: Rows | None = None
    rugs: Mapping[str, np.ndarray] = field(default_factory=dict)
    new: Rows | None = None
    frame: pd.DataFrame | None = None  # the new rows, where they have names
    file: str | None = None  # the estimator as JSON, where there is one
    versions: Mapping[str, str] = field(default_factory=dict)
