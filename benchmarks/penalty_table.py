"""Compute the table of corrected penalties that the package ships, and check it off its grid.

python benchmarks/penalty_table.py table --cells FOLDER    compute the cells, then write the table
python benchmarks/penalty_table.py check --cells FOLDER    exact runs at random points between the cells

Every cell is kept in FOLDER when it is finished, so a run that was stopped goes on where it was. The same
versions give the same numbers, whatever the number of runs it took.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from pyearthdof import RDraws, correct_penalty, self_consistency
from pyearthdof._utils.files import write_whole
from pyearthdof.dof.mars.correction import corrected_penalty
from pyearthdof.dof.mars.tables import PenaltyTable, quick_penalty
from pyearthdof.dof.results import package_versions
from pyearthdof.experiments.runner import CellStore

DEGREES = (1, 2)
# Closer where n is small: the least distance between knots is a whole number, which makes the penalty go up
# and down with n there. There are no cells with nk > n, where the fit goes through all points.
N = (50, 59, 71, 84, 100, 119, 141, 168, 200, 283, 400, 800, 1600, 3200)
P = (1, 2, 4, 8, 15, 30, 60)
NK = (3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 25, 31, 41, 51, 61, 81, 101, 121)
DESIGNS = 10
FIRST_SEED = 1234  # the authors'; the other designs take the seeds that follow
FILE = Path(__file__).resolve().parent.parent / "pyearthdof" / "data" / "penalties.csv"


def main() -> None:
    """Run what was asked for."""
    arguments = asked(__doc__, FILE, n_points=80)
    store = CellStore(arguments.cells)
    if arguments.work == "table":
        write_table(arguments.out, [stored_cell(store, *shape) for shape in shapes()])
    else:
        report([stored_check(store, *point) for point in points(arguments.points)])


def asked(doc: str, file: Path, n_points: int) -> argparse.Namespace:
    """What the command line of a table asks for."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("work", choices=["table", "check"])
    parser.add_argument("--cells", type=Path, required=True, help="folder of finished cells")
    parser.add_argument("--out", type=Path, default=file, help="file of the table")
    parser.add_argument("--points", type=int, default=n_points, help="number of points to check")
    return parser.parse_args()


def shapes() -> list[tuple[int, int, int]]:
    """(n, p, degree) of all cells, the slow ones last."""
    return sorted(product(N, P, DEGREES), key=lambda shape: (shape[0], shape[2]))


def repetitions(n: int, degree: int) -> int:
    """Responses for each design: fewer where a fit is slow."""
    if n <= 800:
        return 100
    return 80 if degree == 1 else 50


def stored(store: CellStore, experiment: str, cell: dict, compute) -> dict:
    """The row of a cell, computed unless it is there."""
    key = {
        "experiment": experiment,
        "cell": cell,
        "engine": "native",
        "versions": package_versions(),
    }
    record = store.get(key)
    if record is None:
        began = time.process_time()
        row = compute()
        record = {"rows": [row], "seconds": time.process_time() - began}
        store.put(key, record)
        print(cell, f"{record['seconds']:.2f} s", flush=True)
    return record["rows"][0] | {"seconds": record["seconds"]}


def stored_cell(store: CellStore, n: int, p: int, degree: int) -> dict:
    """Degrees of freedom and numbers of terms of every design along nk."""
    cell = {
        "n": n, "p": p, "degree": degree, "nk": [k for k in NK if k <= n], "n_rep": repetitions(n, degree),
        "seeds": [FIRST_SEED + k for k in range(DESIGNS)],
    }  # fmt: skip
    return stored(store, "penalties", cell, lambda: cell | _paths(cell))


def _paths(cell: dict) -> dict:
    paths = [
        self_consistency(
            (cell["n"], cell["p"]), degree=cell["degree"], nk=cell["nk"], n_rep=cell["n_rep"],
            draws=RDraws(seed), engine="native", n_jobs=1,
        )
        for seed in cell["seeds"]
    ]  # fmt: skip
    return {
        "df": [path.df.tolist() for path in paths],
        "n_terms": [path.n_terms.tolist() for path in paths],
    }


def rows_of(cell: dict) -> pd.DataFrame:
    """One row for each nk: the penalty of the mean df and terms, jackknifed over the designs."""
    df, r = np.array(cell["df"]), np.array(cell["n_terms"])
    k = len(df)
    mean_df, mean_r = df.mean(0), r.mean(0)
    # Before negative values are set to 0: a penalty of 0 is not known without error.
    without_r = (r.sum(0) - r) / (k - 1)
    without = 2 * ((df.sum(0) - df) / (k - 1) - without_r) / (without_r - 1)
    return pd.DataFrame(
        {
            "degree": cell["degree"],
            "n": cell["n"],
            "p": cell["p"],
            "nk": cell["nk"],
            "penalty": corrected_penalty(mean_df, mean_r),
            "se": np.sqrt((k - 1) / k * ((without - without.mean(0)) ** 2).sum(0)),
            "df": mean_df,
            "n_terms": mean_r,
            "n_rep": cell["n_rep"] * k,
        }
    )


