"""Actual degrees of freedom of every size of a MARS pruning sequence, and selection of a size.

MARS assumes r + c (r - 1)/2 for a model of r terms, a straight line. The actual degrees of freedom form a
curve: the first terms are the best of many and expensive; later ones are cheaper. The curve is measured by
Algorithm 1 with noise responses in the forward pass and the pruning pass.

A fit of size r is a projection, so for a constant mean the sum of the covariances is 1 + (n - 1) E[RSq of
size r], one number per run. For another mean it is E[z'(fit - f)]/sigma, where z is the noise, and f any
fixed vector; its variance decreases as f approaches the fit.

earth reports 0 for an RSS below 1e-10, even if y is that small. Such an RSS is computed again and set to 0
only if it is a rounding error.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm

from ..._utils.checks import by_position, check_choice, check_level, refusal
from ...contract import Rows, SizeFits
from ...exceptions import InvalidInputError
from ...mars.components.terms import evaluate_terms
from ...mars.data.design import Design, check_weights, differ
from ...mars.earth import Earth
from ...mars.engines.base import BoundEngine
from ..criteria import CRITERIA, scores, sum_of_squares
from ..montecarlo.designs import Designs, in_words, the_designs
from ..montecarlo.draws import Draws, RandomState, Responses, authors_draws
from ..montecarlo.errors import check_n_rep, mean_of, mean_over_designs
from ..montecarlo.variance_reduction import df_of_projections
from ..montecarlo.workers import run_blocks
from ..results import Curve, Estimate, package_versions
from .correction import default_penalty, mars_search, nominal

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def fits_of_sizes(long: Earth, design: Design) -> Callable:
    """Return a function that fits y by the best terms of each size of `long`, (sizes, n)."""
    model, root = long.model_, _root(long)
    bx = evaluate_terms(design.values, model.dirs, model.cuts)
    length = np.linalg.norm(root[:, None] * bx, axis=0)
    bx = bx / np.where(length > 0, length, 1.0)
    bases = []
    for k, row in enumerate(long.prune_terms_):
        columns = bx[:, row[: k + 1].astype(int) - 1]
        bases.append((columns, np.linalg.pinv(root[:, None] * columns)))
    return lambda y: np.array([columns @ (inverse @ (root * y)) for columns, inverse in bases])


def n_weighted(model: Any) -> int:
    """Return the number of rows with positive weight of a fitted Earth."""
    return int((_root(model) > 0).sum())


def rss_of_fit(model: Any) -> float:
    """Return the residual sum of squares of a fitted Earth."""
    if model.rss_ > 0:
        return float(model.rss_)
    y = model.fitted_values_ + model.residuals_
    return float(sum_of_squares(model.residuals_, y, _root(model)))


def _root(model: Any) -> np.ndarray:
    """Return square roots of the case weights, or 1."""
    n = len(model.fitted_values_)
    return np.ones(n) if model.weights_ is None else np.sqrt(model.weights_)


SEQUENCES = ("backward", "forward", "seqrep", "exhaustive")


@dataclass(frozen=True, eq=False)
class SizeCurve(Curve):
    """Actual degrees of freedom of MARS models by number of terms.

    Attributes
    ----------
    sizes : (k,) array
        Numbers of terms 1, 2, ..., up to the median length of the runs.
    df, se : (k,) array
        Actual degrees of freedom, and their standard error.
    nominal_df : (k,) array
        r + c (r - 1)/2 with the default penalty c.
    n_reached : (k,) array
        Number of runs with a model of that size; the others contribute their largest model. NaN in curves
        from the table.
    default_penalty : float
    n, p, nk, degree, n_rep : int
    n_designs, se_covers
        As in `DegreesOfFreedom`.
    left_out : (k, m) array
        Leave-one-out df; without columns in curves from the table.
    settings, versions : dict

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import df_of_sizes
    >>> X = np.random.default_rng(0).normal(size=(100, 10))
    >>> curve = df_of_sizes(X)
    >>> curve
    SizeCurve(1..18 terms, df=1..37.17 ± 0.54, nominal_df=1..35, n_rep=100)
    >>> curve.df_at([1, 3, 30]).round(2).tolist()
    [1.0, 10.12, 49.17]
    """

    sizes: np.ndarray
    df: np.ndarray
    se: np.ndarray
    nominal_df: np.ndarray
    n_reached: np.ndarray
    default_penalty: float
    n: int
    p: int
    nk: int
    degree: int
    n_rep: int
    n_designs: int | None
    se_covers: str
    left_out: np.ndarray
    settings: dict = field(default_factory=dict)
    versions: dict = field(default_factory=dict)

    _COLUMNS = ("sizes", "df", "se", "nominal_df", "n_reached")
    _REST = (
        "default_penalty", "n", "p", "nk", "degree", "n_rep", "n_designs", "se_covers", "settings",
        "versions",
    )  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"SizeCurve(1..{len(self.sizes)} terms, df={self.df[0]:.4g}..{self.df[-1]:.4g} ± "
            f"{self.se[-1]:.2g}, nominal_df={self.nominal_df[0]:.4g}..{self.nominal_df[-1]:.4g}, "
            f"n_rep={self.n_rep}{in_words(self.n_designs)})"
        )

    _INCHES = (6.0, 4.0)

    def _draw(self, ax: Axes) -> None:
        from ...plots import plot_sizes

        plot_sizes(self, ax)

    def df_at(self, sizes: Any) -> np.ndarray:
        """Return the degrees of freedom of models with these numbers of terms.

        Beyond its end, the curve is extrapolated with its last slope, at least 1 per term. If noise never
        gained a term, the slope is the nominal one.

        Parameters
        ----------
        sizes : int or sequence of int
        """
        last = len(self.sizes)
        slope = 1 + self.default_penalty / 2 if last == 1 else max(self.df[-1] - self.df[-2], 1.0)
        sizes = np.asarray(sizes)
        inside = self.df[np.clip(sizes, 1, last) - 1]
        return inside + slope * np.maximum(sizes - last, 0)

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper ends of confidence intervals for the df of each size.

        All sizes share the draws, so their errors are correlated.

        Parameters
        ----------
        level : float
            Between 0 and 1.
        """
        if self.left_out.shape[1]:
            return super().interval(level)
        half = float(norm.ppf((1 + check_level(level)) / 2)) * self.se
        return self.df - half, self.df + half


