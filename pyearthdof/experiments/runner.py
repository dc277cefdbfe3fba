"""Runs the cells of experiments, in one process or many, and goes on where a run was stopped."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from threadpoolctl import threadpool_limits

from .._utils.progress import progress_bar
from ..dof.montecarlo.workers import WorkersDied, run_tasks
from ..exceptions import FittingError
from .base import GIVEN_SEED, Experiment, check_seed
from .store import CellStore

__all__ = ["Result", "run_experiments"]

ROWS = 3  # raised when the rows of a cell change, so that those of before are computed again


@dataclass(frozen=True)
class Result:
    """A finished experiment."""

    experiment: Experiment
    size: str
    engine: str
    frame: pd.DataFrame
    versions: dict[str, str]
    seconds: float  # computing time of all cells, whenever and wherever they were computed
    n_cells: int
    seed: int | None = None  # None: the experiment's own seeds


def run_experiments(
    experiments: Sequence[Experiment],
    size: str,
    *,
    seed: int | None = None,
    engine: str = "auto",
    n_jobs: int = 1,
    store: CellStore | None = None,
    fresh: bool = False,
    progress: bool = False,
) -> Iterator[Result]:
    """Yield each experiment when its last cell is there, whichever is finished first.

    The cells of all experiments share the processes, so that none waits for the end of another.
    A cell that the store has is not computed again unless `fresh`. A record is taken through JSON
    whether it was kept or computed now, so a resumed run gives the bytes of an unbroken one.
    """
    seed = check_seed(seed)
    work = [_Work(e, size, seed, engine) for e in experiments]
    pending = []
    for number, part in enumerate(work):
        for index, key in enumerate(part.keys):
            if fresh and store is not None:
                store.forget(key)
            part.records[index] = None if store is None else store.get(key)
            if part.records[index] is None:
                pending.append((number, index))
    total = sum(len(part.keys) for part in work)
    waiting = set(range(len(work)))
    with progress_bar(
        total=total, initial=total - len(pending), unit="cell", wanted=progress
    ) as bar:
        yield from _finished(work, waiting)
        cells = (
            _Cell(work[number].experiment, work[number].keys[index], store, number, index)
            for number, index in pending
        )
        try:
            for cell, record in run_tasks(_compute, cells, n_jobs=n_jobs, ordered=False):
                work[cell.number].records[cell.index] = record
                bar.set_postfix_str(cell.experiment.name)
                bar.update()
                yield from _finished(work, waiting)
        except WorkersDied as error:
            raise _lost(error) from error


@dataclass(frozen=True)
class _Cell:
    """A cell on its way to a worker."""

    experiment: Experiment
    key: dict
    store: CellStore | None
    number: int
    index: int


def _lost(error: WorkersDied) -> FittingError:
    names = sorted({cell.experiment.name for cell in error.tasks})
    return FittingError(
        f"worker processes died again and again ({error}) in {', '.join(names)}; finished cells are "
        "kept, so run it again, with fewer processes if memory was short"
    )


class _Work:
    """An experiment on its way: the keys of its cells and the records that are there."""

    def __init__(self, experiment: Experiment, size: str, seed: int | None, engine: str):
        self.experiment, self.size, self.seed, self.engine = experiment, size, seed, engine
        # One that draws nothing need not know of seeds.
        cells = experiment.cells(size) if seed is None else experiment.cells(size, seed)
        self.versions = _versions(experiment, engine)
        self.keys = [
            {
                "experiment": experiment.name,
                "rows": ROWS,
                "cell": cell,
                "engine": engine,
                "versions": self.versions,
            }
            for cell in cells
        ]
        self.records: list[dict | None] = [None] * len(self.keys)

    def result(self) -> Result:
        records = [record for record in self.records if record is not None]  # all of them by now
        frame = pd.DataFrame([row for record in records for row in record["rows"]])
        if self.seed is not None:
            frame[GIVEN_SEED] = self.seed
        return Result(
            self.experiment,
            self.size,
            self.engine,
            frame,
            self.versions,
            sum(record["seconds"] for record in records),
            len(self.keys),
            self.seed,
        )


def _finished(work: list[_Work], waiting: set[int]) -> Iterator[Result]:
    for number in sorted(waiting):
        if all(record is not None for record in work[number].records):
            waiting.remove(number)
            yield work[number].result()


def _compute(cell: _Cell) -> dict:
    """Compute a cell and keep it at once.

    One BLAS thread: sums in another order differ in the last bit, and the result must not depend on
    how many processes share the machine.
    """
    began = time.perf_counter()
    with threadpool_limits(limits=1):
        rows = cell.experiment.compute(cell.key["cell"], cell.key["engine"])
    record = {"rows": rows, "seconds": time.perf_counter() - began}
    if cell.store is not None:
        cell.store.put(cell.key, record)
    return json.loads(json.dumps(record))


def _versions(experiment: Experiment, engine: str) -> dict[str, str]:
    """Versions of everything that has a part in the numbers."""
    from ..dof.results import package_versions

    versions = dict(package_versions())
    if experiment.r_packages and engine != "native":
        from .. import bridge

        if engine == "r" or all(map(bridge.is_available, experiment.r_packages)):
            versions |= bridge.r_versions()
    return versions
