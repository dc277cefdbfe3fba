"""Selection of degree and size by measured degrees of freedom, and averages over perturbed responses.

The curves of `df_of_sizes`, one per degree, give the degrees of freedom of a model of any size; AICc with
them selects degree and size for a response. A choice among many near-equal models is unstable: a little noise
added to the response changes it. The mean over perturbed responses, each with its own choice, is a smooth
function of the response and predicts better. Stein's lemma gives its degrees of freedom from the same fits:
df = E[z'(f(y + t z))]/t.
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
    n: int  # rows with positive weight
    nprune: int | None = None

    def choose(self, Y: np.ndarray, n_threads: int = 1) -> list[Choice]:
        """Return the choice for each column of Y."""
        degrees = list(self.engines)
        scores, tables, noise = self._scores(Y, n_threads)
        at = np.array([values.min(axis=-1) for values in scores]).argmin(axis=0)
        choices = []
        for j, k in enumerate(at.tolist()):
            index = int(scores[k][j].argmin())
            df = float(tables[k][1][index])
            choices.append(Choice(degrees[k], index + 1, df, float(noise[j])))
        return choices

    def _scores(
        self, Y: np.ndarray, n_threads: int = 1
    ) -> tuple[list[np.ndarray], list[tuple[np.ndarray, np.ndarray]], np.ndarray]:
        """Return by degree the criterion, a row per response, and its `table`; and the noise variances."""
        tables = [self.table(degree, Y, n_threads) for degree in self.engines]
        found = [criteria_of(rss, df, self.n) for rss, df in tables]
        best_aicc = np.array([criteria["aicc"].min(axis=-1) for criteria, _ in found])
        sigma2 = np.array([values for _, values in found])
        # One noise variance for all degrees, that of the least AICc.
        noise = np.take_along_axis(sigma2, best_aicc.argmin(axis=0)[None], axis=0)[0]
        scores = []
        for (_, df), (criteria, own) in zip(tables, found, strict=True):
            values = criteria[self.criterion]
            if self.criterion == "covariance":
                values = values + 2 * (noise - own)[:, None] * df
            scores.append(values)
        return scores, tables, noise

    def tamed(self, y: np.ndarray, choice: Choice) -> Choice:
        """Return the choice, or the best stable one if its fit has extreme values between the rows."""
        fit = self.sequence(y, choice.degree).terms(choice.size)
        return choice if is_tame(fit, self.X, y, self.weights) else self._best_tame(y)[0]

    def _best_tame(self, y: np.ndarray) -> tuple[Choice, TermsFit]:
        """Return the best stable choice and its fit; the mean alone is always stable."""
        degrees = list(self.engines)
        scores, tables, _ = self._scores(y[:, None])
        sequences = [self.sequence(y, degree) for degree in degrees]
        places = [(value, d, k) for d, of in enumerate(scores) for k, value in enumerate(of[0])]
        for _, d, k in sorted(places):
            fit = sequences[d].terms(k + 1)
            if k == 0 or is_tame(fit, self.X, y, self.weights):
                break
        rss, df = float(tables[d][0][0, k]), float(tables[d][1][k])
        return Choice(degrees[d], k + 1, df, rss / max(self.n - df, 1.0)), fit

    @property
    def X(self) -> np.ndarray:
        return next(iter(self.engines.values())).X

    def sequence(self, y: np.ndarray, degree: int) -> SubsetSequence:
        """Return the pruning sequence of a response."""
        with CollectedWarnings():  # warnings of dependent terms, none of which is in the fit
            return self.engines[degree].sequence(y, self.weights)

    def table(
        self, degree: int, Y: np.ndarray, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return RSS and df of all sizes, the RSS with a row for each response."""
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
        """Return the selected terms of each column of Y; `size_of` may select another size of the sequence.

        If they give extreme values between the rows, the best stable terms are returned.
        """

        def fit_one(y: np.ndarray, choice: Choice) -> TermsFit:
            sequence = self.sequence(y, choice.degree)
            fit = sequence.terms(choice.size if size_of is None else size_of(sequence, choice))
            return fit if is_tame(fit, self.X, y, self.weights) else self._best_tame(y)[1]

        pairs = list(zip(Y.T, choices, strict=True))
        if n_threads == 1:
            return [fit_one(*pair) for pair in pairs]
        run = Parallel(n_threads, backend="threading")
        return list(run(delayed(fit_one)(*pair) for pair in pairs))


