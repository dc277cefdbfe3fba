"""The time of a prediction: one row, and a hundred, beside R's predict."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from compare import Comparison, Rival, timed
from stopwatch import r_stopwatch

from pyearthdof import Earth

__all__ = ["comparisons"]

REPEATS = 200


def comparisons() -> Iterator[Comparison]:
    """A model of 20 terms at one row, and one of five predictors at 100 rows."""
    yield _predictions(10, 1, {"nk": 60, "nprune": 20, "thresh": 0.0, "degree": 2})
    yield _predictions(5, 100, {})


def _predictions(p: int, n_new: int, options: dict) -> Comparison:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, p))
    y = np.sin(2 * X[:, 0]) + np.abs(X[:, 1]) * X[:, 2] + X[:, 3] ** 2 + np.cos(2 * X[:, 4])
    y += rng.normal(size=500) / 10
    earth = Earth(engine="native", **options).fit(X, y)
    new = X[:n_new].copy()
    given = "".join(f", {name} = {value}" for name, value in options.items())
    in_r = r_stopwatch(
        f"suppressMessages(library(earth)); fit <- earth(X, as.vector(y){given})",
        f"for (i in 1:{REPEATS}) predict(fit, new)",
        X=X, y=y, new=new,
    )  # fmt: skip
    rivals = (
        Rival("predict() in R", in_r.seconds),
        Rival("Earth.predict", timed(lambda: [earth.predict(new) for _ in range(REPEATS)])),
        Rival(
            "MarsModel.predict",
            timed(lambda: [earth.model_.predict(new) for _ in range(REPEATS)]),
        ),
    )
    rows = "one row" if n_new == 1 else f"{n_new} rows"
    work = f"{rows}, p = {p}, {earth.n_terms_} terms"
    return Comparison("Predictions", work, rivals, REPEATS)