@dataclass(frozen=True)
class Mean:
    """Mean and standard deviation of the responses of a run, and a guess of the fit of each size."""

    mu: np.ndarray
    sigma: float
    guesses: np.ndarray  # (sizes, n)


@dataclass(frozen=True)
class _FitSizes:
    """Task for one block: pruning sequences, and products if there is a mean."""

    procedure: object
    weights: np.ndarray | None
    mean: Mean | None

    def __call__(self, bound: BoundEngine, Y: np.ndarray, n_threads: int = 1) -> SizeFits:
        Z = None if self.mean is None else noise_of(Y, self.mean, self.weights)
        fits = bound.fit_sizes(Y, Z, self.weights, n_threads)
        if self.mean is None or Z is None:
            return fits
        assert fits.products is not None
        guesses = self.mean.guesses[
            np.minimum(np.arange(fits.rss.shape[1]), len(self.mean.guesses) - 1)
        ]
        root = 1.0 if self.weights is None else np.sqrt(self.weights)
        return replace(fits, products=fits.products - Z.T @ (root * guesses).T)


def noise_of(Y: np.ndarray, mean: Mean, weights: np.ndarray | None) -> np.ndarray:
    """Return the standard normal noise of the responses."""
    root = 1.0 if weights is None else np.sqrt(weights)[:, None]
    return root * (Y - mean.mu[:, None]) / mean.sigma


