"""What a MARS model counts for its terms and knots, and its GCV."""

from __future__ import annotations

import numpy as np

__all__ = ["gcv_of", "gcv_of_sizes", "nominal_df"]


def nominal_df(n_terms, penalty):
    """Nominal degrees of freedom of r terms at penalty c, r + c (r - 1)/2 (equation "mars_cmr").

    A negative penalty means that terms and knots are free: 0, as earth has it.

    Examples
    --------
    >>> nominal_df(12, 2.0)
    23.0
    """
    return (n_terms + penalty * (n_terms - 1) / 2) * (penalty >= 0)


def gcv_of(rss, n_terms, n: int, penalty: float) -> np.ndarray:
    """GCV of models with these residual sums of squares and numbers of terms on n rows."""
    rss = np.asarray(rss, dtype=float)  # whose division by zero is infinite
    cost = nominal_df(n_terms, penalty)
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 where cost is n and the fit is exact
        return np.where(cost >= n, np.inf, rss / (n * (1 - cost / n) ** 2))


def gcv_of_sizes(rss: np.ndarray, n: int, penalty: float) -> np.ndarray:
    """GCV of the subsets of 1, 2, ... terms."""
    return gcv_of(rss, np.arange(1, len(rss) + 1), n, penalty)
