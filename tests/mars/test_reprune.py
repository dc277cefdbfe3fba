"""Pruning again without a new forward pass: R's update(ponly=TRUE), and a full refit where R's is one."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth
from pyearthdof.exceptions import InvalidInputError
from tests.support.mars.earth_cases import R_CASES, R_DATA, read_frames
from tests.support.rscript import needs_rscript, run_r

pytestmark = [
    needs_rscript,
    pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning"),
    pytest.mark.needs_r,
]

# data, predictors, responses, R's arguments, R's change: our arguments, our change
CASES = {
    ("ozone", "temp|ibh|doy|vis", "O3", "", "penalty=6"): ({}, {"penalty": 6}),
    ("ozone", "temp|ibh|doy|vis", "O3", "degree=2", "penalty=0"): ({"degree": 2}, {"penalty": 0}),
    ("ozone", "temp|ibh|doy|vis", "O3", "degree=2", "nprune=4"): ({"degree": 2}, {"nprune": 4}),
    ("ozone", "temp|ibh|doy|vis", "O3", "degree=2", 'pmethod="none"'): (
        {"degree": 2}, {"pmethod": "none"}),
    ("ozone", "temp|ibh|doy|vis", "O3", "", 'pmethod="exhaustive"'): ({}, {"pmethod": "exhaustive"}),
    ("ozone", "temp|ibh|doy|vis", "O3", "weights=w", "penalty=5"): ({}, {"penalty": 5}),
    ("ozone", "temp|ibh|doy|vis", "O3", "weights=w, degree=2", "nprune=3"): (
        {"degree": 2}, {"nprune": 3}),
    ("ozone", "temp|ibh|doy|vis", "O3|wind", "degree=2", "penalty=8"): (
        {"degree": 2}, {"penalty": 8}),
    ("ozone", "temp|ibh|doy|vis", "O3|wind", "weights=w", "nprune=4"): ({}, {"nprune": 4}),
    ("titanic", "pclass|sex|parch", "age", "degree=2", "penalty=10"): (
        {"degree": 2}, {"penalty": 10}),
    ("titanic", "pclass|sex|age", "survived", "glm=list(family=binomial)", "nprune=3"): (
        {"glm_family": "binomial"}, {"nprune": 3}),
    ("beetles", "dose|kind", "killed|alive", "glm=list(family=binomial)", "nprune=2"): (
        {"glm_family": "binomial"}, {"nprune": 2}),
}  # fmt: skip
R_RUN = (
    R_CASES
    + """
  w <- weights.all[seq_len(nrow(d))]
  fit <- suppressWarnings(eval(parse(text = paste0(
    "earth(x, y, keepxy=TRUE", if (nzchar(args[i])) ", ", args[i], ")"))))
  again <- suppressWarnings(eval(parse(text = paste0("update(fit, ponly=TRUE, ", changes[i], ")"))))
  for (name in c("coefficients", "selected.terms", "gcv", "rss", "grsq", "rsq", "rss.per.subset",
                 "gcv.per.subset", "dirs", "cuts", "fitted.values", "glm.coefficients", "penalty"))
    if (!is.null(again[[name]])) out[[paste("case", i, name, sep = "|")]] <- again[[name]]
}, error = refused)
"""
)
NUMBERS = {
    "coefficients": "term_coef_", "gcv": "gcv_", "rss": "rss_", "grsq": "grsq_", "rsq": "rsq_",
    "rss.per.subset": "rss_per_subset_", "gcv.per.subset": "gcv_per_subset_",
    "fitted.values": "fitted_values_", "glm.coefficients": "glm_coef_", "penalty": "penalty_",
}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    columns = list(zip(*CASES, strict=True))
    names = dict(zip(("data", "xs", "ys", "args", "changes"), map(list, columns), strict=True))
    result = run_r(R_DATA + R_RUN, packages=("earth",), **names)
    return result, read_frames(result)


def data_of(found, case):
    frame = found[1]["frame"][case[0]]
    y = case[2].split("|")
    weights = found[0]["weights.all"][: len(frame)] if "weights" in case[3] else None
    return frame[case[1].split("|")], frame[y if len(y) > 1 else y[0]], weights


def check(model, expected, tolerance):
    np.testing.assert_array_equal(model.selected_terms_ + 1, expected["selected.terms"])
    np.testing.assert_array_equal(model.dirs_, expected["dirs"])
    np.testing.assert_array_equal(model.cuts_, expected["cuts"])
    for name, attribute in NUMBERS.items():
        if name in expected:
            ours = np.asarray(getattr(model, attribute)).ravel(order="F")
            r = expected[name].ravel(order="F")
            scale = np.abs(r[np.isfinite(r)]).max()
            np.testing.assert_allclose(ours, r, tolerance, tolerance * scale, err_msg=name)


@pytest.mark.parametrize("engine", ["r", "native"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_same_as_rs_update_and_as_a_full_fit(found, case, engine):
    options, change = CASES[case]
    number = list(CASES).index(case) + 1
    expected = {
        key.split("|")[2]: v for key, v in found[0].items() if key.startswith(f"case|{number}|")
    }
    X, y, weights = data_of(found, case)
    first = Earth(engine=engine, **options).fit(X, y, weights)
    before = first.model_.to_json()
    again = first.reprune(**change)
    check(again, expected, 0 if engine == "r" else 1e-8)
    assert first.model_.to_json() == before
    full = Earth(engine=engine, **(options | change)).fit(X, y, weights)
    np.testing.assert_array_equal(again.selected_terms_, full.selected_terms_)
    np.testing.assert_allclose(again.term_coef_, full.term_coef_, rtol=1e-10)
    np.testing.assert_allclose(again.predict(X), full.predict(X), rtol=1e-10, atol=1e-10)
    assert again.engine_ == engine and again.get_params() == full.get_params()


def test_subset_is_kept(found):
    X, y, _ = data_of(found, ("ozone", "temp|ibh", "O3", ""))
    rows = np.arange(0, len(X), 2)
    again = Earth(engine="r").fit(X, y, subset=rows).reprune(nprune=3)
    np.testing.assert_array_equal(
        again.term_coef_, Earth(nprune=3, engine="r").fit(X.iloc[rows], y.iloc[rows]).term_coef_
    )


def test_formula_models_are_pruned_again(found):
    frame = found[1]["frame"]["titanic"]
    weights = found[0]["weights.all"][: len(frame)]
    rows = np.arange(0, len(frame), 2)
    text = "age ~ pclass * sex + poly(parch, 2)"
    for sent in ({}, {"sample_weight": weights}, {"sample_weight": weights, "subset": rows}):
        again = Earth.from_formula(text, frame, degree=2, **sent).reprune(nprune=3)
        full = Earth.from_formula(text, frame, degree=2, nprune=3, **sent)
        assert again.n_terms_ == 3 and again.model_.formula == full.model_.formula
        np.testing.assert_array_equal(again.term_coef_, full.term_coef_)
        np.testing.assert_array_equal(again.predict(frame), full.predict(frame))


def test_training_data_are_needed(found):
    X, y, _ = data_of(found, ("ozone", "temp|ibh", "O3", ""))
    model = Earth(engine="r").fit(X, y)
    with pytest.raises(InvalidInputError, match="training data are not available"):
        pickle.loads(pickle.dumps(model)).reprune(nprune=3)
    kept = pickle.loads(pickle.dumps(Earth(engine="r", keepxy=True).fit(X, y)))
    np.testing.assert_array_equal(
        kept.reprune(nprune=3).term_coef_, model.reprune(nprune=3).term_coef_
    )


def _changed(rng, what):
    """Data, an estimator fitted to them, and what changes them in place."""
    X, w = rng.normal(size=(80, 4)), rng.uniform(1, 2, size=80)
    y = np.abs(X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=80)
    Y, rows = np.column_stack([y, X[:, 2] ** 2]), np.arange(0, 80, 2)
    counts = rng.poisson(np.exp(X[:, 0]), size=80).astype(float)
    return {
        "y": ({}, (X, y, None), {}, lambda: np.multiply(y, 10, out=y)),
        "several responses": ({}, (X, Y, None), {}, lambda: np.multiply(Y, 10, out=Y)),
        "a glm": ({"glm_family": "poisson"}, (X, counts), {}, lambda: counts.sort()),
        "weights": ({}, (X, y, w), {}, lambda: w.sort()),
        "subset": ({}, (X, y, w), {"subset": rows}, lambda: np.add(rows, 1, out=rows)),
    }[what]


@pytest.mark.parametrize("engine", [pytest.param("r", marks=pytest.mark.needs_r), "native"])
@pytest.mark.parametrize("what", ["y", "several responses", "a glm", "weights", "subset"])
def test_responses_and_weights_changed_in_place_do_not_matter(what, engine):
    options, data, more, change = _changed(np.random.default_rng(4), what)
    model = Earth(engine=engine, **options).fit(*data, **more)
    pruned, updated = model.reprune(nprune=3), model.update(degree=2)
    change()
    for before, after in ((pruned, model.reprune(nprune=3)), (updated, model.update(degree=2))):
        assert after.model_ == before.model_
        np.testing.assert_array_equal(after.residuals_, before.residuals_)
        assert after.summary() == before.summary()


@pytest.mark.parametrize("is_pickled", [False, True])
def test_predictors_changed_in_place_are_noticed(is_pickled):
    rng = np.random.default_rng(4)
    made = rng.normal(size=(80, 8))
    y = made[:, 0] + 0.5 * rng.normal(size=80)

    def reverse(values):
        values[:] = values[::-1].copy()

    changes = [reverse, lambda v: reverse(v[:, 3]), lambda v: np.multiply(v[:, 2], 2, out=v[:, 2])]
    for values in (made, np.asfortranarray(made), made[:, ::2], np.asfortranarray(made)[:, ::2]):
        for change in changes:
            values = values.copy("K") if values.flags.forc else np.repeat(values, 2, axis=1)[:, ::2]
            model = Earth(engine="native", keepxy=True, nprune=2).fit(values, y)
            assert not {"x3", "x4"} & set(model.model_.used_features())
            model = pickle.loads(pickle.dumps(model)) if is_pickled else model
            assert model.reprune(nprune=1).n_terms_ == 1 and model.update(degree=2).degree == 2
            change(values)
            if is_pickled:  # it has data of its own
                assert model.reprune(nprune=1).n_terms_ == 1
                continue
            for call in (lambda m=model: m.reprune(nprune=1), lambda m=model: m.update(degree=2)):
                with pytest.raises(InvalidInputError, match="changed in place"):
                    call()


def test_changes_that_a_sum_would_lose_are_noticed():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 2))
    X[0, 1] = 1e25  # in a sum of numbers, the others of its column are below the rounding
    y = X[:, 0] + 0.5 * rng.normal(size=80)
    for row, column, value in ((5, 1, X[5, 1] + 1), (7, 0, np.nextafter(X[7, 0], np.inf))):
        values = X.copy()
        model = Earth(engine="native", keepxy=True).fit(values, y)
        values[row, column] = value
        with pytest.raises(InvalidInputError, match="changed in place"):
            model.reprune(nprune=2)


@pytest.mark.parametrize("engine", [pytest.param("r", marks=pytest.mark.needs_r), "native"])
def test_the_frame_of_a_formula_changed_in_place_is_noticed(engine):
    rng = np.random.default_rng(4)
    made = pd.DataFrame(rng.normal(size=(80, 4)), columns=["a", "b", "c", "o"])
    made["y"] = np.abs(made["a"]) + made["o"] + 0.3 * rng.normal(size=80)
    for name in ("y", "a", "b", "o"):
        frame = made.copy()
        w = rng.uniform(1, 2, size=80)
        model = Earth.from_formula("y ~ a + b + offset(o)", frame, w, engine=engine)
        before = model.reprune(nprune=2).model_
        w.sort()
        frame["c"] *= 2  # not in the formula
        assert model.reprune(nprune=2).model_ == before
        frame.iloc[3, frame.columns.get_loc(name)] += 1.0
        for change in ({"nprune": 2}, {"degree": 2}, {"formula": ". ~ . + c"}):
            with pytest.raises(InvalidInputError, match="changed in place"):
                model.update(**change)
        frame.iloc[3, frame.columns.get_loc(name)] = np.nan
        with pytest.raises(InvalidInputError, match="changed in place"):
            model.reprune(nprune=2)


def test_data_with_matrices_are_updated_by_a_formula():
    rng = np.random.default_rng(4)
    data = {"m": rng.normal(size=(80, 2)), "z": rng.normal(size=80)}
    data["y"] = data["m"][:, 0] + data["z"]
    model = Earth.from_formula("y ~ m", data, engine="native").update(formula=". ~ . + z")
    assert model.model_.feature_names == ("m1", "m2", "z")


@pytest.mark.parametrize(
    "change", [{"penalty": -3}, {"nprune": 0}, {"pmethod": "best"}, {"pmethod": "cv"}]
)
def test_bad_changes_are_refused(found, change):
    X, y, _ = data_of(found, ("ozone", "temp|ibh", "O3", ""))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InvalidInputError):
            Earth(engine="native").fit(X, y).reprune(**change)
