"""Tasks for several workers: a worker may die, and Ctrl-C stops them all.

joblib does the work. What it leaves open, and what is done about it here:

- A worker process that dies ends the whole call. Here its tasks are given out again; it is an error only
  when workers die twice and nothing was finished in between.
- A worker that dies while it sends its result leaves the main process waiting for the rest of it, for
  ever. A thread looks after the workers and cuts the pipe.
- On a dask cluster, a task that killed every worker that took it is never reported. So the cluster's
  client is asked directly; dask itself gives the tasks of a dead worker to another one. A cluster
  without this version of the package is refused before it gets a task.
- Ctrl-C reaches the worker processes of a terminal too, each of which would print a traceback, or stop in
  the middle of a result. They do not listen; the main process ends them.
- Workers outlive a main process that was killed, also when they have not begun to work yet. They watch it
  from their start and end themselves.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import multiprocessing.connection
import multiprocessing.resource_tracker
import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor

from joblib import Parallel, delayed
from joblib._parallel_backends import LokyBackend
from joblib.externals.loky.backend import resource_tracker
from joblib.parallel import get_active_backend

from ..._utils.worker import attach_to
from ..._version import __version__
from ...exceptions import ClusterError

__all__ = ["WorkerDiedWarning", "WorkersDied", "is_on_cluster", "run_tasks"]

_LOOK = 0.5  # seconds between two looks at the other processes
_PATIENCE = 5.0  # seconds that joblib has to notice a dead worker by itself
_NO_WORKERS = 60.0  # seconds that a cluster may be without any worker


class WorkersDied(Exception):
    """Workers died again and again; `tasks` are those among which the cause is."""

    def __init__(self, reason: str, tasks: list):
        super().__init__(reason)
        self.tasks = tasks


class WorkerDiedWarning(UserWarning):
    """A worker process died; its tasks are given to another one."""


class _Abandoned(BaseException):
    """Thrown into joblib's generator: to close it would warn about what is left."""


def is_on_cluster() -> bool:
    """Whether `joblib.parallel_config` has chosen a dask cluster."""
    return hasattr(get_active_backend()[0], "client")


def run_tasks(
    function: Callable,
    tasks: Iterable,
    *,
    n_jobs: int | None = None,
    prefer: str | None = None,
    ordered: bool = True,
) -> Iterator[tuple]:
    """Yield (task, function(task)) for every task, as many at a time as there are workers.

    Parameters
    ----------
    function : callable
        Called with one task; it may run twice on the same one.
    tasks : iterable
        Looked at lazily, a few tasks ahead of the workers.
    n_jobs, prefer
        As in `joblib.Parallel`; a backend chosen by `joblib.parallel_config` goes before `prefer`.
    ordered : bool
        Yield in the order of the tasks instead of the order in which they are finished.

    Examples
    --------
    >>> from pyearthdof.dof.montecarlo.workers import run_tasks
    >>> list(run_tasks(abs, [-1, 2]))
    [(-1, 1), (2, 2)]
    """
    if is_on_cluster():
        yield from _on_dask(get_active_backend()[0], function, tasks)
        return
    unseen = enumerate(tasks)
    pending: dict[int, object] = {}  # given out, not yet back
    failed = False

    def give_out(again):
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
            pending.update(itertools.islice(unseen, 1))  # joblib must have come to the end
            if not pending:
                return
        except BrokenExecutor as error:
            cause = error
        if failed:
            raise WorkersDied("killed, or crashed", list(pending.values())) from cause
        failed = True
        warnings.warn(
            "a worker process died; its work is done again", WorkerDiedWarning, stacklevel=3
        )


def _work(function, main: int, number: int, task):
    attach_to(main)
    return number, function(task)


