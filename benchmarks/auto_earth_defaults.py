"""Defaults of AutoEarth: error and time of other settings relative to the defaults, on real regression data.

python benchmarks/real_world.py data --folder DATA         the data sets, see there
python benchmarks/auto_earth_defaults.py --folder DATA
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from real_world import Task, tasks
from threadpoolctl import threadpool_limits

from pyearthdof import AutoEarth
from pyearthdof.dof.mars.auto_earth import forward_terms

SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "5 models": {"n_models": 5},
    "10 models": {"n_models": 10},
    "40 models": {"n_models": 40},
    "noise of 0.2 sigma": {"perturbation": 0.2},
    "noise of 0.6 sigma": {"perturbation": 0.6},
    "noise of 0.8 sigma": {"perturbation": 0.8},
    "earth's nk": {"nk": None},
    "twice the terms": {"nk": 2},  # times the default
    "earth's thresh": {"thresh": None},
    "degrees 1 and 2": {"degrees": (1, 2)},
}
GROUPS = {
    "all": (0, 10**9),
    "up to 150 rows": (0, 150),
    "151 to 500": (151, 500),
    "more": (501, 10**9),
}


def error_and_seconds(task: Task, X: np.ndarray, y: np.ndarray, settings: dict[str, Any]) -> tuple:
    """Test error and processor time of one fit, on the division of `real_world.py`."""
    rows = np.random.default_rng([2, 0, *task.seed]).permutation(len(y))
    fit, test = np.split(rows, [2 * len(y) // 3])
    X = X[:, np.ptp(X[fit], axis=0) > 0]
    if settings.get("nk") is not None:
        settings = settings | {"nk": settings["nk"] * forward_terms(len(fit), X.shape[1])}
    began = time.process_time()
    model = AutoEarth(random_state=0, **settings).fit(X[fit], y[fit])
    seconds = time.process_time() - began
    return float(((model.predict(X[test]) - y[test]) ** 2).mean()), seconds, len(fit)


def main() -> None:
    """Fit all settings on all data sets, and print geometric means of the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--most", type=int, help="number of data sets, all by default")
    arguments = parser.parse_args()
    found: dict[str, list] = {name: [] for name in SETTINGS}
    for task in [task for task in tasks() if task.kind == "regression"][: arguments.most]:
        loaded = task.load(arguments.folder)
        if loaded is None:
            continue
        X, y = loaded[0].to_numpy(), loaded[1]
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            for name, settings in SETTINGS.items():
                found[name].append(error_and_seconds(task, X, y, settings))
    base = np.array(found["defaults"])
    within = {
        name: (base[:, 2] >= low) & (base[:, 2] <= high) for name, (low, high) in GROUPS.items()
    }
    heads = [f"{name}, {rows.sum()} sets" for name, rows in within.items()]
    print("| setting | " + " | ".join(heads) + " | time |")
    print("|---" * (len(heads) + 2) + "|")
    for name, values in found.items():
        ratios = np.log(np.array(values)[:, :2] / base[:, :2])
        cells = []
        for rows in within.values():
            mean, se = ratios[rows, 0].mean(), ratios[rows, 0].std(ddof=1) / np.sqrt(rows.sum())
            cells.append(f"{np.exp(mean):.3f} ± {np.exp(mean) * se:.3f}")
        print(f"| {name} | " + " | ".join(cells) + f" | {np.exp(ratios[:, 1].mean()):.2f} |")


if __name__ == "__main__":
    main()
