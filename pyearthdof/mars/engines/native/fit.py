"""One fit of the native engine: forward pass, pruning pass, and the numbers of the model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .... import _core
from ...._utils.warnings import warn_user
from ...._version import __version__
from ....exceptions import InvalidInputError, RWarning
from ...arithmetic import (
    r_mean,
    r_sum,
    r_weighted_mean,
)
from ...components.terms import evaluate_terms, gcv_of, term_names
from ...data.design import Responses, taken
from ...model.mars_model import FitDetails, MarsModel
from ...options import MANY_ROWS, EarthOptions
from .forward import ForwardPass, forward_pass
from .glm_fit import (
    check_responses,
    earth_part,
    fit_glms,
    glm_responses,
)
from .prune import Pruning, choose, find_subsets, prune
from .settings import response_importance
from .weights import effective_weights

__all__ = ["NativeFit", "Search", "fit", "fit_one", "reprune", "subset_fits"]


@dataclass(frozen=True)
class NativeFit:
    """A fit of one or several responses; names as in `MarsModel`.

    `coef`, `fitted` and `residuals` have one column per response if there were several. The residuals are
    those of the regression: y - fitted may round to 0 where they are not.
    """

    dirs: np.ndarray
    cuts: np.ndarray
    selected: np.ndarray
    coef: np.ndarray
    bx: np.ndarray
    rss: float
    rsq: float
    gcv: float
    grsq: float
    rss_per_subset: np.ndarray
    gcv_per_subset: np.ndarray
    prune_terms: np.ndarray
    termcond: int
    fitted: np.ndarray
    residuals: np.ndarray
    leverages: np.ndarray | None
    n_ties: int
    rss_per_response: np.ndarray
    rsq_per_response: np.ndarray
    gcv_per_response: np.ndarray
    grsq_per_response: np.ndarray


@dataclass(frozen=True)
class Search:
    """What finds terms and subsets of them: other functions may remember what they found before."""

    forward: Callable = forward_pass
    subsets: Callable = find_subsets


def fit(
    X, y, options: EarthOptions, weights=None, feature_names=None, subset=None, n_threads=1,
    search=Search(),
) -> NativeFit:  # fmt: skip
    """Fit one response, or several (columns of y) with the same terms.

    Parameters
    ----------
    X : (n, p) array
    y : (n,) or (n, m) array
    options : EarthOptions
    weights : (n,) array, optional
        Case weights.
    feature_names : names of the columns of X, for an `allowed` function.
    subset : rows to fit on, optional
    n_threads : int
        The fit does not depend on it.
    search : Search
        What finds the terms and subsets.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.mars.options import EarthOptions
    >>> x = np.linspace(0, 1, 101)
    >>> found = fit(x[:, None], np.maximum(0, x - 0.5), EarthOptions(n_features=1))
    >>> found.dirs.ravel().tolist(), found.cuts.ravel().round(6).tolist()
    ([0, 1, -1], [0.0, 0.52, 0.52])
    """
    X = np.asarray(X, dtype=float)
    Y = np.asarray(y, dtype=float).reshape(len(X), -1)
    weights = taken(effective_weights(weights, len(X), options), subset)
    X, Y = taken(X, subset), taken(Y, subset)
    importance = response_importance(options.response_weight, Y.shape[1])
    forward = search.forward(X, Y, options, weights, feature_names, n_threads=n_threads)
    found = _prune_and_solve(forward, Y, importance, weights, options, n_threads, search)
    return _one_column(found) if np.ndim(y) == 1 else found


def _prune_and_solve(
    forward: ForwardPass, Y, importance, weights, options: EarthOptions, n_threads=1, search=Search()
) -> NativeFit:  # fmt: skip
    # each product in R's order: rounding decides ties, and whether the fit of a constant is exact
    root = None if weights is None else np.sqrt(weights)[:, None]
    weighted = Y if root is None else root * Y
    pruned = prune(forward.bx, weighted * importance, options, search.subsets)
    bx = columns = np.ascontiguousarray(forward.bx.T[pruned.selected])
    if root is not None:
        bx = columns / root.T
        columns = bx * root.T
    wanted = options.get_leverages
    wanted = len(Y) < MANY_ROWS if wanted is None else wanted
    scaled = Y * importance
    weighted = scaled if root is None else scaled * root
    coef, residuals, leverages = _least_squares(columns, weighted, wanted, n_threads)
    if root is not None:
        residuals = residuals / root
    fitted, residuals = (scaled - residuals) / importance, residuals / importance
    coef = coef / importance
    statistics = _statistics(pruned)
    return NativeFit(
        dirs=forward.dirs,
        cuts=forward.cuts,
        coef=coef,
        bx=bx.T,
        termcond=forward.termcond,
        fitted=fitted,
        residuals=residuals,
        leverages=leverages,
        n_ties=forward.n_ties,
        **statistics,
        **_per_response(scaled / importance, fitted, residuals, weights, options, statistics),
    )


def _one_column(found: NativeFit) -> NativeFit:
    columns = ("coef", "fitted", "residuals")
    return replace(found, **{name: getattr(found, name)[:, 0] for name in columns})


def _per_response(
    Y, fitted, residuals, weights, options: EarthOptions, statistics
) -> dict[str, Any]:
    """What each response by itself has of the fit, with earth's rules for weights."""
    n, m = Y.shape
    cases = 1.0 if weights is None else weights
    penalty, n_terms = options.penalty, len(statistics["selected"])
    rss, rsq, gcv, grsq = np.empty((4, m))
    for j, (y, fit) in enumerate(zip(Y.T, fitted.T, strict=True)):
        mean = r_sum(y) / n if weights is None else r_weighted_mean(y, weights)
        total = r_sum(cases * (y - mean) ** 2)
        rss[j] = r_sum(cases * (y - fit) ** 2)
        rsq[j] = _share(rss[j], total)
        if weights is None and m == 1:
            rss[j] = r_sum(residuals[:, 0] ** 2)
            total = r_sum((y - r_mean(y)) ** 2)
        gcv[j], null = gcv_of([rss[j], total], np.array([n_terms, 1]), n, penalty)
        grsq[j] = _share(gcv[j], null)
    if weights is not None and m == 1:
        grsq[0] = statistics["grsq"]
    return {
        "rss_per_response": rss,
        "rsq_per_response": rsq,
        "gcv_per_response": gcv,
        "grsq_per_response": grsq,
    }


