"""Mutually orthogonal responses: frames, and how many of them a run has.

For a linear smoother S and an orthonormal basis q_1, ..., q_n the sum of q_j'S q_j is tr(S), whatever the
basis. So responses that are orthogonal to each other know the linear part of a fit exactly, and what varies
from one basis to the next is the rest. A frame is drawn as the Q of a Gaussian matrix Z = QR, each column
stretched to the length of that of Z. Q is uniform and independent of R, and the lengths depend on R alone, so
each response is Gaussian by itself, the lengths are independent, and no estimate is biased.

The gain comes with the last columns of a frame: with m of n columns the variance of the linear part is
1 - (m - 1)/(n - 1) of that of independent responses. And the responses of a frame depend on each other, so
frames are what the standard error leaves out; one frame has none. Hence the rule: whole frames, and ten of
them at least; or, where designs are left out instead, two for each design.
"""

from __future__ import annotations

import numpy as np

__all__ = ["frame_groups", "frame_size", "merged_groups", "orthogonal"]

_LEAST = 10  # frames for one design
_LEAST_EACH = 2  # for each of several: a frame's coefficients come from the others
_MOST_GROUPS = 32


def orthogonal(Z: np.ndarray, centred: bool) -> np.ndarray:
    """The columns of Z made orthogonal to each other, each as long as it was.

    `centred` leaves the means of the columns as they are and makes the rest orthogonal to the constant.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.dof.montecarlo.frames import orthogonal
    >>> Q = orthogonal(np.array([[1.0, 2.0], [0.0, 3.0], [0.0, 0.0]]), centred=False)
    >>> Q.T @ Q
    array([[ 1.,  0.],
           [ 0., 13.]])
    """
    mean = Z.mean(axis=0) if centred else 0.0
    Z = Z - mean
    Q, R = np.linalg.qr(Z)
    # The Q with a positive diagonal of R is the uniform one.
    length = np.linalg.norm(Z, axis=0) * np.where(np.diag(R) < 0, -1.0, 1.0)
    return mean + Q * length


def frame_size(dimension: int, counts, *, partial: bool = False) -> int | None:
    """Number of responses in a frame, None where there are too few repetitions.

    Parameters
    ----------
    dimension : int
        That of the space of the responses, and the size of a whole frame.
    counts : sequence of int
        Number of repetitions for each design.
    partial : bool
        Take smaller frames where there are not enough whole ones.

    Examples
    --------
    >>> from pyearthdof.dof.montecarlo.frames import frame_size
    >>> frame_size(99, [1000]), frame_size(99, [900]), frame_size(99, [900], partial=True)
    (99, None, 90)
    """
    least = _LEAST if len(counts) == 1 else _LEAST_EACH
    size = min(dimension, min(counts) // least)
    return size if size > 1 and (partial or size == dimension) else None


def frame_groups(n_rep: int, size: int) -> np.ndarray:
    """The frame of each repetition."""
    return np.arange(n_rep) // size


def merged_groups(groups: np.ndarray) -> np.ndarray:
    """The groups that are left out: neighbours together, where there are more than 32."""
    n_groups = int(groups[-1]) + 1
    return groups * min(_MOST_GROUPS, n_groups) // n_groups
