"""Runs the fits of a Monte Carlo study in blocks, on one core, many, or a cluster.

The blocks depend on the size of the study alone, a worker takes whole blocks, and the results come
back in order. A product with one column and with many differ in the last bit, and so do threaded
and plain sums; with fixed blocks and one BLAS thread the result is the same for any number of
workers.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from .._workers import WorkersDied, run_tasks
from ..exceptions import FittingError, InvalidInputError, RForkedError, RNotAvailableError
from ..procedures.base import Fits
from .adapters import engine_of

__all__ = [
    "Block",
    "FitMany",
    "block_edges",
    "check_finite",
    "check_result_shape",
    "run_blocks",
]

_MIN_BLOCKS = 16  # enough to keep eight workers evenly busy
_MAX_COLUMNS = 64
_MAX_VALUES = 1 << 20  # responses of a block: 8 MB
_PIECE = 0.25  # seconds


class _RunStopped(Exception):
    """Nobody waits for this block any more."""


# What no other response would change is not a failure of one repetition.
_GENERAL = (InvalidInputError, RNotAvailableError, RForkedError, _RunStopped)


def block_edges(n: int, n_rep: int, width: int = 1, least: int = _MIN_BLOCKS) -> list[int]:
    """Where the blocks of repetitions begin and end; all have the same size, or one less.

    `width` is the number of fitted vectors that one repetition gives, `least` the least number of
    blocks, if there are repetitions enough.

    Examples
    --------
    >>> from pyearthdof.dof.montecarlo import block_edges
    >>> block_edges(100, 20)[:5]
    [0, 1, 2, 3, 5]
    """
    wanted = max(least, -(-n_rep // _MAX_COLUMNS), -(-n * n_rep * width // _MAX_VALUES))
    n_blocks = min(n_rep, wanted)
    return [n_rep * k // n_blocks for k in range(n_blocks + 1)]


@dataclass(frozen=True)
class FitMany:
    """The work on one block: `procedure.fit_many`, and a look at what it returned."""

    procedure: object

    def __call__(self, X, Y) -> Fits:
        fits = self.procedure.fit_many(X, Y)
        check_result_shape("fitted values", fits.fitted, Y.shape)
        if fits.refitted is not None:
            check_result_shape("refitted values", fits.refitted, Y.shape)
        for name in ("trace", "n_coef", "rank"):
            if getattr(fits, name) is not None:
                check_result_shape(name, getattr(fits, name), Y.shape[1:])
        check_finite(fits.fitted)
        return fits


@dataclass(frozen=True)
class Block:
    """Responses of a design's repetitions, what was fitted to them, and R's versions."""

    design: int
    X: object
    Y: np.ndarray
    result: object
    versions: dict


def run_blocks(
    work, designs, responses, *, width=1, n_jobs=None, progress=False, description="fits"
) -> Iterator[Block]:
    """Yield the blocks in order. `work(X, Y)` does one; its `procedure` says how it may run.

    The blocks of a worker that died are computed again, and come out the same.
    """
    prefer = "threads" if engine_of(work.procedure) == "native" else "processes"
    run = uuid.uuid4().hex
    tasks = _tasks(work, designs, responses, width, run)
    try:
        with _one_blas_thread(), _bar(designs.n_rep, description, progress) as advance:
            for task, (result, versions) in run_tasks(
                _do_block, tasks, n_jobs=n_jobs, prefer=prefer
            ):
                yield Block(task.design, task.X, task.Y, result, versions)
                advance(task.Y.shape[1])
    except WorkersDied as error:
        raise _lost(error) from error
    except BaseException:
        _stopped.add(run)
        raise


def _tasks(work, designs, responses, width, run) -> Iterator[_Task]:
    """The blocks of all designs, one design after the other."""
    source, first = repr(responses.draws), 0
    least = -(-_MIN_BLOCKS // len(designs))
    for k, (X, count) in enumerate(zip(designs, designs.counts, strict=True)):
        edges = block_edges(designs.n, count, width, least)
        for start, Y in zip(edges, responses.blocks(edges), strict=False):
            yield _Task(work, X, Y, k, first + start, designs.n_rep, source, run)
        first += count


@contextlib.contextmanager
def _bar(total: int, description: str, progress: bool):
    """Show a bar if wanted; yield a function that moves it on.

    A hidden bar would do, but it makes locks, and a worker that is ended with locks complains.
    """
    if not progress:
        yield lambda n: None
        return
    with tqdm(total=total, desc=description, unit="fit") as bar:
        yield bar.update


@dataclass(frozen=True)
class _Task:
    """A block on its way to a worker, all that it needs in one object."""

    work: object
    X: object
    Y: np.ndarray
    design: int
    start: int
    n_rep: int
    source: str
    run: str


# Runs that were given up. A thread cannot be ended from outside, so it looks here between two pieces.
_stopped: set[str] = set()


def _do_block(task: _Task):
    work = task.work
    with _one_blas_thread():
        try:
            native = engine_of(work.procedure) == "native"
            result = _in_pieces(task) if native else work(task.X, task.Y)
            return result, _r_versions(work.procedure)
        except _GENERAL:
            raise
        except Exception as error:
            raise _failure(task, error) from error


def _in_pieces(task: _Task):
    """Do a block in pieces of about _PIECE seconds: compiled code does not see Ctrl-C.

    For the native engine only, whose columns have nothing to do with each other. A piece has two
    columns at least, because the memory order of a single one is not defined, and sums depend on it.
    """
    m = task.Y.shape[1]
    pieces = []
    start, size = 0, 2
    while start < m:
        if task.run in _stopped:
            raise _RunStopped
        stop = m if m - start - size < 2 else start + size
        began = time.perf_counter()
        pieces.append(task.work(task.X, np.ascontiguousarray(task.Y[:, start:stop])))
        each = (time.perf_counter() - began) / (stop - start)
        start, size = stop, max(2, min(4 * size, int(_PIECE / max(each, 1e-9))))
    return pieces[0] if len(pieces) == 1 else _joined(pieces)


def _joined(pieces):
    """One result of many: the last axis of every array counts the repetitions."""
    first = pieces[0]
    names = first._fields if isinstance(first, tuple) else [f.name for f in fields(first)]
    parts = {name: [getattr(piece, name) for piece in pieces] for name in names}
    return type(first)(
        **{
            name: None if values[0] is None else np.concatenate(values, axis=-1)
            for name, values in parts.items()
        }
    )


def _failure(task: _Task, error) -> FittingError:
    """Find the repetition that failed by fitting the block's columns one by one."""
    start, Y = task.start, task.Y
    for j in range(Y.shape[1]):
        try:
            task.work(task.X, Y[:, j : j + 1])
        except Exception as single:
            where = f"repetition {start + j} of {task.n_rep} (counted from 0)"
            return _fitting_error(where, single, task, start + j, Y[:, j].copy())
    where = f"repetitions {start} to {start + Y.shape[1] - 1} of {task.n_rep} (counted from 0), together,"
    return _fitting_error(where, error, task, start, Y.copy())


