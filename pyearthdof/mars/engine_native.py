"""MARS without R: the same terms in the same order and the same numbers as R's earth, compiled by numba.

One fit (`fit`, `fit_one`), many responses on one design (`fit_many`), a whole nk path (`path_many`).
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from .._numba import is_compiled
from .._version import __version__
from . import native_setup as setup
from .data import default_names
from .kernels_forward import CONDITION, RUNNING, TIES, start_pass
from .kernels_householder import RANK_TOLERANCE
from .kernels_many import (
    EXACTLY,
    PRUNED,
    RESUME,
    START,
    UNPRUNED,
    fit_block,
    prefix_fits,
)
from .kernels_regress import find_independent, hat_values, regress
from .kernels_weighted import run_weighted
from .model import FitDetails, MarsModel, evaluate_term
from .names import term_names
from .native_allowed import Allowed
from .native_prune import Pruning, gcv_of, prune
from .options import default_penalty
from .r_sums import r_mean, r_sum, r_weighted_mean
from .training_data import taken
from .weights import effective_weights

__all__ = [
    "ForwardPass",
    "NativeFit",
    "announce",
    "fit",
    "fit_many",
    "fit_one",
    "path_many",
    "reprune",
]

BLOCK = 64  # responses that a thread takes at a time, at the most
# Compiled code does not hear Ctrl-C: so many cases x predictors x terms take about a tenth of a second.
INTERRUPTIBLE = 50_000_000


@dataclass(frozen=True)
class ForwardPass:
    """What a forward pass found, dependent columns dropped.

    Attributes
    ----------
    dirs, cuts : (n_terms, p) arrays
        Directions and knots of the terms.
    bx : (n, n_terms) array
        Basis columns, times the square root of the case weights where there are any.
    steps : (n_terms,) array
        The step of the pass that added each term; 0 for the intercept.
    termcond : int
        Why the pass stopped, R's number.
    n_ties : int
        Steps that rounding decided, taken in earth's own order of operations.
    """

    dirs: np.ndarray
    cuts: np.ndarray
    bx: np.ndarray
    steps: np.ndarray
    termcond: int
    n_ties: int


@dataclass(frozen=True)
class NativeFit:
    """A fit of one or several responses; names as in `MarsModel`.

    `coef` and `fitted` have one column a response if there were several.
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
    leverages: np.ndarray
    n_ties: int
    rss_per_response: np.ndarray
    rsq_per_response: np.ndarray
    gcv_per_response: np.ndarray
    grsq_per_response: np.ndarray


def fit(X, y, options, weights=None, feature_names=None, subset=None) -> NativeFit:
    """Fit one response, or several (columns of y) with the same terms.

    Parameters
    ----------
    X : (n, p) array
    y : (n,) or (n, m) array
    options : mapping
        As `check_options` returns them.
    weights : (n,) array, optional
        Case weights.
    feature_names : names of the columns of X, for an `allowed` function.
    subset : rows to fit on, optional

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof.mars.options import OPTIONS
    >>> options = {option.name: option.default for option in OPTIONS} | {"linpreds": ()}
    >>> x = np.linspace(0, 1, 101)
    >>> found = fit(x[:, None], np.maximum(0, x - 0.5), options)
    >>> found.dirs.ravel().tolist(), found.cuts.ravel().round(6).tolist()
    ([0, 1, -1], [0.0, 0.52, 0.52])
    """
    X = np.asarray(X, dtype=float)
    Y = np.asarray(y, dtype=float).reshape(len(X), -1)
    weights = effective_weights(weights, len(X), options)
    X, Y, weights = taken(X, subset), taken(Y, subset), taken(weights, subset)
    importance = setup.response_importance(options["response_weight"], Y.shape[1])
    forward = forward_pass(X, Y, options, weights, feature_names)
    found = _prune_and_solve(forward, Y, importance, weights, options)
    return _one_column(found) if np.ndim(y) == 1 else found


