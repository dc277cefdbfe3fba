"""MARS by R's earth: one fit, a batch of responses, or unpruned forward passes for a whole nk path."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

from .... import bridge
from ....exceptions import FittingError
from ...components.glm import GlmPart
from ...components.variance import VarianceErrors, VarianceModel, basis_root, linear_terms, sd_of
from ...data.design import default_names
from ...model.mars_model import FitDetails, MarsModel
from ...options import EarthOptions, n_arguments
from ..path import prefix_fits, step_of_terms, steps_allowed

__all__ = [
    "fit_many",
    "fit_one",
    "path_many",
    "predict_interval",
    "reprune",
    "standardized_residuals",
    "summary_text",
]

STATISTICS = ("rss", "rsq", "gcv", "grsq")
REACHED_NK = 7  # earth's termination condition
SECONDS_PER_CROSSING = 0.7  # Ctrl-C is honoured between crossings at the latest


def fit_one(data, options: EarthOptions, seed=None) -> tuple[MarsModel, FitDetails]:
    """Fit one model to a `TrainingData`."""
    passed, allowed = _passable(options)
    try:
        found = bridge.call("earth.one", *_r_data(data, options), passed, seed)
    finally:
        _raise_from_allowed(allowed)
    return _build(found, data, options)


def _r_data(data, options: EarthOptions) -> tuple:
    """Predictors, responses, weights and 1-based rows for R, which cross-validates no subset."""
    if data.subset is None or options.nfold > 1:
        return r_design(data.design), _r_responses(data.responses), data.training_weights, None
    return (
        r_design(data.all_design),
        _r_responses(data.all_responses),
        data.all_weights,
        data.subset + 1.0,
    )


def fit_formula(
    data, frame, options: EarthOptions, seed=None, r_object=None
) -> tuple[MarsModel, FitDetails]:
    """Fit a `FormulaData` by its formula in R; `frame` is its `bridge.Frame`.

    With the bytes of an earlier fit only its pruning pass is done again.
    """
    passed, allowed = _passable(options)
    learned = data.learned
    subset = None if data.subset is None else data.subset + 1.0
    dates = {name: unit.removesuffix(" UTC") for name, unit in data.columns.units.items()}
    sent = {"columns": frame, "dates": dates, "matrices": _r_matrices(data)}
    rest = (data.all_weights, subset, passed)
    try:
        if r_object is None:
            found = bridge.call("earth.formula.one", learned.text, sent, *rest, seed)
        else:
            found = bridge.call("earth.reprune", r_object, learned.text, sent, *rest)
    finally:
        _raise_from_allowed(allowed)
    if tuple(found["feature.names"]) != learned.names:
        raise FittingError(
            f"R made the columns {found['feature.names']} of the formula, not {list(learned.names)}; "
            "please report it, and use engine='native' or a matrix of predictors meanwhile"
        )
    single = found["coef"].shape[1] == 1
    model = model_from(found, options, single=single)
    return replace(model, formula=learned.formula), details_from(found, single=single)


def _r_matrices(data) -> dict:
    """Which columns of the frame are one matrix, and what its columns are called."""
    return {
        name: {
            "parts": list(matrix.parts),
            "names": None if matrix.names is None else list(matrix.names),
        }
        for name, matrix in data.columns.matrices.items()
    }


def reprune(r_object, data, options: EarthOptions) -> tuple[MarsModel, FitDetails]:
    """The pruning pass again, on the forward pass of a fit that was kept as bytes."""
    passed, _ = _passable(replace(options, allowed=None))
    found = bridge.call("earth.reprune", r_object, *_r_data(data, options), passed)
    return _build(found, data, options)


def _build(found, data, options: EarthOptions) -> tuple[MarsModel, FitDetails]:
    design, responses = data.design, data.responses
    if tuple(found["feature.names"]) != tuple(design.names):
        raise FittingError(
            f"R expanded the columns to {found['feature.names']}, not to {list(design.names)}"
        )
    # Two columns of counts are one response for a binomial model: successes and failures.
    single = responses.values.ndim == 1 or found["coef"].shape[1] == 1
    model = model_from(found, options, single=single)
    return replace(model, columns=design.columns), details_from(found, single=single)


def r_design(design):
    """The predictors for R: a matrix, or a data frame where there are factors, which R then expands."""
    if design.columns is None:
        return bridge.NamedMatrix(design.values, design.names)
    return r_frame(design.columns, design.raw)


def r_frame(columns, raw) -> bridge.Frame:
    """Raw columns for R, from what `Columns.values` gives."""
    return bridge.Frame({column.name: _r_column(column, raw) for column in columns.columns})


def _r_column(column, raw):
    values = raw[column.name]
    if column.kind == "number":
        return values
    if column.kind == "logical":
        return values.astype(bool)
    return bridge.Factor(values, column.levels, ordered=column.kind == "ordered")


def _r_responses(responses):
    if responses.classes is not None:
        return bridge.Factor(responses.codes, responses.classes)
    if responses.names == ("y",):
        return responses.values
    return bridge.NamedMatrix(responses.matrix, responses.names)


def model_from(found, options: EarthOptions, *, single=True) -> MarsModel:
    """Build the model from what describe.earth in r_scripts/earth.R returned."""
    prune_terms = found["prune.terms"]
    return MarsModel(
        feature_names=tuple(found["feature.names"]),
        dirs=found["dirs"],
        cuts=found["cuts"],
        term_names=tuple(found["term.names"]),
        selected=found["selected"].astype(int) - 1,
        coef=_per_response(found["coef"], single),
        rss=float(found["rss"][0]),
        rsq=float(found["rsq"][0]),
        gcv=float(found["gcv"][0]),
        grsq=float(found["grsq"][0]),
        rss_per_subset=found["rss.per.subset"],
        gcv_per_subset=found["gcv.per.subset"],
        prune_terms=np.empty((0, 0)) if prune_terms is None else np.atleast_2d(prune_terms),
        degree=options.degree,
        penalty=float(found["penalty"][0]),
        nk=int(found["nk"][0]),
        thresh=options.thresh,
        pmethod=options.pmethod,
        termcond=0 if found["termcond"] is None else int(found["termcond"][0]),
        n_samples=len(found["fitted"]),
        engine="r",
        versions=bridge.r_versions(),
        response_names=tuple(found["response.names"] or ("y",)),
        **{f"{name}_per_response": _or_empty(found[f"{name}.per.response"]) for name in STATISTICS},
        glm=_glm_from(found["glm"], single),
        varmod=_variance_from(found),
    )


def _glm_from(found, single) -> GlmPart | None:
    if found is None:
        return None
    numbers = {f.name: found[f.name.replace("_", ".")] for f in fields(GlmPart)[3:]}
    return GlmPart(
        family=found["family"][0],
        link=found["link"][0],
        coef=_per_response(found["coef"], single),
        **numbers,
    )


def _per_response(matrix, single):
    return matrix[:, 0] if single else matrix


def _or_empty(vector):
    return np.empty(0) if vector is None else vector


def details_from(found, *, single=True) -> FitDetails:
    """What the fit tells about its training rows."""
    return FitDetails(
        bx=found["bx"],
        fitted=_per_response(found["fitted"], single),
        residuals=_per_response(found["residuals"], single),
        leverages=found["leverages"],
        r_object=found["object"],
        cv=found["cv"],
        sd=_training_sd(found["variance"]),
        varmod_errors=_errors_from(found["variance"]),
        glm_y=None if found["glm"] is None else _per_response(found["glm"]["y"], single),
    )


def _errors_from(described) -> VarianceErrors | None:
    """None where R cannot tell them. Columns that depend on others have no error."""
    if described is None or "coef" not in described:
        return None
    names, stderr, rsq = (described.get(name) for name in ("names", "stderr", "rsq"))
    known = ~np.isnan(described["coef"])
    if names is None or stderr is None or len(names) != len(known) or len(stderr) != known.sum():
        return None
    every = np.full(len(known), np.nan)
    every[known] = stderr
    return VarianceErrors(
        tuple(names), every, float(rsq[0]) if rsq is not None and len(rsq) else None
    )


def _training_sd(described) -> np.ndarray | None:
    if described is None or "coef" not in described:
        return None
    return sd_of(described["fitted"], float(described["min.sd"][0]))


def _variance_from(found) -> VarianceModel | None:
    """The variance model as numbers; None for a gam, which stays in R."""
    described = found["variance"]
    if described is None or "coef" not in described:
        return None
    method, coef = described["method"][0], np.nan_to_num(described["coef"])
    power = 1.0
    if method.startswith("power"):
        coef, power = coef[:-1], float(coef[-1])
    if "dirs" in described:
        dirs, cuts = described["dirs"], described["cuts"]
    elif method == "const":
        dirs = cuts = np.zeros((1, 1))
    else:
        width = len(found["feature.names"]) if method.startswith("x.") else 1
        dirs, cuts = linear_terms(width, intercept=method != "power0")
    return VarianceModel(
        method=method,
        exponent=float(described["exponent"][0]),
        dirs=dirs,
        cuts=cuts,
        coef=coef,
        power=power,
        min_sd=float(described["min.sd"][0]),
        converged=bool(described["converged"]),
        iterations=int(described["iterations"][0]),
        root=basis_root(found["bx"], described["weights"]),
    )


def fit_many(X, Y, feature_names, options: EarthOptions) -> tuple[np.ndarray, np.ndarray]:
    """Fitted values (n, m) and numbers of terms (m,) for every column of Y."""
    passed, allowed = _passable(options)
    return batch("earth.many", X, Y, feature_names, passed, allowed=allowed)


def batch(function, X, Y, feature_names, passed, *, package="earth", allowed=None):
    """Fitted values and numbers of terms from an R function that loops over the columns of Y."""
    fitted = np.empty(Y.shape, order="F")
    terms = np.empty(Y.shape[1])
    crossings = _crossings(function, X, Y, feature_names, passed, package, allowed)
    for columns, found in crossings:
        fitted[:, columns] = found["fitted"]
        terms[columns] = found["terms"]
    return fitted, terms


def path_many(X, Y, nks, options: EarthOptions) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield for every column of Y its unpruned fits at each nk: (n, n_nk) values and (n_nk,) terms.

    One forward pass at the largest nk serves them all, unless it cannot be cut.
    """
    names = default_names(X.shape[1])
    passed, _ = _passable(options)
    done = 0
    for _, block in _crossings("earth.passes", X, Y, names, passed, "earth", None):
        for found in block:
            yield _cut(found, X, Y[:, [done]], nks, names, options)
            done += 1


