"""Which predictors matter: R's plot.evimp, one line for each predictor."""

from __future__ import annotations

from .checks import check_model, check_pruning_record
from .style import BLUE, GREY, ORANGE, one_axis, say_instead, shorten_all, tidy

__all__ = ["plot_importance"]


def plot_importance(model, ax=None):
    """Draw the three importance criteria of `model.importance()`, the most important predictor on top.

    gcv and rss are square roots, scaled to 100 as in R, on the lower axis; nsubsets, the number of
    subsets of the pruning pass that use the predictor, is on the upper axis. A predictor that is in
    such a subset but not in the chosen model is marked as unused. The arguments and what is returned are
    as in `plot_model_selection`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth, plots
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = Earth().fit(X, np.abs(X[:, 1]))
    >>> [label.get_text() for label in plots.plot_importance(model).get_yticklabels()][0]
    'x2'
    """
    check_model(model, "model_", "prune_terms_")
    check_pruning_record(model)
    table = model.importance()
    ax = one_axis(ax, height=max(4.0, 1.4 + 0.24 * len(table)))
    # Like R, `importance` does not scale where there is nothing to compare with.
    _draw(ax, table, is_scaled=len(model.model_.feature_names) > 1)
    return ax


def _draw(ax, table, is_scaled: bool) -> None:
    if table.empty:
        say_instead(ax, "the model is its intercept alone:\nno predictor is used")
        return
    places = range(len(table))
    top = ax.twiny()
    top.patch.set_visible(False)
    (subsets,) = top.plot(
        table["nsubsets"], places, "s:", color=GREY, markersize=5, linewidth=1.2, label="nsubsets"
    )
    largest = max(1, int(table["nsubsets"].max()))
    top.set_xlim(-0.04 * largest, 1.04 * largest)
    top.set_xlabel("nsubsets", color=GREY)
    top.tick_params(axis="x", colors=GREY)
    top.xaxis.get_major_locator().set_params(integer=True)
    ax.set_zorder(top.get_zorder() + 1)
    ax.patch.set_visible(False)

    (rss,) = ax.plot(table["rss"], places, "^--", color=ORANGE, markersize=6, label="rss")
    (gcv,) = ax.plot(table["gcv"], places, "o-", color=BLUE, markersize=5, label="gcv")
    lowest = min(0.0, float(table[["gcv", "rss"]].min().min()))
    highest = 100.0 if is_scaled else float(table[["gcv", "rss"]].max().max())
    margin = 0.04 * (highest - lowest)
    ax.set_xlim(lowest - margin, highest + margin)
    names = [
        name + ("" if used else " (unused)")
        for name, used in zip(shorten_all(table.index), table["used"], strict=True)
    ]
    ax.set_yticks(list(places), names, fontsize=_font_size(ax, len(table)))
    ax.set_ylim(len(table) - 0.5, -0.5)
    scale = "square root of gcv and rss, the largest being 100"
    ax.set_xlabel(scale if is_scaled else "gcv and rss")
    tidy(ax)
    ax.legend(handles=[gcv, rss, subsets], loc="lower right", fontsize=9)


def _font_size(ax, n_lines: int) -> float:
    """A size at which the names of n lines stand clear of each other."""
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    return min(9.0, max(4.0, 0.8 * height / n_lines))