def _statistics(pruned: Pruning) -> dict:
    rss, gcv = pruned.rss_per_subset.copy(), pruned.gcv_per_subset.copy()
    rss[rss < 1e-10] = 0.0
    gcv[gcv < 1e-10] = 0.0
    last = len(pruned.selected) - 1
    return {
        "selected": pruned.selected,
        "rss": float(rss[last]),
        "rsq": _share(rss[last], rss[0]),
        "gcv": float(gcv[last]),
        "grsq": _share(gcv[last], gcv[0]),
        "rss_per_subset": rss,
        "gcv_per_subset": gcv,
        "prune_terms": pruned.prune_terms,
    }


def _share(part: float, whole: float) -> float:
    """1 - part/whole, with R's rounding of what is almost zero."""
    if whole == 0:
        return -math.inf if part > 0 else math.nan
    share = 1 - float(part) / float(whole)
    return 0.0 if -1e-5 < share < 1e-5 else float(share)


def _least_squares(columns, Y, with_leverages: bool, n_threads: int) -> tuple:
    """Coefficients, residuals and leverages of Y on the rows of `columns`.

    In R's order of operations: where terms are almost dependent only it loses the digits that R loses.
    R's lm() asks for more independence than the forward pass.
    """
    rows = np.ascontiguousarray(Y.T)
    found = _core.regress(columns, rows, leverages=with_leverages, n_threads=n_threads)
    if not found["is_independent"]:
        raise InvalidInputError(
            "the selected terms are nearly dependent (R: singular fit encountered): leave out predictors "
            "that are almost the same, or use a larger thresh or penalty"
        )
    leverages = found["leverages"]
    if leverages is not None:
        leverages[leverages < 1e-8] = 0.0
        leverages[leverages > 1 - 1e-8] = 1.0
    return found["coef"], found["residuals"].T, leverages


def fit_one(
    data, options: EarthOptions, n_threads=1, search=Search()
) -> tuple[MarsModel, FitDetails]:  # fmt: skip
    """Fit one model to a `TrainingData`."""
    check_responses(data, options)
    responses, weights = earth_part(data, options)
    X, names = data.all_design.values, data.design.names
    y = _without(responses.values, data.all_offset)
    responses = _rows(responses, data.subset)
    _warn_if_constant(taken(y, data.subset), options)
    found = fit(X, y, options, weights, names, data.subset, n_threads, search)
    terms = term_names(found.dirs, found.cuts, names, data.design.values)
    glm = fit_glms(found.bx, data, options, n_threads)
    return _build(found, terms, data, responses, options, glm)


