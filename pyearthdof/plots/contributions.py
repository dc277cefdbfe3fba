"""How one prediction comes about: a waterfall of what each term adds."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .._utils.checks import check_count, is_integer
from ..exceptions import InvalidInputError
from .checks import check_model, check_response, response_names
from .style import GREEN, GREY, ORANGE, one_axis, shorten_all, tidy

__all__ = ["plot_contributions"]


def plot_contributions(model, X, row=0, ax=None, *, response=0, most=15):
    """Draw what each term adds to the prediction of one row, from the intercept to the sum.

    The largest are on top; terms that add nothing, and those beyond `most`, are one bar. With a generalised
    linear model the sum is the linear predictor, as in `Earth.contributions`.

    Parameters
    ----------
    model : Earth
        A fitted or loaded model.
    X : array or DataFrame
        Rows for `predict`.
    row : int, default 0
        Which of them, by position.
    ax : matplotlib Axes, optional
        Where to draw, as in `plot_model_selection`; it is returned.
    response : int or str, default 0
        Which response, by index or name, where the model has several.
    most : int, default 15
        Bars for single terms.

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
    check_model(model, "model_")
    added = model.contributions(X)
    if not is_integer(row) or not -len(added) <= row < len(added):
        raise InvalidInputError(f"row={row!r} but X has {len(added)} rows, counted from 0")
    check_count("most", most, 1)
    names = response_names(model, _n_responses(added))
    chosen = check_response(response, names)
    found = added.iloc[row]
    if isinstance(added.columns, pd.MultiIndex):
        found = found[names[chosen]]
    bars = _bars(found, most)
    ax = one_axis(ax, height=max(3.0, 1.4 + 0.32 * (len(bars) + 1)))
    _draw(ax, bars, _label(model, names[chosen]))
    return ax


def _n_responses(added: pd.DataFrame) -> int:
    return added.columns.levshape[0] if isinstance(added.columns, pd.MultiIndex) else 1


def _label(model, name: str) -> str:
    glm = model.model_.glm
    return f"predicted {name}" if glm is None else f"linear predictor of {name} ({glm.link})"


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


def _draw(ax, bars, label: str) -> None:
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
