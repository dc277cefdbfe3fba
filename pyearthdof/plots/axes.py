"""Axes, colours and names of the plots, and the checks of their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._utils.checks import as_pandas, refusal
from .._utils.extras import load_extra
from ..exceptions import InvalidInputError, TrainingRowsError

BLUE, ORANGE, GREEN, GREY = "#1f5fa8", "#d95f02", "#1b7a5a", "#777777"
COLOURS = (BLUE, ORANGE, GREEN, "#7b4ea3", "#b8860b", "#c23b5a", "#3a8fa8", "#555555")
LINE_STYLES = ("-", "--", "-.", ":")
LONGEST_NAME = 24
FONT = 8  # points
LETTER = 0.62 * FONT  # width of a digit, a little generous
# Offsets in points and how the text is aligned there, in the order of preference.
PLACES = (
    ((5, 0), "left", "center"),
    ((-5, 0), "right", "center"),
    ((0, 4), "center", "bottom"),
    ((0, -4), "center", "top"),
    ((5, 5), "left", "bottom"),
    ((5, -5), "left", "top"),
    ((-5, 5), "right", "bottom"),
    ((-5, -5), "right", "top"),
)


def new_axes(n_rows: int = 1, n_columns: int = 1, width: float = 6.0, height: float = 4.0):
    """Return a pyplot figure of `width` times `height` inches; its axes as an array of rows and columns."""
    pyplot = load_extra("matplotlib.pyplot", "drawing")
    figure = pyplot.figure(figsize=(width, height), layout="constrained")
    return figure.subplots(n_rows, n_columns, squeeze=False)


def one_axis(ax=None, width: float = 6.0, height: float = 4.0):
    """Return the Axes that was given, or that of a new pyplot figure."""
    return new_axes(1, 1, width, height)[0, 0] if ax is None else check_axis(ax)


def tidy(ax) -> None:
    """A light grid behind what is drawn."""
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)


def shorten(name, longest: int = LONGEST_NAME) -> str:
    """Return a name that fits under an axis: a long one keeps its beginning and its end."""
    # A lone dollar sign would open matplotlib's mathematics.
    name = str(name)
    if len(name) > longest:
        end = (longest - 1) // 2
        name = name[: longest - 1 - end] + "…" + name[-end:]
    return name.replace("$", r"\$")


def shorten_all(names) -> list[str]:
    """Short names that stay different from each other."""
    longest = LONGEST_NAME
    short = [shorten(name, longest) for name in names]
    while len(set(short)) < len(set(names)):
        longest += 4
        short = [shorten(name, longest) for name in names]
    return short


def say_instead(ax, sentence: str) -> None:
    """An empty panel that says why it is empty."""
    ax.text(0.5, 0.5, sentence, transform=ax.transAxes, ha="center", va="center", color=GREY)
    ax.set(xticks=[], yticks=[])
    ax.grid(False)


def evenly_chosen(values: np.ndarray, most: int) -> np.ndarray:
    """At most `most` of the values, evenly spread over their order; the ends are kept."""
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).round().astype(int)]


def name_points(ax, x, y, rows) -> None:
    """Write the number of each of the rows beside its point, where the fewest points are covered."""
    ax.autoscale_view()  # matplotlib would put it off, and the places would be wrong
    points = ax.transData.transform(np.column_stack([x, y])) * 72 / ax.figure.dpi
    frame = ax.get_window_extent().extents * 72 / ax.figure.dpi
    taken: list[tuple[float, float, float, float]] = []
    for row in rows:
        text = str(row)
        boxes = [_box(points[row], text, *place) for place in PLACES]
        costs = [_cost(box, points, taken, frame) for box in boxes]
        best = int(np.argmin(costs))
        taken.append(boxes[best])
        offset, across, up = PLACES[best]
        ax.annotate(
            text, (x[row], y[row]), xytext=offset, textcoords="offset points", ha=across, va=up,
            fontsize=FONT, color=ORANGE, zorder=4,
        )  # fmt: skip


def _box(point, text, offset, across, up) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of a text, in points."""
    width, height = LETTER * len(text), FONT
    left = point[0] + offset[0] - {"left": 0.0, "center": 0.5, "right": 1.0}[across] * width
    bottom = point[1] + offset[1] - {"bottom": 0.0, "center": 0.5, "top": 1.0}[up] * height
    return left, bottom, left + width, bottom + height


