"""Self-consistency of MARS: its nominal degrees of freedom beside the actual ones, along nk."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._utils.checks import check_choice, check_count, check_design, refusal
from ...contract import PathFits
from ...exceptions import InvalidInputError
from ...mars.engines.base import BoundEngine
from ...random import RDraws
from ..mars.penalty import corrected_penalty, default_penalty
from ..mars.penalty import nominal as count_nominal
from ..montecarlo.blocks import check_finite, check_result_shape, run_blocks
from ..montecarlo.designs import in_words, the_designs
from ..montecarlo.frames import merged_groups
from ..montecarlo.jackknife import mean_of, mean_over_designs
from ..montecarlo.measurement import run_groups
from ..montecarlo.noise import Responses, as_draws
from ..montecarlo.variance import Estimator, choose, estimator
from ..shown import ShownConsistency
from ..versions import package_versions
from .path import consistency_path

__all__ = ["SelfConsistency", "nominal_df", "self_consistency", "unpruned_mars"]

PACKAGES = ("earth", "mda")
AUTHORS_SEED = 1234


def nominal_df(model) -> float:
    """The degrees of freedom that a MARS model counts for itself, r + c (r - 1)/2.

    r is the number of terms with the intercept, c the penalty; a negative penalty makes it 0, as
    in R's earth (equation "mars_cmr" of the paper).

    Parameters
    ----------
    model : fitted Earth or Mars

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from pyearthdof import nominal_df
    >>> nominal_df(SimpleNamespace(n_terms_=12, penalty_=2.0))
    23.0
    """
    if hasattr(model, "nominal_df_"):
        return float(model.nominal_df_)
    if hasattr(model, "n_terms_") and hasattr(model, "penalty_"):
        return 0.0 if model.penalty_ < 0 else float(count_nominal(model.n_terms_, model.penalty_))
    raise refusal("model", model, "a fitted MARS model")


def authors_draws(draws, random_state):
    """The stream of a run: the authors' seed of R's numbers where nothing else is asked for.

    `draws="best"` asks for numpy's numbers, with which the best estimator goes.
    """
    if draws is None and random_state is None:
        return RDraws(AUTHORS_SEED)
    if isinstance(draws, str):
        check_choice("draws", draws, ("best",))
        return as_draws(None, AUTHORS_SEED if random_state is None else random_state)
    return as_draws(draws, random_state)


def unpruned_mars(package: str, degree: int, nk: int, engine: str, **search):
    """The fit that Algorithm 2 measures: a forward pass without threshold and without pruning.

    `search` are further options of earth's forward pass.
    """
    check_choice("package", package, PACKAGES)
    penalty = default_penalty(degree)
    if package == "earth":
        from ...mars.earth import Earth

        options = search | {"degree": degree, "nk": nk, "engine": engine}
        return Earth(penalty=penalty, thresh=0.0, pmethod="none", **options)
    if engine not in ("auto", "r"):
        raise refusal("engine", engine, "'auto' or 'r' for mda")
    from ...mars.mda import Mars

    return Mars(degree=degree, penalty=penalty, nk=nk, thresh=0.0, prune=False)


@dataclass(frozen=True)
class _FitPath:
    """The work on one block: one forward pass for each response where it can be cut."""

    procedure: object
    nk: tuple[int, ...]

    def __call__(self, bound: BoundEngine, Y, n_threads: int = 1) -> PathFits:
        path = bound.fit_path(Y, self.nk, n_threads)
        check_result_shape("fitted values", path.fitted, (len(self.nk), *Y.shape))
        check_finite(path.fitted)
        return path


@dataclass(frozen=True, eq=False)
class SelfConsistency(ShownConsistency):
    """Nominal and actual degrees of freedom of MARS for a sequence of nk.

    `plot` draws one against the other, as in the paper's figure.

    Attributes
    ----------
    nk : (k,) array
        Most terms that the forward pass may create.
    n_terms : (k,) array
        Mean number of terms r.
    nominal_df : (k,) array
        r + c (r - 1)/2 with the package's default penalty c.
    df, se : (k,) array
        Actual degrees of freedom by Algorithm 1, and their standard error.
    penalty : (k,) array
        Corrected penalty of Algorithm 2; the default where no term was added.
    corrected_nominal_df : (k,) array
        r + c (r - 1)/2 with the corrected penalty: df again by algebra, unless df < r.
    default_penalty : float
    n_rep : int
    n_designs : int or None
        Number of designs that were drawn; None where the design was given.
    se_covers : str
        What the standard errors and intervals cover: the draws of y for one design, or those of y and
        of the design.
    left_out : (k, m) array
        The df without one repetition (group of them, design).
    settings, versions : dict

    Examples
    --------
    >>> from pyearthdof import self_consistency
    >>> path = self_consistency((50, 2), nk=[1, 5, 9], n_rep=20, engine="native")
    >>> path
    SelfConsistency(nk=1..9, df=1.236..10.95, largest gap to nominal=1.751, n_rep=20, for one drawn design)
    >>> path.plot().get_xlabel()
    'actual df'
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

    def _draw(self, ax) -> None:
        label = f"default penalty {self.default_penalty:g}"
        self._draw_nominal(ax, label, fmt="^-", markersize=3, linewidth=0.8)
        ax.plot(self.df, self.corrected_nominal_df, "o", markersize=3, label="corrected penalty")
        ax.legend()


