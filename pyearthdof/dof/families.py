"""Degrees of freedom of classifiers and of fits to counts: Efron's (2004) covariance penalties.

Efron writes a loss Q(y, muhat) by a concave function q of the mean. The loss of a new response at the same
rows is on average that of the data plus 2 cov(lambda_i, y_i) for each row, lambda = -q'(muhat)/2:

    deviance   lambda is the natural parameter: log odds of a class, log mean of a count
    squared    lambda is the mean
    counting   lambda is 1/2 for the predicted class and -1/2 for the other: number of wrong classes

With K classes y is K - 1 indicators, of all classes but the first, and lambda one number for each of
them: log p_k - log p_1, (p_k - p_1)/2, or half the difference of the indicators of the predicted class.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtr
from scipy.stats import poisson
from sklearn.base import clone, is_classifier

from .._utils.checks import (
    by_position,
    check_choice,
    check_count,
    check_design,
    check_mean,
    check_vector,
    is_number,
    refusal,
)
from .._utils.warnings import warn_user
from ..contract import Bound, Rows
from ..exceptions import InvalidInputError, MissingClassWarning
from ..procedures.scikit_learn import fix_random_state
from .degrees_of_freedom import check_y_is_used
from .montecarlo.adapters import has_method, takes_missing
from .montecarlo.designs import Designs, the_designs
from .montecarlo.draws import Draws, RandomState, as_draws
from .montecarlo.errors import mean_over_designs
from .montecarlo.variance_reduction import Covariance, covariance_sum, jackknife_groups
from .montecarlo.workers import one_blas_thread, run_blocks
from .results import DegreesOfFreedom, as_fields, package_versions

FAMILIES = ("bernoulli", "poisson")
LOSSES = ("deviance", "squared", "counting")


@dataclass(frozen=True)
class Classes:
    """Independent classes with the given probabilities (n, K), as their numbers 0, 1, ..."""

    probabilities: np.ndarray
    labels: np.ndarray  # class label of each number
    draws: Draws

    @property
    def n(self) -> int:
        return len(self.probabilities)

    @property
    def mean(self) -> np.ndarray:
        """Mean of the indicators, one class after the other."""
        return self.probabilities[:, 1:].T.ravel()

    def blocks(self, edges: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield the responses between consecutive edges: the quantiles of normal numbers."""
        steps = np.cumsum(self.probabilities, axis=1)[:, :-1]
        for u in _uniforms(self.draws, self.n, edges):
            yield (u[:, :, None] > steps[:, None, :]).sum(axis=2).astype(float)

    def indicators(self, Y: np.ndarray) -> np.ndarray:
        """Return indicators (n (K - 1), m) from class numbers (n, m)."""
        return np.vstack([k == Y for k in range(1, len(self.labels))]).astype(float)


