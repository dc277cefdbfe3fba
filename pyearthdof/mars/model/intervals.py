"""Prediction and confidence intervals of a fitted estimator, from its variance model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..._utils.checks import check_choice, refusal
from ...exceptions import InvalidInputError
from ..options import VARMODS_ONLY_R
from .fit import Fit
from .mars_model import TYPES, MarsModel, interval_frame

ByR = Callable[[str, float], np.ndarray]  # R's own predict for a kind of interval and a level


def interval_table(
    model: MarsModel, fit: Callable[[], Fit], cv_tables: Mapping[str, pd.DataFrame], new: Any,
    level: float, kind: str, method: str, by_r: ByR,
) -> pd.DataFrame:  # fmt: skip
    """Intervals at new rows, or at the training rows of `fit()` if `new` is None."""
    if model.selection is not None:
        return model.predict_interval(new, level, kind)
    if model.varmod is None:  # a gam, available only in R
        if kind == "confidence" and new is not None:
            raise InvalidInputError(
                f"X should be None for confidence intervals with varmod_method={method!r}"
            )
        values = by_r({"prediction": "pint", "confidence": "cint"}[kind], level)
        return pd.DataFrame(values, columns=["fit", "lower", "upper"])
    if new is not None:
        return model.predict_interval(new, level, kind)
    rows = fit()
    assert rows.sd is not None
    sd = rows.sd if kind == "prediction" else _sd_of_predictions(cv_tables)
    return interval_frame(rows.fitted, sd, level)


def standard_deviations(
    model: MarsModel, fit: Callable[[], Fit], new: Any, by_r: ByR
) -> np.ndarray:
    """Standard deviations of new observations, at new rows or at the training rows."""
    if model.selection is not None:
        return model.predict_sd(new)
    if model.varmod is None:
        return by_r("se", 0.95)[:, 0]
    if new is not None:
        return model.predict_sd(new)
    sd = fit().sd
    assert sd is not None
    return sd


def check_variance_model(model: MarsModel, method: str, type: str, *, has_r_object: bool) -> None:
    """Reject intervals without a variance model, or for means of a generalised linear model."""
    if model.selection is not None:
        _check_selection(model)
        check_choice("type", type, TYPES)
        return
    only_r = method in VARMODS_ONLY_R
    if model.varmod is None and only_r and not has_r_object:
        raise InvalidInputError(
            f"varmod_method={method!r} is available only in R and not stored in files: fit again, or with "
            "varmod_method='earth'"
        )
    if model.varmod is None and not only_r:
        raise InvalidInputError(
            f"varmod_method={method!r} but intervals need a variance model: fit with "
            "varmod_method='lm', nfold and ncross"
        )
    check_choice("type", type, TYPES)
    if model.glm is not None and type != "earth":
        right = "'earth' for intervals of a generalised linear model: they are around the least-squares fit"
        raise refusal("type", type, f"{right} of its terms")


def _check_selection(model: MarsModel) -> None:
    """Reject intervals if the model of AutoEarth has no noise model."""
    assert model.selection is not None
    if model.selection.noise is None:
        kind = "of several responses" if model.glm is None else "that is a generalised linear model"
        raise InvalidInputError(
            f"an AutoEarth {kind} has no intervals: they are for least squares of one response"
        )


def _sd_of_predictions(cv_tables: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """Standard deviations at the training rows over the repetitions of cross-validation."""
    table = cv_tables.get("oof_fit")
    if table is None:
        raise InvalidInputError(
            "X should be new rows for confidence intervals: the model came without the table of its "
            "out-of-fold predictions"
        )
    return table.to_numpy().std(axis=1, ddof=1)
