"""What the model leaves unexplained: the four panels of R's plot.earth."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from .._utils.checks import as_numbers
from ..exceptions import InvalidInputError
from .checks import (
    check_axes,
    check_model,
    check_response,
    class_indicators,
    has_pruning_record,
    response_names,
)
from .labels import name_points
from .lowess import lowess
from .selection import NEEDED, draw_model_selection
from .style import BLUE, GREY, ORANGE, new_axes, say_instead, tidy

__all__ = ["normal_quantiles", "plot_residuals"]

MARKED = (0.5, 0.9, 0.95, 1.0)  # shares of the residuals whose size is marked
N_NAMED = 3  # residuals that are named by their row


def plot_residuals(model, y=None, axes=None, *, response=0):
    """Draw the four panels of R's plot.earth for the training rows.

    Model selection (see `plot_model_selection`); the cumulative distribution of the absolute
    residuals, with the sizes below which 50%, 90%, 95% and all of them are; the residuals against the
    fitted values, with R's lowess smooth; and the residuals against normal quantiles, with the line
    through the quartiles. The three largest residuals are named by their row, counted from 0.

    Parameters
    ----------
    model : Earth
        A fitted model.
    y : array, (n,) or (n, n_responses), optional
        The observed responses, or classes, of the training rows; without it, `model.residuals_` is
        drawn.
    axes : four matplotlib Axes, optional
        Where to draw; without them, a new pyplot figure.
    response : int or str, default 0
        Which response, by index or name, where the model has several.

    Returns
    -------
    (4,) array of matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth, plots
    >>> x = np.random.default_rng(0).normal(size=(100, 1))
    >>> y = np.abs(x[:, 0]) + 0.1 * x[:, 0] ** 2
    >>> axes = plots.plot_residuals(Earth().fit(x, y), y)
    >>> [ax.get_title() for ax in axes]
    ['Model selection', 'Cumulative distribution', 'Residuals and fitted values', 'Normal quantiles']
    """
    check_model(model, *NEEDED, "fitted_values_", *(["residuals_"] if y is None else []))
    fitted, residuals = _of_response(model, y, response)
    axes = new_axes(2, 2, 9.6, 7.6).ravel() if axes is None else check_axes(axes, 4)
    if has_pruning_record(model):
        draw_model_selection(axes[0], model)
        axes[0].set_title("Model selection", pad=24)  # above the legend
    else:
        say_instead(axes[0], "the model has no record of its pruning pass")
    _draw_cumulative(axes[1], residuals)
    _draw_against_fitted(axes[2], fitted, residuals)
    _draw_quantiles(axes[3], residuals)
    return axes


def _of_response(model, y, response) -> tuple[np.ndarray, np.ndarray]:
    """Fitted values and residuals of one response."""
    fitted = np.asarray(model.fitted_values_, dtype=float)
    n_responses = 1 if fitted.ndim == 1 else fitted.shape[1]
    column = check_response(response, response_names(model, n_responses))
    fitted = fitted.reshape(len(fitted), n_responses)
    if y is None:
        residuals = np.asarray(model.residuals_, dtype=float).reshape(fitted.shape)
    else:
        residuals = _observed(model, y, fitted.shape) - fitted
    return fitted[:, column], residuals[:, column]


def _observed(model, y, shape) -> np.ndarray:
    if hasattr(model, "classes_"):  # fitted on 0 and 1
        return class_indicators(model.classes_, y, shape)
    values = as_numbers("y", y, "hold numbers, one per training row")
    right = shape if shape[1] > 1 else shape[:1]
    if values.shape not in (right, shape):
        raise InvalidInputError(
            f"y has shape {values.shape} but the model was fitted on shape {right}"
        )
    if not np.isfinite(values).all():
        raise InvalidInputError("y contains NaN or infinity but every value should be finite")
    return values.reshape(shape)


def _draw_cumulative(ax, residuals) -> None:
    sizes = np.sort(np.abs(residuals))
    shares = np.arange(1, len(sizes) + 1) / len(sizes)
    marked = np.quantile(sizes, MARKED)
    ax.step(np.append(0, sizes), np.append(0, shares), where="post", color=BLUE, label="share")
    ax.vlines(marked, 0, MARKED, color=GREY, linewidth=0.9, linestyle="--")
    ax.plot(marked, MARKED, "o", color=GREY, markersize=4, label="quantiles")
    # Below the curve on the right there is always room.
    table = "\n".join(
        f"{share:.0%} below {size:.3g}" for share, size in zip(MARKED, marked, strict=True)
    )
    ax.text(
        0.97, 0.05, table, transform=ax.transAxes, ha="right", va="bottom", fontsize=9,
        bbox={"facecolor": "white", "edgecolor": "#cccccc", "boxstyle": "round"},
    )  # fmt: skip
    ax.set(title="Cumulative distribution", xlabel="|residual|", ylabel="share of the rows")
    ax.set_ylim(0, 1.05)
    ax.set_xlim(left=0)
    ax.locator_params(axis="x", nbins=6)
    tidy(ax)


def _draw_against_fitted(ax, fitted, residuals) -> None:
    ax.axhline(0, color=GREY, linewidth=0.9)
    ax.plot(fitted, residuals, ".", color=BLUE, markersize=4, alpha=0.7, label="residuals")
    ax.plot(*lowess(fitted, residuals), color=ORANGE, linewidth=1.6, label="lowess smooth")
    ax.margins(y=0.1)
    if np.ptp(fitted) == 0:
        ax.set_xlim(fitted[0] - 1, fitted[0] + 1)
    name_points(ax, fitted, residuals, _largest(residuals))
    ax.set(title="Residuals and fitted values", xlabel="fitted value", ylabel="residual")
    tidy(ax)


def _draw_quantiles(ax, residuals) -> None:
    quantiles = normal_quantiles(residuals)
    ax.plot(quantiles, residuals, ".", color=BLUE, markersize=4, label="residuals")
    low, high = np.quantile(residuals, (0.25, 0.75))
    slope = (high - low) / (norm.ppf(0.75) - norm.ppf(0.25))
    middle = (low + high) / 2
    ax.axline((0, middle), slope=slope, color=GREY, linewidth=1, linestyle="--", label="quartiles")
    ax.margins(x=0.08, y=0.1)
    name_points(ax, quantiles, residuals, _largest(residuals))
    ax.set(title="Normal quantiles", xlabel="normal quantile", ylabel="residual")
    tidy(ax)


def normal_quantiles(values) -> np.ndarray:
    """The standard normal quantile that belongs to the rank of each value, as R's `qqnorm` has it.

    >>> normal_quantiles([3.0, 1.0, 2.0]).round(3)
    array([ 0.869, -0.869,  0.   ])
    """
    n = len(values)
    offset = 3 / 8 if n <= 10 else 1 / 2
    ranks = np.empty(n)
    ranks[np.argsort(values, kind="stable")] = np.arange(1, n + 1)
    return norm.ppf((ranks - offset) / (n + 1 - 2 * offset))


def _largest(residuals) -> np.ndarray:
    """Rows of the largest residuals, the largest first; none where the fit is exact."""
    sizes = np.abs(residuals)
    rows = np.argsort(-sizes, kind="stable")[:N_NAMED]
    return rows[sizes[rows] > 0]