@dataclass(frozen=True)
class Counts:
    """Independent Poisson numbers with the given means."""

    mean: np.ndarray
    draws: Draws

    @property
    def n(self) -> int:
        return len(self.mean)

    def blocks(self, edges: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield the responses between consecutive edges: the quantiles of normal numbers."""
        for u in _uniforms(self.draws, self.n, edges):
            yield np.asarray(poisson.ppf(u, self.mean[:, None]), dtype=float)

    def indicators(self, Y: np.ndarray) -> np.ndarray:
        """Return the counts themselves."""
        return Y


def _uniforms(draws: Draws, n: int, edges: Sequence[int]) -> Iterator[np.ndarray]:
    for start, stop in pairwise(edges):
        yield ndtr(draws.normal(n * (stop - start)).reshape(stop - start, n).T)


def class_probabilities(mu: np.ndarray, n: int) -> np.ndarray:
    """Return (n, K) probabilities from those of the second of two classes, or of all classes."""
    if mu is None:
        mu = 0.5
    if is_number(mu) or np.ndim(mu) == 1:
        second = check_mean(mu, n)
        table = np.column_stack([1 - second, second])
    else:
        table = np.asarray(mu, dtype=float)
    right = table.ndim == 2 and table.shape[0] == n and table.shape[1] >= 2
    if not right or not (table >= 0).all() or not np.allclose(table.sum(axis=1), 1.0):
        raise InvalidInputError(
            f"mu has shape {np.shape(mu)} but it should be probabilities: of the second class, ({n},), or of "
            f"all, ({n}, K), with rows that add up to 1"
        )
    return table


@dataclass(frozen=True)
class FitFamily:
    """Task for one block: fit every response, and compute lambda."""

    estimator: object  # a classifier, or a regressor for counts
    labels: np.ndarray | None  # None for counts
    loss: str
    clip: float  # least probability, or mean count, in a deviance: that of 0 is infinite

    @property
    def procedure(self) -> FitFamily:
        """Object to bind to designs: this task, because the estimator may bind itself for other fits."""
        return self

    def __call__(
        self, bound: Bound, Y: np.ndarray, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return lambda of every response of a block, and whether the response lacked a class."""
        columns = [self.lambdas(self.fitted_model(bound.X, y), bound.X) for y in Y.T]
        values = np.column_stack([column for column, _ in columns])
        return values, np.array([missing for _, missing in columns])

    def fitted_model(self, X: Rows, y: np.ndarray) -> Any:
        """Return a clone fitted to y, or a constant fit if y has a single class or only counts of 0.

        Many estimators reject such responses; the others fit them in this way.
        """
        if self.labels is None:
            if not y.any():
                return _Certain(0.0)
            response = y
        else:
            if (y == y[0]).all():
                return _Certain(self.labels[int(y[0])])
            response = self.labels[y.astype(int)]
        model = clone(self.estimator, safe=False)
        fix_random_state(model, np.ascontiguousarray(y))
        return model.fit(X, response)

    def lambdas(self, model: Any, X: Rows) -> tuple[np.ndarray, bool]:
        """Return lambda, (n (K - 1),), and whether the model lacks a class."""
        if self.labels is None:
            means = np.asarray(model.predict(X), dtype=float)
            _check_fit(means)
            return (
                np.log(np.maximum(means, self.clip)) if self.loss == "deviance" else means
            ), False
        missing = len(model.classes_) < len(self.labels)
        if self.loss == "counting":
            predicted = np.asarray(model.predict(X))
            table = (predicted[:, None] == self.labels).astype(float)
        else:
            table = self.probabilities(model, X)
        if self.loss == "deviance":
            table = 2 * np.log(np.clip(table, self.clip, 1 - self.clip))
        return ((table[:, 1:] - table[:, :1]) / 2).T.ravel(), missing

    def probabilities(self, model: Any, X: Rows) -> np.ndarray:
        """Return (n, K) probabilities; 0 for classes that the model lacks."""
        assert self.labels is not None  # counts have no classes
        table = np.zeros((len(X), len(self.labels)))
        seen = np.searchsorted(self.labels, model.classes_)
        table[:, seen] = model.predict_proba(X)
        _check_fit(table)
        return table


class _Certain:
    """Fit to a constant response: its value, with certainty."""

    def __init__(self, label: object) -> None:
        self.classes_ = np.array([label])

    def predict(self, X: Rows) -> np.ndarray:
        return np.repeat(self.classes_, len(X))

    def predict_proba(self, X: Rows) -> np.ndarray:
        return np.ones((len(X), 1))


def _check_fit(values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        raise ValueError(f"the fit contains {values[~np.isfinite(values)][0]}")


@dataclass(frozen=True, eq=False)
class FamilyDegreesOfFreedom(DegreesOfFreedom):
    """Degrees of freedom of a classifier, or of a fit to counts.

    Attributes
    ----------
    df, se : float
        Sum of cov(lambda_i, y_i), where lambda is the natural parameter for the deviance. Equals p for large
        n and a correctly specified model with p parameters, fitted by maximum likelihood.
    family, loss : str
    clip : float
        Smallest probability, or mean count, used in the deviance.
    others
        As in `DegreesOfFreedom`.
    n_missing : int
        Number of drawn responses without one of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from pyearthdof import family_df
    >>> tree = DecisionTreeClassifier(max_depth=1)
    >>> found = family_df(tree, np.arange(30.0)[:, None], n_rep=20, random_state=0)
    >>> found.family, found.loss, found.clip == 1 / 60
    ('bernoulli', 'deviance', True)
    """

    family: str = "bernoulli"
    loss: str = "deviance"
    clip: float = 0.0
    n_missing: int = 0

    @property
    def optimism(self) -> float:
        """Expected loss of new responses at the same rows minus that of the data."""
        return 2 * self.df

    @property
    def optimism_se(self) -> float:
        return 2 * self.se

    def __repr__(self) -> str:
        return (
            f"FamilyDegreesOfFreedom(df={self._text('df')}, {self.family}, {self.loss}, "
            f"n_rep={self.n_rep})"
        )


def family_df(
    procedure: Any,
    X: Rows | tuple[int, int],
    *,
    family: str | None = None,
    loss: str = "deviance",
    y: ArrayLike | None = None,
    mu: ArrayLike | str | None = None,
    n_rep: int = 100,
    draws: Draws | None = None,
    random_state: RandomState = None,
    n_designs: int | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> FamilyDegreesOfFreedom:
    """Estimate the degrees of freedom of a classifier, or of a fit to counts, by covariance penalties.

    Parameters
    ----------
    procedure : scikit-learn classifier, or regressor for counts
    X : (n, p) array, DataFrame, or tuple (n, p)
        The design; a tuple requests standard Gaussian predictors, drawn after the responses.
    family : {None, "bernoulli", "poisson"}
        Distribution of y: classes, the default for classifiers, or counts.
    loss : {"deviance", "squared", "counting"}
        Loss whose optimism is estimated: deviance, squared error, or number of wrong classes.
    y : (n,) array, optional
        The response for `mu="fitted"`.
    mu : None, "fitted", float or array
        For classes, the probability of the second one, 0.5 by default, or an (n, K) array of all
        probabilities; for counts, the mean, 1 by default. "fitted" is the fit to `y`.
    n_rep, draws, random_state, n_designs, n_jobs, progress
        As in `degrees_of_freedom`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from pyearthdof import family_df
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> found = family_df(LogisticRegression(C=np.inf), X, n_rep=200, random_state=0)
    >>> found
    FamilyDegreesOfFreedom(df=..., bernoulli, deviance, n_rep=200)
    >>> found.optimism == 2 * found.df
    True
    """
    found = family_of(procedure, family)
    if found == "gaussian":
        right = f"'poisson', or degrees_of_freedom for {procedure!r} and Gaussian noise"
        raise refusal("family", family, right)
    check_choice("loss", loss, LOSSES)
    if found == "poisson" and loss == "counting":
        raise refusal("loss", loss, "'deviance' or 'squared' for counts")
    if found == "bernoulli" and loss != "counting" and not has_method(procedure, "predict_proba"):
        raise refusal("loss", loss, f"'counting': {procedure!r} has no predict_proba")
    check_y_is_used(y, mu)
    y, mu = by_position(X, y=y, mu=mu)
    X = check_design(X, missing=takes_missing(procedure))
    stream = as_draws(draws, random_state)
    designs = the_designs(X, stream, check_count("n_rep", n_rep, 2), n_designs)
    # Half an observation's share, so that a class without rows is not impossible.
    clip = 1 / (2 * designs.n)
    work, responses = _work_and_responses(procedure, designs, found, y, mu, loss, clip, stream)
    total, n_missing, versions = _run(work, designs, responses, n_jobs=n_jobs, progress=progress)
    if n_missing:
        warn_user(
            f"{n_missing} of {designs.n_rep} responses that were drawn lack a class; their fits give that "
            "class the least probability. Many of them make the df uncertain: rare classes need more rows",
            MissingClassWarning,
        )
    return FamilyDegreesOfFreedom(
        **as_fields({"df": total.total}),
        per_observation=total.per_observation,
        n_rep=designs.n_rep,
        n_designs=designs.n_drawn,
        se_covers=designs.covers(),
        settings={
            "procedure": repr(procedure),
            "design": designs.setting,
            "mu": mu if isinstance(mu, str) else "default" if mu is None else "given",
            "draws": repr(stream),
            "method": "monte-carlo",
        },
        versions=package_versions() | versions,
        family=found,
        loss=loss,
        clip=clip,
        n_missing=n_missing,
    )


def family_of(estimator: Any, family: str | None) -> str:
    """Return the given family, or else "bernoulli" for classifiers and "gaussian" otherwise."""
    check_choice("family", family, (None, "gaussian", *FAMILIES))
    classifies = (
        not isinstance(estimator, type) and hasattr(estimator, "fit") and is_classifier(estimator)
    )
    if classifies and family not in (None, "bernoulli"):
        raise refusal("family", family, f"None or 'bernoulli' for the classifier {estimator!r}")
    if not classifies and family == "bernoulli":
        raise refusal(
            "family", family, f"None, 'gaussian' or 'poisson': {estimator!r} is no classifier"
        )
    if family == "poisson" and not has_method(estimator, "predict"):
        raise refusal("family", family, f"None: {estimator!r} cannot predict")
    return "bernoulli" if classifies else family or "gaussian"


def _work_and_responses(
    estimator: Any,
    designs: Designs,
    family: str | None,
    y: ArrayLike | None,
    mu: Any,
    loss: str,
    clip: float,
    stream: Draws,
) -> tuple[FitFamily, Classes | Counts]:
    fitted = isinstance(mu, str)
    if fitted and mu != "fitted":
        raise refusal("mu", mu, "None, 'fitted', a number or an array")
    if fitted and (y is None or designs.drawn):
        raise InvalidInputError(
            "mu='fitted' but it should be given with y, and X that y belongs to"
        )
    X, n = designs.source, designs.n
    if family == "poisson":
        work = FitFamily(estimator, None, loss, clip)
        if fitted:
            model = work.fitted_model(X, counts_of(y, n))
            mu = np.maximum(np.asarray(model.predict(X), dtype=float), clip)
        means = check_mean(1.0 if mu is None else mu, n)
        if (means <= 0).any():
            raise refusal("mu", float(means[means <= 0][0]), "a positive mean for counts")
        return work, Counts(means, stream)
    if fitted:
        labels, codes = classes_of(y, n)
        work = FitFamily(estimator, labels, loss, clip)
        table = np.clip(work.probabilities(work.fitted_model(X, codes), X), clip, None)
        return work, Classes(table / table.sum(axis=1, keepdims=True), labels, stream)
    table = class_probabilities(mu, n)
    labels = np.arange(table.shape[1])
    return FitFamily(estimator, labels, loss, clip), Classes(table, labels, stream)


def classes_of(y: ArrayLike | None, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes of a response, and the class number of each row."""
    y = np.asarray(y)
    if y.shape != (n,):
        raise InvalidInputError(
            f"y has shape {y.shape} but it should be ({n},), a class for each row"
        )
    if pd.isna(y).any():
        raise InvalidInputError("y has missing values but every row should have a class")
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        raise refusal("y", labels[0], "of two classes or more")
    return labels, codes.astype(float)


def counts_of(y: ArrayLike | None, n: int) -> np.ndarray:
    """Validate a response of nonnegative integers."""
    y = check_vector("y", y, n)
    if (y < 0).any() or (y != np.round(y)).any():
        wrong = float(y[(y < 0) | (y != np.round(y))][0])
        raise refusal("y", wrong, "whole numbers, 0 or more, with family='poisson'")
    return y


@one_blas_thread()
def _run(
    work: FitFamily, designs: Designs, responses: Classes | Counts, **run: Any
) -> tuple[Covariance, int, dict[str, str]]:
    """Return the covariance over all designs, the number of responses that lack a class, and versions."""
    each, n_missing, versions = [], 0, {}
    blocks = run_blocks(work, designs, responses, **run)
    for k, of_one in itertools.groupby(blocks, key=lambda block: block.design):
        mean = responses.mean
        groups = jackknife_groups(len(mean), designs.counts[k])
        total = covariance_sum(mean, np.ones(len(mean)), groups)
        for block in of_one:
            values, missing = block.result
            total.add(responses.indicators(block.Y), values)
            n_missing += int(missing.sum())
            versions = block.versions
        found = total.result()
        assert found.per_observation is not None
        each.append((found.per_observation.reshape(-1, responses.n).sum(axis=0), found.total))
    by_row = [rows for rows, _ in each]
    return (
        Covariance(
            np.average(by_row, axis=0, weights=designs.counts),
            mean_over_designs([found for _, found in each], designs.counts),
        ),
        n_missing,
        versions,
    )
