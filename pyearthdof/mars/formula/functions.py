"""The functions that a formula may use: what R computes for them on new data, to the bit."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..arithmetic import elementary
from ..arithmetic.sums import r_mean, r_sum, r_variance

__all__ = [
    "FUNCTIONS",
    "SUMMARIES",
    "cut_codes",
    "exponents",
    "polynomials",
    "powers_of",
    "quantiles",
]

EPSILON = float(np.finfo(np.longdouble).eps)
LOG10_2 = 0.301029995663981195213738894724
DECIMALS, MAX_EXPONENT = 15, 308  # digits and exponents of ten that a double surely has
MAX_PLACES = MAX_EXPONENT + DECIMALS


def _plus(a, b=None):
    return a if b is None else a + b


def _minus(a, b=None):
    return -a if b is None else a - b


def _log(x, base=None):
    if base is None:
        return elementary.log(x)
    # As R: the logarithms to 2 and 10 are not quotients.
    exact = (
        {2.0: elementary.log2, 10.0: elementary.log10}.get(float(base))
        if np.ndim(base) == 0
        else None
    )
    return elementary.log(x) / elementary.log(base) if exact is None else exact(x)


def _columns(*values):
    return np.stack(np.broadcast_arrays(*values), axis=-1)


def _compared(compare):
    """1, 0, or NaN where a side is none, as R's NA."""

    def function(a, b):
        return np.where(np.isnan(a) | np.isnan(b), np.nan, compare(a, b))

    return function


def _not(a):
    return np.where(np.isnan(a), np.nan, np.equal(a, 0))


def _and(a, b):
    known = np.where(np.isnan(a) | np.isnan(b), np.nan, 1.0)
    return np.where(np.equal(a, 0) | np.equal(b, 0), 0.0, known)


def _or(a, b):
    return _not(_and(_not(a), _not(b)))


def _choose(test, yes, no):
    chosen = np.where(np.isnan(test), np.nan, np.where(np.equal(test, 0), no, yes))
    return chosen if np.ndim(test) else np.ravel(chosen)[0]  # as long as the test, as in R


def _is_missing(a):
    return np.isnan(a).astype(float)


def _whole(a):
    """R's as.integer: 0 has no sign, and what no integer of R holds is missing."""
    return np.where(np.abs(a) < 2.0**31, np.trunc(a) + 0.0, np.nan)


def _remainder(a, b):
    """R's %%, in extended precision: it has the sign of b."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    same_side = np.where(np.abs(a) == np.abs(b), 0.0, np.where(a * b < 0, a + b, a))
    rest = a - np.floor(a / b) * b.astype(np.longdouble)
    found = (rest - np.floor(rest / b) * b).astype(float)
    is_large = (np.abs(b) * EPSILON > 1) & np.isfinite(a) & (np.abs(a) <= np.abs(b))
    return np.where(is_large, same_side, found)


def _quotient(a, b):
    """R's %/%: the whole steps of b up to a."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    quotient = a / b
    rest = a - np.floor(quotient) * b.astype(np.longdouble)
    found = (np.floor(quotient) + np.floor(rest / b)).astype(float)
    below_one = np.where((quotient < 0) | (a * np.sign(b) < 0), -1.0, 0.0)
    plain = (b == 0) | ~(np.abs(quotient) * EPSILON <= 1)
    return np.where(plain, quotient, np.where(np.abs(quotient) < 1, below_one, found))


def _round(x, digits=0.0):
    """R's round: the nearer of the two decimal numbers around x, the even one of two at one distance."""
    x, places = np.asarray(x, dtype=float), int(np.floor(digits + 0.5))
    if places == 0:
        return np.rint(x)
    if places > MAX_PLACES:
        return x
    if places < -MAX_EXPONENT:
        return x * 0.0
    size = np.abs(x)
    more = max(0, places - MAX_EXPONENT)
    power, second = _power_of_ten(places - more), _power_of_ten(more)
    scaled = size * power * second
    down, up = np.floor(scaled) / power / second, np.ceil(scaled) / power / second
    to_down, to_up = size - down, up - size
    is_odd = np.fmod(np.floor(scaled), 2.0) == 1
    rounded = np.where((to_up < to_down) | (is_odd & (to_up == to_down)), up, down)
    magnitude = LOG10_2 * (0.5 + (np.frexp(size)[1] - 1.0))
    keeps = (magnitude + places > DECIMALS) | ~np.isfinite(x) | (x == 0)
    return np.where(keeps, x, np.copysign(rounded, x))


def _power_of_ten(exponent: int) -> float:
    """By repeated squares, as R."""
    found, base, left = 1.0, 10.0, abs(exponent)
    while left:
        if left & 1:
            found *= base
        base, left = base * base, left >> 1
    return found if exponent >= 0 else 1.0 / found


def _median(x: np.ndarray) -> float:
    half = (len(x) - 1) // 2
    return r_mean(np.sort(x)[half : len(x) - half])


def _variance(x: np.ndarray) -> float:
    return r_variance(x) if len(x) > 1 else math.nan


def quantiles(x: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """R's quantiles of type 7.

    >>> quantiles(np.array([4.0, 1.0, 2.0]), np.array([0.5, 0.75])).tolist()
    [2.0, 3.0]
    """
    x = np.sort(x)
    index = (len(x) - 1) * shares + 1.0
    low, high = np.floor(index), np.ceil(index)
    below, above = x[low.astype(int) - 1], x[high.astype(int) - 1]
    part = index - low
    between = (index > low) & (above != below)
    return np.where(between, (1 - part) * below + part * above, below)


# By R's name: one number of a whole column, nothing of it missing.
SUMMARIES: dict[str, Callable[[np.ndarray], float]] = {
    "mean": r_mean,
    "median": _median,
    "min": np.min,
    "max": np.max,
    "sum": r_sum,
    "var": _variance,
    "sd": lambda x: math.sqrt(_variance(x)),
}


def _first_of(is_better):
    """R's pmin and pmax: of equal values the first one stays, which shows in the sign of a zero."""

    def chosen(a, b):
        return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(is_better(b, a), b, a))

    def function(*values):
        return functools.reduce(chosen, values)

    return function


