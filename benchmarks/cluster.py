"""What a large study costs on a dask cluster: run one, and measure what it is made of.

python benchmarks/cluster.py costs --cells FOLDER    cost model, from the cells of penalty_table.py
python benchmarks/cluster.py overhead                a task of no work: time, memory of the scheduler
python benchmarks/cluster.py store                   a cell to disk and back: time, bytes
python benchmarks/cluster.py wire                    bytes a repetition, scheduler time a task: 10,000 x 100
python benchmarks/cluster.py schedule --each 0.05    a million repetitions on 100 workers, simulated
python benchmarks/cluster.py study --out FOLDER --scheduler tcp://HOST:8786 \\
    --n 50 100 200 --p 1 2 4 --nk 5 11 21 --degree 1 2

A study computes all combinations. Tasks are chunks of cells that take about as long as each other, and a
finished chunk is kept at once as one file, so a study that was stopped goes on where it was. Without
--scheduler it runs on this machine with --workers processes.
"""

from __future__ import annotations

import argparse
import contextlib
import heapq
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, parallel_config

from pyearthdof import Earth, correct_penalty, degrees_of_freedom
from pyearthdof.dof.montecarlo import cluster as on_dask
from pyearthdof.dof.montecarlo.workers import run_tasks
from pyearthdof.dof.results import package_versions
from pyearthdof.experiments.runner import CellStore

COUNTS = (100, 1000)
FACTORS = ("n", "p", "nk", "degree")
# CPU seconds a repetition, exp(INTERCEPT) n^a p^b nk^c degree^d, as `costs` printed them; their errors are in
# docs/scale.md.
INTERCEPT, POWERS = -11.77, {"n": 0.481, "p": 0.242, "nk": 0.421, "degree": 0.633}


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=["costs", "overhead", "store", "study", "wire", "schedule"])
    parser.add_argument("--cells", type=Path, help="folder of penalty_table.py")
    parser.add_argument("--out", type=Path, help="folder of the study's results")
    parser.add_argument("--scheduler", help="address of a dask scheduler")
    parser.add_argument("--workers", type=int, default=2, help="processes, without --scheduler")
    parser.add_argument("--runs", type=int, default=5, help="measurements; the median counts")
    parser.add_argument("--seconds", type=float, default=60.0, help="work of a chunk")
    parser.add_argument("--n-rep", type=int, default=100)
    parser.add_argument("--each", type=float, default=0.05, help="seconds of a repetition")
    parser.add_argument("--task", type=float, default=0.002, help="seconds of the scheduler a task")
    for name in FACTORS:
        parser.add_argument(f"--{name}", type=int, nargs="+", default=[1])
    arguments = parser.parse_args()
    if arguments.work == "costs":
        print_costs(arguments.cells)
    elif arguments.work == "overhead":
        print_overhead(arguments.runs)
    elif arguments.work == "store":
        print_store(arguments.runs)
    elif arguments.work == "wire":
        print_wire(arguments.workers, arguments.n_rep)
    elif arguments.work == "schedule":
        print_schedule(arguments.each, arguments.task)
    else:
        study(arguments)


def seconds_a_repetition(n, p, nk, degree):
    """The cost model."""
    values = {"n": n, "p": p, "nk": nk, "degree": degree}
    return np.exp(INTERCEPT) * np.prod([np.power(values[k], a) for k, a in POWERS.items()], axis=0)


# --- a study ---------------------------------------------------------------------------------------


def chunks(cells: list[tuple], n_rep: int, seconds: float) -> list[list[tuple]]:
    """Cut the cells into tasks of about `seconds` each by the cost model."""
    found, cost = [[]], 0.0
    for cell in cells:
        price = n_rep * float(seconds_a_repetition(*cell))
        if found[-1] and cost + price > seconds:
            found.append([])
            cost = 0.0
        found[-1].append(cell)
        cost += price
    return found


class Chunk:
    """The work on one task: compute its cells in order and keep them as one file."""

    def __init__(self, folder: Path, n_rep: int):
        self.store, self.n_rep = CellStore(folder), n_rep

    def key(self, cells: list[tuple]) -> dict:
        versions = dict(package_versions())
        cell = {"cells": cells, "n_rep": self.n_rep}
        return {"experiment": "study", "cell": cell, "engine": "native", "versions": versions}

    def __call__(self, cells: list[tuple]) -> int:
        began = time.process_time()
        rows = [self.row(*cell) for cell in cells]
        self.store.put(self.key(cells), {"rows": rows, "seconds": time.process_time() - began})
        return len(rows)

    def row(self, n: int, p: int, nk: int, degree: int) -> dict:
        """One cell as plain numbers."""
        found = correct_penalty(
            (n, p), nk=nk, degree=degree, n_rep=self.n_rep, engine="native", n_jobs=1
        )
        return {k: v for k, v in found.to_dict().items() if not isinstance(v, dict)}


