"""How large a difference may be before it is one: the Monte Carlo errors behind the verdicts.

One comparison may be off by three standard errors by chance once in 370 times, and a table has
twenty comparisons. So the multiple of the standard error is chosen for the table: with nothing wrong,
one table in a thousand shows a verdict against the paper (`FALSE_ALARMS`, shared out equally as by
Bonferroni). An error that was itself estimated from few repetitions takes Student's quantile.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import t

__all__ = [
    "FALSE_ALARMS",
    "STANDARD_ERRORS",
    "every",
    "means_with_se",
    "multiple",
    "rises",
    "side",
    "welch",
]

FALSE_ALARMS = 0.001
STANDARD_ERRORS = 3.0  # the multiple of a single comparison, and of the bars in the figures


def means_with_se(**estimates: np.ndarray) -> dict[str, float]:
    """The mean of each, and its error sd / sqrt(m): 0 where rounding alone makes the values differ."""
    found: dict[str, float] = {}
    for name, values in estimates.items():
        mean, spread = float(values.mean()), float(values.std(ddof=1))
        some = spread > 1e-9 * abs(mean)
        found |= {name: mean, f"{name}_se": spread / math.sqrt(len(values)) if some else 0.0}
    return found


def multiple(tests: int, dof: float = math.inf) -> float:
    """How many standard errors each of `tests` differences may have.

    `dof` are the degrees of freedom of the standard error: the repetitions behind it less one.

    Examples
    --------
    >>> from pyearthdof.experiments.errors import multiple
    >>> round(multiple(20), 2), round(multiple(20, dof=9), 2)
    (4.06, 7.22)
    """
    return float(t.isf(FALSE_ALARMS / (2 * tests), dof))


def welch(se: float, dof: float, other_se: float, other_dof: float) -> float:
    """Degrees of freedom of the error of a difference (Welch and Satterthwaite).

    Examples
    --------
    >>> from pyearthdof.experiments.errors import welch
    >>> welch(1.0, 9, 1.0, 9), welch(1.0, 9, 0.0, 99)
    (18.0, 9.0)
    """
    if se == 0 and other_se == 0:
        return math.inf
    return (se**2 + other_se**2) ** 2 / (se**4 / dof + other_se**4 / other_dof)


def side(gaps, allowed) -> bool | None:
    """Whether gaps lie above 0: none is below, and one is above, by more than the allowed error.

    None where all are within it.

    Examples
    --------
    >>> from pyearthdof.experiments.errors import side
    >>> side([0.5], [0.3]), side([0.1], [0.3]), side([-0.5], [0.3])
    (True, None, False)
    >>> side([0.5, -0.1], [0.3, 0.3]), side([0.5, -0.5], [0.3, 0.3])
    (True, False)
    """
    gaps, allowed = np.asarray(gaps), np.asarray(allowed)
    if (gaps < -allowed).any():
        return False
    return True if (gaps > allowed).any() else None


def every(answers) -> bool | None:
    """One answer of several: False if one is, True if all are, else None."""
    answers = list(answers)
    if False in answers:
        return False
    return None if None in answers else True


def rises(values, errors, allowed: float) -> bool | None:
    """Whether a sequence rises: no value is below an earlier one, and the last is above the first.

    Both up to `allowed` combined standard errors; None where it is too flat to tell.

    Examples
    --------
    >>> from pyearthdof.experiments.errors import rises
    >>> rises([1.7, 4.0, 3.91], [0.1, 0.1, 0.1], 4.0)
    True
    >>> rises([1.7, 4.0, 3.0], [0.1, 0.1, 0.1], 4.0)
    False
    """
    values, errors = np.asarray(values), np.asarray(errors)
    steps = np.subtract.outer(values, values)
    error = allowed * np.hypot.outer(errors, errors)
    later = np.tri(len(values), k=-1, dtype=bool)
    whole = side(steps[-1, 0], error[-1, 0])
    return whole if (steps[later] >= -error[later]).all() else False
