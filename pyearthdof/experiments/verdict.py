"""Our number beside the paper's, and what that says: exact, within error, or off by how much."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal

__all__ = ["Comparison", "measured", "number", "printed", "stated"]

STANDARD_ERRORS = 3.0


@dataclass(frozen=True)
class Comparison:
    """One line of "ours beside the paper's".

    Attributes
    ----------
    quantity : str
    ours, paper : str
        As they are shown.
    verdict : str
        "exact", "within error", "off by ...", "holds", "does not hold", or "" where the paper has
        no number.
    agrees : bool or None
        What the verdict means; None where there is nothing to agree with.
    difference : float or None
        Ours minus the paper's.
    """

    quantity: str
    ours: str
    paper: str
    verdict: str
    agrees: bool | None = None
    difference: float | None = None

    def to_dict(self) -> dict:
        """Plain values, for JSON."""
        return asdict(self)


def number(value: float, se: float | None = None) -> str:
    """A number as it is shown, with its standard error in parentheses.

    Examples
    --------
    >>> from pyearthdof.experiments.verdict import number
    >>> number(4.5614512, 0.0321)
    '4.561 (0.032)'
    >>> number(0.08463542)
    '0.08464'
    """
    if se is None or not se > 0 or not math.isfinite(se):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
    digits = max(0, 1 - math.floor(math.log10(se)))
    return f"{value:.{digits}f} ({se:.{digits}f})"


def printed(quantity: str, ours: float, paper: str) -> Comparison:
    """A number that has to come out to the digits that the paper prints, rounded or cut there.

    Examples
    --------
    >>> from pyearthdof.experiments.verdict import printed
    >>> printed("standard error", 2.266587, "2.26").verdict
    'exact'
    >>> printed("standard error", 2.3, "2.26").verdict
    'off by 0.04'
    """
    step = Decimal(1).scaleb(Decimal(paper).as_tuple().exponent)
    exact = any(
        Decimal(repr(float(ours))).quantize(step, rounding) == Decimal(paper)
        for rounding in (ROUND_HALF_EVEN, ROUND_DOWN)
    )
    difference = float(ours) - float(paper)
    return Comparison(
        quantity,
        f"{ours:.7g}",
        paper,
        "exact" if exact else f"off by {difference:.2g}",
        exact,
        difference,
    )


def measured(
    quantity: str,
    ours: float,
    se: float,
    paper: float | None,
    paper_se: float = 0.0,
    shown: str | None = None,
) -> Comparison:
    """A Monte Carlo estimate: within error up to three combined standard errors.

    `shown` is the paper's number as it prints it.

    Examples
    --------
    >>> from pyearthdof.experiments.verdict import measured
    >>> measured("df", 4.97, 0.03, 4.95, 0.033).verdict
    'within error'
    >>> measured("df", 5.4, 0.03, 4.95, 0.033).verdict
    'off by 0.45 (10 standard errors)'
    """
    if paper is None:
        return Comparison(quantity, number(ours, se), "-", "")
    difference = float(ours - paper)
    error = math.hypot(se, paper_se)
    agrees = bool(abs(difference) <= STANDARD_ERRORS * error)
    verdict = "within error"
    if not agrees:
        many = f" ({abs(difference) / error:.0f} standard errors)" if error > 0 else ""
        verdict = f"off by {difference:.2g}{many}"
    if shown is None:
        shown = f"{paper:g} ({paper_se:g})" if paper_se else f"{paper:g}"
    return Comparison(quantity, number(ours, se), shown, verdict, agrees, difference)


def stated(quantity: str, paper: str, ours: str, holds: bool) -> Comparison:
    """Something the paper says in words, and what we found."""
    return Comparison(quantity, ours, paper, "holds" if holds else "does not hold", bool(holds))
