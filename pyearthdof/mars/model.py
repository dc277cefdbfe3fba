"""A fitted MARS model as plain numpy: predict, basis, text, JSON. Needs no R.

A term is a product over predictors. `dirs[t, j]` says how predictor j enters term t: 0 not at all,
2 linearly, 1 as h(x - cut), -1 as h(cut - x), with h(z) = max(0, z) and the cut in `cuts[t, j]`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from .._files import write_whole
from ..exceptions import InvalidInputError

__all__ = ["FitDetails", "MarsModel", "evaluate_term", "nominal_df"]

FORMAT = "pyearthdof.MarsModel"
FORMAT_VERSION = 1
MAX_ENTRIES = 10_000_000  # of dirs in a file; earth allows 1000 terms


def nominal_df(n_terms: float, penalty: float) -> float:
    """Nominal degrees of freedom r + c (r - 1)/2 of a MARS model with r terms and penalty c.

    A negative penalty means that terms and knots are free: 0, as earth has it.

    >>> nominal_df(12, 2.0)
    23.0
    """
    if penalty < 0:
        return 0.0
    return float(n_terms + penalty * (n_terms - 1) / 2)


@dataclass(frozen=True, eq=False)
class MarsModel:
    """A fitted MARS model.

    Attributes
    ----------
    feature_names : names of the predictors.
    dirs, cuts : (n_forward_terms, n_features) arrays, one row for each term of the forward pass.
    term_names : R's names of these terms.
    selected : 0-based indices of the terms that pruning kept, the intercept first.
    coef : (n_selected,) coefficients in the order of `selected`.
    rss, rsq, gcv, grsq : of the fit on its training data.
    rss_per_subset, gcv_per_subset : along the pruning pass, by number of terms.
    prune_terms : 1-based terms of the best model of each size, as in R.
    degree, penalty, nk, thresh, pmethod : the settings, resolved.
    termcond : why the forward pass stopped, R's number.
    n_samples : rows it was fitted on.
    engine, versions : what computed it.
    """

    feature_names: tuple[str, ...]
    dirs: np.ndarray
    cuts: np.ndarray
    term_names: tuple[str, ...]
    selected: np.ndarray
    coef: np.ndarray
    rss: float
    rsq: float
    gcv: float
    grsq: float
    rss_per_subset: np.ndarray
    gcv_per_subset: np.ndarray
    prune_terms: np.ndarray
    degree: int
    penalty: float
    nk: int
    thresh: float
    pmethod: str
    termcond: int
    n_samples: int
    engine: str
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_terms(self) -> int:
        """Number of selected terms, the intercept included."""
        return len(self.selected)

    @property
    def nominal_df(self) -> float:
        """r + c (r - 1)/2, see `nominal_df`."""
        return nominal_df(self.n_terms, self.penalty)

    @property
    def selected_names(self) -> tuple[str, ...]:
        """Names of the selected terms."""
        return tuple(self.term_names[t] for t in self.selected)

    def basis(self, X: np.ndarray) -> np.ndarray:
        """Evaluate the selected terms at the rows of X: an (n, n_terms) matrix."""
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != len(self.feature_names):
            raise InvalidInputError(
                f"X has shape {X.shape} but the model needs {len(self.feature_names)} columns"
            )
        basis = np.empty((len(X), self.n_terms))
        for column, term in enumerate(self.selected):
            basis[:, column] = evaluate_term(X, self.dirs[term], self.cuts[term])
        return basis

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Predict at the rows of X."""
        return self.basis(X) @ self.coef

    def used_features(self) -> tuple[str, ...]:
        """Names of the predictors that a selected term uses, in column order."""
        used = np.any(self.dirs[self.selected] != 0, axis=0)
        return tuple(
            name for name, is_used in zip(self.feature_names, used, strict=True) if is_used
        )

    def __str__(self) -> str:
        return (
            f"MARS model: selected {self.n_terms} of {len(self.dirs)} terms, and "
            f"{len(self.used_features())} of {len(self.feature_names)} predictors\n"
            f"GCV {self.gcv:.7g}    RSS {self.rss:.7g}    GRSq {self.grsq:.7g}    "
            f"RSq {self.rsq:.7g}    nominal df {self.nominal_df:g}"
        )

    def __eq__(self, other) -> bool:
        return isinstance(other, MarsModel) and self.to_json() == other.to_json()

    __hash__ = None

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain lists, numbers and strings, ready for JSON."""
        entries = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        return {"format": FORMAT, "format_version": FORMAT_VERSION} | entries

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> MarsModel:
        """Build a model from `to_dict`'s result; anything inconsistent is refused by name."""
        if not isinstance(entries, Mapping) or entries.get("format") != FORMAT:
            raise InvalidInputError(f"this is not a saved MARS model (no format {FORMAT!r})")
        if entries.get("format_version") != FORMAT_VERSION:
            raise InvalidInputError(
                f"format_version={entries.get('format_version')!r} but this release reads "
                f"{FORMAT_VERSION}"
            )
        missing = [f.name for f in fields(cls) if f.name not in entries]
        if missing:
            raise InvalidInputError(f"the saved MARS model lacks {', '.join(missing)}")
        model = cls(**{name: _READERS[name](name, entries[name]) for name in _READERS})
        model._check()
        return model

    def to_json(self) -> str:
        """Return the model as JSON; every number survives to the last bit."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> MarsModel:
        """Read `to_json`'s text. Safe for files from strangers: no code is run."""
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"this is not a saved MARS model: {error}") from error
        return cls.from_dict(entries)

    def save(self, path: str | os.PathLike) -> None:
        """Write JSON to a file; an existing file is replaced whole or not at all."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike) -> MarsModel:
        """Read a file that `save` wrote."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    def _check(self) -> None:
        shape = (len(self.term_names), len(self.feature_names))
        for name in ("dirs", "cuts"):
            if getattr(self, name).shape != shape:
                raise InvalidInputError(
                    f"{name} has shape {getattr(self, name).shape} but it should be {shape}"
                )
        if not np.isin(self.dirs, (-1, 0, 1, 2)).all():
            raise InvalidInputError("dirs has entries other than -1, 0, 1 and 2")
        if not np.isfinite(self.cuts).all():
            raise InvalidInputError("cuts has entries that are not finite")
        n_terms = shape[0]
        if len(self.selected) == 0 or not all(0 <= t < n_terms for t in self.selected):
            raise InvalidInputError(f"selected should hold indices from 0 to {n_terms - 1}")
        if len(set(self.selected.tolist())) != len(self.selected):
            raise InvalidInputError("selected holds an index twice")
        if self.coef.shape != self.selected.shape:
            raise InvalidInputError(
                f"coef has shape {self.coef.shape} but there are {len(self.selected)} terms"
            )


