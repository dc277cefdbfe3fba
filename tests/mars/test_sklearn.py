"""scikit-learn's own checks of Earth and EarthClassifier."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from pyearthdof import Earth, EarthClassifier

EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "earth's case weights are not repetitions of rows",
}


def checks_of(*estimators):
    return parametrize_with_checks(estimators, expected_failed_checks=lambda estimator: EXPECTED)


@checks_of(
    Earth(engine="native"),
    Earth(missing="indicator"),
    EarthClassifier(engine="native"),
    EarthClassifier(class_weight="balanced", engine="native"),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.needs_r
@checks_of(Earth(engine="r"), EarthClassifier())
def test_scikit_learn_checks_by_r(estimator, check):
    check(estimator)


def data(n=120):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 3))
    return X, np.maximum(0, X[:, 0]) + 0.1 * rng.normal(size=n)


def test_clone_pipeline_and_search():
    X, y = data()
    search = GridSearchCV(make_pipeline(Earth()), {"earth__penalty": [0, 2, 6]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    assert clone(search.best_estimator_.named_steps["earth"]).penalty in (0, 2, 6)
    assert cross_val_score(Earth(degree=2), X, y, cv=3).mean() > 0.8


def test_transform_is_the_named_basis():
    X, y = data()
    model = Earth().fit(X, y)
    basis = model.transform(X)
    np.testing.assert_array_equal(basis, model.bx_)
    assert list(model.get_feature_names_out()) == list(model.terms_)
    np.testing.assert_allclose(
        basis @ model.term_coef_, model.fitted_values_, rtol=1e-12, atol=1e-12
    )
    frame = Earth().set_output(transform="pandas").fit(X, y).transform(X)
    assert list(frame.columns) == list(model.terms_)


def test_print_is_useful():
    X, y = data()
    assert "Earth(degree=2)" in str(Earth(degree=2))
    text = str(Earth().fit(X, y))
    assert "selected" in text and "GCV" in text and "nominal df" in text
