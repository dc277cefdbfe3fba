"""A grid of settings for a procedure, and the procedure at each of its points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from sklearn.base import clone

from ..._utils.checks import refusal
from ...exceptions import InvalidInputError

__all__ = ["candidates"]


def candidates(procedure, grid) -> tuple[str, list, list]:
    """The name of the parameter, its values, and the procedure at each."""
    if isinstance(grid, Mapping):
        if len(grid) != 1:
            raise refusal(
                "grid", dict(grid), "{parameter: values}, or a list of {parameter: value, ...}"
            )
        [(name, values)] = grid.items()
        if not isinstance(values, Iterable) or isinstance(values, str):
            raise refusal("grid", dict(grid), "{parameter: values}, with several values")
        values = list(values)
        settings = [{name: value} for value in values]
    elif isinstance(grid, Sequence | np.ndarray | range) and not isinstance(grid, str):
        values = list(grid)
        if values and all(isinstance(value, Mapping) for value in values):
            name, settings = "setting", [dict(value) for value in values]
        elif callable(procedure) and not hasattr(procedure, "fit"):
            return "value", _some(values), [procedure(value) for value in values]
        else:
            raise refusal(
                "grid",
                grid,
                "{parameter: values}; values alone are for a function value -> procedure",
            )
    else:
        raise refusal("grid", grid, "{parameter: values}, or a list of {parameter: value, ...}")
    if not hasattr(procedure, "get_params"):
        raise refusal("procedure", procedure, "an estimator with the parameters of the grid")
    known = procedure.get_params(deep=True)
    for setting in settings:
        for key in setting:
            if key not in known:
                raise refusal("grid", key, f"one of the parameters {', '.join(sorted(known))}")
    return name, _some(values), [clone(procedure).set_params(**setting) for setting in settings]


def _some(values: list) -> list:
    if not values:
        raise InvalidInputError("grid is empty but it should have one value or more")
    return values
