"""Algorithm 2: the penalty for which nominal and actual degrees of freedom of MARS agree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from ..._utils.checks import (
    check_choice,
    check_count,
    check_level,
    check_shape,
    is_shape,
    refusal,
)
from ..._utils.html import number, plus_minus, table
from ..._utils.warnings import warn_user
from ...contract import Procedure, Rows
from ...mars.base import search_options
from ...mars.classifier import EarthClassifier
from ...mars.components.terms import nominal_df as nominal
from ...mars.data.columns import Columns
from ...mars.data.design import Design, default_names
from ...mars.data.design import check_design as check_predictors
from ...mars.earth import Earth
from ...mars.engines import choose_engine
from ...mars.engines.base import BoundEngine
from ...mars.mda import Mars
from ...mars.model.mars_model import MarsModel
from ...mars.options import (
    OPTIONS,
    SEARCH_OPTIONS,
    EarthOptions,
    check_options,
    default_nk,
    default_penalty,
)
from ..montecarlo.designs import in_words, the_designs
from ..montecarlo.draws import Draws, RandomState, Responses, authors_draws
from ..montecarlo.errors import Jackknife, Target, check_n_rep, check_target, warn_if_missed
from ..montecarlo.measurement import measure
from ..montecarlo.variance_reduction import choose
from ..results import (
    Estimate,
    coverage_note,
    draw_bars,
    interval_text,
    package_versions,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def corrected_penalty(df: Any, r: Any) -> np.ndarray:
    """Return the penalty for which r terms have df nominal degrees of freedom, at least 0 (Algorithm 2)."""
    return np.maximum(penalty_before_zero(df, r), 0.0)


def penalty_before_zero(df: Any, r: Any) -> Any:
    """Return 2 (df - r)/(r - 1), which is smooth in df and r even if the penalty itself is 0."""
    return 2 * (df - r) / (r - 1)


_DEFAULTS = {option.name: option.default for option in OPTIONS} | {"linpreds": ()}


@dataclass(frozen=True)
class MarsSearch:
    """A forward pass and the design to measure it on."""

    procedure: Earth | Mars  # without threshold and pruning
    design: tuple[int, int] | np.ndarray | pd.DataFrame
    names: tuple[str, ...]  # names of the columns, with factors expanded
    p: int
    package: str
    options: dict  # plain values other than the package's defaults, except degree and nk
    checked: EarthOptions | None = None  # validated options of the procedure, if any

    @property
    def n(self) -> int:
        return self.design[0] if isinstance(self.design, tuple) else len(self.design)

    def once_checked(self) -> Procedure:
        """Return the procedure; earth's binds to designs with these columns without validating them again."""
        if isinstance(self.procedure, Mars):
            return self.procedure
        options = self.checked or check_options(self.procedure._params(), self.names, self.n)
        return _CheckedSearch(self.procedure, self.names, options)


class _CheckedSearch(Procedure):
    """An Earth with options validated for designs with these columns."""

    is_equivariant = Earth.is_equivariant

    def __init__(self, earth: Earth, names: tuple[str, ...], options: EarthOptions) -> None:
        self.earth, self.names, self.options = earth, names, options

    def bind(self, X: Rows) -> BoundEngine:
        engine = choose_engine(self.earth.engine, self.options, many=True)
        return engine.bind(Design(np.asarray(X), self.names), self.options)


@dataclass(frozen=True)
class _Predictors:
    """Information on the predictors: design, names with expanded factors, and their origin."""

    design: tuple[int, int] | np.ndarray | pd.DataFrame
    p: int
    names: tuple[str, ...]
    columns: Columns | None = None


def checked_search(X: Design, design: str, options: EarthOptions, engine: str) -> MarsSearch:
    """Return the search of an estimator with options validated for the design X."""
    own: dict[str, Any] = {name: getattr(options, name) for name in SEARCH_OPTIONS}
    plain = {name: _plain(value) for name, value in own.items() if _counts(name, value)}
    own |= {"penalty": default_penalty(options.degree), "thresh": 0.0, "pmethod": "none"}
    checked = EarthOptions(n_features=len(X.names), **own)
    earth = Earth(engine=engine, **own)
    predictors = _of_design(X, design)
    return MarsSearch(earth, predictors.design, X.names, predictors.p, "earth", plain, checked)