def study(arguments) -> None:
    """Compute all cells that are not there yet, then write one table."""
    cells = list(product(*(getattr(arguments, name) for name in FACTORS)))
    work = Chunk(arguments.out / "cells", arguments.n_rep)
    tasks = chunks(cells, arguments.n_rep, arguments.seconds)
    missing = [task for task in tasks if work.store.get(work.key(task)) is None]
    print(f"{len(cells)} cells, {len(tasks)} chunks, {len(missing)} of them to compute", flush=True)
    with on_cluster(arguments.scheduler, arguments.workers):
        for done, (task, _) in enumerate(run_tasks(work, missing), 1):
            print(f"{done}/{len(missing)} chunks, the last of {len(task)} cells", flush=True)
    write_rows(arguments.out / "study.csv", work, tasks)


def write_rows(file: Path, work: Chunk, tasks: list) -> None:
    """All cells as one file, a chunk in memory at a time."""
    with open(file, "w", encoding="utf-8") as stream:
        for number, task in enumerate(tasks):
            rows = work.store.get(work.key(task))["rows"]
            pd.DataFrame(rows).to_csv(stream, index=False, header=number == 0)
    print(f"written: {file}")


@contextlib.contextmanager
def on_cluster(scheduler: str | None, workers: int):
    """Send joblib's work to a scheduler, or to processes of a cluster on this machine."""
    from distributed import Client, LocalCluster

    with contextlib.ExitStack() as stack:
        if scheduler is None:
            scheduler = stack.enter_context(
                LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
            )
        client = stack.enter_context(Client(scheduler))
        stack.enter_context(parallel_config("dask"))
        yield client


# --- costs -----------------------------------------------------------------------------------------


def print_costs(folder: Path) -> None:
    """Fit the cost model to single exact runs ("check") and to whole paths along nk ("penalties")."""
    frame = pd.DataFrame([cost(file) for file in sorted(folder.glob("*.json"))])
    for experiment, part in frame.groupby("experiment"):
        factors = [name for name in FACTORS if experiment == "check" or name != "nk"]
        X, y = design(part[factors]), np.log(part["seconds"].to_numpy())
        beta, *_ = np.linalg.lstsq(X, y, rcond=None)
        rest = y - X @ beta
        sigma2 = rest @ rest / (len(y) - X.shape[1])
        covariance = sigma2 * np.linalg.inv(X.T @ X)
        # A power law fits the logarithm; the ratio brings its mean to the mean of the seconds.
        ratio = part["seconds"].sum() / np.exp(X @ beta).sum()
        print(f"{experiment}: {len(part)} cells, CPU seconds a repetition")
        errors = np.sqrt(np.diag(covariance))
        for name, b, e in zip(["intercept", *factors], beta, errors, strict=True):
            print(f"  {name:10s} {b:8.3f} ± {e:.3f}")
        print(
            f"  one cell is off by a factor of {np.exp(np.sqrt(sigma2)):.2f} (standard deviation)"
        )
        print(f"  mean {1000 * part['seconds'].mean():.2f} ms, {ratio:.2f} of the model's")
        many = design(large_study()[factors].drop_duplicates())
        cells = ratio * np.exp(many @ beta)
        slope = cells @ many / cells.sum()
        error = np.sqrt(slope @ covariance @ slope)
        print(
            f"  large study: {len(cells)} runs of {1000 * cells.mean():.2f} ms a repetition on average, "
            f"{100 * cells.sum() / 3600:.1f} CPU hours for 100 repetitions, ± {100 * error:.0f}%"
        )


def design(factors: pd.DataFrame) -> np.ndarray:
    """An intercept and the logarithms of the factors."""
    return np.column_stack([np.ones(len(factors)), np.log(factors)])


def large_study() -> pd.DataFrame:
    """A million cells inside the ranges that were measured."""
    axes = {
        "n": np.unique(np.geomspace(50, 3200, 200).round()),
        "p": np.linspace(1, 60, 50),
        "nk": np.linspace(3, 121, 50),
        "degree": [1, 2],
    }
    return pd.DataFrame(list(product(*axes.values())), columns=list(axes))


def cost(file: Path) -> dict:
    """Settings and CPU seconds a repetition of a stored cell."""
    record = json.loads(file.read_text(encoding="utf-8"))
    cell = record["key"]["cell"]
    settings = {name: cell[name] for name in ("n", "p", "degree")} | {"nk": max(cell["nk"])}
    seconds = record["seconds"] / (cell["n_rep"] * len(cell["seeds"]))
    return {"experiment": record["key"]["experiment"], **settings, "seconds": seconds}


