"""Sizes of models: GRSq and RSq, several models side by side, degrees of freedom."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..exceptions import InvalidInputError
from .axes import (
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    LINE_STYLES,
    ORANGE,
    check_axes,
    check_model,
    check_pruning_record,
    check_response,
    has_pruning_record,
    inner_model,
    new_axes,
    one_axis,
    response_names,
    shorten,
    tidy,
)

NEEDED = ("rss_per_subset_", "gcv_per_subset_", "prune_terms_", "dirs_", "n_terms_")


def plot_model_selection(model, ax=None):
    """Plot GRSq, RSq and the number of predictors of the best model of each size.

    The first panel of R's plot.earth. The vertical line marks the selected size. The scale covers models
    with two or more terms. For `pmethod="cv"`, and for cross-validation with `keepxy=True`, the
    out-of-fold R squared of each size is drawn for every fold and on average; "cv" selects the maximum of
    the mean.

    Parameters
    ----------
    model : Earth
        A fitted model.
    ax : matplotlib Axes, optional
        Axes to draw into; by default a new pyplot figure.

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
    model, _ = inner_model(model)
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
    curves, handles = [grsq, rsq], [grsq_line, rsq_line, used_line, chosen_line]
    out_of_fold = getattr(model, "cv_tables_", {}).get("oof_rsq")
    if out_of_fold is not None:
        *folds, mean = out_of_fold.to_numpy()[:, : len(sizes)]
        for fold in folds:
            ax.plot(sizes, fold, "-", color=GREEN, linewidth=0.6, alpha=0.35)
        (mean_line,) = ax.plot(
            sizes, mean, "-", marker=mark, color=GREEN, linewidth=1.8, label="out-of-fold RSq"
        )
        curves, handles = [*curves, mean], [*handles[:2], mean_line, *handles[2:]]
    label = "GRSq and RSq" if out_of_fold is None else "GRSq, RSq and out-of-fold RSq"
    ax.set(xlabel="number of terms", ylabel=label, ylim=selection_limits(curves, chosen))
    ax.set_xlim(0.5, len(sizes) + 0.5)
    ax.xaxis.get_major_locator().set_params(integer=True)
    tidy(ax)
    ax.legend(
        handles=handles,
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(handles), frameon=False, fontsize=9,
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


def selection_limits(curves, chosen) -> tuple[float, float]:
    """Return a y scale for the rise to the chosen size; a steep fall of a curve beyond it may leave it.

    As in plot.earth the intercept alone counts only where there are few subsets.
    """
    values = np.stack(curves)
    values = np.where(np.isfinite(values), values, np.nan)
    first = 1 if values.shape[1] > 3 and chosen > 1 else 0
    high = float(np.nanmax(values))
    start = float(np.nanmin(values[:, first:chosen]))
    if high - start < 1e-6:
        return -0.05, 1.05
    # Beyond the chosen size at most as much below the rise as the rise is high.
    low = max(float(np.nanmin(values[:, first:])), start - (high - start))
    margin = 0.04 * (high - low)
    return low - margin, high + margin


def plot_models(models, axes=None, *, response=0):
    """Plot model selection and residuals of several models in one figure, as R's plot.earth.models.

    GRSq against the number of terms, with the selected sizes as dots, and the cumulative distribution of
    the absolute residuals at the training rows.

    Parameters
    ----------
    models : dict of names and fitted models, or a list of models
    axes : two matplotlib Axes, optional
        Axes to draw into; by default a new pyplot figure.
    response : int or str, default 0
        As in `plot_residuals`.

    Returns
    -------
    (2,) array of matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from pyearthdof import Earth, plots
    >>> X, y = make_friedman1(100, random_state=0)
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
        style = LINE_STYLES[k // len(COLOURS) % 4]
        look = {"color": COLOURS[k % len(COLOURS)], "linestyle": style}
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
        named = {str(name): inner_model(model)[0] for name, model in models.items()}
    elif isinstance(models, (list, tuple)):
        named = {f"model {k + 1}": inner_model(model)[0] for k, model in enumerate(models)}
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


def plot_sizes(found, ax=None):
    """Plot actual and nominal degrees of freedom against the number of terms, and the selected size.

    The band shows 95 % confidence intervals. Beyond the sizes reached by noise, the curve is extrapolated
    and dashed.

    Parameters
    ----------
    found : SizeCurve, SizeChoice, or an AutoEarth of one response
    ax : matplotlib Axes, optional
        Axes to draw into, as in `plot_model_selection`.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import df_of_sizes, plots
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> plots.plot_sizes(df_of_sizes(X)).get_ylabel()
    'degrees of freedom'
    """
    found = getattr(found, "choice_", found)
    curve = getattr(found, "curve", found)
    if not hasattr(curve, "df_at"):
        raise InvalidInputError(
            f"found={found!r:.80} but it should be a SizeCurve, a SizeChoice or an AutoEarth fitted to one "
            "response"
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
