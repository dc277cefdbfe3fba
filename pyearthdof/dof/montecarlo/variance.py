"""Estimators of the degrees of freedom with less variance from as many fits, all of them unbiased.

"direction" is for a constant mean, "control" for any; "orthogonal" is both, where they hold, with responses
that are orthogonal to each other (see `direction`, `control` and `frames`). Antithetic pairs (y and 2 mu - y)
are not among them: the fit of -y is minus the fit of y for most procedures here, so both members of a pair
say the same, and the variance doubles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd

from ..._utils.checks import check_choice, refusal
from ...random import RDraws
from .control import control_sum
from .correlated import CorrelatedResponses, Seen
from .covariance import Covariance, covariance_sum
from .direction import Direction, has_one_mean, is_equivariant
from .frames import frame_size

__all__ = [
    "PLAIN",
    "VARIANCE_REDUCTIONS",
    "Estimator",
    "Reduction",
    "choose",
    "estimator",
    "is_numeric",
]

VARIANCE_REDUCTIONS = ("auto", "best", "orthogonal", "direction", "control", None)


@dataclass(frozen=True)
class Reduction:
    """What an estimator does.

    `frame` is the number of responses in a frame, None where they are independent; `later` is the same
    for a run without a fixed end, if it turns out to be long. Without `rows` the share of each observation
    need not be found.
    """

    direction: bool = False
    control: bool = False
    frame: int | None = None
    later: int | None = None
    rows: bool = True

    @property
    def settings(self) -> dict:
        """What a result tells; a `variance_reduction` of None is the paper's estimator."""
        parts = {
            "orthogonal": self.frame is not None,
            "direction": self.direction,
            "control": self.control,
        }
        name = ", ".join(name for name, used in parts.items() if used) or None
        return {"variance_reduction": name, "frame_size": self.frame}


PLAIN = Reduction()


def choose(name, procedure, X, responses, counts, target_se=None) -> Reduction:
    """The estimator of that name for these responses, or the best one that is valid.

    `counts` are the repetitions for each design, the most there may be with `target_se`.
    """
    check_choice("variance_reduction", name, VARIANCE_REDUCTIONS)
    if name == "auto":
        name = None if isinstance(responses.draws, RDraws) else "best"
    if name is None:
        return PLAIN
    if name == "direction":
        _check_direction(procedure, responses)
        return Reduction(direction=True)
    if name == "control":
        if not is_numeric(X):
            right = "'best', 'direction' or None where a column of X does not hold numbers, or misses some"
            raise refusal("variance_reduction", name, right)
        return Reduction(control=True)
    direction = _has_one_mean(responses) and is_equivariant(procedure)
    size = frame_size(responses.n - direction, counts, partial=name == "orthogonal")
    if name == "orthogonal" and size is None:
        right = "'best', unless there are 20 repetitions or more, or 4 for each design, and n is above 2"
        raise refusal("variance_reduction", name, right)
    if name == "best" and target_se is not None and len(counts) == 1:
        return Reduction(direction, is_numeric(X), later=size)
    return Reduction(direction, is_numeric(X), frame=size)


def _check_direction(procedure, responses) -> None:
    """Refuse an estimator whose conditions do not hold."""
    if not _has_one_mean(responses):
        right = "'best', 'control' or None where mu is not constant or sigma not a single number"
        raise refusal("variance_reduction", "direction", right)
    if not is_equivariant(procedure):
        right = f"'best', 'control' or None, because {procedure!r} does not declare is_equivariant"
        raise refusal("variance_reduction", "direction", right)


def _has_one_mean(responses) -> bool:
    if isinstance(responses, CorrelatedResponses):
        return False
    return has_one_mean(responses.mu, responses.sigma)


def is_numeric(X) -> bool:
    """Whether every column of a design holds numbers, none of them missing: the control projects on them."""
    if isinstance(X, pd.DataFrame):
        return X.select_dtypes("number").shape == X.shape and not X.isna().any(axis=None)
    return not isinstance(X, np.ndarray) or not np.isnan(X).any()


class Estimator(Protocol):
    """An estimate in the making: `add` the blocks in order, then ask for the `result`."""

    def add(self, Y: np.ndarray, fitted: np.ndarray, /) -> None: ...

    def result(self) -> Covariance: ...


def estimator(reduction: Reduction, X, responses, groups) -> Estimator:
    """Return an empty estimator."""
    if isinstance(responses, CorrelatedResponses):
        return _correlated(reduction, X, responses, groups)
    if reduction.direction:
        return Direction(responses.n, X if reduction.control else None, groups, reduction.rows)
    if reduction.control:
        return control_sum(X, responses.mu, responses.sigma, groups)
    return covariance_sum(responses.mu, responses.sigma, groups)


def _correlated(reduction: Reduction, X, responses: CorrelatedResponses, groups) -> Estimator:
    """Without a control in coordinates that keep the observations apart, else in white ones."""
    if not reduction.control:
        plain = estimator(reduction, X, responses.whitened(), groups)
        return Seen(plain, responses.weighed, np.asarray, keeps_rows=True)
    white_X = responses.white(np.asarray(X, dtype=float))
    inner = estimator(reduction, white_X, responses.whitened(), groups)
    return Seen(inner, responses.white_noise, responses.white, keeps_rows=False)
