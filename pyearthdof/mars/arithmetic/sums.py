"""Sums that round as R's do: one value after the other, in extended precision where R has it."""

from __future__ import annotations

import numpy as np

from ... import _core

__all__ = ["r_column_means", "r_mean", "r_sum", "r_variance", "r_weighted_mean", "sum_in_order"]


def r_sum(values: np.ndarray) -> float:
    """R's sum(): in extended precision."""
    return _core.extended_sum(np.ascontiguousarray(values, dtype=float))


def r_mean(values: np.ndarray) -> float:
    """R's mean(): in extended precision, with a second round for what the first one lost."""
    return _core.extended_mean(np.ascontiguousarray(values, dtype=float))


def r_column_means(matrix: np.ndarray) -> np.ndarray:
    """R's colMeans(): sums in extended precision, rounded once, after the division."""
    totals = np.add.accumulate(matrix.astype(np.longdouble), axis=0)[-1]
    return (totals / len(matrix)).astype(float)


def r_variance(values: np.ndarray) -> float:
    """R's var(): differences and squares in extended precision, too."""
    differences = values.astype(np.longdouble) - r_mean(values)
    return float(np.add.accumulate(differences**2)[-1] / (len(values) - 1))


def r_weighted_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """R's weighted.mean(), which is not a number where no row has a weight."""
    total = r_sum(weights)
    return r_sum(values * weights) / total if total else np.nan


def sum_in_order(values: np.ndarray) -> float:
    """The sum in double precision, which is how earth's own code adds; numpy's sum adds in pairs."""
    return float(np.add.accumulate(values)[-1])
