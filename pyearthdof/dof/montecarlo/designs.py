"""Designs of a run, given or Gaussian, and the variation that the errors cover.

Degrees of freedom depend on the design, and an estimate for one drawn design says nothing about others. With
several designs, repetitions are spread over them, and the standard error is a jackknife over designs, which
covers the draws of y and of the design.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..._utils.checks import check_count, refusal
from ...random import RDraws
from .draws import Draws, drawn_designs

# With 100 repetitions, 20 designs give about the shortest intervals, whether the degrees of freedom
# vary strongly between designs (MARS with one predictor) or hardly (a tree with ten).
_N_DESIGNS = 20
_EACH = 5  # repetitions per design if their number is open, as with 100 and 20
_LEAST = 2  # repetitions per design; a covariance needs two


@dataclass(frozen=True)
class Designs:
    """The designs of a run and the number of repetitions per design."""

    source: (
        tuple[int, int] | np.ndarray | pd.DataFrame
    )  # the design itself, or the shape of drawn ones
    counts: tuple[int, ...]
    draws: Draws  # positioned at the first response
    n_skipped: int | None = (
        None  # responses before the first design in the stream; default: of this run
    )

    @property
    def drawn(self) -> bool:
        return isinstance(self.source, tuple)

    @property
    def n(self) -> int:
        return self.source[0] if isinstance(self.source, tuple) else len(self.source)

    @property
    def n_drawn(self) -> int | None:
        """Number of drawn designs; None for a given one."""
        return len(self) if self.drawn else None

    @property
    def n_rep(self) -> int:
        return sum(self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator:
        """Yield the designs one at a time, because all of them need much memory."""
        if not isinstance(self.source, tuple):
            yield self.source
            return
        n_skipped = self.n_rep if self.n_skipped is None else self.n_skipped
        yield from drawn_designs(self.source, self.draws, n_skipped, len(self))

    def in_frames(self, size: int | None) -> Designs:
        """Round the repetitions per design up to whole frames; the designs stay the same."""
        if size is None:
            return self
        counts = tuple(size * (count // size) for count in self.counts)
        return replace(self, counts=counts, n_skipped=self.n_rep)

    def first(self, counts: tuple[int, ...]) -> Designs:
        """Return the designs used by a run that ended early."""
        return replace(self, counts=counts)

    @property
    def setting(self) -> Any:
        """Return the design as recorded in the settings of a result."""
        return list(self.source) if self.drawn else "given"

    def covers(self, fits: bool = True) -> str:
        """Return the variation covered by standard errors; `fits=False` if only the designs are random."""
        if len(self) > 1:
            return "the draws of y and of the design" if fits else "the draws of the design"
        one = "one drawn design" if self.drawn else "the given design"
        return f"the draws of y, for {one}" if fits else f"nothing, it is exact for {one}"


def the_designs(
    source: Any,
    draws: Draws,
    n_rep: int,
    n_designs: int | None,
    *,
    exact: bool = False,
    target_se: float | None = None,
) -> Designs:
    """Spread the repetitions over the designs.

    If `n_designs` is None, R's random numbers use one design, as the authors do. Other runs use 20, or one
    for every two repetitions if there are fewer. `exact` runs have no repetitions. With `target_se` there
    are as many designs as needed, with five repetitions each.
    """
    if not isinstance(source, tuple):
        if n_designs is not None and check_count("n_designs", n_designs, 1) > 1:
            raise refusal("n_designs", n_designs, "None or 1 for a given design instead of (n, p)")
        return Designs(source, (n_rep,), draws)
    most = max(1, n_rep // _LEAST)
    if n_designs is None:
        n_designs = _N_DESIGNS if exact else min(_N_DESIGNS, most)
        if target_se is not None and not exact:
            n_designs = max(n_designs, n_rep // _EACH)
        n_designs = 1 if isinstance(draws, RDraws) else n_designs
    elif check_count("n_designs", n_designs, 1) > 1 and target_se is not None and not exact:
        raise refusal("n_designs", n_designs, "None, for as many as target_se takes, or 1")
    elif n_designs > most and not exact:
        right = f"at most {most} for n_rep={n_rep}, so that each design has {_LEAST} repetitions"
        raise refusal("n_designs", n_designs, right)
    edges = np.arange(n_designs + 1) * n_rep // n_designs
    return Designs(source, tuple(int(m) for m in np.diff(edges)), draws)


def in_words(n_drawn: int | None) -> str:
    """Return the suffix of a result's text for drawn designs."""
    if n_drawn is None:
        return ""
    return ", for one drawn design" if n_drawn == 1 else f", over {n_drawn} designs"
