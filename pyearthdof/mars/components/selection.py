"""Measured degrees of freedom of a selected model, and its standard errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...exceptions import InvalidInputError
from .. import reading as saved
from .terms import evaluate_terms

LARGEST = 1e300


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """Standard deviation of an observation about its mean: exp(terms(x) coef / 2), clipped to limits.

    Terms are encoded as in `MarsModel`; constant noise has one term.
    """

    dirs: np.ndarray
    cuts: np.ndarray
    coef: np.ndarray
    low: float
    high: float

    @classmethod
    def constant(cls, sd: float, n_features: int) -> NoiseModel:
        """Return a model of constant noise."""
        nothing = np.zeros((1, n_features))
        log_variance = np.array([2 * np.log(max(sd, 1e-150))])
        return cls(nothing, nothing, log_variance, sd, sd)

    def sd(self, X: np.ndarray) -> np.ndarray:
        """Standard deviations at rows of the predictors."""
        with np.errstate(over="ignore", invalid="ignore"):
            sd = np.exp(evaluate_terms(X, self.dirs, self.cuts) @ self.coef / 2)
        return np.clip(sd, self.low, self.high)

    def to_dict(self) -> dict[str, Any]:
        return {f.name: saved.plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_dict(cls, name: str, entries: Any) -> NoiseModel:
        """Build from the result of `to_dict`; errors name inconsistent entries."""
        return cls(**saved.read_fields(name, entries, _NOISE_READERS))

    def check(self, n_features: int) -> None:
        """Reject inconsistent parts."""
        shape = (len(self.coef), n_features)
        if len(self.coef) == 0 or self.dirs.shape != shape or self.cuts.shape != shape:
            raise InvalidInputError(
                f"selection.noise.dirs and cuts should have the shape {shape}, with one row at least"
            )
        numbers = np.concatenate([self.cuts.ravel(), self.coef])
        limits = 0 <= self.low <= self.high <= LARGEST
        if not np.isin(self.dirs, (-1, 0, 1, 2)).all() or not (np.abs(numbers) <= LARGEST).all():
            raise InvalidInputError("selection.noise has entries that are invalid in terms")
        if not limits:
            raise InvalidInputError("selection.noise.low and high should be limits, 0 or more")


@dataclass(frozen=True, eq=False)
class SelectionPart:
    """Selection of a model by `AutoEarth`: measured degrees of freedom and resulting errors."""

    n_models: int  # number of averaged models
    df: np.ndarray  # (m,) degrees of freedom of each response; NaN if not measured
    df_se: np.ndarray
    prediction_error: np.ndarray  # (m,) mean squared errors at new responses; NaN for a glm
    importance: (
        np.ndarray
    )  # (p,) standard deviations of the predictor contributions over the training rows
    noise: NoiseModel | None  # for intervals; None for several responses and a glm
    coef_of_models: (
        np.ndarray
    )  # (r, n_models), for the spread between models; (r, 0) for a single model
    spread_factor: (
        float  # ratio of the variance of a fit to that between models, or of a single fit
    )

    def sd(self, basis: np.ndarray, X: np.ndarray, kind: str) -> np.ndarray:
        """Standard deviations of new observations, or of the fit for kind="confidence"."""
        assert self.noise is not None
        if self.coef_of_models.shape[1]:
            with np.errstate(over="ignore", invalid="ignore"):
                spread = (basis @ self.coef_of_models).var(axis=1, ddof=1)
        else:
            spread = np.ones(len(basis))
        of_fit = self.spread_factor * spread
        return np.sqrt(of_fit if kind == "confidence" else self.noise.sd(X) ** 2 + of_fit)

    def to_dict(self) -> dict[str, Any]:
        return {f.name: saved.plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_dict(cls, entries: Any) -> SelectionPart:
        """Build from the result of `to_dict`; errors name inconsistent entries."""
        return cls(**saved.read_fields("selection", entries, _READERS))

    def check(self, n_terms: int, n_features: int, n_responses: int) -> None:
        """Reject parts inconsistent with each other or with the size of the model."""
        for name in ("df", "df_se", "prediction_error"):
            if getattr(self, name).shape != (n_responses,):
                raise InvalidInputError(
                    f"selection.{name} should have {n_responses} number(s), one for each response"
                )
        if self.importance.shape != (n_features,):
            raise InvalidInputError(f"selection.importance should have {n_features} number(s)")
        if self.n_models < 1:
            raise InvalidInputError(
                f"selection.n_models={self.n_models} but it should be 1 or more"
            )
        if self.noise is None:
            return
        self.noise.check(n_features)
        wanted = [(n_terms, self.n_models), (n_terms, 0)]
        if self.coef_of_models.shape not in wanted or n_responses > 1:
            raise InvalidInputError(
                f"selection.coef_of_models should have the shape {wanted[0]} or {wanted[1]}"
            )
        numbers = np.append(self.coef_of_models, self.spread_factor)
        if not (np.abs(numbers) <= LARGEST).all() or self.spread_factor < 0:
            raise InvalidInputError("selection has entries that are not finite numbers")


_NOISE_READERS: dict[str, Callable[[str, Any], Any]] = {
    "dirs": saved.read_matrix, "cuts": saved.read_matrix, "coef": saved.read_vector,
    "low": saved.read_number, "high": saved.read_number,
}  # fmt: skip
_READERS: dict[str, Callable[[str, Any], Any]] = {
    "n_models": saved.read_integer, "df": saved.read_vector, "df_se": saved.read_vector,
    "prediction_error": saved.read_vector, "importance": saved.read_vector,
    "noise": saved.optional(NoiseModel.from_dict), "coef_of_models": saved.read_matrix,
    "spread_factor": saved.read_number,
}  # fmt: skip
