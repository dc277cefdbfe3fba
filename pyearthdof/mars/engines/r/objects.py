"""Conversion between models and R's earth objects: read and check fits of R, write .rds files."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .... import bridge
from ...._utils.files import write_whole
from ....exceptions import FittingError, InvalidInputError, RError
from ...components.cv_frames import cv_frames
from ...data.columns import Column, Columns
from ...formula.model_matrix import Formula
from ...model.fit import Fit
from ...model.mars_model import MarsModel, check_model
from ...options import GLM_FAMILIES, EarthOptions
from .engine import Described, fit_from

# Parts of a described object and their dimensions: terms, predictors, selected terms, responses, rows, sizes
# of the pruning pass, coefficients of the variance model; . is any number, ? marks an optional part.
STATISTICS = dict.fromkeys(("rss", "rsq", "gcv", "grsq", "nk", "penalty", "thresh"), "1")
NUMBERS = STATISTICS | {
    "dirs": "tp", "cuts": "tp", "selected": "s", "coef": "sm", "fitted": "nm", "residuals": "nm",
    "bx": "ns", "leverages": "n?", "weights": "n?", "prior.weights": "n?", "termcond": "1?", "degree": "1?",
    "rss.per.response": ".?", "rsq.per.response": ".?", "gcv.per.response": ".?",
    "grsq.per.response": ".?", "rss.per.subset": "k", "gcv.per.subset": "k",
}  # fmt: skip
TEXTS = {
    "term.names": "t",
    "feature.names": "p",
    "response.names": "m?",
    "pmethod": "1",
    "varmod": "1?",
}
OF_GLM = {"coef": "sm", "y": "nm"} | dict.fromkeys(
    ("null.deviance", "null.df", "deviance", "df", "aic", "iterations", "converged"), "m"
)
OF_VARIANCE = {
    "coef": "c", "exponent": "1", "min.sd": "1", "iterations": "1", "fitted": "n", "weights": "n?",
    "dirs": "cv?", "cuts": "cv?",
}  # fmt: skip
FINITE = (
    "fitted",
    "residuals",
    "bx",
    "nk",
    "penalty",
    "thresh",
    "termcond",
    "degree",
    "prune.terms",
)
NOT_NEGATIVE = ("leverages", "weights", "prior.weights")
_FOLD = re.compile("[0-9]")


def read_r(source: Any) -> tuple[Fit, dict[str, Any]]:
    """Return the fit and the constructor arguments of an earth object or of an .rds file with one."""
    bridge.require("earth")
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if not path.is_file():
            raise InvalidInputError(f"source={str(source)!r} but there is no such file")
        found = _described(f"source={str(path)!r}", "earth.read", str(path))
    elif hasattr(source, "__sexp__"):
        found = _described("source is an object of rpy2", "earth.adopt", source)
    else:
        raise InvalidInputError(
            f"source is a {type(source).__name__} but it should be the path of an .rds file or an earth "
            "object of rpy2"
        )
    _check_described(found)
    degree = found["degree"]
    if degree is None:
        degree = [max(1, int((found["dirs"] != 0).sum(axis=1).max()))]
    options = EarthOptions(
        n_features=len(found["feature.names"]),
        degree=int(degree[0]),
        thresh=float(found["thresh"][0]),
        pmethod=found["pmethod"][0],
    )
    fit = fit_from(found, options)
    model = replace(
        fit.model, formula=_formula_from(found), columns=_columns_from(found, fit.model)
    )
    check_model(model)
    kept = found["weights"]
    # a glm also stores equal weights and the numbers of trials
    weights = kept if found["glm"] is None else found["prior.weights"]
    if found["glm"] is not None and (weights == 1).all():
        weights = None
    return replace(fit, model=model, weights=weights, weights_kept=kept), _arguments(found, model)


def _described(what: str, function: str, argument: Any) -> dict[str, Any]:
    """R's description of an earth object; fails for damaged objects and values that cannot be converted."""
    try:
        return bridge.call(function, argument)
    except (RError, TypeError) as error:
        raise InvalidInputError(f"{what} but it should be an earth object: {error}") from None


def _columns_from(found: Described, model: MarsModel) -> Columns | None:
    """Return the raw columns if R kept them; otherwise the model takes the expanded matrix."""
    if found["columns"] is None:
        return None
    columns = Columns(
        tuple(
            Column(name, column["kind"][0], tuple(column["levels"] or ()))
            for name, column in found["columns"].items()
        )
    )
    known = not columns.is_numeric and columns.feature_names == model.feature_names
    return columns if known else None


