"""Blocks of fits, and the workers that compute them: one core, many, or a cluster.

The blocks depend only on the size of the study, and the results are returned in order. With fixed blocks and
one BLAS thread the result is identical to the bit for any number of workers. A procedure is bound to each
design once: in the main process if it uses threads, otherwise in each worker.

joblib runs the workers, with these additions:

- If a worker process dies, joblib ends the whole call. Its tasks are submitted again; the run fails only if
  workers die twice without a finished task in between.
- If a worker dies while sending its result, the main process would wait indefinitely. A thread watches the
  workers and closes the pipe.
- Tasks for a dask cluster are sent by `cluster`, which rejects clusters with another version of the package.
- Workers ignore Ctrl-C, which a terminal also sends to them; the main process stops them. They exit if the
  main process is killed.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import multiprocessing.connection
import multiprocessing.resource_tracker
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib._parallel_backends import LokyBackend
from joblib.externals.loky.backend import resource_tracker
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from ..._utils.progress import progress_bar
from ..._utils.warnings import warn_user
from ..._utils.worker import attach_to
from ...contract import Bound, Fits, bind
from ...exceptions import (
    FittingError,
    InvalidInputError,
    RForkedError,
    RNotAvailableError,
)
from .cluster import Chunks, WorkersDied, run_on_cluster
from .designs import Designs
from .draws import Position, drawn_from, positions

_LOOK = 0.5  # seconds between two checks of the other processes
_PATIENCE = 5.0  # seconds for joblib itself to detect a dead worker


class WorkerDiedWarning(UserWarning):
    """A worker process died; another one repeats its tasks."""


class _Abandoned(BaseException):
    """Thrown into joblib's generator, because closing it would warn about remaining tasks."""


def run_tasks(
    function: Callable,
    tasks: Iterable,
    *,
    n_jobs: int | None = None,
    prefer: str | None = None,
    ordered: bool = True,
) -> Iterator[tuple]:
    """Yield (task, function(task)) for every task, running as many at once as there are workers.

    The function may run twice on the same task. The tasks are read lazily, a few ahead of the workers.
    `n_jobs` and `prefer` are joblib's; a backend chosen by `joblib.parallel_config` overrides `prefer`.
    Without `ordered`, the tasks are returned as they finish.
    """
    if _is_on_cluster():
        one_by_one = functools.partial(_each, function)
        alone = ((None, task) for task in tasks)
        try:
            for _, task, result in run_on_cluster(one_by_one, alone, chunks=Chunks(0, seconds=0)):
                yield task, result
        except WorkersDied as error:
            raise WorkersDied(str(error), [task for _, task in error.tasks]) from error
        return
    unseen = enumerate(tasks)
    pending: dict[int, object] = {}  # submitted, not yet returned
    failed = False

    def give_out(again: Iterable[tuple]) -> Iterator[tuple]:
        yield from again
        for number, task in unseen:
            pending[number] = task
            yield number, task

    while True:
        work = functools.partial(_work, function, os.getpid())
        jobs = (delayed(work)(number, task) for number, task in give_out(list(pending.items())))
        cause = None
        try:
            for number, result in _on_joblib(jobs, n_jobs, prefer, ordered):
                failed = False
                yield pending.pop(number), result
            pending.update(itertools.islice(unseen, 1))  # joblib must have reached the end
            if not pending:
                return
        except BrokenExecutor as error:
            cause = error
        if failed:
            raise WorkersDied("killed, or crashed", list(pending.values())) from cause
        failed = True
        warn_user("a worker process died; its work is done again", WorkerDiedWarning)


def _is_on_cluster() -> bool:
    """Return True if `joblib.parallel_config` has selected a dask cluster."""
    return hasattr(get_active_backend()[0], "client")


def _each(function: Callable[..., Any], _: None, tasks: list) -> list:
    return [function(task) for task in tasks]


def _work(function: Callable[..., Any], main: int, number: int, task: Any) -> tuple:
    attach_to(main)
    return number, function(task)


