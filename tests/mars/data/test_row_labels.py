"""Rows are matched by position: labels of X in another order are warned of, once."""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold

from pyearthdof import (
    AutoEarth,
    CorrectedEarth,
    Earth,
    EarthClassifier,
    EarthCV,
    Mars,
    choose_by_df,
    crosscheck,
    degrees_of_freedom,
    df_of_sizes,
    df_report,
)
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures import (
    BestSubset,
    IterativeRidge,
    Lasso,
    NearestNeighbors,
    RegressionTree,
    Ridge,
    SmoothingSpline,
)

N = 40
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"], index=[f"r{k}" for k in range(N)])
Y = pd.Series(np.abs(X["a"].to_numpy()) + 0.2 * RNG.normal(size=N), index=X.index)
CLASSES = pd.Series(np.where(Y.gt(Y.median()), "high", "low"), index=X.index)
WEIGHTS = pd.Series(RNG.uniform(1, 2, size=N), index=X.index)
MASK = pd.Series(np.arange(N) % 3 > 0, index=X.index)
GROUPS = pd.Series(np.arange(N) % 4, index=X.index)
QUICK = {"n_rep": 5, "random_state": 0}


def native(**options):
    return Earth(engine="native", **options)


def search(estimator=None):
    return EarthCV(estimator or native(), {"penalty": [2, 3]}, cv=2)


def corrected(**options):
    return CorrectedEarth(native(), **QUICK, **options)


def auto():
    return AutoEarth(native(), n_models=2, degrees=(1,), n_rep=2)


def both(data):
    return pd.DataFrame({"p": data, "q": data**2})


# What is in another order, and a call that takes it.
CALLS = {
    "Earth, y": ("y", lambda y: native().fit(X, y), Y),
    "Earth, several responses": ("y", lambda y: native().fit(X, y), both(Y)),
    "Earth, weights": ("sample_weight", lambda w: native().fit(X, Y, w), WEIGHTS),
    "Earth, subset": ("subset", lambda s: native().fit(X, Y, subset=s), MASK),
    "classifier, y": ("y", lambda y: EarthClassifier(engine="native").fit(X, y), CLASSES),
    "classifier, weights": (
        "sample_weight",
        lambda w: EarthClassifier(engine="native").fit(X, CLASSES, w),
        WEIGHTS,
    ),
    "EarthCV, y": ("y", lambda y: search().fit(X, y), Y),
    "EarthCV, weights": ("sample_weight", lambda w: search().fit(X, Y, w), WEIGHTS),
    "EarthCV, groups": (
        "groups",
        lambda g: EarthCV(native(), {"penalty": [2]}, cv=GroupKFold(2)).fit(X, Y, groups=g),
        GROUPS,
    ),
    "EarthCV, classes": (
        "y",
        lambda y: search(EarthClassifier(engine="native")).fit(X, y),
        CLASSES,
    ),
    "AutoEarth, y": ("y", lambda y: auto().fit(X, y), Y),
    "AutoEarth, weights": ("sample_weight", lambda w: auto().fit(X, Y, w), WEIGHTS),
    "by penalty": ("y", lambda y: corrected().fit(X, y), Y),
    "by penalty, around the fit": ("y", lambda y: corrected(mu="fitted").fit(X, y), Y),
    "df, y": (
        "y",
        lambda y: degrees_of_freedom(RegressionTree(2), X, y=y, mu="fitted", sigma=1.0, **QUICK),
        Y,
    ),
    "df, mu": ("mu", lambda mu: degrees_of_freedom(RegressionTree(2), X, mu=mu, **QUICK), Y),
    "df, sigma": (
        "sigma",
        lambda sigma: degrees_of_freedom(RegressionTree(2), X, sigma=sigma, **QUICK),
        WEIGHTS,
    ),
    "df_report": (
        "y",
        lambda y: df_report(LinearRegression(), X, y, progress=False, prices=False, **QUICK),
        Y,
    ),
    "choose_by_df": ("y", lambda y: choose_by_df([Ridge(1.0), Ridge(0.0)], X, y, **QUICK), Y),
    "tree": ("y", lambda y: RegressionTree(2).fit(X, y), Y),
    "ridge": ("y", lambda y: Ridge(1.0).fit(X, y), Y),
    "lasso": ("y", lambda y: Lasso(1.0).fit(X, y), Y),
    "neighbours": ("y", lambda y: NearestNeighbors(3).fit(X, y), Y),
    "iterative ridge": ("y", lambda y: IterativeRidge(1.0).fit(X, y), Y),
    "spline": ("y", lambda y: SmoothingSpline(df=4).fit(X[["a"]], y), Y),
    "Earth, many": ("Y", lambda many: native().fit_many(X, many), both(Y)),
    "Earth, a path": (
        "Y",
        lambda many: native(thresh=0, pmethod="none").fit_path(X, many, [3, 5]),
        both(Y),
    ),
    "by penalty, many": ("Y", lambda many: corrected().fit_many(X, many), both(Y)),
    "AutoEarth, many": ("Y", lambda many: auto().fit_many(X, many), both(Y)),
    "ridge, many": ("Y", lambda many: Ridge(1.0).fit_many(X, many), both(Y)),
    "tree, many": ("Y", lambda many: RegressionTree(2).fit_many(X, many), both(Y)),
    "iterative ridge, many": ("Y", lambda many: IterativeRidge(1.0).fit_many(X, many), both(Y)),
    "subsets, many": ("Y", lambda many: BestSubset(1).fit_many_sizes(X, many), both(Y)),
    "spline, many": ("Y", lambda many: SmoothingSpline(df=4).fit_many(X[["a"]], many), both(Y)),
    "a page": (
        "y",
        lambda y: native().fit(X, Y).report(Path(tempfile.mkdtemp()) / "page.html", X, y),
        Y,
    ),
}


