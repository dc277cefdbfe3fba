"""Runs the fits of a Monte Carlo study in blocks, on one core, many, or a cluster.

The blocks depend on the size of the study alone, a worker takes whole blocks, and the results come
back in order. A product with one column and with many differ in the last bit, and so do threaded
and plain sums; with fixed blocks and one BLAS thread the result is the same for any number of
workers.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

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

# What no other response would change is not a failure of one repetition.
_GENERAL = (InvalidInputError, RNotAvailableError, RForkedError)


def block_edges(n: int, n_rep: int, width: int = 1) -> list[int]:
    """Where the blocks of repetitions begin and end; all have the same size, or one less.

    `width` is the number of fitted vectors that one repetition gives.

    Examples
    --------
    >>> from pyearthdof.dof.montecarlo import block_edges
    >>> block_edges(100, 20)[:5]
    [0, 1, 2, 3, 5]
    """
    wanted = max(_MIN_BLOCKS, -(-n_rep // _MAX_COLUMNS), -(-n * n_rep * width // _MAX_VALUES))
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
    """Responses of the repetitions from `start` on, what was fitted to them, and R's versions."""

    start: int
    Y: np.ndarray
    result: object
    versions: dict


def run_blocks(
    work, X, responses, edges, *, n_jobs=None, progress=False, description="fits"
) -> Iterator[Block]:
    """Yield the blocks in order. `work(X, Y)` does one; its `procedure` says how it may run."""
    waiting: dict[int, np.ndarray] = {}
    source = repr(responses.draws)
    prefer = "threads" if engine_of(work.procedure) == "native" else "processes"

    def tasks():
        for start, Y in zip(edges, responses.blocks(edges), strict=False):
            waiting[start] = Y
            # One tuple: dask scatters bare arrays, and they are lost with the worker that has them.
            yield delayed(_do_block)((work, X, Y, start, edges[-1], source))

    # No memory maps: they are read-only, which compiled kernels take for another type.
    parallel = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator", max_nbytes=None)
    with _one_blas_thread(), _bar(edges[-1], description, progress) as bar:
        results = parallel(tasks())
        for start, (result, versions) in zip(edges, results, strict=False):
            Y = waiting.pop(start)
            yield Block(start, Y, result, versions)
            bar.update(Y.shape[1])


def _bar(total: int, description: str, progress: bool) -> tqdm:
    return tqdm(total=total, desc=description, unit="fit", disable=not progress)


def _do_block(task):
    work, X, Y, start, n_rep, source = task
    with _one_blas_thread():
        try:
            return work(X, Y), _r_versions(work.procedure)
        except _GENERAL:
            raise
        except Exception as error:
            raise _failure(work, X, Y, start, n_rep, source, error) from error


def _failure(work, X, Y, start, n_rep, source, error) -> FittingError:
    """Find the repetition that failed by fitting the block's columns one by one."""
    for j in range(Y.shape[1]):
        try:
            work(X, Y[:, j : j + 1])
        except Exception as single:
            where = f"repetition {start + j} of {n_rep} (counted from 0)"
            return _fitting_error(where, single, source, start + j, Y[:, j].copy())
    where = (
        f"repetitions {start} to {start + Y.shape[1] - 1} of {n_rep} (counted from 0), together,"
    )
    return _fitting_error(where, error, source, start, Y.copy())


def _fitting_error(where, error, source, repetition, y) -> FittingError:
    failure = FittingError(
        f"{where} failed with {type(error).__name__}: {error} [random numbers: {source}; the "
        "response is the attribute y of this error]"
    )
    failure.repetition = repetition
    failure.draws = source
    failure.y = y
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
