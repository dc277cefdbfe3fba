"""How large the model should be: GRSq and RSq against the number of terms."""

from __future__ import annotations

import numpy as np

from .checks import check_model, check_pruning_record
from .style import BLUE, GREY, ORANGE, one_axis, tidy

__all__ = ["draw_model_selection", "plot_model_selection"]

NEEDED = ("rss_per_subset_", "gcv_per_subset_", "prune_terms_", "dirs_", "n_terms_")


def plot_model_selection(model, ax=None):
    """Draw GRSq and RSq of the best model of each size, and how many predictors it uses.

    The first panel of R's plot.earth. The vertical line marks the size that was chosen. The scale is
    that of the models with two terms or more: the intercept alone, where both are 0, may be below it.

    Parameters
    ----------
    model : Earth
        A fitted model.
    ax : matplotlib Axes, optional
        Where to draw; without it, a new pyplot figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth, plots
    >>> x = np.linspace(0, 1, 101)
    >>> model = Earth().fit(x[:, None], np.abs(x - 0.5))
    >>> plots.plot_model_selection(model).get_xlabel()
    'number of terms'
    """
    check_model(model, *NEEDED)
    check_pruning_record(model)
    ax = one_axis(ax)
    draw_model_selection(ax, model)
    return ax


def draw_model_selection(ax, model) -> None:
    """Draw the picture of a model that is known to be fitted."""
    grsq = gain(model.gcv_per_subset_)
    rsq = gain(model.rss_per_subset_)
    n_used = used_per_subset(model.dirs_, model.prune_terms_)
    sizes = np.arange(1, len(rsq) + 1)
    chosen = int(model.n_terms_)
    mark = "o" if len(sizes) == 1 else None

    right = ax.twinx()
    (used_line,) = right.plot(
        sizes, n_used, ":", marker=mark, color=GREY, linewidth=1.4, label="predictors"
    )
    right.set_ylabel("number of used predictors", color=GREY)
    right.tick_params(axis="y", colors=GREY)
    right.yaxis.get_major_locator().set_params(integer=True)
    right.set_ylim(0, 1.08 * max(1, n_used.max()))
    # The curves of interest go on top of the right-hand axis.
    ax.set_zorder(right.get_zorder() + 1)
    ax.patch.set_visible(False)

    (rsq_line,) = ax.plot(sizes, rsq, "--", marker=mark, color=ORANGE, label="RSq")
    (grsq_line,) = ax.plot(sizes, grsq, "-", marker=mark, color=BLUE, linewidth=1.8, label="GRSq")
    chosen_line = ax.axvline(chosen, color="black", linewidth=1, label=f"chosen: {chosen}")
    ax.set(
        xlabel="number of terms", ylabel="GRSq and RSq", ylim=selection_limits(grsq, rsq, chosen)
    )
    ax.set_xlim(0.5, len(sizes) + 0.5)
    ax.xaxis.get_major_locator().set_params(integer=True)
    tidy(ax)
    ax.legend(
        handles=[grsq_line, rsq_line, used_line, chosen_line],
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize=9,
        columnspacing=1.2, handlelength=1.8,
    )  # fmt: skip


def gain(per_subset) -> np.ndarray:
    """1 - value / value of the intercept alone; 0 throughout where there is nothing to explain."""
    per_subset = np.asarray(per_subset, dtype=float)
    first = per_subset[0]
    if first == 0 or not np.isfinite(first):
        return np.where(per_subset == first, 0.0, -np.inf)
    return 1 - per_subset / first


def used_per_subset(dirs, prune_terms) -> np.ndarray:
    """Number of predictors in the best model of each size; row k of `prune_terms` has k + 1 terms."""
    counts = []
    for row in np.atleast_2d(np.asarray(prune_terms)):
        terms = row[row > 0].astype(int) - 1
        counts.append(int(np.any(np.asarray(dirs)[terms] != 0, axis=0).sum()))
    return np.array(counts)


def selection_limits(grsq, rsq, chosen) -> tuple[float, float]:
    """A y scale for the rise to the chosen size; a steep fall of GRSq beyond it may leave it.

    As in plot.earth the intercept alone counts only where there are few subsets.
    """
    both = np.stack([grsq, rsq])
    both = np.where(np.isfinite(both), both, np.nan)
    first = 1 if len(grsq) > 3 and chosen > 1 else 0
    high = float(np.nanmax(both))
    start = float(np.nanmin(both[:, first:chosen]))
    if high - start < 1e-6:
        return -0.05, 1.05
    # Beyond the chosen size at most as much below the rise as the rise is high.
    low = max(float(np.nanmin(both[:, first:])), start - (high - start))
    margin = 0.04 * (high - low)
    return low - margin, high + margin
