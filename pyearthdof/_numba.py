"""The one decorator of our compiled loops: cached on disk where a cache can be written, else in memory."""

from __future__ import annotations

import numba

__all__ = ["kernel"]


def kernel(function):
    """Compile on first call, release the GIL, keep the machine code on disk if that is possible.

    numba picks `NUMBA_CACHE_DIR`, the folder of the source, or the user's cache folder; where none of
    them is writable it refuses to decorate at all, and then the function is compiled for this process only.
    """
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return numba.njit(nogil=True)(function)
