"""An estimate together with what it would have been without each repetition: its standard error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Jackknife", "mean_of"]


@dataclass(frozen=True)
class Jackknife:
    """An estimate and its leave-one-out values.

    `left_out[j]` is the estimate without repetition j, or without the j-th group of repetitions in
    very large runs. Estimates from the same run are subtracted value by value, so that the standard
    error of a difference knows that they are correlated.
    """

    value: float
    left_out: np.ndarray

    @property
    def se(self) -> float:
        """Jackknife standard error; nan where leaving one out leaves too little."""
        m = len(self.left_out)
        # Differences to the first value: exactly 0 where all are equal.
        deviation = self.left_out - self.left_out[0]
        deviation = deviation - deviation.mean()
        return float(np.sqrt((m - 1) / m * (deviation @ deviation)))

    def __sub__(self, other: Jackknife) -> Jackknife:
        return Jackknife(self.value - other.value, self.left_out - other.left_out)


def mean_of(values: np.ndarray, groups: np.ndarray | None = None) -> Jackknife:
    """The mean of a quantity over the repetitions.

    Parameters
    ----------
    values : (m,) array
    groups : (m,) array of int, optional
        Group of each repetition, where groups are left out instead of single repetitions.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.dof.jackknife import mean_of
    >>> mean = mean_of(np.array([1.0, 2.0, 4.0, 5.0]))
    >>> mean.value, round(mean.se, 4)
    (3.0, 0.9129)
    """
    values = np.asarray(values, dtype=float)
    if (values == values[0]).all():
        return Jackknife(float(values[0]), np.full(_n_groups(values, groups), values[0]))
    total, m = values.sum(), len(values)
    if groups is None:
        return Jackknife(float(total / m), (total - values) / (m - 1))
    left = m - np.bincount(groups)
    return Jackknife(float(total / m), (total - np.bincount(groups, weights=values)) / left)


def _n_groups(values, groups) -> int:
    return len(values) if groups is None else int(groups.max()) + 1
