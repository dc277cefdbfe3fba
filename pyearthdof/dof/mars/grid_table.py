"""A table on a grid of n, p and more, from the package, and weights for what lies between its cells."""

from __future__ import annotations

import io
import json
from importlib import resources
from typing import ClassVar, Self

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline

from ..._utils.checks import check_count, check_shape, is_shape
from ...exceptions import InvalidInputError

__all__ = ["GridTable", "line_weights", "spline_weights"]


class GridTable:
    """A frame whose axes are columns, and what made it."""

    _AXES: ClassVar[tuple[str, ...]]
    _FILE: ClassVar[str]
    _EXACT: ClassVar[str]  # the function for what the table does not have, and what it does

    def __init__(self, frame: pd.DataFrame, made: dict):
        self.frame = frame
        self.made = made
        self._axes = {name: np.unique(frame[name].to_numpy()) for name in self._AXES}

    @classmethod
    def _shipped(cls) -> Self:
        """The table that comes with the package."""
        text = resources.files("pyearthdof").joinpath("data", cls._FILE).read_text("utf-8")
        first, rows = text.split("\n", 1)
        return cls(pd.read_csv(io.StringIO(rows)), json.loads(first.removeprefix("# ")))

    def to_frame(self) -> pd.DataFrame:
        """A copy of the frame; `attrs` has what made it."""
        frame = self.frame.copy()
        frame.attrs = json.loads(json.dumps(self.made))
        return frame

    def _check_shape(self, shape) -> tuple[int, int]:
        """The numbers of observations and predictors of a Gaussian design."""
        if not is_shape(shape):
            raise InvalidInputError(
                f"shape is a {type(shape).__name__} but it should be a tuple (n, p) of integers: the table "
                f"knows Gaussian designs only, and {self._EXACT.split()[0]} takes a matrix"
            )
        return check_shape(shape)

    def _check_place(self, **place) -> list[int]:
        """Whole numbers inside the grid, in the order that they are given in."""
        found = {name: check_count(name, value, 1) for name, value in place.items()}
        for name in self._AXES:
            self._check_inside(name, found[name], self._axes[name])
        return list(found.values())

    def _check_inside(self, name: str, value: int, axis: np.ndarray, where: str = "") -> None:
        """Refuse a value beyond the ends of an axis."""
        low, high = axis[[0, -1]]
        if not low <= value <= high:
            raise InvalidInputError(
                f"{name}={value} but it should be from {low} to {high}{where}, which the table has; "
                f"{self._EXACT}"
            )


def spline_weights(grid, x) -> np.ndarray:
    """Weights of the values at the grid in a cubic spline in log x."""
    return CubicSpline(np.log(grid), np.eye(len(grid)))(np.log(x))


def line_weights(grid, x) -> np.ndarray:
    """Weights of the values at the grid in straight lines in log x."""
    return np.array([np.interp(np.log(x), np.log(grid), row) for row in np.eye(len(grid))])
