"""EarthClassifier beside R's earth with glm=list(family=binomial)."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.class_weight import compute_sample_weight

from pyearthdof import EarthClassifier
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.model.mars_model import MarsModel
from tests.support.mars.earth_cases import R_DATA, read_frames
from tests.support.rscript import needs_rscript, run_r
from tests.support.without_r import run_without_r

pytestmark = [needs_rscript, pytest.mark.needs_r, pytest.mark.filterwarnings("ignore")]

# data, predictors, class, R's arguments: ours
CASES = {
    ("titanic", "pclass|age|sibsp", "sex", ""): {},
    ("titanic", "sex|age|sibsp|parch", "pclass", "degree=2"): {"degree": 2},
    ("titanic", "pclass|sex|age", "child", ""): {},
    ("titanic", "pclass|sex|age", "survived", "degree=2"): {"degree": 2},
    ("titanic", "sex|age", "text", ""): {},
    ("iris", "Sepal.Length|Sepal.Width", "Species", ""): {},
    ("iris", "Sepal.Length|Sepal.Width", "Species", "degree=2, nk=9"): {"degree": 2, "nk": 9},
    ("warp", "breaks|wool", "tension", ""): {},
}
R_RUN = """
split.names <- function(text) strsplit(text, "|", fixed = TRUE)[[1]]
for (i in seq_along(args)) tryCatch({
  d <- frames[[data[i]]]
  x <- d[, split.names(xs[i]), drop = FALSE]
  y <- d[[ys[i]]]
  if (!is.logical(y)) y <- factor(as.character(y))  # sorted, as classes are in scikit-learn
  fit <- suppressWarnings(eval(parse(text =
    paste0("earth(x, y, glm=list(family=binomial)", if (nzchar(args[i])) ", ", args[i], ")"))))
  put <- function(name, value) out[[paste("case", i, name, sep = "|")]] <<- value
  new <- news[[data[i]]][, names(x), drop = FALSE]
  put("coef", fit$glm.coefficients)
  put("deviance", vapply(fit$glm.list, function(g) g$deviance, 0))
  put("response", unname(as.matrix(predict(fit, new, type = "response"))))
  put("link", unname(as.matrix(predict(fit, new, type = "link"))))
  put("class", as.character(predict(fit, new, type = "class")))
  put("names", colnames(fit$coefficients))
}, error = refused)
"""


@pytest.fixture(scope="module")
def found():
    columns = list(zip(*CASES, strict=True))
    names = dict(zip(("data", "xs", "ys", "args"), map(list, columns), strict=True))
    result = run_r(R_DATA + R_RUN, packages=("earth",), **names)
    return result, read_frames(result)


@pytest.mark.parametrize("engine", ["r", "native"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_same_as_plain_r(found, case, engine):
    number = list(CASES).index(case) + 1
    r = {key.split("|")[2]: v for key, v in found[0].items() if key.startswith(f"case|{number}|")}
    data, x, y, _ = case
    frame, new = found[1]["frame"][data], found[1]["new"][data][x.split("|")]
    model = EarthClassifier(**CASES[case], engine=engine).fit(frame[x.split("|")], frame[y])
    assert model.engine_ == engine
    allowed, close = (0.0, 1e-12) if engine == "r" else (1e-8, 1e-8)  # the bridge to the bit
    size = np.abs(r["coef"]).max()
    np.testing.assert_allclose(model.glm_coef_.ravel(), r["coef"].ravel(), allowed, allowed * size)
    np.testing.assert_allclose(model.glm_["deviance"], r["deviance"], rtol=allowed)
    assert list(model.response_names_) == (
        [as_r(model.classes_[1])] if y == "child" else r["names"]
    )
    raw, link = model.predict_raw_proba(new), model.decision_function(new)
    np.testing.assert_allclose(
        raw.reshape(r["response"].shape), r["response"], rtol=close, atol=close
    )
    scale = np.abs(r["link"]).max()
    np.testing.assert_allclose(link.reshape(r["link"].shape), r["link"], close, close * scale)
    assert [as_r(c) for c in model.predict(new)] == r["class"]
    proba = model.predict_proba(new)
    assert proba.shape == (len(new), len(model.classes_))
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_array_equal(np.log(proba), model.predict_log_proba(new))
    if len(model.classes_) > 2:
        np.testing.assert_allclose(proba, raw / raw.sum(axis=1, keepdims=True), rtol=1e-14)
    else:
        np.testing.assert_array_equal(proba[:, 1], raw)
    assert MarsModel.from_json(model.model_.to_json()) == model.model_
    assert model.score(frame[x.split("|")], frame[y]) > 0.3


@pytest.mark.parametrize("order", ["sorted", "levels", "given"])
@pytest.mark.parametrize("engine", ["r", "native"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_formula_gives_the_same(found, case, engine, order):
    number = list(CASES).index(case) + 1
    r = {key.split("|")[2]: v for key, v in found[0].items() if key.startswith(f"case|{number}|")}
    data, x, y, _ = case
    frame, new = found[1]["frame"][data], found[1]["new"][data]
    frame = frame.assign(**{y: np.asarray(frame[y])})  # its levels are sorted
    order = sorted(set(frame[y])) if order == "given" else order
    formula = f"{y} ~ {x.replace('|', ' + ')}"
    model = EarthClassifier.from_formula(
        formula, frame, **CASES[case], engine=engine, class_order=order
    )
    allowed = 0.0 if engine == "r" else 1e-8
    size = np.abs(r["coef"]).max()
    np.testing.assert_allclose(model.glm_coef_.ravel(), r["coef"].ravel(), allowed, allowed * size)
    np.testing.assert_allclose(model.glm_["deviance"], r["deviance"], rtol=allowed)
    assert [as_r(c) for c in model.predict(new)] == r["class"]
    again = model.update(formula=". ~ .")
    assert again.classes_.tolist() == model.classes_.tolist()
    np.testing.assert_array_equal(again.term_coef_, model.term_coef_)


def as_r(value) -> str:
    """R's text of a predicted class."""
    if isinstance(value, (bool, np.bool_)):
        return "TRUE" if value else "FALSE"
    return f"{value:g}" if isinstance(value, float) else str(value)


RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 2))
CODES = np.digitize(np.abs(X[:, 0]) + 0.5 * RNG.normal(size=90), [0.6, 1.0])


LINKS = ("logit", "probit", "cauchit", "cloglog")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_links_are_plain_rs_and_need_no_family(n_classes):
    y = CODES if n_classes == 3 else CODES > 0
    code = """
out <- list()
for (link in links) {
  fit <- suppressWarnings(earth(x, factor(y), glm = list(family = binomial(link = link))))
  out[[paste0(link, ".coef")]] <- fit$glm.coefficients
  out[[paste0(link, ".response")]] <- unname(as.matrix(predict(fit, x, type = "response")))
  out[[paste0(link, ".link")]] <- unname(as.matrix(predict(fit, x, type = "link")))
}
"""
    r = run_r(code, packages=("earth",), x=X, y=y * 1.0, links=list(LINKS))
    for link in LINKS:
        model = EarthClassifier(glm_link=link).fit(X, y)
        assert (model.model_.glm.family, model.model_.glm.link) == ("binomial", link)
        np.testing.assert_array_equal(model.glm_coef_.ravel(), r[f"{link}.coef"].ravel())
        raw, eta = model.predict_raw_proba(X), model.decision_function(X)
        np.testing.assert_allclose(
            raw.reshape(r[f"{link}.response"].shape), r[f"{link}.response"], 1e-12
        )
        shift = np.log(np.log(2)) if link == "cloglog" else 0.0
        np.testing.assert_allclose(
            eta.reshape(r[f"{link}.link"].shape) + shift, r[f"{link}.link"], 1e-10, 1e-10
        )
        chosen = (eta > 0).astype(int) if n_classes == 2 else eta.argmax(axis=1)
        np.testing.assert_array_equal(model.predict(X), model.classes_[chosen])
        assert model.reprune(nprune=2).model_.glm.link == link


def test_other_glm_options_need_no_family_either():
    plain = EarthClassifier().fit(X, CODES)
    for options in ({"glm_maxit": 25}, {"glm_epsilon": 1e-8}):
        model = EarthClassifier(**options).fit(X, CODES)
        np.testing.assert_array_equal(model.glm_coef_, plain.glm_coef_)


def test_a_subset_without_one_of_the_classes_is_plain_rs():
    """The levels are those of all rows."""
    rows = np.flatnonzero(CODES != 1)
    code = """
fit <- suppressWarnings(earth(x, factor(y), subset = rows + 1, glm = list(family = binomial)))
out <- list(coef = fit$glm.coefficients, names = colnames(fit$coefficients))
"""
    r = run_r(code, packages=("earth",), x=X, y=CODES * 1.0, rows=rows)
    model = EarthClassifier().fit(X, CODES, subset=rows)
    assert list(model.response_names_) == r["names"]
    np.testing.assert_array_equal(model.glm_coef_, r["coef"])


