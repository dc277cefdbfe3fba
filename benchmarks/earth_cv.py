"""A penalty by 10-fold cross-validation: EarthCV against GridSearchCV over the same Earth, in turns.

python benchmarks/earth_cv.py
"""

from __future__ import annotations

import argparse

from compare import Comparison, Rival, measure, timed
from large import friedman
from sklearn.model_selection import GridSearchCV

from pyearthdof import Earth, EarthCV
from pyearthdof.mars.cv import PENALTIES


def main() -> None:
    """Print a comparison for each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    for n, p, degree in ((200, 10, 1), (1000, 20, 2), (5000, 20, 2)):
        X, y = friedman(n, p)
        earth = Earth(degree=degree, engine="native")
        grid = GridSearchCV(earth, {"penalty": list(PENALTIES)}, cv=10)
        rivals = (
            Rival("GridSearchCV", timed(lambda X=X, y=y, grid=grid: grid.fit(X, y))),
            Rival("EarthCV", timed(lambda X=X, y=y, earth=earth: EarthCV(earth).fit(X, y))),
        )
        work = f"{n:,} x {p}, degree {degree}, {len(PENALTIES)} penalties, 10 folds"
        for row in measure(Comparison("cross-validation", work, rivals), runs):
            print(
                f"{row.work}: {row.rival} {row.ms_per_fit:.0f} ms, {row.ratio:.1f} times",
                flush=True,
            )


if __name__ == "__main__":
    main()
