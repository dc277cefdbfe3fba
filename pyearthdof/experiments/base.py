"""Base class of the experiments: settings, cells, computation of a cell, tables and figures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from .._utils.checks import check_choice
from .._utils.extras import load_extra
from ..exceptions import RForkedError, RNotAvailableError
from .verdict import R_COLUMN, Comparison, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = ("quick", "paper")
LARGEST_SEED = 2**31 - 1  # the maximum of R's set.seed
GIVEN_SEED = "given_seed"  # column of a table drawn with the user's seed


class Experiment(ABC):
    """A table or a figure of the paper.

    A subclass declares the class variables below, divides its work into cells and computes one of them. A
    cell is a dictionary of plain values that determine its result, so that it can be computed separately,
    in any order, by any process, and stored.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]  # the question, for readers who do not know the paper
    drawn: ClassVar[str] = ""  # source of the random numbers if no seed is given
    drawn_anew: ClassVar[str] = ""  # effect of a given seed
    order: ClassVar[int]  # place in the paper
    sizes: ClassVar[dict[str, dict]]  # settings of "quick" and of "paper"
    r_packages: ClassVar[tuple[str, ...]] = ()  # R packages that the cells use if R is available

    @abstractmethod
    def cells(self, size: str, seed: int | None = None) -> list[dict]:
        """Return the parts of the work; a seed replaces the experiment's own seeds."""

    @abstractmethod
    def compute(self, cell: dict, engine: str) -> list[dict]:
        """Return the rows of one cell as plain values."""

    @abstractmethod
    def compare(self, frame: pd.DataFrame) -> list[Comparison]:
        """Compare our numbers with the paper's."""

    @abstractmethod
    def plot(self, frame: pd.DataFrame) -> Figure:
        """Draw the paper's figure; for a table, our numbers and the paper's as points."""

    def table(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the table as the paper would print it; for a figure, the comparisons."""
        return comparison_table(self.compare(frame))

    def explain(self, seed: int | None) -> str:
        """Return the question and the source of the random numbers."""
        if seed is None:
            return f"{self.question} {self.drawn}".strip()
        return f"{self.question} Drawn with the seed {seed}. {self.drawn_anew}".strip()

    def missing(self, engine: str) -> str | None:
        """Return why this cannot run, or None. Only the engine "r" requires R."""
        from .. import bridge

        for package in self.r_packages if engine == "r" else ():
            try:
                bridge.require(package)
            except (RNotAvailableError, RForkedError) as error:
                return str(error)
        return None

    def settings(self, size: str, seed: int | None = None) -> dict:
        """Return the settings of a size, and the seed unless it is the experiment's own."""
        check_choice("size", size, SIZES)
        return self.sizes[size] | ({} if seed is None else {"seed": seed})

    def run(
        self,
        size: str = "quick",
        *,
        seed: int | None = None,
        engine: str = "auto",
        n_jobs: int = 1,
        store=None,
        progress: bool = False,
    ) -> pd.DataFrame:
        """Compute all cells and return them as one tidy table.

        A `seed` replaces the experiment's own: results that are exact under the authors' seed are then judged
        by their error, and the table has a column `given_seed`. The numbers do not depend on `n_jobs`.
        Finished cells are kept in the `store`, a `CellStore`, and reused.
        """
        from .runner import run_experiments

        options = {"engine": engine, "n_jobs": n_jobs, "store": store, "progress": progress}
        [result] = run_experiments([self], size, seed=seed, **options)
        return result.frame


class RepeatedEstimates(Experiment):
    """A table of degrees of freedom, each the mean of several estimates by Algorithm 1."""

    keys: ClassVar[tuple[str, str]]  # position of a cell in the paper's table
    places: ClassVar[list[tuple]]

    @abstractmethod
    def problem(self, cell: dict, i: int) -> tuple:
        """Return the procedure, the design and the seed of estimate i."""

    @abstractmethod
    def summary(self, found: list) -> dict:
        """Return the means of the estimates."""

    def cells(self, size, seed=None):
        settings = self.settings(size, seed)
        return [dict(zip(self.keys, place, strict=True)) | settings for place in self.places]

    def compute(self, cell, engine):
        from ..dof import degrees_of_freedom

        options = {"n_rep": cell["n_rep"], "variance_reduction": None, "method": "monte-carlo"}
        found = []
        for i in range(cell["n_estimates"]):
            procedure, X, seed = self.problem(cell, i)
            found.append(degrees_of_freedom(procedure, X, random_state=seed, **options))
        counts = {name: cell[name] for name in ("n_estimates", "n_rep")}
        return [{key: cell[key] for key in self.keys} | self.summary(found) | counts]


def seed_of(*parts: int, seed: int | None = None) -> int:
    """Return a distinct seed for numpy or R for each combination of numbers and a given seed."""
    # SeedSequence reads missing numbers as 0: the 1 distinguishes a given seed of 0 from none.
    given = () if seed is None else (1, seed)
    return int(np.random.SeedSequence((*parts, *given)).generate_state(1)[0] >> 1)


def cells_by_degree(
    degrees, n_rep: int, part: int, own_seed: int, repeats: int, seed
) -> list[dict]:
    """Return a cell per degree with the authors' seed, or `repeats` with seeds derived from a given one."""
    if seed is None:
        return [{"degree": d, "n_rep": n_rep, "seed": own_seed} for d in degrees]
    return [
        {"degree": d, "n_rep": n_rep, "seed": seed_of(part, i, seed=seed), "repeat": i}
        for d in degrees
        for i in range(repeats)
    ]


def given_seed(frame: pd.DataFrame) -> int | None:
    """Return the seed of the table, None if it was the experiment's own."""
    return int(frame[GIVEN_SEED].iloc[0]) if GIVEN_SEED in frame else None


def comparison_table(comparisons: list[Comparison]) -> pd.DataFrame:
    """Return comparisons as a table to print; R's numbers have a separate column."""
    columns = {
        "quantity": [c.quantity for c in comparisons],
        "ours": [c.ours for c in comparisons],
        "paper": [c.paper for c in comparisons],
        R_COLUMN: [c.reference or "-" for c in comparisons],
        "verdict": [c.verdict for c in comparisons],
    }
    if not any(c.reference for c in comparisons):
        del columns[R_COLUMN]
    return pd.DataFrame(columns)


def with_error(values: pd.Series, errors: pd.Series) -> list[str]:
    """Return each value with its standard error in parentheses."""
    return [number(v, e) for v, e in zip(values, errors, strict=True)]


BLUE, ORANGE, GREEN, GREY = "#1f5fa8", "#d95f02", "#1b7a5a", "#777777"
_PAPER = {"fmt": "x", "color": ORANGE, "capsize": 3, "markersize": 7, "label": "paper"}
_OURS = {"fmt": "o", "color": BLUE, "capsize": 3, "markersize": 5, "label": "ours"}


def new_figure(
    n_rows: int = 1, n_columns: int = 1, width: float = 4.2, height: float = 3.6, **share
):
    """Return a figure that needs no display, and its axes."""
    figure = load_extra("matplotlib.figure", "drawing").Figure(
        figsize=(width * n_columns, height * n_rows), layout="constrained"
    )
    axes = figure.subplots(n_rows, n_columns, **share)
    for ax in np.ravel(axes):
        ax.grid(alpha=0.25, linewidth=0.6)
        ax.set_axisbelow(True)
    return figure, axes


def ours_and_paper(ax, labels, ours, se, paper, paper_se=None) -> None:
    """Draw two points for each label, ours and the paper's, with bars of three standard errors."""
    places = np.arange(len(labels))
    bars = 3 * np.nan_to_num(np.asarray(se, dtype=float))
    ax.errorbar(places - 0.12, ours, yerr=bars, **_OURS)
    paper = np.array([np.nan if value is None else value for value in paper], dtype=float)
    paper_bars = None if paper_se is None else 3 * np.nan_to_num(np.asarray(paper_se, dtype=float))
    ax.errorbar(places + 0.12, paper, yerr=paper_bars, **_PAPER)
    ax.set_xticks(places, labels)
    ax.set_xlim(-0.6, len(labels) - 0.4)


def diagonal(ax, top: float) -> None:
    """Draw the line on which the nominal and the actual degrees of freedom agree."""
    ax.plot([0, top], [0, top], "--", color=GREY, linewidth=1, label="self-consistent", zorder=1)
