"""Importance of the predictors, R's plot.evimp, and the contributions of the terms to one prediction."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .._utils.checks import check_count, is_integer
from ..exceptions import InvalidInputError
from .axes import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    check_model,
    check_pruning_record,
    check_response,
    inner_model,
    one_axis,
    response_names,
    say_instead,
    shorten_all,
    tidy,
)


def plot_importance(model, ax=None):
    """Plot the three importance criteria of `model.importance()`, the most important predictor on top.

    The lower axis shows square roots of gcv and rss, scaled to 100 as in R, the upper axis nsubsets, the
    number of subsets of the pruning pass that use the predictor. Predictors in subsets but not in the
    selected model are marked as unused. For averaged models, bars show the standard deviation of the
    contribution of each predictor. Arguments and result are as in `plot_model_selection`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth, plots
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = Earth().fit(X, np.abs(X[:, 1]))
    >>> [label.get_text() for label in plots.plot_importance(model).get_yticklabels()][0]
    'x2'
    """
    model, _ = inner_model(model)
    check_model(model, "model_", "prune_terms_")
    if model.model_.is_merged:
        return _draw_spreads(model.importance(), ax)
    check_pruning_record(model)
    table = model.importance()
    ax = one_axis(ax, height=max(4.0, 1.4 + 0.24 * len(table)))
    # Like R, `importance` does not scale where there is nothing to compare with.
    _draw_importance(ax, table, is_scaled=len(model.model_.feature_names) > 1)
    return ax


def _draw_spreads(table, ax):
    """Bars of the standard deviations of contributions."""
    ax = one_axis(ax, height=max(4.0, 1.4 + 0.24 * len(table)))
    if table.empty:
        say_instead(ax, "the model is its intercept alone:\nno predictor is used")
        return ax
    places = range(len(table))
    ax.barh(places, table["sd"], color=BLUE, height=0.6)
    ax.set_yticks(list(places), shorten_all(table.index), fontsize=9)
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlabel("standard deviation of what the predictor adds")
    tidy(ax)
    return ax


def _draw_importance(ax, table, is_scaled: bool) -> None:
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
    # A size at which the names stand clear of each other.
    height = ax.get_window_extent().height * 72 / ax.figure.dpi
    ax.set_yticks(list(places), names, fontsize=min(9.0, max(4.0, 0.8 * height / len(table))))
    ax.set_ylim(len(table) - 0.5, -0.5)
    scale = "square root of gcv and rss, the largest being 100"
    ax.set_xlabel(scale if is_scaled else "gcv and rss")
    tidy(ax)
    ax.legend(handles=[gcv, rss, subsets], loc="lower right", fontsize=9)


def plot_contributions(model, X, row=0, ax=None, *, response=0, most=15):
    """Plot the contribution of each term to the prediction of one row, from the intercept to the sum.

    The largest contributions are on top; zero contributions and those beyond `most` share one bar. For a
    generalised linear model, the sum is the linear predictor, as in `Earth.contributions`.

    Parameters
    ----------
    model : Earth
        A fitted or loaded model.
    X : array or DataFrame
        Rows for `predict`.
    row : int, default 0
        Position of the row.
    ax : matplotlib Axes, optional
        Axes to draw into, as in `plot_model_selection`.
    response : int or str, default 0
        Index or name of the response, if there are several.
    most : int, default 15
        Maximum number of bars for single terms.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth, plots
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = Earth(engine="native", linpreds=True).fit(X, 1 + 2 * X[:, 0] + X[:, 1])
    >>> ax = plots.plot_contributions(model, [[3.0, 1.0]])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['(Intercept)', 'x1', 'x2', 'sum']
    """
    model, X = inner_model(model, X)
    check_model(model, "model_")
    added = model.contributions(X)
    if not is_integer(row) or not -len(added) <= row < len(added):
        raise InvalidInputError(f"row={row!r} but X has {len(added)} rows, counted from 0")
    check_count("most", most, 1)
    several = isinstance(added.columns, pd.MultiIndex)
    names = response_names(model, added.columns.levshape[0] if several else 1)
    name = names[check_response(response, names)]
    found = added.iloc[row][name] if several else added.iloc[row]
    bars = _bars(found, most)
    ax = one_axis(ax, height=max(3.0, 1.4 + 0.32 * (len(bars) + 1)))
    glm = model.model_.glm
    label = f"predicted {name}" if glm is None else f"linear predictor of {name} ({glm.link})"
    _draw_bars(ax, bars, label)
    return ax


def _bars(found: pd.Series, most: int) -> list[tuple[str, float]]:
    """The intercept, the largest terms, and one bar for all others."""
    first, rest = found.iloc[0], found.iloc[1:]
    order = np.argsort(-np.abs(rest.to_numpy()), kind="stable")
    shown = [k for k in order[:most] if rest.iloc[k] != 0]
    others = [k for k in order if k not in shown]
    bars = [(str(found.index[0]), float(first))]
    bars += [(str(rest.index[k]), float(rest.iloc[k])) for k in shown]
    if others:
        what = "1 other term" if len(others) == 1 else f"{len(others)} other terms"
        bars.append((what, float(rest.iloc[others].sum())))
    return bars


def _draw_bars(ax, bars, label: str) -> None:
    values = np.array([value for _, value in bars])
    ends = np.cumsum(values)
    starts = np.append(0.0, ends[:-1])
    places = np.arange(len(bars))
    colours = [GREY, *(GREEN if value >= 0 else ORANGE for value in values[1:])]
    # From the intercept on: a bar from 0 to it would make all others small.
    ax.barh(places[1:], values[1:], left=starts[1:], color=colours[1:], height=0.6)
    ax.plot([ends[0]], [0], "o", color=GREY)
    ax.plot([ends[-1]], [len(bars)], "D", color="black")
    for place, end in enumerate(ends):
        ax.plot([end, end], [place, place + 1], color=GREY, linewidth=0.8)
    for place, (value, start, end) in enumerate(zip(values, starts, ends, strict=True)):
        text = f"{value:+.4g}" if place else f"{value:.4g}"
        right = max(start, end) if place else end
        ax.annotate(
            text, (right, place), (6, 0), textcoords="offset points", va="center", fontsize=9
        )
    ax.annotate(
        f"{ends[-1]:.4g}", (ends[-1], len(bars)), (8, 0), textcoords="offset points", va="center",
        fontsize=9, fontweight="bold",
    )  # fmt: skip
    names = [*shorten_all([name for name, _ in bars]), "sum"]
    ax.set_yticks(range(len(bars) + 1), names, fontsize=9)
    ax.set_ylim(len(bars) + 0.5, -0.5)
    room = 0.18 * (np.ptp(ends) or 1.0)  # for the numbers beside the bars
    ax.set_xlim(ends.min() - room / 3, ends.max() + room)
    ax.set_xlabel(label)
    tidy(ax)
