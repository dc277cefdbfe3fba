"""Whether the parts of a model belong together: what came from a file or from R may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...exceptions import InvalidInputError

if TYPE_CHECKING:
    from .mars_model import MarsModel

__all__ = ["check_model"]

LARGEST = 1e300  # a number beyond makes predictions infinite


def check_model(model: MarsModel) -> None:
    """Refuse a model whose parts do not belong together, by the name of the part."""
    shape = (len(model.term_names), len(model.feature_names))
    if model.dirs.shape == model.cuts.shape == (len(model.dirs), shape[1]) != shape:
        raise InvalidInputError(
            f"term_names has {shape[0]} name(s) but dirs and cuts have {len(model.dirs)} row(s)"
        )
    for name in ("dirs", "cuts"):
        if getattr(model, name).shape != shape:
            raise InvalidInputError(
                f"{name} has shape {getattr(model, name).shape} but it should be {shape}"
            )
    if not np.isin(model.dirs, (-1, 0, 1, 2)).all():
        raise InvalidInputError("dirs has entries other than -1, 0, 1 and 2")
    for i, j in np.argwhere(model.dirs != 0).tolist():
        if model.feature_names[j] not in model.term_names[i]:
            raise InvalidInputError(
                f"term_names has {model.term_names[i][:40]!r} for a term of {model.feature_names[j][:40]!r}"
            )
    n_terms = shape[0]
    if len(model.selected) == 0 or not all(0 <= t < n_terms for t in model.selected):
        raise InvalidInputError(f"selected should hold indices from 0 to {n_terms - 1}")
    if len(set(model.selected.tolist())) != len(model.selected):
        raise InvalidInputError("selected holds an index twice")
    if model.dirs[model.selected[0]].any():
        raise InvalidInputError("selected should begin with the intercept")
    _check_responses(model)
    _check_numbers(model)
    _check_pruning(model, n_terms)
    if model.columns is not None and model.columns.feature_names != model.feature_names:
        raise InvalidInputError("columns does not expand to feature_names")
    if model.formula is not None and model.formula.n_columns != shape[1]:
        raise InvalidInputError("formula does not expand to feature_names")
    if model.varmod is not None:
        model.varmod.check(model.n_terms, shape[1])
        if model.coef.ndim > 1:
            raise InvalidInputError("varmod is for one response, but there are several")
    if model.ranges is not None:
        model.ranges.check(model.raw_names, [(c.kind, len(c.levels)) for c in model.raw_columns])


def _check_responses(model: MarsModel) -> None:
    n_resp = len(model.response_names)
    n_columns = 1 if model.coef.ndim == 1 else model.coef.shape[1]
    if n_resp != n_columns:
        raise InvalidInputError(
            f"response_names has {n_resp} name(s) but coef is for {n_columns} response(s)"
        )
    shape = (len(model.selected),) if model.coef.ndim == 1 else (len(model.selected), n_resp)
    if model.coef.shape != shape or n_resp < 1:
        raise InvalidInputError(
            f"coef has shape {model.coef.shape} but there are {len(model.selected)} terms and "
            f"{n_resp} response(s)"
        )
    for name in ("rss", "rsq", "gcv", "grsq"):
        _check_length(f"{name}_per_response", getattr(model, f"{name}_per_response"), n_resp)
    if model.glm is not None:
        if model.glm.coef.shape != shape:
            raise InvalidInputError(f"glm.coef has shape {model.glm.coef.shape}, not {shape}")
        _check_length("glm.deviance", model.glm.deviance, n_resp)


def _check_length(name: str, values: np.ndarray, n_resp: int) -> None:
    if len(values) != n_resp:
        raise InvalidInputError(
            f"{name} has {len(values)} number(s) but there are {n_resp} response(s)"
        )


def _check_numbers(model: MarsModel) -> None:
    """What predictions are computed from."""
    numbers = {"cuts": model.cuts, "coef": model.coef}
    if model.glm is not None:
        numbers["glm.coef"] = model.glm.coef
    for name, values in numbers.items():
        if not (np.abs(values) <= LARGEST).all():
            raise InvalidInputError(
                f"{name} has entries that are not finite numbers, or larger than {LARGEST:g}"
            )


def _check_pruning(model: MarsModel, n_terms: int) -> None:
    """What the importance of predictors is computed from; mda keeps no steps."""
    steps, sizes = model.prune_terms, (len(model.rss_per_subset), len(model.gcv_per_subset))
    whole = ((steps >= 0) & (steps <= n_terms) & (steps == np.floor(steps))).all()
    if steps.size == 0:  # mda knows the first and the last size only
        complete = sizes[0] <= 2 or not np.isfinite(model.rss_per_subset).all()
    else:
        complete = steps.shape == (sizes[0], sizes[0]) and sizes[0] >= model.n_terms
    if sizes[0] != sizes[1] or not complete or not whole:
        raise InvalidInputError(
            "prune_terms, rss_per_subset and gcv_per_subset do not belong together"
        )
