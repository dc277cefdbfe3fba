"""AutoEarth: the choice, the mean of models as one model, its degrees of freedom, and its errors."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pyearthdof import AutoEarth, Earth, EarthClassifier, MarsModel, df_of_sizes, plots
from pyearthdof.dof.mars.averaging import balanced_noise, is_tame, merge_terms, stein_df
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.components.terms import evaluate_terms
from pyearthdof.mars.engines.native.engine import TermsFit
from pyearthdof.mars.model.mars_model import model_schema

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
MEAN = 2 * np.maximum(X[:, 0], 0) + X[:, 1] * X[:, 2]
Y = MEAN + RNG.normal(size=150)
NEW = RNG.normal(size=(40, 4))
WEIGHTED = "earth's case weights are not repetitions of rows"


def native(**options):
    return Earth(engine="native", **options)


def quick(estimator=None, **options):
    """With short forward passes and few models."""
    given = {"n_models": 4, "degrees": (1, 2), "n_rep": 5, "nk": None} | options
    return AutoEarth(native() if estimator is None else estimator, **given)


@parametrize_with_checks(
    [
        quick(n_models=2, degrees=(1,), n_rep=2),
        quick(EarthClassifier(), n_models=2, degrees=(1,), n_rep=2),
    ],
    expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": WEIGHTED},
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def mean_of_models():
    return AutoEarth(native()).fit(X, Y)


def test_degree_and_size_are_those_of_the_least_aicc():
    model = AutoEarth(native(nk=21), degrees=(1, 2), n_models=1, variance="constant").fit(X, Y)
    best = {}
    for degree in (1, 2):
        earth = native(degree=degree, nk=21, thresh=1e-4)
        curve = df_of_sizes(X, estimator=earth, n_rep=20, random_state=1234)
        assert np.array_equal(curve.df, model.curves_[degree].df)
        rss = native(degree=degree, nk=21, thresh=1e-4, penalty=-1).fit(X, Y).rss_per_subset_
        df = curve.df_at(np.arange(1, len(rss) + 1))
        aicc = np.where(df <= 112.5, np.log(rss / 150) + 2 * (df + 1) / (148 - df), np.inf)
        best[degree] = aicc.min(), int(aicc.argmin()) + 1
    degree = min(best) if best[1] <= best[2] else 2
    assert (model.degree_, model.choice_.size) == (degree, best[degree][1])
    assert model.n_terms_ == model.choice_.size and model.df_ == model.choice_.df
    by_hand = native(degree=degree, nk=21, thresh=1e-4, penalty=-1, nprune=best[degree][1]).fit(
        X, Y
    )
    assert np.array_equal(model.predict(NEW), by_hand.predict(NEW))


def test_the_mean_is_that_of_the_perturbed_fits():
    """Each of them is an Earth of the size that least AICc gives its own response."""
    model = quick(degrees=(1,), n_models=3, variance="constant", thresh=None).fit(X, Y)
    curve, sigma = model.curves_[1], np.sqrt(model.choice_.sigma2)
    Z = np.random.default_rng([1234, 1]).normal(size=(150, 3))
    Z = (Z - Z.mean(axis=1, keepdims=True)) * np.sqrt(3 / 2)  # adds nothing to the mean
    fits, at_rows = [], []
    for z in Z.T:
        y = Y + 0.4 * sigma * z
        long = native(penalty=-1).fit(X, y)
        rss = long.rss_per_subset_
        df = curve.df_at(np.arange(1, len(rss) + 1))
        aicc = np.where(df <= 112.5, np.log(rss / 150) + 2 * (df + 1) / (148 - df), np.inf)
        one = long.reprune(nprune=int(aicc.argmin()) + 1)
        fits.append(one.predict(NEW))
        at_rows.append(one.fitted_values_)
    assert_allclose(model.predict(NEW), np.mean(fits, axis=0), rtol=1e-9)
    spread = np.array(at_rows) - np.mean(at_rows, axis=0)
    spread -= spread.mean(axis=1, keepdims=True)  # the intercept has one degree of freedom
    assert_allclose(model.df_, 1 + (Z.T * spread).sum() / (3 * 0.4 * sigma), rtol=1e-9)
    rss = ((Y - np.mean(at_rows, axis=0)) ** 2).sum()
    assert_allclose(model.prediction_error_, (rss + 2 * sigma**2 * model.df_) / 150)
    assert_allclose(model.gcv_, rss / 150 / (1 - model.df_ / 150) ** 2)


def test_it_predicts_better_than_one_model():
    rng = np.random.default_rng(9)
    errors = []
    for _ in range(4):
        y = MEAN + rng.normal(size=150)
        models = quick(n_models=10).fit(X, y), quick(n_models=1).fit(X, y)
        errors.append([((model.predict(X) - MEAN) ** 2).mean() for model in models])
    of_mean, of_one = np.mean(errors, axis=0)
    assert of_mean < 0.95 * of_one


def test_the_mean_is_one_model(mean_of_models, tmp_path):
    model = mean_of_models
    part = model.model_.selection
    assert model.model_.is_merged and part.n_models == 20
    assert part.coef_of_models.shape == (model.n_terms_, part.n_models)
    assert_allclose(model.contributions(NEW).sum(axis=1), model.predict(NEW))
    assert_allclose(model.term_coef_, part.coef_of_models.mean(axis=1))
    scope: dict = {}
    exec(model.to_python(), scope)
    assert_allclose([scope["predict"](*row) for row in NEW], model.predict(NEW))
    table = model.importance()
    assert set(table.index[:3]) == {"x1", "x2", "x3"} and list(table) == ["sd", "used"]
    assert_allclose(model.feature_importances_.sum(), 1.0)
    assert list(model.anova()) == ["terms", "sd"]
    text = str(model.summary())
    assert f"({model.n_terms_ - 20} smaller terms are left out)" in text
    assert f"Mean of {part.n_models} models" in text and "Measured df" in text
    model.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert f"mean of {part.n_models} models" in page and "measured df" in page


def test_files_and_pickles(mean_of_models):
    model = mean_of_models
    again = AutoEarth.from_json(model.to_json())
    assert np.array_equal(again.predict(NEW), model.predict(NEW))
    assert again.summary() == model.summary()
    assert again.predict_interval(NEW).equals(model.predict_interval(NEW))
    assert MarsModel.from_json(model.model_.to_json()) == model.model_
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(NEW), model.predict(NEW)) and copy.df_ == model.df_


def test_files_follow_the_schema(mean_of_models):
    jsonschema = pytest.importorskip("jsonschema")
    several = quick().fit(X, np.column_stack([Y, -Y]))
    for model in (mean_of_models, several, quick(n_models=1).fit(X, Y)):
        jsonschema.validate(json.loads(model.to_json()), model_schema())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_models": 0}, "selection.n_models=0 but"),
        ({"df": []}, "selection.df should have 1"),
        ({"importance": [1.0]}, "selection.importance should have 4"),
        ({"coef_of_models": [[1.0]]}, "selection.coef_of_models should have the shape"),
        ({"spread_factor": -1.0}, "selection has entries"),
        ({"noise": {}}, "selection.noise should have exactly"),
    ],
)
def test_bad_files_are_refused(mean_of_models, change, message):
    entries = json.loads(mean_of_models.model_.to_json())
    entries["selection"] |= change
    with pytest.raises(InvalidInputError, match=message):
        MarsModel.from_dict(entries)


@pytest.mark.parametrize("method", ["reprune", "update", "to_rds"])
def test_what_needs_one_forward_pass_is_refused(mean_of_models, method):
    arguments = ("model.rds",) if method == "to_rds" else ()
    with pytest.raises(InvalidInputError, match=f"{method} needs the forward pass of one model"):
        getattr(mean_of_models, method)(*arguments)


def test_one_model_can_be_pruned_again():
    model = quick(n_models=1).fit(X, Y)
    assert model.reprune(nprune=2).n_terms_ == 2
    assert "Measured df" in model.summary() and "Termination condition" in model.summary()


def test_pictures(mean_of_models):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    assert "standard deviation" in plots.plot_importance(mean_of_models).get_xlabel()
    assert plots.plot_sizes(mean_of_models).get_ylabel() == "degrees of freedom"
    plots.plot_effects(mean_of_models, X)
    with pytest.raises(InvalidInputError, match="record of its pruning pass"):
        plots.plot_model_selection(mean_of_models)
    pyplot.close("all")


def test_the_same_bits_with_threads_and_a_seed(mean_of_models):
    threads = AutoEarth(native(), n_jobs=3).fit(X, Y)
    assert threads.to_json() == mean_of_models.to_json()
    other = AutoEarth(native(), random_state=5).fit(X, Y)
    assert not np.array_equal(other.predict(NEW), mean_of_models.predict(NEW))
    assert other.df_ == clone(other).fit(X, Y).df_


def test_noise_that_depends_on_x_weighs_the_fits():
    rng = np.random.default_rng(3)
    sd = np.exp(X[:, 3])
    y = MEAN + sd * rng.normal(size=150)
    model = quick(degrees=(1, 2)).fit(X, y)
    assert np.corrcoef(np.log(model.noise_sd_), X[:, 3])[0, 1] > 0.8
    assert_allclose(np.median(np.log(model.noise_sd_ / sd)), 0, atol=0.3)
    plain = quick(variance="constant").fit(X, y)
    assert plain.noise_sd_ is None
    errors = [((m.predict(X) - MEAN) ** 2).mean() for m in (model, plain)]
    assert errors[0] < errors[1]
    width = model.predict_interval(X)["upper"] - model.predict_interval(X)["lower"]
    assert width[X[:, 3] > 1].mean() > 2 * width[X[:, 3] < -1].mean()


def test_intervals():
    table = quick().fit(X, Y).predict_interval(X, level=0.9)
    assert list(table) == ["fit", "lower", "upper"]
    inside = ((table["lower"] <= Y) & (table["upper"] >= Y)).mean()
    assert 0.83 < inside < 0.99
    one = quick(n_models=1).fit(X, Y)
    narrow, wide = (one.predict_interval(NEW, kind=kind) for kind in ("confidence", "prediction"))
    assert (narrow["upper"] < wide["upper"]).all()
    assert_allclose(one.predict_sd(NEW), (wide["upper"] - wide["fit"]) / 1.959964, rtol=1e-6)
    assert len(one.predict_interval()) == 150
    several = quick().fit(X, np.column_stack([Y, -Y]))
    with pytest.raises(InvalidInputError, match="AutoEarth of several responses has no intervals"):
        several.predict_interval(NEW)


def test_several_responses_have_searches_of_their_own():
    both = quick().fit(X, np.column_stack([Y, Y**2]))
    alone = quick().fit(X, Y)
    assert_allclose(both.predict(NEW)[:, 0], alone.predict(NEW))
    assert both.df_.shape == (2,) and len(both.choice_) == 2
    assert quick(n_models=1).fit(X, np.column_stack([Y, Y**2])).model_.is_merged


def test_classes():
    labels = np.where(Y > 0.5, "high", "low")
    model = quick(EarthClassifier()).fit(X, labels)
    assert is_classifier(model) and list(model.classes_) == ["high", "low"]
    assert_allclose(model.predict_proba(NEW).sum(axis=1), 1.0)
    assert (model.predict(X) == labels).mean() > 0.75
    assert "GLM (family binomial" in model.summary()
    three = quick(EarthClassifier()).fit(X, np.digitize(Y, [0, 1]))
    assert three.predict_proba(NEW).shape == (40, 3)
    again = AutoEarth.from_json(three.to_json())
    assert np.array_equal(again.predict_proba(NEW), three.predict_proba(NEW))


def test_counts_are_averaged_on_the_scale_of_the_link():
    y = np.random.default_rng(4).poisson(np.exp(0.5 * MEAN)).astype(float)
    model = quick(native(glm_family="poisson")).fit(X, y)
    assert (model.predict(NEW) > 0).all()
    assert_allclose(model.predict(NEW), np.exp(model.predict(NEW, type="link")))
    assert model.glm_["deviance"].item() < model.glm_["null_deviance"].item()
    with pytest.raises(InvalidInputError, match="generalised linear model has no intervals"):
        model.predict_interval(NEW)


def test_frames_with_factors_and_pipelines():
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = pd.Categorical(np.array(["u", "v", "w"])[np.arange(150) % 3])
    y = Y + 3.0 * (frame["kind"] == "v")
    model = quick().fit(frame, y)
    assert "kindv" in model.terms_ and list(model.feature_names_in_) == [*"abcd", "kind"]
    assert_allclose(model.predict(frame.iloc[::-1])[::-1], model.predict(frame))
    piped = make_pipeline(StandardScaler(), quick()).fit(X, Y)
    assert_allclose(piped.predict(X), quick().fit(X, Y).predict(X), rtol=1e-6, atol=0.3)


def test_many_responses_measure_once():
    responses = np.column_stack([Y, MEAN - Y])
    fits = quick(variance="constant").fit_many(X, responses)
    for k in range(2):
        alone = quick(variance="constant").fit(X, responses[:, k])
        assert np.array_equal(fits.fitted[:, k], alone.fitted_values_)


def test_weights_are_precisions():
    weights = np.where(np.arange(150) % 3 == 0, 0.05, 1.0)
    y = MEAN + np.random.default_rng(6).normal(size=150) / np.sqrt(weights)
    options = {"degrees": (2,), "n_rep": 4, "n_models": 3, "variance": "constant"}
    errors = [
        ((quick(**options).fit(X, y, w).predict(X) - MEAN) ** 2).mean() for w in (weights, None)
    ]
    assert errors[0] < errors[1]


def test_a_perfect_fit_and_a_constant_response():
    exact = quick().fit(X, np.maximum(X[:, 0] - X[75, 0], 0))
    assert np.isfinite(exact.predict(NEW)).all()
    with pytest.warns(UserWarning, match="Cannot scale y"):
        flat = quick().fit(X, np.ones(150))
    assert flat.n_terms_ == 1
    assert_allclose(flat.predict(NEW), 1.0)


def test_equal_terms_are_merged():
    one = TermsFit(np.array([[0.0, 0], [1, 0]]), np.array([[0.0, 0], [0.5, 9]]), np.array([1.0, 2]))
    two = TermsFit(
        np.array([[0.0, 0], [2, -1]]), np.array([[0.0, 7], [3.0, 1]]), np.array([3.0, 4])
    )
    same = TermsFit(
        np.array([[0.0, 0], [2, -1]]), np.array([[0.0, 0], [9.0, 1]]), np.array([5.0, 6])
    )
    merged = merge_terms([one, two, same])
    assert merged.coef.tolist() == [[1, 3, 5], [2, 0, 0], [0, 4, 6]]
    rows = np.array([[0.0, 0.0], [2.0, -1.0]])
    assert_allclose(merged.basis(rows)[:, 2], [0.0, 2.0 * 2.0])


@pytest.mark.parametrize("weighted", [False, True])
def test_steins_df_of_a_projection(weighted):
    rng = np.random.default_rng(7)
    root = rng.uniform(0.5, 2, 80) if weighted else np.ones(80)
    q, _ = np.linalg.qr(np.column_stack([root, rng.normal(size=(80, 11))]))
    Z = balanced_noise(rng, 80, 400)
    found = stein_df(Z, q @ (q.T @ (0.3 * Z)), 0.3, root)
    assert abs(found.df - 12) < 3 * found.se < 2


def test_without_a_term_the_mean_is_that_of_the_response():
    """The added noise cancels, and there is one degree of freedom."""
    y = np.random.default_rng(7).normal(size=150)
    model = quick(variance="constant").fit(X, y)
    assert model.n_terms_ == 1 and model.df_ == pytest.approx(1) and model.df_se_ < 1e-12
    assert_allclose(model.predict(NEW), y.mean(), rtol=1e-12)


def test_a_product_that_is_huge_between_the_rows_is_wild():
    """Each hinge reaches 2, and their product is 0 at all rows but one, where it is small."""
    rows = np.array([[-1.0, 2.0], [2.0, -1.0], [0.1, 0.1], [-1.0, -1.0], [0.0, -0.5], [-0.5, 0.0]])
    y = np.array([0.0, 0.0, 1.0, 0.1, -0.1, 0.0])
    dirs, cuts = np.array([[0.0, 0], [1, 1]]), np.zeros((2, 2))

    def model(coef):
        return TermsFit(dirs, cuts, np.array([0.0, coef]))

    fit = model(100.0)  # 1 at the third row, and 400 in the corner
    fitted = evaluate_terms(rows, dirs, cuts) @ fit.coef
    assert_allclose(fitted, [0, 0, 1, 0, 0, 0])
    assert not is_tame(fit, rows, y) and not is_tame(fit, rows, y, np.full(6, 2.0))
    assert is_tame(model(1.0), rows, np.array([0.3, -0.3, 0.01, 0.2, -0.2, 0.0]))


def test_a_fit_that_one_row_decides_is_wild():
    """Of the two rows with the hinge the farther one decides; without it the fit would be another."""
    rng = np.random.default_rng(0)
    x = np.append(rng.uniform(size=40), [3.0, 3.1])[:, None]
    dirs, cuts = np.array([[0.0], [1.0]]), np.array([[0.0], [2.95]])
    for far, tame in (((1.0, 3.0), True), ((5.0, -5.0), False)):
        y = np.append(0.1 * rng.normal(size=40), far)
        coef = np.linalg.lstsq(evaluate_terms(x, dirs, cuts), y, rcond=None)[0]
        assert is_tame(TermsFit(dirs, cuts, coef), x, y) == tame


def test_what_is_wild_is_not_taken():
    """No row is far from zero in both predictors."""
    rng = np.random.default_rng(0)
    side = rng.random(120) < 0.5
    far = rng.exponential(2.0, 120)
    wide = np.column_stack([np.where(side, far, 0.0), np.where(side, 0.0, far)])
    wide += 0.05 * rng.normal(size=wide.shape)
    y = 20 * wide[:, 0] * wide[:, 1] + 0.1 * rng.normal(size=120)
    model = quick(n_models=5, variance="constant").fit(wide, y)
    corner = model.predict([wide.max(axis=0)])
    assert abs(corner[0]) < 12 * np.ptp(y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"estimator": Earth}, "it should be an Earth or an EarthClassifier"),
        ({"degrees": ()}, r"degrees=\(\) but it should be integers from 1 to 10"),
        ({"degrees": 2}, "degrees=2 but"),
        ({"n_models": 0}, "n_models=0 but"),
        ({"perturbation": 0}, "perturbation=0 but it should be a number above 0"),
        ({"variance": "smooth"}, "variance='smooth' but"),
        ({"criterion": "bic"}, "criterion='bic' but"),
        ({"nk": 2000}, "nk=2000 but"),
        ({"thresh": 1}, "thresh=1 but"),
        ({"design": "uniform"}, "design='uniform' but"),
        ({"n_rep": 1}, "n_rep=1"),
        ({"mu": "fitted"}, "mu='fitted' but it should be None, or with n_models=1"),
        ({"estimator": Earth(pmethod="none")}, "pmethod='none' but"),
        ({"estimator": Earth(nfold=3)}, "nfold=3 but it should be 0 in AutoEarth"),
        ({"estimator": Earth(minspan=4), "design": "table"}, "minspan=4 but"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        AutoEarth(**arguments).fit(X, Y)


def test_pairs_of_counts_are_refused():
    pairs = np.column_stack([np.arange(150) % 4, np.arange(150) % 3])
    with pytest.raises(InvalidInputError, match="y has two columns of counts"):
        AutoEarth(native(glm_family="binomial")).fit(X, pairs)


@pytest.mark.parametrize("n_models", [1, 4])
@pytest.mark.parametrize("family", ["binomial", "poisson"])
def test_the_size_by_deviance(family, n_models):
    rng = np.random.default_rng(8)
    eta = 0.8 * MEAN - 0.5
    y = (
        rng.poisson(np.exp(eta))
        if family == "poisson"
        else rng.uniform(size=150) < 1 / (1 + np.exp(-eta))
    )
    estimator = native(glm_family=family)
    model = quick(estimator, criterion="deviance", n_models=n_models).fit(X, y.astype(float))
    assert np.isfinite(model.predict(NEW)).all()
    choice = model.choice_
    if n_models == 1:  # the least penalised deviance, by earth's own fits of each size
        options = {"degree": model.degree_, "penalty": -1, "thresh": 1e-4, "glm_family": family}
        scores = []
        for size in range(1, 1 + int(np.isfinite(choice.table["aicc"]).sum())):
            one = native(**options, nprune=size).fit(X, y.astype(float))
            df = choice.curve.df_at(size)
            phi = 1.0
            if family == "poisson":
                at = native(**options, nprune=int(choice.table["aicc"].argmin()) + 1).fit(X, y)
                mean, at_df = at.predict(X), choice.table["df"][at.n_terms_ - 1]
                phi = max(1.0, ((y - mean) ** 2 / mean).sum() / (150 - at_df))
            cost = 2 * phi * df if family == "poisson" else 2 * df * 150 / (149 - df)
            scores.append(one.glm_["deviance"].item() + cost)
        assert model.n_terms_ == choice.size == int(np.argmin(scores)) + 1
    with pytest.raises(InvalidInputError, match="criterion='deviance' but"):
        quick(criterion="deviance").fit(X, Y)


def test_a_long_forward_pass_may_have_dependent_terms():
    rng = np.random.default_rng(15)
    X = np.exp(1.6 * rng.normal(size=(300, 2))).round(2)
    X[:, 1] = (X[:, 1] + X[:, 0]).round(1)
    y = X[:, 0] ** 1.2 - X[:, 1] + X[:, 0] * rng.normal(size=300)
    model = AutoEarth(n_models=1, n_rep=5, random_state=0).fit(X, y)
    assert model.n_terms_ == model.choice_.size > 1