# --- overhead --------------------------------------------------------------------------------------


def nothing(task):
    """A task of no work; returns where it was done."""
    return os.getpid()


def print_overhead(runs: int) -> None:
    """Milliseconds a task by three ways, and the memory of tasks that the scheduler holds at once."""
    for workers in (1, 2):
        with on_cluster(None, workers) as client:
            ways = {
                # One task a batch: joblib would put ever more of these into one dask task.
                "joblib.Parallel": lambda k: Parallel(n_jobs=-1, batch_size=1)(
                    delayed(nothing)(i) for i in range(k)
                ),
                "run_tasks": lambda k: [pid for _, pid in run_tasks(nothing, range(k))],
                "client.map": lambda k, client=client: client.gather(
                    client.map(nothing, range(k), pure=False)
                ),
            }
            if workers == 1:
                del ways["joblib.Parallel"]  # joblib does the work of a single worker by itself
            for (name, way), count in product(ways.items(), COUNTS):
                # The first tasks also import the package. None may be done here, by no scheduler at all.
                assert os.getpid() not in way(50), name
                wall, cpu = np.array([timed(way, count) for _ in range(runs)]).T * 1000 / count
                print(
                    f"{workers} workers, {count:5d} tasks, {name:15s}: {np.median(wall):6.2f} ms a task "
                    f"({wall.min():.2f} to {wall.max():.2f}), CPU here {np.median(cpu):.2f} ms",
                    flush=True,
                )
            if workers == 1:
                print_memory(client)


def timed(way, count: int) -> tuple[float, float]:
    """Wall and CPU seconds of this process, where client and scheduler live."""
    wall, cpu = time.perf_counter(), time.process_time()
    way(count)
    return time.perf_counter() - wall, time.process_time() - cpu


def print_memory(client) -> None:
    """Resident memory of this process while it holds ever more finished tasks."""
    import psutil
    from distributed import wait

    process = psutil.Process(os.getpid())
    before, held = process.memory_info().rss, []
    for count in (1000, 5000, 10000):
        held += client.map(nothing, range(len(held), count), pure=False)
        wait(held)
        grown = process.memory_info().rss - before
        print(f"{count} tasks held: {grown / 1e6:.0f} MB, {grown / count / 1000:.1f} kB a task")


# --- store -----------------------------------------------------------------------------------------


def print_store(runs: int) -> None:
    """Milliseconds and bytes of a cell on disk, alone and in a chunk."""
    for size in (1, 10, 100, 1000):
        found = np.array([store_once(size, 20) for _ in range(runs)])
        write, read, n_bytes = np.median(found, axis=0)
        print(
            f"{size:5d} cells a file: {1000 * write:.3f} ms to write and {1000 * read:.3f} ms to read a "
            f"cell, {n_bytes:.0f} bytes",
            flush=True,
        )


def store_once(size: int, files: int) -> tuple[float, float, float]:
    """Seconds to write and to read a cell, and its bytes, in files of `size` cells."""
    with tempfile.TemporaryDirectory() as folder:
        work = Chunk(Path(folder), 20)
        record = {"rows": [work.row(50, 2, 21, 1)] * size, "seconds": 1.0}
        keys = [work.key([(50 + k, 2, 21, 1)] * size) for k in range(files)]
        write, _ = timed(lambda _: [work.store.put(key, record) for key in keys], files)
        read, _ = timed(lambda _: [work.store.get(key) for key in keys], files)
        n_bytes = work.store.file(keys[0]).stat().st_size
    return write / (files * size), read / (files * size), n_bytes / size


# --- wire ------------------------------------------------------------------------------------------

LARGE = (10_000, 100)


