"""Merge the warnings about fitted probabilities of 0 and 1 into one SeparationWarning."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...exceptions import RWarning, SeparationWarning
from ..components.glm import AT_LIMIT, OF_COUNTS, OF_SHARES
from ..model.mars_model import MarsModel
from ..options import EarthOptions

LIMITS = (
    "glm.fit: fitted probabilities numerically 0 or 1 occurred",
    "glm.fit: fitted rates numerically 0 occurred",
)
CONSEQUENCES = (
    *LIMITS,
    "glm.fit: algorithm did not converge",
    "the glm algorithm did not converge for response",
)
MOST_NAMES = 8


Heard = list[tuple[Any, type[Warning]]]  # messages and their categories


def with_separation(heard: Heard, model: MarsModel, bx: np.ndarray, options: EarthOptions) -> Heard:
    """Return the warnings of a fit, with those about separation merged into one.

    Fitted means at their limits show that the coefficients diverge. R warns about them for each response,
    fold and iteration, and suggests no remedy; a single `SeparationWarning` replaces these warnings.
    """
    names = _separated(model, bx, options.glm_l2)
    in_folds = options.nfold > 1 and not options.glm_l2 and any(text in LIMITS for text, _ in heard)
    if not (names or in_folds):
        return heard
    r_warnings = [text for text, category in heard if category is RWarning]
    warning = SeparationWarning(_message(model, names, options.glm_l2), r_warnings)
    others = [(text, category) for text, category in heard if not text.startswith(CONSEQUENCES)]
    return [*others, (warning, SeparationWarning)]


def _separated(model: MarsModel, bx: np.ndarray, l2: float) -> list[str]:
    """Responses with means at their limits; empty if a penalty sufficed."""
    glm = model.glm
    if glm is None or (l2 and glm.converged.all()):
        return []
    shares, counts = (glm.family in names for names in (OF_SHARES, OF_COUNTS))
    if not (shares or counts):
        return []
    with np.errstate(all="ignore"):
        mean = glm.response(bx @ glm.coef).reshape(len(bx), -1)
    at_limit = np.any((mean < AT_LIMIT) | (shares & (mean > 1 - AT_LIMIT)), axis=0)
    return [
        name for name, is_at in zip(model.response_names, at_limit.tolist(), strict=True) if is_at
    ]


def _message(model: MarsModel, names: list[str], l2: float) -> str:
    assert model.glm is not None
    where, what = ("0 or 1", "probabilities") if model.glm.family in OF_SHARES else ("0", "rates")
    shown = ", ".join(repr(name) for name in names[:MOST_NAMES])
    if len(names) > MOST_NAMES:
        shown += f" and {len(names) - MOST_NAMES} more"
    responses = f"the response{'s' if len(names) > 1 else ''} {shown}"
    if not names:
        responses = "the response in some of the folds"
    remedy = "a larger glm_l2" if l2 else "a ridge penalty, such as glm_l2=1,"
    return (
        f"the terms seem to separate {responses}: fitted {what} are {where}, and nothing keeps the "
        f"coefficients from growing; {remedy} does"
    )