def df_of_sizes(
    X: Rows | tuple[int, int],
    *,
    estimator: Any = None,
    sample_weight: ArrayLike | None = None,
    degree: int | None = None,
    nk: int | None = None,
    n_rep: int = 100,
    draws: Draws | str | None = None,
    random_state: RandomState = None,
    n_designs: int | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> SizeCurve:
    """Measure the actual degrees of freedom of every size of the pruning sequence of MARS.

    Noise responses are fitted by forward and pruning pass with penalty -1, so that only nk and thresh
    stop the forward pass. The df of size r are the sum of the covariances between its fit and the noise.
    The curve ends at the median length of the runs; shorter runs contribute their largest model.

    Parameters
    ----------
    X : (n, p) array, DataFrame, or tuple (n, p)
        Predictors; a tuple requests Gaussian ones.
    estimator : Earth, optional
        Estimator whose search is measured, with all its options except penalty and nprune; default
        `Earth()`. Fits use the native engine, which finds the same terms.
    sample_weight : array, (n,), optional
        Case weights: the noise variance of a row is inversely proportional to its weight.
    degree, nk : int, optional
        Override those of the estimator.
    n_rep, draws, random_state, n_designs, n_jobs, progress
        As in `correct_penalty`.

    Examples
    --------
    >>> from pyearthdof import df_of_sizes
    >>> df_of_sizes((100, 10), degree=2, random_state=1)
    SizeCurve(1..19 terms, df=1..48.67 ± 0.44, nominal_df=1..46, n_rep=100, over 20 designs)
    """
    (sample_weight,) = by_position(X, sample_weight=sample_weight)
    given = {"degree": degree, "nk": nk}
    return measure_sizes(
        X, Earth() if estimator is None else estimator, sample_weight, None, n_rep, draws, random_state,
        n_designs, given, n_jobs=n_jobs, progress=progress,
    )  # fmt: skip


def measure_sizes(
    X: Any,
    estimator: Any,
    sample_weight: ArrayLike | None,
    mean: Mean | None,
    n_rep: int | None = None,
    draws: Draws | str | None = None,
    random_state: RandomState = None,
    n_designs: int | None = None,
    given: Mapping[str, int | None] = MappingProxyType({}),
    **run: Any,
) -> SizeCurve:
    """Run `df_of_sizes` with noise around a mean; `given` are degree and nk, `run` n_jobs and progress."""
    check_sequence(estimator)
    search = mars_search(X, estimator, "data", {**given, "engine": "native"})
    procedure = search.procedure.set_params(
        thresh=estimator.thresh,
        penalty=-1.0,
        pmethod=estimator.pmethod,
        exhaustive_tol=estimator.exhaustive_tol,
    )
    stream = authors_draws(draws, random_state)
    n_rep = check_n_rep(n_rep, None)
    designs = the_designs(search.design, stream, n_rep, n_designs)
    weights = check_weights(sample_weight, designs.n)
    if weights is not None:  # earth ignores equal weights and replaces zeros
        weights = np.maximum(weights, weights.mean() / 1e8) if differ(weights) else None
    root = np.ones(designs.n) if weights is None else np.sqrt(weights)
    mu, sigma = (np.zeros(designs.n), 1.0) if mean is None else (mean.mu, mean.sigma)
    responses = Responses(designs.n, mu, sigma / root, stream)
    values, lengths, versions = _run(
        _FitSizes(search.once_checked(), weights, mean), designs, responses, **run
    )
    last = max(1, int(np.median(lengths)))
    df = [
        mean_over_designs([mean_of(of_one[:, k]) for of_one in values], designs.counts)
        for k in range(last)
    ]
    penalty, sizes = default_penalty(procedure.degree), np.arange(1, last + 1)
    return SizeCurve(
        sizes=sizes,
        # The df do not decrease with the number of terms.
        df=np.maximum.accumulate([found.value for found in df]),
        se=np.array([found.se for found in df]),
        nominal_df=nominal(sizes, penalty),
        n_reached=(lengths[:, None] >= sizes).sum(axis=0),
        default_penalty=penalty,
        n=designs.n,
        p=search.p,
        nk=procedure.nk,
        degree=procedure.degree,
        n_rep=n_rep,
        n_designs=designs.n_drawn,
        se_covers=designs.covers(),
        left_out=np.array([found.left_out for found in df]),
        settings={
            "source": "measured",
            "design": designs.setting,
            "options": search.options,
            "thresh": float(estimator.thresh),
            "pmethod": estimator.pmethod,
            "weights": weights is not None,
            "mean": "zero" if mean is None else "given",
            "draws": repr(stream),
            "engine": "native",
        },
        versions=package_versions() | versions,
    )


def check_sequence(estimator: Any) -> None:
    """Raise an error without a pruning sequence for one response."""
    if not isinstance(estimator, Earth):
        raise refusal(
            "estimator", estimator, "an Earth: sizes are chosen for least squares of one response"
        )
    if estimator.pmethod not in SEQUENCES:
        raise refusal(
            "pmethod",
            estimator.pmethod,
            f"one of {', '.join(SEQUENCES)}: the size is chosen from a pruning sequence",
        )
    for name, plain in (("glm_family", None), ("nfold", 0), ("varmod_method", "none")):
        if getattr(estimator, name) != plain:
            raise InvalidInputError(
                f"{name}={getattr(estimator, name)!r} but it should be {plain!r}: the size is chosen by "
                "least squares and degrees of freedom, without anything else"
            )


def _run(work: _FitSizes, designs: Designs, responses: Responses, **run: Any) -> Any:
    """Return the df of each run and size, one table per design, the lengths of the runs, and versions."""
    blocks = run_blocks(work, designs, responses, **run)
    values, lengths, versions = [], [], {}
    for _, of_one in itertools.groupby(blocks, key=lambda block: block.design):
        parts = []
        for block in of_one:
            versions = block.versions
            parts.append(_says(block.result, designs.n, work.mean))
            lengths.append(block.result.n_terms)
        width = max(part.shape[1] for part in parts)
        values.append(np.vstack([_widened(part, width) for part in parts]))
    width = max(table.shape[1] for table in values)
    return [_widened(table, width) for table in values], np.concatenate(lengths), versions


def _says(fits: SizeFits, n: int, mean: Mean | None) -> np.ndarray:
    if mean is None:
        return df_of_projections(fits.rss, n)
    assert fits.products is not None
    return fits.products / mean.sigma


def _widened(table: np.ndarray, width: int) -> np.ndarray:
    """Repeat the last column of a table for larger sizes."""
    return table[:, np.minimum(np.arange(width), table.shape[1] - 1)]


@dataclass(frozen=True, eq=False)
class SizeChoice(Estimate):
    """A selected size with its scores; `plot` draws the curve and marks the size.

    Attributes
    ----------
    size : int
        Number of terms with the smallest score.
    df : float
        Actual degrees of freedom of a model of that size.
    sigma2 : float
        Noise variance: RSS/(n - df) of the size with the smallest AICc.
    criterion : {"aicc", "covariance", "gcv"}
    curve : SizeCurve
        Degrees of freedom of all sizes.
    table : DataFrame
        For each size of the pruning sequence: df, rss, and the three criteria, infinite for df above
        0.75 n.
    ended : str
        Termination of the iteration with noise around the fit; otherwise "measured once".
    steps : DataFrame or None
        Sizes and noise standard deviations of the iteration with noise around the fit.

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

    _INCHES = (6.0, 4.0)

    def _draw(self, ax: Axes) -> None:
        from ...plots import plot_sizes

        plot_sizes(self, ax)


def choose_size(
    curve: SizeCurve,
    rss: Any,
    *,
    criterion: str = "aicc",
    n: int | None = None,
    nprune: int | None = None,
) -> SizeChoice:
    """Select the size with the smallest score from the RSS of models of 1, 2, ... terms.

    With the actual df of the curve, the scores are

    - "aicc": log(RSS/n) + 2 (df + 1)/(n - df - 2),
    - "covariance": RSS + 2 sigma2 df, with sigma2 = RSS/(n - df) at the size with the smallest AICc,
    - "gcv": RSS/(1 - df/n)^2.

    Sizes with df above 0.75 n are excluded.

    Parameters
    ----------
    curve : SizeCurve
        From `df_of_sizes` or `quick_df_of_sizes`.
    rss : sequence of float
        Residual sums of squares along the pruning sequence, `Earth.rss_per_subset_`, of a fit with penalty
        -1, as for the curve.
    criterion : {"aicc", "covariance", "gcv"}
    n : int, optional
        Number of observations; the curve's by default.
    nprune : int, optional
        Maximum number of terms.

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
