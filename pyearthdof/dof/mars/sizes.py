"""The actual degrees of freedom of every size of a MARS pruning sequence.

MARS counts r + c (r - 1)/2 for a model of r terms, a straight line. What its search uses is a curve: the
first terms are the best of many, and dear; later ones are cheaper. The curve is measured as Algorithm 1
does it: responses of noise go through the forward pass and the pruning, and the df of size r are the
covariances of its fit with the noise.

A fit of size r is a projection, so for a constant mean the sum of the covariances is 1 + (n - 1) E[RSq of
size r], one number a run (`run.direction`). For another mean it is E[z'(fit - f)]/sigma, where z is the
noise, and f any fixed vector: the less the fit differs from it, the less it varies.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import norm

from ..._utils.checks import by_position, check_count, check_level, refusal
from ...contract import SizeFits
from ...exceptions import InvalidInputError
from ...mars.data.design import check_weights, differ
from ...mars.earth import Earth
from ...mars.engines.base import BoundEngine
from ..consistency.mars import authors_draws
from ..drawn import DrawnCurve, DrawnSizes
from ..montecarlo.blocks import run_blocks
from ..montecarlo.designs import in_words, the_designs
from ..montecarlo.direction import df_of_projections
from ..montecarlo.jackknife import mean_of, mean_over_designs
from ..montecarlo.noise import Responses
from ..versions import package_versions
from .penalty import default_penalty, nominal
from .search import mars_search

__all__ = ["SizeCurve", "df_of_sizes"]

SEQUENCES = ("backward", "forward", "seqrep", "exhaustive")


@dataclass(frozen=True, eq=False)
class SizeCurve(DrawnSizes, DrawnCurve):
    """Actual degrees of freedom of MARS models by their number of terms.

    Attributes
    ----------
    sizes : (k,) array
        Numbers of terms 1, 2, ..., up to the median length of the runs.
    df, se : (k,) array
        Actual degrees of freedom, and their standard error.
    nominal_df : (k,) array
        r + c (r - 1)/2 with the default penalty c.
    n_reached : (k,) array
        How many runs had a model of that size; the others count with their longest one. NaN in a curve
        from the table.
    default_penalty : float
    n, p, nk, degree, n_rep : int
    n_designs : int or None
        Number of designs that were drawn; None where the design was given.
    se_covers : str
        What the standard errors and intervals cover.
    left_out : (k, m) array
        The df without one repetition (design); without columns in a curve from the table.
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
    >>> curve.plot().get_xlabel()  # as `plots.plot_sizes` draws it
    'number of terms'
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

    def df_at(self, sizes) -> np.ndarray:
        """Degrees of freedom of models with these numbers of terms; beyond the curve by its last slope.

        At the end of the runs the slope may be next to nothing, and then longer models would win for free:
        a term counts 1 there at the least. Where noise never got a term, the slope is the nominal one.

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
        """Lower and upper ends of intervals for the df of each size, each with this probability.

        One draw serves all sizes, so neighbours err together.

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
    """The mean of the responses of a run, their standard deviation, and a guess of the fit of each size."""

    mu: np.ndarray
    sigma: float
    guesses: np.ndarray  # (sizes, n)


@dataclass(frozen=True)
class _FitSizes:
    """The work on one block: the pruning sequences, with the products where there is a mean."""

    procedure: object
    weights: np.ndarray | None
    mean: Mean | None

    def __call__(self, bound: BoundEngine, Y, n_threads: int = 1) -> SizeFits:
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


def noise_of(Y, mean: Mean, weights) -> np.ndarray:
    """Standard normal noise that made the responses."""
    root = 1.0 if weights is None else np.sqrt(weights)[:, None]
    return root * (Y - mean.mu[:, None]) / mean.sigma


