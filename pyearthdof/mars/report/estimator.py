"""Report of a fitted estimator: settings, training rows and new rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..._utils.checks import as_numbers, by_position, check_level
from ..._utils.files import check_path, write_whole
from ..._utils.html import ShowsItself
from ...exceptions import InvalidInputError
from ..data.classes import class_names
from ..data.design import check_new_data
from .contents import About, Controls, Rows, predicted
from .page import page_html

if TYPE_CHECKING:
    from ..base import MarsEstimator
    from ..model.mars_model import MarsModel


def write_report(
    estimator: MarsEstimator, path: Any, X: Any, y: Any, *, df: Any, level: float, title: str | None
) -> None:
    """Write the HTML page of `MarsEstimator.report`."""
    level = check_level(level)
    if df is not None and not (isinstance(df, ShowsItself) and hasattr(df, "df")):
        raise InvalidInputError(
            f"df={df!r:.80} but it should be a result of correct_penalty, degrees_of_freedom or "
            "self_consistency"
        )
    path = check_path(path)
    by_position(X, y=y)
    new = None if X is None else _new_rows(estimator, X, y)
    if X is None and y is not None:
        raise InvalidInputError("y is given but X is None: it should be the rows of y")
    with warnings.catch_warnings():  # the page itself reports arguments that are functions
        warnings.simplefilter("ignore")
        file = estimator.to_json()
    rows = estimator._row_summary(whole=True)
    about = About(
        title=title,
        level=level,
        classes=_classes(estimator),
        threshold=float(getattr(estimator, "threshold", 0.5)),
        is_named=hasattr(estimator, "feature_names_in_"),
        **estimator._settings(),
        has_weights=rows.weights is not None,
        anova=rows.anova,
        cv=getattr(estimator, "cv_", None),
        df=df,
        training=_training_rows(estimator),
        rugs=_rugs(estimator),
        new=new,
        frame=X if isinstance(X, pd.DataFrame) else None,
        file=file,
        versions=estimator.versions_,
    )
    write_whole(path, page_html(estimator.model_, about))


def _training_rows(estimator: MarsEstimator) -> Rows | None:
    model, fit, data = estimator.model_, estimator._fitted, estimator._data
    offset = None if data is None else data.offset
    has_offset = model.formula is not None and model.formula.has_offset
    if fit is None or (has_offset and offset is None):
        return None
    fitted = predicted(model, _classes(estimator), fit.bx, offset)
    observed = np.asarray(fit.fitted + fit.residuals).reshape(len(fitted), -1)
    if observed.shape != fitted.shape:
        return None
    chosen = None if _classes(estimator) is None else _is_right(estimator, fitted, observed)
    return Rows("On the training rows", fitted, observed, chosen)


def _new_rows(estimator: MarsEstimator, X: Any, y: Any) -> Rows:
    model = estimator.model_
    rows = check_new_data(estimator, X)
    fitted = predicted(model, _classes(estimator), model.basis(rows), model.offset(rows))
    observed = None if y is None else _observed(estimator, y, fitted.shape)
    chosen = None
    if observed is not None and _classes(estimator) is not None:
        chosen = _is_right(estimator, fitted, observed)
    outside = 0
    if model.ranges is not None:
        found = model.ranges.outside(rows)
        outside = len(set().union(*map(set, found.values()))) if found else 0
    return Rows("On the given rows", fitted, observed, chosen, _explored(model, rows), outside)


def _observed(estimator: MarsEstimator, y: Any, shape: Any) -> np.ndarray:
    """Return the observed responses in the shape of the predictions."""
    names = getattr(estimator, "classes_", getattr(estimator, "levels_", None))
    is_factor = hasattr(estimator, "classes_") or isinstance(
        getattr(y, "dtype", None), pd.CategoricalDtype
    )
    if names is not None and is_factor:
        from ...plots.classification import class_indicators

        return class_indicators(names, y, shape)
    values = as_numbers("y", y, "contain numbers, one for each row of X")
    if values.size != shape[0] * shape[1] or len(values) != shape[0]:
        raise InvalidInputError(f"y has shape {values.shape} but the predictions have {shape}")
    if not np.isfinite(values).all():
        raise InvalidInputError("y contains NaN or infinity but every value should be finite")
    return values.reshape(shape)


def _classes(estimator: MarsEstimator) -> tuple[str, ...] | None:
    classes = getattr(estimator, "classes_", None)
    return None if classes is None else tuple(class_names(classes))


def _is_right(estimator: MarsEstimator, fitted: np.ndarray, observed: np.ndarray) -> np.ndarray:
    if fitted.shape[1] == 1:
        return (fitted[:, 0] > getattr(estimator, "threshold", 0.5)) == (observed[:, 0] > 0.5)
    return fitted.argmax(axis=1) == observed.argmax(axis=1)


def _rugs(estimator: MarsEstimator) -> dict[str, np.ndarray]:
    """Training values of numeric columns, where available."""
    data: Any = estimator._data
    if data is None:
        return {}
    if estimator.model_.formula is not None:
        frame = data.frame.select_dtypes("number")
        return {str(name): frame[name].to_numpy(dtype=float) for name in frame}
    design = data.design
    if design.columns is None:
        return dict(zip(design.names, design.values.T, strict=True))
    return {c.name: design.raw[c.name] for c in design.columns.columns if c.kind == "number"}


def _explored(model: MarsModel, rows: Any) -> np.ndarray | None:
    """Rows for the explorer, if its controls are the columns of the data."""
    try:
        controls = Controls.of(model)
        frame = rows
        if not isinstance(rows, pd.DataFrame):
            frame = pd.DataFrame(np.asarray(rows, dtype=float), columns=list(model.feature_names))
        names = [c.name for c in controls.controls]
        if not set(names) <= {str(name) for name in frame.columns}:
            frame = pd.DataFrame(model.design(rows), columns=list(model.feature_names))
        return controls.rows(frame.set_axis([str(name) for name in frame.columns], axis=1))
    except InvalidInputError:
        return None
