"""Several models side by side: R's plot.earth.models."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..exceptions import InvalidInputError
from .checks import check_axes, check_model, check_response, has_pruning_record, response_names
from .selection import NEEDED, gain
from .style import BLUE, GREEN, ORANGE, new_axes, shorten, tidy

__all__ = ["plot_models"]

COLOURS = (BLUE, ORANGE, GREEN, "#7b4ea3", "#b8860b", "#c23b5a", "#3a8fa8", "#555555")
STYLES = ("-", "--", "-.", ":")


def plot_models(models, axes=None, *, response=0):
    """Draw model selection and the sizes of the residuals of several models in one picture.

    R's `plot.earth.models`: GRSq against the number of terms, with the chosen sizes as dots, and the
    cumulative distribution of the absolute residuals at the training rows.

    Parameters
    ----------
    models : dict of names and fitted models, or a list of models
    axes : two matplotlib Axes, optional
        Where to draw; without them, a new pyplot figure.
    response : int or str, default 0
        Whose residuals, by index or name, where the models have several responses.

    Returns
    -------
    (2,) array of matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth, plots
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> y = np.abs(X[:, 0]) * X[:, 1]
    >>> models = {f"degree {d}": Earth(degree=d, engine="native").fit(X, y) for d in (1, 2)}
    >>> axes = plots.plot_models(models)
    >>> [text.get_text() for text in axes[1].get_legend().get_texts()]
    ['degree 1', 'degree 2']
    """
    named = _named(models)
    residuals = []
    for model in named.values():
        check_model(model, *NEEDED, "residuals_")
        values = np.asarray(model.residuals_, dtype=float)
        values = values.reshape(len(values), -1)
        column = check_response(response, response_names(model, values.shape[1]))
        residuals.append(np.sort(np.abs(values[:, column])))
    axes = new_axes(1, 2, 9.6, 4.0).ravel() if axes is None else check_axes(axes, 2)
    for k, (name, model) in enumerate(named.items()):
        look = {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k // len(COLOURS) % 4]}
        _draw_selection(axes[0], model, look)
        sizes = residuals[k]
        shares = np.arange(len(sizes) + 1) / len(sizes)
        axes[1].step(
            np.append(0, sizes), shares, where="post", label=shorten(name), linewidth=1.6, **look
        )
    axes[0].set(title="Model selection", xlabel="number of terms", ylabel="GRSq")
    axes[1].set(
        title="Cumulative distribution",
        xlabel="|residual|",
        ylabel="share of the rows",
        ylim=(0, 1.05),
    )
    axes[1].set_xlim(left=0)
    axes[1].legend(loc="lower right", fontsize=9)
    for ax in axes:
        tidy(ax)
    return axes


def _named(models) -> dict:
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    elif isinstance(models, (list, tuple)):
        named = {f"model {k + 1}": model for k, model in enumerate(models)}
    else:
        named = {}
    if not named:
        raise InvalidInputError(
            f"models={models!r:.80} but it should be a dict of names and fitted models, or a list of them"
        )
    return named


def _draw_selection(ax, model, look) -> None:
    if not has_pruning_record(model):
        return
    grsq = gain(model.gcv_per_subset_)
    grsq = np.where(np.isfinite(grsq), grsq, np.nan)
    chosen = int(model.n_terms_)
    ax.plot(np.arange(1, len(grsq) + 1), grsq, linewidth=1.6, **look)
    ax.plot([chosen], [grsq[chosen - 1]], "o", color=look["color"], markersize=6)
    ax.xaxis.get_major_locator().set_params(integer=True)
