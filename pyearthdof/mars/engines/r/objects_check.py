"""Whether what R tells about an earth object hangs together: it comes from a file, which may be damaged."""

from __future__ import annotations

import re

import numpy as np

from ....exceptions import InvalidInputError
from ...components.cv_frames import cv_frames

__all__ = ["check_described"]

NUMBERS = ("rss", "rsq", "gcv", "grsq", "nk", "penalty", "thresh")
PER_RESPONSE = ("rss.per.response", "rsq.per.response", "gcv.per.response", "grsq.per.response")
_FOLD = re.compile("[0-9]")
GLM = ("null.deviance", "null.df", "deviance", "df", "aic", "iterations", "converged")


def check_described(found: dict) -> None:
    """Refuse an object of which a part is missing, of another kind or of another size; see earth.R."""
    n_terms, n_features = _matrix(found, "dirs").shape
    _matrix(found, "cuts", (n_terms, n_features))
    _texts(found, "term.names", n_terms)
    _texts(found, "feature.names", n_features)
    chosen = _vector(found, "selected")
    if not len(chosen) or not (np.isin(chosen, np.arange(1, n_terms + 1))).all():
        raise _damaged(f"selected.terms should be numbers from 1 to {n_terms}")
    n_resp = _matrix(found, "coef").shape[1]
    _matrix(found, "coef", (len(chosen), n_resp))
    if found["response.names"] is not None:
        _texts(found, "response.names", n_resp)
    n_rows = len(_matrix(found, "fitted"))
    for name, shape in {
        "fitted": (n_rows, n_resp), "residuals": (n_rows, n_resp), "bx": (n_rows, len(chosen)),
    }.items():  # fmt: skip
        if not np.isfinite(_matrix(found, name, shape)).all():
            raise _damaged(f"{name} holds what is not finite")
    if found["glm"] is not None and found["prior.weights"] is None:
        raise _damaged("glm.list has no prior.weights")
    for name in ("leverages", "weights", "prior.weights"):
        if found[name] is not None and not (_vector(found, name, n_rows) >= 0).all():
            raise _damaged(f"{name} should be numbers from 0 on")
    if found["columns"] is not None and not isinstance(found["columns"], dict):
        raise _damaged("x has no names")
    _check_numbers(found)
    if found["glm"] is not None:
        _check_glm(found["glm"], len(chosen), n_rows, n_resp)
    if found["cv"] is not None:
        _check_cv(found["cv"])
    if found["variance"] is not None:
        _check_variance(found["variance"], n_rows)


def _check_variance(variance, n_rows: int) -> None:
    """Of a gam there is the method alone."""
    if not isinstance(variance, dict):
        raise _damaged("varmod is no list")
    _texts(variance, "method", 1)
    if "coef" not in variance:
        return
    coef = _vector(variance, "coef")
    for name in ("exponent", "min.sd", "iterations"):
        if not np.isfinite(_vector(variance, name, 1)[0]):
            raise _damaged(f"varmod: {name} should be finite")
    _vector(variance, "fitted", n_rows)
    if variance["weights"] is not None:
        _vector(variance, "weights", n_rows)
    if "dirs" in variance:
        shape = _matrix(variance, "dirs").shape
        _matrix(variance, "cuts", shape)
        if shape[0] != len(coef):
            raise _damaged(f"varmod has {len(coef)} coefficients for {shape[0]} terms")
    if len(coef) == 0:
        raise _damaged("varmod has no coefficients")


def _check_numbers(found) -> None:
    for name in NUMBERS:
        _vector(found, name, 1)
    if not np.isfinite([found[name][0] for name in ("nk", "penalty", "thresh")]).all():
        raise _damaged("nk, penalty and thresh should be finite")
    for name in ("termcond", "degree"):
        if found[name] is not None and not np.isfinite(_vector(found, name, 1)[0]):
            raise _damaged(f"{name} should be a number")
    _texts(found, "pmethod", 1)
    if found["varmod"] is not None:
        _texts(found, "varmod", 1)
    for name in PER_RESPONSE:
        if found[name] is not None:
            _vector(found, name)
    sizes = [len(_vector(found, name)) for name in ("rss.per.subset", "gcv.per.subset")]
    if found["prune.terms"] is not None:
        # A single size comes as a vector.
        rows = found["prune.terms"]
        rows = (
            _matrix(found, "prune.terms") if np.ndim(rows) == 2 else _vector(found, "prune.terms")
        )
        if not np.isfinite(rows).all():
            raise _damaged("prune.terms holds what is not finite")
    if sizes[0] != sizes[1]:
        raise _damaged("rss.per.subset and gcv.per.subset should be of one length")


def _check_glm(glm, n_terms: int, n_rows: int, n_resp: int) -> None:
    if not isinstance(glm, dict):
        raise _damaged("glm.list is no list of models")
    _texts(glm, "family", 1)
    _texts(glm, "link", 1)
    _matrix(glm, "coef", (n_terms, n_resp))
    _matrix(glm, "y", (n_rows, n_resp))
    for name in GLM:
        _vector(glm, name, n_resp)


def _check_cv(cv) -> None:
    folds = _texts(cv, "folds", None)
    _vector(cv, "terms", len(folds))
    if not folds or not isinstance(cv["tables"], dict) or not all(map(_FOLD.search, folds)):
        raise _damaged("cv.list holds no folds by name, or there are no tables")
    for table in cv["tables"].values():
        _matrix(table, "values")
    try:
        cv_frames(cv)
    except (KeyError, IndexError, TypeError, ValueError):
        raise _damaged("the tables of cross-validation do not belong together") from None


def _matrix(found, name: str, shape=None) -> np.ndarray:
    value = found.get(name)
    if not isinstance(value, np.ndarray) or value.ndim != 2:
        raise _damaged(f"{name} should be a matrix of numbers")
    if shape is not None and value.shape != shape:
        raise _damaged(
            f"{name} has {value.shape[0]} x {value.shape[1]} entries, not {shape[0]} x {shape[1]}"
        )
    return value


def _vector(found, name: str, size: int | None = None) -> np.ndarray:
    value = found.get(name)
    if isinstance(value, bool):
        value = found[name] = np.array([float(value)])
    if not isinstance(value, np.ndarray) or value.ndim != 1:
        raise _damaged(f"{name} should be numbers")
    if size is not None and len(value) != size:
        raise _damaged(f"{name} has {len(value)} entries, not {size}")
    return value


def _texts(found, name: str, size: int | None) -> list[str]:
    value = found.get(name)
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise _damaged(f"{name} should be texts")
    if size is not None and len(value) != size:
        raise _damaged(f"{name} has {len(value)} entries, not {size}")
    return value


def _damaged(what: str) -> InvalidInputError:
    return InvalidInputError(f"the earth object is damaged: {what}")
