"""The decorators of our compiled loops: cached on disk where a cache can be written, else in memory."""

from __future__ import annotations

import inspect
from pathlib import Path

import numba
from numba.core.cpu import CPUTargetOptions

__all__ = [
    "fusing_kernel",
    "is_compiled",
    "kernel",
    "lean_kernel",
    "reordering_kernel",
    "searching_kernel",
]

# numba's switch for reference counting is not a documented one: taken where it is.
_UNCOUNTED = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}


def kernel(function):
    """Compile on first call, release the GIL, keep the machine code on disk if that is possible."""
    return _compiled(function)


def lean_kernel(function):
    """As `kernel`, for functions that allocate nothing: without numba's reference counts.

    Counting is atomic, so it would cost a third of a small fit, and threads would wait for each other.
    """
    return _compiled(function, **_UNCOUNTED)


def reordering_kernel(function):
    """As `lean_kernel`, for sums whose order does not matter: they may then use vector instructions.

    Measured: a forward pass with few cases takes half the time.
    """
    return _compiled(function, fastmath={"reassoc", "contract", "nsz"}, **_UNCOUNTED)


def fusing_kernel(function):
    """As `lean_kernel`, where a product may be fused with the sum that it goes into."""
    return _compiled(function, fastmath={"contract"}, **_UNCOUNTED)


def searching_kernel(function):
    """As `reordering_kernel`, for the largest of numbers that exist: no NaN, no division by zero.

    Measured: the best of many knots is found in a quarter of the time.
    """
    return _compiled(
        function,
        fastmath={"reassoc", "contract", "nsz", "nnan"},
        error_model="numpy",
        **_UNCOUNTED,
    )


def _compiled(function, **options):
    """numba picks `NUMBA_CACHE_DIR`, the folder of the source, or the user's cache folder.

    Where none of them is writable it refuses to decorate at all, and then the function is compiled for
    this process only. A function takes from its callers what it does not say itself: so all is said.
    """
    options = {"fastmath": False, "error_model": "python"} | options
    try:
        return numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        return numba.njit(nogil=True, **options)(function)


def is_compiled(function) -> bool:
    """Tell whether a kernel has machine code, in this process or on disk."""
    if function.signatures:
        return True
    folder = function.stats.cache_path
    if folder is None:
        return False
    stem = Path(inspect.getfile(function.py_func)).stem
    return any(Path(folder).glob(f"{stem}.{function.__name__}-*.nbi"))
