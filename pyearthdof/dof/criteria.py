"""Model selection by degrees of freedom: the paper's equations for AIC, BIC and GCV."""

from __future__ import annotations

import math

import numpy as np

from .._utils.checks import check_vector, is_number, refusal
from ..exceptions import InvalidInputError

__all__ = ["aic", "bic", "gcv"]


def aic(y, fitted, df: float) -> float:
    """Akaike's criterion as in the paper, n log RSS + 2 df.

    Parameters
    ----------
    y, fitted : (n,) array
    df : float
        Degrees of freedom of the fit.

    Examples
    --------
    >>> from pyearthdof import aic
    >>> round(aic([1.0, 2.0, 4.0], [1.5, 2.0, 3.0], df=2.0), 6)
    4.669431
    """
    n, rss = _n_and_rss(y, fitted, df)
    return n * _log(rss) + 2 * df


def bic(y, fitted, df: float) -> float:
    """The Bayesian criterion as in the paper, n log RSS + df log n; arguments as in `aic`.

    Examples
    --------
    >>> from pyearthdof import bic
    >>> round(bic([1.0, 2.0, 4.0], [1.5, 2.0, 3.0], df=2.0), 6)
    2.866655
    """
    n, rss = _n_and_rss(y, fitted, df)
    return n * _log(rss) + df * math.log(n)


def gcv(y, fitted, df: float, *, per_observation: bool = False) -> float:
    """Generalized cross-validation, RSS/(1 - df/n)^2; infinite where df >= n.

    Parameters
    ----------
    y, fitted, df
        As in `aic`.
    per_observation : bool
        Divide by n. The paper's equation does not; R's earth does, so `per_observation=True` is the
        GCV that earth reports.

    Examples
    --------
    >>> from pyearthdof import gcv
    >>> gcv([1.0, 2.0, 4.0, 4.0], [1.5, 2.0, 3.0, 4.0], df=2.0)
    5.0
    >>> gcv([1.0, 2.0, 4.0, 4.0], [1.5, 2.0, 3.0, 4.0], df=2.0, per_observation=True)
    1.25
    """
    n, rss = _n_and_rss(y, fitted, df)
    if df >= n:
        return math.inf
    return rss / (1 - df / n) ** 2 / (n if per_observation else 1)


def _n_and_rss(y, fitted, df) -> tuple[int, float]:
    if not is_number(df) or not math.isfinite(df):
        raise refusal("df", df, "a finite number")
    n = np.size(y)
    if n == 0:
        raise InvalidInputError("y is empty but it should have one number per observation")
    residuals = check_vector("y", y, n) - check_vector("fitted", fitted, n)
    return n, float(residuals @ residuals)


def _log(rss: float) -> float:
    return math.log(rss) if rss > 0 else -math.inf
