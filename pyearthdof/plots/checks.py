"""Checks that the pictures share: the model, the axes, the response."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._utils.checks import refusal
from ..exceptions import InvalidInputError, TrainingRowsError

__all__ = [
    "check_axes",
    "check_axis",
    "check_model",
    "check_pruning_record",
    "check_response",
    "class_codes",
    "class_indicators",
    "has_pruning_record",
    "response_names",
]


def check_model(model, *needed: str) -> None:
    """Refuse what is not a fitted MARS estimator, or one that lacks a learned attribute."""
    if isinstance(model, type) or not hasattr(model, "predict") or not hasattr(model, "fit"):
        raise InvalidInputError(f"model={model!r:.80} but it should be a fitted Earth")
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NotFittedError(
            f"this {type(model).__name__} is not fitted yet: call fit before drawing it"
        ) from None
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
    """Whether the best model of each size is known; a model of mda has only the chosen one."""
    return np.size(model.prune_terms_) > 0


def check_pruning_record(model) -> None:
    """Refuse a model that does not know the best model of each size."""
    if not has_pruning_record(model):
        raise InvalidInputError(
            f"model is a {type(model).__name__} without a record of its pruning pass but it should "
            "have one for this picture"
        )


def check_axis(ax, name: str = "ax"):
    """Return one Axes, or refuse what is not one."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
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
    """The column of a response that is given by its index or its name."""
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
    """The names of the responses, or y1, y2, ... as R names them."""
    names = model.model_.response_names
    if len(names) == n_responses:
        return tuple(names)
    return ("y",) if n_responses == 1 else tuple(f"y{k + 1}" for k in range(n_responses))


def class_codes(classes, y, n: int) -> np.ndarray:
    """The positions of n observed classes among those of a model."""
    values = np.asarray(y)
    if values.shape != (n,):
        raise InvalidInputError(f"y has shape {values.shape} but X has {n} rows")
    codes = pd.Index(classes).get_indexer(pd.Index(values))
    if (codes < 0).any():
        odd = values.tolist()[int(np.flatnonzero(codes < 0)[0])]
        raise InvalidInputError(f"y holds {odd!r}, which is none of the classes of the model")
    return codes


def class_indicators(classes, y, shape: tuple[int, int]) -> np.ndarray:
    """Observed classes as 0 and 1: a column for each class, or for the second of two alone."""
    codes = class_codes(classes, y, shape[0])
    return (codes[:, None] == np.arange(len(classes))[-shape[1] :]).astype(float)
