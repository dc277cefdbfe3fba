"""Pictures that explain: waterfall, bands, calibration, models, df results; scikit-learn's displays."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose
from sklearn.calibration import calibration_curve
from sklearn.inspection import PartialDependenceDisplay

from pyearthdof import Earth, EarthClassifier, correct_penalty, degrees_of_freedom, plots
from pyearthdof.exceptions import InvalidInputError, TrainingRowsError
from pyearthdof.plots.classification import calibration_groups, reflected_density
from pyearthdof.procedures import NearestNeighbors


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    n = 160
    X = pd.DataFrame({
        "a": rng.normal(size=n), "kind": pd.Categorical(rng.choice(["low", "mid", "top"], n)),
        "flag": rng.random(n) < 0.5, "b": rng.normal(size=n),
    })  # fmt: skip
    y = np.maximum(0, X["a"]) * (1 + (X["kind"] == "top")) + X["flag"] - X["b"]
    return X, y + rng.normal(size=n) / 3


@pytest.fixture(scope="module")
def model(data):
    options = {"nfold": 3, "ncross": 3, "varmod_method": "lm", "random_state": 1}
    return Earth(degree=2, engine="native", **options).fit(*data)


@pytest.fixture(scope="module")
def classifier(data):
    X, y = data
    return EarthClassifier(engine="native", glm_l2=0.01).fit(X, np.digitize(y, [0, 1]))


def test_the_waterfall_goes_from_the_intercept_to_the_prediction(model, data):
    X, _ = data
    ax = plots.plot_contributions(model, X, row=3)
    added = model.contributions(X).iloc[3]
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    assert ends[-1] == pytest.approx(model.predict(X)[3])
    assert ax.patches[0].get_x() == pytest.approx(added.iloc[0])
    used = int((added.iloc[1:] != 0).sum())
    assert len(ax.patches) == used + (used < len(added) - 1)
    few = plots.plot_contributions(model, X, row=-1, most=1)
    assert len(few.patches) == 2 and "other terms" in few.get_yticklabels()[2].get_text()


def test_the_waterfall_of_a_class_and_of_a_loaded_model(classifier, data, tmp_path):
    X, _ = data
    classifier.save(tmp_path / "model.json")
    again = EarthClassifier.load(tmp_path / "model.json")
    ax = plots.plot_contributions(again, X, response="1")
    assert ax.get_xlabel() == "linear predictor of 1 (logit)"
    end = ax.patches[-1].get_x() + ax.patches[-1].get_width()
    assert end == pytest.approx(classifier.model_.predict(X[:1], "link")[0, 1])


def test_bands_are_those_of_predict_interval(model, data):
    X, _ = data
    (ax,) = plots.plot_effects(model, X, features=["a"], pairs=[], bands="both", level=0.8)
    wide, narrow = (c.get_paths()[0].vertices for c in ax.collections)
    held = pd.DataFrame({"a": [X["a"].min()], "kind": [X["kind"].mode()[0]]})
    held["flag"], held["b"] = bool(X["flag"].mode()[0]), X["b"].median()
    held["kind"] = held["kind"].astype(X["kind"].dtype)
    for vertices, kind in ((wide, "prediction"), (narrow, "confidence")):
        at_left = vertices[vertices[:, 0] == X["a"].min(), 1]
        found = model.predict_interval(held, 0.8, kind)
        assert_allclose([at_left.min(), at_left.max()], found[["lower", "upper"]].to_numpy()[0])
    (ax,) = plots.plot_effects(model, X, features=["kind"], pairs=[], bands="prediction")
    assert len(ax.patches) == 3


def test_calibration_groups_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = rng.random(200) < p
    mean, share, low, high = calibration_groups(p, y, 10)
    expected = calibration_curve(y, p, n_bins=10, strategy="quantile")
    assert_allclose((share, mean), expected)
    assert (low <= share).all() and (share <= high).all()


def test_pictures_of_classes(classifier, data):
    X, y = data
    classes = np.digitize(y, [0, 1])
    ax = plots.plot_calibration(classifier, X, classes, response=0, n_groups=5)
    (dots,) = [line for line in ax.lines if len(line.get_xdata()) == 5]
    assert dots.get_xdata().mean() == pytest.approx(classifier.predict_proba(X)[:, 0].mean())
    ax = plots.plot_class_densities(classifier, X, classes)
    assert len(ax.get_legend().get_texts()) == 3


def test_densities_lose_nothing_at_the_ends():
    grid = np.linspace(0, 1, 2001)
    density = reflected_density(np.array([0.0, 0.01, 0.3, 1.0, 1.0]), grid)
    assert np.trapezoid(density, grid) == pytest.approx(1, abs=1e-3)


def test_several_models(model, data):
    X, y = data
    small = Earth(nprune=3, engine="native").fit(X, y)
    axes = plots.plot_models({"large": model, "small": small})
    steps = [line.get_xdata() for line in axes[1].lines]
    assert_allclose(steps[1][1:], np.sort(np.abs(small.residuals_)))
    assert [line.get_xdata()[0] for line in axes[0].lines[1::2]] == [model.n_terms_, 3]
    assert len(plots.plot_models([model, small])) == 2


def test_a_picture_for_every_df_result():
    found = correct_penalty((40, 2), n_rep=10, engine="native")
    ax = found.plot()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([found.df, found.nominal_df])
    exact = degrees_of_freedom(NearestNeighbors(k=2), np.arange(10.0)[:, None])
    _, ax = pyplot.subplots()
    assert exact.plot(ax) is ax and ax.patches[0].get_width() == 5


def test_partial_dependence_and_ice_of_frames_with_factors(model, classifier, data):
    X, _ = data
    shown = PartialDependenceDisplay.from_estimator(
        model,
        X,
        ["a", "kind", ("a", "b")],
        categorical_features=["kind"],
        kind="average",
        grid_resolution=9,
    )
    found = shown.pd_results[1]
    for level, average in zip(found["grid_values"][0], found["average"][0], strict=True):
        rows = X.assign(kind=pd.Categorical([level] * len(X), X["kind"].cat.categories))
        assert average == pytest.approx(model.predict(rows).mean())
    ice = PartialDependenceDisplay.from_estimator(
        classifier, X, ["a"], target=classifier.classes_[1], kind="individual", grid_resolution=5
    )
    lines = ice.pd_results[0]["individual"][ice.target_idx]
    assert lines.shape == (len(X), 5)
    first = X.assign(a=ice.pd_results[0]["grid_values"][0][0])
    assert_allclose(lines[:, 0], classifier.predict_proba(first)[:, 1])


@pytest.mark.parametrize(
    "draw, message",
    [
        (lambda m, c, X: plots.plot_contributions(m, X, row=999), "row=999 but X has 160 rows"),
        (lambda m, c, X: plots.plot_contributions(m, X, most=0), "most=0 but it should be"),
        (lambda m, c, X: plots.plot_effects(m, X, bands="some"), "bands='some' but it should be"),
        (lambda m, c, X: plots.plot_effects(c, X, bands="both"), "intervals need a variance model"),
        (lambda m, c, X: plots.plot_calibration(m, X, X["a"]), "this picture is of a classifier"),
        (lambda m, c, X: plots.plot_calibration(c, X, ["?"] * 160), "none of the classes"),
        (lambda m, c, X: plots.plot_calibration(c, X, [1]), "y has shape (1,)"),
        (lambda m, c, X: plots.plot_models([]), "models=[] but it should be"),
    ],
)  # fmt: skip
def test_refusals(model, classifier, data, draw, message):
    with pytest.raises(InvalidInputError) as refused:
        draw(model, classifier, data[0])
    assert message in str(refused.value)


def test_the_residuals_of_classes(classifier, data):
    _, y = data
    seen = plots.plot_residuals(classifier, np.digitize(y, [0, 1]), response=2)
    kept = plots.plot_residuals(classifier, response=2)
    for one, other in zip(seen[1:], kept[1:], strict=True):
        assert_allclose(one.lines[0].get_xydata(), other.lines[0].get_xydata(), atol=1e-14)
    with pytest.raises(InvalidInputError, match="y holds 7, which is none of the classes"):
        plots.plot_residuals(classifier, np.full(len(y), 7))


def test_a_loaded_model_says_that_its_rows_are_gone(model, tmp_path):
    model.save(tmp_path / "model.json")
    loaded = Earth.load(tmp_path / "model.json")
    for draw in (plots.plot_residuals, lambda loaded: plots.plot_models([loaded])):
        with pytest.raises(TrainingRowsError, match="needs the training rows"):
            draw(loaded)