@dataclass(frozen=True)
class MergedTerms:
    """The distinct terms of several models, and a column of coefficients for each model."""

    dirs: np.ndarray
    cuts: np.ndarray
    coef: np.ndarray

    def basis(self, X: np.ndarray) -> np.ndarray:
        return evaluate_terms(X, self.dirs, self.cuts)


def merge_terms(models: Sequence[TermsFit]) -> MergedTerms:
    """Merge terms with equal directions and cuts; a model without a term has the coefficient 0.

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


WILD = 10.0  # permitted excess over the range of the response, as a multiple of it
LEFT_OUT = 2.0  # permitted ratio of leave-one-out errors to those expected from the number of terms


def is_tame(
    model: TermsFit, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None
) -> bool:
    """Return True if a fit is as good between the rows as at them; other fits would spoil a mean.

    Degrees of freedom concern new responses of the same rows. Two checks are added for other rows. The
    squared leave-one-out errors with the same terms may be at most twice RSS/(1 - r/n)^2, their approximate
    value unless a few rows dominate. A product of hinges can be small on all rows and huge between them: at
    the maximum of a product, with the other predictors at their medians, and at rows that combine the
    predictors of different rows, the fit may exceed the range of the response by at most ten times it.
    """
    root = np.ones(len(y)) if weights is None else np.sqrt(weights)
    columns = root[:, None] * evaluate_terms(X, model.dirs, model.cuts)
    q, _ = np.linalg.qr(columns)
    residuals = root * y - columns @ model.coef
    rss, n, r = float(residuals @ residuals), len(y), len(model.coef)
    left = np.maximum(1 - (q**2).sum(axis=1), 1e-9)
    promised = rss / (1 - r / n) ** 2 if r < n else np.inf
    is_exact = rss <= ROUNDING * float((root * y) @ (root * y))
    if not is_exact and ((residuals / left) ** 2).sum() > LEFT_OUT * promised:
        return False
    products = np.flatnonzero(np.count_nonzero(model.dirs, axis=1) > 1)
    if len(products) == 0:
        return True
    dirs = model.dirs[products]
    ends = np.where(dirs == -1, X.min(axis=0), X.max(axis=0))
    corners = np.where(dirs == 0, np.median(X, axis=0), ends)
    mixed = np.random.default_rng(0).permuted(X, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        values = evaluate_terms(np.vstack([corners, mixed]), model.dirs, model.cuts) @ model.coef
    beyond = WILD * np.ptp(y)
    return bool((values >= y.min() - beyond).all() and (values <= y.max() + beyond).all())


@dataclass(frozen=True)
class SteinDf:
    """Degrees of freedom of an average, and their standard error."""

    df: float
    se: float


def balanced_noise(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """Standard normal noise whose m columns sum to zero, so that it does not shift the mean of the fits.

    >>> Z = balanced_noise(np.random.default_rng(0), 3, 4)
    >>> Z.shape, float(abs(Z.sum(axis=1)).max()) < 1e-12
    ((3, 4), True)
    """
    Z = rng.normal(size=(n, m))
    return (Z - Z.mean(axis=1, keepdims=True)) * np.sqrt(m / (m - 1))


def stein_df(Z: np.ndarray, fits: np.ndarray, step: float, root: np.ndarray) -> SteinDf:
    """Estimate the df of a mean over fits of y + step z from their covariance with the noise z.

    The intercept of every fit is one degree of freedom; only the rest is estimated. Z has a column for
    each fit, from `balanced_noise`; `fits` are multiplied by the roots of the case weights, `root`.
    """
    intercept = root / np.linalg.norm(root)
    rest = Z - np.outer(intercept, intercept @ Z)
    each = (rest * (fits - fits.mean(axis=1, keepdims=True))).sum(axis=0) / step
    return SteinDf(1.0 + float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each))))
