"""R's random numbers: Mersenne-Twister, normals by inversion, `sample` by rejection.

Same numbers as after `set.seed(seed)` in R >= 3.6 with default kinds, without R: uniforms and samples
bit-identical, normals to the last digits (the last bit of a logarithm depends on the compiler).
"""

from __future__ import annotations

import copy

import numpy as np

from . import _core
from ._utils.checks import check_count, refusal
from .exceptions import InvalidInputError

__all__ = ["RDraws"]

# R moves a uniform of exactly 0 inside the interval, to half the step of its generator.
_SMALLEST_UNIFORM = 0.5 * 2.328306437080797e-10
# Above this many elements R draws without replacement by hashing, so other words come out.
_HASHED_ABOVE = 10_000_000
_LARGEST_SEED = 2**31 - 1
_LONGEST = 2**52  # elements of a vector of R


class RDraws:
    """R's random numbers after `set.seed(seed)`.

    The object is a stream, as in R: each call continues where the last one ended. Functions of this
    package with an argument `draws=` use a copy, so that the same `draws` always gives the same numbers.

    Parameters
    ----------
    seed : int
        Seed as in R's `set.seed`, between -2147483647 and 2147483647.

    Examples
    --------
    >>> from pyearthdof.random import RDraws
    >>> draws = RDraws(1234)
    >>> draws.normal(3).round(4)
    array([-1.2071,  0.2774,  1.0844])
    >>> draws.sample(5)
    array([1, 5, 2, 3, 4])
    """

    def __init__(self, seed: int):
        self.seed = check_count("seed", seed, -_LARGEST_SEED, _LARGEST_SEED)
        self._twister = _core.Twister(self.seed % 2**32)

    def __repr__(self) -> str:
        return f"RDraws({self.seed})"

    def copy(self) -> RDraws:
        """Return a second stream that continues independently from here."""
        return copy.deepcopy(self)

    def uniform(self, n: int) -> np.ndarray:
        """Draw as R's `runif(n)`."""
        return _uniforms(self._words(_checked(n)))

    def normal(self, n: int) -> np.ndarray:
        """Draw as R's `rnorm(n)`: two uniforms give one with resolution 2^-59, then Wichura's AS241."""
        return self._twister.normals(_checked(n))

    def skip_normals(self, n: int) -> None:
        """Continue as if n normals had been drawn."""
        self._twister.skip(2 * _checked(n))

    def sample(self, x, size: int | None = None, replace: bool = False) -> np.ndarray:
        """Draw as R's `sample(x, size, replace)`.

        Parameters
        ----------
        x : int or 1-d array
            An integer n stands for 1, 2, ..., n, as in R; otherwise the array to sample from.
        size : int, optional
            Sample size; all by default.
        replace : bool
            Sample with replacement.
        """
        if np.ndim(x) == 0:
            n, pool = check_count("x", np.asarray(x).item(), 0, _LONGEST), None
        else:
            pool = np.asarray(x)
            n = len(pool)
        size = n if size is None else check_count("size", size, 0, _LONGEST)
        if size > 0 and n == 0:
            raise InvalidInputError("x is empty but it should have something to sample from")
        if not replace and size > n:
            raise refusal("size", size, f"at most {n}, the number of elements, or replace=True")
        if replace or size < 2:
            index = self._below(n, size)
        elif n > _HASHED_ABOVE and size <= n / 2:
            index = self._distinct(n, size)
        else:
            index = self._shuffled(n, size)
        return index + 1 if pool is None else pool[index]

    def _below(self, n: int, size: int) -> np.ndarray:
        """Draw `size` integers in 0..n-1 from as many bits as n needs, rejecting larger ones."""
        accepted, missing = [np.empty(0, dtype=np.int64)], size
        while missing:
            candidates = self._candidates(n, missing)
            good = np.flatnonzero(candidates < n)
            accepted.append(candidates[good])
            missing -= len(good)
        return np.concatenate(accepted)

    def _shuffled(self, n: int, size: int) -> np.ndarray:
        """Sample without replacement: replace each drawn element by the last one of the pool."""
        pool, drawn = list(range(n)), []
        left, stop = n, n - size
        while left > stop:
            bits = _bits(left)
            same_bits = left - max(stop, 1 << (bits - 1) if bits else 0)
            candidates = self._candidates(left, same_bits).tolist()
            for value in candidates:
                if value < left:
                    left -= 1
                    drawn.append(pool[value])
                    pool[value] = pool[left]
        return np.array(drawn, dtype=np.int64)

    def _distinct(self, n: int, size: int) -> np.ndarray:
        """Sample without replacement from many: reject duplicates."""
        seen: dict[int, None] = {}
        while len(seen) < size:
            seen.update(dict.fromkeys(self._below(n, size - len(seen)).tolist()))
        return np.fromiter(seen, dtype=np.int64, count=size)

    def _candidates(self, n: int, count: int) -> np.ndarray:
        """Draw `count` numbers with as many bits as n - 1, 16 bits from each uniform."""
        bits = _bits(n)
        pieces = self._words(count * (bits // 16 + 1)) >> np.uint64(16)
        pieces = pieces.reshape(count, -1)
        value = np.zeros(count, dtype=np.uint64)
        for column in pieces.T:
            value = (value << np.uint64(16)) | column
        return (value & np.uint64((1 << bits) - 1)).astype(np.int64)

    def _words(self, n: int) -> np.ndarray:
        return self._twister.words(n).astype(np.uint64)


def _checked(n: int) -> int:
    """A number of draws; what is one already needs no function."""
    return n if type(n) is int and 0 <= n <= _LONGEST else check_count("n", n, 0, _LONGEST)


def _uniforms(words: np.ndarray) -> np.ndarray:
    return np.where(words == 0, _SMALLEST_UNIFORM, words * 2.0**-32)


def _bits(n: int) -> int:
    return (n - 1).bit_length()
