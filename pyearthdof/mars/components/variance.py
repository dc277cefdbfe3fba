"""Variance model of a MARS model in plain numpy.

The absolute residuals are regressed on the fitted response or on the predictors. Normal residuals with
standard deviation s have mean absolute value s sqrt(2/pi).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.stats import norm

from ...exceptions import InvalidInputError
from .. import reading as saved
from .terms import evaluate_terms

SD_OF_ABSOLUTE = float(np.sqrt(np.pi / 2))
ON_FIT = ("lm", "rlm", "earth", "power", "power0")
ON_PREDICTORS = ("x.lm", "x.rlm", "x.earth")
LARGEST = 1e300


@dataclass(frozen=True, eq=False)
class VarianceModel:
    """Fitted variance model; its terms are encoded as in `MarsModel`, linear for linear models."""

    method: str  # R's `varmod.method`
    exponent: float  # exponent of the fitted response as regressor
    dirs: np.ndarray
    cuts: np.ndarray
    coef: np.ndarray
    power: float  # estimated exponent of power models, otherwise 1
    min_sd: float
    converged: bool
    iterations: int
    root: np.ndarray  # triangle R with R'R = B'WB, for the basis B of the model and case weights W

    def sd(self, fitted: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Standard deviations of new observations at these fitted values and predictors."""
        return sd_of(self.absolute_residuals(fitted, X), self.min_sd)

    def absolute_residuals(self, fitted: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Predictions of the regression, which may be negative when extrapolating."""
        if self.method == "const":
            return np.full(len(X), self.coef[0])
        values = X
        if self.method in ON_FIT:
            values = power_of_fit(fitted, self.exponent)
            if self.method.startswith("power"):
                values = np.maximum(values, 0.0)
            values = (values**self.power)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            return evaluate_terms(values, self.dirs, self.cuts) @ self.coef

    def leverages(self, basis: np.ndarray) -> np.ndarray:
        """Leverages b'(B'WB)^-1 b for rows b of the basis."""
        return np.sum(solve_triangular(self.root, basis.T, trans="T") ** 2, axis=0)

    def to_dict(self) -> dict[str, Any]:
        return {f.name: saved.plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> VarianceModel:
        """Build from the result of `to_dict`; errors name inconsistent entries."""
        if not isinstance(entries, Mapping):
            raise InvalidInputError("varmod should be a mapping")
        missing = [f.name for f in fields(cls) if f.name not in entries]
        if missing:
            raise InvalidInputError(f"varmod lacks {', '.join(missing)}")
        return cls(
            **{name: read(f"varmod.{name}", entries[name]) for name, read in _READERS.items()}
        )

    def check(self, n_terms: int, n_features: int) -> None:
        """Reject parts inconsistent with each other or with the size of the model."""
        if self.method not in ("const", *ON_FIT, *ON_PREDICTORS):
            raise InvalidInputError(f"varmod.method={self.method!r} is unknown")
        on_predictors = self.method in ON_PREDICTORS
        width = n_features if on_predictors else 1
        if self.dirs.shape != (len(self.coef), width) or self.cuts.shape != self.dirs.shape:
            raise InvalidInputError(
                f"varmod.dirs and varmod.cuts should have the shape {(len(self.coef), width)}"
            )
        if len(self.coef) == 0 or not np.isin(self.dirs, (-1, 0, 1, 2)).all():
            raise InvalidInputError("varmod.dirs has entries other than -1, 0, 1 and 2, or none")
        if self.root.shape != (n_terms, n_terms) or not np.all(np.diag(self.root) != 0):
            raise InvalidInputError(
                f"varmod.root should be a triangle of the shape {(n_terms, n_terms)}"
            )
        numbers = np.concatenate(
            [self.cuts.ravel(), self.coef, self.root.ravel(), [self.exponent, self.power]]
        )
        if not (np.abs(numbers) <= LARGEST).all() or not 0 <= self.min_sd <= LARGEST:
            raise InvalidInputError(
                f"varmod has entries that are not finite numbers, or larger than {LARGEST:g}"
            )


@dataclass(frozen=True, eq=False)
class VarianceErrors:
    """Standard errors and R-squared of the regression of a variance model."""

    names: tuple[str, ...]  # R's names; RHS is the fitted response
    stderr: np.ndarray  # exponent of a power model last; NaN for a dropped coefficient
    rsq: float | None  # None for a constant variance


def sd_of(absolute: np.ndarray, min_sd: float) -> np.ndarray:
    """Standard deviations of normal residuals with these mean absolute values."""
    return SD_OF_ABSOLUTE * np.maximum(absolute, min_sd / SD_OF_ABSOLUTE)


def power_of_fit(fitted: np.ndarray, exponent: float) -> np.ndarray:
    """Return a power of the fitted response; negative values are set to 0 if it is undefined."""
    if not float(exponent).is_integer():
        fitted = np.maximum(fitted, 0.0)
    return fitted**exponent


def basis_root(bx: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Triangle R with R'R = B'WB."""
    weighted = bx if weights is None else bx * np.sqrt(weights)[:, None]
    return qr(weighted, mode="r")[0][: bx.shape[1]]


def linear_terms(n_columns: int, intercept: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Directions and cuts of a linear model: the intercept, then one term per column."""
    dirs = 2.0 * np.eye(n_columns)
    if intercept:
        dirs = np.vstack([np.zeros(n_columns), dirs])
    return dirs, np.zeros(dirs.shape)


def interval_width(sd: np.ndarray, level: float) -> np.ndarray:
    """Half the length of a normal interval."""
    return norm.ppf(1 - (1 - level) / 2) * sd


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "method": saved.read_text, "exponent": saved.read_number, "dirs": saved.read_matrix,
    "cuts": saved.read_matrix, "coef": saved.read_vector, "power": saved.read_number,
    "min_sd": saved.read_number, "converged": saved.read_flag, "iterations": saved.read_integer,
    "root": saved.read_matrix,
}  # fmt: skip
