"""The degrees of freedom of every size, and the size that they choose."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from pyearthdof import (
    AutoEarth,
    CorrectedEarth,
    Earth,
    EarthClassifier,
    RDraws,
    choose_by_df,
    choose_size,
    degrees_of_freedom,
    df_of_sizes,
    quick_df_of_sizes,
    size_table,
)
from pyearthdof.dof.criteria import scores
from pyearthdof.dof.mars.sizes import Mean, measure_sizes
from pyearthdof.exceptions import InvalidInputError, RWarning
from pyearthdof.procedures import BestSubset, LeastSquares, RegressionTree

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 6))
MEAN = 3 * np.maximum(X[:, 0], 0) - 2 * X[:, 1]
Y = MEAN + RNG.normal(size=100)
WEIGHTS = RNG.uniform(0.5, 2, size=100)


def native(**options):
    return Earth(engine="native", **options)


@pytest.mark.parametrize("options", [{}, {"degree": 2}, {"pmethod": "forward"}, {"thresh": 0}])
def test_the_curve_is_the_covariance_of_each_size_with_the_noise(options):
    """By the plain fits of Earth with nprune, one response after the other."""
    found = df_of_sizes(X, estimator=native(**options), n_rep=60, random_state=3)
    noise = np.random.default_rng(3).standard_normal(60 * 100).reshape(60, 100)
    for size in (1, 2, 5):
        models = [native(penalty=-1, nprune=size, **options).fit(X, z) for z in noise]
        fits = np.array([m.fitted_values_ for m in models])
        covariances = ((noise - noise.mean(0)) * (fits - fits.mean(0))).sum() / 59
        # the same run; the lengths of the responses, which the curve leaves out, are the difference
        assert abs(found.df[size - 1] - covariances) < 0.06 * covariances + 0.15
        shares = [
            1 - ((z - f) ** 2).sum() / ((z - z.mean()) ** 2).sum()
            for z, f in zip(noise, fits, strict=True)
        ]
        assert_allclose(found.df[size - 1], 1 + 99 * np.mean(shares), rtol=1e-10)


def test_a_search_without_a_choice_has_the_closed_form():
    """One predictor that may enter only linearly: no search, two parameters."""
    found = df_of_sizes(X[:, :1], estimator=native(linpreds=True, thresh=0), n_rep=400)
    assert found.sizes.tolist() == [1, 2]
    assert abs(found.df[1] - 2) < 3 * found.se[1]
    assert found.df[0] == 1 and found.se[0] == 0


def test_weighted_noise_costs_what_plain_noise_costs():
    """All weights the same, seen through the weighted search, is the plain search."""
    plain = df_of_sizes(X, n_rep=20)
    weighted = df_of_sizes(X, sample_weight=np.full(100, 2.0), n_rep=20)
    assert_allclose(weighted.df, plain.df, rtol=1e-8)
    other = df_of_sizes(X, sample_weight=WEIGHTS, n_rep=20)
    assert other.settings["weights"] and not np.allclose(other.df[1:9], plain.df[1:9])


def test_around_a_mean_of_zero_it_is_the_same_curve():
    zero = Mean(np.zeros(100), 1.0, np.zeros((1, 100)))
    around = measure_sizes(X, native(), None, zero, n_rep=200)
    null = df_of_sizes(X, estimator=native(), n_rep=200)
    assert (np.abs(around.df - null.df) < 4 * np.hypot(around.se, null.se) + 0.3).all()
    weighted = measure_sizes(X, native(), WEIGHTS, zero, n_rep=40)
    assert abs(weighted.df[4] - null.df[4]) < 4 * weighted.se[4]


def test_around_a_strong_mean_its_terms_are_cheap():
    fit = native(penalty=-1, nprune=4).fit(X, 20 * MEAN)
    guesses = np.vstack([np.full(100, (20 * MEAN).mean()), fit.fitted_values_])
    around = measure_sizes(X, native(), None, Mean(fit.fitted_values_, 1.0, guesses), n_rep=100)
    null = df_of_sizes(X, n_rep=100)
    assert around.df[3] < null.df[3] - 3


def test_the_curve_does_not_depend_on_the_number_of_threads():
    one, two = (df_of_sizes(X, degree=2, n_rep=30, n_jobs=k) for k in (1, 2))
    assert np.array_equal(one.df, two.df) and np.array_equal(one.left_out, two.left_out)


def test_what_a_curve_tells():
    curve = df_of_sizes(pd.DataFrame(X, columns=list("abcdef")), n_rep=50)
    frame = curve.to_frame()
    assert list(frame) == ["sizes", "df", "se", "lower", "upper", "nominal_df", "n_reached"]
    assert (np.diff(frame["df"]) >= 0).all() and (frame["lower"] <= frame["df"]).all()
    assert frame["n_reached"].iloc[0] == 50 and frame["n_reached"].iloc[-1] >= 25
    assert json.loads(json.dumps(curve.to_dict()))["n_rep"] == 50
    assert curve.nominal_df[4] == 9.0
    last = len(curve.sizes)
    slope = max(curve.df[-1] - curve.df[-2], 1.0)
    assert_allclose(curve.df_at([last, last + 3]), curve.df[-1] + slope * np.array([0, 3]))


def sized(estimator=None, **options):
    """One model of the estimator's degree and search, its size by degrees of freedom."""
    degree = 1 if estimator is None else estimator.degree
    plain = {
        "n_models": 1,
        "degrees": (degree,),
        "variance": "constant",
        "nk": None,
        "thresh": None,
    }
    return AutoEarth(estimator, **plain | options)


