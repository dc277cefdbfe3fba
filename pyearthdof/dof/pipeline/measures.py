"""The numbers of a report, as they are usually computed and with the degrees of freedom that were measured.

With the residual sum of squares RSS, the total one TSS about the mean, and sigma^2 the variance of the
noise:

    optimism     2 sigma^2 df/n, of the mean squared error
    error        RSS/n + optimism, the mean squared error of new responses at the same rows
    R2           1 - error/(TSS/n + 2 sigma^2/n): the mean of y, with one degree of freedom, is judged alike
    AIC, BIC     n log RSS + 2 df, n log RSS + df log n
    GCV          RSS/n/(1 - df/n)^2

For classes and counts the deviance D takes the place of the error, and 2 df is its optimism:

    deviance     D + 2 df, of new responses at the same rows
    explained    1 - (D + 2 df)/(D_0 + 2 df_0), D_0 that of the shares of the classes (the mean of the counts)
    AIC, BIC     D + 2 df, D + df log n
    wrong        share of wrong classes, with the covariance penalty of counting

The naive numbers have no optimism in errors and R2, and the naive count of parameters in AIC, BIC and
GCV.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..montecarlo.jackknife import Jackknife

__all__ = ["Measure", "family_measures", "gaussian_measures", "wrong_classes"]


@dataclass(frozen=True)
class Measure:
    """A number of the report: as it is usually computed, and with the df that were measured."""

    name: str
    naive: float | None
    honest: float | None
    se: float | None


def _measure(name: str, naive, honest, df: Jackknife) -> Measure:
    """`honest` is a function of the df; its error comes from the same draws."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(honest(df.value))
        se = Jackknife(value, np.array([float(honest(d)) for d in df.left_out])).se
    return Measure(
        name, None if naive is None else float(naive), value, se if math.isfinite(value) else None
    )


def gaussian_measures(y, fitted, naive, df: Jackknife, sigma) -> tuple[Measure, ...]:
    """Of a regression with the naive count of its parameters, which may be None."""
    n = len(y)
    rss, tss = float(((y - fitted) ** 2).sum()), float(((y - y.mean()) ** 2).sum())
    log_rss = math.log(rss) if rss > 0 else -math.inf
    null = tss / n + 2 * sigma**2 / n
    known = naive is not None

    def gcv(d):
        return rss / n / (1 - d / n) ** 2 if d < n else math.inf

    return (
        _measure("optimism", 0.0, lambda d: 2 * sigma**2 * d / n, df),
        _measure("mean squared error", rss / n, lambda d: rss / n + 2 * sigma**2 * d / n, df),
        _measure("R2", 1 - rss / tss if tss else None, lambda d: 1 - (rss + 2 * sigma**2 * d) / n / null, df),
        _measure("AIC", n * log_rss + 2 * naive if known else None, lambda d: n * log_rss + 2 * d, df),
        _measure(
            "BIC", n * log_rss + naive * math.log(n) if known else None,
            lambda d: n * log_rss + d * math.log(n), df,
        ),
        _measure("GCV", gcv(naive) if known else None, gcv, df),
    )  # fmt: skip


def family_measures(codes, mean, clip, labels, naive, df: Jackknife) -> tuple[Measure, ...]:
    """Of classes, whose numbers are `codes` and probabilities `mean`, or of counts (`labels` None)."""
    n = len(codes)
    if labels is None:
        D, D0, df0 = (
            _poisson_deviance(codes, np.maximum(mean, clip)),
            _poisson_deviance(codes, codes.mean()),
            1,
        )
    else:
        chosen = np.clip(mean, clip, 1 - clip)[np.arange(n), codes.astype(int)]
        shares = np.bincount(codes.astype(int), minlength=len(labels)) / n
        D, D0 = (
            -2 * float(np.log(chosen).sum()),
            -2 * float(np.log(shares[codes.astype(int)]).sum()),
        )
        df0 = len(labels) - 1
    known = naive is not None
    return (
        _measure("optimism", 0.0, lambda d: 2 * d, df),
        _measure("deviance", D, lambda d: D + 2 * d, df),
        _measure("explained deviance", 1 - D / D0, lambda d: 1 - (D + 2 * d) / (D0 + 2 * df0), df),
        _measure("AIC", D + 2 * naive if known else None, lambda d: D + 2 * d, df),
        _measure(
            "BIC", D + naive * math.log(n) if known else None, lambda d: D + d * math.log(n), df
        ),
    )


def _poisson_deviance(y, mean) -> float:
    ratio = np.where(y > 0, y / mean, 1.0)
    return 2 * float((y * np.log(ratio) - (y - mean)).sum())


def wrong_classes(share: float, n: int, penalty: Jackknife) -> Measure:
    """The share of wrong classes, and with the covariance penalty of counting."""
    return _measure("share of wrong classes", share, lambda d: share + 2 * d / n, penalty)
