"""EarthCV and CorrectedEarth have the whole face of the estimator that they selected."""

import inspect

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from pyearthdof import CorrectedEarth, Earth, EarthClassifier, EarthCV
from pyearthdof.mars.base import MarsEstimator
from pyearthdof.mars.meta import EarthMeta, load_estimator

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 3))
Y = np.abs(X[:, 0]) + X[:, 1] + RNG.normal(size=80) / 4
NOT_DELEGATED = {
    "fit", "bind", "fit_many", "fit_path", "from_formula", "from_r", "fit_transform", "set_output",
    "get_params", "set_params", "get_metadata_routing", "takes_several_responses",
}  # fmt: skip


def native(**options):
    return Earth(engine="native", **options)


def wrapped(**options):
    return {
        "cv": EarthCV(native(**options), {"penalty": [2, 4]}, cv=3).fit(X, Y),
        "corrected": CorrectedEarth(native(**options), n_rep=5).fit(X, Y),
    }


def inner(model):
    return model.best_estimator_ if isinstance(model, EarthCV) else model.estimator_


@pytest.mark.parametrize("kind", [Earth, EarthClassifier])
def test_every_public_name_of_the_estimators_is_there(kind):
    public = {name for name in dir(kind) if not name.startswith("_")} - NOT_DELEGATED
    own = {name for name in public if inspect.getattr_static(kind, name, None) is not None}
    missing = {
        name for name in own
        if inspect.getattr_static(EarthMeta, name, None) is None and not name.startswith("set_")
    }  # fmt: skip
    assert missing <= {"is_equivariant", "is_linear", "df_statistic"}


@pytest.mark.parametrize("name", ["cv", "corrected"])
def test_methods_and_attributes_are_those_of_the_fitted_estimator(name):
    model = wrapped()[name]
    fitted = inner(model)
    assert np.array_equal(model.predict(X, "earth", extrapolate="clip"), fitted.predict(X, "earth"))
    assert np.array_equal(model.transform(X), fitted.transform(X))
    assert model.importance().equals(fitted.importance()) and model.anova().equals(fitted.anova())
    assert model.summary(style="pmax") == fitted.summary(style="pmax")
    assert model.to_sql() == fitted.to_sql() and model.to_frame().equals(fitted.to_frame())
    assert np.array_equal(model.residuals("delever"), fitted.residuals("delever"))
    assert model.reprune(nprune=2).n_terms_ == 2
    assert model.terms_ == fitted.terms_ and model.n_features_in_ == 3
    assert str(model) == str(fitted)


@pytest.mark.parametrize("name", ["cv", "corrected"])
def test_what_is_saved_is_the_fitted_estimator(name, tmp_path):
    model = wrapped()[name]
    model.save(tmp_path / "model.json")
    for again in (type(model).load(tmp_path / "model.json"), load_estimator(model.to_json())):
        assert type(again) is Earth and np.array_equal(again.predict(X), model.predict(X))


def test_methods_that_the_estimator_lacks_are_not_there():
    regression, classes = EarthCV(), EarthCV(EarthClassifier())
    assert not hasattr(regression, "predict_proba") and hasattr(classes, "predict_proba")
    assert not hasattr(regression, "penalty_") and not hasattr(regression, "nonsense_")
    with pytest.raises(NotFittedError):
        regression.summary()


def test_the_estimators_have_few_bases():
    for kind in (Earth, EarthClassifier, EarthCV, CorrectedEarth):
        ours = [base for base in kind.__mro__ if base.__module__.startswith("pyearthdof")]
        assert len(ours) <= 3
    assert issubclass(Earth, MarsEstimator) and not hasattr(Earth(), "coef_")
