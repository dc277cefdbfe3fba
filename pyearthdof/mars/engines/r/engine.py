"""Engine that calls R's earth: single fits, batches of responses, and unpruned paths over nk."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd

from .... import bridge
from ....contract import Fits, PathFits
from ....exceptions import FittingError, InvalidInputError
from ...components.glm import GlmPart
from ...components.variance import VarianceErrors, VarianceModel, basis_root, linear_terms, sd_of
from ...data.columns import Column, Columns
from ...data.design import Design, Responses, default_names
from ...data.training import TrainingData
from ...formula.learning import FormulaData, FormulaFrame
from ...model.fit import Fit
from ...model.mars_model import MarsModel
from ...options import EarthOptions, n_arguments
from ..base import BoundEngine, Engine
from ..path import check_path, prefix_fits, step_of_terms, steps_allowed

Described = Mapping[str, Any]  # description of a fit returned by r_scripts/earth.R
STATISTICS = ("rss", "rsq", "gcv", "grsq")
REACHED_NK = 7  # earth's termination code
SECONDS_PER_CROSSING = 0.7  # Ctrl-C is handled between crossings at the latest


class REngine(Engine):
    """Engine that calls R's earth."""

    name = "r"

    def fit(
        self, data: TrainingData, options: EarthOptions, seed: int | None = None, n_threads: int = 1
    ) -> Fit:
        return _fit(data, options, seed)

    def reprune(
        self, fit: Fit, data: TrainingData, options: EarthOptions, seed: int | None = None,
        n_threads: int = 1,
    ) -> Fit:  # fmt: skip
        bridge.require("earth")
        if data.formula is None:
            options = replace(options, allowed=None, interactions=None)
        return _fit(data, options, seed, fit.r_object)

    def bind(self, design: Design, options: EarthOptions) -> BoundR:
        return BoundR(design.values, design.names, options)


def _fit(
    data: TrainingData,
    options: EarthOptions,
    seed: int | None = None,
    r_object: bytes | None = None,
) -> Fit:
    """Fit, or prune the terms of an earlier fit again, given as serialised R object."""
    passed, allowed = _passable(options)
    is_formula = isinstance(data, FormulaData)
    sent = _formula_data(data) if isinstance(data, FormulaData) else _matrix_data(data, options)
    try:
        if r_object is not None:
            found = bridge.call("earth.reprune", r_object, *sent, passed, seed)
        else:
            found = bridge.call(
                "earth.formula.one" if is_formula else "earth.one", *sent, passed, seed
            )
    finally:
        _raise_from_allowed(allowed)
    return _checked(found, data, options)


def _checked(found: Described, data: TrainingData, options: EarthOptions) -> Fit:
    names = tuple(found["feature.names"])
    if isinstance(data, FormulaData):
        if names != data.learned.names:
            raise FittingError(
                f"R made the columns {list(names)} of the formula, not {list(data.learned.names)}; "
                "please report it, and use engine='native' or a matrix of predictors meanwhile"
            )
        return fit_from(found, options, formula=data.formula)
    if names != tuple(data.design.names):
        raise FittingError(
            f"R expanded the columns to {list(names)}, not to {list(data.design.names)}"
        )
    # For a binomial model, two columns of counts are one response: successes and failures.
    single = data.responses.values.ndim == 1 or found["coef"].shape[1] == 1
    return fit_from(found, options, single=single, columns=data.design.columns)


def _matrix_data(data: TrainingData, options: EarthOptions) -> tuple[Any, ...]:
    """Predictors, responses, weights and 1-based rows for R, which cannot cross-validate a subset."""
    if data.subset is None or options.nfold > 1:
        return _r_design(data.design), _r_responses(data.responses), data.training_weights, None
    return (
        _r_design(data.all_design),
        _r_responses(data.all_responses),
        data.all_weights,
        data.subset + 1.0,
    )


def _formula_data(data: FormulaData) -> tuple[Any, ...]:
    """Return the formula, its frame, weights and 1-based rows for R."""
    columns = data.columns
    sent = {
        "columns": bridge.Frame(
            {name: _for_r(column, columns.values[name]) for name, column in columns.columns.items()}
        ),
        "dates": {name: unit.removesuffix(" UTC") for name, unit in columns.units.items()},
        "matrices": _r_matrices(columns),
    }
    subset = None if data.subset is None else data.subset + 1.0
    return data.learned.text, sent, data.all_weights, subset


