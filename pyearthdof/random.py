"""R's random numbers in numpy: Mersenne-Twister, normals by inversion, `sample` by rejection.

They are what `set.seed(seed)` gives in R >= 3.6 with its default kinds, without R: uniforms and
samples to the bit, normals to the last digits (the last bit of a logarithm is the compiler's).
"""

from __future__ import annotations

import copy
import operator

import numpy as np

from pyearthdof.exceptions import InvalidInputError

__all__ = ["RDraws"]

_N_WORDS = 624
_CHUNK = 1 << 16  # normals at a time: the temporary arrays stay in the cache
# R moves a uniform of exactly 0 inside the interval, to half the step of its generator.
_SMALLEST_UNIFORM = 0.5 * 2.328306437080797e-10
# Above this many elements R draws without replacement by hashing, so other words come out.
_HASHED_ABOVE = 10_000_000


class RDraws:
    """R's random numbers after `set.seed(seed)`.

    The object is a stream, as R's is: each call goes on where the last one ended. A function of
    this package that takes `draws=` works on a copy and leaves the object as it was, so the same
    `draws` gives the same numbers every time it is passed.

    Parameters
    ----------
    seed : int
        What R's `set.seed` takes, between -2147483647 and 2147483647.

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
        self.seed = _checked_seed(seed)
        self._generator = np.random.MT19937(0)
        self._generator.state = {
            "bit_generator": "MT19937",
            "state": {"key": _scrambled(self.seed), "pos": _N_WORDS},
        }

    def __repr__(self) -> str:
        return f"RDraws({self.seed})"

    def copy(self) -> RDraws:
        """A second stream that goes on from here by itself.

        Examples
        --------
        >>> from pyearthdof.random import RDraws
        >>> draws = RDraws(1)
        >>> bool(draws.copy().uniform(1) == draws.uniform(1))
        True
        """
        return copy.deepcopy(self)

    def uniform(self, n: int) -> np.ndarray:
        """R's `runif(n)`.

        Examples
        --------
        >>> from pyearthdof.random import RDraws
        >>> RDraws(1).uniform(3).round(4)
        array([0.2655, 0.3721, 0.5729])
        """
        return _uniforms(self._words(_checked_count("n", n)))

    def normal(self, n: int) -> np.ndarray:
        """R's `rnorm(n)`: two uniforms make one of 2^-59 resolution, then Wichura's AS241.

        Examples
        --------
        >>> from pyearthdof.random import RDraws
        >>> RDraws(1).normal(3).round(4)
        array([-0.6265,  0.1836, -0.8356])
        """
        n = _checked_count("n", n)
        values = np.empty(n)
        for start in range(0, n, _CHUNK):
            stop = min(start + _CHUNK, n)
            words = self._words(2 * (stop - start))
            # floor(2^27 u) of u = w / 2^32 is w >> 5, also where R moves u = 0 inside the interval.
            high = (words[0::2] >> np.uint64(5)).astype(float)
            values[start:stop] = _qnorm((high + _uniforms(words[1::2])) / 2.0**27)
        return values

    def skip_normals(self, n: int) -> None:
        """Go on as if n normals had been drawn.

        Examples
        --------
        >>> from pyearthdof.random import RDraws
        >>> draws = RDraws(1)
        >>> draws.skip_normals(2)
        >>> draws.normal(1).round(4)
        array([-0.8356])
        """
        left = 2 * _checked_count("n", n)
        while left:
            left -= len(self._words(min(left, 2 * _CHUNK)))

    def sample(self, x, size: int | None = None, replace: bool = False) -> np.ndarray:
        """R's `sample(x, size, replace)`.

        Parameters
        ----------
        x : int or 1-d array
            A number n stands for 1, 2, ..., n, as in R; an array is sampled itself.
        size : int, optional
            How many; all of them by default.
        replace : bool
            With replacement.

        Examples
        --------
        >>> from pyearthdof.random import RDraws
        >>> RDraws(1).sample(5)
        array([1, 4, 3, 5, 2])
        >>> RDraws(1).sample(["a", "b", "c"], size=2).tolist()
        ['a', 'b']
        """
        if np.ndim(x) == 0:
            n, pool = _checked_count("x", x), None
        else:
            pool = np.asarray(x)
            n = len(pool)
        size = n if size is None else _checked_count("size", size)
        if size > 0 and n == 0:
            raise InvalidInputError("x is empty; there is nothing to sample from.")
        if not replace and size > n:
            raise InvalidInputError(
                f"size={size} is more than the {n} elements; pass replace=True."
            )
        index = self._indices(n, size, replace)
        return index + 1 if pool is None else pool[index]

    def _indices(self, n: int, size: int, replace: bool) -> np.ndarray:
        if replace or size < 2:
            return self._below(n, size)
        if n > _HASHED_ABOVE and size <= n / 2:
            return self._distinct(n, size)
        return self._shuffled(n, size)

    def _below(self, n: int, size: int) -> np.ndarray:
        """`size` integers in 0..n-1: as many bits as n needs, drawn again where too large."""
        accepted, missing = [np.empty(0, dtype=np.int64)], size
        while missing:
            candidates = self._candidates(n, missing)
            good = np.flatnonzero(candidates < n)
            accepted.append(candidates[good])
            missing -= len(good)
        return np.concatenate(accepted)

    def _shuffled(self, n: int, size: int) -> np.ndarray:
        """Without replacement: the drawn element is replaced by the last one of the pool."""
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
        """Without replacement from many: draw again what was there before."""
        seen: dict[int, None] = {}
        while len(seen) < size:
            seen.update(dict.fromkeys(self._below(n, size - len(seen)).tolist()))
        return np.fromiter(seen, dtype=np.int64, count=size)

    def _candidates(self, n: int, count: int) -> np.ndarray:
        """`count` random numbers of as many bits as n - 1 has, 16 bits from each uniform."""
        bits = _bits(n)
        pieces = self._words(count * (bits // 16 + 1)) >> np.uint64(16)
        pieces = pieces.reshape(count, -1)
        value = np.zeros(count, dtype=np.uint64)
        for column in pieces.T:
            value = (value << np.uint64(16)) | column
        return (value & np.uint64((1 << bits) - 1)).astype(np.int64)

    def _words(self, n: int) -> np.ndarray:
        return self._generator.random_raw(n)


def _scrambled(seed: int) -> np.ndarray:
    """The state R makes of a seed: s <- 69069 s + 1 fifty times, then one word a step."""
    word, words = seed % 2**32, []
    for step in range(50 + 1 + _N_WORDS):  # the first of 625 words is R's position counter
        word = (69069 * word + 1) % 2**32
        if step > 50:
            words.append(word)
    return np.array(words, dtype=np.uint32)


def _uniforms(words: np.ndarray) -> np.ndarray:
    values = words * 2.0**-32
    values[words == 0] = _SMALLEST_UNIFORM
    return values


def _bits(n: int) -> int:
    return (n - 1).bit_length()


# Wichura (1988), Algorithm AS 241, PPND16: coefficients from the highest power down.
_CENTRE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
_TAIL = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
     1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959,
     1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966,
     0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187,
     1.0),
)  # fmt: skip
_FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
     0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699,
     6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5,
     7.868691311456132591e-4, 0.0148753612908506148525, 0.13692988092273580531,
     0.59983220655588793769, 1.0),
)  # fmt: skip


def _qnorm(p: np.ndarray) -> np.ndarray:
    """The quantile of the standard normal, by AS241 as R computes it (scipy's differs)."""
    q = p - 0.5
    central = np.abs(q) <= 0.425
    r = np.where(central, 0.180625 - q * q, 0.0)
    values = q * _horner(_CENTRE[0], r) / _horner(_CENTRE[1], r)  # q first: R rounds in that order
    outside = np.flatnonzero(~central)
    values[outside] = _qnorm_tail(p[outside], q[outside])
    return values


def _qnorm_tail(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    r = np.sqrt(-np.log(np.where(q < 0, p, 0.5 - p + 0.5)))
    near = _horner(_TAIL[0], r - 1.6) / _horner(_TAIL[1], r - 1.6)
    far = _horner(_FAR_TAIL[0], r - 5.0) / _horner(_FAR_TAIL[1], r - 5.0)
    return np.copysign(np.where(r <= 5.0, near, far), q)


def _horner(coefficients, r: np.ndarray) -> np.ndarray:
    value = coefficients[0] * r + coefficients[1]
    for c in coefficients[2:]:
        value *= r
        value += c
    return value


def _checked_seed(seed) -> int:
    try:
        seed = operator.index(seed)
    except TypeError:
        raise InvalidInputError(f"seed={seed!r} is not an integer.") from None
    if abs(seed) >= 2**31:
        raise InvalidInputError(f"seed={seed} is outside R's integers, -(2^31 - 1) to 2^31 - 1.")
    return seed


def _checked_count(name: str, value) -> int:
    try:
        value = operator.index(value)
    except TypeError:
        raise InvalidInputError(f"{name}={value!r} is not an integer.") from None
    if value < 0:
        raise InvalidInputError(f"{name}={value} is negative; a number of draws is 0 or more.")
    return value
