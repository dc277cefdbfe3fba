"""What poly, bs, ns, scale and cut learn from the training data, as R computes it."""

from __future__ import annotations

import itertools

import numpy as np

from ..arithmetic import (
    r_column_means,
    r_mean,
    r_sum,
)
from ..data.columns import (
    householder,
    multiplied_by_q,
)
from .functions import powers_of, quantiles
from .tokens import refuse

__all__ = [
    "cut_breaks",
    "cut_labels",
    "inner_knots",
    "orthogonal_polynomials",
    "scaling",
]


def orthogonal_polynomials(
    label: str, x: np.ndarray, degree: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A column of ones and R's poly, alpha and norm2."""
    if degree >= len(np.unique(x)):
        refuse(
            f"the degree of {label} should be less than the number of different values, {len(np.unique(x))}"
        )
    mean = r_mean(x)
    centred = x - mean
    columns, heads, rank = householder(powers_of(centred, degree))
    if rank < degree:
        refuse(
            f"the degree of {label} is too high for its values: their powers cannot be told apart"
        )
    z = np.column_stack([multiplied_by_q(columns, heads, rank, j) for j in range(degree + 1)])
    squares = z**2
    norm2 = _sums(squares)
    alpha = (_sums(centred[:, None] * squares) / norm2 + mean)[:degree]
    norm2 = np.concatenate([[1.0], norm2])
    z /= np.sqrt(norm2[1:])
    z[:, 0] = 1.0  # in products of several variables
    return z, alpha, norm2


def _sums(matrix: np.ndarray) -> np.ndarray:
    """R's colSums."""
    return np.array([r_sum(column) for column in matrix.T])


def inner_knots(x: np.ndarray, n_knots: int) -> np.ndarray:
    """Knots at equally spaced quantiles."""
    if n_knots < 1:
        return np.empty(0)
    step = 1.0 / (n_knots + 1)
    return quantiles(x, np.arange(1, n_knots + 1) * step)


def scaling(columns: np.ndarray, center, scale) -> tuple[np.ndarray, np.ndarray]:
    """Centres and scales of R's scale; `center` and `scale` are truth values or numbers."""
    n, width = columns.shape
    if isinstance(center, bool):
        center = r_column_means(columns) if center else np.zeros(width)
    columns = columns - center
    if isinstance(scale, bool):
        scale = np.sqrt(_sums(columns**2) / max(1, n - 1)) if scale else np.ones(width)
    return np.asarray(center, dtype=float), np.asarray(scale, dtype=float)


def cut_breaks(x: np.ndarray, count: int) -> np.ndarray:
    """The ends of so many intervals of one length, the outermost a thousandth further out."""
    low, high = float(x.min()), float(x.max())
    width = high - low
    if width == 0:
        width = abs(low) if low != 0 else 1.0
        return _sequence(low - width / 1000, high + width / 1000, count + 1)
    breaks = _sequence(low, high, count + 1)
    breaks[[0, -1]] = low - width / 1000, high + width / 1000
    return breaks


def _sequence(start: float, end: float, length: int) -> np.ndarray:
    step = (end - start) / (length - 1)
    found = start + np.arange(length) * step
    found[-1] = end
    return found


def cut_labels(breaks: np.ndarray, right: bool, lowest: bool, fewest: int = 3) -> list[str]:
    """R's names of the intervals: as few digits, from `fewest` on, as tell the breaks apart.

    Where both ends are infinite, R writes them with the same number of characters.

    >>> cut_labels(np.array([-np.inf, 0.0, np.inf]), right=True, lowest=False)
    ['(-Inf,0]', '(0, Inf]']
    """
    infinity = " Inf" if np.isinf(breaks[[0, -1]]).all() else "Inf"
    for digits in range(fewest, max(12, fewest) + 1):
        texts = [f"{b + 0.0:.{digits}g}".replace("-inf", "-Inf") for b in breaks.tolist()]
        texts = [text.replace("inf", infinity) for text in texts]
        if all(a != b for a, b in itertools.pairwise(texts)):
            break
    else:
        return [f"Range_{k}" for k in range(1, len(breaks))]
    opening, closing = ("(", "]") if right else ("[", ")")
    labels = [f"{opening}{a},{b}{closing}" for a, b in itertools.pairwise(texts)]
    if lowest and right:
        labels[0] = "[" + labels[0][1:]
    elif lowest:
        labels[-1] = labels[-1][:-1] + "]"
    return labels
