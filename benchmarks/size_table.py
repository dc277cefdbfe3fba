"""Compute the table of the degrees of freedom of every size that comes with the package, and check it.

python benchmarks/size_table.py table --cells FOLDER    compute the cells, then write the table
python benchmarks/size_table.py check --cells FOLDER    measured curves at random points between the cells

Every cell is kept in FOLDER when it is finished, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from penalty_table import asked, stored

from pyearthdof import df_of_sizes, quick_df_of_sizes
from pyearthdof._utils.files import write_whole
from pyearthdof.dof.mars.tables import SizeTable
from pyearthdof.dof.results import package_versions
from pyearthdof.experiments.runner import CellStore

DEGREES = (1, 2)
N = (30, 40, 50, 60, 71, 84, 100, 119, 141, 168, 200, 283, 400, 800, 1600)
P = (1, 2, 4, 7, 10, 15, 20, 30, 60)
N_DESIGNS = 20
N_REP = 200
SEED = 1234
FILE = Path(__file__).resolve().parent.parent / "pyearthdof" / "data" / "sizes.csv"


def main() -> None:
    """Run what was asked for."""
    arguments = asked(__doc__, FILE, n_points=40)
    store = CellStore(arguments.cells)
    if arguments.work == "table":
        shapes = sorted(product(N, P, DEGREES), key=lambda shape: (shape[0] * shape[1], shape[2]))
        write_table(arguments.out, [stored_cell(store, *shape) for shape in shapes])
    else:
        report([stored_cell(store, *point, seed=4321) for point in points(arguments.points)])


def stored_cell(store: CellStore, n: int, p: int, degree: int, seed: int = SEED) -> dict:
    """The curve of a cell."""
    n_rep = N_REP if n * p < 40_000 else N_REP // 2
    cell = {"n": n, "p": p, "degree": degree, "n_rep": n_rep, "n_designs": N_DESIGNS, "seed": seed}

    def compute() -> dict:
        curve = df_of_sizes(
            (n, p), degree=degree, n_rep=n_rep, n_designs=N_DESIGNS, random_state=seed
        )
        return cell | {"df": curve.df.tolist(), "se": curve.se.tolist()}

    return stored(store, "sizes", cell, compute)


def rows_of(cell: dict) -> pd.DataFrame:
    """One row for each size."""
    shape = {name: cell[name] for name in ("degree", "n", "p")}
    sizes = np.arange(1, len(cell["df"]) + 1)
    return pd.DataFrame(shape | {"size": sizes, "df": cell["df"], "se": cell["se"]})


def write_table(file: Path, cells: list[dict]) -> None:
    """Write all rows below one line that says what made them."""
    frame = pd.concat([rows_of(cell) for cell in cells]).sort_values(["degree", "n", "p", "size"])
    settings = {
        "engine": "native",
        "n_designs": N_DESIGNS,
        "n_rep": N_REP,
        "seed": SEED,
        "curvature_error": round(curvature_error(frame), 3),
    }
    made = json.dumps({"settings": settings, "versions": package_versions()})
    text = frame.to_csv(index=False, float_format="%.5g", lineterminator="\n")
    write_whole(file, f"# {made}\n{text}")
    print(f"{file}: {len(frame)} rows, {len(cells)} cells, {file.stat().st_size / 1e3:.0f} kB")


def curvature_error(frame: pd.DataFrame) -> float:
    """Interpolation error over the difference between spline and lines: each inner n left out in turn."""
    made = {"settings": {"curvature_error": 1.0, "n_rep": 0, "n_designs": 0}, "versions": {}}
    errors, bends = [], []
    for n in N[1:-1]:
        table, plain = SizeTable(frame[frame["n"] != n], made), frame[frame["n"] == n]
        for (degree, p), truth in plain.groupby(["degree", "p"]):
            found = table.lookup(n, int(p), int(degree))
            k = min(len(found.df), len(truth))
            noise = truth["se"].to_numpy()[:k]
            errors.append(np.mean((found.df[:k] - truth["df"].to_numpy()[:k]) ** 2 - noise**2))
            bends.append(np.mean(np.maximum(found.se[:k] ** 2 - noise**2, 0)))
    return float(np.sqrt(max(np.mean(errors), 0.0) / np.mean(bends)))


def points(count: int) -> list[tuple[int, int, int]]:
    """Random shapes inside the table."""
    rng = np.random.default_rng(1)
    n, p = (
        np.exp(rng.uniform(np.log(low), np.log(high), count)) for low, high in ((30, 800), (1, 60))
    )
    degree = rng.integers(1, 3, count)
    return [(round(a), round(b), int(d)) for a, b, d in zip(n, p, degree, strict=True)]


def report(cells: list[dict]) -> None:
    """How far the table is from measured curves, in its own errors."""
    ratios, gaps = [], []
    for cell in cells:
        curve = quick_df_of_sizes((cell["n"], cell["p"]), degree=cell["degree"])
        k = min(len(curve.df), len(cell["df"]))
        gap = (curve.df[:k] - np.array(cell["df"][:k]))[1:]
        error = np.hypot(curve.se[:k], cell["se"][:k])[1:]
        ratios += (gap / error).tolist()
        gaps.append(np.abs(gap).max() / np.array(cell["df"])[:k].max())
        print(f"n={cell['n']:4d} p={cell['p']:3d} degree={cell['degree']}: largest gap "
              f"{np.abs(gap).max():.2f} df, {np.abs(gap / error).max():.1f} errors")  # fmt: skip
    inside = np.mean(np.abs(ratios) < 2)
    print(f"{len(cells)} points: {100 * inside:.0f} % of the sizes within two errors; largest gap over the "
          f"largest df: median {100 * np.median(gaps):.1f} %, at most {100 * max(gaps):.1f} %")  # fmt: skip


if __name__ == "__main__":
    main()