def _on_joblib(jobs, n_jobs, prefer, ordered) -> Iterator:
    return_as = "generator" if ordered else "generator_unordered"
    # No memory maps: a task writes nothing to a disk that may be full. One task a
    # batch: what is lost with a worker is as little as possible.
    parallel = Parallel(
        n_jobs=n_jobs,
        prefer=prefer,
        return_as=return_as,
        max_nbytes=None,
        batch_size=1,
        **_at_start(),
    )
    if isinstance(parallel._backend, LokyBackend) and parallel.n_jobs != 1:
        # Helper processes of both, at whose start Ctrl-C is let through again.
        resource_tracker.ensure_running()
        multiprocessing.resource_tracker.ensure_running()
    with _interrupt_later():
        results = parallel(jobs)
    try:
        with _watched(getattr(parallel._backend, "_workers", None)):
            # `yield from` would close joblib's generator, and that warns.
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
def _interrupt_later():
    """Hold Ctrl-C back for a moment; processes and threads started meanwhile never get it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _watched(executor):
    """Look after the processes of a loky executor while its results are awaited."""
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


def _watch(executor, over: threading.Event) -> None:
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


def _cut(executor, processes) -> None:
    """Let the reader of the results find the end of the file: nobody can write any more."""
    deadly = getattr(signal, "SIGKILL", signal.SIGTERM)  # on Windows every signal is deadly
    for process in processes:
        with contextlib.suppress(OSError):  # it is dead already
            os.kill(process.pid, deadly)
    if executor._result_queue is not None:
        executor._result_queue._writer.close()


def _on_dask(backend, function, tasks) -> Iterator[tuple]:
    client = backend.client
    out: deque = deque()

    def first():
        task, future = out[0]
        pair = task, _result(client, future, [task for task, _ in out])
        out.popleft()
        return pair

    with _connected(client):
        _check_versions(client)
        at_once = 2 * max(1, backend.effective_n_jobs(-1))
    try:
        with backend.retrieval_context():
            for task in tasks:
                out.append((task, client.submit(function, task, pure=False)))
                if len(out) == at_once:
                    yield first()
            while out:
                yield first()
    finally:
        if out:
            client.cancel([future for _, future in out])


def _result(client, future, tasks: list):
    from distributed import CancelledError, KilledWorker

    without_workers = 0.0
    while True:
        with _connected(client):
            try:
                return future.result(timeout=_NO_WORKERS / 6)
            except (KilledWorker, CancelledError) as error:
                if getattr(error, "reason", None) == "scheduler-connection-lost":
                    raise _lost_scheduler(client) from error
                raise WorkersDied("killed, or crashed", tasks[:1]) from error
            except TimeoutError:
                if future.done():
                    raise
            except Exception:
                _check_versions(client)  # one may have come later
                raise
            without_workers = 0.0 if client.ncores() else without_workers + _NO_WORKERS / 6
        if without_workers > _NO_WORKERS:
            raise WorkersDied("the cluster has no worker left", tasks)


@contextlib.contextmanager
def _connected(client):
    """Name the scheduler where an error is due to its loss."""
    if client.status != "running":
        raise _lost_scheduler(client)
    try:
        yield
    except Exception as error:
        if client.status != "running":
            raise _lost_scheduler(client) from error
        raise


def _lost_scheduler(client) -> ClusterError:
    return ClusterError(
        f"the connection to the dask scheduler at {client.scheduler.address} was lost; connect a new "
        "dask.distributed.Client to a running scheduler and run it again"
    )


def _check_versions(client) -> None:
    """Refuse a cluster of which a part has not this version of the package: it fails at what it is sent."""

    def version():  # a nested function travels by value: this module need not be there
        try:
            import pyearthdof
        except ImportError as error:
            return f"cannot import pyearthdof ({error})"
        return f"has pyearthdof {pyearthdof.__version__}"

    parts = {f"scheduler at {client.scheduler.address}": client.run_on_scheduler(version)}
    answers = client.run(version, on_error="return")
    parts |= {f"worker {address}": answer for address, answer in answers.items()}
    for part, answer in parts.items():
        if answer != f"has pyearthdof {__version__}" and isinstance(
            answer, str
        ):  # it has not just been lost
            raise ClusterError(
                f"the dask {part} {answer}; install pyearthdof {__version__}, the version of this "
                "session, on every machine of the cluster"
            )