def df_of_sizes(
    design,
    *,
    estimator=None,
    sample_weight=None,
    degree=None,
    nk=None,
    n_rep=100,
    draws=None,
    random_state=None,
    n_designs=None,
    n_jobs=None,
    progress=False,
) -> SizeCurve:
    """Measure the actual degrees of freedom of every size of the pruning sequence of MARS.

    Responses of noise go through forward pass and pruning pass, with penalty -1, so that nothing but nk
    and thresh ends the forward pass. The df of size r are the sum of the covariances of its fit with the
    noise. The curve ends at the median length of the runs; a shorter run counts with its longest model.

    Parameters
    ----------
    design : (n, p) array, DataFrame, or tuple (n, p)
        The predictors; a tuple asks for Gaussian ones.
    estimator : Earth, optional
        Whose search is measured, with all its options except penalty and nprune; `Earth()` by default. The
        native engine, which finds the same terms, runs it.
    sample_weight : array, (n,), optional
        Case weights: the noise of a row then has a variance of one over its weight. That takes one
        response at a time, ten times longer or more.
    degree, nk : int, optional
        Instead of the estimator's.
    n_rep : int
        Number of responses drawn and fitted.
    draws : RDraws, optional
        R's random numbers; `RDraws(1234)` by default.
    random_state : int, RandomState, Generator or None
        Numpy's random numbers instead.
    n_designs : int, optional
        How many designs are drawn for a tuple, as in `correct_penalty`.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.
    progress : bool
        Show a progress bar.

    Returns
    -------
    SizeCurve

    Examples
    --------
    >>> from pyearthdof import df_of_sizes
    >>> df_of_sizes((100, 10), degree=2, random_state=1)
    SizeCurve(1..19 terms, df=1..48.67 ± 0.44, nominal_df=1..46, n_rep=100, over 20 designs)
    """
    return measure_sizes(
        design, estimator, sample_weight, None, degree, nk, n_rep, draws, random_state, n_designs, n_jobs,
        progress,
    )  # fmt: skip


def measure_sizes(
    design, estimator, sample_weight, mean: Mean | None, degree=None, nk=None, n_rep=100, draws=None,
    random_state=None, n_designs=None, n_jobs=None, progress=False,
) -> SizeCurve:  # fmt: skip
    """As `df_of_sizes`, with noise around a mean."""
    n_rep = check_count("n_rep", n_rep, 2)
    estimator = Earth() if estimator is None else estimator
    check_sequence(estimator)
    given = {"degree": degree, "nk": nk, "engine": "native", "package": None}
    search = mars_search(design, estimator, False, given)
    procedure = search.procedure.set_params(
        thresh=estimator.thresh,
        penalty=-1.0,
        pmethod=estimator.pmethod,
        exhaustive_tol=estimator.exhaustive_tol,
    )
    stream = authors_draws(draws, random_state)
    designs = the_designs(search.design, stream, n_rep, n_designs, names=search.names)
    by_position(design, "design", sample_weight=sample_weight)
    weights = check_weights(sample_weight, designs.n)
    if weights is not None:  # to earth equal ones are none, and none is zero
        weights = np.maximum(weights, weights.mean() / 1e8) if differ(weights) else None
    root = np.ones(designs.n) if weights is None else np.sqrt(weights)
    mu, sigma = (np.zeros(designs.n), 1.0) if mean is None else (mean.mu, mean.sigma)
    responses = Responses(designs.n, mu, sigma / root, stream)
    values, lengths, versions = _run(
        _FitSizes(procedure, weights, mean), designs, responses, n_jobs, progress
    )
    last = max(1, int(np.median(lengths)))
    df = [
        mean_over_designs([mean_of(of_one[:, k]) for of_one in values], designs.counts)
        for k in range(last)
    ]
    penalty, sizes = default_penalty(procedure.degree), np.arange(1, last + 1)
    return SizeCurve(
        sizes=sizes,
        # more terms never cost less
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


def check_sequence(estimator) -> None:
    """Refuse what has no pruning sequence of one response to choose from."""
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


def has_sequence(estimator) -> bool:
    """Whether `check_sequence` takes it."""
    try:
        check_sequence(estimator)
    except InvalidInputError:
        return False
    return True


def _run(work: _FitSizes, designs, responses, n_jobs, progress):
    """What each run says of the df of each size, a table for each design; the runs' lengths; versions."""
    blocks = run_blocks(work, designs, responses, n_jobs=n_jobs, progress=progress)
    values, lengths, versions = [], [], {}
    for _, of_one in itertools.groupby(blocks, key=lambda block: block.design):
        parts = []
        for block in of_one:
            versions = block.versions
            parts.append(_says(block.result, len(block.Y), work.mean))
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
    """Sizes beyond a table repeat its last column."""
    return table[:, np.minimum(np.arange(width), table.shape[1] - 1)]
