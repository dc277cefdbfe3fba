"""The panels of the effect pictures: a curve, points, a contour, or one line for each level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .predictors import Predictors
from .style import BLUE, GREEN, GREY, ORANGE, evenly_chosen, shorten, tidy

__all__ = ["Effect", "draw_effects"]

LINE_COLOURS = (BLUE, ORANGE, GREEN, "#7b4ea3", "#b8860b", "#c23b5a", "#3a8fa8", "#555555")
LINE_STYLES = ("-", "--", "-.", ":")
MOST_TICKS = 1000
MOST_DOTS = 800
BAND = 0.18  # two that overlap are told apart
HATCH, HATCH_COLOUR = "///", "#999999"  # seen on both ends of the colours
ARROW = 0.06  # what is beyond the scale, as a share of its bar
LARGEST = 1e200  # what is infinite, or larger than 1e250, matplotlib would leave white


@dataclass(frozen=True)
class Effect:
    """Predictions on a grid: (len(grid),) for one column, one axis a column for two.

    A grid is an array of numbers or a list of levels; where only one of two columns has levels it is
    the second.
    """

    names: tuple[str, ...]
    grids: tuple[np.ndarray | list, ...]
    values: np.ndarray
    bands: tuple[np.ndarray, ...] = ()  # (2, len(grid)) each, the widest first

    @property
    def is_surface(self) -> bool:
        """Whether it needs colours: two columns of numbers."""
        return len(self.grids) == 2 and not any(isinstance(grid, list) for grid in self.grids)


def draw_effects(axes, effects, predictors, fitted, label, *, is_own_figure: bool) -> None:
    """Draw one effect into each of the axes, all on one scale that holds every curve.

    Contours count only as far as the predictions of the training rows, `fitted`, go: corners without
    training rows often have wild predictions that would flatten everything else. They have the colour of
    the scale's end and are hatched, and the bar says so.
    """
    low, high = _limits(
        [
            np.clip(e.values, fitted.min(), fitted.max()) if e.is_surface else e.values
            for e in effects
        ]
        + [band for e in effects for band in e.bands]
    )
    levels = _contour_levels(low, high)
    extend = _beyond(levels, [e.values for e in effects if e.is_surface])
    filled = {}
    for place, (ax, effect) in enumerate(zip(axes, effects, strict=True)):
        tidy(ax)
        ax.set_xlabel(shorten(effect.names[0]))
        if effect.is_surface:
            filled[place] = _draw_surface(ax, effect, predictors, levels, extend)
            continue
        if len(effect.grids) == 1:
            _draw_single(ax, effect, predictors)
        else:
            _draw_lines(ax, effect)
        ax.set_ylim(low, high)
        if not is_own_figure or ax.get_subplotspec().is_first_col():
            ax.set_ylabel(shorten(label, 30))
    if is_own_figure and filled:
        # Whole rows, so that the bar stands right of the last column.
        first_row = axes[min(filled)].get_subplotspec().rowspan.start
        beside = [ax for ax in axes if ax.get_subplotspec().rowspan.start >= first_row]
        _draw_bar(beside, filled[min(filled)], label)
    else:
        for place, contour in filled.items():
            _draw_bar(axes[place], contour, label)


def _draw_bar(axes, contour, label: str) -> None:
    from matplotlib import rc_context
    from matplotlib.ticker import MaxNLocator

    low, high = contour.levels[[0, -1]]
    ticks = MaxNLocator(6).tick_values(low, high)
    ticks = ticks[(ticks >= low) & (ticks <= high)]  # others would stand in the arrows
    with rc_context({"hatch.color": HATCH_COLOUR}):
        bar = contour.axes.figure.colorbar(
            contour, ax=axes, ticks=ticks, pad=0.02, extendfrac=ARROW, label=shorten(label, 30)
        )
    if contour.extend != "neither":
        bar.ax.text(
            0, -ARROW - 0.02, "hatched:\nbeyond all\nfitted values",
            transform=bar.ax.transAxes, va="top", fontsize=7.5,
        )  # fmt: skip


def _draw_single(ax, effect: Effect, predictors: Predictors) -> None:
    (grid,) = effect.grids
    if isinstance(grid, list):
        places = np.arange(len(grid))
        for low, high in effect.bands:
            ax.bar(places, high - low, 0.7, bottom=low, color=BLUE, alpha=BAND, linewidth=0)
        ax.hlines(effect.values, places - 0.35, places + 0.35, color=BLUE, linewidth=1.2, alpha=0.5)
        ax.plot(places, effect.values, "o", color=BLUE, markersize=6)
        _level_ticks(ax, grid)
        return
    for low, high in effect.bands:
        ax.fill_between(grid, low, high, color=BLUE, alpha=BAND, linewidth=0)
    ax.plot(grid, effect.values, color=BLUE, linewidth=1.8)
    seen = evenly_chosen(np.sort(predictors.frame[effect.names[0]].to_numpy(float)), MOST_TICKS)
    ax.plot(
        seen, np.zeros(len(seen)), "|", transform=ax.get_xaxis_transform(), color=GREY,
        markersize=8, markeredgewidth=0.6, alpha=0.35,
    )  # fmt: skip
    ax.margins(x=0.02)


def _draw_lines(ax, effect: Effect) -> None:
    """One line for each level of the second column; levels that predict the same share one."""
    grid, levels = effect.grids
    has_levels = isinstance(grid, list)
    x = np.arange(len(grid)) if has_levels else grid
    groups = _equal_columns(effect.values)
    for j, members in enumerate(groups):
        ax.plot(
            x, effect.values[:, members[0]], linestyle=LINE_STYLES[j % len(LINE_STYLES)],
            marker="o" if has_levels else None, markersize=4, linewidth=1.6,
            color=LINE_COLOURS[j % len(LINE_COLOURS)],
            label=_group_name([levels[place] for place in members]),
        )  # fmt: skip
    if has_levels:
        _level_ticks(ax, grid)
    ax.legend(
        title=shorten(effect.names[1]), fontsize=7.5, title_fontsize=8, handlelength=2.2,
        ncols=1 if len(groups) <= 8 else 2,
    )  # fmt: skip


def _equal_columns(values: np.ndarray) -> list[list[int]]:
    """The columns in groups of equal ones; equal is what nobody could see apart."""
    tolerance = 1e-6 * float(np.ptp(values))
    groups: list[list[int]] = []
    for j in range(values.shape[1]):
        for members in groups:
            if np.abs(values[:, j] - values[:, members[0]]).max() <= tolerance:
                members.append(j)
                break
        else:
            groups.append([j])
    return groups


def _group_name(levels: list) -> str:
    if len(levels) <= 2:
        return ", ".join(shorten(level, 14) for level in levels)
    return f"{shorten(levels[0], 14)} and {len(levels) - 1} more"


def _draw_surface(ax, effect: Effect, predictors: Predictors, levels, extend: str):
    from matplotlib import rc_context

    x, y = effect.grids
    values = np.clip(effect.values, -LARGEST, LARGEST).T
    ax.grid(False)
    below, above = ([HATCH] * (extend in (end, "both")) for end in ("min", "max"))
    hatches = [*below, *[None] * (len(levels) - 1), *above]
    with rc_context({"hatch.color": HATCH_COLOUR}):
        filled = ax.contourf(
            x, y, values, levels=levels, cmap=_colours(), extend=extend, hatches=hatches
        )
    # matplotlib warns where there is no line to draw, as on a flat surface.
    if np.any((levels > values.min()) & (levels < values.max())):
        ax.contour(x, y, values, levels=levels, colors="white", linewidths=0.4, alpha=0.6)
    rows = evenly_chosen(predictors.frame[list(effect.names)].to_numpy(float), MOST_DOTS)
    ax.plot(rows[:, 0], rows[:, 1], ".", color="black", markersize=2, alpha=0.6)
    ax.set_ylabel(shorten(effect.names[1]))
    return filled


def _beyond(levels: np.ndarray, surfaces: list[np.ndarray]) -> str:
    """On which sides the surfaces go beyond the levels, in matplotlib's words."""
    is_below = any((values < levels[0]).any() for values in surfaces)
    is_above = any((values > levels[-1]).any() for values in surfaces)
    return {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[is_below, is_above]


def _colours():
    """Viridis without its darkest part, on which the dots could not be seen."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["viridis"](np.linspace(0.25, 1, 256)))


def _level_ticks(ax, levels) -> None:
    names = [shorten(level, 14) for level in levels]
    ax.set_xticks(range(len(names)), names, fontsize=9)
    if sum(map(len, names)) > 26:
        size = 8 if len(names) <= 12 else 6
        ax.set_xticks(
            range(len(names)), names, fontsize=size, rotation=40, ha="right", rotation_mode="anchor"
        )
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.grid(False, axis="x")


def _limits(values) -> tuple[float, float]:
    low = min(float(v.min()) for v in values)
    high = max(float(v.max()) for v in values)
    margin = 0.06 * (high - low) or max(0.5, 0.1 * abs(high))
    return low - margin, high + margin


def _contour_levels(low: float, high: float) -> np.ndarray:
    from matplotlib.ticker import MaxNLocator

    return np.asarray(MaxNLocator(16).tick_values(low, high))
