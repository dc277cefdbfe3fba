"""EarthClassifier without R beside earth(glm=) in plain R, on the same rows in one run.

    python benchmarks/classifier.py
    python benchmarks/classifier.py --runs 3 --threads 1

Each run times R and then the native engine; the ratio is R's seconds by ours, the median over the runs.
"""

from __future__ import annotations

import argparse

import numpy as np
from compare import timed
from stopwatch import r_stopwatch

from pyearthdof import EarthClassifier

N, P = 5000, 20


def classes(seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """20 columns, of which five decide about two classes, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, P))
    eta = np.abs(X[:, 0]) + np.maximum(0, X[:, 1]) * X[:, 2] - X[:, 3] + 0.5 * X[:, 4] ** 2 - 1.3
    return X, (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(int)


def main() -> None:
    """Time both, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    X, two = classes()
    latent = np.abs(X[:, 0]) - X[:, 3] + np.random.default_rng(6).logistic(size=N)
    three = np.digitize(latent, np.quantile(latent, [1 / 3, 2 / 3]))
    for name, y in (("two classes", two), ("three classes", three)):
        for degree in (1, 2):
            compare(f"{name}, {N} x {P}, degree {degree}", X, y, degree, arguments)


def compare(work: str, X, y, degree: int, arguments) -> None:
    """One line: seconds of both, and their ratio."""
    model = EarthClassifier(degree=degree, engine="native", n_jobs=arguments.threads)
    ours = timed(lambda: model.fit(X, y))
    in_r = r_stopwatch(
        "suppressMessages(library(earth)); y <- factor(as.vector(y))",
        f"fit <- earth(X, y, degree = {degree}, glm = list(family = binomial))",
        X=X,
        y=y.astype(float),
    )
    seconds = np.array([(in_r.seconds(), ours()) for _ in range(arguments.runs)])
    in_r.close()
    ratios = seconds[:, 0] / seconds[:, 1]
    middle = np.median(seconds, axis=0)
    print(
        f"{work}: R {middle[0]:.3f} s, native {middle[1]:.3f} s on {arguments.threads} threads, "
        f"{np.median(ratios):.1f} times as fast ({ratios.min():.1f} to {ratios.max():.1f}), "
        f"{model.n_terms_} terms",
        flush=True,
    )


if __name__ == "__main__":
    main()
