"""`df_report`: degrees of freedom of an estimator at its fit to the data.

With the residual sum of squares RSS, the total sum of squares TSS, and the noise variance sigma^2:

    optimism     2 sigma^2 df/n, of the mean squared error
    error        RSS/n + optimism, the mean squared error of new responses at the same rows
    R2           1 - error/(TSS/n + 2 sigma^2/n); the mean of y has one degree of freedom
    AIC, BIC     n log RSS + 2 df, n log RSS + df log n
    GCV          RSS/n/(1 - df/n)^2

For classes and counts, with the deviance D, whose optimism is 2 df:

    deviance     D + 2 df, of new responses at the same rows
    explained    1 - (D + 2 df)/(D_0 + 2 df_0), D_0 of the class proportions (the mean of the counts)
    AIC, BIC     D + 2 df, D + df log n
    wrong        error rate, with the covariance penalty of counting

Naive numbers omit the optimism in errors and R2, and use the naive parameter count in AIC, BIC and GCV.
"""

from __future__ import annotations

import math
import re
import textwrap
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..._utils.checks import by_position, check_count, check_design, check_vector, is_shape, refusal
from ..._utils.html import Html, escape, note, table
from ...contract import Rows, bind
from ...exceptions import MissingClassWarning
from ...procedures.scikit_learn import is_linear_smoother
from ..families import FitFamily, classes_of, counts_of, family_of
from ..montecarlo.adapters import as_procedure, has_method, takes_missing
from ..montecarlo.draws import Draws, RandomState, as_draws
from ..montecarlo.errors import Jackknife
from ..montecarlo.workers import FitMany
from ..results import DegreesOfFreedom, Estimate, draw_bars, jackknife
from .fixed_choices import (
    Price,
    Runs,
    choices_of,
    last_step,
    naive_df,
    own_search,
    priced,
    with_all_held,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Measure:
    """A number of the report: naive, and with measured df."""

    name: str
    naive: float | None
    honest: float | None
    se: float | None


def _measure(
    name: str, naive: float | None, honest: Callable[[Any], Any], df: Jackknife
) -> Measure:
    """Return a measure; `honest` is a function of the df, with its error from the same draws."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(honest(df.value))
        se = Jackknife(value, np.array([float(honest(d)) for d in df.left_out])).se
    return Measure(
        name, None if naive is None else float(naive), value, se if math.isfinite(value) else None
    )


def gaussian_measures(
    y: np.ndarray, fitted: np.ndarray, naive: Any, df: Jackknife, sigma: float
) -> tuple[Measure, ...]:
    """Return the measures of a regression with the naive parameter count, which may be None."""
    n = len(y)
    rss, tss = float(((y - fitted) ** 2).sum()), float(((y - y.mean()) ** 2).sum())
    log_rss = math.log(rss) if rss > 0 else -math.inf
    null = tss / n + 2 * sigma**2 / n
    known = naive is not None

    def gcv(d: Any) -> float:
        return rss / n / (1 - d / n) ** 2 if d < n else math.inf

    return (
        _measure("optimism", 0.0, lambda d: 2 * sigma**2 * d / n, df),
        _measure("mean squared error", rss / n, lambda d: rss / n + 2 * sigma**2 * d / n, df),
        _measure("R2", 1 - rss / tss if tss else None, lambda d: 1 - (rss + 2 * sigma**2 * d) / n / null, df),
        _measure("AIC", n * log_rss + 2 * naive if known else None, lambda d: n * log_rss + 2 * d, df),
        _measure(
            "BIC", n * log_rss + naive * math.log(n) if known else None,
            lambda d: n * log_rss + d * math.log(n), df,
        ),
        _measure("GCV", gcv(naive) if known else None, gcv, df),
    )  # fmt: skip


def family_measures(
    codes: np.ndarray,
    mean: np.ndarray,
    clip: float,
    labels: np.ndarray | None,
    naive: Any,
    df: Jackknife,
) -> tuple[Measure, ...]:
    """Return the measures of classes with numbers `codes` and probabilities `mean`, or of counts."""
    n = len(codes)
    if labels is None:
        means = np.maximum(mean, clip), codes.mean()
        D, D0 = (_poisson_deviance(codes, each) for each in means)
        df0 = 1
    else:
        chosen = np.clip(mean, clip, 1 - clip)[np.arange(n), codes.astype(int)]
        shares = np.bincount(codes.astype(int), minlength=len(labels)) / n
        D, D0 = (-2 * float(np.log(p).sum()) for p in (chosen, shares[codes.astype(int)]))
        df0 = len(labels) - 1
    known = naive is not None
    return (
        _measure("optimism", 0.0, lambda d: 2 * d, df),
        _measure("deviance", D, lambda d: D + 2 * d, df),
        _measure("explained deviance", 1 - D / D0, lambda d: 1 - (D + 2 * d) / (D0 + 2 * df0), df),
        _measure("AIC", D + 2 * naive if known else None, lambda d: D + 2 * d, df),
        _measure(
            "BIC", D + naive * math.log(n) if known else None, lambda d: D + d * math.log(n), df
        ),
    )


def _poisson_deviance(y: np.ndarray, mean: np.ndarray) -> float:
    ratio = np.where(y > 0, y / mean, 1.0)
    return 2 * float((y * np.log(ratio) - (y - mean)).sum())


_WIDTH = 78
_BASIS = {
    "gaussian": "Gaussian noise, sigma {sigma:.4g}",
    "bernoulli": "classes",
    "poisson": "counts",
}
_ROUNDING = 1e-12
_HARD = "\N{NO-BREAK SPACE}"
_HEAD = ("", "naive", "honest")


def as_text(report: DfReport) -> str:
    """Return the report as text in lines of at most 78 characters."""
    lines = textwrap.wrap(f"Degrees of freedom of {report.title}", _WIDTH, subsequent_indent="  ")
    lines += ["", *_table([_HEAD, *_rows(report)])]
    if report.prices:
        lines += ["", "Cost of each choice, measured with the choice for the data held:"]
        rows = [(f"{step}:", price, what) for step, price, what in _prices(report)]
        first, second = (max(len(row[k]) for row in rows) for k in (0, 1))
        lines += [f"  {a:<{first}}  {b:<{second}}  {c}" for a, b, c in rows]
    lines += ["", *textwrap.wrap(_basis(report), _WIDTH)]
    for text in report.notes:
        lines += textwrap.wrap(text, _WIDTH, initial_indent="- ", subsequent_indent="  ")
    return "\n".join(lines).replace(_HARD, " ")


def page_of(report: DfReport) -> str:
    """Return the report as an HTML page in a light or dark scheme."""
    style = "body{font:16px/1.45 system-ui,sans-serif;margin:2em}:root{color-scheme:light dark}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Degrees of freedom</title>'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style></head>\n'
        f"<body>\n{report.to_html()}\n</body></html>\n"
    )


def _rows(report: DfReport) -> list[tuple[str, str, str]]:
    rows = [
        ("degrees of freedom", number_text(report.naive_df), plus_minus_text(report.df, report.se))
    ]
    rows += [
        (m.name, number_text(m.naive), plus_minus_text(m.honest, m.se)) for m in report.measures
    ]
    return rows


def _prices(report: DfReport) -> list[tuple[str, str, str]]:
    rows = [
        (price.step, plus_minus_text(price.price, price.se), price.what) for price in report.prices
    ]
    if report.fixed_df is not None:
        rows.append(("left", number_text(report.fixed_df), "the fit with all choices held"))
    return rows


def _basis(report: DfReport) -> str:
    noise = _BASIS[report.family].format(sigma=report.sigma)
    size = f"{report.n} rows, {report.p} columns; {noise}"
    if not report.n_rep:
        return f"{size}. The fit is linear in y: its df are exact."
    return (
        f"{size}; {report.n_rep} responses drawn around the fit, {report.n_fits} fits. "
        f"95{_HARD}% interval of the df: {report.lower:.4g} to {report.upper:.4g}."
    )


def number_text(value: Any) -> str:
    """Return a number in four digits; a dash for None."""
    if value is None:
        return "-"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    return f"{value:.4g}"


def plus_minus_text(value: Any, se: float | None) -> str:
    """Format a number with the digits of its error, or exactly."""
    if value is None or not math.isfinite(value) or not se or not math.isfinite(se):
        return number_text(value)
    if se < _ROUNDING * abs(value):
        return number_text(value)
    digits = max(0, 1 - math.floor(math.log10(se)))
    return f"{value:.{digits}f} ± {se:.{digits}f}"


def _table(rows: Any) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    return [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}".rstrip() for a, b, c in rows]


_N_PILOT = 100  # fits of the two pilot runs, at most


@dataclass(frozen=True, eq=False)
class DfReport(Estimate):
    """Degrees of freedom of an estimator at its fit to the data, and corrected criteria.

    Attributes
    ----------
    title, estimator : str
        Names of the steps, and the representation of the estimator.
    n, p : int
        Rows and columns.
    family : str
        "gaussian", "bernoulli" or "poisson".
    sigma : float or None
        Standard deviation of the simulated noise; None for classes and counts.
    df, se : float
        Degrees of freedom at the fitted mean, and their standard error.
    lower, upper : float
        95 % confidence interval for df.
    naive_df : float or None
        Conventional number of parameters, None if there is no convention.
    fixed_df : float or None
        Degrees of freedom with all choices held, tr S(y); None if unknown.
    prices : tuple of Price
        Cost of each choice, and of all together if there are several.
    measures : tuple
        Naive and honest numbers.
    notes : tuple of str
        Remarks.
    n_rep, n_fits : int
        Number of responses per run, and total number of fits.
    seconds : float
        Running time.
    found : DegreesOfFreedom
        The run for df.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest, f_regression
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from pyearthdof import df_report
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.normal(size=(60, 10)), rng.normal(size=60)
    >>> pipeline = make_pipeline(SelectKBest(f_regression, k=2), LinearRegression())
    >>> report = df_report(pipeline, X, X[:, 0] + noise, random_state=0)
    >>> report.naive_df, report.df > report.naive_df, report.prices[0].what
    (3, True, '2 of 10 columns, by SelectKBest')
    """

    title: str
    estimator: str
    n: int
    p: int
    family: str
    sigma: float | None
    df: float
    se: float
    lower: float
    upper: float
    naive_df: float | None
    fixed_df: float | None
    prices: tuple[Price, ...]
    measures: tuple[Measure, ...]
    notes: tuple[str, ...]
    n_rep: int
    n_fits: int
    seconds: float
    found: DegreesOfFreedom = field(repr=False)

    _HIDDEN = ("found",)

    def __repr__(self) -> str:
        return as_text(self)

    def _html_title(self) -> Html:
        return Html(f"Degrees of freedom of <code>{escape(self.title)}</code>")

    def _html_body(self) -> str:
        prices = [(step, what, price) for step, price, what in _prices(self)]
        columns = ("cost of the choices", "held: the choice for the data", "df")
        return "".join([
            table(_HEAD, _rows(self)), table(columns, prices, left=2) if prices else "",
            *map(note, (_basis(self), *self.notes)),
        ])  # fmt: skip

    def to_html(self) -> str:
        """Return the report as an HTML fragment in the colours of the surrounding page."""
        return self._repr_html_()

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return a confidence interval for the df, as in `DegreesOfFreedom.interval`."""
        return self.found.interval("df", level)

    def _draw(self, ax: Axes) -> None:
        """Draw the df with their interval, and the costs with two standard errors."""
        names = ["degrees of freedom", *(price.step for price in self.prices)]
        ends = [(price.price - 2 * price.se, price.price + 2 * price.se) for price in self.prices]
        values = [self.df, *(price.price for price in self.prices)]
        draw_bars(ax, names, values, [(self.lower, self.upper), *ends])

    def to_frame(self) -> pd.DataFrame:
        """Return one row per number: naive, honest, and its standard error."""
        rows: list[tuple] = [("df", self.naive_df, self.df, self.se)]
        rows += [(f"price of {price.step}", None, price.price, price.se) for price in self.prices]
        rows += [(m.name, m.naive, m.honest, m.se) for m in self.measures]
        frame = pd.DataFrame(rows, columns=["quantity", "naive", "honest", "se"])
        return frame.astype(dict.fromkeys(("naive", "honest", "se"), float))

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values for JSON."""
        return super().to_dict() | {
            "prices": [vars(price) for price in self.prices],
            "measures": [vars(measure) for measure in self.measures],
            "notes": list(self.notes),
            "settings": self.found.settings,
            "versions": self.found.versions,
        }


def df_report(
    estimator: Any,
    X: Rows,
    y: ArrayLike,
    *,
    family: str | None = None,
    sigma: float | None = None,
    prices: bool = True,
    n_rep: int = 100,
    draws: Draws | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> DfReport:
    """Report the degrees of freedom of an estimator or a pipeline on your data.

    Responses are drawn around the fit to y, and the complete pipeline is refitted to each of them, including
    its choices. The df are the sum of the covariances between fits and responses. The cost of a choice is the
    difference to a run on the same responses with that choice held fixed.

    Parameters
    ----------
    estimator : scikit-learn estimator or pipeline, procedure, or function (X, y) -> fitted
        A regressor or a classifier. For functions, choices and parameter counts are unknown.
    X : (n, p) array or DataFrame
        Passed to the pipeline as is, including missing values and text.
    y : (n,) array
        Numbers, classes for a classifier, or counts with `family="poisson"`.
    family : {None, "gaussian", "bernoulli", "poisson"}
        Distribution of y; None is "bernoulli" for classifiers and "gaussian" otherwise.
    sigma : float, optional
        Noise standard deviation. By default, sigma^2 is estimated by RSS/(n - df), with df from a pilot run;
        required if the fit nearly interpolates.
    prices : bool
        Measure the cost of each step that uses y, with `n_rep` additional fits each.
    n_rep, draws, random_state, n_jobs
        As in `degrees_of_freedom`.
    progress : bool
        Print the expected running time and progress bars to standard error.

    Returns
    -------
    DfReport
        Prints as text and displays as a table in notebooks; `to_frame()` returns a data frame, `to_html()` an
        HTML fragment. Standard errors cover the draws around this fit, not the variation of the fit with y.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from pyearthdof import df_report
    >>> from pyearthdof.datasets import load_ozone
    >>> ozone = load_ozone()
    >>> tree = DecisionTreeRegressor(max_depth=3)
    >>> report = df_report(tree, ozone.drop(columns="O3"), ozone.O3, random_state=0)
    >>> print(f"{report.naive_df} leaves, df {report.df:.0f}")
    8 leaves, df ...
    """
    of_family = family_of(estimator, family)
    fits = has_method(estimator, "fit") and has_method(estimator, "predict")
    if isinstance(estimator, type) or not (fits or callable(estimator)):
        right = "an estimator or pipeline with fit and predict, or a function (X, y) -> fitted"
        raise refusal("estimator", estimator, right)
    if is_shape(X):
        raise refusal("X", X, "the design that y belongs to")
    (y,) = by_position(X, y=y)
    X = check_design(X, missing=takes_missing(estimator))
    n_rep = check_count("n_rep", n_rep, 3)
    run = Runs(estimator, X, of_family, n_rep, as_draws(draws, random_state), n_jobs, progress)
    if of_family == "gaussian":
        return _gaussian(run, check_vector("y", y, len(X)), sigma, prices)
    if sigma is not None:
        raise refusal("sigma", sigma, f"None for the family {of_family!r}")
    return _of_family(run, y, of_family, prices)


def _gaussian(run: Runs, y: np.ndarray, sigma: float | None, prices: bool) -> DfReport:
    X, n = run.X, len(run.X)
    if sigma is not None and np.ndim(sigma) > 0:
        raise refusal("sigma", "an array", "a number or None")
    procedure = as_procedure(run.estimator)
    linear = getattr(procedure, "is_linear", False)
    model = run.fit(lambda: _fitted(procedure, X, y))
    fit = FitMany(procedure)(bind(procedure, X), y[:, None])
    fitted = fit.fitted[:, 0]
    choices = choices_of(run.estimator, model) if prices else []
    n_pilot = 0 if sigma is not None or linear else min(_N_PILOT, 2 * max(10, run.n_rep))
    all_of_them = with_all_held(run.estimator, model)
    runs = len(choices) + (len(choices) > 0 and all_of_them[1] > 1) + 1
    run.announce(n_pilot + run.n_rep * (0 if linear else runs))
    found = run.measure("the whole", run.estimator, n_pilot, y=y, mu="fitted", sigma=sigma)
    sigma = float(found.settings["sigma"])
    around = {"mu": fitted, "sigma": sigma, "method": "monte-carlo" if found.n_rep else "auto"}
    all_held = found
    found_prices: list[Price] = []
    if choices:
        found_prices, all_held = priced(run, found, choices, *all_of_them, around)
    fixed = None if fit.trace is None else float(fit.trace[0])
    if fixed is not None and prices and not is_linear_smoother(last_step(all_of_them[0])):
        found_prices.append(own_search(model, all_held, fixed))
    measures = gaussian_measures(y, fitted, naive_df(model, fit), jackknife(found), sigma)
    return _report(
        run, found, found_prices, measures, _gaussian_notes(found, n), family="gaussian", sigma=sigma,
        naive_df=naive_df(model, fit), fixed_df=fixed,
    )  # fmt: skip


def _fitted(procedure: Any, X: Rows, y: np.ndarray) -> Any:
    """Return the fit to the data; for a function, the fitted values."""
    if hasattr(procedure, "fitted_model"):
        return procedure.fitted_model(X, y)
    return clone(procedure).fit(X, y)


def _gaussian_notes(found: DegreesOfFreedom, n: int) -> list[str]:
    notes = []
    if found.settings.get("sigma_df") is not None:
        notes.append(
            f"sigma is estimated: its square is RSS/(n - {found.settings['sigma_df']:.3g}). The optimism and "
            "the criteria depend on this estimate."
        )
    if found.df >= n - 1:
        notes.append(
            f"The fit uses {found.df:.4g} degrees of freedom for {n} observations: it interpolates the data, "
            "or nearly so. Its residuals, AIC, BIC and GCV are no guide to new data; prediction_df "
            "measures the error at new rows."
        )
    return notes


def _of_family(run: Runs, y: ArrayLike, family: str, prices: bool) -> DfReport:
    X, n, estimator = run.X, len(run.X), run.estimator
    clip = 1 / (2 * n)
    if family == "poisson":
        labels, codes = None, counts_of(y, n)
    else:
        labels, codes = classes_of(y, n)
    work = FitFamily(estimator, labels, "deviance", clip)
    model = run.fit(lambda: work.fitted_model(X, codes))
    choices = choices_of(estimator, model) if prices else []
    all_of_them = with_all_held(estimator, model)
    runs = len(choices) + (len(choices) > 0 and all_of_them[1] > 1) + 1 + (labels is not None)
    run.announce(run.n_rep * runs)
    if labels is not None and not has_method(estimator, "predict_proba"):
        raise refusal("estimator", estimator, "a classifier with predict_proba")
    options: dict[str, Any] = {
        "y": codes if labels is None else labels[codes.astype(int)],
        "mu": "fitted",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingClassWarning)
        found = run.measure("the whole", estimator, **options)
        mean = work.probabilities(model, X) if labels is not None else model.predict(X)
        found_prices: list[Price] = []
        if choices:
            table = np.clip(mean, clip, None)  # the fit is the mean of the runs with held choices
            around = {"mu": table if labels is None else table / table.sum(axis=1, keepdims=True)}
            found_prices, _ = priced(run, found, choices, *all_of_them, around)
        wrong = None
        if labels is not None:
            wrong = run.measure("the share of wrong classes", estimator, loss="counting", **options)
    naive = naive_df(model, None)
    measures = family_measures(codes, mean, clip, labels, naive, jackknife(found))
    if wrong is not None and labels is not None:
        share = float((np.asarray(model.predict(X)) != labels[codes.astype(int)]).mean())
        name, penalty = "share of wrong classes", jackknife(wrong)  # of counting
        measures += (_measure(name, share, lambda d: share + 2 * d / n, penalty),)
    return _report(
        run, found, found_prices, measures, _family_notes(found, n), family=family, naive_df=naive
    )


def _family_notes(found: Any, n: int) -> list[str]:
    notes = []
    if found.n_missing:
        notes.append(
            f"A class is missing in {found.n_missing} of {found.n_rep} responses that were drawn; a fit to "
            "such a response gives that class the least probability. Rare classes need more rows."
        )
    what = "Means" if found.family == "poisson" else "Probabilities"
    notes.append(f"{what} below {found.clip:.2g} are set to {found.clip:.2g} in the deviance.")
    if found.df >= n - 1:
        notes.append(
            f"The df, {found.df:.4g}, reach the number of observations, {n}: the fit follows the data almost "
            "wherever they go, and its deviance says nothing about new data."
        )
    return notes


def title_of(estimator: Any) -> str:
    """Return the title of a pipeline or search, from the classes of its steps."""
    if hasattr(estimator, "steps"):
        return " -> ".join(
            title_of(step)
            if hasattr(step, "steps")
            else step
            if isinstance(step, str)
            else type(step).__name__
            for _, step in estimator.steps
        )
    inner = getattr(estimator, "estimator", getattr(estimator, "regressor", None))
    if hasattr(inner, "steps"):
        return f"{type(estimator).__name__} of {title_of(inner)}"
    return _words(estimator)


def _words(estimator: Any) -> str:
    """Return the representation on one line; for a function, its name."""
    return re.sub(r"<function (\S+) at 0x\w+>", r"\1", " ".join(repr(estimator).split()))


def _report(
    run: Runs, found: Any, prices: list, measures: tuple, notes: list[str], **known: Any
) -> DfReport:
    known = {"sigma": None, "fixed_df": None} | known
    lower, upper = found.interval()
    return DfReport(
        title=title_of(run.estimator), estimator=_words(run.estimator),
        n=len(run.X), p=np.shape(run.X)[1], df=found.df, se=found.se, lower=lower, upper=upper, **known,
        prices=tuple(prices), measures=tuple(measures), notes=tuple(notes), n_rep=found.n_rep,
        n_fits=run.n_fits, seconds=time.perf_counter() - run.start, found=found,
    )  # fmt: skip
