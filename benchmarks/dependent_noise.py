"""Penalties by cross-validation where the noise is autocorrelated: contiguous against shuffled folds.

python benchmarks/dependent_noise.py

y_t is a function of one of five slow series, AR(1) with 0.95, plus AR(1) noise; 200 rows. EarthCV chooses
among 24 penalties with ten folds that are shuffled, or contiguous in time. The error is the mean squared
distance of the fit from the true mean, a geometric mean over data sets of the ratio.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.signal import lfilter
from sklearn.model_selection import KFold

from pyearthdof import Earth, EarthCV, degrees_of_freedom

N = 200


def ar(rng: np.random.Generator, phi: float, n: int) -> np.ndarray:
    """A stationary AR(1) series with variance 1."""
    shocks = np.sqrt(1 - phi**2) * rng.normal(size=n)
    shocks[0] /= np.sqrt(1 - phi**2)
    return lfilter([1.0], [1.0, -phi], shocks)


def main() -> None:
    """Print a line for each autocorrelation."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=60)
    arguments = parser.parse_args()
    for phi in (0.0, 0.5, 0.8):
        logs, terms = [], []
        for k in range(arguments.sets):
            rng = np.random.default_rng([3, k])
            X = np.column_stack([ar(rng, 0.95, N) for _ in range(5)])
            mean = np.maximum(X[:, 0], 0)
            y = mean + ar(rng, phi, N)
            folds = {"shuffled": KFold(10, shuffle=True, random_state=k), "contiguous": KFold(10)}
            fits = {n: EarthCV(Earth(engine="native"), cv=cv).fit(X, y) for n, cv in folds.items()}
            error = {n: ((fit.predict(X) - mean) ** 2).mean() for n, fit in fits.items()}
            logs.append(np.log(error["contiguous"] / error["shuffled"]))
            terms.append([fits[n].n_terms_ for n in folds])
        ratio, se = np.exp(np.mean(logs)), np.std(logs, ddof=1) / np.sqrt(len(logs))
        few = " and ".join(f"{value:.1f}" for value in np.mean(terms, axis=0))
        print(
            f"phi {phi}: error of contiguous folds {ratio:.2f} ± {ratio * se:.2f} of shuffled; {few} terms"
        )
    rng = np.random.default_rng(0)
    X = np.column_stack([ar(rng, 0.95, N) for _ in range(5)])
    for phi in (0.0, 0.5, 0.8):
        C = phi ** np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
        found = degrees_of_freedom(Earth(engine="native"), X, sigma=C, n_rep=400, random_state=0)
        print(f"phi {phi}: {found}")


if __name__ == "__main__":
    main()
