"""How the time of the native engine grows with n, p, nk and the number of repetitions; and its memory."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from pyearthdof import Earth

__all__ = ["Scaling", "draw", "measure_memory", "measure_scaling"]

BASE = {"n": 1000, "p": 20, "nk": 41, "n_rep": 8}
GRIDS = {
    "n": (500, 1000, 2000, 4000, 8000),
    "p": (5, 10, 20, 40, 80),
    "nk": (11, 21, 41, 81),
    "n_rep": (8, 16, 32, 64),
}
MEMORY = """
from pathlib import Path
import numpy as np
from pyearthdof import Earth, correct_penalty
{work}
status = Path("/proc/self/status").read_text().split()
print(int(status[status.index("VmHWM:") + 1]) / 1024)
"""
MEMORY_WORK = {
    "import alone": "",
    "Earth.fit, n = 3065, p = 57, nk = 115, degree 2": (
        "rng = np.random.default_rng(0)\n"
        "Earth(degree=2, nk=115, engine='native').fit(rng.normal(size=(3065, 57)), rng.normal(size=3065))"
    ),
    "fit_many, 100 responses of that size": (
        "rng = np.random.default_rng(0)\n"
        "Earth(degree=2, nk=115, engine='native', thresh=0, pmethod='none').fit_many("
        "rng.normal(size=(3065, 57)), rng.normal(size=(3065, 100)))"
    ),
    "correct_penalty((3065, 57), nk=115, degree=2), n_rep = 100": (
        "correct_penalty((3065, 57), nk=115, degree=2, n_rep=100, engine='native', n_jobs=2)"
    ),
}


@dataclass(frozen=True)
class Scaling:
    """Milliseconds of a fit along one size, the others at BASE, and the slope on log-log scales."""

    name: str
    values: tuple[int, ...]
    ms: tuple[float, ...]

    @property
    def slope(self) -> float:
        """1 means in proportion."""
        return float(np.polyfit(np.log(self.values), np.log(self.ms), 1)[0])


def measure_scaling(repeats: int) -> list[Scaling]:
    """Time whole runs of `fit_many`, degree 2, one thread; all repetitions together for n_rep."""
    found = []
    for name, values in GRIDS.items():
        times = [_milliseconds(BASE | {name: value}, repeats) for value in values]
        if name != "n_rep":
            times = [t / BASE["n_rep"] for t in times]
        found.append(Scaling(name, values, tuple(times)))
        print(f"  {name}: slope {found[-1].slope:.2f}", flush=True)
    return found


def _milliseconds(size: dict[str, int], repeats: int) -> float:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(size["n"], size["p"]))
    Y = rng.normal(size=(size["n"], size["n_rep"]))
    earth = Earth(degree=2, nk=size["nk"], thresh=0, pmethod="none", engine="native")
    earth.fit_many(X, Y[:, :1])
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        earth.fit_many(X, Y)
        times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times)


def draw(found: list[Scaling], file) -> None:
    """One panel for each size."""
    figure = Figure(figsize=(11, 3.2), layout="constrained")
    for ax, scaling in zip(figure.subplots(1, len(found)), found, strict=True):
        ax.loglog(scaling.values, scaling.ms, "o-", color="#1f77b4")
        rest = ", ".join(f"{k} = {v}" for k, v in BASE.items() if k not in (scaling.name, "n_rep"))
        what = "a fit" if scaling.name != "n_rep" else "all of them"
        ax.set(xlabel=scaling.name, ylabel=f"ms, {what}", xticks=scaling.values)
        ax.set_title(f"{rest}\nslope {scaling.slope:.2f}", fontsize=9)
        ax.set_xticklabels([str(v) for v in scaling.values])
        ax.minorticks_off()
        round_ones = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)
        ticks = [t for t in round_ones if _near(t, scaling.ms)]
        ax.set_yticks(ticks, [str(t) for t in ticks])
        ax.grid(alpha=0.3)
    figure.savefig(file, dpi=150)


def _near(tick: float, values) -> bool:
    return 0.8 * min(values) <= tick <= 1.25 * max(values)


def measure_memory() -> dict[str, float]:
    """Peak resident memory in MB of a process that does each work, Python and libraries included."""
    found = {}
    for name, work in MEMORY_WORK.items():
        code = MEMORY.format(work=work)
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        found[name] = float(done.stdout.split()[-1])
    return found
