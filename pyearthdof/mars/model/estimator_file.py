"""JSON file of a fitted estimator: its model and attributes, without the training rows.

The file is that of `MarsModel.save` with an additional entry, `estimator`; each class reads both files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ..._utils.warnings import warn_user
from ...exceptions import InvalidInputError
from .. import reading as saved
from ..inspect.summary import VarianceShown, check_folds
from ..options import GLM_FAMILIES, OPTIONS
from .mars_model import MarsModel, only_models

CLASSIFIER = "EarthClassifier"
FIRST_ROWS = 30  # rows whose weights and offsets the summary prints
_TIMES = r"(datetime64|timedelta64)\[(Y|M|W|D|h|m|s|ms|us|ns)\]"
_NUMBERS = r"u?int(8|16|32|64)|float(16|32|64)|bool"


@dataclass(frozen=True, eq=False)
class RowSummary:
    """Statistics of the training rows saved with an estimator, if available."""

    anova: pd.DataFrame | None = None
    importances: np.ndarray | None = None
    weights: np.ndarray | None = None
    offset: np.ndarray | None = None
    varmod: VarianceShown | None = None


@dataclass(frozen=True, eq=False)
class EstimatorFile:
    """Entries of a file: the model, and the fitted attributes with these names."""

    model: MarsModel
    kind: str | None = None  # class name of the estimator; None for a file with a model only
    params: Mapping[str, Any] = field(default_factory=dict)
    feature_names_in: tuple[str, ...] | None = None
    classes: np.ndarray | None = None
    levels: np.ndarray | None = None
    rows: RowSummary = RowSummary()
    cv: pd.DataFrame | None = None
    cv_tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    mda_gcv: float | None = None

    def to_json(self) -> str:
        """Return the text of the file; numbers are stored exactly."""
        rows = self.rows
        tables = {k: table for k, table in self.cv_tables.items() if k != "oof_fit"}
        entries: dict[str, Any] = {
            "class": self.kind,
            "params": _plain_params(self.params),
            "feature_names_in": self.feature_names_in,
            "classes": _plain_classes(self.classes),
            "levels": _plain_classes(self.levels),
            "anova": _plain_frame(rows.anova),
            "importances": rows.importances,
            "weights_shown": None if rows.weights is None else rows.weights[:FIRST_ROWS],
            "offset_shown": None if rows.offset is None else rows.offset[:FIRST_ROWS],
            "cv": _plain_frame(self.cv),
            "cv_tables": {name: _plain_frame(table) for name, table in tables.items()},
            "mda_gcv": self.mda_gcv,
        }
        if rows.varmod is not None:
            entries = {"varmod_shown": rows.varmod.to_dict()} | entries
        whole = self.model.to_dict() | {"estimator": saved.plain(entries)}
        return json.dumps(whole, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> EstimatorFile:
        """Read the text of a file; errors name inconsistent entries."""
        with only_models(text):
            entries = saved.read_json(text)
            model = MarsModel.from_dict(entries)
        entries = entries.get("estimator")
        if entries is None:
            return cls(model, params=_params_of(model))
        if not isinstance(entries, Mapping) or set(entries) - SOMETIMES != set(READERS) - SOMETIMES:
            names = ", ".join(sorted(set(READERS) - SOMETIMES))
            raise InvalidInputError(f"estimator should have exactly {names}")
        found: dict[str, Any] = {
            name: None
            if entries.get(name) is None and name not in ("params", "cv_tables")
            else read(f"estimator.{name}", entries[name])
            for name, read in READERS.items()
        }
        rows = RowSummary(
            found.pop("anova"),
            found.pop("importances"),
            found.pop("weights_shown"),
            found.pop("offset_shown"),
            _read_varmod(model, found.pop("varmod_shown")),
        )
        file = cls(model, found.pop("class"), rows=rows, **found)
        _check_file(file)
        return file


def _read_params(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{name} should be a mapping")
    return {key: _with_keys(f"{name}.{key[:40]}", entry) for key, entry in value.items()}


def _with_keys(name: str, value: Any) -> Any:
    """Return the dictionary of keys and values stored by `_plain_params`, or the value itself."""
    if not isinstance(value, Mapping) or set(value) != {"keys", "values"}:
        return value
    keys, values = value["keys"], value["values"]
    if not isinstance(keys, list) or not isinstance(values, list):
        return value
    if len(keys) != len(values) or any(isinstance(key, (list, Mapping)) for key in keys):
        raise InvalidInputError(f"{name} should have a value for each of its keys")
    return dict(zip(keys, values, strict=True))


def _read_tables(name: str, value: Any) -> dict[str, Any]:
    return {
        key: _read_frame(f"{name} {key[:40]}", table)
        for key, table in _read_params(name, value).items()
    }


def _read_varmod(model: MarsModel, entries: Any) -> VarianceShown | None:
    if entries is None:
        return None
    if model.varmod is None:
        raise InvalidInputError(
            "estimator.varmod_shown is there but the model has no variance model"
        )
    return VarianceShown.from_dict(model, entries)


def _check_file(file: EstimatorFile) -> None:
    """Reject entries that do not belong to the model."""
    model, rows, raw = file.model, file.rows, file.model.raw_names
    names = file.feature_names_in
    if names is not None and (len(names) != len(raw) or len(set(names)) < len(names)):
        raise InvalidInputError(f"feature_names_in should contain {len(raw)} different names")
    if (file.classes is not None) != (file.kind == CLASSIFIER):
        raise InvalidInputError("estimator.classes should be there for a classifier, and only then")
    if file.classes is not None:
        n_classes = max(2, len(model.response_names))
        if len(file.classes) != n_classes or len(set(file.classes.tolist())) < n_classes:
            raise InvalidInputError("estimator.classes should contain each class of the model once")
    if rows.importances is not None and len(rows.importances) != len(raw):
        raise InvalidInputError(f"estimator.importances should contain {len(raw)} numbers")
    if rows.offset is not None and not (model.formula is not None and model.formula.has_offset):
        raise InvalidInputError("estimator.offset_shown is there but the model has no offset")
    if file.cv is not None:
        check_folds(model, file.cv, dict(file.cv_tables))


def _params_of(model: MarsModel) -> dict[str, Any]:
    """Return the constructor arguments stored in a model: its settings."""
    params: dict[str, Any] = {
        name: getattr(model, name) for name in ("degree", "penalty", "nk", "thresh", "pmethod")
    }
    if model.glm is not None:
        ours = {theirs: ours for ours, theirs in GLM_FAMILIES.items()}
        params["glm_family"] = ours.get(model.glm.family, model.glm.family)
        params["glm_link"] = model.glm.link
    if model.varmod is not None:
        params["varmod_method"] = model.varmod.method
    return params


def _plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an estimator; functions and generators are dropped with a warning."""
    found = {}
    for name, value in params.items():
        if callable(value) or isinstance(value, (np.random.RandomState, np.random.Generator)):
            warn_user(
                f"{name} is a {type(value).__name__}, which a file does not hold: the loaded estimator has "
                f"{name}=None"
            )
            value = None
        found[name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (pd.Series, pd.Index)):
        value = value.to_numpy()
    if isinstance(value, (set, frozenset, range)):
        value = list(value)
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, Mapping) and not all(isinstance(key, str) for key in value):
        # such as monotone={0: 1}: JSON names are always strings
        return {"keys": _plain(list(value)), "values": _plain(list(value.values()))}
    return saved.plain(value)


