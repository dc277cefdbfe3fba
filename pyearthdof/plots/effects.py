"""Predictions against single predictors and pairs of them, as R's plotmo."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd

from .._utils.checks import as_numbers, refusal
from ..exceptions import InvalidInputError
from .axes import (
    BLUE,
    COLOURS,
    GREY,
    LINE_STYLES,
    check_axes,
    check_model,
    check_response,
    evenly_chosen,
    inner_model,
    new_axes,
    response_names,
    say_instead,
    shorten,
    tidy,
)

CURVE_STEPS = 201
SURFACE_STEPS = 61
CURVES_BESIDE_LEVELS = 101
KINDS = ("prediction", "confidence")
MOST_TICKS = 1000
MOST_DOTS = 800
BAND = 0.18  # two that overlap are told apart
HATCH, HATCH_COLOUR = "///", "#999999"  # seen on both ends of the colours
ARROW = 0.06  # what is beyond the scale, as a share of its bar
LARGEST = 1e200  # what is infinite, or larger than 1e250, matplotlib would leave white
CENTRES = {"median": np.median, "mean": np.mean}


def plot_effects(
    model,
    X,
    features=None,
    pairs=None,
    axes=None,
    response=0,
    at="median",
    *,
    bands=None,
    level=0.95,
):
    """Plot the prediction against each predictor and each interacting pair, as R's plotmo.

    Other predictors are fixed: numbers at their median, categories, strings and booleans at their most
    frequent level. Pairs of numbers are filled contours, with the training rows as dots; pairs with
    levels have one line per level (levels with equal predictions share a line). Ticks below a curve are
    the training values.

    All panels share one scale, as in plotmo. Contours are hatched where the prediction is outside the
    scale and outside all predictions at training rows: these corners are far from the data.

    Parameters
    ----------
    model : Earth
        A fitted model; for classifiers, the predicted probability is drawn. For pipelines and searches, the
        Earth in the last step is drawn against its input columns.
    X : array or DataFrame
        Training rows, as in `fit`.
    features : list of column names or positions, optional
        Columns to plot; default all that the model uses.
    pairs : list of pairs of names or positions, optional
        Pairs to plot; default all that share a term of the model (and are in `features`, if given).
        `pairs=[]` draws none.
    axes : matplotlib Axes, optional
        One per feature and pair; by default a new pyplot figure.
    response : int or str, default 0
        Index or name of the response, or of the class for more than two classes.
    at : {"median", "mean"} or dict
        Values of the other numeric columns; a dictionary gives values for some columns.
    bands : {None, "prediction", "confidence", "both"}
        Bands of the variance model around curves of single predictors, as in `Earth.predict_interval`: for
        new observations, for their mean, or both.
    level : float, default 0.95
        Coverage of the bands.

    Returns
    -------
    array of matplotlib Axes
        Features first, then pairs.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from pyearthdof import Earth, plots
    >>> X, y = make_friedman1(100, noise=1.0, random_state=0)
    >>> model = Earth(nprune=4).fit(X, y)
    >>> [ax.get_xlabel() for ax in plots.plot_effects(model, X, pairs=[])]
    ['x1', 'x2', 'x4']
    """
    model, X = inner_model(model, X)
    check_model(model, "model_", "dirs_", "selected_terms_")
    predictors = Predictors.from_data(model, X, at)
    # First of all, so that the model itself refuses an X that it was not fitted on.
    fitted, column, label = _training_predictions(model, predictors, response)
    shown = _choose(model, predictors, features, pairs)
    kinds = _check_bands(model, bands)
    if axes is not None:
        axes = check_axes(axes, max(1, len(shown)))

    def predict(columns):
        return _responses(model, predictors.design(columns))[:, column]

    def intervals(columns):
        rows = predictors.design(columns)
        ends = ["lower", "upper"]
        return tuple(model.predict_interval(rows, level, kind)[ends].to_numpy().T for kind in kinds)

    effects = [_effect(predictors, predict, intervals, names) for names in shown]
    is_own_figure = axes is None
    if is_own_figure:
        axes = _new_panels(len(shown))
    if effects:
        draw_effects(axes, effects, predictors, fitted, label, is_own_figure=is_own_figure)
    else:
        what = f"the {label} is {fitted[0]:.4g} everywhere"
        say_instead(axes[0], f"the model is its intercept alone:\n{what}")
    return axes


def _choose(model, predictors, features, pairs) -> list[tuple[str, ...]]:
    """The columns of each panel; none where the model is its intercept alone."""
    if features is None:
        singles = used_columns(model, predictors)
    else:
        features = [features] if isinstance(features, (str, int, np.integer)) else features
        singles = [_column(predictors, feature, "features") for feature in features]
    if pairs is None:
        met = interacting_pairs(model, predictors)
        doubles = [pair for pair in met if features is None or set(pair) <= set(singles)]
    else:
        doubles = [_check_pair(predictors, pair) for pair in pairs]
    if not singles and not doubles and features is not None:
        raise InvalidInputError("features and pairs are both empty, but one should name columns")
    return [*((name,) for name in singles), *doubles]


def _check_pair(predictors, pair) -> tuple[str, str]:
    if isinstance(pair, str) or np.ndim(pair) != 1 or len(pair) != 2:
        raise InvalidInputError(f"pairs holds {pair!r} but it should contain pairs of columns")
    first, second = (_column(predictors, column, "pairs") for column in pair)
    if first == second:
        raise InvalidInputError(f"pairs holds {first!r} with itself, but a pair is of two columns")
    return first, second


def _column(predictors: Predictors, column, argument: str) -> str:
    """The name of a column that is given by name or position."""
    names = predictors.names
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
        if -len(names) <= column < len(names):
            return names[column]
        raise InvalidInputError(f"{argument} holds {column} but X has {len(names)} columns")
    if str(column) in names:
        return str(column)
    few = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    raise InvalidInputError(f"{argument} holds {column!r} but the columns of X are {few}")


def _responses(model, rows) -> np.ndarray:
    """The predictions as (n, n_responses); of a classifier the probabilities."""
    if not hasattr(model, "predict_proba"):
        return np.asarray(model.predict(rows), dtype=float).reshape(len(rows), -1)
    values = np.asarray(model.predict_proba(rows), dtype=float)
    # As in R, two classes have one response: the probability of the second.
    return values[:, 1:] if values.shape[1] == 2 else values


def _training_predictions(model, predictors, response) -> tuple[np.ndarray, int, str]:
    """The predictions of the training rows, the column of the response and what to call it."""
    fitted = _responses(model, predictors.rows)
    n_responses = fitted.shape[1]
    if hasattr(model, "predict_proba"):
        names, label = tuple(str(c) for c in model.classes_[-n_responses:]), "probability of"
    else:
        names, label = response_names(model, n_responses), "predicted"
    column = check_response(response, names)
    return fitted[:, column], column, f"{label} {names[column]}"


def _check_bands(model, bands) -> tuple[str, ...]:
    """The kinds of intervals, the widest first."""
    kinds = {None: (), "both": KINDS} | {kind: (kind,) for kind in KINDS}
    if (bands is not None and not isinstance(bands, str)) or bands not in kinds:
        raise refusal("bands", bands, "None, 'prediction', 'confidence' or 'both'")
    if kinds[bands] and not hasattr(model, "predict_interval"):
        raise refusal("bands", bands, f"None for a {type(model).__name__}, which has no intervals")
    return kinds[bands]


def _effect(predictors, predict, intervals, names) -> Effect:
    """The predictions on the grid of one column or two."""
    are_levels = [predictors.has_levels(name) for name in names]
    if len(names) == 1:
        grid = predictors.grid(names[0], CURVE_STEPS)
        columns = {names[0]: grid}
        return Effect(names, (grid,), np.asarray(predict(columns)), intervals(columns))
    # The column with levels comes second: it gives the lines.
    if are_levels == [True, False]:
        names = names[::-1]
    steps = CURVES_BESIDE_LEVELS if any(are_levels) else SURFACE_STEPS
    grids = tuple(predictors.grid(name, steps) for name in names)
    shape = tuple(len(grid) for grid in grids)
    first, second = np.indices(shape).reshape(2, -1)
    rows = {names[0]: [grids[0][i] for i in first], names[1]: [grids[1][j] for j in second]}
    return Effect(names, grids, np.asarray(predict(rows)).reshape(shape))


def _new_panels(n: int) -> np.ndarray:
    """Axes of a new figure for n panels, its spare places left empty."""
    if n <= 1:
        return new_axes().ravel()
    n_columns = min(5, math.ceil(math.sqrt(n)))
    n_rows = math.ceil(n / n_columns)
    axes = new_axes(n_rows, n_columns, 3.1 * n_columns, 2.5 * n_rows).ravel()
    for ax in axes[n:]:
        ax.remove()
    return axes[:n]


@dataclass(frozen=True)
class Effect:
    """Predictions on a grid: (len(grid),) for one column, one axis a column for two.

    A grid is an array of numbers or a list of levels; where only one of two columns has levels it is
    the second.
    """

    names: tuple[str, ...]
    grids: tuple[np.ndarray | list, ...]
    values: np.ndarray
    bands: tuple[np.ndarray, ...] = ()  # (2, len(grid)) each, the widest first

    @property
    def is_surface(self) -> bool:
        """Whether it needs colours: two columns of numbers."""
        return len(self.grids) == 2 and not any(isinstance(grid, list) for grid in self.grids)


def draw_effects(axes, effects, predictors, fitted, label, *, is_own_figure: bool) -> None:
    """Draw one effect into each of the axes, all on one scale that holds every curve.

    Contours count only as far as the predictions of the training rows, `fitted`, go: corners without
    training rows often have wild predictions that would flatten everything else. They have the colour of
    the scale's end and are hatched, and the bar says so.
    """
    from matplotlib.ticker import MaxNLocator

    shown = [
        np.clip(e.values, fitted.min(), fitted.max()) if e.is_surface else e.values for e in effects
    ]
    shown += [band for e in effects for band in e.bands]
    low, high = min(float(v.min()) for v in shown), max(float(v.max()) for v in shown)
    margin = 0.06 * (high - low) or max(0.5, 0.1 * abs(high))
    low, high = low - margin, high + margin
    levels = np.asarray(MaxNLocator(16).tick_values(low, high))
    extend = _beyond(levels, [e.values for e in effects if e.is_surface])
    filled = {}
    for place, (ax, effect) in enumerate(zip(axes, effects, strict=True)):
        tidy(ax)
        ax.set_xlabel(shorten(effect.names[0]))
        if effect.is_surface:
            filled[place] = _draw_surface(ax, effect, predictors, levels, extend)
            continue
        if len(effect.grids) == 1:
            _draw_single(ax, effect, predictors)
        else:
            _draw_lines(ax, effect)
        ax.set_ylim(low, high)
        if not is_own_figure or ax.get_subplotspec().is_first_col():
            ax.set_ylabel(shorten(label, 30))
    if is_own_figure and filled:
        # Whole rows, so that the bar stands right of the last column.
        first_row = axes[min(filled)].get_subplotspec().rowspan.start
        beside = [ax for ax in axes if ax.get_subplotspec().rowspan.start >= first_row]
        _draw_bar(beside, filled[min(filled)], label)
    else:
        for place, contour in filled.items():
            _draw_bar(axes[place], contour, label)


def _draw_bar(axes, contour, label: str) -> None:
    from matplotlib import rc_context
    from matplotlib.ticker import MaxNLocator

    low, high = contour.levels[[0, -1]]
    ticks = MaxNLocator(6).tick_values(low, high)
    ticks = ticks[(ticks >= low) & (ticks <= high)]  # others would stand in the arrows
    with rc_context({"hatch.color": HATCH_COLOUR}):
        bar = contour.axes.figure.colorbar(
            contour, ax=axes, ticks=ticks, pad=0.02, extendfrac=ARROW, label=shorten(label, 30)
        )
    if contour.extend != "neither":
        bar.ax.text(
            0, -ARROW - 0.02, "hatched:\nbeyond all\nfitted values",
            transform=bar.ax.transAxes, va="top", fontsize=7.5,
        )  # fmt: skip


def _draw_single(ax, effect: Effect, predictors: Predictors) -> None:
    (grid,) = effect.grids
    if isinstance(grid, list):
        places = np.arange(len(grid))
        for low, high in effect.bands:
            ax.bar(places, high - low, 0.7, bottom=low, color=BLUE, alpha=BAND, linewidth=0)
        ax.hlines(effect.values, places - 0.35, places + 0.35, color=BLUE, linewidth=1.2, alpha=0.5)
        ax.plot(places, effect.values, "o", color=BLUE, markersize=6)
        _level_ticks(ax, grid)
        return
    for low, high in effect.bands:
        ax.fill_between(grid, low, high, color=BLUE, alpha=BAND, linewidth=0)
    ax.plot(grid, effect.values, color=BLUE, linewidth=1.8)
    seen = evenly_chosen(np.sort(predictors.frame[effect.names[0]].to_numpy(float)), MOST_TICKS)
    ax.plot(
        seen, np.zeros(len(seen)), "|", transform=ax.get_xaxis_transform(), color=GREY,
        markersize=8, markeredgewidth=0.6, alpha=0.35,
    )  # fmt: skip
    ax.margins(x=0.02)


def _draw_lines(ax, effect: Effect) -> None:
    """One line for each level of the second column; levels that predict the same share one."""
    grid, levels = effect.grids
    has_levels = isinstance(grid, list)
    x = np.arange(len(grid)) if has_levels else grid
    groups = _equal_columns(effect.values)
    for j, members in enumerate(groups):
        ax.plot(
            x, effect.values[:, members[0]], linestyle=LINE_STYLES[j % len(LINE_STYLES)],
            marker="o" if has_levels else None, markersize=4, linewidth=1.6,
            color=COLOURS[j % len(COLOURS)],
            label=", ".join(shorten(levels[place], 14) for place in members)
            if len(members) <= 2
            else f"{shorten(levels[members[0]], 14)} and {len(members) - 1} more",
        )  # fmt: skip
    if has_levels:
        _level_ticks(ax, grid)
    ax.legend(
        title=shorten(effect.names[1]), fontsize=7.5, title_fontsize=8, handlelength=2.2,
        ncols=1 if len(groups) <= 8 else 2,
    )  # fmt: skip


def _equal_columns(values: np.ndarray) -> list[list[int]]:
    """The columns in groups of equal ones; equal is what nobody could see apart."""
    tolerance = 1e-6 * float(np.ptp(values))
    groups: list[list[int]] = []
    for j in range(values.shape[1]):
        for members in groups:
            if np.abs(values[:, j] - values[:, members[0]]).max() <= tolerance:
                members.append(j)
                break
        else:
            groups.append([j])
    return groups


def _draw_surface(ax, effect: Effect, predictors: Predictors, levels, extend: str):
    from matplotlib import colormaps, rc_context
    from matplotlib.colors import ListedColormap

    # Viridis without its darkest part, on which the dots could not be seen.
    colours = ListedColormap(colormaps["viridis"](np.linspace(0.25, 1, 256)))
    x, y = effect.grids
    values = np.clip(effect.values, -LARGEST, LARGEST).T
    ax.grid(False)
    below, above = ([HATCH] * (extend in (end, "both")) for end in ("min", "max"))
    hatches = [*below, *[None] * (len(levels) - 1), *above]
    with rc_context({"hatch.color": HATCH_COLOUR}):
        filled = ax.contourf(
            x, y, values, levels=levels, cmap=colours, extend=extend, hatches=hatches
        )
    # matplotlib warns where there is no line to draw, as on a flat surface.
    if np.any((levels > values.min()) & (levels < values.max())):
        ax.contour(x, y, values, levels=levels, colors="white", linewidths=0.4, alpha=0.6)
    rows = evenly_chosen(predictors.frame[list(effect.names)].to_numpy(float), MOST_DOTS)
    ax.plot(rows[:, 0], rows[:, 1], ".", color="black", markersize=2, alpha=0.6)
    ax.set_ylabel(shorten(effect.names[1]))
    return filled


def _beyond(levels: np.ndarray, surfaces: list[np.ndarray]) -> str:
    """On which sides the surfaces go beyond the levels, in matplotlib's words."""
    is_below = any((values < levels[0]).any() for values in surfaces)
    is_above = any((values > levels[-1]).any() for values in surfaces)
    return {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[is_below, is_above]


def _level_ticks(ax, levels) -> None:
    names = [shorten(level, 14) for level in levels]
    ax.set_xticks(range(len(names)), names, fontsize=9)
    if sum(map(len, names)) > 26:
        size = 8 if len(names) <= 12 else 6
        ax.set_xticks(
            range(len(names)), names, fontsize=size, rotation=40, ha="right", rotation_mode="anchor"
        )
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.grid(False, axis="x")


@dataclass(frozen=True)
class Predictors:
    """The columns of X, numbers or levels, and a background: the values where those not drawn are held."""

    frame: pd.DataFrame
    is_array: bool  # whether the model knows no names, and wants arrays
    background: Mapping[str, object] = field(repr=False)

    @classmethod
    def from_data(cls, model, X, at) -> Predictors:
        """Take X as the model was fitted on it; `at` is "median", "mean" or values by column."""
        is_array = not hasattr(model, "feature_names_in_")
        if isinstance(X, pd.DataFrame) and not is_array:
            frame = _named_frame(model, X)
        else:
            frame = _array_frame(model, X)
        if len(frame) == 0:
            raise InvalidInputError("X has no rows but it should have the training rows")
        return cls(frame, is_array, _background(frame, at))

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.frame.columns)

    @property
    def rows(self) -> pd.DataFrame | np.ndarray:
        """The training rows as the model takes them."""
        return self._as_fitted(self.frame)

    def grid(self, name: str, n: int):
        """Where a column is drawn: n even steps over its range, or its levels."""
        values = self.frame[name]
        if is_levels(values):
            return levels_of(values)
        return np.linspace(float(values.min()), float(values.max()), n)

    def has_levels(self, name: str) -> bool:
        """Whether a column has levels instead of numbers."""
        return is_levels(self.frame[name])

    def design(self, columns: Mapping) -> pd.DataFrame | np.ndarray:
        """Rows in which the named columns take the given values and all others are held."""
        n = len(next(iter(columns.values())))
        rows = {
            name: pd.Series(
                columns.get(name, [self.background[name]] * n),
                dtype=self.frame[name].dtype if is_levels(self.frame[name]) else None,
            )
            for name in self.names
        }
        return self._as_fitted(pd.DataFrame(rows))

    def _as_fitted(self, frame: pd.DataFrame) -> pd.DataFrame | np.ndarray:
        return frame.to_numpy(dtype=float) if self.is_array else frame