# What scores, fitted.
SCORED = {
    "Earth": native().fit(X, Y),
    "EarthClassifier": EarthClassifier(engine="native", class_order=["low", "high"]).fit(
        X, CLASSES
    ),
    "EarthCV": search().fit(X, Y),
    "CorrectedEarth": corrected().fit(X, Y),
    "tree": RegressionTree(2).fit(X, Y),
}


def warned(call, values):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(values)
    return [w for w in caught if "row labels" in str(w.message)]


@pytest.mark.parametrize("case", CALLS)
def test_labels_in_another_order_are_warned_of_once(case):
    name, call, values = CALLS[case]
    caught = warned(call, values.iloc[::-1])
    assert len(caught) == 1 and caught[0].filename == __file__
    message = str(caught[0].message)
    assert message.startswith(f"{name} has the row labels of X in another order")
    assert f"pass {name}.loc[X.index]" in message and "\n" not in message


@pytest.mark.parametrize("case", CALLS)
def test_nothing_is_said_of_the_same_order_other_labels_and_arrays(case):
    _, call, values = CALLS[case]
    other = values.iloc[::-1].set_axis(range(N))
    for fine in (values, other, values.iloc[::-1].to_numpy()):
        assert not warned(call, fine)


@pytest.mark.parametrize("called", SCORED)
def test_scores_warn_once(called):
    model = SCORED[called]
    y = CLASSES if called == "EarthClassifier" else Y
    assert not warned(lambda y: model.score(X, y), y)
    caught = warned(lambda y: model.score(X, y), y.iloc[::-1])
    assert len(caught) == 1 and caught[0].filename == __file__
    assert str(caught[0].message).startswith("y has the row labels of X in another order")
    caught = warned(lambda w: model.score(X, y, sample_weight=w), WEIGHTS.iloc[::-1])
    assert len(caught) == 1 and str(caught[0].message).startswith(
        "sample_weight has the row labels"
    )


def test_the_fit_is_by_position_as_before():
    with pytest.warns(UserWarning, match="row labels of X in another order"):
        found = native().fit(X, Y.iloc[::-1])
    assert found.model_ == native().fit(X, Y.iloc[::-1].to_numpy()).model_
    by_label = Y.iloc[::-1].loc[X.index]
    assert native().fit(X, by_label).model_ == native().fit(X, Y).model_


def test_weights_and_subsets_of_a_formula():
    data = X.assign(y=Y)
    for name, values in (("sample_weight", WEIGHTS), ("subset", MASK)):
        for given, n_warnings in ((values, 0), (values.iloc[::-1], 1)):
            caught = warned(
                lambda v, name=name: Earth.from_formula(
                    "y ~ a", data, engine="native", **{name: v}
                ),
                given,
            )
            assert len(caught) == n_warnings
            assert not caught or f"{name}.loc[data.index]" in str(caught[0].message)


def test_weights_of_sizes():
    caught = warned(lambda w: df_of_sizes(X, sample_weight=w, **QUICK), WEIGHTS.iloc[::-1])
    assert len(caught) == 1 and "sample_weight.loc[X.index]" in str(caught[0].message)


@pytest.mark.needs_r
def test_crosscheck():
    assert len(warned(lambda y: crosscheck(X, y), Y.iloc[::-1])) == 1


def test_weights_and_subsets_of_a_formula_of_classes():
    data = X.assign(y=CLASSES)
    for name, values in (("sample_weight", np.ceil(WEIGHTS)), ("subset", MASK)):
        for given, n_warnings in ((values, 0), (values.iloc[::-1], 1)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                EarthClassifier.from_formula("y ~ a", data, engine="native", **{name: given})
            heard = [w for w in caught if "row labels of data in another order" in str(w.message)]
            assert len(heard) == n_warnings


@pytest.mark.needs_r("mda")
def test_mars():
    assert len(warned(lambda y: Mars().fit(X, y), Y.iloc[::-1])) == 1


def test_zeros_and_ones_are_no_rows():
    with pytest.raises(InvalidInputError, match="0 or 1"):
        EarthClassifier(engine="native").fit(X, CLASSES, subset=MASK.astype(int))
    with pytest.raises(InvalidInputError, match="0 or 1"):
        Earth.from_formula("y ~ a", X.assign(y=Y), subset=MASK.astype(int), engine="native")
    two = pd.DataFrame({"a": [0.0, 1.0]})
    assert native().fit(two, [0.0, 1.0], subset=[0, 1]).n_terms_ == 1