def _on_joblib(
    jobs: Iterable[Any], n_jobs: int | None, prefer: str | None, ordered: bool
) -> Iterator:
    return_as = "generator" if ordered else "generator_unordered"
    # No memory maps: tasks do not write to a disk that may be full. One task per batch, so that a dead
    # worker loses as little as possible.
    parallel = Parallel(
        n_jobs=n_jobs,
        prefer=prefer,
        return_as=return_as,
        max_nbytes=None,
        batch_size=1,
        **_at_start(),
    )
    if isinstance(parallel._backend, LokyBackend) and parallel.n_jobs != 1:
        # Helper processes of both, whose start unblocks Ctrl-C.
        resource_tracker.ensure_running()
        multiprocessing.resource_tracker.ensure_running()
    with _interrupt_later():
        results = parallel(jobs)
    try:
        with _watched(getattr(parallel._backend, "_workers", None)):
            # `yield from` would close joblib's generator, which warns.
            for result in results:  # noqa: UP028
                yield result
    finally:
        with contextlib.suppress(_Abandoned):
            results.throw(_Abandoned)


def _at_start() -> dict:
    """Settings of joblib that attach a process at its start, unless the user has an initializer."""
    chosen = getattr(get_active_backend()[0], "backend_kwargs", {})
    return {} if "initializer" in chosen else {"initializer": attach_to, "initargs": (os.getpid(),)}


@contextlib.contextmanager
def _interrupt_later() -> Iterator[None]:
    """Block Ctrl-C temporarily; processes and threads started meanwhile never receive it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _watched(executor: Any) -> Iterator[None]:
    """Watch the processes of a loky executor while waiting for results."""
    if not hasattr(executor, "_processes"):
        yield
        return
    over = threading.Event()
    watch = threading.Thread(target=_watch, args=(executor, over), daemon=True)
    watch.start()
    try:
        yield
    finally:
        over.set()


def _watch(executor: Any, over: threading.Event) -> None:
    dead_since = None
    while not over.wait(_LOOK):
        processes = list((executor._processes or {}).values())
        if not multiprocessing.connection.wait([p.sentinel for p in processes], timeout=0):
            dead_since = None
        elif dead_since is None:
            dead_since = time.monotonic()
        elif time.monotonic() - dead_since > _PATIENCE:
            _cut(executor, processes)
            return


def _cut(executor: Any, processes: Any) -> None:
    """Close the pipe of the results, so that its reader reaches the end of the file."""
    deadly = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows every signal terminates
    for process in processes:
        with contextlib.suppress(OSError):  # the process has already ended
            os.kill(process.pid, deadly)
    if executor._result_queue is not None:
        executor._result_queue._writer.close()


_MIN_BLOCKS = 16  # enough to keep eight workers evenly busy
_MAX_COLUMNS = 64
_MAX_VALUES = 1 << 20  # responses of a block, or of blocks fitted together: 8 MB
_LONG_ENOUGH = 0.5  # seconds of a call that fits blocks together while a bar is shown

# Errors that every other response would raise as well, not failures of one repetition.
_GENERAL = (InvalidInputError, RNotAvailableError, RForkedError)


def block_edges(n: int, n_rep: int, width: int = 1, least: int = _MIN_BLOCKS) -> list[int]:
    """Return the edges of the blocks of repetitions, whose sizes differ by at most one.

    `width` is the number of fitted vectors per repetition, `least` the minimum number of blocks, given
    enough repetitions.
    """
    wanted = max(least, -(-n_rep // _MAX_COLUMNS), -(-n * n_rep * width // _MAX_VALUES))
    n_blocks = min(n_rep, wanted)
    return [n_rep * k // n_blocks for k in range(n_blocks + 1)]


class Work(Protocol):
    """Task for each block of a procedure's fits."""

    @property
    def procedure(self) -> Any: ...

    def __call__(self, bound: Any, Y: np.ndarray, n_threads: int = 1) -> object: ...


@dataclass(frozen=True)
class FitMany:
    """Task for one block: `fit_many` with validation of its result."""

    procedure: object

    def __call__(self, bound: Bound, Y: np.ndarray, n_threads: int = 1) -> Fits:
        fits = bound.fit_many(Y, n_threads)
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
    """Responses of a design's repetitions, the results of their fits, the procedure and its versions.

    `result` is the output of the work, or its summary. `draw` returns the responses: cluster workers draw
    them, and this process draws them only on request.
    """

    design: int
    X: Any
    count: int
    draw: Callable[[], np.ndarray]
    result: Any
    engine: str | None
    versions: dict

    @property
    def Y(self) -> np.ndarray:
        return self.draw()


class Summary(Protocol):
    """Summary of a block, computed where it was fitted."""

    def __call__(
        self, design: int, X: Any, first: int, Y: np.ndarray, result: Any
    ) -> object: ...  # `first` is the first repetition of the design


