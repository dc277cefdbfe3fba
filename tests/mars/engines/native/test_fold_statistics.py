"""The tables of generalised linear models: R's folds fitted by R, their statistics by us."""

import warnings

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, EarthClassifier
from pyearthdof.mars.arithmetic import product_in_order
from pyearthdof.mars.components.cv_frames import cv_frames
from pyearthdof.mars.engines.native.cross_validation import (
    calibrate,
    class_levels,
    cross_validate,
    glm_statistics,
    weighted_rsq,
)
from pyearthdof.mars.engines.r.engine import REngine
from pyearthdof.random import RDraws

SEED = 5


def data(n=240):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(n, 3))
    eta = np.abs(x[:, 0]) - 0.8 + 0.7 * x[:, 1]
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    trials = rng.integers(0, 6, n)
    success = rng.binomial(trials, 1 / (1 + np.exp(-eta)))
    return frame, {
        "yes": (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float),
        "count": rng.poisson(np.exp(eta / 2)).astype(float),
        "pairs": np.column_stack([success, trials - success]).astype(float),
        "kind": pd.cut(eta + rng.logistic(size=n), [-99, -0.5, 0.8, 99], labels=["u", "v", "w"]).astype(str),
        "real": np.exp(eta) * rng.gamma(2.0, size=n) + 0.01,
    }  # fmt: skip


CASES = {
    "binomial": (Earth, "yes", {"glm_family": "binomial"}),
    "probit": (Earth, "yes", {"glm_family": "binomial", "glm_link": "probit", "ncross": 2}),
    "quasibinomial": (Earth, "yes", {"glm_family": "quasibinomial", "keepxy": True}),
    "poisson": (Earth, "count", {"glm_family": "poisson", "keepxy": True}),
    "quasipoisson": (Earth, "count", {"glm_family": "quasipoisson"}),
    "pairs": (Earth, "pairs", {"glm_family": "binomial"}),
    "pairs, sizes": (Earth, "pairs", {"glm_family": "binomial", "keepxy": True}),
    "gamma": (Earth, "real", {"glm_family": "gamma", "glm_link": "log"}),
    "classes": (EarthClassifier, "kind", {"ncross": 2}),
    "two classes": (EarthClassifier, "yes", {"keepxy": True}),
}


@pytest.mark.needs_r
@pytest.mark.parametrize("name", CASES)
def test_tables_are_rs(name):
    estimator, response, options = CASES[name]
    frame, responses = data()
    model = estimator(engine="r", nfold=3, random_state=SEED, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame, responses[response])
        training = model._training_data()
        checked = model._options_for(training.design, training.all_responses.matrix)
        found = cross_validate(model.model_, training, checked, RDraws(SEED), 1, fit=REngine().fit)
    cv, tables = cv_frames(found)
    assert list(tables) == list(model.cv_tables_)
    pd.testing.assert_frame_equal(cv, model.cv_, rtol=1e-7)
    for key, table in model.cv_tables_.items():
        pd.testing.assert_frame_equal(tables[key], table, rtol=1e-7, obj=key)


def test_one_class_has_no_auc():
    found = glm_statistics(np.full((5, 1), 0.3), np.zeros((5, 1)), None, is_binomial=True)
    assert np.isnan(found["cv.auc.tab"][0]) and np.isnan(found["cv.calib.slope.tab"][0])


def test_predictions_of_the_truth_are_calibrated():
    rng = np.random.default_rng(0)
    mean = rng.uniform(0.05, 0.95, 20_000)
    y = (rng.random(20_000) < mean).astype(float)
    np.testing.assert_allclose(calibrate(mean, y, None, is_binomial=True), (0, 1), atol=0.05)


def test_levels_of_numbers():
    class Responses:
        classes = None
        matrix = np.array([[0.5], [1.5], [1.0]])

    assert class_levels(Responses) == (0.5, 1.5)
    Responses.matrix = np.array([[0.0], [2.0]])
    assert class_levels(Responses) is None


def test_folds_that_tell_nothing():
    """As R: no row with a weight, or predictions that are all the same, give no number."""
    y = np.array([1.0, 2.0, 4.0, 0.0])
    assert np.isnan(weighted_rsq(y, y, np.zeros(4)))
    for constant in (0.1, 1 / 3, 7.3):
        found = glm_statistics(np.full((4, 1), constant), y[:, None], None, is_binomial=False)
        assert np.isnan(found["cv.cor.tab"]).all() and np.isnan(found["cv.calib.slope.tab"]).all()


def test_equal_rows_are_ties_of_an_auc():
    rng = np.random.default_rng(0)
    basis, coef = rng.normal(size=(1, 7)), rng.normal(size=(7, 3))
    for n in range(2, 70):
        assert len(np.unique(product_in_order(np.repeat(basis, n, axis=0).T, coef), axis=0)) == 1
