"""Residuals of a model: the four panels of R's plot.earth, with its lowess smooth."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from .._utils.checks import as_numbers
from ..exceptions import InvalidInputError
from .axes import (
    BLUE,
    GREY,
    ORANGE,
    check_axes,
    check_model,
    check_response,
    has_pruning_record,
    inner_model,
    name_points,
    new_axes,
    response_names,
    say_instead,
    tidy,
)
from .classification import class_indicators
from .selection import NEEDED, draw_model_selection

MARKED = (0.5, 0.9, 0.95, 1.0)  # shares of the residuals whose size is marked
N_NAMED = 3  # residuals that are named by their row


def plot_residuals(model, y=None, axes=None, *, response=0):
    """Plot the four panels of R's plot.earth for the training rows.

    Model selection (see `plot_model_selection`); cumulative distribution of the absolute residuals, with
    their 50 %, 90 %, 95 % and 100 % quantiles; residuals against fitted values, with R's lowess smooth;
    and residuals against normal quantiles, with the line through the quartiles. The three largest
    residuals are labelled by their row, starting at 0.

    Parameters
    ----------
    model : Earth
        A fitted model.
    y : array, (n,) or (n, n_responses), optional
        Responses or classes of the training rows; by default `model.residuals_` is drawn.
    axes : four matplotlib Axes, optional
        Axes to draw into; by default a new pyplot figure.
    response : int or str, default 0
        Index or name of the response, if there are several.

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
    model, _ = inner_model(model)
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
    values = as_numbers("y", y, "contain numbers, one per training row")
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
    """Return the standard normal quantile that belongs to the rank of each value, as R's `qqnorm` has it.

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


def lowess(x, y, *, fraction: float = 2 / 3, n_robust: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Smooth y against x; returns the sorted x and the smooth there.

    Each point's value comes from a line through the nearest `fraction` of the points, with tricube
    weights; `n_robust` times the fit is repeated with less weight on points far from it. Lines are
    fitted at points about a hundredth of the range apart and joined between them.
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    if len(x) < 2:
        return x, y
    n_near = min(max(int(fraction * len(x) + 1e-7), 2), len(x))
    anchors = _anchors(x, 0.01 * (x[-1] - x[0]))
    kernels = [_kernel(x, x[a], n_near) for a in anchors]
    robust = np.ones(len(x))
    for step in range(n_robust + 1):
        values = [
            _local_line(x[near], y[near], kernel * robust[near], x[a], x[-1] - x[0], y[a])
            for a, (near, kernel) in zip(anchors, kernels, strict=True)
        ]
        smooth = np.interp(x, x[anchors], values)
        if step == n_robust:
            break
        distance = np.abs(y - smooth)
        scale = 6 * np.median(distance)
        if scale <= 1e-7 * distance.mean():
            break
        robust = _bisquare(distance / scale)
    return x, smooth


def _anchors(x, spacing) -> np.ndarray:
    """Where lines are fitted: from each anchor on to the last point within `spacing` of it."""
    anchors = [0]
    while True:
        here = anchors[-1]
        after = np.searchsorted(x, x[here], side="right")  # equal x share one line
        if after >= len(x):
            return np.array(anchors)
        within = np.searchsorted(x, x[here] + spacing, side="right") - 1
        anchors.append(max(after, within))


def _kernel(x, place, n_near) -> tuple[slice, np.ndarray]:
    """Return the points near `place` and their tricube weights; the n_near-th nearest has weight 0."""
    distance = np.abs(x - place)
    width = np.partition(distance, n_near - 1)[n_near - 1]
    inside = np.flatnonzero(distance <= 0.999 * width if width > 0 else distance == 0)
    near = slice(inside[0], inside[-1] + 1)
    if width == 0:
        return near, np.ones(near.stop - near.start)
    ratio = distance[near] / width
    return near, np.where(ratio <= 0.001, 1.0, (1 - ratio**3) ** 3)


def _local_line(x, y, weights, place, span, otherwise) -> float:
    """Value at `place` of the weighted least-squares line; a constant where x hardly varies."""
    total = weights.sum()
    if total <= 0:
        return otherwise
    weights = weights / total
    centre = weights @ x
    spread = weights @ (x - centre) ** 2
    if span > 0 and np.sqrt(spread) > 0.001 * span:
        weights = weights * (1 + (place - centre) * (x - centre) / spread)
    return float(weights @ y)


def _bisquare(ratio) -> np.ndarray:
    weights = np.where(ratio <= 0.001, 1.0, (1 - ratio**2) ** 2)
    return np.where(ratio <= 0.999, weights, 0.0)
