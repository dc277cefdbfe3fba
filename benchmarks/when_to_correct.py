"""When does the corrected penalty help? Its error beside the default's and that of a cross-validated one.

python benchmarks/when_to_correct.py          20 truths, 8 data sets of each; prints the tables of the page
python benchmarks/when_to_correct.py --data-sets 2 --jobs 1    a look

A truth is a function of p Gaussian predictors, four of them active at most, or no function at all. Each data
set is fitted three times: with earth's own penalty, the corrected one, and one chosen by 10-fold
cross-validation. The error is the mean squared distance to the true mean on 2,000 new rows; the noise has
variance 1.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd

from pyearthdof import Earth, correct_penalty
from pyearthdof.dof.results import package_versions
from pyearthdof.experiments.output import as_markdown

N_TEST, N_FOLDS, N_ACTIVE = 2000, 10, 4
PENALTIES = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0)
SHAPES = (
    lambda x: x,
    lambda x: np.maximum(x - 0.5, 0),
    lambda x: np.sin(2 * x),
    lambda x: x**2,
    lambda x: (x > 0).astype(float),
)
GROUPS = {"p <= 5": (1, 5), "p = 10": (10, 10), "p >= 20": (20, 1000)}


@dataclass(frozen=True)
class Truth:
    """A mean function: predictors, rows of a data set, degree, variance over the noise's, and which."""

    p: int
    n: int
    degree: int
    signal: float
    number: int

    @property
    def size(self) -> tuple[int, int, int]:
        """All that the corrected penalty depends on."""
        return self.n, self.p, self.degree

    def mean(self, X: np.ndarray) -> np.ndarray:
        """The true mean at the rows of X."""
        if self.signal == 0:
            return np.zeros(len(X))
        middle, scale = self._moments()
        return np.sqrt(self.signal) * (self._raw(X) - middle) / scale

    def _raw(self, X) -> np.ndarray:
        parts = [
            SHAPES[(self.number + j) % len(SHAPES)](X[:, j]) for j in range(min(self.p, N_ACTIVE))
        ]
        return sum(parts) + (parts[0] * parts[1] if self.degree == 2 else 0)

    def _moments(self) -> tuple[float, float]:
        values = self._raw(np.random.default_rng(0).standard_normal((100_000, self.p)))
        return float(values.mean()), float(values.std())


TRUTHS = [
    Truth(*settings, number)
    for number, settings in enumerate(
        [
            (1, 100, 1, 4.0), (1, 200, 1, 1.0), (2, 100, 1, 1.0), (2, 200, 2, 4.0),
            (3, 200, 1, 4.0), (5, 200, 2, 1.0), (2, 200, 1, 0.0), (5, 100, 2, 0.0),
            (10, 100, 1, 4.0), (10, 100, 2, 1.0), (10, 200, 1, 1.0), (10, 400, 2, 4.0),
            (10, 200, 1, 0.0),
            (20, 100, 1, 4.0), (20, 200, 2, 1.0), (20, 200, 2, 4.0), (30, 400, 1, 1.0),
            (50, 200, 1, 4.0), (50, 200, 2, 1.0), (50, 200, 1, 0.0),
        ]
    )
]  # fmt: skip