def _cut(found, X, y, nks, names, options: EarthOptions) -> tuple[np.ndarray, np.ndarray]:
    allowed = np.array([steps_allowed(nk) for nk in nks])
    steps = _steps(found, X, y, names, options)
    if steps is not None:
        sizes = np.searchsorted(steps, allowed, side="right")
        return prefix_fits(found["bx"], y[:, 0], sizes), sizes
    distinct, place = np.unique(allowed, return_inverse=True)
    fits = [fit_many(X, y, names, replace(options, nk=2 * int(s) + 1)) for s in distinct]
    fitted = np.column_stack([f for f, _ in fits])
    return fitted[:, place], np.array([terms[0] for _, terms in fits])[place]


def _steps(found, X, y, names, options: EarthOptions) -> np.ndarray | None:
    """The step of each term; None if earth dropped all terms of one as linearly dependent.

    A pass that reached nk must show the steps that nk allows; one that stopped before must come out
    the same with room for just the steps it shows.
    """

    def n_terms_after(steps: int) -> int:
        _, terms = fit_many(X, y, names, replace(options, nk=2 * steps + 1))
        return int(terms[0])

    steps = step_of_terms(found["dirs"], found["cuts"], n_terms_after)
    if int(found["termcond"][0]) == REACHED_NK:
        complete = steps[-1] == steps_allowed(options.nk)
    else:
        complete = n_terms_after(int(steps[-1])) == len(steps)
    return steps if complete else None


