"""What the figures have in common: size, colours, points with error bars."""

from __future__ import annotations

import numpy as np

__all__ = ["BLUE", "GREEN", "GREY", "ORANGE", "PAPER", "diagonal", "new_figure", "ours_and_paper"]

BLUE, ORANGE, GREEN, GREY = "#1f5fa8", "#d95f02", "#1b7a5a", "#777777"
PAPER = {"fmt": "x", "color": ORANGE, "capsize": 3, "markersize": 7, "label": "paper"}
OURS = {"fmt": "o", "color": BLUE, "capsize": 3, "markersize": 5, "label": "ours"}


def new_figure(
    n_rows: int = 1, n_columns: int = 1, width: float = 4.2, height: float = 3.6, **share
):
    """A figure that needs no screen, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, **share)
    for ax in np.ravel(axes):
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)
    return figure, axes


def ours_and_paper(ax, labels, ours, se, paper, paper_se=None) -> None:
    """Two points a label, ours and the paper's, each with three standard errors as its bar."""
    places = np.arange(len(labels))
    bars = 3 * np.nan_to_num(np.asarray(se, dtype=float))
    ax.errorbar(places - 0.12, ours, yerr=bars, **OURS)
    paper = np.array([np.nan if value is None else value for value in paper], dtype=float)
    paper_bars = None if paper_se is None else 3 * np.nan_to_num(np.asarray(paper_se, dtype=float))
    ax.errorbar(places + 0.12, paper, yerr=paper_bars, **PAPER)
    ax.set_xticks(places, labels)
    ax.set_xlim(-0.6, len(labels) - 0.4)


def diagonal(ax, top: float) -> None:
    """The line on which the nominal and the actual degrees of freedom agree."""
    ax.plot([0, top], [0, top], "--", color=GREY, linewidth=1, label="self-consistent", zorder=1)
