"""The summary of a fitted estimator, in R's layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .format import formulas_of
from .summary import GLM_LEFT_OUT, cv_lines, glm_details, model_summary, variance_lines

if TYPE_CHECKING:
    from ..base import MarsEstimator

__all__ = ["estimator_summary"]


def estimator_summary(
    estimator: MarsEstimator, glm_fits: Any, *, details: bool, style: str, decomp: str, digits: int,
    fixed_point: bool, earth_version: str | None,
) -> str:  # fmt: skip
    """The text of `MarsEstimator.summary`; `glm_fits` are its models with errors, where they are known."""
    model, rows = estimator.model_, estimator._row_summary()
    options: dict[str, Any] = {"decomp": decomp, "digits": digits}
    nprune = getattr(estimator, "nprune", None)
    statistics = None
    if hasattr(estimator, "cv_tables_"):
        statistics = cv_lines(model, estimator.cv_, estimator.cv_tables_, nprune, digits)
    details_of_glm: list[str] = []
    if details and model.glm is not None:
        details_of_glm = GLM_LEFT_OUT if glm_fits is None else glm_details(model, glm_fits, digits)
    text = model_summary(
        model,
        repr(estimator),
        nprune,
        rows.weights,
        details=details,
        glm_details=details_of_glm,
        fixed_point=fixed_point,
        formulas=None
        if style == "h"
        else formulas_of(model, style, **options, earth_version=earth_version),
        offset=rows.offset,
        statistics=statistics,
        **options,
    )
    if model.varmod is None:
        return text
    return "\n".join([text, "", *variance_lines(model, rows.varmod, digits)])