def summary_text(r_object: bytes, options=None) -> str:
    """R's own summary of a fit; options by R's names."""
    return "\n".join(bridge.call("earth.summary", r_object, options or {}))


def standardized_residuals(r_object: bytes) -> np.ndarray:
    """Residuals in standard errors by R's variance model."""
    return bridge.call("earth.residuals", r_object, "standardize")


def predict_interval(r_object: bytes, X, kind: str, level: float) -> np.ndarray:
    """Fits and intervals at new rows by a variance model that is in R alone: a gam."""
    return bridge.call("earth.interval", r_object, X, kind, level)


def _crossings(function, X, Y, feature_names, passed, package, allowed):
    """Send the columns of Y in blocks of about SECONDS_PER_CROSSING, starting with a single one."""
    design = bridge.NamedMatrix(X, feature_names)
    start, size = 0, 1
    while start < Y.shape[1]:
        columns = slice(start, min(start + size, Y.shape[1]))
        began = time.perf_counter()
        try:
            first = start if Y.shape[1] > 1 else None
            found = bridge.call(
                function, design, Y[:, columns], passed, package=package, first_column=first
            )
        finally:
            _raise_from_allowed(allowed)
        each = (time.perf_counter() - began) / (columns.stop - columns.start)
        yield columns, found
        start = columns.stop
        size = max(1, min(10 * size, int(SECONDS_PER_CROSSING / max(each, 1e-6))))


def _passable(options: EarthOptions) -> tuple[dict, bridge.RFunction | None]:
    """Options for R; a Python `allowed` becomes an R function with 0-based indices on our side."""
    passed = options.in_r()
    function = options.allowed
    if function is None:
        return passed, None
    n_known = n_arguments(function)

    def allowed(degree, pred, parents, namesx, first):
        known = (int(degree[0]), int(pred[0]) - 1, parents.astype(int), tuple(namesx), bool(first))
        return bool(function(*known[:n_known]))

    passed["allowed"] = bridge.RFunction(allowed, otherwise=False, errors=[])
    return passed, passed["allowed"]


def _raise_from_allowed(allowed) -> None:
    if allowed is not None and allowed.errors:
        raise allowed.errors[0]