def mars_search(X: Any, estimator: Any, design: str, given: dict) -> MarsSearch:
    """Build the search to measure; `given` may have degree, nk, engine and package."""
    model = getattr(X, "model_", X)
    if isinstance(model, MarsModel):
        predictors = _of_model(model)
        if estimator is None and isinstance(X, BaseEstimator):
            estimator = X
    elif isinstance(X, BaseEstimator):
        raise refusal("X", X, "fitted first")
    else:
        model, predictors = None, _of_data(X, design)
    package = _package(estimator, given.get("package"))
    degree = _first(given.get("degree"), estimator, model, "degree", 1)
    p = predictors.p
    usual = max(21, 2 * p + 1) if package == "mda" else default_nk(p)
    nk = _first(given.get("nk"), estimator, model, "nk", usual)
    engine = _first(given.get("engine"), estimator, None, "engine", "auto")
    options = {}
    if isinstance(estimator, (Earth, EarthClassifier)):
        options = search_options(estimator, predictors.names, predictors.columns)
    procedure = unpruned_mars(
        package,
        check_count("degree", degree, 1),
        check_count("nk", nk, 1),
        engine,
        **{name: value for name, value in options.items() if name not in ("degree", "nk")},
    )
    return MarsSearch(
        procedure,
        predictors.design,
        predictors.names,
        predictors.p,
        package,
        {name: _plain(value) for name, value in options.items() if _counts(name, value)},
    )


def _of_model(model: MarsModel) -> _Predictors:
    names = tuple(model.feature_names)
    return _Predictors((model.n_samples, len(names)), len(names), names, model.columns)


def _of_data(X: Any, design: str) -> _Predictors:
    if not isinstance(X, Design):
        if is_shape(X):
            n, p = check_shape(X)
            return _Predictors((n, p), p, default_names(p))
        X = check_predictors(Earth(), X)
    return _of_design(X, design)


def _of_design(found: Design, design: str) -> _Predictors:
    n, p = found.values.shape
    measured: tuple[int, int] | np.ndarray | pd.DataFrame = found.values
    if design == "gaussian":
        measured = (n, p)
    elif found.names != default_names(p):
        measured = pd.DataFrame(found.values, columns=list(found.names))
    return _Predictors(measured, p, found.names, found.columns)


def _package(estimator: Any, package: str | None) -> str:
    if estimator is None:
        return check_choice("package", package or "earth", PACKAGES)
    if not isinstance(estimator, (Earth, EarthClassifier, Mars)):
        raise refusal("estimator", estimator, "an Earth, an EarthClassifier or a Mars")
    own = "mda" if isinstance(estimator, Mars) else "earth"
    if package not in (None, own):
        raise refusal("package", package, f"None or {own!r}, that of the estimator")
    return own


def _first(given: Any, estimator: Any, model: Any, name: str, default: Any) -> Any:
    """Return the first value that is not None: given, the estimator's, the model's, the default."""
    values = (given, getattr(estimator, name, None), getattr(model, name, None), default)
    return next(value for value in values if value is not None)


def _counts(name: str, value: Any) -> bool:
    return name not in ("degree", "nk") and value != _DEFAULTS[name]


def _plain(value: Any) -> Any:
    """Convert a value for JSON."""
    if isinstance(value, tuple):
        return list(value)
    return getattr(value, "__name__", repr(value)) if callable(value) else value


