"""What each predictor does to the prediction, alone and in pairs: R's plotmo."""

from __future__ import annotations

import math

import numpy as np

from .._utils.checks import refusal
from ..exceptions import InvalidInputError
from .checks import check_axes, check_model, check_response, response_names
from .panels import Effect, draw_effects
from .predictors import Predictors, interacting_pairs, used_columns
from .style import new_axes, say_instead

__all__ = ["plot_effects"]

CURVE_STEPS = 201
SURFACE_STEPS = 61
CURVES_BESIDE_LEVELS = 101
KINDS = ("prediction", "confidence")


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
    """Draw the prediction against each predictor, and against pairs that interact, like R's plotmo.

    The predictors that a panel does not show are held: numbers at their median, categories, strings and
    booleans at their most frequent level. A pair of numbers is a filled contour, with the training
    rows as dots; a pair with levels is one line per level (levels that predict the same share one).
    Ticks below a curve are the training values.

    All panels have one scale, as in plotmo. A contour is hatched where the prediction is beyond it and
    beyond all predictions of the training rows: such corners are far from the data.

    Parameters
    ----------
    model : Earth
        A fitted model; for a classifier the predicted probability is drawn.
    X : array or DataFrame
        The training rows, as in `fit`.
    features : list of column names or positions, optional
        A panel for each; default all that the model uses.
    pairs : list of pairs of names or positions, optional
        A panel for each; default all that meet in a term of the model (and are in `features`, if
        that is given). `pairs=[]` draws none.
    axes : matplotlib Axes, optional
        As many as there are features and pairs; without them, a new pyplot figure.
    response : int or str, default 0
        Which response, by index or name, where the model has several; the classes of a classifier
        with more than two.
    at : {"median", "mean"} or dict
        Where the other numbers are held; a dictionary gives values for some of the columns.
    bands : {None, "prediction", "confidence", "both"}
        Bands of the variance model around the curves of single predictors, as in
        `Earth.predict_interval`; the one for new observations, for their mean, or both.
    level : float, default 0.95
        Coverage of the bands.

    Returns
    -------
    array of matplotlib Axes
        First the features, then the pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth, plots
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = Earth(degree=2).fit(X, np.maximum(X[:, 0], 0) * X[:, 1])
    >>> [ax.get_xlabel() for ax in plots.plot_effects(model, X, pairs=[])]
    ['x1', 'x2']
    """
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
        raise InvalidInputError(f"pairs holds {pair!r} but it should hold pairs of columns")
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