@pytest.mark.parametrize(
    "classes",
    [["b", "c", "a"], [7, -2, 3], [2.0, 1.0, 3.0], np.array(["x", "y", "z"], dtype=object)],
)
def test_classes_of_any_type(classes):
    y = np.asarray(classes)[CODES]
    model = EarthClassifier().fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    assert model.classes_.dtype == np.unique(y).dtype == model.predict(X).dtype
    # The order of the classes is their sorting: the models of the classes are the same.
    plain = EarthClassifier().fit(X, np.unique(y, return_inverse=True)[1])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_two_classes_of_truth_values_and_categories():
    truth = EarthClassifier().fit(X, CODES > 0)
    category = EarthClassifier().fit(
        X, pd.Series(CODES > 0).map({True: "u", False: "d"}).astype("category")
    )
    assert truth.classes_.tolist() == [False, True] and list(category.classes_) == ["d", "u"]
    np.testing.assert_array_equal(truth.predict_proba(X), category.predict_proba(X))
    eta = truth.decision_function(X)
    np.testing.assert_array_equal(truth.predict(X), eta > 0)


def test_gaussian_family_is_least_squares_on_indicators():
    model = EarthClassifier(glm_family="gaussian").fit(X, CODES)
    np.testing.assert_allclose(model.glm_coef_, model.term_coef_, rtol=1e-10, atol=1e-12)
    assert ((model.predict_proba(X) >= 0) & (model.predict_proba(X) <= 1)).all()


def test_weights_and_subset():
    weights = RNG.uniform(0.5, 2, 90)
    rows = np.arange(0, 90, 2)
    part = EarthClassifier().fit(X, CODES, weights, subset=rows)
    alone = EarthClassifier().fit(X[rows], CODES[rows], weights[rows])
    np.testing.assert_array_equal(part.glm_coef_, alone.glm_coef_)


def test_repruned_classifier_predicts_classes():
    model = EarthClassifier(degree=2).fit(X, CODES)
    small = model.reprune(nprune=2)
    assert small.n_terms_ == 2
    full = EarthClassifier(degree=2, nprune=2).fit(X, CODES)
    np.testing.assert_array_equal(small.predict_proba(X), full.predict_proba(X))


def test_without_r(tmp_path):
    frame = pd.DataFrame({"x": X[:, 0], "kind": np.where(X[:, 1] > 0, "up", "down")})
    model = EarthClassifier().fit(frame, np.array(["b", "c", "a"])[CODES])
    (tmp_path / "model.pickle").write_bytes(pickle.dumps((model, frame)))
    code = """
import pickle, sys
model, frame = pickle.load(open(sys.argv[1], "rb"))
print(float(model.predict_proba(frame).sum()), "".join(model.predict(frame)))
print(model.summary())
"""
    lines = run_without_r(code, str(tmp_path / "model.pickle")).splitlines()
    assert lines[0] == f"{float(model.predict_proba(frame).sum())} {''.join(model.predict(frame))}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "GLM" in "\n".join(lines) or "binomial" in "\n".join(lines)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(90), "y holds one class only"),
        (RNG.normal(size=90), "Unknown label type"),
        (CODES[:80], "inconsistent numbers of samples"),
        (None, "target y is None"),
    ],
)
def test_bad_classes(y, message):
    with pytest.raises(ValueError, match=message):
        EarthClassifier().fit(X, y)


@pytest.mark.parametrize("engine", ["r", "native"])
@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_a_threshold_is_rs(threshold, engine):
    code = """
fit <- suppressWarnings(earth(x, factor(y), glm = list(family = binomial)))
out <- list(class = as.character(predict(fit, x, type = "class", thresh = t)))
"""
    for y in (CODES > 0) * 1, CODES:
        r = run_r(code, packages=("earth",), x=X, y=y * 1.0, t=threshold)
        model = EarthClassifier(threshold=threshold, engine=engine).fit(X, y)
        assert [str(c) for c in model.predict(X)] == r["class"]