def _without(y: np.ndarray, offset: np.ndarray | None) -> np.ndarray:
    """The responses less a formula's offset."""
    return y if offset is None else (y.T - offset).T


def _rows(responses: Responses, subset) -> Responses:
    return responses if subset is None else responses.rows(subset)


def _warn_if_constant(y: np.ndarray, options: EarthOptions) -> None:
    """R's own warning."""
    if y.ndim == 1 and options.scale_y is not False and np.ptp(y) == 0:
        warn_user(
            f"Cannot scale y (values are all equal to {y[0]:g}) Use Scale.y=FALSE to silence this "
            "warning",
            RWarning,
        )


def reprune(model: MarsModel, data, options: EarthOptions) -> tuple[MarsModel, FitDetails]:
    """The pruning pass again, on the forward pass of a fitted model."""
    responses, weights, bx = _weighted_terms(model, data, options)
    Y = _without(responses.matrix, data.offset)
    none = np.empty(0, dtype=int)
    forward = ForwardPass(
        model.dirs.astype(int), model.cuts, bx, none, model.termcond, 0, 0.0, none, none
    )
    importance = response_importance(options.response_weight, Y.shape[1])
    found = _prune_and_solve(forward, Y, importance, weights, options)
    if responses.values.ndim == 1:
        found = _one_column(found)
    glm = fit_glms(found.bx, data, options)
    return _build(found, model.term_names, data, responses, options, glm)


def _weighted_terms(
    model: MarsModel, data, options: EarthOptions
) -> tuple[Responses, np.ndarray | None, np.ndarray]:
    """earth's responses and case weights, and all terms of the forward pass times the weights' roots."""
    X = data.design.values
    responses, weights = earth_part(data, options)
    weights = effective_weights(weights, len(data.all_design.values), options)
    weights = taken(weights, data.subset)
    root = np.ones(len(X)) if weights is None else np.sqrt(weights)
    bx = evaluate_terms(X, model.dirs, model.cuts) * root[:, None]
    return _rows(responses, data.subset), weights, bx


def subset_fits(model: MarsModel, data, options: EarthOptions, n_sizes: int):
    """Yield for the sizes 1, 2, ... the terms of the best subset and their (size, m) coefficients.

    It is what earth's update() makes of a fit for each nprune if terms cost nothing.
    """
    responses, weights, bx = _weighted_terms(model, data, options)
    Y = _without(responses.matrix, data.offset)
    importance = response_importance(options.response_weight, Y.shape[1])
    root = np.ones((len(Y), 1)) if weights is None else np.sqrt(weights)[:, None]
    columns, weighted = np.ascontiguousarray(bx.T), root * Y * importance
    exhaustive = options.pmethod == "exhaustive"  # which looks no further than nprune
    found = None if exhaustive else find_subsets(columns, weighted, options)
    for size in range(1, min(n_sizes, len(columns)) + 1):
        each = replace(options, nprune=size, penalty=-1.0)
        if exhaustive and size > 1:  # one term leaves no choice; R's earth stops there
            found = find_subsets(columns, weighted, each)
        selected = np.zeros(1, dtype=int) if found is None else choose(found, each).selected
        chosen = np.ascontiguousarray((bx[:, selected] / root * root).T)
        coef, _, _ = _least_squares(chosen, Y * importance * root, False, 1)
        yield selected, coef / importance


SHARED = {f.name for f in fields(MarsModel)} & {f.name for f in fields(NativeFit)}


def _build(
    found: NativeFit, names, data, responses, options: EarthOptions, glm
) -> tuple[MarsModel, FitDetails]:
    design = data.design
    values = {name: getattr(found, name) for name in SHARED}
    model = MarsModel(
        **values
        | {"dirs": found.dirs.astype(float), "prune_terms": found.prune_terms.astype(float)},
        feature_names=tuple(design.names),
        term_names=tuple(names),
        degree=options.degree,
        penalty=options.penalty,
        nk=options.nk,
        thresh=options.thresh,
        pmethod=options.pmethod,
        n_samples=len(responses.values),
        engine="native",
        versions={"pyearthdof": __version__},
        response_names=responses.names,
        columns=design.columns,
        glm=glm,
    )
    fitted = found.fitted if data.offset is None else (found.fitted.T + data.offset).T
    glm_y = glm_responses(data, options)
    return model, FitDetails(found.bx, fitted, found.residuals, found.leverages, None, glm_y=glm_y)