def cut_codes(x: np.ndarray, breaks: np.ndarray, right: bool, lowest: bool) -> np.ndarray:
    """0-based numbers of the intervals between ascending breaks; NaN outside of them."""
    codes = np.searchsorted(breaks, x, side="left" if right else "right") - 1.0
    if lowest:
        end = (0, 0.0) if right else (-1, len(breaks) - 2.0)
        codes = np.where(x == breaks[end[0]], end[1], codes)
    outside = (codes < 0) | (codes > len(breaks) - 2) | np.isnan(x)
    return np.where(outside, np.nan, codes)


# By R's name: the function, and the numbers of arguments that it takes. cbind makes several columns.
FUNCTIONS: dict[str, tuple[Callable, range]] = {
    "+": (_plus, range(1, 3)),
    "-": (_minus, range(1, 3)),
    "*": (np.multiply, range(2, 3)),
    "/": (np.divide, range(2, 3)),
    "^": (elementary.power, range(2, 3)),
    "log": (_log, range(1, 3)),
    "log2": (elementary.log2, range(1, 2)),
    "log10": (elementary.log10, range(1, 2)),
    "log1p": (elementary.log1p, range(1, 2)),
    "exp": (elementary.exp, range(1, 2)),
    "sqrt": (np.sqrt, range(1, 2)),
    "abs": (np.abs, range(1, 2)),
    "sin": (elementary.sin, range(1, 2)),
    "cos": (elementary.cos, range(1, 2)),
    "tan": (elementary.tan, range(1, 2)),
    "pmin": (_first_of(np.less), range(1, 1001)),
    "pmax": (_first_of(np.greater), range(1, 1001)),
    "ifelse": (_choose, range(3, 4)),
    "as.numeric": (_plus, range(1, 2)),
    "as.integer": (_whole, range(1, 2)),
    "round": (_round, range(1, 3)),
    "floor": (np.floor, range(1, 2)),
    "ceiling": (np.ceil, range(1, 2)),
    "trunc": (np.trunc, range(1, 2)),
    "sign": (np.sign, range(1, 2)),
    "%%": (_remainder, range(2, 3)),
    "%/%": (_quotient, range(2, 3)),
    "is.na": (_is_missing, range(1, 2)),
    "==": (_compared(np.equal), range(2, 3)),
    "!=": (_compared(np.not_equal), range(2, 3)),
    "<": (_compared(np.less), range(2, 3)),
    "<=": (_compared(np.less_equal), range(2, 3)),
    ">": (_compared(np.greater), range(2, 3)),
    ">=": (_compared(np.greater_equal), range(2, 3)),
    "!": (_not, range(1, 2)),
    "&": (_and, range(2, 3)),
    "|": (_or, range(2, 3)),
    "cbind": (_columns, range(1, 1001)),
}


def polynomials(
    variables: Sequence[np.ndarray],
    degree: int,
    alpha: Sequence[Sequence[float]] | None = None,
    norm2: Sequence[Sequence[float]] | None = None,
    tables: Sequence[np.ndarray] | None = None,
) -> np.ndarray:
    """R's poly: orthogonal polynomials by the coefficients of a fit, plain powers without them.

    Of several variables, all products up to the degree. `tables` are the polynomials themselves, where
    they are known.
    """
    powers = []
    for k, x in enumerate(variables):
        if tables is not None:
            table = tables[k]
        elif alpha is None or norm2 is None:
            table = powers_of(x, degree)
        else:
            table = _orthogonal(x, degree, alpha[k], norm2[k])
        powers.append(table)
    blocks = []
    for chosen in exponents(len(variables), degree):
        block = powers[0][:, chosen[0]]
        for table, power in zip(powers[1:], chosen[1:], strict=True):
            block = block * table[:, power]
        blocks.append(block)
    return np.column_stack(blocks)


def powers_of(x: np.ndarray, degree: int) -> np.ndarray:
    """Columns x^0 to x^degree."""
    return elementary.power(np.asarray(x, dtype=float)[:, None], np.arange(degree + 1.0))


def exponents(n_variables: int, degree: int) -> Iterator[tuple[int, ...]]:
    """The exponents of the columns of poly, in R's order: the first variable's vary fastest."""

    def up_to(n: int, total: int) -> Iterator[tuple[int, ...]]:
        if n == 0:
            yield ()
            return
        for last in range(total + 1):
            for others in up_to(n - 1, total - last):
                yield (*others, last)

    return (chosen for chosen in up_to(n_variables, degree) if any(chosen))


def _orthogonal(x, degree, alpha, norm2):
    """Three-term recursion p_k = (x - alpha_k) p_{k-1} - norm2_k / norm2_{k-1} p_{k-2}; p_0 is 1."""
    p = np.ones((len(x), degree + 1))
    p[:, 1] = x - alpha[0]
    for k in range(2, degree + 1):
        p[:, k] = (x - alpha[k - 1]) * p[:, k - 1] - (norm2[k] / norm2[k - 1]) * p[:, k - 2]
    p[:, 1:] /= np.sqrt(norm2[2:])
    return p