@dataclass(frozen=True, eq=False)
class PenaltyCorrection(Estimate):
    """A corrected penalty, with the df and the number of terms it is computed from.

    `plot` shows nominal and actual df of the search, the latter with its 95 % interval.

    Attributes
    ----------
    penalty, se : float
        Corrected penalty and its standard error, printed after ±. The error is that of 2 (df - r)/(r - 1), so
        it is positive even for a penalty of 0.
    default_penalty : float
        Default penalty of MARS: 2 for degree 1, otherwise 3.
    df, df_se : float
        Actual degrees of freedom of the unpruned fits, and their standard error.
    nominal_df : float
        Mean nominal degrees of freedom at the default penalty.
    n_terms, n_terms_se : float
        Mean number of terms r.
    n, p, nk, degree, n_rep : int
    n_designs, se_covers
        As in `DegreesOfFreedom`.
    left_out : dict
        Leave-one-out values of the penalty (before negative values are set to 0), the df and the number of
        terms.
    settings, versions : dict

    Examples
    --------
    >>> from pyearthdof import correct_penalty
    >>> found = correct_penalty((50, 2), n_rep=20, engine="native")
    >>> found.default_penalty, round(found.penalty, 4), round(found.se, 4)
    (2.0, 0.7969, 0.2565)
    """

    penalty: float
    se: float
    default_penalty: float
    df: float
    df_se: float
    nominal_df: float
    n_terms: float
    n_terms_se: float
    n: int
    p: int
    nk: int
    degree: int
    n_rep: int
    n_designs: int | None
    se_covers: str
    left_out: dict[str, np.ndarray]
    settings: dict = field(default_factory=dict)
    versions: dict = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"PenaltyCorrection({self.default_penalty:g} -> {self.penalty:.6g} ± {self.se:.2g}, "
            f"df={self.df:.6g}, nominal_df={self.nominal_df:.6g}, n_terms={self.n_terms:.6g}, "
            f"n_rep={self.n_rep}{in_words(self.n_designs)})"
        )

    def interval(self, quantity: str = "penalty", level: float = 0.95) -> tuple[float, float]:
        """Return a confidence interval at level `level`.

        As in `DegreesOfFreedom.interval`; negative ends of the penalty's interval are set to 0.

        Parameters
        ----------
        quantity : {"penalty", "df", "n_terms"}
        level : float
            Between 0 and 1.
        """
        check_choice("quantity", quantity, tuple(self.left_out))
        return self._interval(quantity, level)

    def _interval(self, quantity: str, level: float) -> tuple[float, float]:
        if quantity != "penalty" or self.n_terms <= 1:
            return super()._interval(quantity, level)
        raw = penalty_before_zero(self.df, self.n_terms)
        lower, upper = Jackknife(raw, self.left_out["penalty"]).interval(check_level(level))
        return max(lower, 0.0), max(upper, 0.0)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return one row with all numbers; `lower` and `upper` are the penalty's interval at `level`."""
        return self._one_row(self.interval(level=level))

    _INCHES = (6.0, 2.2)

    def _draw(self, ax: Axes) -> None:
        names = ["actual df", f"nominal df, penalty {self.default_penalty:g}"]
        nominal = self.nominal_df
        draw_bars(ax, names, [self.df, nominal], [self.interval("df"), (nominal, nominal)])
        ax.set_title(self._change("penalty"), fontsize=11)

    def _change(self, word: str) -> str:
        after = plus_minus(self.penalty, self.se, 4)
        return f"{word} {self.default_penalty:g} → {after}"

    def _html_title(self) -> str:
        return self._change("Penalty")

    def _html_body(self) -> str:
        ends = {name: interval_text(self.interval(name)) for name in self.left_out}
        rows = [
            ["corrected penalty", plus_minus(self.penalty, self.se), ends["penalty"]],
            ["actual df", plus_minus(self.df, self.df_se), ends["df"]],
            ["nominal df", number(self.nominal_df), ""],
            ["terms", plus_minus(self.n_terms, self.n_terms_se), ends["n_terms"]],
        ]
        return table(["", "estimate ± error", "95 % interval"], rows) + coverage_note(self)