def _formula_from(found: Described) -> Formula | None:
    described = found["formula"]
    if described is None:
        return None
    reason = described.get("reason")
    try:
        if reason is None:
            return Formula.from_r(described)
    except InvalidInputError as error:
        reason = [str(error)]
    if described["offset"]:
        raise InvalidInputError(
            f"the model adds an offset, but its formula cannot be evaluated here: {reason[0]}"
        )
    return None


def _arguments(found: Described, model: MarsModel) -> dict[str, Any]:
    """Return the constructor arguments recorded in the object."""
    arguments: dict[str, Any] = {
        "degree": model.degree, "penalty": model.penalty, "nk": model.nk, "thresh": model.thresh,
        "pmethod": model.pmethod, "engine": "r",
    }  # fmt: skip
    if model.glm is not None:
        ours = {theirs: ours for ours, theirs in GLM_FAMILIES.items()}
        arguments |= {"glm_family": ours.get(model.glm.family), "glm_link": model.glm.link}
    if found["cv"] is not None:
        numbers = [[int(k) for k in re.findall(r"[0-9]+", fold)] for fold in found["cv"]["folds"]]
        arguments |= {"nfold": max(n[-1] for n in numbers), "ncross": max(n[0] for n in numbers)}
    if found["varmod"] is not None:
        arguments["varmod_method"] = found["varmod"][0]
    return arguments


def write_rds(fit: Fit, path: str | os.PathLike[str], fit_in_r: Callable[[], Fit]) -> None:
    """Write a file for readRDS: the serialised object, compressed.

    The object of a generalised linear model contains R's glm objects, which only R can create: `fit_in_r`
    fits the same data in R.
    """
    stored, model = fit.r_object, fit.model
    if stored is None:
        if model.formula is not None and model.formula.has_offset:
            raise InvalidInputError(
                f"the formula {model.formula.text!r} has an offset, which is written by a fit of R only: "
                "fit with engine='r'"
            )
        bridge.require("earth")
        if model.glm is None:
            stored = bridge.call("earth.build", _parts(fit))
        else:
            stored = _same_model(fit_in_r(), model).r_object
    assert stored is not None  # fitted by R
    write_whole(path, gzip.compress(stored, mtime=0))


def _same_model(by_r: Fit, ours: MarsModel) -> Fit:
    model = by_r.model
    if model.term_names != ours.term_names or not np.array_equal(model.selected, ours.selected):
        raise FittingError(
            "R takes other terms for these data, see crosscheck: fit with engine='r' to write an .rds file"
        )
    return by_r


def _parts(fit: Fit) -> dict[str, Any]:
    """Return the elements of an earth object, by R's names, for a model not fitted by R."""
    model = fit.model
    n, m = len(fit.fitted), len(model.response_names)
    return {
        "dirs": bridge.NamedMatrix(model.dirs, model.feature_names),
        "cuts": bridge.NamedMatrix(model.cuts, model.feature_names),
        "term.names": list(model.term_names),
        "selected.terms": model.selected + 1.0,
        "coefficients": bridge.NamedMatrix(model.coef.reshape(-1, m), model.response_names),
        "bx": fit.bx,
        "fitted.values": bridge.NamedMatrix(fit.fitted.reshape(n, m), model.response_names),
        "residuals": bridge.NamedMatrix(fit.residuals.reshape(n, m), model.response_names),
        "rss": model.rss, "rsq": model.rsq, "gcv": model.gcv, "grsq": model.grsq,
        "rss.per.response": model.rss_per_response, "rsq.per.response": model.rsq_per_response,
        "gcv.per.response": model.gcv_per_response, "grsq.per.response": model.grsq_per_response,
        "rss.per.subset": model.rss_per_subset, "gcv.per.subset": model.gcv_per_subset,
        "prune.terms": model.prune_terms, "leverages": fit.leverages,
        "pmethod": model.pmethod, "penalty": model.penalty, "nk": float(model.nk),
        "thresh": model.thresh, "termcond": float(model.termcond), "weights": fit.weights,
        "degree": float(model.degree), "modvars": _modvars(model),
    }  # fmt: skip


