"""The summary of a fitted estimator, in R's layout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cv_summary import cv_lines
from .format import formulas_of
from .glm_table import LEFT_OUT, glm_details
from .summary import model_summary
from .variance_summary import variance_lines

if TYPE_CHECKING:
    from ..base import MarsEstimator

__all__ = ["estimator_summary"]


def estimator_summary(
    estimator: MarsEstimator, glm_fits: Any, *, details: bool, style: str, decomp: str, digits: int,
    fixed_point: bool,
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
        details_of_glm = LEFT_OUT if glm_fits is None else glm_details(model, glm_fits, digits)
    text = model_summary(
        model,
        repr(estimator),
        nprune,
        rows.weights,
        details=details,
        glm_details=details_of_glm,
        fixed_point=fixed_point,
        formulas=None if style == "h" else formulas_of(model, style, **options),
        offset=rows.offset,
        statistics=statistics,
        **options,
    )
    if model.varmod is None:
        return text
    return "\n".join([text, "", *variance_lines(model, rows.varmod, digits)])
