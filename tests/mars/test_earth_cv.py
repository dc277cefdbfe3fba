"""EarthCV: what GridSearchCV over Earth finds, from one forward pass for each fold and degree."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RepeatedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pyearthdof import Earth, EarthClassifier, EarthCV, RFolds
from pyearthdof.exceptions import InvalidInputError, SeparationWarning
from pyearthdof.mars.engines.native.engine import forward_pass, pass_settings
from pyearthdof.mars.engines.native.shared import cut

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 8))
Y = 2 * np.maximum(X[:, 0], 0) + X[:, 1] * X[:, 2] + RNG.normal(size=60)
CV = KFold(4, shuffle=True, random_state=1)
SCORES = ("mean_test_score", "std_test_score", "split2_test_score", "mean_train_score")


def native(**options):
    return Earth(engine="native", **options)


def both(estimator, grid, **options):
    ours = EarthCV(
        estimator, grid, cv=options.pop("cv", CV), return_train_score=True, **options
    ).fit(X, Y)
    theirs = GridSearchCV(estimator, grid, cv=ours.cv, return_train_score=True, **options).fit(X, Y)
    return ours, theirs


GRIDS = {
    "penalty": {"penalty": [-1, 0, 1, 2, 3, 5, 10, 30, 100, 1000]},
    "size": {"penalty": [-1], "nprune": [1, 2, 3, 7, 20]},
    "degree and nk": {"degree": [1, 2], "nk": [1, 2, 3, 8, 9, 41], "penalty": [2, 12]},
    "methods": {
        "pmethod": ["backward", "forward", "none", "exhaustive"],
        "nprune": [3, None],
        "nk": [9],
    },
    "other options": [
        {"minspan": [1, 5], "penalty": [1, 4]},
        {"thresh": [0, 0.01], "newvar_penalty": [0.1]},
    ],
}


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_is_grid_search(grid):
    ours, theirs = both(native(), grid)
    for name in SCORES:
        assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-12, atol=1e-12)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    assert np.array_equal(
        ours.cv_results_["rank_test_score"], theirs.cv_results_["rank_test_score"]
    )
    assert (ours.best_params_, ours.best_index_) == (theirs.best_params_, theirs.best_index_)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    for name in (name for name in theirs.cv_results_ if name.startswith("param_")):
        assert np.array_equal(ours.cv_results_[name].mask, theirs.cv_results_[name].mask)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_one_pass_for_each_fold_and_degree():
    grid = {"penalty": [0, 2, 4, 30], "degree": [1, 2], "nk": [5, 11, 21], "nprune": [None, 4]}
    assert EarthCV(native(), grid, cv=CV).fit(X, Y).n_passes_ == 4 * 2
    assert EarthCV(native(), cv=CV).fit(X, Y).n_passes_ == 4


@pytest.mark.parametrize("penalty", [0.0, 2.0, 6.0, 20.0, 100.0])
@pytest.mark.parametrize("nk", [1, 3, 10, 41])
def test_a_cut_is_the_pass_itself(penalty, nk):
    """Also where GRSq ends it: a large penalty on few rows."""
    few = X[:25], Y[:25, None]
    bound = native(nk=41, penalty=-1).bind(few[0])
    longest = forward_pass(*few, bound.options)
    options = native(nk=nk, penalty=penalty).bind(few[0]).options
    wanted = forward_pass(*few, options)
    found = cut(longest, pass_settings(options, 25), 25)
    assert np.array_equal(found.dirs, wanted.dirs) and np.array_equal(found.bx, wanted.bx)
    assert found.termcond == wanted.termcond
    if penalty == 100 and nk > 3:
        assert wanted.termcond in (2, 3)  # the case that the rule is for


def test_weights_groups_frames_and_scores():
    weights, groups = RNG.uniform(0.5, 2, size=60), np.arange(60) // 6
    frame = pd.DataFrame(X, columns=[f"v{k}" for k in range(8)]).assign(
        kind=pd.Categorical(["a", "b", "c"] * 20)
    )
    grid, options = (
        {"penalty": [1, 3, 6]},
        {"cv": GroupKFold(5), "scoring": "neg_mean_absolute_error"},
    )
    ours = EarthCV(native(), grid, **options).fit(frame, Y, weights, groups=groups)
    theirs = GridSearchCV(native(), grid, **options).fit(
        frame, Y, groups=groups, sample_weight=weights
    )
    assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12
    )
    assert np.array_equal(ours.predict(frame), theirs.predict(frame))
    assert list(ours.feature_names_in_)[-1] == "kind"


def test_classes():
    labels = np.where(np.median(Y) < Y, "high", "low")
    ours = EarthCV(
        EarthClassifier(engine="native"), {"penalty": [2, 5]}, cv=3, scoring="roc_auc"
    ).fit(X, labels)
    theirs = GridSearchCV(
        EarthClassifier(engine="native"), {"penalty": [2, 5]}, cv=3, scoring="roc_auc"
    )
    theirs.fit(X, labels)
    assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12
    )
    assert set(ours.classes_) == {"high", "low"} and ours.predict_proba(X).shape == (60, 2)


def test_several_responses():
    several = np.column_stack([Y, X[:, 3]])
    ours = EarthCV(native(), {"penalty": [1, 4], "nk": [9, 21]}, cv=CV).fit(X, several)
    theirs = GridSearchCV(native(), {"penalty": [1, 4], "nk": [9, 21]}, cv=CV).fit(X, several)
    assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12
    )


def test_several_scores_and_refit():
    scoring = ["r2", "neg_mean_absolute_error"]
    search = EarthCV(native(), {"penalty": [1, 4]}, cv=CV, scoring=scoring, refit="r2").fit(X, Y)
    theirs = GridSearchCV(native(), {"penalty": [1, 4]}, cv=CV, scoring=scoring, refit="r2").fit(
        X, Y
    )
    for name in ("mean_test_r2", "rank_test_neg_mean_absolute_error"):
        assert_allclose(search.cv_results_[name], theirs.cv_results_[name], rtol=1e-12)
    assert search.score(X, Y) == pytest.approx(theirs.score(X, Y))
    other = EarthCV(native(), {"penalty": [1, 4]}, cv=CV, scoring="neg_mean_absolute_error").fit(
        X, Y
    )
    assert other.score(X, Y) == pytest.approx(-np.abs(Y - other.predict(X)).mean())
    largest = EarthCV(native(), {"penalty": [1, 4]}, cv=CV, refit=lambda found: 1).fit(X, Y)
    assert largest.best_params_ == {"penalty": 4} and largest.penalty_ == 4
    none = EarthCV(native(), {"penalty": [1, 4]}, cv=CV, refit=False).fit(X, Y)
    assert none.best_params_ and not hasattr(none, "best_estimator_")
    with pytest.raises(InvalidInputError, match="refit=True but it should be the name of a score"):
        EarthCV(native(), scoring=scoring).fit(X, Y)


def test_threads_change_nothing_and_pipelines_take_it():
    one, two = (
        EarthCV(native(), cv=RepeatedKFold(n_splits=3, random_state=0), n_jobs=k).fit(X, Y)
        for k in (1, 2)
    )
    assert np.array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    assert make_pipeline(StandardScaler(), EarthCV(native(), cv=3)).fit(X, Y).score(X, Y) > 0.3


def test_sizes_by_cross_validation():
    search = EarthCV(native(), choose="size", cv=CV).fit(X, Y)
    assert search.n_terms_ == search.best_params_["nprune"]
    assert search.cv_results_["params"][0] == {"nprune": 1, "penalty": -1}
    assert "Selected" in search.summary()


@pytest.mark.needs_r
def test_rs_folds_are_rs():
    """earth's own out-of-fold RSq for each fold, and ours on the splits."""
    by_r = Earth(engine="r", nfold=4, ncross=2, random_state=5).fit(X, Y).cv_
    folds = RFolds(4, ncross=2, random_state=5)
    assert folds.get_n_splits(X) == 8
    ours = EarthCV(native(), {"penalty": [2]}, cv=folds).fit(X, Y)
    found = [ours.cv_results_[f"split{k}_test_score"][0] for k in range(8)]
    assert_allclose(found, by_r["rsq"].iloc[:8], rtol=1e-10)