class Relay:
    """Passes connections on to a port of this machine and counts the bytes of each direction."""

    def __init__(self, port: int):
        self.port, self.bytes = port, Counter()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            near, _ = self._server.accept()
            far = socket.create_connection(("127.0.0.1", self.port))
            for way, source, target in (("to", near, far), ("from", far, near)):
                threading.Thread(target=self._pass, args=(way, source, target), daemon=True).start()

    def _pass(self, way: str, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self.bytes[way] += len(data)
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def real_processes(workers: int):
    """`dask scheduler` and `dask worker` on loopback: the scheduler's process, and a relay for each side."""
    port, dask = free_port(), [sys.executable, "-m", "dask"]
    local = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
    with contextlib.ExitStack() as stack:

        def start(*command: str) -> subprocess.Popen:
            process = subprocess.Popen([*dask, *command, *local], stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            return process

        scheduler = start("scheduler", "--port", str(port))
        client, worker = Relay(port), Relay(port)
        count = ("--nworkers", str(workers), "--nthreads", "1")
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        start("worker", worker.address, *count)
        yield scheduler, client, worker


def print_wire(workers: int, n_rep: int) -> None:
    """Measure the bytes sent for the degrees of freedom of a large design, by runs of two lengths."""
    import psutil
    from distributed import Client

    X = np.random.default_rng(0).normal(size=LARGE)
    with (
        real_processes(workers) as (scheduler, to_client, to_workers),
        Client(to_client.address) as client,
        parallel_config("dask"),
    ):
        client.wait_for_workers(workers, timeout=120)
        process, submit = psutil.Process(scheduler.pid), client.submit

        def run(count: int) -> np.ndarray:
            tasks = 0

            def counted(*arguments, **options):
                nonlocal tasks
                tasks += 1
                return submit(*arguments, **options)

            client.submit = counted
            before, wall = sent(), time.perf_counter()
            degrees_of_freedom(Earth(engine="native"), X, n_rep=count, random_state=1)
            seconds = time.perf_counter() - wall
            return np.array([*(sent() - before), tasks, seconds])

        def sent() -> np.ndarray:
            cpu = sum(process.cpu_times()[:2])
            between = sum(client.run(copies_from_others).values())
            ways = [relay.bytes[way] for relay in (to_client, to_workers) for way in ("to", "from")]
            return np.array([*ways, between, cpu])

        run(2 * workers)  # imports
        short, long = run(n_rep), run(2 * n_rep)
    n, p = LARGE
    print(
        f"{n:,} x {p}, X {X.nbytes / 1e6:.1f} MB, {workers} workers, {n_rep} and {2 * n_rep} repetitions"
    )
    names = (
        "client to scheduler",
        "scheduler to client",
        "workers to scheduler",
        "scheduler to workers",
    )
    for name, first, second in zip(names, short, long, strict=False):
        each = (second - first) / n_rep
        print(f"  {name:22s} {each:12,.0f} bytes a repetition, {first - each * n_rep:14,.0f} once")
    copies, cpu, tasks, seconds = long[4:] + short[4:]
    print(f"  {copies / 2:.0f} copies of X from one worker to another in each run")
    print(f"  {tasks:.0f} tasks, {1000 * cpu / tasks:.2f} ms of the scheduler's CPU a task")
    print(
        f"  {seconds:.1f} s, {1000 * seconds * workers / (3 * n_rep):.1f} ms a repetition and worker"
    )


def copies_from_others(dask_worker) -> int:
    """How often a worker was sent something by another so far."""
    return len(dask_worker.transfer_incoming_log)


# --- schedule --------------------------------------------------------------------------------------


def print_schedule(each: float, task: float, total: int = 1_000_000) -> None:
    """A run with the package's own rule for chunks, on workers that are ready at once or join later."""
    for workers, late in ((1, 0), (10, 0), (100, 0), (100, 50)):
        seconds, tasks = simulate(total, each, task, workers, late)
        ideal = total * each / workers * (1 + late / workers / 3)
        joined = f", {late} of them {total * each / workers / 3:,.0f} s late" if late else ""
        print(
            f"{workers:4d} workers{joined}: {seconds:,.0f} s for {total:,} repetitions, "
            f"{tasks:,} tasks, {100 * ideal / seconds:.1f} % of the ideal {ideal:,.0f} s"
        )


def simulate(total: int, each: float, task: float, workers: int, late: int) -> tuple[float, int]:
    """Seconds and tasks of a run: one after the other the tasks pass the scheduler."""
    chunks, rng = on_dask.Chunks(total), np.random.default_rng(0)
    joining = total * each / workers / 3
    free = [(0.0 if k >= late else joining, k) for k in range(workers)]
    heapq.heapify(free)
    running: list[tuple[float, int, float]] = []  # (end, repetitions, seconds)
    handed, end, tasks, left = 0.0, 0.0, 0, total
    while left > 0:
        ready, worker = heapq.heappop(free)
        start = max(ready, handed)
        while running and running[0][0] <= start:
            _, units, seconds = heapq.heappop(running)
            chunks.learn(units, seconds)
        present = workers - late if start < joining else workers
        units = min(chunks.size(present), left)
        chunks.hand_out(units)
        left, tasks, handed = left - units, tasks + 1, start + task
        seconds = units * each * rng.lognormal(sigma=0.1)  # chunks differ
        end = max(end, handed + seconds)
        heapq.heappush(running, (handed + seconds, units, seconds))
        heapq.heappush(free, (handed + seconds, worker))
    return end, tasks


if __name__ == "__main__":
    main()
