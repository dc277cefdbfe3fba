"""One MARS fit: R's earth inside R, through the bridge, the native engine, other packages for Python."""

from __future__ import annotations

import numpy as np
from compare import Comparison, Rival, timed
from others import OTHERS, start_other
from stopwatch import r_stopwatch

from pyearthdof import Earth
from pyearthdof.datasets import load_ozone

__all__ = ["comparisons"]


def comparisons():
    """Ozone, and data of middling size with a known function."""
    ozone = load_ozone()
    X, y = ozone.drop(columns="O3").to_numpy(dtype=float), ozone["O3"].to_numpy(dtype=float)
    yield from _single("ozone, n = 330, p = 9", X, y, OTHERS)
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(1000, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 5 * X[:, 3]
    yield from _single("Friedman's function, n = 1000, p = 10", X, y + rng.normal(size=1000), ())


def _single(name, X, y, packages):
    for degree in (1, 2):
        repeats = 5
        in_r = r_stopwatch(
            "suppressMessages(library(earth)); y <- as.vector(y)",
            f"for (i in 1:{repeats}) fit <- earth(X, y, degree = {degree})",
            X=X,
            y=y,
        )
        rivals = [Rival("earth() in R", in_r.seconds)]
        for label, engine in (("Earth, R by the bridge", "r"), ("Earth, native engine", "native")):
            rivals.append(Rival(label, timed(_loop(engine, degree, X, y, repeats)), "R's model"))
        rivals += list(_others(packages, X, y, degree, repeats))
        yield Comparison("One MARS fit", f"{name}, degree {degree}", tuple(rivals), repeats)
        in_r.close()


def _loop(engine, degree, X, y, repeats):
    def work():
        for _ in range(repeats):
            Earth(degree=degree, engine=engine).fit(X, y)

    return work


def _others(packages, X, y, degree, repeats):
    """The other packages at their own defaults, and whether they return R's model."""
    ours = Earth(degree=degree, engine="native").fit(X, y)
    for package in packages:
        try:
            other = start_other(package, X, y, degree)
        except RuntimeError as error:
            print(f"  {package}: {error}")
            continue
        rss = float(other.ask("rss"))
        same = abs(rss - ours.rss_) < 1e-6 * ours.rss_
        note = "R's model" if same else f"another model: RSS {rss:.4g}, R's {ours.rss_:.4g}"
        yield Rival(package, lambda other=other: repeats * other.seconds(), note)
