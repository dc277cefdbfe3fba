"""Memory: many fits in a row do not add up, and a large run stays small."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import pyearthdof
from tests.support.figures import record

SOURCES = str(Path(pyearthdof.__file__).parents[1])
ENGINES = [
    "native",
    pytest.param("r", marks=pytest.mark.needs_r),
]


def run(code, *arguments) -> list[float]:
    """The numbers that the code prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": SOURCES},
    )
    assert done.returncode == 0, done.stderr
    return list(map(float, done.stdout.split()))


FITS = """
    import gc, sys
    from pathlib import Path
    from pyearthdof.datasets import load_ozone
    from pyearthdof.mars.earth import Earth

    engine, warm, total = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    table = load_ozone()
    X, y = table.drop(columns="O3"), table["O3"]

    def resident():
        gc.collect()
        return 4096 * int(Path("/proc/self/statm").read_text().split()[1]) / 1e6

    for i in range(1, total + 1):
        model = Earth(degree=2, engine=engine).fit(X, y)
        if i in (warm, total):
            print(resident())
"""


def check_growth(engine, warm_up, total):
    warm, end = run(FITS, engine, warm_up, total)
    record(
        f"memory of {total} fits, engine {engine}",
        fits_before=warm_up,
        mb_before=warm,
        mb_at_the_end=end,
        growth_percent=100 * (end / warm - 1),
    )
    assert end < 1.05 * warm


@pytest.mark.parametrize("engine", ENGINES)
def test_400_fits(engine):
    check_growth(engine, 200, 400)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_6000_fits(engine):
    """R's own memory grows by a step of 10 MB now and then, and stays: a leak would go on growing."""
    check_growth(engine, 3000, 6000)


LARGE = """
    import sys
    from pathlib import Path
    import numpy as np
    from pyearthdof.dof import degrees_of_freedom
    from pyearthdof.mars.earth import Earth

    def mean(X, y):
        return np.full(len(y), y.mean())

    X = np.random.default_rng(0).normal(size=(10_000, 2))
    procedure = mean if sys.argv[1] == "mean" else Earth(engine="native", nk=5)
    found = degrees_of_freedom(procedure, X, n_rep=1000, random_state=1, n_jobs=int(sys.argv[2]))

    def peak(process):
        status = Path(f"/proc/{process}/status").read_text()
        return 1024 * int(status.split("VmHWM:")[1].split()[0]) / 1e6

    children = [f.read_text().split() for f in Path("/proc/self/task").glob("*/children")]
    workers = [pid for pids in children for pid in pids]
    print(peak("self"), max(map(peak, workers), default=0), found.df, found.se)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("procedure", "n_jobs"), [("mean", 1), ("mean", 2), ("mars", 1), ("mars", 2)]
)
def test_a_large_run(procedure, n_jobs):
    """10,000 rows, 1,000 repetitions: all responses and fits together would be 160 MB."""
    own, worker, df, se = run(LARGE, procedure, n_jobs)
    has_processes = procedure == "mean" and n_jobs > 1
    assert (worker > 0) == has_processes, "the memory of the workers was not measured"
    record(
        f"memory of a run of 10,000 by 1,000, {procedure}, n_jobs={n_jobs}",
        mb=own,
        mb_largest_worker=worker if has_processes else None,
    )
    assert own < 500 and worker < 500
    assert 0 < se < 1
    assert df == pytest.approx(1.0, abs=4 * se) if procedure == "mean" else df > 1