def _modvars(model: MarsModel) -> list[Any]:
    """R's table of raw columns (rows) and the predictors derived from them; row names first."""
    raw = [source.raw for source in model.columns.sources] if model.columns else model.feature_names
    names = list(dict.fromkeys(raw))
    used = np.array([[float(name == r) for r in raw] for name in names])
    return [names, bridge.NamedMatrix(used, model.feature_names)]


def _check_described(found: dict[str, Any]) -> None:
    """Reject an object with a part that is missing or has the wrong type or size; see earth.R."""
    sizes: dict[str, int] = {"1": 1}
    _check_parts(found, NUMBERS, sizes)
    _check_parts(found, TEXTS, sizes, of_texts=True)
    n_terms, chosen = sizes["t"], found["selected"]
    if not len(chosen) or not np.isin(chosen, np.arange(1, n_terms + 1)).all():
        raise _damaged(f"selected.terms should be numbers from 1 to {n_terms}")
    if found["prune.terms"] is not None:  # a vector for a single size
        is_matrix = np.ndim(found["prune.terms"]) == 2
        _check_parts(found, {"prune.terms": ".." if is_matrix else "."}, sizes)
    for name in FINITE:
        if found[name] is not None and not np.isfinite(found[name]).all():
            raise _damaged(f"{name} should be finite")
    for name in NOT_NEGATIVE:
        if found[name] is not None and not (found[name] >= 0).all():
            raise _damaged(f"{name} should be numbers from 0 on")
    if found["columns"] is not None and not isinstance(found["columns"], dict):
        raise _damaged("x has no names")
    if found["glm"] is not None:
        if found["prior.weights"] is None:
            raise _damaged("glm.list has no prior.weights")
        _check_parts(found["glm"], OF_GLM, sizes)
        _check_parts(found["glm"], {"family": "1", "link": "1"}, sizes, of_texts=True)
    if found["cv"] is not None:
        _check_cv(found["cv"])
    if found["variance"] is not None:
        _check_variance(found["variance"], sizes)


def _check_parts(
    found: Any, parts: Mapping[str, str], sizes: dict[str, int], *, of_texts: bool = False
) -> None:
    """Reject parts of the wrong type or dimensions; record the sizes of new dimensions."""
    if not isinstance(found, dict):
        raise _damaged("a list of models is no list")
    for name, dimensions in parts.items():
        value = found.get(name)
        if value is None and dimensions.endswith("?"):
            continue
        if isinstance(value, bool) and not of_texts:
            value = found[name] = np.array([float(value)])
        dimensions = dimensions.removesuffix("?")
        if of_texts:
            if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
                raise _damaged(f"{name} should be texts")
            shape: tuple[int, ...] = (len(value),)
        elif not isinstance(value, np.ndarray) or value.ndim != len(dimensions):
            kind = "numbers" if len(dimensions) == 1 else "a matrix of numbers"
            raise _damaged(f"{name} should be {kind}")
        else:
            shape = value.shape
        for size, letter in zip(shape, dimensions, strict=True):
            if letter != "." and sizes.setdefault(letter, size) != size:
                raise _damaged(f"{name} has {size} entries, not {sizes[letter]}")


def _check_variance(variance: Any, sizes: dict[str, int]) -> None:
    _check_parts(variance, {"method": "1"}, sizes, of_texts=True)
    if "coef" not in variance:  # a gam
        return
    _check_parts(variance, OF_VARIANCE, sizes)
    for name in ("exponent", "min.sd", "iterations"):
        if not np.isfinite(variance[name]).all():
            raise _damaged(f"varmod: {name} should be finite")
    if sizes["c"] == 0:
        raise _damaged("varmod has no coefficients")
    if ("dirs" in variance) != ("cuts" in variance):
        raise _damaged("varmod should have both dirs and cuts")


def _check_cv(cv: Any) -> None:
    sizes: dict[str, int] = {}
    _check_parts(cv, {"folds": "f"}, sizes, of_texts=True)
    _check_parts(cv, {"terms": "f"}, sizes)
    folds = cv["folds"]
    if not folds or not isinstance(cv["tables"], dict) or not all(map(_FOLD.search, folds)):
        raise _damaged("cv.list contains no folds by name, or there are no tables")
    for table in cv["tables"].values():
        _check_parts(table, {"values": ".."}, sizes)
    try:
        cv_frames(cv)
    except (KeyError, IndexError, TypeError, ValueError):
        raise _damaged("the tables of cross-validation do not belong together") from None


def _damaged(what: str) -> InvalidInputError:
    return InvalidInputError(f"the earth object is damaged: {what}")
