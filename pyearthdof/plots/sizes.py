"""The degrees of freedom of every size: nominal line, actual curve, and the size that was chosen."""

from __future__ import annotations

import numpy as np

from ..exceptions import InvalidInputError
from .style import BLUE, GREY, ORANGE, one_axis, tidy

__all__ = ["plot_sizes"]


def plot_sizes(found, ax=None):
    """Draw actual and nominal degrees of freedom against the number of terms, and the chosen size.

    The band has the intervals of 95 %; beyond the sizes that noise reaches the curve is extended, and
    dashed.

    Parameters
    ----------
    found : SizeCurve, SizeChoice, or a CorrectedEarth that has chosen a size
    ax : matplotlib Axes, optional
        Where to draw, as in `plot_model_selection`; it is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import df_of_sizes, plots
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> plots.plot_sizes(df_of_sizes(X)).get_ylabel()
    'degrees of freedom'
    """
    found = getattr(found, "correction_", found)
    curve = getattr(found, "curve", found)
    if not hasattr(curve, "df_at"):
        raise InvalidInputError(
            f"found={found!r:.80} but it should be a SizeCurve, a SizeChoice or a fitted "
            "CorrectedEarth(rule='by_df')"
        )
    ax = one_axis(ax)
    last = max(len(curve.sizes), len(found.table)) if hasattr(found, "table") else len(curve.sizes)
    beyond = np.arange(len(curve.sizes), last + 1)
    lower, upper = curve.interval()
    ax.fill_between(curve.sizes, lower, upper, color=BLUE, alpha=0.2, linewidth=0)
    mark = "o" if len(curve.sizes) == 1 else None
    ax.plot(curve.sizes, curve.df, color=BLUE, linewidth=1.8, marker=mark, label="actual")
    if len(beyond) > 1:
        ax.plot(beyond, curve.df_at(beyond), "--", color=BLUE, linewidth=1.2, label="extended")
    sizes = np.arange(1, last + 1)
    nominal = sizes + curve.default_penalty * (sizes - 1) / 2
    label = f"nominal, penalty {curve.default_penalty:g}"
    ax.plot(sizes, nominal, color=ORANGE, linewidth=1.4, label=label)
    if hasattr(found, "size"):
        ax.axvline(found.size, color="black", linewidth=1, label=f"chosen: {found.size}")
        ax.plot([found.size], [found.df], "o", color="black", markersize=5)
    if curve.df_at(last) > curve.n:
        ax.axhline(curve.n, color=GREY, linewidth=0.8, linestyle=":", label=f"n = {curve.n}")
    ax.set(xlabel="number of terms", ylabel="degrees of freedom")
    ax.set_xlim(0.5, last + 0.5)
    ax.set_ylim(bottom=0)
    ax.xaxis.get_major_locator().set_params(integer=True)
    tidy(ax)
    ax.legend(frameon=False, fontsize=9)
    return ax
