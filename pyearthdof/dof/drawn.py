"""What the results of this folder have in common: a picture, the rows of a curve, plain values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from .._utils.checks import check_level
from .._utils.html import ShowsTable
from .montecarlo.jackknife import Jackknife

__all__ = ["Drawn", "DrawnCurve", "DrawnSizes", "FromTable", "plain_fields"]


def plain_fields(result, *without: str) -> dict:
    """The fields of a result as plain Python values, ready for JSON."""
    return {
        f.name: _plain(getattr(result, f.name)) for f in fields(result) if f.name not in without
    }


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, pd.DataFrame):
        return value.to_dict("list")
    return value.to_dict() if hasattr(value, "to_dict") else value


class FromTable(ShowsTable):
    """What was chosen, or arrived at, by the rows of a table."""

    _TABLE = "table"

    def to_frame(self) -> pd.DataFrame:
        """The table: a row for each candidate, or each step on the way."""
        return getattr(self, self._TABLE).copy()

    def to_dict(self) -> dict:
        """Everything as plain Python values, ready for JSON."""
        return plain_fields(self)


class Drawn(ABC):
    """A result with a picture, which `_draw` makes."""

    def plot(self, ax=None):
        """Draw the result; the class says what is drawn.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        Axes
        """
        from ..plots.axes import one_axis

        ax = one_axis(ax, *self._inches())
        self._draw(ax)
        return ax

    def _inches(self) -> tuple[float, float]:
        return 6.4, 4.8

    @abstractmethod
    def _draw(self, ax) -> None:
        """Draw into the axes."""


class DrawnSizes(Drawn):
    """The df of each size of a model, drawn by `pyearthdof.plots.plot_sizes`."""

    def _inches(self) -> tuple[float, float]:
        return 6.0, 4.0

    def _draw(self, ax) -> None:
        from ..plots import plot_sizes

        plot_sizes(self, ax)


class DrawnCurve(ShowsTable, Drawn):
    """The df at several points: `_COLUMNS` have a value for each point, `_REST` one for all."""

    df: np.ndarray
    nominal_df: Any
    left_out: Any
    _COLUMNS: tuple[str, ...]
    _REST: tuple[str, ...]

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of intervals for the df at each point, each with this probability.

        As in `DegreesOfFreedom.interval`. One draw serves all points, so neighbours err together.

        Parameters
        ----------
        level : float
            Between 0 and 1.
        """
        level = check_level(level)
        pairs = [
            Jackknife(float(df), left).interval(level)
            for df, left in zip(self.df, self.left_out, strict=True)
        ]
        lower, upper = np.array(pairs).T
        return lower, upper

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """One row for each point; `lower` and `upper` are intervals of that level for the df."""
        frame = pd.DataFrame(self._columns())
        after_se = frame.columns.get_loc("se") + 1
        for k, ends in enumerate(self.interval(level)):
            frame.insert(after_se + k, ("lower", "upper")[k], ends)
        return frame

    def _spread(self) -> list[np.ndarray]:
        """How far the intervals go below and above the df."""
        lower, upper = self.interval()
        return [np.maximum(self.df - lower, 0), np.maximum(upper - self.df, 0)]

    def _draw_nominal(self, ax, label: str, **style) -> None:
        """Nominal against actual df, and the line where they are equal."""
        top = 1.05 * max(self.df.max(), self.nominal_df.max())
        ax.plot([0, top], [0, top], "--", color="grey", label="self-consistent")
        label = f"{label}, 95 % intervals"
        ax.errorbar(self.df, self.nominal_df, xerr=self._spread(), label=label, **style)
        ax.set(xlabel="actual df", ylabel="nominal df", xlim=(0, top), ylim=(0, top))

    def _columns(self) -> dict:
        return {name: getattr(self, name) for name in self._COLUMNS}

    def to_dict(self) -> dict:
        """Everything as plain Python values, ready for JSON; intervals of 95 % in place of `left_out`."""
        columns = {name: values.tolist() for name, values in self.to_frame().items()}
        return columns | {name: getattr(self, name) for name in self._REST}
