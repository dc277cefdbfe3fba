"""Columns by importance: scikit-learn's SelectFromModel and RFE choose columns of X, not terms."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pyearthdof import Earth, EarthClassifier, Mars

CHOSEN = [4, 7]


def data(n=200, p=9, seed=1):
    """Two columns that matter, neither of them the first; four or more terms."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, 2 * np.abs(X[:, 4]) + np.abs(X[:, 7] - 0.5) + 0.1 * rng.normal(size=n)


def classes(X, y):
    return np.digitize(y, np.quantile(y, [0.4, 0.7]))


ESTIMATORS = [
    pytest.param(Earth(engine="native"), id="native"),
    pytest.param(Earth(engine="native", degree=2), id="degree 2"),
    pytest.param(Earth(engine="native", pmethod="none"), id="unpruned"),
    pytest.param(Earth(engine="r"), id="r", marks=pytest.mark.needs_r),
    pytest.param(Mars(), id="mda", marks=pytest.mark.needs_r),
    pytest.param(EarthClassifier(), id="classes", marks=pytest.mark.needs_r),
]


@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "select",
    [
        lambda e: SelectFromModel(e, max_features=2, threshold=-np.inf),
        lambda e: RFE(e, n_features_to_select=2),
        lambda e: RFE(e, n_features_to_select=2, step=3),
    ],
    ids=["SelectFromModel", "RFE", "RFE step 3"],
)
def test_the_columns_that_matter_are_chosen(estimator, select):
    X, y = data()
    y = classes(X, y) if isinstance(estimator, EarthClassifier) else y
    chosen = select(estimator).fit(X, y)
    assert chosen.get_support(indices=True).tolist() == CHOSEN
    assert chosen.transform(X).shape == (200, 2)


def test_the_usual_threshold_leaves_noise_out():
    X, y = data()
    chosen = SelectFromModel(Earth(engine="native")).fit(X, y)
    assert chosen.get_support(indices=True).tolist() == CHOSEN
    frame = pd.DataFrame(X, columns=[f"column {k}" for k in range(9)])
    names = SelectFromModel(Earth(engine="native")).fit(frame, y).get_feature_names_out()
    assert names.tolist() == ["column 4", "column 7"]


def test_several_responses_and_folds():
    X, y = data()
    both = np.column_stack([y, -y + 0.1 * X[:, 7]])
    chosen = SelectFromModel(Earth(engine="native"), max_features=2, threshold=-np.inf)
    assert chosen.fit(X, both).get_support(indices=True).tolist() == CHOSEN
    folds = RFECV(Earth(engine="native"), min_features_to_select=1, cv=3).fit(X, y)
    assert set(CHOSEN) <= set(folds.get_support(indices=True))
    steps = SequentialFeatureSelector(Earth(engine="native"), n_features_to_select=2, cv=3)
    assert steps.fit(X[:, 2:8], y).get_support(indices=True).tolist() == [2, 5]


def with_factors(n=240):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "kind": rng.choice(["a", "b", "c"], n),
            "dull": rng.choice(["u", "v"], n),
            "size": rng.normal(size=n),
        }
    )
    y = 3.0 * (frame["kind"] == "b") + 2 * np.abs(frame["size"]) + 0.1 * rng.normal(size=n)
    return frame, y


def test_factors_of_a_frame_are_one_column_each():
    frame, y = with_factors()
    chosen = SelectFromModel(Earth(engine="native")).fit(frame, y)
    assert chosen.get_feature_names_out().tolist() == ["kind", "size"]
    assert chosen.set_output(transform="pandas").transform(frame).columns.tolist() == [
        "kind", "size",
    ]  # fmt: skip


@pytest.mark.parametrize("select", [SelectFromModel, RFE])
def test_factors_in_a_column_transformer(select):
    """Its indicators are columns of numbers; those of the levels that matter are chosen by name."""
    frame, y = with_factors()
    expand = ColumnTransformer(
        [("factor", OneHotEncoder(drop="first", sparse_output=False), ["kind", "dull"]),
         ("number", StandardScaler(), ["noise", "size"])],
        verbose_feature_names_out=False,
    )  # fmt: skip
    options = {"n_features_to_select": 2} if select is RFE else {}
    steps = [("expand", expand), ("select", select(Earth(engine="native"), **options))]
    pipeline = Pipeline([*steps, ("fit", Earth(engine="native"))]).fit(frame, y)
    assert list(pipeline[:-1].get_feature_names_out()) == ["kind_b", "size"]
    assert pipeline.score(frame, y) > 0.98
    named = make_pipeline(expand.set_output(transform="pandas"), pipeline["select"]).fit(frame, y)
    assert list(named.get_feature_names_out()) == ["kind_b", "size"]


@pytest.mark.needs_r
def test_columns_of_a_formula():
    frame, y = with_factors()
    model = Earth.from_formula("y ~ poly(size, 4) + kind + log(abs(noise))", frame.assign(y=y))
    shares = dict(zip(model.feature_names_in_, model.feature_importances_, strict=True))
    assert set(shares) == {"size", "kind", "noise"} and sum(shares.values()) == pytest.approx(1)
    assert shares["noise"] < 0.01 < min(shares["size"], shares["kind"])


@pytest.mark.needs_r
def test_mda_with_a_record_of_its_own():
    """mda keeps none of its pruning; removing its terms backward tells the importance."""
    X, y = data()
    model = Mars(nk=21).fit(X, y)
    earth = model.to_earth()
    assert model.feature_importances_.shape == (9,)
    assert set(np.argsort(model.feature_importances_)[-2:]) == set(CHOSEN)
    np.testing.assert_array_equal(earth.feature_importances_, model.feature_importances_)


def test_nothing_to_choose_from():
    X, y = data()
    nothing = Earth(engine="native", nk=1).fit(X, y)
    np.testing.assert_array_equal(nothing.feature_importances_, np.zeros(9))
    # So large a model that GCV is infinite, and every step a loss: the RSS tells.
    large = Earth(engine="native", pmethod="none", penalty=50, thresh=0).fit(X[:60], y[:60])
    assert not np.isfinite(large.gcv_per_subset_).all()
    assert set(np.argsort(large.feature_importances_)[-2:]) == set(CHOSEN)


@pytest.mark.parametrize("estimator", [*ESTIMATORS])
def test_coefficients_are_of_terms_not_of_columns(estimator):
    X, y = data()
    y = classes(X, y) if isinstance(estimator, EarthClassifier) else y
    assert not hasattr(estimator, "coef_") and not hasattr(estimator, "term_coef_")
    with pytest.raises(NotFittedError):
        _ = estimator.term_coef_
    fitted = estimator.fit(X, y)
    assert not hasattr(fitted, "coef_")
    assert len(fitted.term_coef_) == fitted.n_terms_
    assert fitted.feature_importances_.shape == (fitted.n_features_in_,)