@pytest.mark.parametrize("engine", ["r", "native"])
@pytest.mark.parametrize(
    "levels", [["b", "c", "a"], ["c", "b", "a"], ["c", "none", "a", "b"], ["b", "a"]]
)
def test_the_order_of_the_classes_is_that_of_rs_levels(levels, engine):
    code = """
fit <- suppressWarnings(earth(x, factor(y, levels), glm = list(family = binomial)))
out <- list(names = colnames(fit$coefficients), coef = unname(fit$glm.coefficients))
"""
    y = np.array(["a", "b", "c" if "c" in levels else "a"])[CODES]
    there = [level for level in levels if level in y]
    r = run_r(code, packages=("earth",), x=X, y=y.tolist(), levels=there)
    for order, classes in (
        ("levels", pd.Categorical(y, levels)),
        ("levels", pd.Series(pd.Categorical(y, levels))),
        (levels, y),
        (tuple(there), y.astype(object)),
    ):
        model = EarthClassifier(class_order=order, engine=engine).fit(X, classes)
        assert model.classes_.tolist() == there
        assert list(model.response_names_) == r["names"]
        size = np.abs(r["coef"]).max()
        np.testing.assert_allclose(
            model.glm_coef_.reshape(r["coef"].shape), r["coef"], 1e-8, 1e-8 * size
        )
        sorted_ = EarthClassifier(engine=engine).fit(X, classes)
        assert sorted_.classes_.tolist() == sorted(there)
        if len(there) > 2:  # of two, another one is modelled
            assert (sorted_.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"threshold": 1.5}, "threshold=1.5 but it should be a number from 0 to 1"),
        ({"threshold": "high"}, "threshold='high' but"),
        ({"threshold": True}, "threshold=True but"),
        (
            {"class_order": "backwards"},
            "class_order='backwards' but it should be one of sorted, levels",
        ),
        ({"class_order": 3}, "class_order=3 but it should be one of"),
        ({"class_order": [0, 1]}, "it lacks 2, which y holds: name each class once"),
        ({"class_order": [0, 1, 2, 1]}, "it holds a class twice"),
        ({"class_order": None}, "class_order=None but"),
    ],
)
def test_bad_thresholds_and_orders(more, message):
    with pytest.raises(InvalidInputError, match=message):
        EarthClassifier(engine="native", **more).fit(X, CODES)


def test_a_threshold_may_be_changed_after_the_fit():
    model = EarthClassifier(engine="native").fit(X, CODES > 0)
    assert model.set_params(threshold=0.0).predict(X).all()
    with pytest.raises(InvalidInputError, match="threshold=2"):
        model.set_params(threshold=2).predict(X)


def test_classes_that_separate_on_folds_of_scikit_learn():
    """The log-loss of R's way is R's, wrong probabilities of 0 and 1 included."""
    tumours, benign = load_breast_cancer(return_X_y=True)
    tumours = tumours[:, :12]
    folds = np.zeros(len(benign))
    for k, (_, out) in enumerate(
        StratifiedKFold(3, shuffle=True, random_state=0).split(tumours, benign)
    ):
        folds[out] = k
    code = """
p <- double(nrow(x))
for (k in 0:2) {
  fit <- suppressWarnings(earth(x[folds != k, ], y[folds != k], glm = list(family = binomial)))
  p[folds == k] <- predict(fit, x[folds == k, ], type = "response")
}
out <- list(p = p)
"""
    expected = run_r(code, packages=("earth",), x=tumours, y=benign.astype(float), folds=folds)["p"]
    for k in range(3):
        model = EarthClassifier(engine="native").fit(tumours[folds != k], benign[folds != k])
        ours = model.predict_proba(tumours[folds == k])[:, 1]
        np.testing.assert_allclose(ours, expected[folds == k], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("engine", ["native", "r"])
@pytest.mark.parametrize(
    "left", ["kind", "factor(kind)", "x > 0", "relevel(factor(kind), ref = 'c')"]
)
def test_formula_is_fit(left, engine):
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"x": rng.normal(size=90), "z": rng.normal(size=90)})
    data["kind"] = np.array(list("abc"))[np.digitize(data.x + rng.normal(size=90), [-0.5, 0.7])]
    model = EarthClassifier.from_formula(f"{left} ~ sqrt(abs(z)) + x", data, engine=engine)
    X = pd.DataFrame({"sqrt(abs(z))": np.sqrt(np.abs(data.z)), "x": data.x})
    y = data.x > 0 if left == "x > 0" else data.kind
    fitted = EarthClassifier(engine=engine).fit(X, y)
    assert model.classes_.tolist() == fitted.classes_.tolist()
    np.testing.assert_allclose(model.predict_proba(data), fitted.predict_proba(X), atol=1e-8)


def rare(n=150):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 1.3, "rare", "common")


