"""The responses of a Monte Carlo run: where the random numbers come from, and y = mu + sigma z."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral
from typing import Protocol, runtime_checkable

import numpy as np
from sklearn.utils import check_random_state

from ..._utils.checks import check_count, refusal
from ...exceptions import InvalidInputError
from .frames import orthogonal

__all__ = ["NumpyDraws", "Responses", "as_draws", "drawn_design", "drawn_designs"]

_CHUNK = 1 << 20


@runtime_checkable
class Draws(Protocol):
    """A stream of standard normal numbers."""

    def normal(self, n: int, /) -> np.ndarray: ...

    def copy(self) -> Draws: ...

    def skip_normals(self, n: int, /) -> None: ...


class NumpyDraws:
    """Numpy's normals with the face of `RDraws`."""

    def __init__(self, seed: int):
        self.seed = int(seed)
        self._generator = np.random.default_rng(self.seed)

    def __repr__(self) -> str:
        return f"numpy.random.default_rng({self.seed})"

    def copy(self) -> NumpyDraws:
        twin = NumpyDraws(self.seed)
        twin._generator.bit_generator.state = self._generator.bit_generator.state
        return twin

    def normal(self, n: int) -> np.ndarray:
        return self._generator.standard_normal(n)

    def skip_normals(self, n: int) -> None:
        while n:
            n -= len(self._generator.standard_normal(min(n, _CHUNK)))


def as_draws(draws, random_state):
    """The stream of a run: a copy of `draws`, or numpy's seeded from `random_state`."""
    if draws is not None and random_state is not None:
        raise InvalidInputError(
            f"draws={draws!r} and random_state={random_state!r} but one of them should be None: draws "
            "are R's numbers, random_state is for numpy's"
        )
    if draws is not None:
        if not isinstance(draws, Draws):
            raise refusal("draws", draws, "RDraws(seed), or None with random_state for numpy's")
        return draws.copy()
    if isinstance(random_state, np.random.Generator):
        return NumpyDraws(int(random_state.integers(2**31)))
    if isinstance(random_state, Integral):
        return NumpyDraws(check_count("random_state", int(random_state), 0))
    return NumpyDraws(check_random_state(random_state).randint(2**31 - 1))


def drawn_designs(shape, draws, n_rep: int, n_designs: int):
    """Yield Gaussian designs, column by column, from the numbers that come after all responses.

    The authors draw y before X. The responses are drawn block by block later, so the designs are
    drawn from a copy of the stream that has skipped them.
    """
    n, p = shape
    after = draws.copy()
    after.skip_normals(n * n_rep)
    for _ in range(n_designs):
        yield np.ascontiguousarray(after.normal(n * p).reshape(p, n).T)


def drawn_design(shape, draws, n_rep: int) -> np.ndarray:
    """The first of the drawn designs: the authors'."""
    return next(drawn_designs(shape, draws, n_rep, 1))


@dataclass(frozen=True)
class Responses:
    """y = mu + sigma z: its mean, its standard deviation, and the stream of z.

    `frame` is the number of z that are orthogonal to each other, None where all are independent. They are
    orthogonal to the constant, too, where they are `centred`.
    """

    n: int
    mu: np.ndarray
    sigma: np.ndarray
    draws: Draws
    frame: int | None = None
    centred: bool = False

    def in_frames(self, reduction) -> Responses:
        """The same in the frames of a `Reduction`."""
        return replace(self, frame=reduction.frame, centred=reduction.direction)

    def blocks(self, edges):
        """Yield the responses between consecutive edges, column by column as R fills a matrix."""
        for z in self._orthogonal(edges, self.frame) if self.frame else self._independent(edges):
            yield np.ascontiguousarray(self.mu[:, None] + self._noise(z))

    def _noise(self, z: np.ndarray) -> np.ndarray:
        return self.sigma[:, None] * z

    def _independent(self, edges):
        for start, stop in pairwise(edges):
            yield self._normal(stop - start)

    def _orthogonal(self, edges, size: int):
        """Frame by frame; a block may have the end of one and the beginning of the next."""
        ready = np.empty((self.n, 0))
        for start, stop in pairwise(edges):
            while ready.shape[1] < stop - start:
                ready = np.hstack([ready, orthogonal(self._normal(size), self.centred)])
            yield ready[:, : stop - start]
            ready = ready[:, stop - start :]

    def _normal(self, m: int) -> np.ndarray:
        return self.draws.normal(self.n * m).reshape(m, self.n).T
