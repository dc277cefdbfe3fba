"""Columns that are matrices: a mapping of arrays as a frame, in which such a column is several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError

__all__ = ["MatrixColumn", "frame_of_mapping"]


@dataclass(frozen=True)
class MatrixColumn:
    """The columns of a frame that a matrix became, and the names of the matrix's own columns, if any."""

    parts: tuple[str, ...]
    names: tuple[str, ...] | None


def frame_of_mapping(data: Mapping) -> tuple[pd.DataFrame, dict[str, MatrixColumn]]:
    """Vectors are columns; a matrix named m becomes m[,1], m[,2], ...

    >>> frame, matrices = frame_of_mapping({"y": [1, 2], "m": np.eye(2)})
    >>> list(frame.columns), matrices["m"].parts
    (['y', 'm[,1]', 'm[,2]'], ('m[,1]', 'm[,2]'))
    """
    columns: dict[str, np.ndarray] = {}
    matrices: dict[str, MatrixColumn] = {}
    for name, values in data.items():
        name = str(name)
        own = values if isinstance(values, pd.DataFrame) else None
        values = values if isinstance(values, pd.Series) else np.asarray(values)
        if values.ndim == 2 and values.shape[1] > 0:
            parts = tuple(f"{name}[,{j + 1}]" for j in range(values.shape[1]))
            names = None if own is None else tuple(str(label) for label in own.columns)
            matrices[name] = MatrixColumn(parts, names)
            columns |= dict(zip(parts, values.T, strict=True))
        elif values.ndim == 1:
            columns[name] = values.array if isinstance(values, pd.Series) else values
        else:
            raise InvalidInputError(
                f"data[{name!r}] has the shape {values.shape} but it should be a vector or a matrix"
            )
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1:
        raise InvalidInputError("data holds no columns, or columns of different lengths")
    return pd.DataFrame(columns), matrices
