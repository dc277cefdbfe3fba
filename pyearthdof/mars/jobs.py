"""How many threads a fit may use."""

from __future__ import annotations

from numbers import Integral

from joblib import effective_n_jobs

from ..exceptions import InvalidInputError

__all__ = ["check_jobs"]


def check_jobs(n_jobs) -> int:
    """The number of threads that `n_jobs` stands for, as joblib counts.

    Inside a worker of joblib it is what is left for that worker.

    Examples
    --------
    >>> check_jobs(3)
    3
    """
    integer = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not integer or n_jobs == 0):
        raise InvalidInputError(
            f"n_jobs={n_jobs!r} but it should be None or an integer other than 0; -1 is all processors"
        )
    return effective_n_jobs(n_jobs)