def _for_r(column: Column, values: pd.Series) -> Any:
    """Convert one column; missing values become NA, so that R can reject them if they matter."""
    if column.kind == "number":
        return values.to_numpy(dtype=float, na_value=np.nan)
    present = values[values.notna()]
    codes = np.full(len(values), -1)
    codes[values.notna().to_numpy()] = Columns((column,)).values(present.to_frame(column.name))[
        column.name
    ]
    if column.kind == "logical" and (codes >= 0).all():
        return codes.astype(bool)
    return bridge.Factor(codes, column.levels, ordered=column.kind == "ordered")


def _r_matrices(columns: FormulaFrame) -> dict[str, Any]:
    """Columns of the frame that form matrices, and the column names of these."""
    return {
        name: {
            "parts": list(matrix.parts),
            "names": None if matrix.names is None else list(matrix.names),
        }
        for name, matrix in columns.matrices.items()
    }


def _r_design(design: Design) -> Any:
    """Predictors for R: a matrix or, if there are factors, a data frame that R expands."""
    if design.columns is None:
        return bridge.NamedMatrix(design.values, design.names)
    assert design.raw is not None
    return _r_frame(design.columns, design.raw)


def _r_frame(columns: Columns, raw: Mapping[str, np.ndarray]) -> bridge.Frame:
    """Raw columns for R, from the result of `Columns.values`."""
    return bridge.Frame({column.name: _r_column(column, raw) for column in columns.columns})


def _r_column(column: Column, raw: Mapping[str, np.ndarray]) -> Any:
    values = raw[column.name]
    if column.kind == "number":
        return values
    if column.kind == "logical":
        return values.astype(bool)
    return bridge.Factor(values, column.levels, ordered=column.kind == "ordered")


def _r_responses(responses: Responses) -> Any:
    if responses.classes is not None:
        return bridge.Factor(responses.codes, responses.classes)
    if responses.names == ("y",):
        return responses.values
    return bridge.NamedMatrix(responses.matrix, responses.names)


def fit_from(
    found: Described, options: EarthOptions, *, single: bool | None = None, **parts: Any
) -> Fit:
    """Convert the result of describe.earth in r_scripts/earth.R; `parts` are further fields of the model."""
    single = found["coef"].shape[1] == 1 if single is None else single
    prune_terms = found["prune.terms"]
    numbers: dict[str, Any] = {name: float(found[name][0]) for name in (*STATISTICS, "penalty")}
    per_response: dict[str, Any] = {
        f"{name}_per_response": np.empty(0) if vector is None else vector
        for name, vector in ((name, found[f"{name}.per.response"]) for name in STATISTICS)
    }
    model = MarsModel(
        feature_names=tuple(found["feature.names"]),
        dirs=found["dirs"],
        cuts=found["cuts"],
        term_names=tuple(found["term.names"]),
        selected=found["selected"].astype(int) - 1,
        coef=_per_response(found["coef"], single),
        rss_per_subset=found["rss.per.subset"],
        gcv_per_subset=found["gcv.per.subset"],
        prune_terms=np.empty((0, 0)) if prune_terms is None else np.atleast_2d(prune_terms),
        degree=options.degree,
        nk=int(found["nk"][0]),
        thresh=options.thresh,
        pmethod=options.pmethod,
        termcond=0 if found["termcond"] is None else int(found["termcond"][0]),
        n_samples=len(found["fitted"]),
        engine="r",
        versions=bridge.r_versions(),
        response_names=tuple(found["response.names"] or ("y",)),
        glm=_glm_from(found["glm"], single),
        varmod=_variance_from(found),
        **numbers,
        **per_response,
        **parts,
    )
    described = found["variance"]
    has_sd = described is not None and "coef" in described
    return Fit(
        model=model,
        bx=found["bx"],
        fitted=_per_response(found["fitted"], single),
        residuals=_per_response(found["residuals"], single),
        leverages=found["leverages"],
        r_object=found["object"],
        cv=found["cv"],
        sd=sd_of(described["fitted"], float(described["min.sd"][0])) if has_sd else None,
        varmod_errors=_errors_from(described),
        glm_y=None if found["glm"] is None else _per_response(found["glm"]["y"], single),
    )


