"""What the package answers to a case, in the shape of R's answer."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np

from pyearthdof import Earth, EarthClassifier, MarsModel
from pyearthdof.exceptions import RWarning, SeparationWarning
from pyearthdof.mars.engines.native import cross_validation, glm_fit
from tests.support.fuzzing.case import Case
from tests.support.fuzzing.rserver import AGAIN, Died, Fitted, Refused
from tests.support.rscript import r_warnings

__all__ = ["fit_ours"]

OF_MODEL = (
    "dirs", "cuts", "selected", "prune_terms", "termcond", "nk", "penalty", "coef", "rss", "rsq", "gcv",
    "grsq", "rss_per_subset", "gcv_per_subset", "rss_per_response", "rsq_per_response",
    "gcv_per_response", "grsq_per_response",
)  # fmt: skip
OF_GLM = ("deviance", "null_deviance", "aic", "iterations", "converged")


def fit_ours(case: Case, engine: str) -> tuple[Fitted | Refused | Died, MarsModel | None]:
    """Our answer, and the model; any error but a ValueError counts as a crash."""
    with (
        warnings.catch_warnings(record=True) as caught,
        _recorded_deviances() as deviances,
        _recorded_ties() as ties,
    ):
        warnings.simplefilter("always")
        try:
            fit = _fit(case, engine)
            n_first = len(caught)
            parts = _parts(fit, case)
            if case.reprune:
                again = _parts(fit.reprune(**case.reprune), case)
                parts |= {AGAIN + name: values for name, values in again.items()}
            if deviances and not _all_converged(parts):
                parts["deviances"] = np.array(deviances)
            if "cv_auc" in parts and ties:
                parts["auc_ties"] = _like_the_table(ties, parts)
        except ValueError as error:
            return Refused(str(error)), None
        except Exception as error:
            return Died(f"{type(error).__name__}: {error}"), None
    warned = (*r_warnings(caught[:n_first]), *r_warnings(caught[n_first:]))
    others = [w for w in caught if not issubclass(w.category, (RWarning, SeparationWarning))]
    if others:
        return Died(f"a stray warning: {others[0].category.__name__}: {others[0].message}"), None
    model = fit.model_
    names = (tuple(model.feature_names), tuple(fit.response_names_)) if case.formula else ((), ())
    return Fitted(parts, model.term_names, warned, *names, _refused_rows(fit, case)), model


@contextlib.contextmanager
def _recorded_deviances():
    """The deviance of each iteration of all the generalised linear models that the native engine fits."""
    found: list[float] = []
    fit_glm = glm_fit.fit_glm

    def recording(*arguments, **options):
        fit = fit_glm(*arguments, **options)
        found.extend(fit.deviances)
        return fit

    glm_fit.fit_glm = recording
    try:
        yield found
    finally:
        glm_fit.fit_glm = fit_glm


@contextlib.contextmanager
def _recorded_ties():
    """For each AUC of the native engine, how far it moves if rounding orders what is almost equal."""
    found: list[float] = []
    auc = cross_validation._auc

    def recording(predicted, y):
        low, high = predicted[y <= 0.5], predicted[y > 0.5]
        near = np.isclose(low[:, None], high, rtol=1e-9, atol=1e-12)
        found.append(near.mean() if near.size else 0.0)
        return auc(predicted, y)

    cross_validation._auc = recording
    try:
        yield found
    finally:
        cross_validation._auc = auc


def _like_the_table(ties, parts) -> np.ndarray:
    """In the places of R's table: a row for each fold, then their mean, which moves no more than any."""
    n_folds = len(parts["cv_terms"])
    rows = np.array(ties).reshape(n_folds, -1)
    rows = np.column_stack([rows, rows.max(axis=1)])
    return np.vstack([rows, rows.max(axis=0)]).ravel("F")


def _all_converged(parts) -> bool:
    names = [name for name in ("converged", AGAIN + "converged") if name in parts]
    return all((parts[name] == 1).all() for name in names)


def _fit(case: Case, engine: str):
    if case.formula:
        return Earth.from_formula(
            case.formula, case.X, case.weights, subset=case.subset, engine=engine, **case.options
        )
    if not case.classes:
        estimator, y = Earth(engine=engine, **case.options), case.y
    else:
        estimator = EarthClassifier(engine=engine, **case.options)
        y = np.array(case.classes)[case.y.astype(int)]
    return estimator.fit(case.X, y, case.weights, subset=case.subset)


def _of_new_rows(model: MarsModel, case: Case) -> dict[str, np.ndarray]:
    """What a formula predicts, nothing where it refuses the new rows."""
    found = {}
    with warnings.catch_warnings(), contextlib.suppress(ValueError):
        warnings.simplefilter("ignore")
        found["predicted"] = model.predict(case.X_new, "earth")
        if model.glm is not None:
            found["response"] = model.predict(case.X_new, "response")
    return found


def _refused_rows(fit, case: Case) -> str:
    if not case.formula:
        return ""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            fit.predict(case.X_new)
    except ValueError as error:
        return str(error)
    return ""


def _parts(fit, case: Case) -> dict[str, np.ndarray]:
    model = fit.model_
    parts = {name: np.atleast_1d(getattr(model, name)) for name in OF_MODEL}
    parts |= {"fitted": fit.fitted_values_, "leverages": fit.leverages_}
    with np.errstate(over="ignore", invalid="ignore"):
        if case.formula:
            parts |= _of_new_rows(model, case)
        else:
            parts["predicted"] = model.predict(case.X_new, "earth")
        if model.glm is not None:
            parts |= {name: getattr(model.glm, name) for name in OF_GLM}
            parts["glm_coef"] = model.glm.coef
            if not case.formula:
                parts["response"] = model.predict(case.X_new, "response")
    if hasattr(fit, "cv_tables_"):
        parts |= {f"cv_{name}": t.to_numpy().ravel("F") for name, t in fit.cv_tables_.items()}
        parts["cv_terms"] = fit.cv_["nterms"].drop("mean", errors="ignore").to_numpy()
        if fit.model_.varmod is not None:
            parts["cv_sd"] = fit.predict_sd()
    for name in ("coef", "fitted", "predicted", "glm_coef", "response"):
        if name in parts:
            parts[name] = parts[name].reshape(len(parts[name]), -1)
    return parts