def main() -> None:
    """Fit all data sets and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=8, help="of each truth")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    arguments = parser.parse_args()
    penalties = {
        size: corrected(*size, arguments.jobs) for size in sorted({t.size for t in TRUTHS})
    }
    tasks = [
        (truth, i, penalties[truth.size]) for truth in TRUTHS for i in range(arguments.data_sets)
    ]
    rows = joblib.Parallel(n_jobs=arguments.jobs)(joblib.delayed(errors)(*task) for task in tasks)
    frame = pd.DataFrame(rows)
    print(as_markdown(by_group(frame)))
    print()
    print(as_markdown(by_truth(frame)))
    print()
    print(", ".join(f"{name} {version}" for name, version in package_versions().items()))


def errors(truth: Truth, data_set: int, corrected_penalty: float) -> dict:
    """The errors of the three penalties on one data set."""
    rng = np.random.default_rng([truth.number, data_set])
    X, X_new = (rng.standard_normal((rows, truth.p)) for rows in (truth.n, N_TEST))
    y, mean = truth.mean(X) + rng.standard_normal(truth.n), truth.mean(X_new)
    penalties = {
        "default": float(truth.degree + 1),
        "corrected": corrected_penalty,
        "cv": cross_validated(truth.degree, X, y, rng),
    }
    row = {"truth": truth.number, "p": truth.p, "n": truth.n, "degree": truth.degree,
           "signal": truth.signal, "data_set": data_set}  # fmt: skip
    for name, penalty in penalties.items():
        prediction = fit(truth.degree, penalty, X, y).predict(X_new)
        row |= {name: float(np.mean((prediction - mean) ** 2)), f"{name}_penalty": penalty}
    return row


def fit(degree: int, penalty: float, X, y) -> Earth:
    return Earth(degree=degree, penalty=penalty, engine="native").fit(X, y)


def corrected(n: int, p: int, degree: int, n_jobs: int) -> float:
    """What `CorrectedEarth(Earth(degree=degree)).fit(X, y)` takes for data of that size."""
    return correct_penalty((n, p), degree=degree, engine="native", n_jobs=n_jobs).penalty


def cross_validated(degree: int, X, y, rng) -> float:
    """The penalty with the smallest 10-fold cross-validation error."""
    fold = rng.permutation(np.arange(len(y)) % N_FOLDS)
    total = [
        sum(
            np.sum((fit(degree, c, X[fold != k], y[fold != k]).predict(X[fold == k]) - y[fold == k]) ** 2)
            for k in range(N_FOLDS)
        )
        for c in PENALTIES
    ]  # fmt: skip
    return PENALTIES[int(np.argmin(total))]


def by_group(frame: pd.DataFrame) -> pd.DataFrame:
    """The ratios for few and many predictors, with and without signal, and for all."""
    lines = [(name, frame[frame["p"].between(low, high)]) for name, (low, high) in GROUPS.items()]
    lines += [(f"{name}, with signal", part[part["signal"] > 0]) for name, part in lines]
    lines += [("no signal", frame[frame["signal"] == 0]), ("all", frame)]
    return pd.DataFrame([_line(name, part) for name, part in lines])


def _line(name: str, part: pd.DataFrame) -> dict:
    return {
        "truths": name,
        "number": part["truth"].nunique(),
        "corrected / default": ratio(part, "corrected", "default"),
        "better, same, worse": _shares(part["corrected"], part["default"]),
        "corrected / cross-validated": ratio(part, "corrected", "cv"),
        "cross-validated / default": ratio(part, "cv", "default"),
        "corrected / default, with the noise": ratio(part, "corrected", "default", noise=1.0),
    }


def _shares(ours: pd.Series, others: pd.Series) -> str:
    """In how many data sets of a hundred; the same where both penalties choose the same model."""
    same = np.isclose(ours, others, rtol=1e-9)
    parts = (ours < others) & ~same, same, (ours > others) & ~same
    return ", ".join(f"{100 * part.mean():.0f} %" for part in parts)


def ratio(part: pd.DataFrame, above: str, below: str, noise: float = 0.0) -> str:
    """The ratio of mean errors of a truth, its geometric mean over truths, and the error between truths."""
    means = part.groupby("truth")[[above, below]].mean() + noise
    logs = np.log(means[above] / means[below])
    mean, error = np.exp(logs.mean()), logs.std(ddof=1) / np.sqrt(len(logs))
    return f"{mean:.2f} ({mean * error:.2f})"


def by_truth(frame: pd.DataFrame) -> pd.DataFrame:
    """One line a truth: penalties and mean errors."""
    keys = ["p", "n", "degree", "signal"]
    means = frame.groupby(["truth", *keys])[
        ["corrected_penalty", "cv_penalty", "default", "corrected", "cv"]
    ].mean().reset_index()  # fmt: skip
    return pd.DataFrame(
        {
            **{key: means[key] for key in keys},
            "default c": means["degree"] + 1,
            "corrected c": means["corrected_penalty"].map("{:.2f}".format),
            "cross-validated c": means["cv_penalty"].map("{:.1f}".format),
            "error, default": means["default"].map("{:.3f}".format),
            "error, corrected": means["corrected"].map("{:.3f}".format),
            "error, cross-validated": means["cv"].map("{:.3f}".format),
        }
    )


if __name__ == "__main__":
    main()
