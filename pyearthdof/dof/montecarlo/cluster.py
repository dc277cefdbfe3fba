"""Work on a dask cluster: chunks of tasks of about equal time, assigned to any available worker.

joblib's backend sends every task with all of its data, fixes the number of workers at the start, and waits
indefinitely for tasks that kill them. The client of `joblib.parallel_config("dask")` is therefore used
directly:

- Common data of tasks are sent to the scheduler once. Workers, including later ones, get them from there
  or from one another. They are the result of a separate task, which is repeated if all their workers are
  lost.
- A chunk contains as many tasks as take `Chunks.seconds`, by previous timings, and fewer near the end.
- Results are returned in the order of the tasks. Later tasks continue while the first is awaited.
"""

from __future__ import annotations

import contextlib
import pickle
import queue
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Generic, TypeVar

from joblib.parallel import get_active_backend

from ..._version import __version__
from ...exceptions import ClusterError

_LOOK = 1.0  # seconds between two checks of the workers
_NO_WORKERS = 60.0  # permitted seconds without any worker
_AHEAD = 2  # unfinished chunks of a worker
_READY = 8  # chunks of a worker, including finished ones that wait for their turn

Common = TypeVar("Common")
Task = TypeVar("Task")


class WorkersDied(Exception):
    """Workers died repeatedly; one of `tasks` is the cause.

    Tasks of a cluster come with their common data.
    """

    def __init__(self, reason: str, tasks: list) -> None:
        super().__init__(reason)
        self.tasks = tasks


class Chunks:
    """Sizes of chunks: `seconds` of work by a moving average of the time of a unit; 0 is one task each.

    Units are repetitions or tasks. Chunks have at least `least` units unless fewer remain.
    """

    def __init__(self, total: int, seconds: float = 10.0, least: int = 1) -> None:
        self.left, self.seconds, self.least = total, seconds, least
        self.each: float | None = None  # seconds per unit

    def size(self, n_workers: int) -> int:
        """Return the units of the next chunk, at most half of a worker's even share of the rest."""
        if self.each is None or self.seconds == 0:
            return self.least
        wanted = self.seconds / max(self.each, 1e-9)
        return max(self.least, int(min(wanted, self.left / (_AHEAD * max(n_workers, 1)))))

    def hand_out(self, units: int) -> None:
        """Record units in flight."""
        self.left -= units

    def learn(self, units: int, seconds: float) -> None:
        """Record the time of units."""
        now = seconds / units
        self.each = now if self.each is None else 0.7 * self.each + 0.3 * now


class _Chunk(Generic[Common, Task]):
    """Tasks in flight, and the future of their results."""

    def __init__(self, common: Common, tasks: list[Task], units: int) -> None:
        self.common, self.tasks, self.units = common, tasks, units
        self.future: Any = None

    @property
    def pairs(self) -> list[tuple[Common, Task]]:
        return [(self.common, task) for task in self.tasks]


class _Source(Generic[Common, Task]):
    """Chunks of a run, created on demand."""

    def __init__(
        self,
        tasks: Iterable[tuple[Common, Task]],
        units: Callable[[Task], int],
        chunks: Chunks,
        sure: Callable[[Task], bool],
    ) -> None:
        self.tasks = iter(tasks)
        self.units, self.chunks, self.sure = units, chunks, sure
        self.ahead: tuple[Common, Task] | None = None

    def next(self, n_workers: int) -> _Chunk[Common, Task] | None:
        """Return tasks with the same common data; tasks that may not be needed are sent singly."""
        first = self.ahead or next(self.tasks, None)
        self.ahead = None
        if first is None:
            return None
        common, task = first
        chunk, size = _Chunk(common, [task], self.units(task)), self.chunks.size(n_workers)
        for other, task in self.tasks:
            units = self.units(task)
            if other is not common or chunk.units + units > size or not self.sure(task):
                self.ahead = other, task
                break
            chunk.tasks.append(task)
            chunk.units += units
        self.chunks.hand_out(chunk.units)
        return chunk