def self_consistency(
    design,
    grid=None,
    *,
    X=None,
    nominal=None,
    mu=None,
    sigma=None,
    degree=1,
    nk=range(1, 101),
    n_rep=100,
    draws=None,
    random_state=None,
    n_designs=None,
    engine="auto",
    n_jobs=None,
    progress=False,
    package="earth",
) -> Any:
    """Compare the nominal with the actual degrees of freedom: of MARS for many nk, or of any procedure.

    `self_consistency(design)` is about MARS. The true mean is zero. One draw of responses serves all nk, and
    with R's earth one forward pass serves the whole path: without threshold and pruning, the fit at nk = k
    is the beginning of the pass at any larger nk.

    `self_consistency(procedure, grid, X=X)` is about a procedure, scikit-learn's included, along a grid of
    its parameters. One draw serves all points. `degree`, `nk`, `engine` and `package` are MARS's.

    Parameters
    ----------
    design : tuple (n, p), (n, p) array or DataFrame; or a procedure
        A tuple asks for a Gaussian design, drawn after the responses as the authors do. A procedure, an
        estimator, or a function `value -> procedure` is what the grid is for.
    grid : {parameter: values}, or list of {parameter: value, ...}
        The points; plain values where `design` is a function of them.
    X : tuple (n, p), (n, p) array or DataFrame
        The design of a procedure.
    nominal : function, "n_coef", "trace", "rank" or None
        The nominal degrees of freedom at a point: a function of a `GridPoint` and perhaps of a parameter c,
        `lambda at, c=2.0: at.n_coef + c * (at.n_coef - 1) / 2`, which `ConsistencyPath.solve` finds; or the
        mean of what the fits tell. None compares with nothing.
    mu, sigma
        The true mean and the standard deviation for a procedure, as in `degrees_of_freedom`.
    degree : int
        Largest degree of interaction.
    nk : sequence of int
        Most terms in the forward pass.
    n_rep : int
        Number of responses drawn and fitted.
    draws : RDraws or "best", optional
        R's random numbers and the paper's estimator; `RDraws(1234)`, the authors' seed, by default for MARS.
        "best" is the best estimator of `degrees_of_freedom` instead, with numpy's numbers.
    random_state : int, RandomState, Generator or None
        Numpy's random numbers and the best estimator. `settings["variance_reduction"]` says what it was.
    n_designs : int, optional
        How many designs are drawn for a tuple; by default 1 with R's numbers, as the authors do, and 20
        with numpy's. With 1 the result and its errors hold for that design; with several it is a mean
        over designs, and its errors cover the draws of y and of the design.
    engine : {"auto", "r", "native"}
        As in `Earth`.
    n_jobs : int, optional
        Number of workers; the result does not depend on it.
    progress : bool
        Show a progress bar.
    package : {"earth", "mda"}
        Whose MARS. mda has no path, so every nk is fitted by itself.

    Returns
    -------
    SelfConsistency
        Of a procedure a `ConsistencyPath`.

    Examples
    --------
    >>> from pyearthdof import self_consistency
    >>> path = self_consistency((50, 2), nk=[1, 5, 9], n_rep=20)
    >>> path.to_frame()[["nk", "n_terms", "nominal_df", "df"]].round(4)
       nk  n_terms  nominal_df       df
    0   1     1.00         1.0   1.2358
    1   5     4.40         7.8   7.3698
    2   9     6.85        12.7  10.9486
    """
    if _is_procedure(design):
        return consistency_path(
            design, grid, X, nominal=nominal, mu=mu, sigma=sigma, n_rep=n_rep, draws=draws,
            random_state=random_state, n_designs=n_designs, n_jobs=n_jobs, progress=progress,
        )  # fmt: skip
    for name, value in {"grid": grid, "X": X, "nominal": nominal, "mu": mu, "sigma": sigma}.items():
        if value is not None:
            raise refusal(
                name, value, "None for MARS on a design; a procedure has a grid, its X and mean"
            )
    nk = tuple(check_count("nk", k, 1) for k in nk)
    if not nk:
        raise InvalidInputError("nk is empty but it should have one number of terms or more")
    degree = check_count("degree", degree, 1)
    n_rep = check_count("n_rep", n_rep, 2)
    design = check_design(design, "design")
    procedure = unpruned_mars(package, degree, max(nk), engine)
    stream = authors_draws(draws, random_state)
    designs = the_designs(design, stream, n_rep, n_designs)
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
        work, designs, responses, reduction, n_jobs, progress
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


def _is_procedure(first) -> bool:
    return any(hasattr(first, name) for name in ("fit", "fit_many")) or callable(first)


def _run_path(work, designs, responses, reduction, n_jobs, progress):
    """The df and the number of terms at each nk, the engine, and its versions."""
    width = 1 + len(work.nk)
    blocks = run_blocks(work, designs, responses, width=width, n_jobs=n_jobs, progress=progress)
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
