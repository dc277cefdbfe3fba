"""A fitted estimator as a file: its model, and what it knows beside it but for the training rows.

The file is that of `MarsModel.save` with one entry more, `estimator`, so that each reads the other's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from .._utils.files import write_whole
from ..exceptions import InvalidInputError, TrainingRowsError
from . import reading as saved
from .data.design import default_names
from .inspect.summary import VarianceShown, check_folds
from .model.estimator_parts import (
    classes_from,
    frame_from,
    params_from,
    plain_classes,
    plain_frame,
    plain_params,
)
from .model.mars_model import MarsModel

__all__ = ["Kept", "SavedEstimator", "class_in_file"]

SHOWN = 30  # weights and offsets of the first rows are in the summary
ENTRIES = {
    "class", "params", "feature_names_in", "classes", "levels", "anova", "importances", "weights_shown",
    "offset_shown", "cv", "cv_tables", "mda_gcv",
}  # fmt: skip
SOMETIMES = {"varmod_shown"}  # with a variance model; files of older versions lack it


@dataclass(frozen=True)
class Kept:
    """What was computed from the training rows before they were left behind."""

    anova: pd.DataFrame | None
    importances: np.ndarray | None
    weights_shown: np.ndarray | None
    offset_shown: np.ndarray | None
    varmod_shown: VarianceShown | None = None


class _OfTrainingRows:
    """An attribute of the training rows, which a loaded estimator does not have.

    It is looked up only where the estimator itself has none: `__get__` alone makes no data descriptor.
    """

    def __set_name__(self, owner, name: str) -> None:
        self.name = name

    def __get__(self, estimator, owner=None) -> Any:
        if estimator is not None and "model_" in vars(estimator):
            what = "this" if self.name.startswith("_") else self.name
            error = TrainingRowsError(
                f"{what} needs the training rows, and this model was loaded from a file without them: fit "
                "again, or pickle the estimator"
            )
            # Python's "Did you mean" names a method that needs them, too.
            error.name, error.obj = "", None
            raise error
        kind = type(estimator) if owner is None else owner
        raise AttributeError(f"{kind.__name__!r} object has no attribute {self.name!r}")


class SavedEstimator:
    """Saving a fitted estimator, and loading it again without its training rows."""

    bx_ = _OfTrainingRows()
    fitted_values_ = _OfTrainingRows()
    residuals_ = _OfTrainingRows()
    leverages_ = _OfTrainingRows()
    weights_ = _OfTrainingRows()
    _sd = _OfTrainingRows()
    _kept: Kept | None = None
    # what the estimators have
    model_: MarsModel
    levels_: np.ndarray | None
    _r_object: Any
    _get_param_names: Any
    get_params: Any
    anova: Any
    feature_importances_: Any
    _weights_shown: Any
    _varmod_shown: Any

    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted estimator to the file `path`, as JSON; an existing one is replaced whole.

        The training rows are not in it, and neither is what needs them: `residuals`, `reprune` and
        `update`, intervals at the training rows. Everything else is. `pyearthdof.mars.model.schema` has the
        JSON schema of the file; `MarsModel.load` reads it, too.

        Examples
        --------
        >>> import tempfile
        >>> from pyearthdof import Earth
        >>> from pyearthdof.datasets import load_ozone
        >>> model = Earth.from_formula("O3 ~ temp", load_ozone(), engine="native")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/model.json")
        ...     again = Earth.load(f"{folder}/model.json")
        >>> again.summary() == model.summary()
        True
        """
        write_whole(path, self.to_json())

    def to_json(self) -> str:
        """The text of the file that `save` writes; every number survives to the last bit.

        Examples
        --------
        >>> from pyearthdof import Earth
        >>> from pyearthdof.datasets import load_ozone
        >>> model = Earth.from_formula("O3 ~ temp", load_ozone(), engine="native")
        >>> Earth.from_json(model.to_json()).to_json() == model.to_json()
        True
        """
        check_is_fitted(self)
        entries = self.model_.to_dict() | {"estimator": self._entries()}
        return json.dumps(entries, allow_nan=False)

    @classmethod
    def load(cls, path: str | os.PathLike):
        """Read the file at `path`, which `save` wrote, or `MarsModel.save`.

        No code is run, so that it is safe for files from strangers. What needs the training rows raises
        `TrainingRowsError`, one sentence. A model that R fitted has our summary, in R's layout; of a
        classifier a file of `MarsModel.save` does not have the classes and is refused.

        Examples
        --------
        >>> from pyearthdof import Earth
        >>> from pyearthdof.datasets import load_ozone
        >>> model = Earth.from_formula("O3 ~ temp", load_ozone(), engine="native")
        >>> model = Earth.from_json(model.to_json())  # what `load` does with the text of a file
        >>> model.residuals_
        Traceback (most recent call last):
        pyearthdof.exceptions.TrainingRowsError: residuals_ needs the training rows, and this model was \
loaded from a file without them: fit again, or pickle the estimator
        """
        return cls.from_json(saved.read_file(path))

    @classmethod
    def from_json(cls, text: str):
        """Read the text of `to_json`, as `load` reads its file."""
        model = MarsModel.from_json(text)
        entries = json.loads(text).get("estimator")
        if entries is None:
            return cls._of_model(model)
        if not isinstance(entries, Mapping) or set(entries) - SOMETIMES != ENTRIES:
            raise InvalidInputError(f"estimator should have exactly {', '.join(sorted(ENTRIES))}")
        if entries["class"] != cls.__name__:
            raise InvalidInputError(
                f"the file holds a fitted {str(entries['class'])[:40]}, so {cls.__name__} does not read it: "
                "its own load does"
            )
        estimator = cls(**params_from(cls._get_param_names(), entries["params"]))
        estimator._take(model, entries)
        return estimator

    @classmethod
    def _of_model(cls, model: MarsModel):
        """The estimator of a model alone: its settings are the model's."""
        if hasattr(cls, "predict_proba"):
            raise InvalidInputError(
                "the file holds a model but not the names of its classes: MarsModel.load reads it"
            )
        known = set(cls._get_param_names())
        settings: dict[str, Any] = {
            "degree": model.degree,
            "penalty": model.penalty,
            "nk": model.nk,
        }
        settings |= {"thresh": model.thresh, "pmethod": model.pmethod}
        if model.glm is not None:
            families = {"Gamma": "gamma", "inverse.gaussian": "inverse_gaussian"}
            settings |= {"glm_family": families.get(model.glm.family, model.glm.family)}
            settings |= {"glm_link": model.glm.link}
        if model.varmod is not None:
            settings |= {"varmod_method": model.varmod.method}
        estimator = cls(**params_from(known, {k: v for k, v in settings.items() if k in known}))
        estimator._become(model, None)
        return estimator

    def _become(self, model: MarsModel, names) -> None:
        """The parts that a fit sets and that need no training rows."""
        raw = model.raw_names
        if names is None and (model.columns or model.formula or raw != default_names(len(raw))):
            names = raw
        self.model_ = model
        self.n_features_in_ = len(raw)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._r_object = None
        if "levels_" not in vars(self) and not hasattr(self, "classes_"):
            self.levels_ = None
        if self._kept is None:
            self._kept = Kept(None, None, None, None)

    def _entries(self) -> dict:
        """What the file has beside the model."""
        kept = self._kept or self._to_keep()
        names = getattr(self, "feature_names_in_", None)
        tables = {k: v for k, v in getattr(self, "cv_tables_", {}).items() if k != "oof_fit"}
        sometimes = {}
        if kept.varmod_shown is not None:
            sometimes["varmod_shown"] = kept.varmod_shown.to_dict()
        return sometimes | {
            "class": type(self).__name__,
            "params": plain_params(self.get_params(deep=False)),
            "feature_names_in": None if names is None else [str(name) for name in names],
            "classes": plain_classes(getattr(self, "classes_", None)),
            "levels": plain_classes(getattr(self, "levels_", None)),
            "anova": plain_frame(kept.anova),
            "importances": saved.plain(kept.importances),
            "weights_shown": saved.plain(kept.weights_shown),
            "offset_shown": saved.plain(kept.offset_shown),
            "cv": plain_frame(getattr(self, "cv_", None)),
            "cv_tables": {name: plain_frame(table) for name, table in tables.items()},
            "mda_gcv": saved.plain(getattr(self, "mda_gcv_", None)),
        }

    def _to_keep(self) -> Kept:
        """Compute from the training rows what would need them later."""
        weights = self._weights_shown()
        offset = getattr(getattr(self, "_data", None), "offset", None)
        return Kept(
            anova=pd.DataFrame(self.anova()),
            importances=self.feature_importances_,
            weights_shown=None if weights is None else weights[:SHOWN],
            offset_shown=None if offset is None else offset[:SHOWN],
            varmod_shown=self._varmod_shown(),
        )

    def _take(self, model: MarsModel, entries: Mapping) -> None:
        """Become what a file says."""
        names = entries["feature_names_in"]
        names = None if names is None else saved.read_texts("feature_names_in", names)
        if names is not None and (
            len(names) != len(model.raw_names) or len(set(names)) < len(names)
        ):
            raise InvalidInputError(
                f"feature_names_in should hold {len(model.raw_names)} different names"
            )
        classes = classes_from("estimator.classes", entries["classes"])
        self._check_number_of(classes, model)
        if classes is not None:
            self.classes_ = classes
        else:
            self.levels_ = classes_from("estimator.levels", entries["levels"])
        self._kept = Kept(
            frame_from("estimator.anova", entries["anova"]),
            _vector("estimator.importances", entries["importances"], len(model.raw_names)),
            _vector("estimator.weights_shown", entries["weights_shown"]),
            _vector("estimator.offset_shown", entries["offset_shown"]),
            _variance_shown(model, entries.get("varmod_shown")),
        )
        has_offset = model.formula is not None and model.formula.has_offset
        if self._kept.offset_shown is not None and not has_offset:
            raise InvalidInputError("estimator.offset_shown is there but the model has no offset")
        if entries["cv"] is not None:
            tables = entries["cv_tables"]
            if not isinstance(tables, Mapping):
                raise InvalidInputError("estimator.cv_tables should be a mapping")
            self.cv_ = frame_from("estimator.cv", entries["cv"])
            self.cv_tables_ = {
                name: frame_from(f"estimator.cv_tables {name[:40]}", t)
                for name, t in tables.items()
            }
            check_folds(model, self.cv_, self.cv_tables_)
        if entries["mda_gcv"] is not None:
            self.mda_gcv_ = saved.read_number("estimator.mda_gcv", entries["mda_gcv"])
        self._become(model, names)

    def _check_number_of(self, classes, model: MarsModel) -> None:
        if (classes is not None) != hasattr(type(self), "predict_proba"):
            raise InvalidInputError(
                "estimator.classes should be there for a classifier, and only then"
            )
        if classes is None:
            return
        n_resp = len(model.response_names)
        if len(classes) != (2 if n_resp == 1 else n_resp) or len(set(classes.tolist())) < len(
            classes
        ):
            raise InvalidInputError("estimator.classes should hold each class of the model once")


def class_in_file(text: str) -> str:
    """The name of the class that reads the text of a file; a model alone is one of Earth."""
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        return "Earth"  # which says what is wrong with it
    found = entries.get("estimator") if isinstance(entries, Mapping) else None
    name = found.get("class") if isinstance(found, Mapping) else None
    return name if name in ("EarthClassifier", "Mars") else "Earth"


def _variance_shown(model: MarsModel, entries) -> VarianceShown | None:
    if entries is None:
        return None
    if model.varmod is None:
        raise InvalidInputError(
            "estimator.varmod_shown is there but the model has no variance model"
        )
    return VarianceShown.from_dict(model, entries)


def _vector(name: str, value, length: int | None = None) -> np.ndarray | None:
    if value is None:
        return None
    vector = saved.read_vector(name, value)
    if length is not None and len(vector) != length:
        raise InvalidInputError(f"{name} should hold {length} numbers")
    return vector