def _fitting_error(where, error, task, repetition, y) -> FittingError:
    message = (
        f"{where} failed with {type(error).__name__}: {error} [random numbers: {task.source}; the "
        "response and its design are the attributes y and X of this error]"
    )
    return _with_replay(FittingError(message), repetition, task, y)


def _lost(error: WorkersDied) -> FittingError:
    """Say that workers died, and at which repetitions it may have been."""
    first, last = error.tasks[0], error.tasks[-1]
    end = last.start + last.Y.shape[1] - 1
    message = (
        f"worker processes died again and again ({error}) at one of the repetitions {first.start} to "
        f"{end} of {first.n_rep} (counted from 0); pass a smaller n_jobs if memory was short, or "
        "n_jobs=1 to see whether the procedure itself crashes [random numbers: "
        f"{first.source}; the responses are the attribute y of this error, the design of the first "
        "one is X]"
    )
    y = np.hstack([task.Y for task in error.tasks])
    return _with_replay(FittingError(message), first.start, first, y)


def _with_replay(failure: FittingError, repetition: int, task: _Task, y) -> FittingError:
    failure.repetition, failure.draws, failure.X, failure.y = repetition, task.source, task.X, y
    return failure


def _r_versions(procedure) -> dict:
    if engine_of(procedure) != "r":
        return {}
    from ..bridge.session import r_versions

    return r_versions()


def check_result_shape(what: str, values, shape) -> None:
    if np.shape(values) != tuple(shape):
        raise ValueError(f"the {what} have shape {np.shape(values)} instead of {tuple(shape)}")


def check_finite(fitted) -> None:
    if not np.isfinite(fitted).all():
        bad = fitted[~np.isfinite(fitted)][0]
        raise ValueError(f"the fitted values contain {bad}")


_limit_lock = threading.Lock()
_limit_users = 0
_limit = None


@contextlib.contextmanager
def _one_blas_thread():
    """One BLAS thread while anybody is inside; the limit is the process's, so they are counted."""
    global _limit_users, _limit
    with _limit_lock:
        if _limit_users == 0:
            _limit = threadpool_limits(limits=1)
        _limit_users += 1
    try:
        yield
    finally:
        with _limit_lock:
            _limit_users -= 1
            if _limit_users == 0:
                _limit.restore_original_limits()
