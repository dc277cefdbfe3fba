"""What an estimator or a pipeline really uses: `df_report`, degrees of freedom and what follows from them."""

from __future__ import annotations

import re
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from ..._utils.checks import (
    by_position,
    check_count,
    check_design,
    check_vector,
    is_shape,
    refusal,
)
from ...contract import bind
from ...exceptions import MissingClassWarning
from ..covariance_penalty import classes_of, counts_of, family_of
from ..families import FitFamily
from ..montecarlo.adapters import RegressorProcedure, as_procedure, takes_missing
from ..montecarlo.blocks import FitMany
from ..montecarlo.jackknife import Jackknife
from ..montecarlo.noise import as_draws
from ..results import DegreesOfFreedom
from .held import choices_of, with_all_held
from .measures import Measure, family_measures, gaussian_measures, wrong_classes
from .parameters import last_step, naive_df
from .prices import Price, Runs, own_search, priced
from .structure import is_linear_smoother
from .text import as_html, as_text

__all__ = ["DfReport", "Price", "df_report"]

_N_PILOT = 100  # fits of the two pilot runs, at most


@dataclass(frozen=True, eq=False)
class DfReport:
    """The degrees of freedom of an estimator at its fit to the data, and what follows from them.

    Attributes
    ----------
    title, estimator : str
        The steps in a few words, and the estimator as it prints itself.
    n, p : int
        Rows and columns.
    family : str
        "gaussian", "bernoulli" or "poisson".
    sigma : float or None
        Standard deviation of the noise that was drawn; None for classes and counts.
    df, se : float
        Degrees of freedom at the fitted mean, and their standard error.
    lower, upper : float
        An interval of 95 % for them.
    naive_df : float or None
        The number of parameters as it is usually counted, None where nobody counts.
    fixed_df : float or None
        The df of the fit with everything held that y chose, tr S(y); None where it is not known.
    prices : tuple of Price
        What each choice costs, held alone; of several also all together.
    measures : tuple
        Naive and honest numbers.
    notes : tuple of str
        What to know about them.
    n_rep, n_fits : int
        Responses that were drawn for each run, and fits altogether.
    seconds : float
        How long it took.
    found : DegreesOfFreedom
        The run that gave df.

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
    >>> report = df_report(pipeline, X, X[:, 0] + noise, random_state=0, progress=False)
    >>> report.naive_df, report.df > report.naive_df, report.prices[0].what
    (3, True, '2 of 10 columns, by SelectKBest')
    >>> report.to_frame().columns.tolist()
    ['quantity', 'naive', 'honest', 'se']
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

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def to_html(self) -> str:
        """The report as a piece of HTML, in the colours of the page around it."""
        return as_html(self)

    def to_frame(self) -> pd.DataFrame:
        """One row for each number: as usually computed, as measured, and the error of the latter."""
        rows: list[tuple] = [("df", self.naive_df, self.df, self.se)]
        rows += [(f"price of {price.step}", None, price.price, price.se) for price in self.prices]
        rows += [(m.name, m.naive, m.honest, m.se) for m in self.measures]
        frame = pd.DataFrame(rows, columns=["quantity", "naive", "honest", "se"])
        return frame.astype(dict.fromkeys(("naive", "honest", "se"), float))

    def to_dict(self) -> dict:
        """Everything as plain Python values, ready for JSON."""
        values = {
            name: getattr(self, name) for name in self.__dataclass_fields__ if name != "found"
        }
        values["prices"] = [vars(price) for price in self.prices]
        values["measures"] = [vars(measure) for measure in self.measures]
        values["notes"] = list(self.notes)
        values["settings"], values["versions"] = self.found.settings, self.found.versions
        return values


def df_report(
    estimator,
    X,
    y,
    *,
    family=None,
    sigma=None,
    prices=True,
    n_rep=100,
    draws=None,
    random_state=None,
    n_jobs=None,
    progress=True,
) -> DfReport:
    """Report what an estimator or a pipeline really uses on your data.

    The estimator is fitted to y, responses are drawn around its fit, and each of them is fitted by the whole
    pipeline anew: what it chooses, it chooses again. The df is how much the fits follow the responses. A
    choice is priced by holding what the step chose on the data, with the same responses.

    Parameters
    ----------
    estimator : scikit-learn estimator or pipeline, or a procedure
        A regressor or a classifier.
    X : (n, p) array or DataFrame
        Missing values and text are the pipeline's own concern.
    y : (n,) array
        Numbers; classes for a classifier; counts with `family="poisson"`.
    family : {None, "gaussian", "bernoulli", "poisson"}
        The distribution of y; None is "bernoulli" for a classifier and else "gaussian".
    sigma : float, optional
        Standard deviation of the noise. By default its square is RSS/(n - df), df by a pilot run; where the
        fit takes nearly all n it has to be given.
    prices : bool
        Price the searching steps. Each takes `n_rep` fits more.
    n_rep : int
        Number of responses that are drawn.
    draws : RDraws, optional
        R's random numbers.
    random_state : int, RandomState, Generator or None
        Numpy's random numbers, where `draws` is not given.
    n_jobs : int, optional
        Number of workers; the result does not depend on it.
    progress : bool
        Say how long it will take, and show bars, on standard error.

    Returns
    -------
    DfReport
        It prints as text, is a table in a notebook, `to_frame()` is a frame and `to_html()` a piece of HTML.
        The standard errors cover the draws around this fit; not that another y would have had another fit.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from pyearthdof import df_report
    >>> from pyearthdof.datasets import load_ozone
    >>> ozone = load_ozone()
    >>> tree = DecisionTreeRegressor(max_depth=3)
    >>> report = df_report(tree, ozone.drop(columns="O3"), ozone.O3, random_state=0, progress=False)
    >>> print(f"{report.naive_df} leaves, df {report.df:.0f}")
    8 leaves, df ...
    """
    of_family = family_of(estimator, family)
    if (
        isinstance(estimator, type)
        or not hasattr(estimator, "fit")
        or not hasattr(estimator, "predict")
    ):
        raise refusal("estimator", estimator, "an estimator or pipeline with fit and predict")
    if is_shape(X):
        raise refusal("X", X, "the design that y belongs to")
    (y,) = by_position(X, y=y)
    X = check_design(X, missing=takes_missing(estimator))
    n_rep = check_count("n_rep", n_rep, 3)
    run = Runs(estimator, X, n_rep, _seed(draws, random_state), n_jobs, progress)
    if of_family is None:
        return _gaussian(run, check_vector("y", y, len(X)), sigma, prices)
    if sigma is not None:
        raise refusal("sigma", sigma, f"None for the family {of_family!r}")
    return _of_family(run, y, of_family, prices)


def _seed(draws, random_state) -> dict:
    if draws is not None:
        return {"draws": as_draws(draws, random_state)}
    return {"random_state": as_draws(None, random_state).seed}


def _gaussian(run: Runs, y, sigma, prices) -> DfReport:
    X, n = run.X, len(run.X)
    if sigma is not None and np.ndim(sigma) > 0:
        raise refusal("sigma", "an array", "a number or None")
    procedure = as_procedure(run.estimator)
    model = run.fit(lambda: _fitted(procedure, run.estimator, X, y))
    fit = FitMany(procedure)(bind(procedure, X), y[:, None])
    fitted = fit.fitted[:, 0]
    choices = choices_of(run.estimator, model) if prices else []
    n_pilot = (
        0 if sigma is not None or procedure.is_linear else min(_N_PILOT, 2 * max(10, run.n_rep))
    )
    all_of_them = with_all_held(run.estimator, model)
    runs = len(choices) + (len(choices) > 0 and all_of_them[1] > 1) + 1
    run.announce(n_pilot + run.n_rep * (0 if procedure.is_linear else runs))
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
    measures = gaussian_measures(y, fitted, naive_df(model, fit), _total(found), sigma)
    return _report(
        run, found, "gaussian", sigma, naive_df(model, fit), fixed, found_prices, measures,
        _gaussian_notes(found, n),
    )  # fmt: skip


def _fitted(procedure, estimator, X, y):
    if isinstance(procedure, RegressorProcedure):
        return procedure.fitted_model(X, y)
    return clone(estimator).fit(X, y)


def _total(found: DegreesOfFreedom) -> Jackknife:
    return Jackknife(found.df, found.left_out["df"])


def _gaussian_notes(found, n: int) -> list[str]:
    notes = []
    if found.settings.get("sigma_df") is not None:
        notes.append(
            f"sigma is estimated: its square is RSS/(n - {found.settings['sigma_df']:.3g}). The optimism and "
            "what is made of it hold as far as it does."
        )
    if found.df >= n - 1:
        notes.append(
            f"The fit takes {found.df:.4g} degrees of freedom of {n} observations: it goes through the data, "
            "or as good as. Its residuals say nothing about new data, and neither do AIC, BIC and GCV; "
            "degrees_of_freedom(..., X_new=) tells what it does at new rows."
        )
    return notes


def _of_family(run: Runs, y, family: str, prices) -> DfReport:
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
    if labels is not None and not hasattr(estimator, "predict_proba"):
        raise refusal("estimator", estimator, "a classifier with predict_proba")
    options: dict[str, Any] = {
        "family": family,
        "y": codes if labels is None else labels[codes.astype(int)],
        "mu": "fitted",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingClassWarning)
        found = run.measure("the whole", estimator, **options)
        mean = work.probabilities(model, X) if labels is not None else model.predict(X)
        found_prices: list[Price] = []
        if choices:
            around = _around(mean, clip, labels, family)
            found_prices, _ = priced(run, found, choices, *all_of_them, around)
        wrong = None
        if labels is not None:
            wrong = run.measure("the share of wrong classes", estimator, loss="counting", **options)
    naive = naive_df(model, None)
    measures = family_measures(codes, mean, clip, labels, naive, _total(found))
    if wrong is not None and labels is not None:
        share = float((np.asarray(model.predict(X)) != labels[codes.astype(int)]).mean())
        measures += (wrong_classes(share, n, _total(wrong)),)
    return _report(
        run, found, family, None, naive, None, found_prices, measures, _family_notes(found, n)
    )


def _around(mean, clip, labels, family) -> dict:
    """The fit as the mean of the runs with held choices."""
    if labels is None:
        return {"family": family, "mu": np.maximum(mean, clip)}
    table = np.clip(mean, clip, None)
    return {"mu": table / table.sum(axis=1, keepdims=True)}


def _family_notes(found, n: int) -> list[str]:
    notes = []
    if found.n_missing:
        notes.append(
            f"A class is missing in {found.n_missing} of {found.n_rep} responses that were drawn; a fit to "
            "such a response gives that class the least probability. Rare classes need more rows."
        )
    what = "Means" if found.family == "poisson" else "Probabilities"
    notes.append(f"{what} below {found.clip:.2g} count as {found.clip:.2g} in the deviance.")
    if found.df >= n - 1:
        notes.append(
            f"The df, {found.df:.4g}, reach the number of observations, {n}: the fit follows the data almost "
            "wherever they go, and its deviance says nothing about new data."
        )
    return notes


def _title(estimator) -> str:
    """A pipeline, or a search for the best one, by the classes of its steps."""
    if hasattr(estimator, "steps"):
        return " -> ".join(
            _title(step)
            if hasattr(step, "steps")
            else step
            if isinstance(step, str)
            else type(step).__name__
            for _, step in estimator.steps
        )
    inner = getattr(estimator, "estimator", getattr(estimator, "regressor", None))
    if hasattr(inner, "steps"):
        return f"{type(estimator).__name__} of {_title(inner)}"
    return _words(estimator)


def _words(estimator) -> str:
    """As it prints itself, in one line; a function by its name, and not where it is in memory."""
    return re.sub(r"<function (\S+) at 0x\w+>", r"\1", " ".join(repr(estimator).split()))


def _report(run: Runs, found, family, sigma, naive, fixed, prices, measures, notes) -> DfReport:
    lower, upper = found.interval()
    return DfReport(
        title=_title(run.estimator), estimator=_words(run.estimator),
        n=len(run.X), p=np.shape(run.X)[1], family=family, sigma=sigma,
        df=found.df, se=found.se, lower=lower, upper=upper, naive_df=naive, fixed_df=fixed,
        prices=tuple(prices), measures=tuple(measures), notes=tuple(notes), n_rep=found.n_rep,
        n_fits=run.n_fits, seconds=time.perf_counter() - run.start, found=found,
    )  # fmt: skip
