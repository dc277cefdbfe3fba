"""Fits with case weights beside those without, and beside earth(weights=) in R where it ends in seconds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from compare import Comparison, Rival, timed
from stopwatch import r_stopwatch

from pyearthdof import Earth

__all__ = ["comparisons"]

SIZES = (
    (2000, 10, 1),
    (2000, 10, 2),
    (5000, 20, 1),
    (5000, 20, 2),
    (20_000, 20, 1),
    (20_000, 20, 2),
)


def comparisons() -> Iterator[Comparison]:
    """Continuous predictors, weights of 1000:1, the same number of forward steps for both."""
    for n, p, degree in SIZES:
        X, y, weights = data(n, p)
        options = {"degree": degree, "thresh": 0.0}
        rivals = (
            _fit("without weights", X, y, None, options),
            _fit("weights of 1000:1", X, y, weights, options),
        )
        yield Comparison("Case weights", f"n = {n}, p = {p}, degree {degree}", rivals)
    X, y, weights = data(500, 5)
    in_r = r_stopwatch(
        "suppressMessages(library(earth)); y <- as.vector(y); w <- as.vector(w)",
        "fit <- earth(X, y, weights = w)",
        X=X, y=y, w=weights,
    )  # fmt: skip
    rivals = (
        Rival("earth(weights=) in R", in_r.seconds),
        _fit("Earth, native engine", X, y, weights, {}),
    )
    yield Comparison("Case weights", "n = 500, p = 5, degree 1, beside R", rivals)
    in_r.close()


def data(n: int, p: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A curve, an interaction, and noise whose variance is one over the weight."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(n, p)), 10 ** rng.uniform(0, 3, n)
    noise = rng.normal(size=n) * np.sqrt(weights.mean() / weights) / 2
    return X, np.sin(X[:, 0]) + X[:, 1] * (X[:, -1] > 0) + noise, weights


def _fit(name: str, X, y, weights, options: dict) -> Rival:
    earth = Earth(engine="native", n_jobs=1, **options)
    return Rival(name, timed(lambda: earth.fit(X, y, weights)))