def test_drawn_designs_and_factors():
    drawn = df_of_sizes((60, 3), n_rep=40, random_state=1)
    assert drawn.n_designs == 20 and drawn.left_out.shape[1] == 20
    frame = pd.DataFrame({"x": X[:, 0], "kind": pd.Categorical(["a", "b", "c", "d"] * 25)})
    assert df_of_sizes(frame, n_rep=10).p == 4
    model = sized(native(), n_rep=20).fit(frame, frame["x"] + 3 * (frame["kind"] == "b"))
    assert "kindb" in model.terms_


def test_choice_by_hand():
    curve = df_of_sizes(X, n_rep=20)
    rss = np.array([100.0, 70.0, 50.0, 49.0, 48.5])
    choice = choose_size(curve, rss)
    df, n = curve.df[:5], 100
    assert_allclose(choice.table["aicc"], np.log(rss / n) + 2 * (df + 1) / (n - df - 2))
    assert_allclose(choice.table["gcv"], rss / (1 - df / n) ** 2)
    assert_allclose(choice.sigma2, rss[choice.size - 1] / (n - choice.df))
    assert_allclose(choice.table["covariance"], rss + 2 * choice.sigma2 * df)
    assert choice.size == 1 + int(np.argmin(choice.table["aicc"]))
    assert choose_size(curve, rss, nprune=2).size <= 2
    assert json.loads(json.dumps(choice.to_dict()))["size"] == choice.size
    assert "SizeChoice(" in repr(choice) and len(choice.to_frame()) == 5


def test_sizes_with_too_many_df_are_left_out():
    rss, df = np.array([10.0, 5.0, 1e-9, 0.0]), np.array([1.0, 9.0, 16.0, 30.0])
    table, _ = scores(rss, df, 20)
    assert np.isinf(table.loc[2:, ["aicc", "covariance", "gcv"]]).all().all()
    only, _ = scores(
        np.array([3.0]), np.array([5.0]), 4
    )  # one size is always allowed, if nothing else
    assert np.isfinite(only["gcv"][0])


@pytest.mark.parametrize("bad", [[], [1.0, np.nan], [[1.0]], [-1.0]])
def test_bad_rss_is_refused(bad):
    with pytest.raises(InvalidInputError, match="rss should be"):
        choose_size(df_of_sizes(X, n_rep=5), bad)


def test_rule_size_is_the_reprune_to_the_chosen_size():
    model = sized(native(degree=2), n_rep=50).fit(X, Y)
    choice = model.choice_
    by_hand = native(degree=2, penalty=-1, nprune=choice.size).fit(X, Y)
    assert model.terms_ == by_hand.terms_ and model.n_terms_ == choice.size
    assert np.array_equal(model.predict(X), by_hand.predict(X))
    assert (
        choice.curve.df[2]
        == df_of_sizes(X, estimator=native(degree=2), n_rep=50, random_state=1234).df[2]
    )
    assert ((model.predict(X) - MEAN) ** 2).mean() < 0.25


@pytest.mark.needs_r
def test_rule_size_with_either_engine_is_the_same_model():
    by_r, by_us = (
        sized(Earth(engine=engine), n_rep=20).fit(X, Y, WEIGHTS) for engine in ("r", "native")
    )
    assert by_r.engine_ == "r" and by_r.terms_ == by_us.terms_
    assert_allclose(by_r.predict(X), by_us.predict(X), rtol=1e-9)


@pytest.mark.parametrize("pmethod", ["forward", "seqrep", "exhaustive"])
def test_other_pruning_methods(pmethod):
    model = sized(native(pmethod=pmethod, nk=9), n_rep=10).fit(X, Y)
    assert model.n_terms_ == model.choice_.size > 1
    noise = np.random.default_rng(5).normal(size=100)
    assert sized(native(pmethod=pmethod, nk=9), n_rep=10).fit(X, noise).n_terms_ == 1


