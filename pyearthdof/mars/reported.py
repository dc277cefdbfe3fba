"""The page of a fitted estimator: what it is told, and `report`, which writes it."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from .._utils.checks import as_numbers, check_level
from .._utils.files import write_whole
from .._utils.html import ShowsItself
from ..exceptions import InvalidInputError
from .data.classes import class_names
from .data.design import check_new_data
from .model.mars_model import MarsModel
from .options import check_options

if TYPE_CHECKING:
    from .report.contents import Rows

__all__ = ["Reports"]


class Reports:
    """A fitted model as one page for others."""

    model_: MarsModel
    # what the estimators have
    anova: Any
    to_json: Any
    versions_: Any
    _weights_shown: Any

    def report(self, path, X=None, y=None, *, df=None, level=0.95, title=None) -> None:
        """Write the model as one HTML page to the file `path`; an existing one is replaced whole.

        The page needs no server, no network and nothing beside it. It has the equation in words and in
        mathematics, effects, importance, model selection, cross-validation, residuals or calibration,
        degrees of freedom, the R code of the same model and an explorer: a control for each predictor, and
        the prediction, its interval and what each term adds follow at once, computed in the page as
        `predict` computes them. A loaded model has no training rows; what needs them says so.

        Parameters
        ----------
        path : str or path
        X : array or DataFrame, optional
            Other rows, such as a test set, to predict, and to choose from in the explorer.
        y : array, (n,) or (n, m), optional
            What was observed there, which the page compares with the predictions; classes of a classifier.
        df : PenaltyCorrection, DegreesOfFreedom or SelfConsistency, optional
            Actual degrees of freedom to set beside the nominal ones; nothing is measured without them.
        level : float, default 0.95
            Coverage of bands and intervals, where there is a variance model.
        title : str, optional
            Heading of the page.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = Earth(engine="native").fit(x, np.abs(x[:, 0]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(f"{folder}/model.html", title="A first model")
        ...     page = Path(folder, "model.html").read_text()
        >>> "<h1>A first model</h1>" in page, "http" in page.partition("</head>")[2]
        (True, False)
        """
        check_is_fitted(self)
        level = check_level(level)
        from .report.contents import About
        from .report.page import page_html

        _check_df(df)
        path = _check_path(path)
        new = None if X is None else self._new_rows(X, y)
        if X is None and y is not None:
            raise InvalidInputError("y is given but X is None: it should be the rows of y")
        with warnings.catch_warnings():  # a function among the arguments is told in the page
            warnings.simplefilter("ignore")
            file = self.to_json()
        about = About(
            title=title,
            level=level,
            classes=_classes(self),
            threshold=float(getattr(self, "threshold", 0.5)),
            is_named=hasattr(self, "feature_names_in_"),
            **self._arguments_shown(),
            has_weights=self._weights_shown() is not None,
            anova=pd.DataFrame(self.anova()) if _has_anova(self) else None,
            cv=getattr(self, "cv_", None),
            df=df,
            training=self._training_rows(),
            rugs=_rugs(self),
            new=new,
            frame=X if isinstance(X, pd.DataFrame) else None,
            file=file,
            versions=self.versions_,
        )
        write_whole(path, page_html(self.model_, about))

    def _arguments_shown(self) -> dict[str, Any]:
        """The options in R's words."""
        if not hasattr(self, "_params"):
            return {"mda_options": self._options()}  # type: ignore[attr-defined]
        params = self._params()
        model = self.model_
        if params.get("linpreds") is not None:
            from .base import _expanded_names

            params["linpreds"] = _expanded_names(params["linpreds"], model.columns)
        n_resp = len(model.response_names)
        seed = params.get("random_state")
        try:
            options = check_options(params, model.feature_names, model.n_samples, n_resp)
        except (
            InvalidInputError
        ):  # the estimator of a model alone: not all of its arguments are known
            options = None
        return {
            "options": options,
            "seed": int(seed) if isinstance(seed, (int, np.integer)) else None,
        }

    def _training_rows(self) -> Rows | None:
        from .report.contents import Rows, predicted

        if "bx_" not in vars(self) or "fitted_values_" not in vars(self):
            return None
        mine: Any = self
        model = self.model_
        offset = getattr(getattr(self, "_data", None), "offset", None)
        has_offset = model.formula is not None and model.formula.has_offset
        if has_offset and offset is None:
            return None
        fitted = predicted(model, _classes(self), mine.bx_, offset)
        observed = np.asarray(mine.fitted_values_ + mine.residuals_).reshape(len(fitted), -1)
        if observed.shape != fitted.shape:
            return None
        chosen = None if _classes(self) is None else _is_right(self, fitted, observed)
        return Rows("On the training rows", fitted, observed, chosen)

    def _new_rows(self, X, y) -> Rows:
        from .report.contents import Rows, predicted

        model = self.model_
        rows = check_new_data(self, X)
        fitted = predicted(model, _classes(self), model.basis(rows), model.offset(rows))
        observed = None if y is None else self._observed(y, fitted.shape)
        chosen = None
        if observed is not None and _classes(self) is not None:
            chosen = _is_right(self, fitted, observed)
        outside = 0
        if model.ranges is not None:
            found = model.ranges.outside(rows)
            outside = len(set().union(*map(set, found.values()))) if found else 0
        return Rows("On the given rows", fitted, observed, chosen, _explored(model, rows), outside)

    def _observed(self, y, shape) -> np.ndarray:
        """What was observed, shaped as the predictions."""
        names = getattr(self, "classes_", getattr(self, "levels_", None))
        is_factor = hasattr(self, "classes_") or isinstance(
            getattr(y, "dtype", None), pd.CategoricalDtype
        )
        if names is not None and is_factor:
            from ..plots.classification import class_indicators

            return class_indicators(names, y, shape)
        values = as_numbers("y", y, "hold numbers, one for each row of X")
        if values.size != shape[0] * shape[1] or len(values) != shape[0]:
            raise InvalidInputError(f"y has shape {values.shape} but the predictions have {shape}")
        if not np.isfinite(values).all():
            raise InvalidInputError("y contains NaN or infinity but every value should be finite")
        return values.reshape(shape)


def _classes(estimator) -> tuple[str, ...] | None:
    classes = getattr(estimator, "classes_", None)
    return None if classes is None else tuple(class_names(classes))


def _is_right(estimator, fitted: np.ndarray, observed: np.ndarray) -> np.ndarray:
    if fitted.shape[1] == 1:
        return (fitted[:, 0] > estimator.threshold) == (observed[:, 0] > 0.5)
    return fitted.argmax(axis=1) == observed.argmax(axis=1)


def _has_anova(estimator) -> bool:
    kept = estimator._kept
    return kept is None or kept.anova is not None


def _rugs(estimator) -> dict[str, np.ndarray]:
    """Training values of the numbers, by column, where they are still here."""
    data = getattr(estimator, "_data", None)
    if data is None:
        return {}
    if estimator.model_.formula is not None:
        frame = data.frame.select_dtypes("number")
        return {str(name): frame[name].to_numpy(dtype=float) for name in frame}
    design = data.design
    if design.columns is None:
        return dict(zip(design.names, design.values.T, strict=True))
    return {c.name: design.raw[c.name] for c in design.columns.columns if c.kind == "number"}


def _explored(model, rows) -> np.ndarray | None:
    """Rows for the explorer, where it takes the columns of the data."""
    from .report.contents import Controls

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


def _check_df(df) -> None:
    if df is not None and not (isinstance(df, ShowsItself) and hasattr(df, "df")):
        raise InvalidInputError(
            f"df={df!r:.80} but it should be a result of correct_penalty, degrees_of_freedom or "
            "self_consistency"
        )


def _check_path(path):
    try:
        return os.fspath(path)
    except TypeError:
        raise InvalidInputError(f"path={path!r:.80} but it should be the name of a file") from None