def run_blocks(
    work: Work,
    designs: Designs,
    responses: Any,
    *,
    summary: Summary | None = None,
    width: int = 1,
    step: Any = None,
    sure: Callable[[], int] | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    description: str = "fits",
    note: Callable[[], str] | None = None,
) -> Generator[Block]:
    """Yield the blocks in order, each computed by `work(bound, Y, n_threads)`.

    With `step`, blocks end at multiples of so many repetitions of a design, where the run can stop;
    `sure()` returns the repetition before which it cannot, and the blocks before it may be joined. `note`
    returns the text after the bar. The blocks of a worker that died are computed again, with the same
    results.
    """
    studies = _studies(work, designs, repr(responses.draws), width, step)
    longest = _LONG_ENOUGH if progress else float("inf")
    if _is_on_cluster():
        blocks = _on_cluster(studies, responses, summary, sure, designs.n_rep)
    else:
        blocks = _here(studies, responses, summary, sure, n_jobs, longest)
    try:
        with one_blas_thread(), _bar(designs.n_rep, description, progress, note) as advance:
            for block in blocks:
                try:
                    yield block
                finally:  # also if the run ends here, so that the bar shows the last error
                    advance(block.count)
    except WorkersDied as error:
        raise _lost(error) from error
    finally:
        blocks.close()


def _here(
    studies: Iterator[tuple[_Study, list[int]]],
    responses: Any,
    summary: Summary | None,
    sure: Callable[[], int] | None,
    n_jobs: int | None,
    longest: float,
) -> Generator[Block]:
    """Yield the blocks from threads or worker processes; this process summarises them."""
    tasks = (
        _Task(study, study.first + start, Y)
        for study, edges in studies
        for start, Y in zip(edges, responses.blocks(edges), strict=False)
    )
    for task, (result, engine, versions) in _done(tasks, n_jobs, longest, sure):
        study, Y = task.study, task.Y
        if summary is not None:
            result = summary(study.design, study.X, task.start - study.first, Y, result)
        draw = functools.partial(np.asarray, Y)
        yield Block(study.design, study.X, Y.shape[1], draw, result, engine, versions)


def _done(
    tasks: Iterator[_Task], n_jobs: int | None, longest: float, sure: Callable[[], int] | None
) -> Iterator[tuple]:
    """Yield each task with its result, from the procedure's own threads or from workers."""
    first = next(tasks)
    tasks = itertools.chain([first], tasks)
    if _bound(first.study).has_threads:
        n_threads = effective_n_jobs(n_jobs)
        if isinstance(first.study.work, FitMany):
            for _, of_design in itertools.groupby(tasks, key=lambda task: task.study.design):
                yield from _do_together(of_design, n_threads, longest, sure)
        else:
            for task in tasks:
                yield task, _do_block(task, n_threads)
    else:
        yield from run_tasks(_do_block, tasks, n_jobs=n_jobs, prefer="processes")


def _on_cluster(
    studies: Iterator[tuple[_Study, list[int]]],
    responses: Any,
    summary: Summary | None,
    sure: Callable[[], int] | None,
    n_rep: int,
) -> Generator[Block]:
    """Yield the blocks from cluster workers, which draw the responses and compute the summaries."""
    done = run_on_cluster(
        _do_chunk,
        _places(studies, responses, summary),
        # A frame is drawn as a whole and therefore sent as a whole.
        chunks=Chunks(n_rep, least=getattr(responses, "frame", None) or 1),
        units=lambda place: place.count,
        sure=lambda place: sure is None or place.start + place.count <= sure(),
    )
    replay = None
    with contextlib.closing(done):
        try:
            for drawing, place, (result, engine, versions) in done:
                if replay is None or replay.drawing is not drawing:
                    replay = _Replay(drawing, place)
                study, draw = drawing.study, functools.partial(replay.block, place.number)
                yield Block(study.design, study.X, place.count, draw, result, engine, versions)
        except WorkersDied as error:
            tasks = [task for drawing, place in error.tasks for task in drawing.tasks([place])]
            raise WorkersDied(str(error), tasks) from error


def _places(
    studies: Iterator[tuple[_Study, list[int]]], responses: Any, summary: Summary | None
) -> Iterator[tuple[_Drawing, _Place]]:
    for study, edges in studies:
        counts = np.diff(edges).tolist()
        drawing = _Drawing(study, responses, summary, tuple(counts))
        starts = zip(positions(responses, edges), edges, counts, strict=False)
        for number, (position, start, count) in enumerate(starts):
            yield drawing, _Place(number, study.first + start, count, position)


