"""The native engine's numbers on x86-64 for 480 problems, to compare other processors and compilers with.

python -m tests.support.x86_answers                   # compare this machine with tests/data/x86_answers.npz
python -m tests.support.x86_answers --write           # make that file; on x86-64 only

The problems are whole numbers of R's generator, divided by powers of two: the same bits everywhere.
"""

from __future__ import annotations

import argparse
import platform
import sys
import warnings
from collections.abc import Iterator

import numpy as np

from pyearthdof import Earth, _core
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.random import RDraws
from tests.support import ROOT

FILE = ROOT / "tests" / "data" / "x86_answers.npz"
COUNT = 480
GLMS = (
    ("binomial", "logit"), ("binomial", "probit"), ("binomial", "cauchit"), ("binomial", "cloglog"),
    ("poisson", "log"), ("gamma", "log"),
)  # fmt: skip


def fit_problem(number: int) -> Earth:
    """Half of the problems have a generalised linear model; some weights, some several responses."""
    draws = RDraws(1000 + number)

    def whole(below: int, *shape: int) -> np.ndarray:
        return np.floor(draws.uniform(int(np.prod(shape))) * below).reshape(shape)

    n, p = 30 + int(whole(120, 1)[0]), 2 + int(whole(5, 1)[0])
    X = (whole(1025, n, p) - 512) / 128
    X[:, -1] = np.floor(X[:, -1])  # ties
    signal = np.maximum(X[:, 0] - 0.5, 0) * (1 + X[:, 1]) - np.maximum(-1 - X[:, -1], 0)
    noise = (whole(257, n) + whole(257, n) - 256) / 128
    options = {"engine": "native", "degree": 1 + number % 3, "nk": 11 + 2 * (number % 7)}
    weights = (1 + whole(8, n)) / 4 if number % 5 == 0 else None
    y = signal + noise
    if number % 2:
        options["glm_family"], options["glm_link"] = GLMS[number // 2 % len(GLMS)]
        if options["glm_family"] == "binomial":
            y = (y > 0).astype(float)
        elif options["glm_family"] == "poisson":
            y = np.floor(np.abs(y))
        else:
            y = np.abs(y) + 0.25
    elif number % 3 == 0:
        y = np.column_stack([y, noise + X[:, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # separated classes, iterations without an end
        try:
            return Earth(**options).fit(X, y, sample_weight=weights)
        except InvalidInputError:  # R's iteration stops on a few
            return Earth(**options | {"glm_family": None, "glm_link": None}).fit(X, y, weights)


def answers(number: int) -> np.ndarray:
    """All numbers of one model: terms, coefficients, RSS, GCV, those of the glm, its deviance."""
    model = fit_problem(number).model_
    parts = [model.dirs, model.cuts, model.selected, model.coef, model.rss, model.gcv]
    if model.glm is not None:
        parts += [model.glm.coef, model.glm.deviance, model.glm.null_deviance]
    return np.concatenate([np.asarray(part, dtype=float).ravel() for part in parts])


def stored() -> list[np.ndarray]:
    with np.load(FILE) as file:
        return np.split(file["numbers"], file["ends"][:-1])


def differences() -> Iterator[tuple[int, float]]:
    """Problems whose numbers are not the stored ones, and the largest relative difference."""
    for number, wanted in enumerate(stored()):
        found = answers(number)
        if not np.array_equal(found, wanted, equal_nan=True):
            yield number, _distance(found, wanted)


def _distance(found: np.ndarray, wanted: np.ndarray) -> float:
    if found.shape != wanted.shape:
        return np.inf  # other terms
    size = np.maximum(np.abs(wanted), 1e-300)
    return float(np.nanmax(np.where(found == wanted, 0.0, np.abs(found - wanted) / size)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        if platform.machine() not in ("x86_64", "AMD64"):
            sys.exit(f"this is {platform.machine()}: the answers are those of x86-64")
        every = [answers(number) for number in range(COUNT)]
        ends = np.cumsum([len(one) for one in every])
        FILE.parent.mkdir(exist_ok=True)
        np.savez_compressed(FILE, numbers=np.concatenate(every), ends=ends)
    found = list(differences())
    print(
        f"{platform.machine()}, {_core.instructions()} instructions, {platform.libc_ver()}: "
        f"{len(found)} of {COUNT} problems differ from x86-64"
    )
    for number, distance in sorted(found, key=lambda one: -one[1])[:10]:
        print(f"  problem {number}: {distance:.1e}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
