"""Degree and size of a MARS by measured degrees of freedom, and averages over perturbed responses.

The curves of `df_of_sizes`, one for each degree, say what a model of any size costs; AICc with them chooses
degree and size of a response. A choice among many near-equal models is unstable: a little noise added to the
response changes it. The mean over responses with a little noise of their own, each with a choice of its own,
is a smooth function of the response, predicts better, and has degrees of freedom that Stein's lemma gives
from the same fits: df = E[z'(f(y + t z))]/t.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from ..._utils.warnings import CollectedWarnings
from ...mars.components.terms import evaluate_terms
from ...mars.engines.native.engine import BoundNative, SubsetSequence, TermsFit
from ..criteria import ROUNDING, criteria_of
from .sizes import SizeCurve


@dataclass(frozen=True)
class Choice:
    """Degree and size of one response, with the df of that size and the variance of the noise."""

    degree: int
    size: int
    df: float
    sigma2: float


@dataclass(frozen=True)
class DegreeCurves:
    """Searches on one design, and the df of their sizes, by degree."""

    engines: dict[int, BoundNative]
    curves: dict[int, SizeCurve]
    weights: np.ndarray | None
    criterion: str
    n: int  # rows that count
    nprune: int | None = None

    def choose(self, Y: np.ndarray, n_threads: int = 1) -> list[Choice]:
        """Return the choice for each column of Y."""
        degrees = list(self.engines)
        tables = [self.table(degree, Y, n_threads) for degree in degrees]
        found = [criteria_of(rss, df, self.n) for rss, df in tables]
        best_aicc = np.array([criteria["aicc"].min(axis=-1) for criteria, _ in found])
        sigma2 = np.array([values for _, values in found])
        # one variance of the noise for all degrees: that of the least AICc
        noise = np.take_along_axis(sigma2, best_aicc.argmin(axis=0)[None], axis=0)[0]
        least, sizes = [], []
        for (_, df), (criteria, own) in zip(tables, found, strict=True):
            values = criteria[self.criterion]
            if self.criterion == "covariance":
                values = values + 2 * (noise - own)[:, None] * df
            sizes.append(values.argmin(axis=-1))
            least.append(values.min(axis=-1))
        at = np.array(least).argmin(axis=0)
        choices = []
        for j, k in enumerate(at.tolist()):
            index = int(sizes[k][j])
            choices.append(
                Choice(degrees[k], index + 1, float(tables[k][1][index]), float(noise[j]))
            )
        return choices

    def table(
        self, degree: int, Y: np.ndarray, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """RSS and df of all sizes, the RSS with a row for each response."""
        rss = self.engines[degree].fit_sizes(Y, None, self.weights, n_threads).rss
        weights = 1.0 if self.weights is None else self.weights[:, None]
        rss = np.where(rss > ROUNDING * (weights * Y**2).sum(axis=0)[:, None], rss, 0.0)
        if self.nprune is not None:
            rss = rss[:, : self.nprune]
        return rss, self.curves[degree].df_at(np.arange(1, rss.shape[1] + 1))

    def fit(
        self,
        Y: np.ndarray,
        choices: Sequence[Choice],
        n_threads: int = 1,
        size_of: Callable[[SubsetSequence, Choice], int] | None = None,
    ) -> list[TermsFit]:
        """Return the chosen terms of each column of Y; `size_of` may take another size of the sequence."""

        def fit_one(y: np.ndarray, choice: Choice) -> TermsFit:
            with CollectedWarnings():  # of terms that depend on others: none of them is in the fit
                sequence = self.engines[choice.degree].sequence(y, self.weights)
            return sequence.terms(choice.size if size_of is None else size_of(sequence, choice))

        pairs = list(zip(Y.T, choices, strict=True))
        if n_threads == 1:
            return [fit_one(*pair) for pair in pairs]
        run = Parallel(n_threads, backend="threading")
        return list(run(delayed(fit_one)(*pair) for pair in pairs))


@dataclass(frozen=True)
class MergedTerms:
    """The terms of several models, equal ones once, and a column of coefficients for each model."""

    dirs: np.ndarray
    cuts: np.ndarray
    coef: np.ndarray

    def basis(self, X: np.ndarray) -> np.ndarray:
        return evaluate_terms(X, self.dirs, self.cuts)


def merge_terms(models: Sequence[TermsFit]) -> MergedTerms:
    """Terms with equal directions and cuts are one; a model without a term has the coefficient 0.

    >>> one = TermsFit(np.array([[0.0], [1.0]]), np.array([[0.0], [0.5]]), np.array([1.0, 2.0]))
    >>> two = TermsFit(np.array([[0.0], [-1.0]]), np.array([[0.0], [0.5]]), np.array([3.0, 4.0]))
    >>> merge_terms([one, two]).coef.tolist()
    [[1.0, 3.0], [2.0, 0.0], [0.0, 4.0]]
    """
    places: dict[bytes, int] = {}
    first: list[tuple[int, int]] = []
    entries = []
    for j, model in enumerate(models):
        cuts = np.where(np.abs(model.dirs) == 1, model.cuts, 0.0) + 0.0
        for k, coef in enumerate(model.coef.tolist()):
            key = model.dirs[k].tobytes() + cuts[k].tobytes()
            if key not in places:
                places[key] = len(places)
                first.append((j, k))
            entries.append((places[key], j, coef))
    coefs = np.zeros((len(places), len(models)))
    for place, j, coef in entries:
        coefs[place, j] += coef
    dirs = np.array([models[j].dirs[k] for j, k in first]) + 0.0
    cuts = np.array([models[j].cuts[k] for j, k in first])
    return MergedTerms(dirs, cuts, coefs)


WILD = 3.0  # times the median of the models


def tame(models: Sequence[TermsFit], X: np.ndarray, spread: float) -> np.ndarray:
    """Which models stay within bounds wherever each predictor is in the range that it has in X.

    A product of hinges can be small on all rows and huge between them, and one such model would spoil the
    mean. A model is left out if the largest value of one of its terms is above three times the median of the
    models, and above three times `spread`, the range of the response.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    reach = np.array([_reach(model, low, high) for model in models])
    return reach <= WILD * max(float(np.median(reach)), spread)


