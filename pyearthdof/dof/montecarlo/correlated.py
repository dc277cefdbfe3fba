"""Noise with a covariance matrix: y = mu + L z, LL' the covariance.

The degrees of freedom are tr(Sigma^-1 Cov(muhat, y)), which is the sum of Cov(muhat_i, y_i)/sigma_i^2 for
independent observations, tr(S) for a linear smoother, and by Stein's lemma the mean divergence of the fit
for any Gaussian noise. Twice of it is the optimism of the generalised sum of squares, (y - muhat)'
Sigma^-1 (y - muhat).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import solve_triangular

from ..._utils.checks import as_numbers, check_sigma
from ...exceptions import InvalidInputError
from .noise import Responses

__all__ = ["CorrelatedResponses", "Seen", "the_responses"]


@dataclass(frozen=True)
class CorrelatedResponses(Responses):
    """y = mu + root z; `sigma` are the standard deviations of its entries."""

    root: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def _noise(self, z: np.ndarray) -> np.ndarray:
        return self.root @ z

    def whitened(self) -> Responses:
        """The responses in coordinates where they are independent, with mean 0 and variance 1."""
        return Responses(self.n, np.zeros(self.n), np.ones(self.n), self.draws)

    def white(self, values):
        """root^-1 values."""
        return solve_triangular(self.root, values, lower=True)

    def white_noise(self, Y):
        """root^-1 (Y - mu)."""
        return self.white(Y - self.mu[:, None])

    def weighed(self, Y):
        """Sigma^-1 (Y - mu)."""
        return solve_triangular(self.root, self.white_noise(Y), lower=True, trans="T")


def the_responses(n: int, mu: np.ndarray, sigma, stream) -> Responses:
    """Responses with a standard deviation, one for each row, or a covariance matrix."""
    if np.ndim(sigma) != 2:
        return Responses(n, mu, check_sigma(sigma, n), stream)
    covariance = as_numbers("sigma", sigma, "be a covariance matrix of numbers")
    root = _root(_checked(covariance, n))
    return CorrelatedResponses(n, mu, np.sqrt(np.diag(covariance)), stream, root=root)


def _checked(covariance: np.ndarray, n: int) -> np.ndarray:
    if covariance.shape != (n, n):
        raise InvalidInputError(
            f"sigma has shape {covariance.shape} but a covariance matrix should be ({n}, {n})"
        )
    if not np.isfinite(covariance).all() or not np.allclose(covariance, covariance.T, rtol=1e-10):
        raise InvalidInputError(
            "sigma is a matrix but a covariance matrix should be finite and symmetric"
        )
    return covariance


def _root(covariance: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise InvalidInputError(
            "sigma is a matrix but a covariance matrix should be positive definite"
        ) from None


class Seen:
    """An estimator that sees responses and fits in other coordinates; rows may be no observations then."""

    def __init__(self, estimator, of_y, of_fit, keeps_rows: bool):
        self.estimator, self.of_y, self.of_fit = estimator, of_y, of_fit
        self.keeps_rows = keeps_rows

    def add(self, Y, fitted) -> None:
        self.estimator.add(self.of_y(Y), self.of_fit(fitted))

    def result(self):
        found = self.estimator.result()
        return found if self.keeps_rows else replace(found, per_observation=None)
