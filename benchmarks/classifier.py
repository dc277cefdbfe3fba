"""EarthClassifier without R beside earth(glm=) in plain R, on the same rows in one run.

    python benchmarks/classifier.py
    python benchmarks/classifier.py --runs 3 --threads 1

Each run times R and then the native engine; the ratio is R's seconds by ours, the median over the runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from compare import Comparison, Rival, measure, timed
from stopwatch import r_stopwatch

from pyearthdof import EarthClassifier

N, P = 5000, 20


def classes(seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """20 columns, of which five decide about two classes, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, P))
    eta = np.abs(X[:, 0]) + np.maximum(0, X[:, 1]) * X[:, 2] - X[:, 3] + 0.5 * X[:, 4] ** 2 - 1.3
    return X, (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(int)


def comparisons(threads: int = 2) -> Iterator[Comparison]:
    """Two classes and three, additive and with interactions."""
    X, two = classes()
    latent = np.abs(X[:, 0]) - X[:, 3] + np.random.default_rng(6).logistic(size=N)
    three = np.digitize(latent, np.quantile(latent, [1 / 3, 2 / 3]))
    for name, y in (("two classes", two), ("three classes", three)):
        for degree in (1, 2):
            in_r = r_stopwatch(
                "suppressMessages(library(earth)); y <- factor(as.vector(y))",
                f"fit <- earth(X, y, degree = {degree}, glm = list(family = binomial))",
                X=X,
                y=y.astype(float),
            )
            model = EarthClassifier(degree=degree, engine="native", n_jobs=threads)
            rivals = (
                Rival("earth(glm=) in R", in_r.seconds),
                Rival(
                    f"EarthClassifier, native engine, {threads} thread{'s' * (threads > 1)}",
                    timed(lambda model=model, y=y: model.fit(X, y)),
                ),
            )
            yield Comparison("Classes", f"{name}, n = {N}, p = {P}, degree {degree}", rivals)
            in_r.close()


def main() -> None:
    """Time both, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    for comparison in comparisons(arguments.threads):
        in_r, ours = measure(comparison, arguments.runs)
        print(
            f"{comparison.work}: R {in_r.ms_per_fit / 1e3:.3f} s, native {ours.ms_per_fit / 1e3:.3f} s on "
            f"{arguments.threads} threads, {ours.ratio:.1f} times as fast "
            f"({ours.ratio_low:.1f} to {ours.ratio_high:.1f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