@dataclass(frozen=True, eq=False)
class _Drawing:
    """Data that a cluster worker needs for all blocks of a design, including their sizes."""

    study: _Study
    responses: Any
    summary: Summary | None
    counts: tuple[int, ...]

    def tasks(self, places: Sequence[_Place]) -> Iterator[_Task]:
        """Consecutive blocks with their responses."""
        drawn = drawn_from(places[0].position, self.responses, [place.count for place in places])
        for place, Y in zip(places, drawn, strict=True):
            yield _Task(self.study, place.start, Y)


@dataclass(frozen=True)
class _Place:
    """A block sent to a cluster worker."""

    number: int  # index within the design
    start: int
    count: int
    position: Position


class _Replay:
    """The responses of a design's blocks, also drawn in this process on request, in order."""

    def __init__(self, drawing: _Drawing, first: _Place) -> None:
        self.drawing, self.number = drawing, -1
        self.blocks = drawn_from(first.position, drawing.responses, drawing.counts)

    def block(self, number: int) -> np.ndarray:
        while self.number < number:
            self.last = next(self.blocks)
            self.number += 1
        return self.last


def _do_chunk(drawing: _Drawing, places: list[_Place]) -> list[tuple]:
    with one_blas_thread():
        return [_summarised(drawing, task) for task in drawing.tasks(places)]


def _summarised(drawing: _Drawing, task: _Task) -> tuple:
    result, *rest = _do_block(task)
    if drawing.summary is not None:
        study = task.study
        first = task.start - study.first
        result = drawing.summary(study.design, study.X, first, task.Y, result)
    return result, *rest


def _do_together(
    tasks: Iterator[_Task], n_threads: int, longest: float, sure: Callable[[], int] | None
) -> Iterator[tuple]:
    """Fit blocks of one design in one call, as many as memory, `longest` (in seconds) and `sure` allow.

    Small calls leave threads idle and allocate memory repeatedly. Summaries are still computed block by
    block, so they do not depend on the speed of the machine.
    """
    most = 1.0 if longest < float("inf") else longest
    done, first = 0, next(tasks, None)
    while first is not None:
        room = _MAX_VALUES // len(first.Y)
        room = room if sure is None else min(room, sure() - done)
        group, taken = [first], first.Y.shape[1]
        while after := next(tasks, None):
            if len(group) >= most or taken + after.Y.shape[1] > room:
                break
            group.append(after)
            taken += after.Y.shape[1]
        began = time.perf_counter()
        Y = np.hstack([task.Y for task in group]) if len(group) > 1 else first.Y
        result, *rest = _do_block(replace(first, Y=Y), n_threads)
        most = longest / ((time.perf_counter() - began) / len(group))
        if sure is not None:
            yield replace(first, Y=Y), (result, *rest)
        else:
            stop = 0
            for task in group:
                start, stop = stop, stop + task.Y.shape[1]
                yield task, (_part(result, slice(start, stop)), *rest)
        done, first = done + taken, after


def _part(fits: Fits, columns: slice) -> Fits:
    """Return the results for some of the responses, the last axis of all arrays."""
    given = {f.name: getattr(fits, f.name) for f in fields(fits)}
    return replace(fits, **{k: v[..., columns] for k, v in given.items() if v is not None})