def check_params(known: Collection[str], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an estimator; reject unknown names and invalid values."""
    odd = sorted(set(params) - set(known))
    if odd:
        raise InvalidInputError(f"estimator.params has {odd[0][:40]!r}, which is no argument")
    for option in OPTIONS:
        if option.name in params:
            option.check(params[option.name])
    return dict(params)


def _plain_classes(classes: np.ndarray | None) -> dict[str, Any] | None:
    """Classes with the name of their type; dates as integers in its unit."""
    if classes is None:
        return None
    dtype = classes.dtype
    kind = "str" if dtype.kind == "U" else "object" if dtype.kind == "O" else dtype.name
    values = classes.astype("int64") if dtype.kind in "mM" else classes
    return {"type": kind, "values": saved.plain(values)}


def _read_classes(name: str, entries: Any) -> np.ndarray:
    """Read the result of `_plain_classes`; reject anything else."""
    if not isinstance(entries, Mapping) or set(entries) != {"type", "values"}:
        raise InvalidInputError(f"{name} should have exactly type and values")
    kind, values = saved.read_text(name, entries["type"]), entries["values"]
    if not isinstance(values, list) or len(values) < 2:
        raise InvalidInputError(f"{name} should have two values or more")
    if kind in ("str", "object"):
        return np.array(saved.read_texts(name, values), dtype=kind)
    if kind == "bool":
        if values not in ([False, True], [True, False]):
            raise InvalidInputError(f"{name} should be false and true")
        return np.array(values)
    if re.fullmatch(_TIMES, kind):
        return _integers(name, values, "int64").astype(kind)
    if not re.fullmatch(_NUMBERS, kind):
        raise InvalidInputError(f"{name} has the type {kind[:40]!r}, which is none of a class")
    if kind.startswith("float"):
        with np.errstate(over="ignore"):
            return saved.read_vector(name, values).astype(kind)
    return _integers(name, values, kind)


def _integers(name: str, values: list[Any], kind: str) -> np.ndarray:
    limits = np.iinfo(kind)
    for value in values:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or not limits.min <= value <= limits.max:
            raise InvalidInputError(f"{name} holds {str(value)[:40]!r}, which is no {kind}")
    return np.array(values, dtype=kind)


def _plain_frame(frame: pd.DataFrame | None) -> dict[str, Any] | None:
    """Return a table of numbers with row and column names."""
    if frame is None:
        return None
    return {
        "rows": [str(name) for name in frame.index],
        "columns": [str(name) for name in frame.columns],
        "values": saved.plain(frame.to_numpy(dtype=float)),
        "integers": [
            str(name) for name, kind in frame.dtypes.items() if pd.api.types.is_integer_dtype(kind)
        ],
    }


def _read_frame(name: str, entries: Any) -> pd.DataFrame | None:
    """Read the result of `_plain_frame`; reject anything else."""
    if entries is None:
        return None
    if not isinstance(entries, Mapping) or set(entries) != {
        "rows",
        "columns",
        "values",
        "integers",
    }:
        raise InvalidInputError(f"{name} should have exactly rows, columns, values and integers")
    rows, columns = (saved.read_texts(name, entries[key]) for key in ("rows", "columns"))
    values = saved.read_matrix(name, entries["values"])
    if values.shape != (len(rows), len(columns)) and values.size + len(rows) * len(columns):
        raise InvalidInputError(f"{name} should have {len(rows)} rows of {len(columns)} values")
    frame = pd.DataFrame(
        values.reshape(len(rows), len(columns)), index=list(rows), columns=list(columns)
    )
    for column in saved.read_texts(name, entries["integers"]):
        whole = columns.count(column) == 1 and np.abs(frame[column]).le(2**53).all()
        if not whole or not (frame[column] == np.floor(frame[column])).all():
            raise InvalidInputError(f"{name} has {column[:40]!r}, which is no column of integers")
        frame[column] = frame[column].astype(int)
    return frame


# One reader per entry; files of earlier versions lack those in SOMETIMES.
READERS: dict[str, Callable[[str, Any], Any]] = {
    "class": lambda name, value: str(value)[:40],
    "params": _read_params,
    "feature_names_in": saved.read_texts,
    "classes": _read_classes,
    "levels": _read_classes,
    "anova": _read_frame,
    "importances": saved.read_vector,
    "weights_shown": saved.read_vector,
    "offset_shown": saved.read_vector,
    "varmod_shown": lambda name, value: value,
    "cv": _read_frame,
    "cv_tables": _read_tables,
    "mda_gcv": saved.read_number,
}
SOMETIMES = {"varmod_shown"}
