"""Responses that are classes or counts: how they are drawn, and what a fit is compared with them by.

Efron (2004) writes a loss Q(y, muhat) by a concave function q of the mean. The loss of a new response at
the same rows is on average that of the data plus 2 cov(lambda_i, y_i) for each row, lambda =
-q'(muhat)/2:

    deviance   lambda is the natural parameter: log odds of a class, log mean of a count
    squared    lambda is the mean
    counting   lambda is 1/2 for the class that is predicted and -1/2 for the other: wrong ones are counted

With K classes y is K - 1 indicators, of all classes but the first, and lambda one number for each of
them: log p_k - log p_1, (p_k - p_1)/2, or half the difference of the indicators of the predicted class.
For two classes these are the log odds, the probability (less 1/2) and the sign above.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import ndtr
from scipy.stats import poisson
from sklearn.base import clone

from .._utils.checks import check_vector, is_number, refusal
from ..contract import Bound
from ..exceptions import InvalidInputError
from .montecarlo.adapters import fix_random_state
from .montecarlo.noise import Draws

__all__ = ["FAMILIES", "LOSSES", "Classes", "Counts", "FamilyFits", "FitFamily"]

FAMILIES = ("bernoulli", "poisson")
LOSSES = ("deviance", "squared", "counting")


@dataclass(frozen=True)
class Classes:
    """Independent classes with the given probabilities, as their numbers 0, 1, ...

    Attributes
    ----------
    probabilities : (n, K) array
    labels : (K,) array
        What the classifier is given for each number.
    draws : stream of random numbers
    """

    probabilities: np.ndarray
    labels: np.ndarray
    draws: Draws

    @property
    def n(self) -> int:
        return len(self.probabilities)

    @property
    def mean(self) -> np.ndarray:
        """Of the indicators, one column of classes after the other."""
        return self.probabilities[:, 1:].T.ravel()

    def blocks(self, edges):
        """Yield the responses between consecutive edges: the quantiles of normal numbers."""
        steps = np.cumsum(self.probabilities, axis=1)[:, :-1]
        for u in _uniforms(self.draws, self.n, edges):
            yield (u[:, :, None] > steps[:, None, :]).sum(axis=2).astype(float)

    def indicators(self, Y) -> np.ndarray:
        """(n (K - 1), m) from the numbers of the classes, (n, m)."""
        return np.vstack([k == Y for k in range(1, len(self.labels))]).astype(float)


@dataclass(frozen=True)
class Counts:
    """Independent Poisson numbers with the given means."""

    means: np.ndarray
    draws: Draws

    @property
    def n(self) -> int:
        return len(self.means)

    @property
    def mean(self) -> np.ndarray:
        return self.means

    def blocks(self, edges):
        """Yield the responses between consecutive edges: the quantiles of normal numbers."""
        for u in _uniforms(self.draws, self.n, edges):
            yield np.asarray(poisson.ppf(u, self.means[:, None]), dtype=float)

    def indicators(self, Y) -> np.ndarray:
        """A count is its own only indicator."""
        return Y


def _uniforms(draws: Draws, n: int, edges):
    for start, stop in pairwise(edges):
        yield ndtr(draws.normal(n * (stop - start)).reshape(stop - start, n).T)


def class_probabilities(mu, n: int) -> np.ndarray:
    """(n, K) from the probability of the second of two classes, or one column for each class."""
    if mu is None:
        mu = 0.5
    if is_number(mu) or np.ndim(mu) == 1:
        second = check_vector("mu", np.full(n, mu, dtype=float) if is_number(mu) else mu, n)
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


def count_means(mu, n: int) -> np.ndarray:
    """(n,) positive means, all 1 for None."""
    mu = 1.0 if mu is None else mu
    means = check_vector("mu", np.full(n, mu, dtype=float) if is_number(mu) else mu, n)
    if (means <= 0).any():
        raise refusal("mu", float(means[means <= 0][0]), "a positive mean for counts")
    return means


@dataclass(frozen=True)
class FitFamily:
    """The work on one block: fit every response, and tell lambda.

    Attributes
    ----------
    estimator
        A classifier, or a regressor for counts.
    labels : (K,) array, or None for counts
    loss : one of `LOSSES`
    clip : float
        Least probability, or mean count, where the loss is the deviance: that of 0 is infinite.
    """

    estimator: object
    labels: np.ndarray | None
    loss: str
    clip: float

    @property
    def procedure(self) -> FitFamily:
        """What is bound to a design: this, and not the estimator, which may bind itself for other fits."""
        return self

    def __call__(self, bound: Bound, Y, n_threads: int = 1) -> FamilyFits:
        columns = [self.lambdas(self.fitted_model(bound.X, y), bound.X) for y in Y.T]
        values = np.column_stack([column for column, _ in columns])
        return FamilyFits(values, np.array([missing for _, missing in columns]))

    def fitted_model(self, X, y):
        """A clone fitted to y; certainty where y has a single class, or no count but 0.

        Many estimators refuse such a response; those that do not fit it so.
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

    def lambdas(self, model, X) -> tuple[np.ndarray, bool]:
        """lambda, (n (K - 1),), and whether the model has not seen a class."""
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

    def probabilities(self, model, X) -> np.ndarray:
        """(n, K) probabilities; 0 for a class that the model has not seen."""
        assert self.labels is not None  # counts have no classes
        table = np.zeros((len(X), len(self.labels)))
        seen = np.searchsorted(self.labels, model.classes_)
        table[:, seen] = model.predict_proba(X)
        _check_fit(table)
        return table


@dataclass(frozen=True)
class FamilyFits:
    """lambda of every response of a block, and whether the response lacked a class."""

    values: np.ndarray
    missing: np.ndarray


class _Certain:
    """What is fitted to a response that is everywhere the same: that, with certainty."""

    def __init__(self, label):
        self.classes_ = np.array([label])

    def predict(self, X):
        return np.repeat(self.classes_, len(X))

    def predict_proba(self, X):
        return np.ones((len(X), 1))


def _check_fit(values) -> None:
    if not np.isfinite(values).all():
        raise ValueError(f"the fit contains {values[~np.isfinite(values)][0]}")
