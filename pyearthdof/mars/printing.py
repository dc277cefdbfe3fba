"""Numbers and matrices as R prints them."""

from __future__ import annotations

import math

import numpy as np

from .._utils.checks import refusal
from ..exceptions import InvalidInputError
from .arithmetic import power_of_ten

DIGITS = 7  # R's getOption("digits")
MAX_DIGITS = 22  # R's limit
LINE = 80  # R's getOption("width")


def check_digits(digits) -> None:
    """Reject what is no number of digits."""
    if isinstance(digits, bool) or not isinstance(digits, (int, np.integer)):
        raise refusal("digits", digits, "an integer")
    if not 1 <= digits <= MAX_DIGITS:
        raise InvalidInputError(f"digits={digits} but it should be from 1 to {MAX_DIGITS}")


def print_frame(rows, titles, columns) -> list[str]:
    """A matrix as R prints it: names to the left, numbers to the right, columns in blocks of a line."""
    label = max(map(len, rows))
    cells = []
    for title, texts in zip(titles, columns, strict=True):
        width = max(len(title), *map(len, texts))
        cells.append([text.rjust(width) for text in (title, *texts)])
    lines = []
    while cells:
        block, cells = _first_block(cells, LINE - label)
        for name, *texts in zip(("", *rows), *block, strict=True):
            lines.append(" ".join([name.ljust(label), *texts]))
    return lines


def _first_block(cells, room) -> tuple[list, list]:
    """Split the columns after those that leave room in a line, and never before the first."""
    used = count = 0
    for column in cells:
        used += 1 + len(column[0])
        if count and used >= room:
            break
        count += 1
    return cells[:count], cells[count:]


def zapsmall(values: np.ndarray, digits: int) -> np.ndarray:
    """As R's: what is small beside the largest is rounded away."""
    largest = np.nanmax(np.abs(values), initial=0.0)
    if largest > 0:
        digits = (
            0 if math.isinf(largest) else max(0, math.floor(digits - math.log10(largest) + 0.5))
        )
    return r_round(values, digits)


def r_round(values: np.ndarray, digits: int) -> np.ndarray:
    """R's round(): the closer one of the two neighbours with so many decimals, the even one of a tie.

    numpy's differs in the last bit, which can decide a digit that is printed.
    """
    power = power_of_ten(digits)
    if math.isinf(power):  # more decimals than there are
        return values
    with np.errstate(invalid="ignore"):
        scaled = values * power
        low = np.floor(scaled)
        down, up = low / power, np.ceil(scaled) / power
        below, above = values - down, up - values
        is_down = (below < above) | ((below == above) & (low % 2 == 0))
    return np.where(np.isfinite(values), np.where(is_down, down, up), values)


def r_format(values, digits: int = DIGITS) -> list[str]:
    """Format numbers together as R's `format` does: the fewest digits, at most `digits` significant.

    All get the same number of decimals; where that is longer than the scientific form, they get that.
    """
    values = [float(v) + 0.0 for v in values]  # R shows no negative zero
    finite = [v for v in values if math.isfinite(v)]
    parts = [_significant(v, digits) for v in finite]
    decimals = max((max(0, used - 1 - exponent) for used, exponent in parts), default=0)
    mantissa = max((used for used, _ in parts), default=1)
    fixed_width = max((len(f"{v:.{decimals}f}") for v in finite), default=0)
    exponent_width = max((max(2, len(str(abs(e)))) for _, e in parts), default=2)
    science_width = mantissa + (mantissa > 1) + 2 + exponent_width + any(v < 0 for v in finite)
    scientific = fixed_width > science_width
    return [_text(v, scientific, mantissa, decimals) for v in values]


def format_each(values, digits: int = DIGITS) -> list[str]:
    """Format numbers one by one."""
    return [r_format([value], digits)[0] for value in values]


def format_columns(columns, digits: int, fixed_point: bool = True) -> list[list[str]]:
    """Return the numbers of each column together, rounded by R's zapsmall if `fixed_point`."""
    if fixed_point:  # which R applies to three or more
        columns = [c if len(c) < 3 else zapsmall(c, digits + 1) for c in columns]
    return [r_format(column, digits) for column in columns]


def _text(value: float, scientific: bool, mantissa: int, decimals: int) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return f"{value:.{mantissa - 1}e}" if scientific else f"{value:.{decimals}f}"


def _significant(value: float, digits: int) -> tuple[int, int]:
    """How many significant digits show the value to `digits`, and its decimal exponent."""
    if value == 0:
        return 1, 0
    mantissa, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    return max(1, len(mantissa.replace(".", "").rstrip("0"))), int(exponent)
