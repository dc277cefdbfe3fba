"""What fitted probabilities of 0 and 1 tell of a generalised linear model, and what to do about it."""

from __future__ import annotations

import numpy as np

from .._warn import warn_user
from ..exceptions import SeparationWarning
from .describe.glm import AT_LIMIT, OF_COUNTS, OF_SHARES

__all__ = ["warn_of_separation"]


def warn_of_separation(model, bx, l2: float) -> None:
    """Say what means at their limits tell: nothing keeps the coefficients from growing.

    R warns of them, too, but has no remedy. With a penalty that sufficed there is nothing to say.
    """
    glm = model.glm
    if l2 and glm.converged.all():
        return
    with np.errstate(all="ignore"):
        mean = glm.response(bx @ glm.coef).reshape(len(bx), -1)
    shares, counts = (glm.family in names for names in (OF_SHARES, OF_COUNTS))
    at_limit = (mean < AT_LIMIT) | (shares & (mean > 1 - AT_LIMIT))
    if not (shares or counts) or not at_limit.any():
        return
    column = int(np.flatnonzero(at_limit.any(axis=0))[0])
    where, what = ("0 or 1", "probabilities") if shares else ("0", "rates")
    remedy = "a larger glm_l2" if l2 else "a ridge penalty, such as glm_l2=1,"
    warn_user(
        f"the terms seem to separate the response {model.response_names[column]!r}: fitted {what} are "
        f"{where}, and nothing keeps the coefficients from growing; {remedy} does",
        SeparationWarning,
    )
