"""Models of R's earth as R objects: reading what somebody fitted in R, writing .rds files for R."""

from __future__ import annotations

import gzip
import os
import re
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .... import bridge
from ...._utils.files import write_whole
from ....exceptions import FittingError, InvalidInputError, RError, RWarning
from ...data.columns import Column, Columns
from ...model.check import check_model
from ...model.mars_model import FitDetails
from ...options import GLM_FAMILIES, EarthOptions
from . import engine as engine_r
from .objects_check import check_described

if TYPE_CHECKING:
    from ...formula.learning import FormulaFrame
    from ...formula.model_matrix import Formula

__all__ = ["frame_for_r", "read_r", "write_rds"]


@dataclass(frozen=True)
class _Adopted(FitDetails):
    """Details of a fit that came from R, with its case weights and those that R keeps of them."""

    weights: np.ndarray | None = None
    weights_kept: np.ndarray | None = None


def frame_for_r(data: FormulaFrame) -> bridge.Frame:
    """A frame for R: numbers, truth values, factors. Columns of other types stay here."""
    return bridge.Frame(
        {name: _for_r(column, data.values[name]) for name, column in data.columns.items()}
    )


def _for_r(column: Column, values: pd.Series):
    """One column; missing values go as R's NA, so that R can say whether they matter."""
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


def read_r(source) -> tuple:
    """Model, details and constructor arguments of an earth object, or of an .rds file that holds one."""
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
    check_described(found)
    single = found["coef"].shape[1] == 1
    options = EarthOptions(
        n_features=len(found["feature.names"]),
        degree=_degree(found),
        thresh=float(found["thresh"][0]),
        pmethod=found["pmethod"][0],
    )
    model = engine_r.model_from(found, options, single=single)
    model = replace(model, formula=_formula_from(found), columns=_columns_from(found, model))
    check_model(model)
    details = engine_r.details_from(found, single=single)
    kept = found["weights"]
    # a glm has equal weights and the numbers of trials, too
    weights = kept if found["glm"] is None else found["prior.weights"]
    if found["glm"] is not None and (weights == 1).all():
        weights = None
    adopted = _Adopted(**vars(details), weights=weights, weights_kept=kept)
    return model, adopted, _arguments(found, model)


def _described(what: str, function: str, argument) -> dict:
    """What R tells of an earth object; a damaged one can make it stumble, or hold what cannot travel."""
    try:
        return bridge.call(function, argument)
    except (RError, TypeError) as error:
        raise InvalidInputError(f"{what} but it should be an earth object: {error}") from None


def _columns_from(found, model) -> Columns | None:
    """The raw columns, where R kept them; else the model takes the matrix of the expanded ones."""
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


def _degree(found) -> int:
    given = found["degree"]
    return (
        int(given[0]) if given is not None else max(1, int((found["dirs"] != 0).sum(axis=1).max()))
    )


def _formula_from(found) -> Formula | None:
    from ...formula.model_matrix import Formula

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


def _arguments(found, model) -> dict:
    """The constructor's arguments as far as the object tells them."""
    arguments = {
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


def write_rds(estimator, path) -> None:
    """Write what readRDS reads: the serialised object, compressed."""
    if estimator._r_object is not None:
        stored = estimator._r_object
    else:
        formula = estimator.model_.formula
        if formula is not None and formula.has_offset:
            raise InvalidInputError(
                f"the formula {formula.text!r} has an offset, which is written by a fit of R only: fit with "
                "engine='r'"
            )
        bridge.require("earth")
        glm = estimator.model_.glm
        stored = (
            bridge.call("earth.build", _parts(estimator)) if glm is None else _fit_again(estimator)
        )
    write_whole(path, gzip.compress(stored, mtime=0))


def _fit_again(estimator) -> bytes:
    """R's own fit of a generalised linear model: its object holds R's glm objects, which only R makes."""
    if estimator.glm_l2:
        raise InvalidInputError(
            f"glm_l2={estimator.glm_l2!r} but R has no ridge penalty: an .rds file needs glm_l2=0"
        )
    data = estimator._training_data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RWarning)  # the fit gave them
        model, details = engine_r.fit_one(data, data.check_options(estimator))
    ours = estimator.model_
    if model.term_names != ours.term_names or not np.array_equal(model.selected, ours.selected):
        raise FittingError(
            "R takes other terms for these data, see crosscheck: fit with engine='r' to write an .rds file"
        )
    assert details.r_object is not None  # R fitted it
    return details.r_object


def _parts(estimator) -> dict:
    """What an earth object is made of, in R's names, from a model that R did not fit."""
    model = estimator.model_
    n, m = len(estimator.fitted_values_), len(model.response_names)
    return {
        "dirs": bridge.NamedMatrix(model.dirs, model.feature_names),
        "cuts": bridge.NamedMatrix(model.cuts, model.feature_names),
        "term.names": list(model.term_names),
        "selected.terms": model.selected + 1.0,
        "coefficients": bridge.NamedMatrix(model.coef.reshape(-1, m), model.response_names),
        "bx": estimator.bx_,
        "fitted.values": bridge.NamedMatrix(
            estimator.fitted_values_.reshape(n, m), model.response_names
        ),
        "residuals": bridge.NamedMatrix(estimator.residuals_.reshape(n, m), model.response_names),
        "rss": model.rss, "rsq": model.rsq, "gcv": model.gcv, "grsq": model.grsq,
        "rss.per.response": model.rss_per_response, "rsq.per.response": model.rsq_per_response,
        "gcv.per.response": model.gcv_per_response, "grsq.per.response": model.grsq_per_response,
        "rss.per.subset": model.rss_per_subset, "gcv.per.subset": model.gcv_per_subset,
        "prune.terms": model.prune_terms, "leverages": estimator.leverages_,
        "pmethod": model.pmethod, "penalty": model.penalty, "nk": float(model.nk),
        "thresh": model.thresh, "termcond": float(model.termcond), "weights": estimator.weights_,
        "degree": float(model.degree), "modvars": _modvars(model),
    }  # fmt: skip


def _modvars(model) -> list:
    """R's table of which raw column (row) gave which predictor; the names of its rows come first."""
    raw = [source.raw for source in model.columns.sources] if model.columns else model.feature_names
    names = list(dict.fromkeys(raw))
    used = np.array([[float(name == r) for r in raw] for name in names])
    return [names, bridge.NamedMatrix(used, model.feature_names)]
