"""Fitted MARS model in plain numpy: predict, basis, text and JSON without R.

A term is a product over predictors. `dirs[t, j]` encodes how predictor j enters term t: 0 not at all,
2 linearly, 1 as h(x - cut), -1 as h(cut - x), with h(z) = max(0, z) and the cut in `cuts[t, j]`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..._utils.checks import as_pandas, check_choice, check_level, is_integer, refusal
from ..._utils.files import write_whole
from ...exceptions import InvalidInputError
from .. import reading as saved
from ..components.glm import GlmPart
from ..components.selection import SelectionPart
from ..components.terms import evaluate_terms, nominal_df, term_slopes
from ..components.variance import VarianceModel, interval_width
from ..data.columns import Column, Columns
from ..data.design import is_plain, numbers_by_name
from ..data.training import Ranges
from ..inspect.summary import model_html, printed_glm

if TYPE_CHECKING:
    from ..formula.model_matrix import Formula

FORMAT = "pyearthdof.MarsModel"
FORMAT_VERSION = 1
TYPES = ("response", "link", "earth")
LARGEST = 1e300  # larger numbers make predictions infinite
KINDS = ("prediction", "confidence")
LATER = {
    "varmod": None,
    "ranges": None,
    "selection": None,
}  # fields missing in files of earlier releases


@dataclass(frozen=True, eq=False)
class MarsModel:
    """A fitted MARS model.

    Attributes
    ----------
    feature_names : names of the predictors, with expanded factors.
    dirs, cuts : (n_forward_terms, n_features) arrays, one row per term of the forward pass.
    term_names : R's names of these terms.
    selected : 0-based indices of the terms kept by pruning, the intercept first.
    coef : (n_selected,) coefficients in the order of `selected`; (n_selected, m) for m responses.
    rss, rsq, gcv, grsq : statistics of the training data, over all responses.
    rss_per_subset, gcv_per_subset : along the pruning pass, by number of terms.
    prune_terms : 1-based terms of the best model of each size, as in R.
    degree, penalty, nk, thresh, pmethod : settings used.
    termcond : termination condition of the forward pass, as in R.
    n_samples : number of training rows.
    engine, versions : engine and software versions used.
    response_names : names of the responses.
    rss_per_response, rsq_per_response, gcv_per_response, grsq_per_response : (m,) arrays.
    columns : expansion of raw columns into predictors; None if all columns are numeric.
    formula : the evaluated formula, for models from a formula.
    glm : generalised linear model of the terms, if requested.
    varmod : variance model, if requested.
    ranges : ranges of the columns of the training rows; None in files of earlier releases.
    selection : measured degrees of freedom and errors of a model of `AutoEarth`, otherwise None.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = Earth(engine="native").fit(x, np.abs(x[:, 0]) + x[:, 1]).model_
    >>> model.n_terms, model.nominal_df, model.used_features()
    (5, 9.0, ('x1', 'x2'))
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
    response_names: tuple[str, ...] = ("y",)
    rss_per_response: np.ndarray = field(default_factory=lambda: np.empty(0))
    rsq_per_response: np.ndarray = field(default_factory=lambda: np.empty(0))
    gcv_per_response: np.ndarray = field(default_factory=lambda: np.empty(0))
    grsq_per_response: np.ndarray = field(default_factory=lambda: np.empty(0))
    columns: Columns | None = None
    formula: Formula | None = None
    glm: GlmPart | None = None
    varmod: VarianceModel | None = None
    ranges: Ranges | None = None
    selection: SelectionPart | None = None

    @cached_property
    def is_merged(self) -> bool:
        """True if the model is an average, without a single forward pass and pruning sequence."""
        return self.selection is not None and self.prune_terms.size == 0

    @property
    def n_terms(self) -> int:
        """Number of selected terms, including the intercept."""
        return len(self.selected)

    @property
    def nominal_df(self) -> float:
        """r + c (r - 1)/2, see `nominal_df`; for averaged models, the measured degrees of freedom."""
        if self.selection is not None and self.is_merged:
            return float(self.selection.df.mean())
        return float(nominal_df(self.n_terms, self.penalty))

    @property
    def selected_names(self) -> tuple[str, ...]:
        """Names of the selected terms."""
        return tuple(self.term_names[t] for t in self.selected)

    def design(self, X: ArrayLike) -> np.ndarray:
        """Return the predictors X as numbers, matching the columns of a data frame by name."""
        if is_plain(X, ndim=2) and X.shape[1] == len(self.feature_names):
            return X
        X = as_pandas(X)
        if self.formula is not None and isinstance(X, (pd.DataFrame, Mapping)):
            return self.formula.design(X)
        if self.columns is not None:
            if not isinstance(X, pd.DataFrame) and self.columns.has_numbers_only:
                X = pd.DataFrame(
                    numbers_by_name(X, self.columns.names), columns=list(self.columns.names)
                )
            if isinstance(X, pd.DataFrame):
                return self.columns.expand(X)
        return numbers_by_name(X, self.feature_names)

    def basis(self, X: ArrayLike) -> np.ndarray:
        """Evaluate the selected terms at the rows of X: an (n, n_terms) matrix."""
        return evaluate_terms(self.design(X), self.dirs[self.selected], self.cuts[self.selected])

    def predict(self, X: ArrayLike, type: str = "response") -> np.ndarray:
        """Predict at the rows of X, a frame or an array of `feature_names`; `type` as in `Earth.predict`.

        Columns of a frame are matched by name; others in it are ignored.
        """
        check_choice("type", type, TYPES)
        offset = self.offset(X)
        glm = None if type == "earth" else self.glm
        with np.errstate(over="ignore", invalid="ignore"):  # overflows are infinite, as in R
            eta = _shifted(self.basis(X) @ (self.coef if glm is None else glm.coef), offset)
        return eta if glm is None or type == "link" else glm.response(eta)

    def predict_deriv(
        self, X: ArrayLike, variables: Any = None, type: str = "response"
    ) -> np.ndarray:
        """Derivatives of the predictions at X by `variables`; arguments as in `Earth.predict_deriv`."""
        check_choice("type", type, TYPES)
        columns = self._differentiable(variables)
        design, dirs, cuts = self.design(X), self.dirs[self.selected], self.cuts[self.selected]
        glm = None if type == "earth" else self.glm
        coef = (self.coef if glm is None else glm.coef).reshape(len(dirs), -1)
        found = np.zeros((len(design), len(columns), coef.shape[1]))
        for k, (name, column) in enumerate(columns):
            used = np.flatnonzero(dirs[:, column])
            found[:, k] = term_slopes(design, dirs[used], cuts[used], column) @ coef[used]
            if self.columns is not None:  # values may be missing with missing="indicator"
                found[cast("pd.DataFrame", X)[name].isna().to_numpy(), k] = np.nan
        if glm is not None and type == "response":
            eta = self.predict(X, "link").reshape(len(design), 1, -1)
            found *= glm.slope(eta)
        return found

    def _differentiable(self, variables: Any) -> list[tuple[str, int]]:
        """Return the numeric columns to differentiate by, and their positions in the design."""
        if self.formula is not None:
            known = self.formula.plain_columns()
        elif self.columns is not None:
            known = [column.name for column in self.columns.columns if column.kind == "number"]
        else:
            known = list(self.feature_names)
        if variables is None:
            variables = known
        found = []
        for given in (
            [variables] if isinstance(variables, str) or is_integer(variables) else variables
        ):
            name = given
            if is_integer(given) and 0 <= given < len(self.raw_names):
                name = self.raw_names[given]
            if name not in known:
                of_formula = "" if self.formula is None else " that enter the formula by themselves"
                raise refusal(
                    "variables", given, f"among the numeric columns{of_formula}: {', '.join(known)}"
                )
            label = name if name in self.feature_names else f"`{name}`"
            found.append((name, self.feature_names.index(label)))
        return found

    def predict_sd(self, X: ArrayLike) -> np.ndarray:
        """Compute standard deviations of new observations at the rows of X from the variance model.

        Same as R's `predict(interval="se")`, without R.
        """
        return self._sd(X, "prediction")

    def predict_interval(
        self, X: ArrayLike, level: float = 0.95, kind: str = "prediction"
    ) -> pd.DataFrame:
        """Intervals at the rows of X from the variance model, or those of `AutoEarth`, without R.

        Arguments and columns are as in `Earth.predict_interval`. They are centred at the least-squares fit.
        """
        level = check_level(level)
        check_choice("kind", kind, KINDS)
        sd = self._sd(X, kind)
        index = X.index if isinstance(X, pd.DataFrame) else None
        return interval_frame(self.predict(X, "earth"), sd, level, index)

    def _sd(self, X: ArrayLike, kind: str) -> np.ndarray:
        """Return standard deviations of new observations, or of the fit."""
        if self.selection is not None and self.selection.noise is not None:
            return self.selection.sd(self.basis(X), self.design(X), kind)
        variance = self.varmod
        if variance is None:
            raise InvalidInputError(
                "the model has no variance model, which intervals require: fit with "
                "varmod_method='lm', nfold and ncross"
            )
        sd = variance.sd(self.predict(X, "earth"), self.design(X))
        return sd if kind == "prediction" else sd * np.sqrt(variance.leverages(self.basis(X)))

    def offset(self, X: ArrayLike) -> np.ndarray | None:
        """Return the offset of the formula at the rows of X, or None."""
        if self.formula is None or not self.formula.has_offset:
            return None
        X = as_pandas(X)
        if not isinstance(X, (pd.DataFrame, Mapping)):
            raise InvalidInputError("X should be a DataFrame: the model's formula has an offset")
        return self.formula.offset(X)

    @property
    def raw_names(self) -> tuple[str, ...]:
        """Names of the columns that `predict` requires in a data frame."""
        if self.formula is not None:
            return self.formula.names
        return self.feature_names if self.columns is None else self.columns.names

    @property
    def raw_columns(self) -> tuple[Column, ...]:
        """Raw columns with their kinds and levels."""
        if self.formula is not None:
            return self.formula.raw_columns.columns
        if self.columns is not None:
            return self.columns.columns
        return tuple(Column(name, "number") for name in self.feature_names)

    @property
    def owners(self) -> tuple[frozenset[str], ...]:
        """Raw columns that each predictor depends on."""
        if self.formula is not None:
            return self.formula.owners
        if self.columns is not None:
            return tuple(frozenset([source.raw]) for source in self.columns.sources)
        return tuple(frozenset([name]) for name in self.feature_names)

    def used_features(self) -> tuple[str, ...]:
        """Names of the predictors used by selected terms, in column order."""
        used = np.any(self.dirs[self.selected] != 0, axis=0)
        return tuple(
            name for name, is_used in zip(self.feature_names, used, strict=True) if is_used
        )

    def __str__(self) -> str:
        df = f"nominal df {self.nominal_df:g}"
        if self.selection is not None:
            df = f"df {self.selection.df.mean():.4g}"
        lines = [
            f"MARS model: selected {self.n_terms} of {len(self.dirs)} terms, and "
            f"{len(self.used_features())} of {len(self.feature_names)} predictors",
            f"GCV {self.gcv:.7g}    RSS {self.rss:.7g}    GRSq {self.grsq:.7g}    "
            f"RSq {self.rsq:.7g}    {df}",
            *printed_glm(self),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return model_html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the text in IPython's terminal instead of the matrices."""
        printer.text(str(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MarsModel) and self.to_json() == other.to_json()

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain lists, numbers and strings, ready for JSON."""
        entries = {f.name: saved.plain(getattr(self, f.name)) for f in fields(self)}
        return {"format": FORMAT, "format_version": FORMAT_VERSION} | entries

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> MarsModel:
        """Build a model from the entries of `to_dict`; errors name inconsistent entries."""
        if not isinstance(entries, Mapping) or entries.get("format") != FORMAT:
            raise InvalidInputError(f"this is not a saved MARS model (no format {FORMAT!r})")
        version = entries.get("format_version")
        if version != FORMAT_VERSION or isinstance(version, bool):
            raise InvalidInputError(
                f"format_version={str(version)[:40]} but this release reads {FORMAT_VERSION}"
            )
        entries = LATER | dict(entries)
        missing = [f.name for f in fields(cls) if f.name not in entries]
        if missing:
            raise InvalidInputError(f"the saved MARS model lacks {', '.join(missing)}")
        model = cls(**{name: _READERS[name](name, entries[name]) for name in _READERS})
        check_model(model)
        return model

    def to_json(self) -> str:
        """Return the model as JSON; numbers are stored exactly."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> MarsModel:
        """Load the text of `to_json`, without running code."""
        with only_models(text):
            return cls.from_dict(saved.read_json(text))

    def save(self, path: str | os.PathLike) -> None:
        """Write JSON to the file `path`, replacing an existing one atomically."""
        write_whole(path, self.to_json())

    def report(
        self, path: str | os.PathLike, *, level: float = 0.95, title: str | None = None
    ) -> None:
        """Write the model as one HTML page to the file `path`; `level` and `title` as in `Earth.report`."""
        from ..report.contents import About
        from ..report.page import page_html

        about = About(title=title, level=check_level(level))
        write_whole(path, page_html(self, about))

    @classmethod
    def load(cls, path: str | os.PathLike) -> MarsModel:
        """Load the file `path` written by `save`."""
        return cls.from_json(saved.read_file(path))


def interval_frame(
    fit: np.ndarray, sd: np.ndarray, level: float, index: pd.Index | None = None
) -> pd.DataFrame:
    """Return normal intervals around a fit."""
    width = interval_width(sd, level)
    columns = {"fit": fit, "lower": fit - width, "upper": fit + width}
    return pd.DataFrame(columns, index=index)


def _shifted(values: np.ndarray, offset: np.ndarray | None) -> np.ndarray:
    if offset is None:
        return values
    return values + (offset if values.ndim == 1 else offset[:, None])


@contextmanager
def only_models(text: str) -> Iterator[None]:
    """Raise `InvalidInputError` for texts that are not saved models."""
    try:
        yield
    except InvalidInputError:
        raise
    except TypeError:
        raise InvalidInputError(f"text is a {type(text).__name__} but it should be text") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"this is not a saved MARS model: {error}") from None


def model_schema() -> dict[str, Any]:
    """Return the JSON schema, draft 2020-12, of the files written by `save` of models and estimators."""
    return json.loads(files(__package__).joinpath("model.schema.json").read_text(encoding="utf-8"))


def _optional(read: Callable[[Any], Any]) -> Callable[[str, Any], Any]:
    return lambda name, value: None if value is None else read(value)


def _read_formula(described: Any) -> Formula:
    from ..formula.model_matrix import Formula

    return Formula.from_dict(described)


# One reader per field of a file.
_READERS: dict[str, Callable[[str, Any], Any]] = {
    "feature_names": saved.read_texts, "dirs": saved.read_matrix, "cuts": saved.read_matrix,
    "term_names": saved.read_texts, "selected": saved.read_indices, "coef": saved.read_coefficients,
    "rss": saved.read_number, "rsq": saved.read_number, "gcv": saved.read_number,
    "grsq": saved.read_number, "rss_per_subset": saved.read_vector,
    "gcv_per_subset": saved.read_vector, "prune_terms": saved.read_matrix,
    "degree": saved.read_integer, "penalty": saved.read_number, "nk": saved.read_integer,
    "thresh": saved.read_number, "pmethod": saved.read_text, "termcond": saved.read_integer,
    "n_samples": saved.read_integer, "engine": saved.read_text, "versions": saved.read_versions,
    "response_names": saved.read_texts, "rss_per_response": saved.read_vector,
    "rsq_per_response": saved.read_vector, "gcv_per_response": saved.read_vector,
    "grsq_per_response": saved.read_vector, "columns": _optional(Columns.from_dict),
    "formula": _optional(_read_formula), "glm": _optional(GlmPart.from_dict),
    "varmod": _optional(VarianceModel.from_dict), "ranges": _optional(Ranges.from_dict),
    "selection": _optional(SelectionPart.from_dict),
}  # fmt: skip


def check_model(model: MarsModel) -> None:
    """Raise an error that names the inconsistent part of a model."""
    shape = (len(model.term_names), len(model.feature_names))
    if model.dirs.shape == model.cuts.shape == (len(model.dirs), shape[1]) != shape:
        raise InvalidInputError(
            f"term_names has {shape[0]} name(s) but dirs and cuts have {len(model.dirs)} row(s)"
        )
    for name in ("dirs", "cuts"):
        if getattr(model, name).shape != shape:
            raise InvalidInputError(
                f"{name} has shape {getattr(model, name).shape} but it should be {shape}"
            )
    if not np.isin(model.dirs, (-1, 0, 1, 2)).all():
        raise InvalidInputError("dirs has entries other than -1, 0, 1 and 2")
    for i, j in np.argwhere(model.dirs != 0).tolist():
        if model.feature_names[j] not in model.term_names[i]:
            raise InvalidInputError(
                f"term_names has {model.term_names[i][:40]!r} for a term of {model.feature_names[j][:40]!r}"
            )
    n_terms = shape[0]
    if len(model.selected) == 0 or not all(0 <= t < n_terms for t in model.selected):
        raise InvalidInputError(f"selected should contain indices from 0 to {n_terms - 1}")
    if len(set(model.selected.tolist())) != len(model.selected):
        raise InvalidInputError("selected contains an index twice")
    if model.dirs[model.selected[0]].any():
        raise InvalidInputError("selected should begin with the intercept")
    _check_responses(model)
    _check_numbers(model)
    _check_pruning(model, n_terms)
    if model.columns is not None and model.columns.feature_names != model.feature_names:
        raise InvalidInputError("columns does not expand to feature_names")
    if model.formula is not None and model.formula.n_columns != shape[1]:
        raise InvalidInputError("formula does not expand to feature_names")
    if model.varmod is not None:
        model.varmod.check(model.n_terms, shape[1])
        if model.coef.ndim > 1:
            raise InvalidInputError("varmod is for one response, but there are several")
    if model.selection is not None:
        model.selection.check(model.n_terms, shape[1], len(model.response_names))
    if model.ranges is not None:
        model.ranges.check(model.raw_names, [(c.kind, len(c.levels)) for c in model.raw_columns])


def _check_responses(model: MarsModel) -> None:
    n_resp = len(model.response_names)
    n_columns = 1 if model.coef.ndim == 1 else model.coef.shape[1]
    if n_resp != n_columns:
        raise InvalidInputError(
            f"response_names has {n_resp} name(s) but coef is for {n_columns} response(s)"
        )
    shape = (len(model.selected),) if model.coef.ndim == 1 else (len(model.selected), n_resp)
    if model.coef.shape != shape or n_resp < 1:
        raise InvalidInputError(
            f"coef has shape {model.coef.shape} but there are {len(model.selected)} terms and "
            f"{n_resp} response(s)"
        )
    for name in ("rss", "rsq", "gcv", "grsq"):
        _check_length(f"{name}_per_response", getattr(model, f"{name}_per_response"), n_resp)
    if model.glm is not None:
        if model.glm.coef.shape != shape:
            raise InvalidInputError(f"glm.coef has shape {model.glm.coef.shape}, not {shape}")
        _check_length("glm.deviance", model.glm.deviance, n_resp)


def _check_length(name: str, values: np.ndarray, n_resp: int) -> None:
    if len(values) != n_resp:
        raise InvalidInputError(
            f"{name} has {len(values)} number(s) but there are {n_resp} response(s)"
        )


def _check_numbers(model: MarsModel) -> None:
    """Check the numbers used in predictions."""
    numbers = {"cuts": model.cuts, "coef": model.coef}
    if model.glm is not None:
        numbers["glm.coef"] = model.glm.coef
    for name, values in numbers.items():
        if not (np.abs(values) <= LARGEST).all():
            raise InvalidInputError(
                f"{name} has entries that are not finite numbers, or larger than {LARGEST:g}"
            )


def _check_pruning(model: MarsModel, n_terms: int) -> None:
    """Check the numbers used for importance; mda stores no steps."""
    steps, sizes = model.prune_terms, (len(model.rss_per_subset), len(model.gcv_per_subset))
    whole = ((steps >= 0) & (steps <= n_terms) & (steps == np.floor(steps))).all()
    if steps.size == 0:  # mda stores the first and the last size only
        complete = sizes[0] <= 2 or not np.isfinite(model.rss_per_subset).all()
    else:
        complete = steps.shape == (sizes[0], sizes[0]) and sizes[0] >= model.n_terms
    if sizes[0] != sizes[1] or not complete or not whole:
        raise InvalidInputError(
            "prune_terms, rss_per_subset and gcv_per_subset do not belong together"
        )
