"""The functions that a formula may use, in numpy: what R computes for them on new data."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

__all__ = ["FUNCTIONS", "b_splines", "cut_codes", "exponents", "natural_splines", "polynomials"]


def _plus(a, b=None):
    return a if b is None else a + b


def _minus(a, b=None):
    return -a if b is None else a - b


def _log(x, base=None):
    if base is None:
        return np.log(x)
    # As R: the logarithms to 2 and 10 are not quotients.
    exact = {2.0: np.log2, 10.0: np.log10}.get(float(base)) if np.ndim(base) == 0 else None
    return np.log(x) / np.log(base) if exact is None else exact(x)


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
    return np.where(np.isnan(test), np.nan, np.where(np.equal(test, 0), no, yes))


def _smallest(*values):
    return functools.reduce(np.minimum, values)


def _largest(*values):
    return functools.reduce(np.maximum, values)


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
    "^": (np.power, range(2, 3)),
    "log": (_log, range(1, 3)),
    "log2": (np.log2, range(1, 2)),
    "log10": (np.log10, range(1, 2)),
    "log1p": (np.log1p, range(1, 2)),
    "exp": (np.exp, range(1, 2)),
    "sqrt": (np.sqrt, range(1, 2)),
    "abs": (np.abs, range(1, 2)),
    "sin": (np.sin, range(1, 2)),
    "cos": (np.cos, range(1, 2)),
    "tan": (np.tan, range(1, 2)),
    "pmin": (_smallest, range(1, 1001)),
    "pmax": (_largest, range(1, 1001)),
    "ifelse": (_choose, range(3, 4)),
    "as.numeric": (_plus, range(1, 2)),
    "as.integer": (np.trunc, range(1, 2)),
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
            table = x[:, None] ** np.arange(degree + 1)
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


def b_splines(x, knots, boundary, degree: int, intercept: bool) -> np.ndarray:
    """R's bs: B-splines, the polynomials of the end intervals going on outside of the boundary."""
    basis = _basis(x, _clamped(knots, boundary, degree), degree)
    return basis if intercept else basis[:, 1:]


def natural_splines(x, knots, boundary, intercept: bool) -> np.ndarray:
    """R's ns: cubic splines that are straight lines outside of the boundary."""
    full, ends = _clamped(knots, boundary, 3), np.array(boundary)
    slopes, curvatures = (_basis(ends, full, 3, derivative) for derivative in (1, 2))
    basis = _basis(np.clip(x, *boundary), full, 3)
    basis += np.minimum(x - boundary[0], 0)[:, None] * slopes[0]
    basis += np.maximum(x - boundary[1], 0)[:, None] * slopes[1]
    first = 0 if intercept else 1
    # Orthogonal to both curvatures at the ends: the rest of the Householder basis that starts with them.
    q, _ = np.linalg.qr(curvatures[:, first:].T, mode="complete")
    return basis[:, first:] @ q[:, 2:]


def _basis(x, full, degree, derivative=0):
    """All B-splines, or a derivative of them, at x by the recursion of Cox and de Boor.

    scipy's BSpline refuses more equal knots than the order has; R takes them, and quantiles of a variable
    with many ties are such knots.
    """
    interval = np.clip(
        np.searchsorted(full, x, side="right") - 1,
        np.searchsorted(full, full[0], side="right") - 1,
        np.searchsorted(full, full[-1], side="left") - 1,
    )
    values = (interval[:, None] == np.arange(len(full) - 1)).astype(float)
    for k in range(1, degree + 1):
        left, right = values[:, :-1], values[:, 1:]
        widths = full[k:] - full[:-k]
        share = np.divide(1.0, widths, out=np.zeros_like(widths), where=widths > 0)
        if k <= degree - derivative:
            rising = (x[:, None] - full[: -k - 1]) * share[:-1]
            falling = (full[k + 1 :] - x[:, None]) * share[1:]
            values = rising * left + falling * right
        else:
            values = k * (share[:-1] * left - share[1:] * right)
    # With so many knots on the right end that B-splines vanish there, R calls one of these 1 on it.
    if not derivative and np.sum(full == full[-1]) > 2 * degree + 1:
        on_end = x == full[-1]
        values[on_end] = np.arange(values.shape[1]) == values.shape[1] - 1 - degree
    return values


def _clamped(knots, boundary, degree):
    ends = np.repeat(boundary, degree + 1)
    return np.concatenate([ends[: degree + 1], knots, ends[degree + 1 :]])
