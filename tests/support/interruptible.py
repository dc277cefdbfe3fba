"""Programs that the tests of interrupts start, stop in the middle, and look at afterwards.

`python -m tests.support.interruptible NAME` computes something once, says "ready", computes it again
until Ctrl-C, says "stopped", computes it once more and says whether the numbers are those of the first time.
"""

import contextlib
import sys
import time

import numpy as np
import pandas as pd

from pyearthdof.dof import degrees_of_freedom
from pyearthdof.mars.earth import Earth
from pyearthdof.random import RDraws

X = RDraws(1).normal(200 * 10).reshape(200, 10)
LARGE = RDraws(1).normal(20_000 * 10).reshape(20_000, 10)


def r_batch(much):
    """One long batch of fits through the bridge."""
    Y = RDraws(2).normal(200 * 2000).reshape(2000, 200).T
    return Earth(engine="r", nk=21).fit_many(X, Y[:, : 2000 if much else 3]).fitted[:, :3]


def r_processes(much):
    """Two processes, each with its own R."""
    found = degrees_of_freedom(
        Earth(engine="r", nk=21),
        X,
        n_rep=20_000 if much else 20,
        random_state=1,
        n_jobs=2,
    )
    return np.array([found.df, found.se])


def r_formula(much):
    """A formula that makes many columns of many rows."""
    rng = np.random.default_rng(1)
    rows = 5000 if much else 60
    data = pd.DataFrame({"x": rng.normal(size=rows), "z": rng.normal(size=rows)})
    data["y"] = np.abs(data["x"]) + rng.normal(size=rows)
    size = 900 if much else 5
    return Earth.from_formula(f"y ~ bs(x, df = {size}) + bs(z, df = {size})", data).term_coef_


def native_threads(much):
    """Two threads in compiled code."""
    return native_alone(much, n_jobs=2)


def native_alone(much, n_jobs=None):
    """Compiled code in the main thread."""
    found = degrees_of_freedom(
        Earth(engine="native", nk=15),
        LARGE if much else X,
        n_rep=50_000 if much else 20,
        random_state=1,
        n_jobs=n_jobs,
    )
    return np.array([found.df, found.se])


def native_fit(much):
    """One long fit, all in compiled code."""
    data = np.random.default_rng(1).normal(size=(300_000, 20)) if much else X
    y = np.sin(data[:, 0]) + RDraws(2).normal(len(data))
    return Earth(engine="native", degree=2, nk=101, thresh=0.0).fit(data, y).term_coef_


def native_weights(much):
    """The same with case weights."""
    data = LARGE[:10_000] if much else X[:50, :3]
    y = np.sin(data[:, 0]) + RDraws(2).normal(len(data))
    model = Earth(engine="native", degree=2, nk=101 if much else 21, thresh=0.0)
    return model.fit(data, y, sample_weight=1 + data[:, 0] ** 2).term_coef_


def native_many(much):
    """One long batch."""
    data = LARGE if much else X
    Y = RDraws(2).normal(len(data) * 20).reshape(len(data), 20)
    model = Earth(engine="native", degree=2, nk=61, thresh=0.0, pmethod="none")
    return model.fit_many(data, np.tile(Y, 20) if much else Y).fitted


PROGRAMS = (
    r_batch, r_processes, r_formula, native_threads, native_alone, native_fit, native_weights, native_many,
)  # fmt: skip


def main(name):
    compute = {f.__name__: f for f in PROGRAMS}[name]
    first = compute(False)
    print("ready", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        compute(True)
        print("not interrupted", flush=True)
    print("stopped", flush=True)
    time.sleep(1.5)  # a thread that was given up ends its piece of work
    before = time.process_time()
    time.sleep(0.5)
    print("busy" if time.process_time() - before > 0.25 else "idle", flush=True)
    print("same" if np.array_equal(first, compute(False)) else "different", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
