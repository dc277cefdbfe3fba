"""Functions available in formulas, bit-identical to R for training data and for new rows.

A knot of MARS can depend on the last digit.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from .. import arithmetic
from ..arithmetic import power_of_ten, r_column_means, r_division, r_mean, r_sum, r_variance
from ..data.columns import householder, multiplied_by_q
from .syntax import refuse

EPSILON = 2.0**-63  # machine epsilon of R's extended precision
LOG10_2 = 0.301029995663981195213738894724
DECIMALS, MAX_EXPONENT = 15, 308  # decimal digits and exponents safe in a double
MAX_PLACES = MAX_EXPONENT + DECIMALS


def _plus(a, b=None):
    return a if b is None else a + b


def _log(x, base=None):
    if base is None:
        return arithmetic.log(x)
    # As in R, logarithms to base 2 and 10 are not computed as quotients.
    exact = (
        {2.0: arithmetic.log2, 10.0: arithmetic.log10}.get(float(base))
        if np.ndim(base) == 0
        else None
    )
    return arithmetic.log(x) / arithmetic.log(base) if exact is None else exact(x)


def _bound(*values):
    return np.stack(np.broadcast_arrays(*values), axis=-1)


def _compared(compare):
    """Return 1, 0, or NaN if a side is NaN, as R's NA."""

    def function(a, b):
        return np.where(np.isnan(a) | np.isnan(b), np.nan, compare(a, b))

    return function


def _not(a):
    return np.where(np.isnan(a), np.nan, np.equal(a, 0))


def _and(a, b):
    known = np.where(np.isnan(a) | np.isnan(b), np.nan, 1.0)
    return np.where(np.equal(a, 0) | np.equal(b, 0), 0.0, known)


def _choose(test, yes, no):
    chosen = np.where(np.isnan(test), np.nan, np.where(np.equal(test, 0), no, yes))
    return chosen if np.ndim(test) else np.ravel(chosen)[0]  # same length as the test, as in R


def _whole(a):
    """R's as.integer: 0 has no sign, and values outside R's integers are missing."""
    return np.where(np.abs(a) < 2.0**31, np.trunc(a) + 0.0, np.nan)


def _remainder(a, b):
    """R's %%, in extended precision, with the sign of b."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    same_side = np.where(np.abs(a) == np.abs(b), 0.0, np.where(a * b < 0, a + b, a))
    found, _ = r_division(a, b)
    is_large = (np.abs(b) * EPSILON > 1) & np.isfinite(a) & (np.abs(a) <= np.abs(b))
    return np.where(is_large, same_side, found)


def _quotient(a, b):
    """R's %/%: the number of whole steps of b up to a."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    quotient = a / b
    _, found = r_division(a, b)
    below_one = np.where((quotient < 0) | (a * np.sign(b) < 0), -1.0, 0.0)
    plain = (b == 0) | ~(np.abs(quotient) * EPSILON <= 1)
    return np.where(plain, quotient, np.where(np.abs(quotient) < 1, below_one, found))


def _round(x, digits=0.0):
    """R's round: the nearer of the two decimal numbers around x, the even one in a tie."""
    x, places = np.asarray(x, dtype=float), int(np.floor(digits + 0.5))
    if places == 0:
        return np.rint(x)
    if places > MAX_PLACES:
        return x
    if places < -MAX_EXPONENT:
        return x * 0.0
    size = np.abs(x)
    more = max(0, places - MAX_EXPONENT)
    power, second = power_of_ten(places - more), power_of_ten(more)
    scaled = size * power * second
    down, up = np.floor(scaled) / power / second, np.ceil(scaled) / power / second
    to_down, to_up = size - down, up - size
    is_odd = np.fmod(np.floor(scaled), 2.0) == 1
    rounded = np.where((to_up < to_down) | (is_odd & (to_up == to_down)), up, down)
    magnitude = LOG10_2 * (0.5 + (np.frexp(size)[1] - 1.0))
    keeps = (magnitude + places > DECIMALS) | ~np.isfinite(x) | (x == 0)
    return np.where(keeps, x, np.copysign(rounded, x))


def _variance(x: np.ndarray) -> float:
    return r_variance(x) if len(x) > 1 else math.nan