def is_levels(values: pd.Series) -> bool:
    """Whether a column has levels instead of numbers."""
    return bool(
        isinstance(values.dtype, pd.CategoricalDtype)
        or pd.api.types.is_bool_dtype(values.dtype)
        or not pd.api.types.is_numeric_dtype(values.dtype)
    )


def levels_of(values: pd.Series) -> list:
    """The levels of a column: all categories in their order, else what occurs, sorted."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return list(values.cat.categories)
    return sorted(values.dropna().unique().tolist(), key=str)


def used_columns(model, predictors: Predictors) -> list[str]:
    """Columns that a term of the model uses, in the order of X."""
    used = set().union(*_columns_of_terms(model))
    return [name for name in predictors.names if name in used]


def interacting_pairs(model, predictors: Predictors) -> list[tuple[str, str]]:
    """Pairs of columns that meet in a term of the model, in the order of X."""
    met = {
        pair
        for columns in _columns_of_terms(model)
        for pair in combinations([name for name in predictors.names if name in columns], 2)
    }
    return [pair for pair in combinations(predictors.names, 2) if pair in met]


def _columns_of_terms(model) -> list[set[str]]:
    """For each selected term the columns of X that it uses; a factor is one column."""
    owners = model.model_.owners
    dirs = np.asarray(model.dirs_)[np.asarray(model.selected_terms_)]
    return [set().union(*(owners[j] for j in np.flatnonzero(row))) for row in dirs]


def _named_frame(model, X: pd.DataFrame) -> pd.DataFrame:
    names = [str(name) for name in X.columns]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InvalidInputError(f"X has two columns named {twice[0]!r}, but names should be unique")
    frame = X.set_axis(names, axis=1).reset_index(drop=True).infer_objects()
    if model.model_.formula is None:
        return frame
    # The response and whatever else the formula does not use may stand beside its columns.
    return frame[[name for name in names if name in model.model_.formula.names]]


def _array_frame(model, X) -> pd.DataFrame:
    names = [str(n) for n in getattr(model, "feature_names_in_", model.model_.feature_names)]
    values = as_numbers("X", X, "hold numbers, or be a DataFrame as in fit")
    if values.ndim != 2 or values.shape[1] != len(names):
        raise InvalidInputError(
            f"X has shape {values.shape} but the model needs {len(names)} columns"
        )
    return pd.DataFrame(values, columns=names)


def _background(frame: pd.DataFrame, at) -> dict[str, object]:
    given = dict(at) if isinstance(at, Mapping) else {}
    if not isinstance(at, Mapping) and (not isinstance(at, str) or at not in CENTRES):
        raise refusal("at", at, "'median', 'mean', or a dictionary of values by column")
    for name, value in given.items():
        _check_held(frame, name, value)
    centre = CENTRES["median" if isinstance(at, Mapping) else at]
    return {name: given.get(name, _typical(frame[name], centre)) for name in frame.columns}


def _check_held(frame: pd.DataFrame, name, value) -> None:
    """Refuse a value to hold a column at that the column could not have."""
    if name not in frame.columns:
        raise InvalidInputError(f"at names {name!r} but X has no such column")
    if is_levels(frame[name]):
        levels = levels_of(frame[name])
        if value not in levels:
            known = ", ".join(map(repr, levels[:8]))
            raise InvalidInputError(f"at holds {name!r} at {value!r} but its levels are {known}")
    elif not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise InvalidInputError(f"at holds {name!r} at {value!r} but it should be a finite number")


def _typical(values: pd.Series, centre) -> object:
    """The centre of numbers; of levels the most frequent, the first one where several are."""
    present = values.dropna()
    if len(present) == 0:
        return values.iloc[0]
    if not is_levels(values):
        return float(centre(present.to_numpy(dtype=float)))
    levels = levels_of(present)
    counts = [int((present == level).sum()) for level in levels]
    return levels[int(np.argmax(counts))]