def _prune_and_solve(forward: ForwardPass, Y, importance, weights, options) -> NativeFit:
    # each product in R's order: rounding decides ties, and whether the fit of a constant is exact
    root = np.ones((len(Y), 1)) if weights is None else np.sqrt(weights)[:, None]
    pruned = prune(forward.bx, root * Y * importance, options)
    bx = forward.bx[:, pruned.selected] / root
    columns = np.ascontiguousarray((bx * root).T)
    coef, residuals, leverages = _least_squares(columns, Y * importance * root)
    fitted = (Y * importance - residuals / root) / importance
    coef = coef / importance
    statistics = _statistics(pruned)
    return NativeFit(
        dirs=forward.dirs,
        cuts=forward.cuts,
        coef=coef,
        bx=bx,
        termcond=forward.termcond,
        fitted=fitted,
        leverages=leverages,
        n_ties=forward.n_ties,
        **statistics,
        **_per_response(Y * importance / importance, fitted, weights, options, statistics),
    )


def _one_column(found: NativeFit) -> NativeFit:
    return replace(found, coef=found.coef[:, 0], fitted=found.fitted[:, 0])


def _per_response(Y, fitted, weights, options, statistics) -> dict[str, np.ndarray]:
    """What each response by itself has of the fit, with earth's rules for weights."""
    n, m = Y.shape
    cases = np.ones(n) if weights is None else weights
    penalty, n_terms = _penalty(options), len(statistics["selected"])
    rss, rsq, gcv, grsq = np.empty((4, m))
    for j, (y, fit) in enumerate(zip(Y.T, fitted.T, strict=True)):
        total = r_sum(cases * (y - r_weighted_mean(y, cases)) ** 2)
        rss[j] = r_sum(cases * (y - fit) ** 2)
        rsq[j] = _share(rss[j], total)
        if weights is None and m == 1:
            total = r_sum((y - r_mean(y)) ** 2)
        gcv[j] = gcv_of(rss[j], n_terms, n, penalty)
        grsq[j] = _share(gcv[j], gcv_of(total, 1, n, penalty))
    if weights is not None and m == 1:
        grsq[0] = statistics["grsq"]
    return {
        "rss_per_response": rss,
        "rsq_per_response": rsq,
        "gcv_per_response": gcv,
        "grsq_per_response": grsq,
    }


def _penalty(options) -> float:
    given = options["penalty"]
    return default_penalty(options["degree"]) if given is None else float(given)


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
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 1 - np.float64(part) / np.float64(whole)
    return 0.0 if -1e-5 < share < 1e-5 else float(share)