@dataclass(frozen=True)
class FitDetails:
    """What a fit tells about its training rows, beside the model."""

    bx: np.ndarray
    fitted: np.ndarray
    leverages: np.ndarray | None
    r_object: bytes | None


def evaluate_term(X: np.ndarray, dirs: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Evaluate one term at the rows of X: the product of its factors in column order."""
    values = np.ones(len(X))
    for j in np.flatnonzero(dirs):
        if dirs[j] == 2:
            values *= X[:, j]
        else:
            values *= np.maximum(0.0, dirs[j] * (X[:, j] - cuts[j]))
    return values


def _plain(value):
    """JSON has no infinities: they travel as strings."""
    if isinstance(value, np.ndarray):
        return [_plain(v) for v in value.tolist()]
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def _read_number(name, value) -> float:
    if isinstance(value, str) and value in ("nan", "inf", "-inf"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInputError(f"{name} holds {str(value)[:40]!r} where a number should be")
    try:
        return float(value)
    except OverflowError:
        raise InvalidInputError(f"{name} holds a number that is too large") from None


def _read_integer(name, value) -> int:
    number = _read_number(name, value)
    if not number.is_integer() or abs(number) > 2**53:
        raise InvalidInputError(f"{name}={value!r} but it should be an integer")
    return int(number)


def _read_text(name, value) -> str:
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} holds {str(value)[:40]!r} where text should be")
    return value


def _read_texts(name, value) -> tuple[str, ...]:
    return tuple(_read_text(name, v) for v in _read_list(name, value))


def _read_list(name, value) -> list:
    if not isinstance(value, list):
        raise InvalidInputError(f"{name} should be a list")
    return value


def _read_vector(name, value) -> np.ndarray:
    return np.array([_read_number(name, v) for v in _read_list(name, value)], dtype=float)


def _read_indices(name, value) -> np.ndarray:
    return np.array([_read_integer(name, v) for v in _read_list(name, value)], dtype=int)


def _read_matrix(name, value) -> np.ndarray:
    rows = [_read_vector(name, row) for row in _read_list(name, value)]
    if len({len(row) for row in rows}) > 1 or sum(map(len, rows)) > MAX_ENTRIES:
        raise InvalidInputError(f"{name} should be a list of rows of one length")
    return np.array(rows, dtype=float).reshape(len(rows), -1 if rows else 0)


def _read_versions(name, value) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{name} should be a mapping")
    return {_read_text(name, k): _read_text(name, v) for k, v in value.items()}


_READERS = {
    "feature_names": _read_texts, "dirs": _read_matrix, "cuts": _read_matrix,
    "term_names": _read_texts, "selected": _read_indices, "coef": _read_vector,
    "rss": _read_number, "rsq": _read_number, "gcv": _read_number, "grsq": _read_number,
    "rss_per_subset": _read_vector, "gcv_per_subset": _read_vector, "prune_terms": _read_matrix,
    "degree": _read_integer, "penalty": _read_number, "nk": _read_integer,
    "thresh": _read_number, "pmethod": _read_text, "termcond": _read_integer,
    "n_samples": _read_integer, "engine": _read_text, "versions": _read_versions,
}  # fmt: skip