def test_failed_fits_have_the_error_score():
    grid = {"pmethod": ["exhaustive"], "nprune": [1, 3], "nk": [9]}  # one term leaves no choice
    with pytest.warns(FitFailedWarning, match="4 of 8 fits failed"):
        search = EarthCV(native(), grid, cv=CV).fit(X, Y)
    assert np.isnan(search.cv_results_["mean_test_score"][0]) and search.best_params_["nprune"] == 3
    with pytest.raises(InvalidInputError, match="nprune=1"):
        EarthCV(native(), grid, cv=CV, error_score="raise").fit(X, Y)
    with pytest.raises(InvalidInputError, match="all fits failed"):
        EarthCV(native(), {"degree": [0]}, cv=CV).fit(X, Y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"choose": "terms"}, "choose='terms' but it should be"),
        ({"estimator": StandardScaler()}, "it should be an Earth or an EarthClassifier"),
        ({"estimator": Earth(nfold=3)}, "nfold=3 but it should be 0"),
        ({"param_grid": {"alpha": [1]}}, "param_grid has 'alpha' but Earth has no such argument"),
        ({"param_grid": {"nfold": [3]}}, "param_grid has 'nfold'"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        EarthCV(**arguments).fit(X, Y)


@parametrize_with_checks(
    [
        EarthCV(Earth(engine="native"), {"penalty": [2, 5]}, cv=2),
        EarthCV(EarthClassifier(engine="native"), {"penalty": [2, 5]}, cv=2),
    ],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "earth's case weights are not repetitions of rows"
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_other_attributes_are_refused():
    search = EarthCV(native(), {"penalty": [2, 3]}, cv=CV).fit(X, Y)
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
        search.nonsense  # noqa: B018


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_separated_search_warns_once(n_jobs):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 2))
    y = np.where(X[:, 0] > 0.1, "high", "low")
    search = EarthCV(EarthClassifier(), {"penalty": [2, 3, 4]}, cv=3, n_jobs=n_jobs)
    with pytest.warns() as caught:
        search.fit(X, y)
    (one,) = caught
    assert one.category is SeparationWarning and one.filename == __file__