def _least_squares(columns: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Coefficients, residuals and leverages of Y on the rows of `columns`.

    In R's order of operations: where terms are almost dependent only it loses the digits that R loses.
    """
    found = regress(columns, np.ascontiguousarray(Y.T))
    leverages = hat_values(found.reflections)
    leverages[leverages < 1e-8] = 0.0
    leverages[leverages > 1 - 1e-8] = 1.0
    return found.coef, found.residuals.T, leverages


@functools.cache
def announce() -> None:
    """Say on the error stream that the first use compiles, if it is going to; once in a process."""
    if not is_compiled(fit_block):
        print(
            "pyearthdof: compiling the native engine, once for this installation; about a minute ...",
            file=sys.stderr,
        )


def fit_one(data, options, seed=None) -> tuple[MarsModel, FitDetails]:
    """Fit one model to a `TrainingData`; options as `check_options` returns them.

    There is nothing random: no seed.
    """
    X, y, names = data.all_design.values, data.all_responses.values, data.design.names
    found = fit(X, y, options, data.all_weights, names, data.subset)
    terms = term_names(found.dirs, found.cuts, names, data.design.values)
    return _build(found, terms, data.design, data.responses, options)


def reprune(model: MarsModel, data, options) -> tuple[MarsModel, FitDetails]:
    """The pruning pass again, on the forward pass of a fitted model."""
    design, responses, Y = data.design, data.responses, data.responses.matrix
    weights = effective_weights(data.all_weights, len(data.all_design.values), options)
    weights = taken(weights, data.subset)
    root = np.ones(len(Y)) if weights is None else np.sqrt(weights)
    terms = zip(model.dirs, model.cuts, strict=True)
    bx = np.column_stack([evaluate_term(design.values, d, c) for d, c in terms]) * root[:, None]
    forward = ForwardPass(
        model.dirs.astype(int), model.cuts, bx, np.empty(0, dtype=int), model.termcond, 0
    )
    importance = setup.response_importance(options["response_weight"], Y.shape[1])
    found = _prune_and_solve(forward, Y, importance, weights, options)
    if responses.values.ndim == 1:
        found = _one_column(found)
    return _build(found, model.term_names, design, responses, options)


def _build(found: NativeFit, names, design, responses, options) -> tuple[MarsModel, FitDetails]:
    settings = setup.resolve_settings(options, design.values.shape[1])
    shared = {f.name for f in fields(MarsModel)} & {f.name for f in fields(NativeFit)}
    values = {name: getattr(found, name) for name in shared}
    model = MarsModel(
        **values
        | {"dirs": found.dirs.astype(float), "prune_terms": found.prune_terms.astype(float)},
        feature_names=tuple(design.names),
        term_names=tuple(names),
        degree=settings.degree,
        penalty=settings.penalty,
        nk=settings.nk,
        thresh=settings.thresh,
        pmethod=options["pmethod"],
        n_samples=len(responses.values),
        engine="native",
        versions={"pyearthdof": __version__},
        response_names=responses.names,
        columns=design.columns,
    )
    residuals = responses.values - found.fitted
    return model, FitDetails(found.bx, found.fitted, residuals, found.leverages, None)


def forward_pass(X, Y, options, weights=None, feature_names=None, *, exact=False) -> ForwardPass:
    """Run the forward pass; `exact` takes every step in earth's own order of operations."""
    n, p = X.shape
    settings = setup.resolve_settings(options, p)
    if weights is not None and settings.newvar_penalty != 0:
        raise setup.InvalidInputError(
            f"newvar_penalty={settings.newvar_penalty:g} but it should be 0 with case weights, "
            "for which earth does not have it"
        )
    design = setup.prepare_design(X)
    work = setup.make_workspace(n, p, Y.shape[1], settings, options["linpreds"])
    importance = setup.response_importance(options["response_weight"], Y.shape[1])
    scaled, scale = setup.scale_responses(Y * importance, setup.is_scaled(options, Y.shape[1]))
    rows = np.ascontiguousarray(scaled.T)
    allowed = None
    if options["allowed"] is not None:
        allowed = Allowed(options["allowed"], feature_names or default_names(p), settings)
    # one step at a time where the user is to be asked in between, or might press Ctrl-C
    is_long = weights is not None or n * p * settings.nk > INTERRUPTIBLE
    steps = 1 if is_long or allowed else None
    if weights is None:
        setup.run_block(design, settings, work, rows[None], EXACTLY if exact else START, 0)
        while work.progress.count[CONDITION] == RUNNING:
            if allowed:
                allowed.ask(work)
            setup.run_block(design, settings, work, rows[None], RESUME, steps)
        return _collect(work)
    start_pass(settings, work.terms, work.queue, work.progress, rows, True)
    setup.start_weights(work, rows, weights)
    weighted = np.ascontiguousarray((np.sqrt(weights)[:, None] * Y * importance / scale).T)
    while work.progress.count[CONDITION] == RUNNING:
        if allowed:
            allowed.ask(work)
        run_weighted(
            design,
            settings,
            work.terms,
            work.queue,
            work.basis,
            work.progress,
            weighted,
            steps,
        )
    return _collect(work)


def _collect(work: setup.Workspace) -> ForwardPass:
    """The used terms of a finished pass without dependent columns."""
    slots = np.flatnonzero(work.terms.used)
    bx = np.ascontiguousarray(work.terms.bx[slots])
    kept = find_independent(bx, RANK_TOLERANCE)
    slots = slots[kept]
    return ForwardPass(
        dirs=work.terms.dirs[slots].astype(int),
        cuts=work.terms.cuts[slots],
        bx=bx[kept].T,
        steps=(slots + 1) // 2,
        termcond=int(work.progress.count[CONDITION]),
        n_ties=int(work.progress.count[TIES]),
    )


def fit_many(X, Y, feature_names, options, n_threads=1) -> tuple[np.ndarray, np.ndarray]:
    """Fitted values (n, m) and numbers of terms (m,) for every column of Y, in threads without the GIL.

    Pruning is backward or none; other methods and an `allowed` function fit one response at a time.
    """
    X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
    if options["pmethod"] not in ("none", "backward") or options["allowed"] is not None:
        fits = [fit(X, y, options, None, feature_names) for y in Y.T]
        return np.column_stack([f.fitted for f in fits]), np.array([len(f.selected) for f in fits])
    batch = setup.Batch.prepare(X, Y, options)
    fitted, n_terms = np.empty(batch.rows.shape), np.empty(len(batch.rows), dtype=np.int64)
    task = UNPRUNED if options["pmethod"] == "none" else PRUNED
    nprune = batch.settings.nk if options["nprune"] is None else int(options["nprune"])
    patience = INTERRUPTIBLE // (X.size * batch.settings.nk)
    size = max(1, min(BLOCK, len(batch.rows) // (4 * n_threads), patience))
    blocks = iter([slice(i, i + size) for i in range(0, len(batch.rows), size)])
    lock = threading.Lock()

    def take_blocks():
        work = batch.workspace(options)
        while True:
            with lock:
                block = next(blocks, None)
            if block is None:
                return
            setup.run_block(
                batch.design, batch.settings, work, batch.scaled(block), task, None, batch.rows[block],
                nprune, fitted[block], n_terms[block],
            )  # fmt: skip

    try:
        setup.run_threads(take_blocks, n_threads)
    except BaseException:
        with lock:
            list(blocks)  # nothing is left for the other threads
        raise
    return fitted.T, n_terms


def path_many(
    X, Y, nks: Sequence[int], options, n_threads=1
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for every column of Y in turn, its unpruned fits at each nk from one forward pass.

    Without a threshold the fit at nk = k is the beginning of the pass at any larger nk, so `thresh` must be
    0 and `pmethod` none. Yields (fitted (n, len(nks)), n_terms (len(nks),)): the caller keeps what it needs.
    """
    X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
    if options["thresh"] != 0 or options["pmethod"] != "none" or options["nprune"] is not None:
        raise setup.InvalidInputError(
            f"thresh={options['thresh']!r}, pmethod={options['pmethod']!r}, "
            f"nprune={options['nprune']!r} but a path needs 0, 'none' and None"
        )
    if options["allowed"] is not None:
        raise setup.InvalidInputError("allowed should be None for a path over many responses")
    batch = setup.Batch.prepare(X, Y, dict(options) | {"nk": max(nks)})
    n_steps = (max(nks) - 1) // 2
    wanted = np.array([(nk - 1) // 2 for nk in nks])
    works = [batch.workspace(options) for _ in range(max(1, n_threads))]

    def one(work, j):
        fitted = np.empty((n_steps + 1, len(X)))
        n_terms = np.empty(n_steps + 1, dtype=np.int64)
        setup.run_block(batch.design, batch.settings, work, batch.scaled(slice(j, j + 1)), START)
        prefix_fits(work.terms, work.fast, work.progress, batch.rows[j], n_steps, fitted, n_terms)
        return fitted[wanted].T, n_terms[wanted]

    for first in range(0, len(batch.rows), len(works)):
        chunk = range(first, min(first + len(works), len(batch.rows)))
        results = [None] * len(chunk)

        def take(i, chunk=chunk, results=results):
            results[i] = one(works[i], chunk[i])

        setup.run_each(take, len(chunk))
        yield from results
