"""What the pictures have in common: colours, new axes, the grid, names that fit."""

from __future__ import annotations

import numpy as np

from .checks import check_axis

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "ORANGE",
    "evenly_chosen",
    "new_axes",
    "one_axis",
    "say_instead",
    "shorten",
    "shorten_all",
    "tidy",
]

BLUE, ORANGE, GREEN, GREY = "#1f5fa8", "#d95f02", "#1b7a5a", "#777777"
LONGEST_NAME = 24


def new_axes(n_rows: int = 1, n_columns: int = 1, width: float = 6.0, height: float = 4.0):
    """A pyplot figure of `width` times `height` inches; its axes as an array of rows and columns."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(width, height), layout="constrained")
    return figure.subplots(n_rows, n_columns, squeeze=False)


def one_axis(ax=None, width: float = 6.0, height: float = 4.0):
    """The Axes that was given, or that of a new pyplot figure."""
    return new_axes(1, 1, width, height)[0, 0] if ax is None else check_axis(ax)


def tidy(ax) -> None:
    """A light grid behind what is drawn."""
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def shorten(name, longest: int = LONGEST_NAME) -> str:
    """A name that fits under an axis: a long one keeps its beginning and its end.

    >>> shorten("temperature_at_sandburg_air_force_base", 20)
    'temperatur…orce_base'
    """
    # A lone dollar sign would open matplotlib's mathematics.
    name = str(name)
    if len(name) > longest:
        end = (longest - 1) // 2
        name = name[: longest - 1 - end] + "…" + name[-end:]
    return name.replace("$", r"\$")


def shorten_all(names) -> list[str]:
    """Short names that stay different from each other."""
    longest = LONGEST_NAME
    short = [shorten(name, longest) for name in names]
    while len(set(short)) < len(set(names)):
        longest += 4
        short = [shorten(name, longest) for name in names]
    return short


def say_instead(ax, sentence: str) -> None:
    """An empty panel that says why it is empty."""
    ax.text(0.5, 0.5, sentence, transform=ax.transAxes, ha="center", va="center", color=GREY)
    ax.set(xticks=[], yticks=[])
    ax.grid(False)


def evenly_chosen(values: np.ndarray, most: int) -> np.ndarray:
    """At most `most` of the values, evenly spread over their order; the ends are kept."""
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).round().astype(int)]
