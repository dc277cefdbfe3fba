"""Factors, several responses and generalised linear models are those of plain R."""

import warnings

import numpy as np
import pytest

from pyearthdof.mars.model.mars_model import MarsModel
from tests.support.mars.earth_cases import CASES, fit_case, new_rows, r_found
from tests.support.rscript import needs_rscript

pytestmark = needs_rscript

EXACT = {
    "dirs": "dirs_", "cuts": "cuts_", "prune.terms": "prune_terms_", "nk": "nk_",
    "penalty": "penalty_", "termcond": "termcond_",
}  # fmt: skip
NUMBERS = {
    "coefficients": "term_coef_", "rss": "rss_", "rsq": "rsq_", "gcv": "gcv_", "grsq": "grsq_",
    "rss.per.response": "rss_per_response_", "rsq.per.response": "rsq_per_response_",
    "gcv.per.response": "gcv_per_response_", "grsq.per.response": "grsq_per_response_",
    "rss.per.subset": "rss_per_subset_", "gcv.per.subset": "gcv_per_subset_",
    "fitted.values": "fitted_values_", "residuals": "residuals_", "leverages": "leverages_",
}  # fmt: skip
GLM = ("deviance", "null_deviance", "df", "null_df", "aic", "iterations", "converged")


def flat(value):
    """R's one-column matrices are vectors here; both are stored by column."""
    return np.asarray(value, dtype=float).ravel(order="F")


@pytest.fixture(scope="module")
def in_r():
    """What R found for each case; a failure of R is reported once."""
    return r_found()[1]


def fit(case, engine):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit_case(case, engine)


def check_terms(model, expected):
    for name, attribute in EXACT.items():
        np.testing.assert_array_equal(flat(getattr(model, attribute)), flat(expected[name]), name)
    np.testing.assert_array_equal(model.selected_terms_ + 1, expected["selected.terms"])
    assert list(model.model_.term_names) == expected["terms"]
    assert list(model.model_.feature_names) == expected["features"]
    assert list(model.response_names_) == expected["responses"]


def check_predictions(model, case, expected, tolerance):
    for type in ("response", "link", "earth"):
        r = expected[f"predict.{type}"]
        ours = model.predict(new_rows(case), type=type)
        assert ours.shape == (r.shape if r.shape[1] > 1 else (len(r),))
        close(ours.reshape(r.shape), r, tolerance, type)


def close(ours, r, tolerance, name):
    scale = np.abs(r[np.isfinite(r)]).max(initial=1e-300)
    np.testing.assert_allclose(ours, r, rtol=tolerance, atol=tolerance * scale, err_msg=name)


@pytest.mark.needs_r
@pytest.mark.parametrize("case", CASES, ids=str)
def test_same_as_plain_r(case, in_r):
    expected = in_r[case]
    model = fit(case, "r")
    check_terms(model, expected)
    for name, attribute in NUMBERS.items():
        np.testing.assert_array_equal(flat(getattr(model, attribute)), flat(expected[name]), name)
    check_predictions(model, case, expected, 1e-12)
    if case.py.get("glm_family"):
        np.testing.assert_array_equal(flat(model.glm_coef_), flat(expected["glm.coef"]))
        for name in GLM:
            np.testing.assert_array_equal(flat(model.glm_[name]), expected[f"glm.{name}"], name)
    table = model.importance()
    assert list(table.index) == expected["important"][1:]
    close(table.iloc[:, :3].to_numpy(dtype=float), expected["importance"], 1e-12, "importance")
    assert MarsModel.from_json(model.model_.to_json()) == model.model_


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_native_engine_has_the_same_model(case, in_r):
    expected = in_r[case]
    model = fit(case, "native")
    assert model.engine_ == "native"
    check_terms(model, expected)
    for name, attribute in NUMBERS.items():
        close(flat(getattr(model, attribute)), flat(expected[name]), 1e-8, name)
    check_predictions(model, case, expected, 1e-8)
    if case.py.get("glm_family"):
        close(flat(model.glm_coef_), flat(expected["glm.coef"]), 1e-8, "glm.coef")
        for name in GLM:
            close(flat(model.glm_[name]), expected[f"glm.{name}"], 1e-8, name)
    assert MarsModel.from_json(model.model_.to_json()) == model.model_


def test_there_are_at_least_sixty_cases():
    assert len(CASES) >= 60 and len({str(case) for case in CASES}) == len(CASES)