def _glm_from(found: Described | None, single: bool) -> GlmPart | None:
    if found is None:
        return None
    numbers = {f.name: found[f.name.replace("_", ".")] for f in fields(GlmPart)[3:]}
    return GlmPart(
        family=found["family"][0],
        link=found["link"][0],
        coef=_per_response(found["coef"], single),
        **numbers,
    )


def _per_response(matrix: np.ndarray, single: bool) -> np.ndarray:
    return matrix[:, 0] if single else matrix


def _errors_from(described: Described | None) -> VarianceErrors | None:
    """Errors, or None if R does not report them; NaN for dependent columns."""
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


def _variance_from(found: Described) -> VarianceModel | None:
    """Return the variance model as numbers; None for a gam, which remains in R."""
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


class BoundInR(BoundEngine):
    """Base class for procedures that R fits on one design, in one thread."""

    engine = "r"

    @property
    def versions(self) -> dict[str, str]:
        return bridge.r_versions()


class BoundR(BoundInR):
    """R's earth bound to one design."""

    def fit_many(
        self, Y: np.ndarray, n_threads: int = 1, weights: np.ndarray | None = None
    ) -> Fits:
        refuse_weights(weights)
        fitted, terms = _fit_many(self.X, Y, self.names, self.options)
        return Fits(fitted, terms, terms)

    def fit_path(
        self, Y: np.ndarray, nks: Sequence[int], n_threads: int = 1, weights: np.ndarray | None = None,
    ) -> PathFits:  # fmt: skip
        """Unpruned fits at each nk, from one forward pass per response if it can be cut."""
        refuse_weights(weights)
        check_path(self.options)
        fitted, terms = np.empty((len(nks), *Y.shape)), np.empty((len(nks), Y.shape[1]))
        for j, (fits, sizes) in enumerate(self._paths(Y, nks)):
            fitted[:, :, j] = fits.T
            terms[:, j] = sizes
        return PathFits(fitted, terms)

    def _paths(self, Y: np.ndarray, nks: Sequence[int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield for every column of Y its unpruned fits at each nk: (n, n_nk) values, (n_nk,) terms.

        All fits come from one forward pass at the largest nk, unless it cannot be cut.
        """
        X, names = self.X, default_names(self.X.shape[1])
        options = replace(self.options, nk=max(nks))
        passed, _ = _passable(options)
        done = 0
        for _, block in _crossings("earth.passes", X, Y, names, passed, "earth", None):
            for found in block:
                yield _cut(found, X, Y[:, [done]], nks, names, options)
                done += 1


def refuse_weights(weights: np.ndarray | None) -> None:
    """Reject case weights for many responses, which the loops in R do not support."""
    if weights is not None:
        raise InvalidInputError(
            "sample_weight is given but engine='r', which fits many responses without weights: use "
            "engine='native'"
        )


def _fit_many(
    X: np.ndarray, Y: np.ndarray, feature_names: Sequence[str], options: EarthOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Fitted values (n, m) and numbers of terms (m,) for every column of Y."""
    passed, allowed = _passable(options)
    return batch("earth.many", X, Y, feature_names, passed, allowed=allowed)


def batch(
    function: str, X: np.ndarray, Y: np.ndarray, feature_names: Sequence[str], passed: dict[str, Any],
    *, package: str = "earth", allowed: bridge.RFunction | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Fitted values and numbers of terms from an R function that loops over the columns of Y."""
    fitted = np.empty(Y.shape, order="F")
    terms = np.empty(Y.shape[1])
    crossings = _crossings(function, X, Y, feature_names, passed, package, allowed)
    for columns, found in crossings:
        fitted[:, columns] = found["fitted"]
        terms[columns] = found["terms"]
    return fitted, terms


def _cut(
    found: Described, X: np.ndarray, y: np.ndarray, nks: Sequence[int], names: Sequence[str],
    options: EarthOptions,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    allowed = np.array([steps_allowed(nk) for nk in nks])
    steps = _steps(found, X, y, names, options)
    if steps is not None:
        sizes = np.searchsorted(steps, allowed, side="right")
        return prefix_fits(found["bx"], y[:, 0], sizes), sizes
    distinct, place = np.unique(allowed, return_inverse=True)
    fits = [_fit_many(X, y, names, replace(options, nk=2 * int(s) + 1)) for s in distinct]
    fitted = np.column_stack([f for f, _ in fits])
    return fitted[:, place], np.array([terms[0] for _, terms in fits])[place]


def _steps(
    found: Described, X: np.ndarray, y: np.ndarray, names: Sequence[str], options: EarthOptions
) -> np.ndarray | None:
    """Return the step of each term; None if earth dropped all terms of a step as linearly dependent.

    A pass that reached nk must have all the steps that nk allows. A pass that stopped earlier must be
    reproduced with an nk that allows only its own steps.
    """

    def n_terms_after(steps: int) -> int:
        _, terms = _fit_many(X, y, names, replace(options, nk=2 * steps + 1))
        return int(terms[0])

    steps = step_of_terms(found["dirs"], found["cuts"], n_terms_after)
    if int(found["termcond"][0]) == REACHED_NK:
        complete = steps[-1] == steps_allowed(options.nk)
    else:
        complete = n_terms_after(int(steps[-1])) == len(steps)
    return steps if complete else None


def summary_text(r_object: bytes, options: dict[str, Any] | None = None) -> str:
    """Return R's own summary of a fit; `options` by R's names."""
    return "\n".join(bridge.call("earth.summary", r_object, options or {}))


def standardized_residuals(r_object: bytes) -> np.ndarray:
    """Residuals divided by their standard errors under R's variance model."""
    return bridge.call("earth.residuals", r_object, "standardize")


def predict_interval(
    model: MarsModel, r_object: bytes | None, X: Any, method: str, kind: str, level: float
) -> np.ndarray:
    """Fits and intervals at new rows, or None, by a variance model available only in R: a gam."""
    rows = None if X is None else _new_rows(model, X, method)
    return bridge.call("earth.interval", r_object, rows, kind, level)


def _new_rows(model: MarsModel, X: Any, method: str) -> Any:
    """New rows for R's own predict: the raw columns used by the model, factors with its levels."""
    values, _ = model.design(X), model.offset(X)  # same checks as in predict
    # Variance models such as x.gam are regressions on the predictors, looked up by name.
    on_predictors = method.startswith("x.")
    if model.formula is None and (model.columns is None or on_predictors):
        return bridge.NamedMatrix(values, model.feature_names)
    if model.formula is not None:
        frame = _r_frame(model.formula.raw_columns, model.formula.raw_values(X))
    else:
        assert model.columns is not None  # handled above otherwise
        frame = _r_frame(model.columns, model.columns.values(X))
    if not on_predictors:
        return frame
    return bridge.Frame(dict(zip(model.feature_names, values.T, strict=True)) | dict(frame.columns))


def moves_knots() -> bool:
    """Return True if the installed earth is recent enough to move boundary knots, or R is missing."""
    version = bridge.installed_version("R")
    return version is None or tuple(int(part) for part in version.split(".")[:2]) >= (4, 5)


def _crossings(
    function: str, X: np.ndarray, Y: np.ndarray, feature_names: Sequence[str], passed: dict[str, Any],
    package: str, allowed: bridge.RFunction | None,
) -> Iterator[tuple[slice, Any]]:  # fmt: skip
    """Send the columns of Y in blocks of about SECONDS_PER_CROSSING, starting with a single one."""
    design = bridge.NamedMatrix(X, tuple(feature_names))
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


def _passable(options: EarthOptions) -> tuple[dict[str, Any], bridge.RFunction | None]:
    """Options for R; a Python `allowed` becomes an R function, called with 0-based indices.

    `interactions`, which R lacks, become such a function as well.
    """
    passed = options.in_r()
    function = options.allowed or options.may_interact()
    if function is None:
        return passed, None
    n_known = n_arguments(function)

    def allowed(degree: Any, pred: Any, parents: Any, namesx: Any, first: Any) -> bool:
        known = (int(degree[0]), int(pred[0]) - 1, parents.astype(int), tuple(namesx), bool(first))
        return bool(function(*known[:n_known]))

    passed["allowed"] = bridge.RFunction(allowed, otherwise=False, errors=[])
    return passed, passed["allowed"]


def _raise_from_allowed(allowed: bridge.RFunction | None) -> None:
    if allowed is not None and allowed.errors:
        raise allowed.errors[0]
