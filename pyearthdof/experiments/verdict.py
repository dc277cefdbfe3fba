"""Comparison of results with the paper or R: exact, within error, or off.

By chance, one comparison is off by three standard errors once in 370 times, and a table has twenty
comparisons. The multiple of the standard error is therefore set for the whole table: under agreement, one
table in a thousand shows a verdict against the paper (`FALSE_ALARMS`, divided equally as by
Bonferroni). An error estimated from few repetitions uses Student's quantile.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from decimal import ROUND_DOWN, Decimal

import numpy as np
from scipy.stats import t

R_COLUMN = "R reference"
FALSE_ALARMS = 0.001  # rate of tables with a verdict against the paper under agreement
STANDARD_ERRORS = 3.0  # multiple of a single comparison, and of the bars in figures
OPEN = "open: within error"


@dataclass(frozen=True)
class Comparison:
    """One comparison of our number with the paper's, or with R's if the paper has none."""

    quantity: str
    ours: str
    paper: str  # "-" without a number
    verdict: str  # "exact (rounded)", "exact (cut)", "within error", "off by ...", "holds", "open: ...", ""
    agrees: bool | None = None  # None without a reference, or if the error is too large
    difference: float | None = None  # ours minus the paper's or R's
    reference: str = ""  # R's number as displayed; "" in a comparison with the paper

    def to_dict(self) -> dict:
        """Plain values, for JSON."""
        return asdict(self)


def number(value: float, se: float | None = None) -> str:
    """Return a number as displayed, with its standard error in parentheses."""
    if se is None or not se > 0 or not math.isfinite(se):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
    digits = max(0, 1 - math.floor(math.log10(se)))
    return f"{value:.{digits}f} ({se:.{digits}f})"


def printed(quantity: str, ours: float, paper: str, *, by_r: bool = False) -> Comparison:
    """Compare a number that must match the digits that the paper prints.

    "rounded": our number, rounded to these digits, equals the paper's. "cut": it does so only if further
    digits are dropped. `by_r` marks R's digits instead of the paper's.
    """
    how = _how_printed(float(ours), paper)
    difference = float(ours) - float(paper)
    verdict = f"exact ({how})" if how else f"off by {difference:.2g}"
    return Comparison(
        quantity, f"{ours:.7g}", verdict=verdict, agrees=how is not None, difference=difference,
        **_beside(by_r, paper),
    )  # fmt: skip


def _how_printed(ours: float, paper: str) -> str | None:
    if not math.isfinite(ours):
        return None
    value, shown = Decimal(repr(ours)), Decimal(paper)
    step = Decimal(1).scaleb(int(shown.as_tuple().exponent))
    if abs(value - shown) <= step / 2:
        return "rounded"
    return "cut" if value.quantize(step, ROUND_DOWN) == shown else None


def measured(
    quantity: str,
    ours: float,
    se: float,
    paper: float | None,
    paper_se: float = 0.0,
    shown: str | None = None,
    *,
    allowed: float = STANDARD_ERRORS,
    by_r: bool = False,
) -> Comparison:
    """Compare a Monte Carlo estimate: within error up to `allowed` combined standard errors.

    `shown` is the paper's number as printed. `by_r` marks R's number instead of the paper's.
    """
    if paper is None:
        return Comparison(quantity, number(ours, se), "-", "")
    difference = float(ours - paper)
    error = math.hypot(se, paper_se)
    agrees = bool(abs(difference) <= allowed * error)
    verdict = "within error"
    if not agrees:
        many = f" ({abs(difference) / error:.0f} standard errors)" if error > 0 else ""
        verdict = f"off by {difference:.2g}{many}"
    if shown is None:
        shown = f"{paper:g} ({paper_se:g})" if paper_se else f"{paper:g}"
    return Comparison(
        quantity, number(ours, se), verdict=verdict, agrees=agrees, difference=difference,
        **_beside(by_r, shown),
    )  # fmt: skip


def one_draw(quantity: str, values, paper: str, tests: int) -> Comparison:
    """Compare the paper's number with our draws of other seeds, of which it should look like one.

    It differs from our mean by the spread of the draws and by its rounding. `tests` is the number of such
    comparisons in the table. The displayed spread decides: the standard deviation of the draws beside our
    mean, and the permitted difference in the verdict.
    """
    values = np.asarray(values, dtype=float)
    mean = float(values.mean())
    # Equal values have a spread of rounding errors only.
    spread = float(values.std(ddof=1)) if np.ptp(values) > 0 else 0.0
    step = 10.0 ** int(Decimal(paper).as_tuple().exponent)
    error = math.hypot(spread / math.sqrt(len(values)), spread, step / math.sqrt(12))
    allowed = multiple(tests, len(values) - 1) * error
    difference = mean - float(paper)
    agrees = abs(difference) <= allowed
    how = f"within error ({abs(difference):.2g} off, " if agrees else f"off by {difference:.2g} ("
    ours = number(mean, spread).replace("(", "(sd ")
    return Comparison(quantity, ours, paper, f"{how}{allowed:.2g} allowed)", agrees, difference)


def better(
    quantity: str, gain: float, se: float, paper_gain: float, *, allowed: float
) -> Comparison:
    """Compare the gain of the corrected model: better beyond the error as in the paper, or open.

    `gain` is the error of the default minus that of the corrected model, `se` its standard error.
    """
    return stated(quantity, _gain(paper_gain), _gain(gain, se), side(gain, allowed * se))


def _gain(gain: float, se: float | None = None) -> str:
    if abs(gain) < 1e-12:
        return "equal"
    return f"{'better' if gain > 0 else 'worse'} by {number(abs(gain), se)}"


def _beside(by_r: bool, shown: str) -> dict[str, str]:
    """Return the number in the paper's column, or in R's."""
    return {"paper": "-", "reference": shown} if by_r else {"paper": shown}


def stated(quantity: str, paper: str, ours: str, holds: bool | None) -> Comparison:
    """Compare a statement of the paper with our result; None if the error is too large to decide."""
    if holds is None:
        return Comparison(quantity, ours, paper, OPEN)
    return Comparison(quantity, ours, paper, "holds" if holds else "does not hold", bool(holds))


@dataclass(frozen=True)
class Tally:
    """The number of agreeing comparisons among those judged, and the number of open ones."""

    agreed: int
    judged: int
    open: int

    def __str__(self) -> str:
        return f"{self.agreed} of {self.judged}" + (f", {self.open} open" if self.open else "")

    def agree_with(self, judge: str) -> str:
        """Return the count in words."""
        still = f" ({self.open} open)" if self.open else ""
        return f"{self.agreed} of {self.judged} agree with {judge}{still}"


def tally(comparisons: list[dict]) -> dict[str, Tally]:
    """Return the counts of comparisons with the paper and with R from the output of `to_dict`."""
    counts = {}
    for judge in ("the paper", "R"):
        part = [c for c in comparisons if bool(c.get("reference")) == (judge == "R")]
        judged = [c["agrees"] for c in part if c["agrees"] is not None]
        counts[judge] = Tally(sum(judged), len(judged), sum(c["verdict"] == OPEN for c in part))
    return {judge: count for judge, count in counts.items() if count.judged or count.open}


def means_with_se(**estimates: np.ndarray) -> dict[str, float]:
    """Return each mean and its error sd / sqrt(m), 0 if the values differ only by rounding."""
    found: dict[str, float] = {}
    for name, values in estimates.items():
        mean, spread = float(values.mean()), float(values.std(ddof=1))
        some = spread > 1e-9 * abs(mean)
        found |= {name: mean, f"{name}_se": spread / math.sqrt(len(values)) if some else 0.0}
    return found


def multiple(tests: int, dof: float = math.inf) -> float:
    """Return the permitted number of standard errors for each of `tests` differences.

    `dof` are the degrees of freedom of the standard error: the number of repetitions minus one.
    """
    return float(t.isf(FALSE_ALARMS / (2 * tests), dof))


def welch(se: float, dof: float, other_se: float, other_dof: float) -> float:
    """Return the degrees of freedom of the error of a difference (Welch and Satterthwaite)."""
    if se == 0 and other_se == 0:
        return math.inf
    return (se**2 + other_se**2) ** 2 / (se**4 / dof + other_se**4 / other_dof)


def side(gaps, allowed) -> bool | None:
    """Return True if gaps lie above 0: none below and one above by more than the permitted error.

    None if all are within it.
    """
    gaps, allowed = np.asarray(gaps), np.asarray(allowed)
    if (gaps < -allowed).any():
        return False
    return True if (gaps > allowed).any() else None


def every(answers) -> bool | None:
    """Combine answers: False if one is False, True if all are True, otherwise None."""
    answers = list(answers)
    if False in answers:
        return False
    return None if None in answers else True


def rises(values, errors, allowed: float) -> bool | None:
    """Return True if a sequence rises: no value is below an earlier one, and the last is above the first.

    Both up to `allowed` combined standard errors; None if it is too flat to decide.
    """
    values, errors = np.asarray(values), np.asarray(errors)
    steps = np.subtract.outer(values, values)
    error = allowed * np.hypot.outer(errors, errors)
    later = np.tri(len(values), k=-1, dtype=bool)
    whole = side(steps[-1, 0], error[-1, 0])
    return whole if (steps[later] >= -error[later]).all() else False