def quantiles(x: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """R's quantiles of type 7."""
    x = np.sort(x)
    index = (len(x) - 1) * shares + 1.0
    low, high = np.floor(index), np.ceil(index)
    below, above = x[low.astype(int) - 1], x[high.astype(int) - 1]
    part = index - low
    between = (index > low) & (above != below)
    return np.where(between, (1 - part) * below + part * above, below)


# Summaries of a whole column without missing values, by R's name.
SUMMARIES: dict[str, Callable[[np.ndarray], float]] = {
    "mean": r_mean,
    "median": lambda x: r_mean(np.sort(x)[(len(x) - 1) // 2 : len(x) // 2 + 1]),
    "min": np.min,
    "max": np.max,
    "sum": r_sum,
    "var": _variance,
    "sd": lambda x: math.sqrt(_variance(x)),
}


def _first_of(is_better):
    """R's pmin and pmax: the first of equal values is kept, which determines the sign of a zero."""

    def chosen(a, b):
        return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(is_better(b, a), b, a))

    def function(*values):
        return functools.reduce(chosen, values)

    return function


def cut_codes(x: np.ndarray, breaks: np.ndarray, right: bool, lowest: bool) -> np.ndarray:
    """Return 0-based numbers of the intervals between ascending breaks; NaN outside them."""
    codes = np.searchsorted(breaks, x, side="left" if right else "right") - 1.0
    if lowest:
        end = (0, 0.0) if right else (-1, len(breaks) - 2.0)
        codes = np.where(x == breaks[end[0]], end[1], codes)
    outside = (codes < 0) | (codes > len(breaks) - 2) | np.isnan(x)
    return np.where(outside, np.nan, codes)


OF_ONE: dict[str, Callable] = {
    "log2": arithmetic.log2, "log10": arithmetic.log10, "log1p": arithmetic.log1p, "exp": arithmetic.exp,
    "sqrt": np.sqrt, "abs": np.abs, "sin": arithmetic.sin, "cos": arithmetic.cos, "tan": arithmetic.tan,
    "as.numeric": _plus, "as.integer": _whole, "floor": np.floor, "ceiling": np.ceil, "trunc": np.trunc,
    "sign": np.sign, "is.na": lambda a: np.isnan(a).astype(float), "!": _not,
}  # fmt: skip
OF_TWO: dict[str, Callable] = {
    "*": np.multiply, "/": np.divide, "^": arithmetic.power, "%%": _remainder, "%/%": _quotient,
    "==": _compared(np.equal), "!=": _compared(np.not_equal), "<": _compared(np.less),
    "<=": _compared(np.less_equal), ">": _compared(np.greater), ">=": _compared(np.greater_equal),
    "&": _and, "|": lambda a, b: _not(_and(_not(a), _not(b))),
}  # fmt: skip
# By R's name: the function and its permitted numbers of arguments. cbind returns several columns.
FUNCTIONS: dict[str, tuple[Callable, range]] = {
    "+": (_plus, range(1, 3)),
    "-": (lambda a, b=None: -a if b is None else a - b, range(1, 3)),
    "log": (_log, range(1, 3)),
    "round": (_round, range(1, 3)),
    "ifelse": (_choose, range(3, 4)),
    "pmin": (_first_of(np.less), range(1, 1001)),
    "pmax": (_first_of(np.greater), range(1, 1001)),
    "cbind": (_bound, range(1, 1001)),
}
FUNCTIONS |= {name: (function, range(1, 2)) for name, function in OF_ONE.items()}
FUNCTIONS |= {name: (function, range(2, 3)) for name, function in OF_TWO.items()}


def polynomials(
    variables: Sequence[np.ndarray],
    degree: int,
    alpha: Sequence[Sequence[float]] | None = None,
    norm2: Sequence[Sequence[float]] | None = None,
    tables: Sequence[np.ndarray] | None = None,
) -> np.ndarray:
    """R's poly: orthogonal polynomials from the coefficients of a fit, plain powers without them.

    For several variables, all products up to the degree. `tables` are the polynomials themselves, if
    available.
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
    return arithmetic.power(np.asarray(x, dtype=float)[:, None], np.arange(degree + 1.0))


def exponents(n_variables: int, degree: int) -> Iterator[tuple[int, ...]]:
    """Yield the exponents of the columns of poly, in R's order: the first variable's vary fastest."""

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


PIVOT = 0.25  # relative expansion point of bs in the end intervals, as in R


def b_splines(x, knots, boundary, degree: int, intercept: bool) -> np.ndarray:
    """R's bs: B-splines, with the polynomials of the end intervals continued beyond the boundary."""
    full = _clamped(knots, boundary, degree)
    basis = _basis(x, full, degree)
    for outside, end, next_knot in (
        (x < boundary[0], boundary[0], full[degree + 1]),
        (x > boundary[1], boundary[1], full[-degree - 2]),
    ):
        if outside.any():
            pivot = (1 - PIVOT) * end + PIVOT * next_knot
            basis[outside] = _continued(x[outside], pivot, full, degree)
    return basis if intercept else basis[:, 1:]


def natural_splines(x, knots, boundary, intercept: bool) -> np.ndarray:
    """R's ns: cubic splines that are linear beyond the boundary."""
    full = _clamped(knots, boundary, 3)
    basis = _basis(np.clip(x, *boundary), full, 3)
    for end, distance in (
        (boundary[0], np.minimum(x - boundary[0], 0)),
        (boundary[1], np.maximum(x - boundary[1], 0)),
    ):
        if distance.any():
            basis += distance[:, None] * _derivatives(end, full, 3, 1)
    curvatures = np.array([_derivatives(end, full, 3, 2) for end in boundary])
    first = 0 if intercept else 1
    # Orthogonal to both end curvatures: the remaining columns of the Householder basis that starts with them.
    return _rotated(basis[:, first:], curvatures[:, first:].T)[:, 2:]


def _clamped(knots, boundary, degree) -> np.ndarray:
    """Return all knots in order; given knots may lie outside the boundary."""
    return np.sort(np.concatenate([np.repeat(boundary, degree + 1), knots]))


def _interval(x, full, degree) -> np.ndarray:
    """Return the position of the first knot above x, for the right end that of the first knot on it."""
    return np.minimum(np.searchsorted(full, x, side="right"), len(full) - degree - 1)


def _basis(x, full, degree) -> np.ndarray:
    """Evaluate all B-splines at x inside the knots by de Boor's recursion, in R's order of operations.

    A difference of 0, for equal knots, contributes nothing.
    """
    inside = np.clip(x, full[0], full[-1])
    at = _interval(inside, full, degree)
    rising = [full[at + k] - inside for k in range(degree)]
    falling = [inside - full[at - 1 - k] for k in range(degree)]
    values = [np.ones(len(x))]
    for j in range(1, degree + 1):
        carried = np.zeros(len(x))
        for r in range(j):
            width = rising[r] + falling[j - 1 - r]
            empty = width == 0
            share = values[r] / np.where(empty, 1.0, width)
            # R leaves the first one unchanged on the right end.
            left = np.where(rising[r] == 0, values[r], carried) if r == 0 else carried
            values[r] = np.where(empty, left, carried + rising[r] * share)
            carried = np.where(empty, 0.0, falling[j - 1 - r] * share)
        values.append(carried)
    basis = np.zeros((len(x), len(full) - degree - 1))
    for k, column in enumerate(values):
        basis[np.arange(len(x)), at - degree - 1 + k] = column
    return basis


def _derivatives(end: float, full, degree: int, order: int) -> np.ndarray:
    """Return a derivative of all B-splines at an end, by differences of their coefficients.

    The highest one is undefined on the right end, where R uses 0.
    """
    at = int(_interval(np.array([end]), full, degree)[0])
    found = np.zeros(len(full) - degree - 1)
    if order == degree and full[at] <= end:
        return found
    for k in range(degree + 1):
        a = [float(k == j) for j in range(degree + 1)]
        rest = degree
        with np.errstate(divide="ignore", invalid="ignore"):
            for _ in range(order):
                for q in range(rest):
                    low = at - rest + q
                    a[q] = rest * (a[q + 1] - a[q]) / (full[low + rest] - full[low])
                rest -= 1
            rising = [full[at + q] - end for q in range(rest)]
            falling = [end - full[at - 1 - q] for q in range(rest)]
            for level in range(rest - 1, -1, -1):
                for q in range(level + 1):
                    up, down = falling[level - q], rising[q]
                    a[q] = (a[q + 1] * up + a[q] * down) / (down + up)
        found[at - degree - 1 + k] = a[0]
    return found


def _continued(x, pivot: float, full, degree: int) -> np.ndarray:
    """Return all B-splines outside the boundary, by their Taylor polynomials at an inner point."""
    powers = powers_of(x - pivot, degree)
    basis = np.zeros((len(x), len(full) - degree - 1))
    for order in range(degree + 1):
        derivatives = _basis(np.array([pivot]), full, degree)[0]
        if order:
            derivatives = _derivatives(pivot, full, degree, order)
        basis += (derivatives / math.factorial(order)) * powers[:, order : order + 1]
    return basis


def _rotated(rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return rows in the Householder basis that begins with the directions, in LINPACK's order."""
    columns, heads, rank = householder(directions.copy())
    rows = rows.copy()
    width = rows.shape[1]
    for k in range(min(rank, width - 1)):
        if heads[k] == 0:
            continue
        head = columns[k:, k].copy()
        head[0] = heads[k]
        total = np.zeros(len(rows))
        for j in range(width - k):
            total = total + head[j] * rows[:, k + j]
        share = -total / head[0]
        for j in range(width - k):
            rows[:, k + j] = rows[:, k + j] + share * head[j]
    return rows


def orthogonal_polynomials(
    label: str, x: np.ndarray, degree: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a column of ones and R's poly, alpha and norm2."""
    if degree >= len(np.unique(x)):
        refuse(
            f"the degree of {label} should be less than the number of different values, {len(np.unique(x))}"
        )
    mean = r_mean(x)
    centred = x - mean
    columns, heads, rank = householder(powers_of(centred, degree))
    if rank < degree:
        refuse(
            f"the degree of {label} is too high for its values: their powers cannot be distinguished"
        )
    z = np.column_stack([multiplied_by_q(columns, heads, rank, j) for j in range(degree + 1)])
    squares = z**2
    norm2 = _sums(squares)
    alpha = (_sums(centred[:, None] * squares) / norm2 + mean)[:degree]
    norm2 = np.concatenate([[1.0], norm2])
    z /= np.sqrt(norm2[1:])
    z[:, 0] = 1.0  # for products of several variables
    return z, alpha, norm2


def _sums(matrix: np.ndarray) -> np.ndarray:
    """R's colSums."""
    return np.array([r_sum(column) for column in matrix.T])


def inner_knots(x: np.ndarray, n_knots: int) -> np.ndarray:
    """Return knots at equally spaced quantiles."""
    if n_knots < 1:
        return np.empty(0)
    step = 1.0 / (n_knots + 1)
    return quantiles(x, np.arange(1, n_knots + 1) * step)


def scaling(columns: np.ndarray, center, scale) -> tuple[np.ndarray, np.ndarray]:
    """Return centres and scales as R's scale does; `center` and `scale` are booleans or numbers."""
    n, width = columns.shape
    if isinstance(center, bool):
        center = r_column_means(columns) if center else np.zeros(width)
    columns = columns - center
    if isinstance(scale, bool):
        scale = np.sqrt(_sums(columns**2) / max(1, n - 1)) if scale else np.ones(width)
    return np.asarray(center, dtype=float), np.asarray(scale, dtype=float)


def cut_breaks(x: np.ndarray, count: int) -> np.ndarray:
    """Return the ends of equal-length intervals, the outermost extended by a thousandth."""
    low, high = float(x.min()), float(x.max())
    width = high - low
    if width == 0:
        width = abs(low) if low != 0 else 1.0
        return _sequence(low - width / 1000, high + width / 1000, count + 1)
    breaks = _sequence(low, high, count + 1)
    breaks[[0, -1]] = low - width / 1000, high + width / 1000
    return breaks


def _sequence(start: float, end: float, length: int) -> np.ndarray:
    step = (end - start) / (length - 1)
    found = start + np.arange(length) * step
    found[-1] = end
    return found


def cut_labels(breaks: np.ndarray, right: bool, lowest: bool, fewest: int = 3) -> list[str]:
    """Return R's interval labels with the fewest digits, at least `fewest`, that distinguish the breaks.

    If both ends are infinite, R pads them to the same number of characters.

    >>> cut_labels(np.array([-np.inf, 0.0, np.inf]), right=True, lowest=False)
    ['(-Inf,0]', '(0, Inf]']
    """
    infinity = " Inf" if np.isinf(breaks[[0, -1]]).all() else "Inf"
    for digits in range(fewest, max(12, fewest) + 1):
        texts = [f"{b + 0.0:.{digits}g}".replace("-inf", "-Inf") for b in breaks.tolist()]
        texts = [text.replace("inf", infinity) for text in texts]
        if all(a != b for a, b in itertools.pairwise(texts)):
            break
    else:
        return [f"Range_{k}" for k in range(1, len(breaks))]
    opening, closing = ("(", "]") if right else ("[", ")")
    labels = [f"{opening}{a},{b}{closing}" for a, b in itertools.pairwise(texts)]
    if lowest and right:
        labels[0] = "[" + labels[0][1:]
    elif lowest:
        labels[-1] = labels[-1][:-1] + "]"
    return labels
