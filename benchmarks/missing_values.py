"""Indicators in the search against imputers in a pipeline, for growing shares of missing values.

    python benchmarks/missing_values.py [repetitions]

Prints R squared on held-out rows, which are as incomplete as those of the fit. Values are missing at random,
or the likelier the larger they are ("informative").
"""

import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.pipeline import make_pipeline

from pyearthdof import Earth
from pyearthdof.datasets import load_ozone

SHARES = (0.0, 0.1, 0.3, 0.6)


def ways():
    native = Earth(degree=2, engine="native")
    return {
        "indicator": Earth(degree=2, missing="indicator"),
        "median": make_pipeline(SimpleImputer(strategy="median"), native),
        "median and indicators": make_pipeline(
            SimpleImputer(strategy="median", add_indicator=True), native
        ),
        "regression": make_pipeline(IterativeImputer(max_iter=20, random_state=0), native),
    }


def simulated(rng, rho):
    n, p = 600, 6
    X = rng.normal(size=(n, p)) * np.sqrt(1 - rho) + np.sqrt(rho) * rng.normal(size=(n, 1))
    y = np.maximum(X[:, 0], 0) * 2 + X[:, 1] + X[:, 2] * X[:, 3] + rng.normal(size=n)
    return X, y


def ozone(rng):
    data = load_ozone()
    return data.drop(columns="O3").to_numpy(float), data["O3"].to_numpy(float)


def with_gaps(rng, X, share, informative):
    X = X.copy()
    for j in range(0, X.shape[1], 2):  # every second column is complete
        if informative:
            chance = share * 2 * (np.argsort(np.argsort(X[:, j])) / len(X))
            gaps = rng.random(len(X)) < chance
        else:
            gaps = rng.random(len(X)) < share
        X[gaps, j] = np.nan
    return X


def main(n_rep: int) -> None:
    data = {
        "independent columns": lambda rng: simulated(rng, 0.0),
        "correlated columns": lambda rng: simulated(rng, 0.7),
        "ozone": ozone,
    }
    rows = []
    for name, make in data.items():
        for informative in (False, True):
            for share in SHARES:
                scores = {way: [] for way in ways()}
                for repetition in range(n_rep):
                    rng = np.random.default_rng(repetition)
                    X, y = make(rng)
                    X = with_gaps(rng, X, share, informative)
                    test = rng.random(len(y)) < 1 / 3
                    for way, model in ways().items():
                        scores[way].append(model.fit(X[~test], y[~test]).score(X[test], y[test]))
                found = {way: np.mean(values) for way, values in scores.items()}
                missing = "informative" if informative else "at random"
                rows.append({"data": name, "missing": missing, "share": share, **found})
    table = pd.DataFrame(rows)
    print(f"R squared on a third of the rows, means of {n_rep} divisions, degree 2")
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)  # of the iterative imputer
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
