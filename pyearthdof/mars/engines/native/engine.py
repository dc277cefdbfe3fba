"""The native engine: forward pass, pruning pass, least squares, and many responses in threads.

The loops are compiled (`pyearthdof._core`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from .... import _core
from ...._utils.checks import check_sizes, refusal
from ...._utils.warnings import warn_user
from ...._version import __version__
from ....contract import Fits, PathFits, SizeFits
from ....exceptions import InvalidInputError, RWarning
from ....random import RDraws
from ...arithmetic import r_mean, r_sum, r_weighted_mean
from ...components.terms import evaluate_terms, gcv_of, gcv_of_sizes, term_names
from ...data.design import Design, Responses, default_names, differ, taken
from ...data.training import TrainingData
from ...model.fit import Fit
from ...model.mars_model import MarsModel
from ...options import MANY_ROWS, EarthOptions, n_arguments
from ..base import BoundEngine, Engine
from ..path import check_path, steps_allowed
from . import monotone
from .glm_fit import check_responses, earth_part, fit_glms, glm_responses
from .monotone import slope_rows

LONG_FIT = (
    0.005  # seconds above which threads speed up the folds: short fits spend their time in Python
)
ALL_PARENTS = 10_001  # earth's value, above any nk
SIZES = (1e-75, 1e75)  # range of column maxima for which products of sums of squares are finite


def make_design(X: np.ndarray, n_threads: int = 1) -> _core.Design:
    """Sort the predictors once for all fits."""
    design = _core.Design(X, n_threads)
    check_sizes("X", design.reach(), *SIZES)
    return design


def pass_settings(options: EarthOptions, n: int, *, as_earth: bool = True) -> _core.Settings:
    """Return the settings of the forward pass on n rows, within earth's limits.

    Without `as_earth`, near-ties of weighted fits are decided by fast updates, not by regressions as in R.
    """
    for name in ("minspan", "endspan"):
        if getattr(options, name) > n:  # rows of a fold; for all rows it is checked before
            raise refusal(
                name, getattr(options, name), f"at most the number of rows of a fold, {n}"
            )
    fast_k = options.fast_k
    return _core.Settings(
        degree=options.degree,
        nk=options.nk,
        penalty=options.penalty,
        thresh=options.thresh,
        minspan=max(options.minspan, -n),  # at most one knot per row
        endspan=options.endspan,
        newvar_penalty=options.newvar_penalty,
        fast_k=ALL_PARENTS if fast_k <= 0 else min(max(3, fast_k), ALL_PARENTS),
        fast_beta=options.fast_beta,
        adjust_endspan=options.adjust_endspan,
        auto_linpreds=options.auto_linpreds,
        roles=_core.Roles(
            indicators=[k for k, _ in options.gaps],
            incomplete=[j for _, others in options.gaps for j in others],
            apart=list(options.apart),
        ),
        as_earth=as_earth,
    )


def response_importance(response_weight: np.ndarray | None, n_resp: int) -> np.ndarray:
    """Factors of the responses: square roots of the response weights relative to their mean."""
    if response_weight is None:
        return np.ones(n_resp)
    weights = np.maximum(response_weight, r_mean(response_weight) / 1e8)
    return np.sqrt(weights / r_mean(weights))


def refuse_sizes(name: str, values: np.ndarray) -> None:
    """Reject columns for which products of sums of squares overflow or underflow: earth may loop forever."""
    check_sizes(name, np.abs(values).max(axis=0), *SIZES)


def scale_responses(Y: np.ndarray, scale: bool) -> tuple[np.ndarray, np.ndarray]:
    """Scale the responses like R's scale(); return them as rows, and the divisors.

    If one response is constant, no response is scaled.
    """
    refuse_sizes("y", Y)
    rows = np.ascontiguousarray(Y.T)
    if scale:
        scaled, spread = _core.scale_rows(rows)
        if spread.all():
            return scaled, spread
    return rows, np.ones(len(rows))


def effective_weights(
    weights: np.ndarray | None, n: int, options: EarthOptions
) -> np.ndarray | None:
    """Return the weights used by earth: None if all are equal, small weights replaced.

    Weights below a hundred millionth of their mean are raised to it.
    """
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    if not (options.force_weights or differ(weights)):
        return None
    return np.maximum(weights, r_mean(weights) / 1e8)


class Allowed:
    """Run a forward pass step by step, restricted by the user's `function`.

    If the pass is repeated in earth's order of operations, earlier answers are reused: as in R, the
    function is called once for each candidate.
    """

    def __init__(self, function: Callable[..., bool], names: Sequence[str]):
        self.function, self.names = function, tuple(names)
        self._n_arguments = n_arguments(function)
        self._heard: list[tuple[tuple, bool]] = []
        self._at = 0

    def run(self, steps: _core.Steps) -> dict[str, Any]:
        while steps.is_running:
            if steps.n_slots == 1:
                self._at = 0
            for slot, dirs in steps.parents():
                parents = dirs.astype(int)
                for pred in np.flatnonzero(parents == 0).tolist():
                    steps.allow(slot, pred, self._answer(parents, pred))
            steps.run(1)
        return steps.collect()

    def _answer(self, parents: np.ndarray, pred: int) -> bool:
        question = (parents.tobytes(), pred)
        if self._at == len(self._heard) or self._heard[self._at][0] != question:
            del self._heard[self._at :]
            degree = 1 + int(np.count_nonzero(parents))
            first = not self._heard
            known = (degree, pred, parents.copy(), self.names, first)
            answer = self.function(*known[: self._n_arguments])
            self._heard.append((question, bool(answer)))
        self._at += 1
        return self._heard[self._at - 1][1]


ALMOST_ZERO = 1e-10  # earth refuses weights below it


@dataclass(frozen=True)
class ForwardPass:
    """Terms found by a forward pass, without linearly dependent columns."""

    dirs: np.ndarray  # (n_terms, p)
    cuts: np.ndarray
    bx: np.ndarray  # (n, n_terms), times the square root of the case weights, if any
    steps: np.ndarray  # step that added each term; 0 for the intercept
    termcond: int  # R's code for why the pass stopped
    n_ties: int  # steps decided by rounding, repeated in earth's own order of operations
    rss_null: float  # RSS of the intercept-only model, scaled response
    rss_after: np.ndarray  # RSS after each attempted step
    terms_after: np.ndarray


def forward_pass(
    X: np.ndarray,
    Y: np.ndarray,
    options: EarthOptions,
    weights: np.ndarray | None = None,
    feature_names: Sequence[str] | None = None,
    *,
    exact: bool = False,
    as_earth: bool = True,
    n_threads: int = 1,
    design: _core.Design | None = None,
) -> ForwardPass:
    """Run the forward pass; with `exact`, every step follows earth's own order of operations.

    Without `as_earth`, near-ties of weighted fits are decided by fast updates, not by regressions as in R.
    `design` is X with sorted columns, if already computed.
    """
    settings = pass_settings(options, len(X), as_earth=as_earth)
    is_scaled = options.is_scaled(Y.shape[1])
    if weights is not None:
        _check_weighted(weights, settings)
    if design is None:
        design = make_design(X, n_threads)
    importance = response_importance(options.response_weight, Y.shape[1])
    rows, spread = scale_responses(Y * importance, is_scaled)
    given: tuple = (exact,)
    if weights is not None:
        given = (weights, _core.weighted_null_rss(rows, weights), exact)
        rows = np.ascontiguousarray((np.sqrt(weights)[:, None] * Y * importance / spread).T)
    linpreds = list(options.linpreds)
    if options.allowed is not None:
        allowed = Allowed(options.allowed, feature_names or default_names(X.shape[1]))
        found = allowed.run(_core.Steps(design, settings, linpreds, rows, *given))
    else:
        run: Any = _core.forward_pass if weights is None else _core.weighted_pass
        found = run(design, settings, linpreds, rows, *given, n_threads)
    found["terms_after"] = np.array(found["terms_after"], dtype=int)
    return ForwardPass(bx=found.pop("columns").T, **found)


def _check_weighted(weights: np.ndarray, settings: _core.Settings) -> None:
    if settings.newvar_penalty != 0:
        raise InvalidInputError(
            f"newvar_penalty={settings.newvar_penalty:g} but it should be 0 with case weights, "
            "for which earth does not support it"
        )
    if (weights < ALMOST_ZERO).any():
        row = int(np.flatnonzero(weights < ALMOST_ZERO)[0])
        raise InvalidInputError(
            f"sample_weight[{row}]={weights[row]:g} but weights should be greater than {ALMOST_ZERO:g}"
        )


@dataclass(frozen=True)
class Pruning:
    """Selected terms (0-based, in R's order) and the best subset of each size (1-based, as in R)."""

    selected: np.ndarray
    rss_per_subset: np.ndarray
    gcv_per_subset: np.ndarray
    prune_terms: np.ndarray


@dataclass(frozen=True)
class Subsets:
    """Best subset of each size: RSS, columns, and the method used."""

    rss: np.ndarray
    best: np.ndarray
    method: str
    n_samples: int
    n_terms: int


def prune(
    bx: np.ndarray, Y: np.ndarray, options: EarthOptions,
    find: Callable[..., Subsets] | None = None,
) -> Pruning:  # fmt: skip
    """Select a subset of the columns of bx, weighted if Y is; `find` replaces `find_subsets`."""
    return choose((find or find_subsets)(np.ascontiguousarray(bx.T), Y, options), options)


def find_subsets(columns: np.ndarray, Y: np.ndarray, options: EarthOptions) -> Subsets:
    """Return the best subsets of the rows of `columns` by `options.pmethod`."""
    m, n = columns.shape
    method = "backward" if options.pmethod == "cv" else options.pmethod
    kept = _largest(options, m) if method == "exhaustive" else m
    if method == "exhaustive" and not _is_well_conditioned(columns.T, options.exhaustive_tol):
        method = "backward"
    if Y.shape[1] > 1 and method not in ("none", "backward"):
        raise refusal("pmethod", method, "'backward', 'none' or 'cv' with several responses")
    if m <= 2 and method != "none":
        method = "backward"
    if Y.shape[1] > 1:
        rss, best = _backward_several(columns, Y)
        rss, best = rss[:kept], best[:kept, :kept]
    else:
        rss, best = _search(columns, np.ascontiguousarray(Y[:, 0]), method, kept)
    return Subsets(rss, best, method, n, m)


def _monotone_subsets(
    bx: np.ndarray, Y: np.ndarray, slopes: np.ndarray, options: EarthOptions
) -> Subsets:
    rss, best = monotone.eliminate_backward(np.ascontiguousarray(bx.T), Y[:, 0], slopes)
    return Subsets(rss, best, options.pmethod, len(bx), bx.shape[1])


def choose(found: Subsets, options: EarthOptions) -> Pruning:
    """Return the subset of smallest GCV; all terms without pruning, nprune terms for "cv"."""
    gcv = gcv_of_sizes(found.rss, found.n_samples, options.penalty)
    largest = min(_largest(options, found.n_terms), len(found.rss))
    if found.method == "none":
        selected = np.arange(largest)
    else:
        by_gcv = options.pmethod != "cv" or options.nprune is None
        size = int(np.argmin(gcv[:largest])) + 1 if by_gcv else largest
        selected = found.best[size - 1, :size].copy()
    best = np.where(_lower(len(found.best)), found.best + 1, 0)
    return Pruning(selected, found.rss, gcv, best)


@lru_cache(maxsize=8)
def _lower(size: int) -> np.ndarray:
    return np.tri(size, dtype=bool)


def _largest(options: EarthOptions, n_terms: int) -> int:
    return n_terms if options.nprune is None else min(n_terms, options.nprune)


def _search(
    columns: np.ndarray, y: np.ndarray, method: str, kept: int
) -> tuple[np.ndarray, np.ndarray]:
    """RSS of the best subset of each size, and its columns.

    Dependent columns are moved last and enter no subset. R then numbers the columns by their new
    positions, which earth interprets as the old ones.
    """
    if method == "exhaustive" and kept < 2:
        raise InvalidInputError(
            "nprune=1 but it should be 2 or more with pmethod='exhaustive': one term leaves no choice"
        )
    found = _core.search_subsets(columns, y, "backward" if method == "none" else method, kept)
    if found["dependent"]:
        terms = ", ".join(str(t + 1) for t in found["dependent"])
        warn_user(
            f"the pruning pass leaves out terms that depend on others (term {terms} of the forward pass)",
            RWarning,
        )
    if found["nearly_dependent"]:  # earth compares a square with a length: the units of X matter
        raise InvalidInputError(
            "pmethod='exhaustive' but the terms are too nearly dependent for it: use 'backward'"
        )
    return found["rss"], found["best"]


def _is_well_conditioned(bx: np.ndarray, tolerance: float) -> bool:
    values = np.linalg.svd(bx, compute_uv=False)
    if values[-1] / values[0] >= tolerance:
        return True
    warn_user(
        f'forced pmethod="backward" (bx is ill conditioned, sing val ratio {values[-1] / values[0]:.2g})',
        RWarning,
    )
    return False


def _backward_several(columns: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Backward elimination for several responses: drop the term with the smallest total RSS increase."""
    found = _core.eliminate_backward(columns, np.ascontiguousarray(Y.T))
    if not found["is_independent"]:
        raise InvalidInputError(
            "the terms of the forward pass are nearly dependent, with which earth cannot prune several "
            "responses (R: lin dep terms in bx): leave out predictors that are almost the same"
        )
    return found["rss"], found["best"]


@dataclass(frozen=True)
class Search:
    """Functions that find terms and subsets; a shared search caches their results."""

    forward: Callable[..., ForwardPass] = forward_pass
    subsets: Callable[..., Subsets] = find_subsets


def fit(
    X: np.ndarray, y: np.ndarray, options: EarthOptions, weights: np.ndarray | None = None,
    feature_names: Sequence[str] | None = None, subset: np.ndarray | None = None, n_threads: int = 1,
    search: Search = Search(), **labels: Any,
) -> Fit:  # fmt: skip
    """Fit one response, or several (columns of y) with common terms, on the rows `subset`.

    The result does not depend on `n_threads`. `labels` are further fields of the model.
    """
    X = np.asarray(X, dtype=float)
    Y = np.asarray(y, dtype=float).reshape(len(X), -1)
    names = default_names(X.shape[1]) if feature_names is None else tuple(feature_names)
    weights = taken(effective_weights(weights, len(X), options), subset)
    X, Y = taken(X, subset), taken(Y, subset)
    forward = search.forward(X, Y, options, weights, names, n_threads=n_threads)
    terms = term_names(forward.dirs, forward.cuts, names, X)
    labels |= {"feature_names": names, "term_names": terms}
    return _prune_and_solve(
        forward, labels, Y, weights, options, n_threads, search, single=np.ndim(y) == 1
    )


def _prune_and_solve(
    forward: ForwardPass, labels: Mapping[str, Any], Y: np.ndarray,
    weights: np.ndarray | None, options: EarthOptions, n_threads: int = 1,
    search: Search = Search(), *, single: bool,
) -> Fit:  # fmt: skip
    """Prune and regress; `labels` are fields of the model. A `single` response gives vectors."""
    # products in R's order: rounding decides ties, and whether the fit of a constant is exact
    importance = response_importance(options.response_weight, Y.shape[1])
    root = None if weights is None else np.sqrt(weights)[:, None]
    weighted = Y if root is None else root * Y
    slopes = None
    if options.monotone:
        slopes = slope_rows(forward.dirs, forward.cuts, options.monotone)
    if slopes is None:
        pruned = prune(forward.bx, weighted * importance, options, search.subsets)
    else:
        pruned = choose(_monotone_subsets(forward.bx, weighted, slopes, options), options)
    bx = columns = np.ascontiguousarray(forward.bx.T[pruned.selected])
    if root is not None:
        bx = columns / root.T
        columns = bx * root.T
    wanted = options.get_leverages
    wanted = len(Y) < MANY_ROWS if wanted is None else wanted
    scaled = Y * importance
    weighted = scaled if root is None else scaled * root
    if slopes is None:
        coef, residuals, leverages = _least_squares(columns, weighted, wanted, n_threads)
    else:
        solved = monotone.least_squares(columns, weighted[:, 0], slopes[:, pruned.selected])
        coef, residuals, leverages = solved[0][:, None], solved[1][:, None], solved[2]
        leverages = leverages if wanted else None
    if root is not None:
        residuals = residuals / root
    fitted, residuals = (scaled - residuals) / importance, residuals / importance
    coef = coef / importance
    statistics = _statistics(pruned)
    statistics |= _per_response(
        scaled / importance, fitted, residuals, weights, options, statistics
    )
    if single:
        coef, fitted, residuals = coef[:, 0], fitted[:, 0], residuals[:, 0]
    model = MarsModel(
        dirs=forward.dirs.astype(float),
        cuts=forward.cuts,
        coef=coef,
        degree=options.degree,
        penalty=options.penalty,
        nk=options.nk,
        thresh=options.thresh,
        pmethod=options.pmethod,
        termcond=forward.termcond,
        n_samples=len(Y),
        engine="native",
        versions={"pyearthdof": __version__},
        **labels,
        **statistics,
    )
    return Fit(model, bx.T, fitted, residuals, leverages)


def _per_response(
    Y: np.ndarray, fitted: np.ndarray, residuals: np.ndarray, weights: np.ndarray | None,
    options: EarthOptions, statistics: dict[str, Any],
) -> dict[str, np.ndarray]:  # fmt: skip
    """Statistics of each response, with earth's rules for weights."""
    n, m = Y.shape
    cases = 1.0 if weights is None else weights
    penalty, n_terms = options.penalty, len(statistics["selected"])
    rss, rsq, gcv, grsq = np.empty((4, m))
    for j, (y, fit) in enumerate(zip(Y.T, fitted.T, strict=True)):
        mean = r_sum(y) / n if weights is None else r_weighted_mean(y, weights)
        total = r_sum(cases * (y - mean) ** 2)
        rss[j] = r_sum(cases * (y - fit) ** 2)
        first = rss[j], total
        if weights is None and m == 1:
            rss[j] = r_sum(residuals[:, 0] ** 2)
            total = r_sum((y - r_mean(y)) ** 2)
        gcv[j], null = gcv_of([rss[j], total], np.array([n_terms, 1]), n, penalty)
        rsq[j], grsq[j] = _share(*first), _share(gcv[j], null)
    if weights is not None and m == 1:
        grsq[0] = statistics["grsq"]
    return {
        "rss_per_response": rss,
        "rsq_per_response": rsq,
        "gcv_per_response": gcv,
        "grsq_per_response": grsq,
    }


def _statistics(pruned: Pruning) -> dict[str, Any]:
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
        "prune_terms": pruned.prune_terms.astype(float),
    }


def _share(part: float, whole: float) -> float:
    """1 - part/whole, with values near zero rounded as in R."""
    if whole == 0:
        return -math.inf if part > 0 else math.nan
    share = 1 - float(part) / float(whole)
    return 0.0 if -1e-5 < share < 1e-5 else float(share)


def _least_squares(
    columns: np.ndarray, Y: np.ndarray, with_leverages: bool, n_threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Coefficients, residuals and leverages of Y on the rows of `columns`.

    The order of operations is R's, so nearly dependent terms lose the same digits as in R. R's lm()
    has a stricter tolerance for dependence than the forward pass.
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
    data: TrainingData, options: EarthOptions, n_threads: int = 1, search: Search = Search()
) -> Fit:
    """Fit one model, without cross-validation."""
    responses, weights = data.all_responses, data.all_weights
    if options.glm_family is not None:
        check_responses(data, options)
        responses, weights = earth_part(data, options)
    y = _without(responses.values, data.all_offset)
    if data.subset is not None:
        responses = responses.rows(data.subset)
    used = y if data.subset is None else y[data.subset]
    if used.ndim == 1 and options.scale_y is not False and np.ptp(used) == 0:
        value = f"{used[0]:g}"
        text = f"Cannot scale y (values are all equal to {value}) Use Scale.y=FALSE to silence this warning"
        warn_user(text, RWarning)
    X, labels = data.all_design.values, _labels(data, responses)
    names = labels.pop("feature_names")
    found = fit(X, y, options, weights, names, data.subset, n_threads, search, **labels)
    return _completed(found, data, options, n_threads)


def _labels(data: TrainingData, responses: Responses) -> dict[str, Any]:
    """Fields of a model that name the data."""
    return {
        "feature_names": tuple(data.design.names),
        "response_names": responses.names,
        "columns": data.design.columns,
        "formula": data.formula,
    }


def _without(y: np.ndarray, offset: np.ndarray | None) -> np.ndarray:
    """Subtract a formula's offset from the responses."""
    return y if offset is None else (y.T - offset).T


def _completed(found: Fit, data: TrainingData, options: EarthOptions, n_threads: int = 1) -> Fit:
    """Add the offset and the generalised linear model to a fit."""
    if data.offset is not None:
        found = replace(found, fitted=(found.fitted.T + data.offset).T)
    if options.glm_family is None:
        return found
    slopes = model_slopes(found.model, options)
    model = replace(found.model, glm=fit_glms(found.bx, data, options, n_threads, slopes))
    return replace(found, model=model, glm_y=glm_responses(data, options))


def model_slopes(model: MarsModel, options: EarthOptions) -> np.ndarray | None:
    """Return the constraint matrix of the effects of a model for `monotone`."""
    selected = model.selected
    return slope_rows(model.dirs[selected], model.cuts[selected], options.monotone)


def reprune(model: MarsModel, data: TrainingData, options: EarthOptions, n_threads: int = 1) -> Fit:
    """Repeat the pruning pass on the forward pass of a fitted model."""
    responses, weights, bx = _weighted_terms(model, data, options)
    none = np.empty(0, dtype=int)
    forward = ForwardPass(model.dirs, model.cuts, bx, none, model.termcond, 0, 0.0, none, none)
    Y, single = _without(responses.matrix, data.offset), responses.values.ndim == 1
    labels = _labels(data, responses) | {"term_names": model.term_names}
    found = _prune_and_solve(forward, labels, Y, weights, options, n_threads, single=single)
    return _completed(found, data, options, n_threads)


def _weighted_terms(
    model: MarsModel, data: TrainingData, options: EarthOptions
) -> tuple[Responses, np.ndarray | None, np.ndarray]:
    """Responses, case weights, and all terms of the forward pass times the roots of the weights."""
    X, responses, weights = data.design.values, data.all_responses, data.all_weights
    if options.glm_family is not None:
        responses, weights = earth_part(data, options)
    weights = effective_weights(weights, len(data.all_design.values), options)
    weights = taken(weights, data.subset)
    root = np.ones(len(X)) if weights is None else np.sqrt(weights)
    bx = evaluate_terms(X, model.dirs, model.cuts) * root[:, None]
    if data.subset is not None:
        responses = responses.rows(data.subset)
    return responses, weights, bx


def subset_fits(
    model: MarsModel, data: TrainingData, options: EarthOptions, n_sizes: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for the sizes 1, 2, ... the terms of the best subset and their (size, m) coefficients.

    These are the results of earth's update() for each nprune if terms have no penalty.
    """
    responses, weights, bx = _weighted_terms(model, data, options)
    Y = _without(responses.matrix, data.offset)
    importance = response_importance(options.response_weight, Y.shape[1])
    root = np.ones((len(Y), 1)) if weights is None else np.sqrt(weights)[:, None]
    columns, weighted = np.ascontiguousarray(bx.T), root * Y * importance
    slopes = slope_rows(model.dirs, model.cuts, options.monotone)
    exhaustive = options.pmethod == "exhaustive"  # stops at nprune
    found = None
    if slopes is not None:
        found = _monotone_subsets(bx, weighted, slopes, options)
    elif not exhaustive:
        found = find_subsets(columns, weighted, options)
    for size in range(1, min(n_sizes, len(columns)) + 1):
        each = replace(options, nprune=size, penalty=-1.0)
        if exhaustive and size > 1:  # R's earth fails for a single term
            found = find_subsets(columns, weighted, each)
        selected = np.zeros(1, dtype=int) if found is None else choose(found, each).selected
        chosen = np.ascontiguousarray((bx[:, selected] / root * root).T)
        if slopes is None:
            coef, _, _ = _least_squares(chosen, Y * importance * root, False, 1)
        else:
            own, _, _ = monotone.least_squares(chosen, (Y * root)[:, 0], slopes[:, selected])
            coef = own[:, None]
        yield selected, coef / importance


def fit_complete(
    data: TrainingData,
    options: EarthOptions,
    n_threads: int = 1,
    seed: int | None = None,
    before: MarsModel | None = None,
) -> Fit:
    """Return a fit with its cross-validation, the selected size, and the variance model.

    `seed` initialises R's random stream for nfold of 2 or more. With a model `before`, the forward pass is
    skipped: its terms are pruned again, on all rows and in each fold.
    """
    fit_plain = fit_one if before is None else partial(reprune, before)
    if options.nfold < 2:
        return fit_plain(data, options, n_threads)
    from .cross_validation import best_size, cross_validate
    from .varmod import fit_variance

    data = data.of_subset()  # folds are drawn from the rows to fit on
    assert seed is not None  # drawn by the estimator
    draws = RDraws(seed)
    by_cv = options.pmethod == "cv"
    first = replace(options, pmethod="backward") if by_cv and before is None else options
    began = perf_counter()
    found = fit_plain(data, first, n_threads)
    n_jobs = n_threads if perf_counter() - began > LONG_FIT else 1
    cv = cross_validate(found.model, data, options, draws, n_jobs, fit_plain)
    if by_cv:
        size = replace(options, nprune=best_size(cv, options.nprune))
        preliminary, found = found.model, reprune(found.model, data, size)
        kept = ("rss_per_subset", "gcv_per_subset", "prune_terms")  # of the first pruning pass
        model = replace(found.model, **{name: getattr(preliminary, name) for name in kept})
        found = replace(found, model=model)
    found = replace(found, cv=cv)
    if options.varmod_method == "none":
        return found
    varmod, errors = fit_variance(found, data, options, cv, draws)
    sd = varmod.sd(found.fitted, data.design.values)
    return replace(found, model=replace(found.model, varmod=varmod), sd=sd, varmod_errors=errors)


NEARLY_DEPENDENT = 1e-10  # singular values below this fraction of the largest are treated as 0


@dataclass(frozen=True)
class TermsFit:
    """Terms, the intercept first, and their least-squares coefficients."""

    dirs: np.ndarray
    cuts: np.ndarray
    coef: np.ndarray


@dataclass(frozen=True)
class SubsetSequence:
    """Terms of a forward pass and the best subset of each size."""

    dirs: np.ndarray
    cuts: np.ndarray
    columns: np.ndarray  # (n_terms, n), times the roots of the weights, if any
    weighted: np.ndarray  # (n,), response times the roots of the weights
    found: Subsets

    def __len__(self) -> int:
        return len(self.found.rss)

    def terms(self, size: int) -> TermsFit:
        """Return the best terms of a size, at most the largest one, and their coefficients."""
        size = min(size, len(self))
        chosen = self.found.best[size - 1, :size] if size > 1 else np.zeros(1, dtype=int)
        columns = self.columns[chosen]
        length = np.linalg.norm(columns, axis=1)
        scaled = (columns / length[:, None]).T
        coef, *_ = np.linalg.lstsq(scaled, self.weighted, rcond=NEARLY_DEPENDENT)
        return TermsFit(self.dirs[chosen], self.cuts[chosen], coef / length)


class BoundNative(BoundEngine):
    """Native engine bound to one design, whose columns are sorted once.

    Without `names`, the columns are named x1, x2, ...
    """

    engine = "native"
    has_threads = True

    def __init__(self, X: np.ndarray, names: Sequence[str] | None, options: EarthOptions):
        X = np.asarray(X, dtype=float)
        super().__init__(X, default_names(X.shape[1]) if names is None else names, options)
        self.settings = pass_settings(options, len(self.X))
        self.linpreds, self.is_scaled = list(options.linpreds), options.is_scaled(1)
        self.design = make_design(self.X)

    def fit_many(
        self, Y: np.ndarray, n_threads: int = 1, weights: np.ndarray | None = None
    ) -> Fits:
        """Fit every column of Y, with optional case weights: fitted values and numbers of terms.

        Backward pruning and no pruning are compiled for many responses; other methods, an `allowed`
        function and monotone effects fit one response at a time.
        """
        options = self.options
        alone = options.allowed is not None or options.monotone
        if alone or options.pmethod not in ("none", "backward"):
            fits = [fit(self.X, y, options, weights, self.names) for y in Y.T]
            terms = np.array([f.model.n_terms for f in fits])
            return Fits(np.column_stack([f.fitted for f in fits]), terms, terms)
        refuse_sizes("Y", Y)
        nprune = options.nk if options.nprune is None else min(options.nprune, options.nk)
        is_pruned = options.pmethod == "backward"
        fitted, terms = _core.fit_many(
            self.design, self.settings, self.linpreds, np.ascontiguousarray(Y.T), self.is_scaled,
            is_pruned, nprune, self._effective(weights), n_threads,
        )  # fmt: skip
        return Fits(fitted.T, terms, terms)

    def fit_path(
        self, Y: np.ndarray, nks: Sequence[int], n_threads: int = 1, weights: np.ndarray | None = None,
    ) -> PathFits:  # fmt: skip
        """Unpruned fits at each nk from one forward pass per response.

        Without a threshold, the fit at nk = k is a prefix of the pass at any larger nk, so `thresh` must be
        0 and `pmethod` "none".
        """
        check_path(self.options)
        self._refuse_monotone("fit_path")
        refuse_sizes("Y", Y)
        settings = pass_settings(replace(self.options, nk=max(nks)), len(self.X))
        fitted, terms = _core.fit_paths(
            self.design, settings, self.linpreds, np.ascontiguousarray(Y.T), self.is_scaled,
            [steps_allowed(nk) for nk in nks], self._effective(weights), n_threads,
        )  # fmt: skip
        return PathFits(np.ascontiguousarray(fitted.transpose(1, 2, 0)), terms.T.astype(float))

    def sequence(self, y: np.ndarray, weights: np.ndarray | None = None) -> SubsetSequence:
        """Forward pass of a response and the best subset of each size, as in `fit_sizes`."""
        return self._sequence(y, effective_weights(weights, len(y), self.options))

    def _sequence(self, y: np.ndarray, weights: np.ndarray | None) -> SubsetSequence:
        forward = forward_pass(
            self.X,
            y[:, None],
            self.options,
            weights,
            self.names,
            as_earth=False,
            design=self.design,
        )
        weighted = y if weights is None else np.sqrt(weights) * y
        columns = np.ascontiguousarray(forward.bx.T)
        found = find_subsets(columns, weighted[:, None], self.options)
        return SubsetSequence(forward.dirs.astype(float), forward.cuts, columns, weighted, found)

    def fit_sizes(
        self, Y: np.ndarray, Z: np.ndarray | None = None, weights: np.ndarray | None = None,
        n_threads: int = 1,
    ) -> SizeFits:  # fmt: skip
        """Forward pass and pruning sequence of every column of Y.

        Backward pruning is compiled for many responses; other methods and an `allowed` function fit one
        response at a time. Z contains a direction for each response (with weights, for the response times
        their roots); the inner products of the fits with it are returned as well. With weights, near-ties
        are decided by updated sums, not by regressions: the terms are R's or others that fit as well.
        """
        self._refuse_monotone("degrees of freedom by size")
        refuse_sizes("Y", Y)
        options = self.options
        weights = self._effective(weights)
        if options.allowed is None and options.pmethod == "backward":
            settings = pass_settings(options, len(Y), as_earth=False)
            y, z = (np.ascontiguousarray(V.T) for V in (Y, Y[:, :0] if Z is None else Z))
            found = _core.fit_sizes(
                self.design, settings, self.linpreds, y, z, self.is_scaled, weights, n_threads
            )
            return SizeFits(
                found["rss"], None if Z is None else found["products"], found["n_terms"]
            )
        if options.allowed is not None:
            n_threads = 1  # only one thread calls the user's function
        directions = [None] * Y.shape[1] if Z is None else list(Z.T)
        each = Parallel(n_threads, backend="threading")(
            delayed(self._sizes_of_one)(y, z, weights) for y, z in zip(Y.T, directions, strict=True)
        )
        width = max(len(rss) for rss, _ in each)
        return SizeFits(
            np.array([_repeated(rss, width) for rss, _ in each]),
            None if Z is None else np.array([_repeated(products, width) for _, products in each]),
            np.array([len(rss) for rss, _ in each]),
        )

    def _effective(self, weights: np.ndarray | None) -> np.ndarray | None:
        weights = effective_weights(weights, len(self.X), self.options)
        if weights is not None:
            _check_weighted(weights, self.settings)
        return weights

    def _refuse_monotone(self, wanted: str) -> None:
        if self.options.monotone:
            raise InvalidInputError(
                f"monotone is given but {wanted} needs fits without constraints"
            )

    def _sizes_of_one(
        self, y: np.ndarray, direction: np.ndarray | None, weights: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        sequence = self._sequence(y, weights)
        rss, best = sequence.found.rss, sequence.found.best
        if direction is None:
            return rss, None
        products = np.empty(len(rss))
        for k in range(len(products)):
            q, _ = np.linalg.qr(sequence.columns[best[k, : k + 1]].T)
            products[k] = (q.T @ sequence.weighted) @ (q.T @ direction)
        return rss, products


def _repeated(values: np.ndarray, width: int) -> np.ndarray:
    """Pad with the largest fit the sizes that were not reached."""
    return np.append(values, np.full(width - len(values), values[-1]))


class NativeEngine(Engine):
    """Engine of compiled code that fits the models of R's earth without R."""

    name = "native"

    def fit(
        self, data: TrainingData, options: EarthOptions, seed: int | None = None, n_threads: int = 1
    ) -> Fit:
        for warning in data.warnings:  # R issues its own
            warn_user(warning, RWarning)
        return fit_complete(data, options, n_threads, seed)

    def reprune(
        self, fit: Fit, data: TrainingData, options: EarthOptions, seed: int | None = None,
        n_threads: int = 1,
    ) -> Fit:  # fmt: skip
        return fit_complete(data, options, n_threads, seed, fit.model)

    def bind(self, design: Design, options: EarthOptions) -> BoundNative:
        return BoundNative(design.values, design.names, options)


def pruned_again(model: MarsModel, bx: np.ndarray, y: np.ndarray) -> MarsModel:
    """Add to a model without recorded pruning pass the backward elimination of its terms."""
    options = EarthOptions(
        n_features=len(model.feature_names), penalty=model.penalty, pmethod="none"
    )
    found = prune(bx, y.reshape(len(bx), -1), options)
    return replace(
        model,
        dirs=model.dirs[model.selected],
        selected=np.arange(model.n_terms),
        rss_per_subset=found.rss_per_subset,
        gcv_per_subset=found.gcv_per_subset,
        prune_terms=found.prune_terms,
    )