def _cost(box, points, taken, frame) -> float:
    """How bad a place is: out of the frame, upon another name, upon points; in this order."""
    left, bottom, right, top = box
    is_out = left < frame[0] or bottom < frame[1] or right > frame[2] or top > frame[3]
    names = sum(left < o[2] and o[0] < right and bottom < o[3] and o[1] < top for o in taken)
    x, y = points.T
    covered = ((x > left - 2) & (x < right + 2) & (y > bottom - 2) & (y < top + 2)).sum()
    return 1e9 * is_out + 1e6 * names + float(covered)


def inner_model(model, X=None) -> tuple[Any, Any]:
    """Return the Earth at the end of a fitted pipeline or search, and X as it reaches it."""
    X = as_pandas(X)
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif isinstance(model, Pipeline) and len(model):
            check_fitted(model)
            X = X if X is None or len(model) == 1 else model[:-1].transform(X)
            X = as_pandas(X.toarray() if issparse(X) else X)
            model = model[-1]
        else:
            return model, X


def check_fitted(model) -> None:
    """Reject an estimator that is not fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NotFittedError(
            f"this {type(model).__name__} is not fitted yet: call fit before drawing it"
        ) from None


def check_model(model, *needed: str) -> None:
    """Reject what is not a fitted MARS estimator, or one that lacks a learned attribute."""
    if isinstance(model, type) or not hasattr(model, "predict") or not hasattr(model, "fit"):
        raise InvalidInputError(f"model={model!r:.80} but it should be a fitted Earth")
    check_fitted(model)
    for name in needed:
        try:
            found = getattr(model, name)
        except TrainingRowsError:  # it says better why
            raise
        except AttributeError:
            found = None
        if found is None:
            raise InvalidInputError(
                f"model is a {type(model).__name__} without {name} but it should have it for this picture"
            )


def has_pruning_record(model) -> bool:
    """Return whether the best model of each size is known; a model of mda has only the chosen one."""
    return np.size(model.prune_terms_) > 0


def check_pruning_record(model) -> None:
    """Reject a model that does not know the best model of each size."""
    if not has_pruning_record(model):
        raise InvalidInputError(
            f"model is a {type(model).__name__} without a record of its pruning pass but it should "
            "have one for this picture"
        )


def check_axis(ax, name: str = "ax"):
    """Return one Axes, or refuse what is not one."""
    if not isinstance(ax, load_extra("matplotlib.axes", "drawing").Axes):
        raise InvalidInputError(f"{name}={ax!r:.80} but it should be a matplotlib Axes")
    return ax


def check_axes(axes, n: int) -> np.ndarray:
    """Return n Axes as a flat array, or say how many are needed."""
    flat = np.array(axes, dtype=object).ravel()
    if len(flat) != n:
        raise InvalidInputError(f"axes has {len(flat)} Axes but this picture needs {n}")
    for place, ax in enumerate(flat):
        check_axis(ax, f"axes[{place}]")
    return flat


def check_response(response, names: tuple[str, ...]) -> int:
    """Return the column of a response that is given by its index or its name."""
    if isinstance(response, str):
        if response in names:
            return names.index(response)
    elif (
        isinstance(response, (int, np.integer))
        and not isinstance(response, bool)
        and -len(names) <= response < len(names)
    ):
        return int(response) % len(names)
    right = f"one of {', '.join(names)}, or an index below {len(names)}" if len(names) > 1 else "0"
    raise refusal("response", response, right)


def response_names(model, n_responses: int) -> tuple[str, ...]:
    """Return the names of the responses, or y1, y2, ... as R names them."""
    names = model.model_.response_names
    if len(names) == n_responses:
        return tuple(names)
    return ("y",) if n_responses == 1 else tuple(f"y{k + 1}" for k in range(n_responses))
