"""Mars is R's mda::mars, to the bit."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pyearthdof import Mars
from pyearthdof.exceptions import InvalidInputError
from tests.support.rscript import needs_rscript, run_r

RNG = np.random.default_rng(6)
DATA = {"noise": (RNG.normal(size=(100, 5)), RNG.normal(size=100))}
_x = RNG.normal(size=(150, 4))
DATA["signal"] = (_x, np.maximum(0, _x[:, 0]) * _x[:, 1] + _x[:, 2] + 0.1 * RNG.normal(size=150))
DATA["one"] = (_x[:, :1], np.sin(2 * _x[:, 0]))

CASES = [
    ("noise", "", {}),
    ("noise", "degree=2", {"degree": 2}),
    ("noise", "nk=10", {"nk": 10}),
    ("noise", "thresh=0, prune=FALSE", {"thresh": 0, "prune": False}),
    ("noise", "degree=2, nk=31, thresh=0, prune=FALSE, penalty=3",
     {"degree": 2, "nk": 31, "thresh": 0, "prune": False, "penalty": 3}),
    ("noise", "penalty=0", {"penalty": 0}),
    ("noise", "penalty=6", {"penalty": 6}),
    ("signal", "", {}),
    ("signal", "degree=2", {"degree": 2}),
    ("signal", "degree=3", {"degree": 3}),
    ("signal", "degree=2, penalty=1", {"degree": 2, "penalty": 1}),
    ("signal", "degree=2, nk=7", {"degree": 2, "nk": 7}),
    ("signal", "degree=2, thresh=0.05", {"degree": 2, "thresh": 0.05}),
    ("signal", "prune=FALSE", {"prune": False}),
    ("one", "", {}),
    ("one", "nk=9, prune=FALSE", {"nk": 9, "prune": False}),
]  # fmt: skip

R_CODE = """
out <- list()
for (i in seq_along(calls)) tryCatch({
  x <- get(paste0("x_", data[i])); y <- get(paste0("y_", data[i])); new <- x * 1.1 + 0.05
  colnames(x) <- if (ncol(x) == 1) "x" else paste0("x", seq_len(ncol(x)))
  fit <- eval(parse(text = calls[i]))
  e <- suppressWarnings(mars.to.earth(fit, trace = FALSE))
  found <- list(
    dirs = e$dirs, cuts = e$cuts, selected = e$selected.terms, coef = c(fit$coefficients),
    gcv = e$gcv, mdagcv = fit$gcv, fitted = c(fit$fitted.values), rss = e$rss, bx = fit$x,
    predicted = c(predict(fit, new)), terms = rownames(e$dirs), penalty = fit$penalty, nk = fit$nk)
  for (name in names(found)) out[[paste(i, name, sep = "|")]] <- found[[name]]
}, error = refused)
"""


@pytest.fixture(scope="module")
def expected():
    arrays = {f"x_{k}": x for k, (x, _) in DATA.items()} | {
        f"y_{k}": y for k, (_, y) in DATA.items()
    }
    calls = [f"mars(x, y, {args})" if args else "mars(x, y)" for _, args, _ in CASES]
    found = run_r(
        R_CODE, packages=("earth", "mda"), calls=calls, data=[c[0] for c in CASES], **arrays
    )
    results = [{} for _ in CASES]
    for key, value in found.items():
        number, name = key.split("|")
        results[int(number) - 1][name] = value
    return results


@needs_rscript
@pytest.mark.filterwarnings("ignore:the original mars GCV")
@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda i: f"{CASES[i][0]} {CASES[i][1]}")
def test_same_as_plain_r(number, expected):
    name, _, arguments = CASES[number]
    X, y = DATA[name]
    r = expected[number]
    model = Mars(**arguments).fit(X, y)
    for fitted in (model, model.to_earth()):
        np.testing.assert_array_equal(fitted.dirs_, r["dirs"])
        np.testing.assert_array_equal(fitted.cuts_, r["cuts"])
        np.testing.assert_array_equal(fitted.selected_terms_ + 1, r["selected"])
        np.testing.assert_array_equal(fitted.term_coef_, r["coef"])
        np.testing.assert_array_equal(fitted.fitted_values_, r["fitted"])
        np.testing.assert_array_equal(fitted.bx_, r["bx"])
        assert fitted.model_.term_names == tuple(r["terms"])
        assert (fitted.gcv_, fitted.rss_) == (r["gcv"][0], r["rss"][0])
        assert (fitted.penalty_, fitted.nk_) == (r["penalty"][0], r["nk"][0])
        assert fitted.nominal_df_ == fitted.n_terms_ + r["penalty"][0] * (fitted.n_terms_ - 1) / 2
        scale = np.abs(r["predicted"]).max()
        predicted = fitted.predict(X * 1.1 + 0.05)
        np.testing.assert_allclose(predicted, r["predicted"], rtol=1e-12, atol=1e-12 * scale)
    assert model.mda_gcv_ == r["mdagcv"][0]


@pytest.mark.needs_r("mda")
@pytest.mark.filterwarnings("ignore:the original mars GCV")
def test_fit_many_is_a_loop_of_fits():
    X, y = DATA["noise"]
    Y = np.column_stack([y, y[::-1], y**2])
    many = Mars(degree=2, thresh=0).fit_many(X, Y)
    for j in range(3):
        one = Mars(degree=2, thresh=0).fit(X, Y[:, j])
        np.testing.assert_array_equal(many.fitted[:, j], one.fitted_values_)
        assert many.n_coef[j] == one.n_terms_


@pytest.mark.needs_r("mda")
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
@parametrize_with_checks([Mars()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("name", "value"), [("degree", 0), ("nk", 0), ("penalty", -1), ("thresh", 1), ("prune", "no")]
)
def test_bad_argument(name, value):
    with pytest.raises(InvalidInputError, match=name):
        Mars(**{name: value}).fit(*DATA["noise"])


@pytest.mark.needs_r("mda")
def test_importance_is_refused_in_a_sentence_and_left_out_of_the_summary(tmp_path):
    x = np.random.default_rng(0).normal(size=(60, 2))
    model = Mars().fit(x, np.abs(x[:, 0]))
    with pytest.raises(InvalidInputError, match="no record of its pruning pass"):
        model.importance()
    assert "\nImportance: unknown (mda keeps no record" in model.summary()
    model.save(tmp_path / "model.json")
    assert Mars.load(tmp_path / "model.json").summary() == model.summary()