def _reach(model: TermsFit, low: np.ndarray, high: np.ndarray) -> float:
    """The largest absolute value of a term between the ends of the predictors, its coefficient included."""
    ends = np.maximum(np.abs(low), np.abs(high))
    shapes = [model.dirs == 1, model.dirs == -1, model.dirs == 2]
    with np.errstate(over="ignore", invalid="ignore"):
        values = [
            np.maximum(high - model.cuts, 0),
            np.maximum(model.cuts - low, 0),
            ends + 0 * model.cuts,
        ]
        largest = np.select(shapes, values, 1.0).prod(axis=1) * np.abs(model.coef)
    return float(largest[1:].max(initial=0.0))


@dataclass(frozen=True)
class SteinDf:
    """Degrees of freedom of an average, and their standard error."""

    df: float
    se: float


def balanced_noise(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """Standard normal noise whose m columns add up to zero, so that it does not shift the mean of the fits.

    >>> Z = balanced_noise(np.random.default_rng(0), 3, 4)
    >>> Z.shape, float(abs(Z.sum(axis=1)).max()) < 1e-12
    ((3, 4), True)
    """
    Z = rng.normal(size=(n, m))
    return (Z - Z.mean(axis=1, keepdims=True)) * np.sqrt(m / (m - 1))


def stein_df(
    Z: np.ndarray, kept: np.ndarray, fits: np.ndarray, step: float, root: np.ndarray
) -> SteinDf:
    """Estimate the df of a mean over fits of y + step z from their covariance with the noise z.

    The intercept of every fit is one degree of freedom; only the others are estimated. Z has a column for
    each fit, from `balanced_noise`, and `kept` marks the fits in the mean; `fits` (n, kept) are times the
    roots of the case weights, `root`.
    """
    m, k = len(kept), int(kept.sum())
    intercept = root / np.linalg.norm(root)
    rest = Z[:, kept] - Z[:, kept].mean(axis=1, keepdims=True)
    rest = rest - np.outer(intercept, intercept @ rest)
    each = (rest * fits).sum(axis=0) / step * (k / (k - 1)) * ((m - 1) / m)
    return SteinDf(1.0 + float(each.mean()), float(each.std(ddof=1) / np.sqrt(k)))