def correct_penalty(
    X: Any,
    *,
    estimator: Any = None,
    design: str = "data",
    degree: int | None = None,
    nk: int | None = None,
    n_rep: int | None = None,
    target_se: float | None = None,
    draws: Draws | str | None = None,
    random_state: RandomState = None,
    n_designs: int | None = None,
    engine: str | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    package: str | None = None,
) -> PenaltyCorrection:
    """Correct the penalty of MARS so that nominal and actual degrees of freedom agree.

    The actual degrees of freedom df of the unpruned fit come from Algorithm 1 with mean zero. The corrected
    penalty is c = 2 (df - r)_+/(r - 1), where r is the mean number of terms. If df <= r, it is 0, as in the
    paper (the authors' R package keeps the default). If no fit added a term, the default is kept, with a
    warning.

    Parameters
    ----------
    X : tuple (n, p), (n, p) array, DataFrame, or fitted MARS model
        A tuple requests a Gaussian design, drawn after the responses as in the authors' code. A matrix
        measures the search on these predictors. A model provides its (n, p) with expanded factors, degree
        and nk, as in the authors' `correct_df(fit)`; a fitted estimator also provides its search options.
    estimator : Earth, EarthClassifier or Mars, optional
        Estimator whose search is measured, fitted or not, with all options of the forward pass: degree, nk,
        minspan, endspan, newvar_penalty, fast_k, fast_beta, adjust_endspan, auto_linpreds, scale_y, allowed
        and linpreds. Algorithm 2 sets thresh=0, pmethod="none", nprune=None and the default penalty.
    design : {"data", "gaussian"}
        "gaussian" draws a Gaussian design of the shape of X, with its column names for linpreds and
        allowed; "data" uses X itself.
    degree, nk : int, optional
        Maximum degree of interaction and maximum number of terms in the forward pass; by default the
        estimator's, the model's, or 1 and the default of the package for p predictors.
    n_rep, target_se, n_jobs, progress
        As in `degrees_of_freedom`; the standard error is that of the penalty.
    draws : RDraws or "best", optional
        R's random numbers with the paper's estimator; the default, `RDraws(1234)`, gives the authors'
        numbers. "best" is the best estimator of `degrees_of_freedom`, with numpy's numbers.
    random_state : int, RandomState, Generator or None
        Numpy's random numbers with the best estimator; `settings["variance_reduction"]` is the one used.
    n_designs : int, optional
        Number of designs to draw; default 1 with R's numbers, as in the authors' code, and 20 with numpy's.
        With 1, the penalty and its error apply to that design. With several, the penalty is that of the mean
        df and number of terms, and its error covers the draws of y and of the design.
    engine : {"auto", "r", "native"}, optional
        As in `Earth`; by default the estimator's, or "auto".
    package : {"earth", "mda"}, optional
        R package whose MARS is measured; by default the estimator's, or "earth".

    Examples
    --------
    >>> from pyearthdof import Earth, correct_penalty
    >>> correct_penalty((264, 9))
    PenaltyCorrection(2 -> 2.99357 ± 0.096, df=40.9985, nominal_df=33.04, n_terms=17.02, n_rep=100, \
for one drawn design)
    >>> correct_penalty((264, 9), random_state=1)
    PenaltyCorrection(2 -> 2.95891 ± 0.076, df=41.2911, nominal_df=33.5, n_terms=17.25, n_rep=100, \
over 20 designs)
    >>> round(correct_penalty((264, 9), estimator=Earth(minspan=20)).penalty, 5)
    2.64449
    """
    check_choice("design", design, ("data", "gaussian"))
    given = {"degree": degree, "nk": nk, "engine": engine, "package": package}
    return measure_penalty(
        mars_search(X, estimator, design, given), n_rep, draws, random_state, n_designs, target_se,
        n_jobs=n_jobs, progress=progress,
    )  # fmt: skip