def test_noise_gets_no_terms():
    noise = np.random.default_rng(8).normal(size=(100, 12))
    bound = sized(native(), n_rep=50).bind(X)
    terms = bound.fit_many(noise).n_coef
    assert (terms == 1).mean() > 0.7
    found = degrees_of_freedom(sized(native(), n_rep=20), X, n_rep=4, random_state=0)
    assert np.isfinite(found.df)


def test_few_rows():
    for n in (10, 20):
        model = sized(native(), n_rep=20).fit(X[:n, :2], Y[:n])
        assert model.choice_.df <= 0.75 * n


def test_a_perfect_fit():
    exact = np.maximum(X[:, 0], 0)
    for mu in (None, "fitted"):
        model = sized(native(minspan=1, endspan=1), mu=mu, n_rep=10).fit(X, exact)
        assert np.isfinite(model.predict(X)).all()
    with pytest.warns(RWarning, match="Cannot scale y"):
        flat = sized(native(), n_rep=10).fit(X, np.ones(100))
    assert flat.n_terms_ == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mu": 0}, "mu=0 but it should be"),
        ({"design": "table"}, "design='table' but it should be"),
        ({"mu": "fitted", "estimator": EarthClassifier()}, "mu='fitted' but"),
        ({"mu": "fitted", "n_designs": 2}, "n_designs=2 but it should be None"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        CorrectedEarth(**arguments).fit(X, Y)


def test_weights_are_refused_where_they_mean_nothing():
    with pytest.raises(InvalidInputError, match="does not support weights: AutoEarth does"):
        CorrectedEarth(mu="fitted").fit(X, Y, WEIGHTS)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_size_around_the_fit(weights):
    model = sized(native(), mu="fitted", n_rep=30).fit(X, Y, weights)
    choice = model.choice_
    assert choice.ended in ("converged", "oscillated, smallest model used")
    assert model.n_terms_ == choice.size and 1 <= len(choice.steps) <= 10
    if choice.ended == "converged":
        last = choice.steps.iloc[-1]
        assert last["size"] == last["measured"] == choice.size
    null = df_of_sizes(X, sample_weight=weights, n_rep=30, random_state=1234)
    assert choice.df < null.df[choice.size - 1]  # the signal needs no luck


def test_penalty_around_the_fit():
    model = CorrectedEarth(native(degree=2), mu="fitted", n_rep=50).fit(X, Y)
    found = model.correction_
    null = CorrectedEarth(native(degree=2), design="data", n_rep=50).fit(X, Y).correction_
    assert found.penalty == model.penalty_ < null.penalty
    assert found.ended == "converged" and len(found.steps) <= 10
    assert json.loads(json.dumps(found.to_dict()))["ended"] == found.ended
    assert list(found.to_frame()) == ["penalty", "n_terms", "sigma", "measured"]


@pytest.mark.parametrize("engine", ["native", pytest.param("r", marks=pytest.mark.needs_r)])
@pytest.mark.parametrize(
    ("options", "weights"),
    [
        ({}, None),
        ({}, WEIGHTS),
        ({"mu": "fitted"}, None),
        (None, None),
    ],
)
def test_the_scale_of_y_does_not_matter(engine, options, weights):
    """Though earth writes 0 for an RSS below 1e-10. A power of two scales without rounding."""

    def choice(y):
        if options is None:
            model = CorrectedEarth(Earth(engine=engine), mu="fitted", n_rep=20).fit(X, y)
            return model, model.correction_
        model = sized(Earth(engine=engine), n_rep=20, **options)
        model.fit(X, y, sample_weight=weights)
        return model, model.choice_

    model, found = choice(Y)
    small, same = choice(Y * 2.0**-40)
    assert small.terms_ == model.terms_ and small.n_terms_ > 1
    assert_allclose(same.df, found.df, rtol=1e-12)
    for name, scale in {"rss": 2.0**-80, "sigma": 2.0**-40}.items():
        if name in found.to_frame():
            assert_allclose(same.to_frame()[name], scale * found.to_frame()[name], rtol=1e-9)


@pytest.mark.parametrize("mu", [None, "fitted"])
def test_rows_without_weight_are_not_counted(mu):
    weights = np.where(np.arange(100) % 2, 1.0, 0.0)
    model = sized(native(), mu=mu, n_rep=20).fit(X, Y, weights)
    choice = model.choice_
    best = choice.table.iloc[choice.table["aicc"].argmin()]
    assert_allclose(choice.sigma2, best["rss"] / (50 - best["df"]))
    left = weights * (Y - model.predict(X)) ** 2
    assert_allclose(choice.table["rss"][choice.size - 1], left.sum())
    if mu == "fitted":
        assert np.isfinite(choice.steps["sigma"]).all() and len(choice.steps) > 0


def test_nothing_is_measured_around_a_perfect_fit():
    by_size = sized(native(), mu="fitted", n_rep=20).fit(X, X[:, 0]).choice_
    by_penalty = CorrectedEarth(native(), mu="fitted", n_rep=20).fit(X, X[:, 0]).correction_
    for found in (by_size, by_penalty):
        assert found.ended == "stopped at a perfect fit" and len(found.steps) == 0
    with pytest.raises(InvalidInputError, match="nothing to draw"):
        by_penalty.plot()


def test_nothing_is_measured_around_a_perfect_member():
    found = choose_by_df([BestSubset(size=k) for k in range(4)], X, X[:, 0], n_rep=20)
    assert found.ended == "stopped at a perfect fit" and found.label == 1


def test_the_table_is_near_what_is_measured():
    table = size_table()
    assert (table["se"] >= 0).all() and set(table["degree"]) == {1, 2}
    for shape, degree in (((100, 10), 1), ((90, 12), 2)):
        measured = df_of_sizes(shape, degree=degree, n_rep=200, random_state=9)
        found = quick_df_of_sizes(shape, degree=degree)
        k = min(len(measured.df), len(found.df))
        assert abs(len(measured.df) - len(found.df)) <= 2
        error = np.hypot(measured.se, 0)[:k] + found.se[:k]
        assert (np.abs(measured.df[:k] - found.df[:k]) <= 4 * error + 0.2).all()
    model = sized(native(), design="table").fit(X, Y)
    assert model.choice_.curve.settings["source"] == "table"
    lower, upper = found.interval()
    assert (lower <= found.df).all() and (upper >= found.df).all()


def binary(n, p):
    return np.sign(np.random.default_rng(5).normal(size=(n, p)))


@pytest.mark.parametrize(
    "discrete",
    [
        binary(100, 6),
        np.round(2 * X),
        np.maximum(X, 0),  # a value in half of the rows
        np.vstack([X[:60], X[:40]]),
        np.column_stack([X, binary(100, 1)]),
    ],
)
def test_the_table_is_not_used_for_discrete_columns(discrete):
    found = sized(native(), design="table", n_rep=10).fit(discrete, Y)
    measured = sized(native(), n_rep=10).fit(discrete, Y)
    assert found.choice_.curve.settings["source"] == "measured"
    assert np.array_equal(found.choice_.curve.df, measured.choice_.curve.df)


def test_the_table_is_far_off_for_binary_columns():
    """The reason for the rule: the table has 37.8 degrees of freedom for 8 terms of 200 x 30 columns."""
    measured = df_of_sizes(binary(200, 30), n_rep=40)
    assert quick_df_of_sizes((200, 30)).df_at(8) > 1.6 * measured.df_at(8)


@pytest.mark.parametrize(
    ("shape", "degree", "message"),
    [
        ((20, 5), 1, "n=20 but"),
        ((100, 500), 1, "p=500 but"),
        ((100, 5), 3, "degree=3 but"),
        (X, 1, "X is a"),
    ],
)
def test_outside_of_the_table_is_refused(shape, degree, message):
    with pytest.raises(InvalidInputError, match=message):
        quick_df_of_sizes(shape, degree=degree)


def test_families():
    subsets = choose_by_df([BestSubset(size=k) for k in range(7)], X, Y, n_rep=40)
    assert set(subsets.procedure.active_) >= {0, 1}
    assert subsets.table["n_coef"].tolist() == list(range(7))
    assert json.loads(json.dumps(subsets.to_dict()))["label"] == subsets.label
    steps = 4 * (X[:, 0] > 0) + np.random.default_rng(2).normal(size=100)
    trees = {f"depth {d}": RegressionTree(depth=d) for d in range(4)}
    found = choose_by_df(trees, X, steps, n_rep=40)
    assert found.label == "depth 1" and found.procedure.n_leaves_ == 2
    null = choose_by_df(trees, X, steps, n_rep=40, mu=None)
    for label, tree in trees.items():
        df = degrees_of_freedom(
            tree, X, n_rep=40, draws=RDraws(1234), variance_reduction="direction"
        ).df
        assert null.table.set_index("label")["df"][label] == pytest.approx(df)
    exact = choose_by_df([LeastSquares()], X, Y)
    assert exact.table["df"][0] == pytest.approx(6)


@pytest.mark.parametrize("procedures", [[], "trees", [len]])
def test_bad_procedures_are_refused(procedures):
    with pytest.raises(InvalidInputError, match="procedures"):
        choose_by_df(procedures, X, Y)


WEIGHTED = "earth's case weights are not repetitions of rows"


@parametrize_with_checks(
    [sized(Earth(engine="native"), n_rep=2)],
    expected_failed_checks=lambda _: {"check_sample_weight_equivalence_on_dense_data": WEIGHTED},
)
def test_scikit_learn_checks(estimator, check):
    check(clone(estimator))
