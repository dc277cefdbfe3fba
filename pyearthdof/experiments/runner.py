"""Run the cells of experiments in one or several processes, store finished ones, and resume runs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from filelock import FileLock, Timeout
from threadpoolctl import threadpool_limits

from .._utils.checks import check_count
from .._utils.files import FileNotWrittenError, remove_partial_files, write_whole
from .._utils.progress import progress_bar
from ..dof.montecarlo.workers import WorkersDied, run_tasks
from ..exceptions import FittingError, FolderInUseError, InvalidInputError
from .base import GIVEN_SEED, LARGEST_SEED, Experiment

ROWS = 3  # version of a cell's rows; an increase invalidates stored cells


@dataclass(frozen=True)
class Result:
    """A finished experiment."""

    experiment: Experiment
    size: str
    engine: str
    frame: pd.DataFrame
    versions: dict[str, str]
    seconds: float  # total computing time of all cells, including stored ones
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
    """Yield each experiment once its last cell is available, in order of completion.

    The cells of all experiments share the processes, so that none waits for another to finish. Cells in
    the store are not computed again unless `fresh`. Stored and new records both pass through JSON, so a
    resumed run gives the same bytes as an uninterrupted one.
    """
    seed = None if seed is None else check_count("seed", seed, 0, LARGEST_SEED)
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
            names = sorted({cell.experiment.name for cell in error.tasks})
            raise FittingError(
                f"worker processes died again and again ({error}) in {', '.join(names)}; finished cells "
                "are kept, so run it again, with fewer processes if memory was short"
            ) from error


@dataclass(frozen=True)
class _Cell:
    """A cell to be sent to a worker."""

    experiment: Experiment
    key: dict
    store: CellStore | None
    number: int
    index: int


class _Work:
    """A running experiment: the keys of its cells and the available records."""

    def __init__(self, experiment: Experiment, size: str, seed: int | None, engine: str):
        self.experiment, self.size, self.seed, self.engine = experiment, size, seed, engine
        # Experiments without random numbers ignore seeds.
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
        records = [record for record in self.records if record is not None]  # complete by now
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
    """Compute a cell and store it at once.

    Uses one BLAS thread: the order of sums affects the last bit, and the result must not depend on the
    number of processes on the machine.
    """
    began = time.perf_counter()
    with threadpool_limits(limits=1):
        rows = cell.experiment.compute(cell.key["cell"], cell.key["engine"])
    record = {"rows": rows, "seconds": time.perf_counter() - began}
    if cell.store is not None:
        cell.store.put(cell.key, record)
    return json.loads(json.dumps(record))


def _versions(experiment: Experiment, engine: str) -> dict[str, str]:
    """Return the versions of all software that affects the numbers."""
    from ..dof.results import package_versions

    versions = dict(package_versions())
    if experiment.r_packages and engine != "native":
        from .. import bridge

        if engine == "r" or all(map(bridge.is_available, experiment.r_packages)):
            versions |= bridge.r_versions()
    return versions


class DamagedCellWarning(UserWarning):
    """A stored cell cannot be used and is computed again."""


class CellStore:
    """A folder of finished cells.

    A file name is a hash of the experiment, the cell's settings, the engine and the versions of all
    software that computed it, so that results of another version of earth are not found. A hash of the
    contents is stored with them and detects damaged files.
    """

    def __init__(self, folder: Path):
        self.folder = Path(folder)

    def file(self, key: dict) -> Path:
        """Return the file of the cell with this key."""
        text = json.dumps(key, sort_keys=True)
        return (
            self.folder
            / f"{key['experiment']}-{hashlib.sha256(text.encode()).hexdigest()[:20]}.json"
        )

    def get(self, key: dict) -> dict | None:
        """Return the record stored under the key, or None; warn if it is damaged."""
        file = self.file(key)
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            problem: str | None = f"cannot be read ({error})"
        else:
            problem = _problem(text, key)
            if problem is None:
                return json.loads(text)
        warnings.warn(
            f"the stored cell {str(file)!r} {problem} and is computed again",
            DamagedCellWarning,
            stacklevel=2,
        )
        return None

    def put(self, key: dict, record: dict) -> None:
        """Keep a record."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileNotWrittenError(
                f"the folder {str(self.folder)!r} cannot be created: {error.strerror or error}"
            ) from error
        whole = {"key": key, **record}
        write_whole(self.file(key), json.dumps({**whole, "digest": _digest(whole)}, indent=1))

    def forget(self, key: dict) -> None:
        """Remove the record if it exists."""
        try:
            self.file(key).unlink(missing_ok=True)
        except OSError as error:
            raise FileNotWrittenError(
                f"{str(self.file(key))!r} cannot be removed: {error.strerror or error}"
            ) from error


def _problem(text: str, key: dict) -> str | None:
    """Return the fault in the text of a stored cell; None if it is intact and matches the key."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return "is not whole" if text else "is empty"
    if not isinstance(record, dict) or not {"key", "rows", "seconds", "digest"} <= record.keys():
        return "is not a record of a cell"
    if record["key"] != json.loads(json.dumps(key)):
        return "contains a cell with other settings"
    if record.pop("digest") != _digest(record):
        return "was changed after it was written"
    return None


def _digest(record: dict) -> str:
    """Return a hash of a record's contents, unchanged by a round trip through JSON."""
    text = json.dumps(json.loads(json.dumps(record)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@contextlib.contextmanager
def locked(folder: Path):
    """Lock the folder and refuse a second run into it. The lock ends with the process in every case."""
    folder = Path(folder)
    # Beside the lock file, not in it: on Windows, other processes cannot read a locked file.
    owner = folder / ".owner"
    lock = FileLock(folder / ".lock")
    with _said(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise FolderInUseError(
                f"another run (process {_read(owner) or 'unknown'}) is writing into "
                f"{str(folder)!r}; wait for it, or pass another folder with --out"
            ) from None
    try:
        with _said(folder):
            owner.write_text(str(os.getpid()), encoding="utf-8")
        _remove_partial(folder)
        yield
    finally:
        _remove_partial(folder)
        with contextlib.suppress(OSError):  # a read-only folder; never read without the lock
            owner.unlink(missing_ok=True)
        lock.release()


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


@contextlib.contextmanager
def _said(folder: Path):
    """Convert the system's error to a message about the folder."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(
            f"the folder {str(folder)!r} cannot be written: {error.strerror or error}"
        ) from None


def _remove_partial(folder: Path) -> None:
    for place in (folder, folder / "cells"):
        remove_partial_files(place)