def measure_penalty(
    search: MarsSearch,
    n_rep: int | None,
    draws: Draws | str | None,
    random_state: RandomState,
    n_designs: int | None,
    target_se: float | None,
    **run_options: Any,
) -> PenaltyCorrection:
    """Run `correct_penalty` for a search; `run_options` are n_jobs and progress."""

    def _error(run: Any) -> float:  # nan while no term was added
        return float("nan") if run.n_coef.value == 1.0 else _penalty(run.df, run.n_coef, 0.0).se

    procedure = search.once_checked()
    target_se = check_target(target_se)
    n_rep = check_n_rep(n_rep, target_se)
    stream = authors_draws(draws, random_state)
    source = repr(stream)
    designs = the_designs(search.design, stream, n_rep, n_designs, target_se=target_se)
    responses = Responses(designs.n, np.zeros(designs.n), np.ones(designs.n), stream)
    reduction = choose("auto", procedure, designs.source, responses, designs.counts, target_se)
    run = measure(
        procedure,
        designs,
        responses,
        reduction=replace(reduction, rows=False),
        target=None if target_se is None else Target(target_se, _error),
        **run_options,
    )
    designs = designs.first(run.counts)
    default, terms = search.procedure.penalty, run.n_coef
    assert terms is not None  # MARS reports its terms
    counted = nominal(terms.value, default)
    penalty = _correct(run.df, terms, default)
    warn_if_missed(penalty.se, target_se, n_rep)
    return PenaltyCorrection(
        penalty=max(penalty.value, 0.0),
        se=penalty.se,
        default_penalty=default,
        df=run.df.value,
        df_se=run.df.se,
        nominal_df=counted,
        n_terms=terms.value,
        n_terms_se=terms.se,
        n=designs.n,
        p=search.p,
        nk=search.procedure.nk,
        degree=search.procedure.degree,
        n_rep=designs.n_rep,
        n_designs=designs.n_drawn,
        se_covers=designs.covers(),
        left_out={
            "penalty": penalty.left_out,
            "df": run.df.left_out,
            "n_terms": terms.left_out,
        },
        settings={
            "design": designs.setting,
            "package": search.package,
            "options": search.options,
            "draws": source,
            "target_se": target_se,
            **run.reduction.settings,
            "engine": run.engine,
        },
        versions=package_versions() | run.versions,
    )


def _correct(df: Jackknife, r: Jackknife, default: float) -> Jackknife:
    """Return the penalty before negative values are set to 0."""
    if r.value == 1.0:
        warn_user(
            "no fit added a term to the intercept, so the penalty cannot be corrected; the default "
            f"penalty {default:g} is kept"
        )
        return Jackknife(default, np.full(len(df.left_out), default))
    return _penalty(df, r, default)


def _penalty(df: Jackknife, r: Jackknife, default: float) -> Jackknife:
    # Nor can it be corrected without the only repetition that added terms.
    some = r.left_out > 1
    left_out = np.where(
        some, penalty_before_zero(df.left_out, np.where(some, r.left_out, 2.0)), default
    )
    return Jackknife(float(penalty_before_zero(df.value, r.value)), left_out)


PACKAGES = ("earth", "mda")


def unpruned_mars(package: str, degree: int, nk: int, engine: str, **search: Any) -> Earth | Mars:
    """Return the fit that Algorithm 2 measures: a forward pass without threshold and pruning.

    `search` are other options of earth's forward pass.
    """
    penalty = default_penalty(degree)
    if package == "earth":
        options = search | {"degree": degree, "nk": nk, "engine": engine}
        return Earth(penalty=penalty, thresh=0.0, pmethod="none", **options)
    if engine not in ("auto", "r"):
        raise refusal("engine", engine, "'auto' or 'r' for mda")
    return Mars(degree=degree, penalty=penalty, nk=nk, thresh=0.0, prune=False)


def nominal_df(model: Any) -> float:
    """Return the nominal degrees of freedom of a MARS model, r + c (r - 1)/2.

    r is the number of terms including the intercept, c the penalty; 0 for a negative penalty, as in R's earth
    (equation "mars_cmr" of the paper).

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
    raise refusal("model", model, "a fitted MARS model")
