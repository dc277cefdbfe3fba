"""Self-consistency of MARS: its nominal degrees of freedom beside the actual ones, along nk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..exceptions import InvalidInputError
from ..random import RDraws
from .adapters import engine_of
from .checks import check_count, check_design
from .covariance import covariance_sum, jackknife_groups
from .empirical import package_versions
from .jackknife import mean_of
from .montecarlo import block_edges, check_finite, check_result_shape, run_blocks
from .noise import Responses, as_draws, drawn_design, is_shape
from .penalty import corrected_penalty, default_penalty, nominal

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
        return 0.0 if model.penalty_ < 0 else float(nominal(model.n_terms_, model.penalty_))
    raise InvalidInputError(f"{model!r} is not a fitted MARS model; call its fit first.")


def unpruned_mars(package: str, degree: int, nk: int, engine: str):
    """The fit that Algorithm 2 measures: a forward pass without threshold and without pruning."""
    if package not in PACKAGES:
        raise InvalidInputError(f"package={package!r} is unknown; pass 'earth' or 'mda'.")
    penalty = default_penalty(degree)
    if package == "earth":
        from ..mars.earth import Earth

        return Earth(
            degree=degree, penalty=penalty, nk=nk, thresh=0.0, pmethod="none", engine=engine
        )
    if engine not in ("auto", "r"):
        raise InvalidInputError(f"engine={engine!r} is not possible for mda; pass 'auto' or 'r'.")
    from ..mars.mda import Mars

    return Mars(degree=degree, penalty=penalty, nk=nk, thresh=0.0, prune=False)


class _Path(NamedTuple):
    """Fits of one block for every nk: (k, n, m) fitted values and (k, m) numbers of terms."""

    fitted: np.ndarray
    n_terms: np.ndarray


@dataclass(frozen=True)
class _FitPath:
    """The work on one block: one forward pass a response where the procedure can cut it."""

    procedure: object
    nk: tuple[int, ...]

    def __call__(self, X, Y) -> _Path:
        if hasattr(self.procedure, "fit_path"):
            path = self.procedure.fit_path(X, Y, self.nk)
            fitted, n_terms = np.asarray(path.fitted), np.asarray(path.n_terms)
        else:
            fits = [self._refit(X, Y, k) for k in self.nk]
            fitted = np.stack([f.fitted for f in fits])
            n_terms = np.stack([f.n_coef for f in fits])
        check_result_shape("fitted values", fitted, (len(self.nk), *Y.shape))
        check_finite(fitted)
        return _Path(fitted, n_terms)

    def _refit(self, X, Y, nk):
        from sklearn.base import clone

        return clone(self.procedure).set_params(nk=nk).fit_many(X, Y)


@dataclass(frozen=True, eq=False)
class SelfConsistency:
    """Nominal and actual degrees of freedom of MARS for a sequence of nk.

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
    settings, versions : dict

    Examples
    --------
    >>> from pyearthdof import self_consistency
    >>> path = self_consistency((50, 2), nk=[1, 5, 9], n_rep=20, engine="native")
    >>> path
    SelfConsistency(nk=1..9, df=1.236..10.95, largest gap to nominal=1.751, n_rep=20)
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
    settings: dict = field(default_factory=dict)
    versions: dict = field(default_factory=dict)

    _COLUMNS = ("nk", "n_terms", "nominal_df", "df", "se", "penalty", "corrected_nominal_df")

    def __repr__(self) -> str:
        gap = np.abs(self.nominal_df - self.df).max()
        return (
            f"SelfConsistency(nk={self.nk[0]}..{self.nk[-1]}, df={self.df[0]:.4g}.."
            f"{self.df[-1]:.4g}, largest gap to nominal={gap:.4g}, n_rep={self.n_rep})"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each nk."""
        return pd.DataFrame({name: getattr(self, name) for name in self._COLUMNS})

    def to_dict(self) -> dict:
        """Everything as plain Python values, ready for JSON."""
        columns = {name: getattr(self, name).tolist() for name in self._COLUMNS}
        rest = ("default_penalty", "n_rep", "settings", "versions")
        return columns | {name: getattr(self, name) for name in rest}

    def plot(self, ax=None):
        """Nominal against actual degrees of freedom, as in the paper's figure; returns the axes."""
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots()
        top = 1.05 * max(self.df.max(), self.nominal_df.max())
        ax.plot([0, top], [0, top], "--", color="grey", label="self-consistent")
        ax.errorbar(
            self.df, self.nominal_df, xerr=self.se, fmt="^-", markersize=3, linewidth=0.8,
            label=f"default penalty {self.default_penalty:g}",
        )  # fmt: skip
        ax.plot(self.df, self.corrected_nominal_df, "o", markersize=3, label="corrected penalty")
        ax.set(xlabel="actual df", ylabel="nominal df", xlim=(0, top), ylim=(0, top))
        ax.legend()
        return ax


def self_consistency(
    design,
    *,
    degree=1,
    nk=range(1, 101),
    n_rep=100,
    draws=None,
    engine="auto",
    n_jobs=None,
    progress=False,
    package="earth",
) -> SelfConsistency:
    """Compare the nominal with the actual degrees of freedom of MARS for many nk.

    The true mean is zero. One draw of responses serves all nk, and with R's earth one forward pass
    serves the whole path: without threshold and pruning, the fit at nk = k is the beginning of the
    pass at any larger nk.

    Parameters
    ----------
    design : tuple (n, p), (n, p) array or DataFrame
        A tuple asks for a Gaussian design, drawn after the responses as the authors do.
    degree : int
        Largest degree of interaction.
    nk : sequence of int
        Most terms in the forward pass.
    n_rep : int
        Number of responses drawn and fitted.
    draws : RDraws, optional
        Random numbers; `RDraws(1234)`, the authors' seed, by default.
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
    nk = tuple(check_count("nk", k, 1) for k in nk)
    if not nk:
        raise InvalidInputError("nk is empty; pass at least one number of terms.")
    degree = check_count("degree", degree, 1)
    n_rep = check_count("n_rep", n_rep, 2)
    design = check_design(design, "design")
    procedure = unpruned_mars(package, degree, max(nk), engine)
    stream = as_draws(RDraws(AUTHORS_SEED) if draws is None else draws, None)
    X = drawn_design(design, stream, n_rep) if is_shape(design) else design
    n = len(X)
    responses = Responses(n, np.zeros(n), np.ones(n), stream)
    settings = {
        "design": list(design) if is_shape(design) else "given",
        "package": package,
        "degree": degree,
        "draws": repr(stream),
        "engine": engine_of(procedure),
    }
    covariances, terms, versions = _run_path(
        _FitPath(procedure, nk), X, responses, n_rep, n_jobs, progress
    )
    return _consistency(nk, degree, n_rep, covariances, terms, settings, versions)


def _run_path(work, X, responses, n_rep, n_jobs, progress):
    width = 1 + len(work.nk)
    groups = jackknife_groups(responses.n, n_rep, width)
    sums = [covariance_sum(responses.mu, responses.sigma, groups) for _ in work.nk]
    terms: list[np.ndarray] = []
    versions: dict = {}
    edges = block_edges(responses.n, n_rep, width)
    for block in run_blocks(work, X, responses, edges, n_jobs=n_jobs, progress=progress):
        terms.append(block.result.n_terms)
        versions = block.versions
        for total, fitted in zip(sums, block.result.fitted, strict=True):
            total.add(block.Y, fitted)
    return [s.result().total for s in sums], np.hstack(terms), versions


def _consistency(nk, degree, n_rep, covariances, terms, settings, versions) -> SelfConsistency:
    r = np.array([mean_of(row).value for row in terms])
    df = np.array([c.value for c in covariances])
    default = default_penalty(degree)
    penalty = np.array(
        [default if rk == 1 else corrected_penalty(d, rk) for d, rk in zip(df, r, strict=True)]
    )
    return SelfConsistency(
        nk=np.array(nk),
        n_terms=r,
        nominal_df=nominal(r, default),
        df=df,
        se=np.array([c.se for c in covariances]),
        penalty=penalty,
        corrected_nominal_df=nominal(r, penalty),
        default_penalty=default,
        n_rep=n_rep,
        settings=settings,
        versions=package_versions() | versions,
    )
