"""Self-consistency of MARS: nominal and actual degrees of freedom along nk."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..._utils.checks import check_choice, check_count, check_design
from ..._utils.html import ACCENT, Html, few_rows, number, plus_minus, table
from ...contract import PathFits, Rows
from ...exceptions import InvalidInputError
from ...mars.engines.base import BoundEngine
from ..mars.correction import PACKAGES, corrected_penalty, default_penalty, unpruned_mars
from ..mars.correction import nominal as count_nominal
from ..montecarlo.designs import Designs, in_words, the_designs
from ..montecarlo.draws import Draws, RandomState, Responses, authors_draws, merged_groups
from ..montecarlo.errors import mean_of, mean_over_designs
from ..montecarlo.measurement import run_groups
from ..montecarlo.variance_reduction import Estimator, Reduction, choose, estimator
from ..montecarlo.workers import check_finite, check_result_shape, one_blas_thread, run_blocks
from ..results import Curve, coverage_note, package_versions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE, _EDGE = 180, 14  # of the plot in a notebook, in pixels


@dataclass(frozen=True)
class _FitPath:
    """Task for one block: one forward pass per response if it can be truncated."""

    procedure: object
    nk: tuple[int, ...]

    def __call__(self, bound: BoundEngine, Y: np.ndarray, n_threads: int = 1) -> PathFits:
        path = bound.fit_path(Y, self.nk, n_threads)
        check_result_shape("fitted values", path.fitted, (len(self.nk), *Y.shape))
        check_finite(path.fitted)
        return path


@dataclass(frozen=True, eq=False)
class SelfConsistency(Curve):
    """Nominal and actual degrees of freedom of MARS for a sequence of nk.

    `plot` draws nominal against actual degrees of freedom, as in the paper.

    Attributes
    ----------
    nk : (k,) array
        Maximum number of terms in the forward pass.
    n_terms : (k,) array
        Mean number of terms r.
    nominal_df : (k,) array
        r + c (r - 1)/2 with the default penalty c of the package.
    df, se : (k,) array
        Actual degrees of freedom by Algorithm 1, and their standard error.
    penalty : (k,) array
        Corrected penalty of Algorithm 2; the default if no term was added.
    corrected_nominal_df : (k,) array
        r + c (r - 1)/2 with the corrected penalty; equal to df by construction, unless df < r.
    default_penalty : float
    n_rep : int
    n_designs, se_covers
        As in `DegreesOfFreedom`.
    left_out : (k, m) array
        Leave-one-out df.
    settings, versions : dict

    Examples
    --------
    >>> from pyearthdof import self_consistency
    >>> path = self_consistency((50, 2), nk=[1, 5, 9], n_rep=20, engine="native")
    >>> path
    SelfConsistency(nk=1..9, df=1.236..10.95, largest gap to nominal=1.751, n_rep=20, for one drawn design)
    """

    nk: np.ndarray
    n_terms: np.ndarray
    nominal_df: np.ndarray
    df: np.ndarray
    se: np.ndarray
    penalty: np.ndarray
    corrected_nominal_df: np.ndarray
    default_penalty: float
    n_rep: int
    n_designs: int | None
    se_covers: str
    left_out: np.ndarray
    settings: dict = field(default_factory=dict)
    versions: dict = field(default_factory=dict)

    _COLUMNS = ("nk", "n_terms", "nominal_df", "df", "se", "penalty", "corrected_nominal_df")
    _REST = ("default_penalty", "n_rep", "n_designs", "se_covers", "settings", "versions")

    def __repr__(self) -> str:
        gap = np.abs(self.nominal_df - self.df).max()
        return (
            f"SelfConsistency(nk={self.nk[0]}..{self.nk[-1]}, df={self.df[0]:.4g}.."
            f"{self.df[-1]:.4g}, largest gap to nominal={gap:.4g}, n_rep={self.n_rep}"
            f"{in_words(self.n_designs)})"
        )

    def _draw(self, ax: Axes) -> None:
        label = f"default penalty {self.default_penalty:g}"
        self._draw_nominal(ax, label, fmt="^-", markersize=3, linewidth=0.8)
        ax.plot(self.df, self.corrected_nominal_df, "o", markersize=3, label="corrected penalty")
        ax.legend()

    def _html_title(self) -> str:
        return "Nominal and actual degrees of freedom"

    def _html_body(self) -> str:
        found = self.to_frame()
        rows = [
            [
                f"{at.nk:g}", number(at.n_terms, 4), plus_minus(at.df, at.se, 4),
                number(at.nominal_df, 4), number(at.penalty, 3),
            ]
            for at in few_rows(found).itertuples()
        ]  # fmt: skip
        columns = ["nk", "terms", "actual df ± error", "nominal df", "corrected penalty"]
        style = "display:flex;gap:24px;flex-wrap:wrap;align-items:flex-start"
        return f'<div style="{style}">{table(columns, rows)}{_drawing(found)}</div>{coverage_note(self)}'


def _drawing(found: pd.DataFrame) -> Html:
    """Draw nominal against actual df, and the diagonal."""
    top = float(max(found["df"].max(), found["nominal_df"].max(), 1.0))

    def place(x: float, y: float) -> str:
        inner = _SIZE - 2 * _EDGE
        return f"{_EDGE + inner * x / top:.1f},{_SIZE - _EDGE - inner * y / top:.1f}"

    path = " ".join(place(x, y) for x, y in zip(found["df"], found["nominal_df"], strict=True))
    said = "nominal against actual degrees of freedom; they are equal on the thin line"
    return Html(
        f'<svg width="{_SIZE}" height="{_SIZE}" viewBox="0 0 {_SIZE} {_SIZE}" role="img" aria-label="{said}">'
        f'<title>{said}</title><polyline points="{place(0, 0)} {place(top, top)}" stroke="currentColor" '
        f'stroke-opacity=".4" fill="none"/><polyline points="{path}" stroke="{ACCENT}" stroke-width="2" '
        f'fill="none"/><text x="{_SIZE / 2}" y="{_SIZE - 1}" font-size="10" text-anchor="middle" '
        f'fill="currentColor">actual df</text><text x="9" y="{_SIZE / 2}" font-size="10" '
        f'text-anchor="middle" fill="currentColor" transform="rotate(-90 9 {_SIZE / 2})">nominal df</text>'
        "</svg>"
    )


def self_consistency(
    X: Rows | tuple[int, int],
    *,
    degree: int = 1,
    nk: Iterable[int] = range(1, 101),
    n_rep: int = 100,
    draws: Draws | str | None = None,
    random_state: RandomState = None,
    n_designs: int | None = None,
    engine: str = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
    package: str = "earth",
) -> SelfConsistency:
    """Compare nominal and actual degrees of freedom of MARS for many nk.

    The true mean is zero. All nk share the responses, and for earth also the forward pass: without
    threshold and pruning, the fit for nk = k is the beginning of the pass for any larger nk.
    `consistency_path` does the same for any procedure along a grid.

    Parameters
    ----------
    X : tuple (n, p), (n, p) array or DataFrame
        A tuple requests a Gaussian design, drawn after the responses as in the authors' code.
    degree : int
        Maximum degree of interaction.
    nk : sequence of int
        Maximum numbers of terms in the forward pass.
    n_rep, draws, random_state, n_designs, n_jobs, progress
        As in `correct_penalty`.
    engine : {"auto", "r", "native"}
        As in `Earth`.
    package : {"earth", "mda"}
        R package whose MARS is measured. mda has no path, so every nk is fitted separately.

    Examples
    --------
    >>> from pyearthdof import self_consistency
    >>> self_consistency((50, 2), nk=[1, 5, 9], n_rep=20).nominal_df.round(4).tolist()
    [1.0, 7.8, 12.7]
    """
    nk = tuple(check_count("nk", k, 1) for k in nk)
    if not nk:
        raise InvalidInputError("nk is empty but it should have one number of terms or more")
    degree = check_count("degree", degree, 1)
    n_rep = check_count("n_rep", n_rep, 2)
    X = check_design(X)
    check_choice("package", package, PACKAGES)
    procedure = unpruned_mars(package, degree, max(nk), engine)
    stream = authors_draws(draws, random_state)
    designs = the_designs(X, stream, n_rep, n_designs)
    responses = Responses(designs.n, np.zeros(designs.n), np.ones(designs.n), stream)
    reduction = choose("auto", procedure, designs.source, responses, designs.counts)
    designs = designs.in_frames(reduction.frame)
    responses = responses.in_frames(reduction)
    settings = {
        "design": designs.setting,
        "package": package,
        "degree": degree,
        "draws": repr(stream),
        **reduction.settings,
    }
    work = _FitPath(procedure, nk)
    df, terms, settings["engine"], versions = _run_path(
        work, designs, responses, reduction, n_jobs=n_jobs, progress=progress
    )
    r = np.array([found.value for found in terms])
    actual = np.array([found.value for found in df])
    default = default_penalty(degree)
    penalty = np.array(
        [default if rk == 1 else corrected_penalty(d, rk) for d, rk in zip(actual, r, strict=True)]
    )
    return SelfConsistency(
        nk=np.array(nk),
        n_terms=r,
        nominal_df=count_nominal(r, default),
        df=actual,
        se=np.array([found.se for found in df]),
        penalty=penalty,
        corrected_nominal_df=count_nominal(r, penalty),
        default_penalty=default,
        n_rep=designs.n_rep,
        n_designs=designs.n_drawn,
        se_covers=designs.covers(),
        left_out=np.array([found.left_out for found in df]),
        settings=settings,
        versions=package_versions() | versions,
    )


@one_blas_thread()
def _run_path(
    work: Any, designs: Designs, responses: Responses, reduction: Reduction, **run: Any
) -> tuple[Any, ...]:
    """Return the df and the number of terms at each nk, the engine, and its versions."""
    width = 1 + len(work.nk)
    blocks = run_blocks(work, designs, responses, width=width, **run)
    df, terms, engine, versions = [], [], None, {}
    for k, of_one in itertools.groupby(blocks, key=lambda block: block.design):
        groups = run_groups(responses.n, designs.counts[k], width, reduction.frame)
        sums: list[Estimator] = []
        counted: list[np.ndarray] = []
        for block in of_one:
            if not sums:
                sums = [estimator(reduction, block.X, responses, groups) for _ in work.nk]
            engine, versions = block.engine, block.versions
            counted.append(block.result.n_terms)
            for total, fitted in zip(sums, block.result.fitted, strict=True):
                total.add(block.Y, fitted)
        df.append([total.result().total for total in sums])
        left_out = None if groups is None else merged_groups(groups)
        terms.append([mean_of(row, left_out) for row in np.hstack(counted)])
    each_nk = (zip(*found, strict=True) for found in (df, terms))
    return (
        *([mean_over_designs(list(e), designs.counts) for e in by_nk] for by_nk in each_nk),
        engine,
        versions,
    )