@pytest.mark.parametrize("engine", ["native", "r"])
def test_class_weights_are_case_weights(engine):
    X, y = rare()
    own = np.linspace(1, 2, len(y))
    for class_weight, expected in (
        ("balanced", compute_sample_weight("balanced", y)),
        ({"rare": 4}, np.where(y == "rare", 4.0, 1.0)),
    ):
        model = EarthClassifier(class_weight=class_weight, penalty=4, engine=engine).fit(X, y)
        plain = EarthClassifier(penalty=4, engine=engine).fit(X, y, expected)
        assert model.model_ == plain.model_
    both = EarthClassifier(class_weight={"rare": 4}, penalty=4, engine=engine).fit(X, y, own)
    assert both.model_ == EarthClassifier(penalty=4, engine=engine).fit(X, y, own * expected).model_


def test_balanced_counts_the_rows_of_the_fit_with_their_weights():
    X, y = rare()
    rows = np.arange(0, len(y), 2)
    model = EarthClassifier(class_weight="balanced", penalty=4, engine="native")
    subset = model.fit(X, y, subset=rows).model_
    alone = EarthClassifier(class_weight="balanced", penalty=4, engine="native")
    assert subset.coef.tolist() == alone.fit(X[rows], y[rows]).model_.coef.tolist()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    formula = EarthClassifier.from_formula("y ~ .", frame, **model.get_params())
    assert formula.model_.rss == model.fit(X, y).model_.rss
    weights = np.where(y == "rare", 3.0, 1.0)
    totals = np.where(y == "rare", weights[y == "rare"].sum(), weights[y == "common"].sum())
    expected = EarthClassifier(penalty=4, engine="native").fit(
        X, y, weights * (weights.sum() / (2 * totals))
    )
    np.testing.assert_allclose(model.fit(X, y, weights).term_coef_, expected.term_coef_, rtol=1e-12)


@pytest.mark.parametrize("values", [(0, 1), ("no", "yes"), (False, True)])
def test_score_takes_every_y_that_fit_takes(values):
    X, y = rare()
    classes = np.array([values[int(k)] for k in y == "rare"], dtype=object)
    model = EarthClassifier(penalty=6, engine="native").fit(X, classes)
    expected = np.mean(model.predict(X) == classes)
    for y in (classes, pd.Series(classes), pd.Categorical(classes), classes.tolist()):
        assert model.score(X, y) == expected


def test_class_weights_are_saved_and_warn_of_nothing():
    X, y = rare()
    numbers = np.where(y == "rare", 3, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = EarthClassifier(class_weight={3: 2.5}, penalty=6, engine="native").fit(X, numbers)
        loaded = EarthClassifier.from_json(model.to_json())
        assert loaded.fit(X, numbers).model_ == model.model_


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"rar": 1}, "class_weight names the class 'rar' but y has 'common', 'rare'"),
        ({"rare": 0}, r"class_weight\['rare'\]=0 but it should be a finite number above 0"),
        ("even", "class_weight='even' but it should be None, 'balanced' or a dict of weights"),
    ],
)
def test_bad_class_weights(class_weight, message):
    with pytest.raises(InvalidInputError, match=message):
        EarthClassifier(class_weight=class_weight).fit(*rare())


def test_missing_values_at_prediction():
    X, y = rare()
    model = EarthClassifier(penalty=4, nprune=2, engine="native").fit(X, y)
    assert model.dirs_[model.selected_terms_].any(axis=0).tolist() == [True, False, False]
    gaps = X.copy()
    gaps[0, 0] = gaps[1, 2] = np.nan
    for name in ("predict_proba", "predict_raw_proba", "predict_log_proba", "decision_function"):
        found = getattr(model, name)(gaps, missing="propagate")
        expected = getattr(model, name)(X)
        assert np.isnan(found[0]).all()
        np.testing.assert_array_equal(found[1:], expected[1:])
        with pytest.raises(InvalidInputError, match="contains NaN"):
            getattr(model, name)(gaps)
    np.testing.assert_array_equal(
        model.predict(gaps[1:], missing="propagate"), model.predict(X[1:])
    )
    with pytest.raises(InvalidInputError, match="a class cannot be missing"):
        model.predict(gaps, missing="propagate")
    several = EarthClassifier(nprune=2, engine="native").fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert np.isnan(several.predict_proba(gaps, missing="propagate")[0]).all()


def test_an_unknown_argument_is_refused_in_the_classs_name():
    with pytest.raises(TypeError, match=r"EarthClassifier\(\) got an unexpected keyword"):
        EarthClassifier(depth=2)
