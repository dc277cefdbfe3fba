"""What an experiment is: its settings, its cells, how one cell is computed, and how to look at it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from ..exceptions import InvalidInputError, RForkedError, RNotAvailableError
from .verdict import Comparison, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SIZES", "Experiment", "seed_of"]

SIZES = ("quick", "paper")


class Experiment(ABC):
    """A table or a figure of the paper.

    A subclass declares the class variables below, cuts its work into cells and computes one. A cell
    is a dictionary of plain values that says all that its result depends on, so that it can be
    computed by itself, in any order, by any process, and kept.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]  # what is asked, for a reader who has not read the paper
    order: ClassVar[int]  # place in the paper
    sizes: ClassVar[dict[str, dict]]  # settings of "quick" and of "paper"
    r_packages: ClassVar[tuple[str, ...]] = ()  # what the cells take from R where it is

    @abstractmethod
    def cells(self, size: str) -> list[dict]:
        """The parts of the work."""

    @abstractmethod
    def compute(self, cell: dict, engine: str) -> list[dict]:
        """The rows of one cell, plain values only."""

    @abstractmethod
    def compare(self, frame: pd.DataFrame) -> list[Comparison]:
        """Our numbers beside the paper's."""

    @abstractmethod
    def plot(self, frame: pd.DataFrame) -> Figure:
        """The paper's figure; for a table, our numbers and the paper's as points."""

    def table(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The table as the paper would print it; for a figure, the comparisons."""
        return comparison_table(self.compare(frame))

    def missing(self, engine: str) -> str | None:
        """Why this cannot run here, or None. Only the engine "r" cannot do without R."""
        from .. import bridge

        for package in self.r_packages if engine == "r" else ():
            try:
                bridge.require(package)
            except (RNotAvailableError, RForkedError) as error:
                return str(error)
        return None

    def settings(self, size: str) -> dict:
        """The settings of a size."""
        if size not in self.sizes:
            raise InvalidInputError(f"size={size!r} but it should be one of {', '.join(SIZES)}")
        return self.sizes[size]

    def run(
        self,
        size: str = "quick",
        *,
        engine: str = "auto",
        n_jobs: int = 1,
        store=None,
        progress: bool = False,
    ) -> pd.DataFrame:
        """Compute all cells and return them as one tidy table.

        Parameters
        ----------
        size : {"quick", "paper"}
        engine : {"auto", "r", "native"}
            What fits MARS.
        n_jobs : int
            Number of processes; the numbers do not depend on it.
        store : CellStore, optional
            Where finished cells are kept and looked for.
        progress : bool
            Show a progress bar.
        """
        from .runner import run_experiments

        options = {"engine": engine, "n_jobs": n_jobs, "store": store, "progress": progress}
        [result] = run_experiments([self], size, **options)
        return result.frame


def seed_of(*parts: int) -> int:
    """A seed for numpy of its own for each combination of numbers.

    Examples
    --------
    >>> from pyearthdof.experiments.base import seed_of
    >>> seed_of(2, 10) != seed_of(10, 2)
    True
    """
    return int(np.random.SeedSequence(parts).generate_state(1)[0] >> 1)


def comparison_table(comparisons: list[Comparison]) -> pd.DataFrame:
    """Comparisons as a table to print."""
    return pd.DataFrame(
        [(c.quantity, c.ours, c.paper, c.verdict) for c in comparisons],
        columns=["quantity", "ours", "paper", "verdict"],
    )


def with_error(values: pd.Series, errors: pd.Series) -> list[str]:
    """Each value with its standard error in parentheses."""
    return [number(v, e) for v, e in zip(values, errors, strict=True)]