def write_table(file: Path, cells: list[dict]) -> None:
    """Write all rows below one line that says what made them."""
    frame = pd.concat([rows_of(cell) for cell in cells]).sort_values(["degree", "n", "p", "nk"])
    settings = {
        "engine": "native",
        "n_designs": DESIGNS,
        "seeds": [FIRST_SEED, FIRST_SEED + DESIGNS - 1],
        "curvature_error": round(curvature_error(frame), 3),
    }
    made = json.dumps({"settings": settings, "versions": package_versions()})
    text = frame.to_csv(index=False, float_format="%.8g", lineterminator="\n")
    file.parent.mkdir(exist_ok=True)
    write_whole(file, f"# {made}\n{text}")
    print(f"{file}: {len(frame)} rows, {file.stat().st_size / 1000:.0f} kB, {settings}")


def curvature_error(frame: pd.DataFrame) -> float:
    """Interpolation error as a fraction of |spline - straight lines|, from cells that are left out.

    Each inner n and p is left out in turn and interpolated from the others. The gap is twice as wide as
    a real one and the differences contain the Monte Carlo error as well, so this is rather too large.
    """
    found = pd.concat(
        [left_out(frame, name, value) for name in "np" for value in inner(frame[name])]
    )
    return float(np.sqrt((found["difference"] ** 2).sum() / (found["curvature"] ** 2).sum()))


def inner(values: pd.Series) -> np.ndarray:
    """All but the smallest and the largest."""
    return np.unique(values)[1:-1]


def left_out(frame: pd.DataFrame, name: str, value: int) -> pd.DataFrame:
    """Interpolate the cells with this n or p from the cells without it."""
    others = PenaltyTable(
        frame[frame[name] != value], {"settings": {"curvature_error": 1.0}, "versions": {}}
    )
    rows = []
    cells = frame[frame[name] == value]
    if name == "n":  # the smallest n of an nk has no cell below it
        cells = cells[cells["nk"] <= frame.loc[frame["n"] < value, "n"].max()]
    for cell in cells.itertuples():
        guess = others.lookup(cell.n, cell.p, cell.nk, cell.degree)
        rows.append(
            {"degree": cell.degree, "n": cell.n, "p": cell.p, "nk": cell.nk, "left_out": name,
             "difference": guess.penalty - cell.penalty,
             "curvature": guess.interpolation_se,
             "noise": np.hypot(guess.monte_carlo_se, cell.se)}
        )  # fmt: skip
    return pd.DataFrame(rows)


def points(count: int, seed: int = 1) -> list[tuple[int, int, int, int]]:
    """Random (n, p, nk, degree) inside the grid; every second one with the default nk."""
    random = np.random.default_rng(seed)
    found = []
    for k in range(2 * count):
        n = round(np.exp(random.uniform(np.log(N[0]), np.log(N[-1]))))
        p = min(P[-1], int(np.exp(random.uniform(0, np.log(P[-1] + 1)))))
        nk = round(np.exp(random.uniform(np.log(NK[0]), np.log(NK[-1]))))
        found.append((n, p, max(21, 2 * p + 1) if k % 2 else nk, 1 + k // 2 % 2))
    return [point for point in found if inside(*point)][:count]


def inside(n: int, p: int, nk: int, degree: int) -> bool:
    """Tell whether there are cells on all sides of a point."""
    above = next(k for k in NK if k >= nk - 1 + nk % 2)
    return n >= next(m for m in N if m >= above)


def stored_check(store: CellStore, n: int, p: int, nk: int, degree: int) -> dict:
    """The exact penalty at a point, from as many repetitions and designs as a cell has."""
    cell = {
        "n": n, "p": p, "nk": [nk], "degree": degree, "n_rep": repetitions(n, degree),
        "seeds": [4321 + k for k in range(DESIGNS)],
    }  # fmt: skip
    return stored(store, "check", cell, lambda: cell | _exact(cell))


def _exact(cell: dict) -> dict:
    runs = [
        correct_penalty(
            (cell["n"], cell["p"]), degree=cell["degree"], nk=cell["nk"][0], n_rep=cell["n_rep"],
            draws=RDraws(seed), engine="native", n_jobs=1,
        )
        for seed in cell["seeds"]
    ]  # fmt: skip
    return {"df": [[run.df] for run in runs], "n_terms": [[run.n_terms] for run in runs]}


def report(checks: list[dict]) -> None:
    """Compare the table with the exact runs, in units of their errors."""
    frame = pd.concat([rows_of(check) for check in checks], ignore_index=True)
    guesses = [
        quick_penalty((row.n, row.p), nk=row.nk, degree=row.degree) for row in frame.itertuples()
    ]
    frame["table"] = [guess.penalty for guess in guesses]
    frame["error"] = [guess.se for guess in guesses]
    frame["difference"] = frame["table"] - frame["penalty"]
    frame["in_errors"] = frame["difference"] / np.hypot(frame["error"], frame["se"])
    columns = [
        "degree",
        "n",
        "p",
        "nk",
        "penalty",
        "se",
        "table",
        "error",
        "difference",
        "in_errors",
    ]
    print(frame[columns].round(3).to_string(index=False))
    sizes = frame["difference"].abs()
    print(
        f"{len(frame)} points; |table - exact|: median {sizes.median():.3f}, largest {sizes.max():.3f}"
    )
    print(
        f"errors claimed: median {frame['error'].median():.3f}, largest {frame['error'].max():.3f}"
    )
    for k in (1, 2, 3):
        print(f"within {k} errors of both: {(frame['in_errors'].abs() <= k).mean():.3f}")


if __name__ == "__main__":
    main()
