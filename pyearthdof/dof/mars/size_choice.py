"""Choose the size of a model by its actual degrees of freedom."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..._utils.checks import check_choice, refusal
from ...exceptions import InvalidInputError
from ..drawn import DrawnSizes, FromTable
from .sizes import SizeCurve

__all__ = ["CRITERIA", "SizeChoice", "choose_size", "scores"]

CRITERIA = ("aicc", "covariance", "gcv")
LARGEST = 0.75  # part of n: near n GCV breaks down, and the curve is extrapolated


@dataclass(frozen=True, eq=False)
class SizeChoice(DrawnSizes, FromTable):
    """A size, and why it was chosen; `plot` is that of the curve, with the size.

    Attributes
    ----------
    size : int
        Number of terms with the least score.
    df : float
        Actual degrees of freedom of a model of that size.
    sigma2 : float
        Variance of the noise: the RSS over n - df of the size with the least AICc.
    criterion : {"aicc", "covariance", "gcv"}
    curve : SizeCurve
        The degrees of freedom of all sizes.
    table : DataFrame
        For each size of the pruning sequence: df, rss, and the three criteria, infinite where the df are
        above 0.75 n.
    ended : str
        With noise around the fit: how the iteration ended. Otherwise "measured once".
    steps : DataFrame or None
        With noise around the fit: the sizes and standard deviations of the noise on the way.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import choose_size, df_of_sizes
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> choose_size(df_of_sizes(X), rss=[120.0, 80.0, 72.0, 68.0, 66.0])
    SizeChoice(3 terms, df=10.12, criterion='aicc', sigma2=0.801)
    """

    size: int
    df: float
    sigma2: float
    criterion: str
    curve: SizeCurve
    table: pd.DataFrame
    ended: str = "measured once"
    steps: pd.DataFrame | None = None

    def __repr__(self) -> str:
        count = 0 if self.steps is None else len(self.steps)
        times = "1 measurement" if count == 1 else f"{count} measurements"
        how = "" if self.steps is None else f", {self.ended}, {times} around the fit"
        terms = "1 term" if self.size == 1 else f"{self.size} terms"
        return (
            f"SizeChoice({terms}, df={self.df:.4g}, criterion={self.criterion!r}, "
            f"sigma2={self.sigma2:.4g}{how})"
        )


def choose_size(curve: SizeCurve, rss, *, criterion="aicc", n=None, nprune=None) -> SizeChoice:
    """The size with the least score, from the RSS of models of 1, 2, ... terms.

    With the actual df of the curve, the scores are

    - "aicc": log(RSS/n) + 2 (df + 1)/(n - df - 2),
    - "covariance": RSS + 2 sigma2 df, with sigma2 = RSS/(n - df) at the size with the least AICc,
    - "gcv": RSS/(1 - df/n)^2.

    Sizes with df above 0.75 n are left out.

    Parameters
    ----------
    curve : SizeCurve
        From `df_of_sizes` or `quick_df_of_sizes`.
    rss : sequence of float
        Residual sums of squares along the pruning sequence, `Earth.rss_per_subset_`. They belong to a
        fit with penalty -1, as the curve does.
    criterion : {"aicc", "covariance", "gcv"}
    n : int, optional
        Number of observations; the curve's by default.
    nprune : int, optional
        Most terms.

    Returns
    -------
    SizeChoice

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth, choose_size, df_of_sizes
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 10))
    >>> y = 2 * np.maximum(X[:, 0], 0) + rng.normal(size=100)
    >>> long = Earth(penalty=-1, engine="native").fit(X, y)
    >>> choice = choose_size(df_of_sizes(X), long.rss_per_subset_)
    >>> long.reprune(nprune=choice.size).terms_
    ('(Intercept)', 'h(x1-0.261351)', 'h(0.261351-x1)')
    """
    check_choice("criterion", criterion, CRITERIA)
    if not isinstance(curve, SizeCurve):
        raise refusal("curve", curve, "a SizeCurve, as df_of_sizes returns it")
    rss = np.asarray(rss, dtype=float)
    if rss.ndim != 1 or len(rss) == 0 or not np.isfinite(rss).all() or (rss < 0).any():
        raise InvalidInputError(
            "rss should be residual sums of squares, 0 or more, of models of 1, 2, ... terms"
        )
    sizes = np.arange(1, len(rss) + 1 if nprune is None else min(len(rss), nprune) + 1)
    df = curve.df_at(sizes)
    table, sigma2 = scores(rss[: len(sizes)], df, curve.n if n is None else n)
    table.insert(0, "size", sizes)
    best = int(np.argmin(table[criterion]))
    return SizeChoice(int(sizes[best]), float(df[best]), sigma2, criterion, curve, table)


def scores(rss: np.ndarray, df: np.ndarray, n: int) -> tuple[pd.DataFrame, float]:
    """The three criteria of models with these RSS and df, the smallest first; and the noise's variance."""
    allowed = df <= LARGEST * n
    allowed[0] = True
    with np.errstate(divide="ignore", invalid="ignore"):
        left = n - df - 2
        aicc = np.where(left > 0, np.log(rss / n) + 2 * (df + 1) / left, math.inf)
        gcv = rss / (1 - df / n) ** 2
    aicc = np.where(allowed, aicc, math.inf)
    # The noise of a long model, which has less bias, made worse choices (docs/let-df-choose.md).
    best = int(np.argmin(aicc))
    sigma2 = float(rss[best] / max(n - df[best], 1.0))
    others = {"covariance": rss + 2 * sigma2 * df, "gcv": gcv}
    others = {name: np.where(allowed, values, math.inf) for name, values in others.items()}
    return pd.DataFrame({"df": df, "rss": rss, "aicc": aicc, **others}), sigma2