def _studies(
    work: Work, designs: Designs, source: str, width: int, step: Any
) -> Iterator[tuple[_Study, list[int]]]:
    """Yield the designs one at a time, with the edges of their blocks."""
    run, first = uuid.uuid4().hex, 0
    least = -(-_MIN_BLOCKS // len(designs))
    for k, (X, count) in enumerate(zip(designs, designs.counts, strict=True)):
        if step is None:
            edges = block_edges(designs.n, count, width, least)
        else:
            inner = block_edges(designs.n, step, width, 1)[:-1]
            starts = np.add.outer(np.arange(0, count, step), inner).ravel()
            edges = [*starts[starts < count].tolist(), count]
        yield _Study(work, X, k, first, designs.n_rep, source, run), edges
        first += count


@contextlib.contextmanager
def _bar(
    total: int, description: str, progress: bool, note: Callable[[], str] | None = None
) -> Iterator[Callable[[int], Any]]:
    """Show a bar if requested; yield a function that advances it.

    A hidden bar would create locks, about which terminated workers complain.
    """
    if not progress:
        yield lambda n: None
        return
    with progress_bar(total=total, desc=description, unit="fit") as bar:

        def advance(n: int) -> None:
            if note is not None:
                bar.set_postfix_str(note(), refresh=False)
            bar.update(n)

        yield advance


@dataclass(frozen=True, eq=False)
class _Study:
    """Common data of the blocks of a design; `first` is the number of its first repetition."""

    work: Work
    X: Any
    design: int
    first: int
    n_rep: int
    source: str
    run: str


@dataclass(frozen=True, eq=False)
class _Task:
    """A block sent to a worker with all of its data."""

    study: _Study
    start: int
    Y: np.ndarray


# The design fitted last by this process: its run, its number, and the bound procedure.
_last: tuple[str, int, Bound] | None = None


def _bound(study: _Study) -> Bound:
    global _last
    last = _last  # other threads may change it
    if last is None or last[:2] != (study.run, study.design):
        last = _last = (study.run, study.design, bind(study.work.procedure, study.X))
    return last[2]


def _do_block(task: _Task, n_threads: int = 1) -> tuple:
    with one_blas_thread():
        try:
            bound = _bound(task.study)
            return task.study.work(bound, task.Y, n_threads), bound.engine, bound.versions
        except _GENERAL:
            raise
        except Exception as error:
            raise _failure(task, error) from error


def _failure(task: _Task, error: Exception) -> FittingError:
    """Find the repetition that failed by fitting the block's columns one by one."""
    study, start, Y = task.study, task.start, task.Y
    for j in range(Y.shape[1]):
        try:
            study.work(_bound(study), Y[:, j : j + 1])
        except Exception as single:
            where = f"repetition {start + j} of {study.n_rep} (counted from 0)"
            return _fitting_error(where, single, study, start + j, Y[:, j].copy())
    where = f"repetitions {start} to {start + Y.shape[1] - 1} of {study.n_rep} (counted from 0), together,"
    return _fitting_error(where, error, study, start, Y.copy())


def _fitting_error(
    where: str, error: Exception, study: _Study, repetition: int, y: np.ndarray
) -> FittingError:
    message = (
        f"{where} failed with {type(error).__name__}: {error} [random numbers: {study.source}; the "
        "response and its design are the attributes y and X of this error]"
    )
    return FittingError(message, repetition=repetition, draws=study.source, X=study.X, y=y)


def _lost(error: WorkersDied) -> FittingError:
    """Return the error for dead workers, with the possible repetitions."""
    first, last = error.tasks[0], error.tasks[-1]
    end = last.start + last.Y.shape[1] - 1
    message = (
        f"worker processes died again and again ({error}) at one of the repetitions {first.start} to "
        f"{end} of {first.study.n_rep} (counted from 0); pass a smaller n_jobs if memory was short, or "
        "n_jobs=1 to see whether the procedure itself crashes [random numbers: "
        f"{first.study.source}; the responses are the attribute y of this error, the design of the first "
        "one is X]"
    )
    y = np.hstack([task.Y for task in error.tasks])
    return FittingError(
        message, repetition=first.start, draws=first.study.source, X=first.study.X, y=y
    )


def check_result_shape(what: str, values: np.ndarray, shape: tuple[int, ...]) -> None:
    """Reject results of a procedure with a wrong shape."""
    if np.shape(values) != tuple(shape):
        raise ValueError(f"the {what} have shape {np.shape(values)} instead of {tuple(shape)}")


def check_finite(fitted: np.ndarray) -> None:
    """Reject fitted values that are not finite."""
    if not np.isfinite(fitted).all():
        bad = fitted[~np.isfinite(fitted)][0]
        raise ValueError(f"the fitted values contain {bad}")


_limit_lock = threading.Lock()
_limit_users = 0
_limit: Any = None


@functools.lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Return the BLAS libraries of the process, cached until the next import because the search is slow."""
    return ThreadpoolController()


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while any caller is inside; callers are counted, as the limit is per process.

    The bits of a sum depend on the number of threads, so reductions are inside as well.
    """
    global _limit_users, _limit
    with _limit_lock:
        if _limit_users == 0:
            _limit = _libraries(len(sys.modules)).limit(limits=1)
        _limit_users += 1
    try:
        yield
    finally:
        with _limit_lock:
            _limit_users -= 1
            if _limit_users == 0:
                _limit.restore_original_limits()