def run_on_cluster(
    function: Callable[[Any, list], list],
    tasks: Iterable[tuple[Common, Task]],
    *,
    chunks: Chunks,
    units: Callable[[Task], int] = lambda task: 1,
    sure: Callable[[Task], bool] = lambda task: True,
) -> Generator[tuple[Common, Task, Any]]:
    """Yield (common, task, result) in the order of the tasks.

    `function(common, tasks)` returns a list with a result for each task and may run twice on the same
    tasks. The pairs in `tasks` are read lazily; consecutive ones may share the same object `common`, which
    is sent once. `units` are the units of work of a task; `sure` returns True if it is needed regardless of
    earlier results.
    """
    backend = get_active_backend()[0]
    client = backend.client
    with _connected(client):
        _check_versions(client)
    source = _Source(tasks, units, chunks, sure)
    out: deque[_Chunk] = deque()
    done: queue.SimpleQueue = queue.SimpleQueue()  # any finished chunk
    workers = _Workers(backend)
    shared, all_out = None, False
    try:
        with backend.retrieval_context():
            while True:
                n = workers.count()
                unfinished = sum(not chunk.future.done() for chunk in out)
                while not all_out and unfinished < _AHEAD * n and len(out) < _READY * n:
                    chunk = source.next(n)
                    if chunk is None:
                        all_out = True
                        break
                    if shared is None or shared[0] is not chunk.common:
                        shared = chunk.common, _shared(client, chunk.common)
                    chunk.future = client.submit(
                        _timed, _Sent(function), shared[1], _Sent(chunk.tasks), pure=False
                    )
                    chunk.future.add_done_callback(done.put)
                    unfinished += 1
                    out.append(chunk)
                if not out:
                    return
                if not out[0].future.done():
                    _wait(done, client, out)
                    continue
                seconds, results = _result(client, out[0])
                chunk = out.popleft()
                chunks.learn(chunk.units, seconds)
                for task, result in zip(chunk.tasks, results, strict=True):
                    yield chunk.common, task, result
    finally:
        if out:
            client.cancel([chunk.future for chunk in out])


class _Sent:
    """Object sent in one piece.

    dask sends array buffers separately, and they can arrive at an unaligned address, where numpy sums in
    another order.
    """

    def __init__(self, content: Any) -> None:
        self.content = content

    def __reduce__(self) -> tuple:
        import cloudpickle

        return _received, (cloudpickle.dumps(self.content, protocol=4),)


def _received(content: bytes) -> _Sent:
    return _Sent(pickle.loads(content))  # noqa: S301 dask pickles all that it sends


def _timed(function: _Sent, common: _Sent, tasks: _Sent) -> tuple[float, _Sent]:
    began = time.perf_counter()
    results = function.content(common.content, tasks.content)
    return time.perf_counter() - began, _Sent(results)


def _itself(common: _Sent) -> _Sent:
    return common


def _shared(client: Any, common: Any) -> Any:
    """Return a future of the common data of tasks."""
    import dask

    # The data are sent once, so dask's warning about large graphs does not apply.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        return client.submit(_itself, _Sent(common), pure=False)


class _Workers:
    """Number of threads of all workers, updated regularly because workers can join later."""

    def __init__(self, backend: Any) -> None:
        self.backend, self.known, self.looked = backend, 0, -_LOOK

    def count(self) -> int:
        if time.monotonic() - self.looked >= _LOOK:
            with _connected(self.backend.client):
                self.known = max(1, sum(self.backend.client.ncores().values()))
            self.looked = time.monotonic()
        return self.known


def _wait(done: queue.SimpleQueue, client: Any, out: Iterable[_Chunk]) -> None:
    """Wait until a chunk is done, or briefly, because workers may have joined.

    Raises an error if there are no workers.
    """
    began = time.monotonic()
    while True:
        with contextlib.suppress(queue.Empty):
            done.get(timeout=_LOOK)
            return
        with _connected(client):
            if client.ncores():
                return
        if time.monotonic() - began > _NO_WORKERS:
            raise WorkersDied("the cluster has no worker left", [t for c in out for t in c.pairs])


def _result(client: Any, chunk: _Chunk) -> tuple[float, list]:
    from distributed import CancelledError, KilledWorker

    with _connected(client):
        try:
            seconds, results = chunk.future.result()
            return seconds, results.content
        except (KilledWorker, CancelledError) as error:
            if getattr(error, "reason", None) == "scheduler-connection-lost":
                raise _lost_scheduler(client) from error
            raise WorkersDied("killed, or crashed", chunk.pairs) from error
        except Exception:
            _check_versions(client)  # workers may have joined later
            raise


@contextlib.contextmanager
def _connected(client: Any) -> Iterator[None]:
    """Raise an error that names the scheduler if its connection was lost."""
    if client.status != "running":
        raise _lost_scheduler(client)
    try:
        yield
    except Exception as error:
        if client.status != "running":
            raise _lost_scheduler(client) from error
        raise


def _lost_scheduler(client: Any) -> ClusterError:
    return ClusterError(
        f"the connection to the dask scheduler at {client.scheduler.address} was lost; connect a new "
        "dask.distributed.Client to a running scheduler and run it again"
    )


def _check_versions(client: Any) -> None:
    """Reject a cluster with other versions of the package, which could not load its tasks."""

    def version() -> str:  # a nested function is pickled by value, without this module
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
        ):  # unless it was just lost
            raise ClusterError(
                f"the dask {part} {answer}; install pyearthdof {__version__}, the version of this "
                "session, on every machine of the cluster"
            )
