"""The native engine against R's earth: same terms, same numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from pyearthdof import Earth, _core
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.data.design import Design, Responses
from pyearthdof.mars.data.training import TrainingData
from pyearthdof.mars.engines.native import engine as native
from tests.support.mars.earth_batch import Case, fit_in_r, is_tied, unexplained, value_of
from tests.support.rscript import needs_rscript, run_r


def many(X, Y, options, n_threads=1):
    fits = native.BoundNative(X, None, options).fit_many(Y, n_threads)
    return fits.fitted, fits.n_coef


def smooth(n, p, seed, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.sin(2 * X[:, 0]) + X[:, 0] * X[:, -1] + noise * rng.normal(size=n)


def rounded(n, p, seed):
    X, y = smooth(n, p, seed)
    return np.round(X * 2) / 2, y


def duplicated(n, p, seed):
    X, y = smooth(n, p, seed)
    X[:, -1] = X[:, 0]
    X[:, 1] = X[:, 1] > 0
    return X, y


def raw(n, p, seed):
    """Columns far from zero, in units of their own."""
    X, y = smooth(n, p, seed)
    return (X + 10 ** np.linspace(0, 4, p)) * 10 ** np.linspace(3, -2, p), y


def options_cases():
    yield "default", smooth(100, 10, 1), {}
    yield "degree 2", smooth(100, 10, 2), {"degree": 2}
    yield "degree 3", smooth(200, 5, 3), {"degree": 3, "nk": 41}
    yield "raw", raw(150, 5, 3), {"degree": 2, "nk": 41, "thresh": 0.0}
    yield "no thresh", smooth(100, 10, 4), {"nk": 21, "thresh": 0.0, "pmethod": "none"}
    yield "even nk", smooth(60, 3, 5), {"nk": 10, "thresh": 0.0}
    yield "nk 1", smooth(60, 3, 5), {"nk": 1}
    yield "nk 2", smooth(60, 3, 5), {"nk": 2}
    yield "one predictor", smooth(80, 1, 6), {}
    yield "minspan", smooth(100, 4, 7), {"minspan": 3, "degree": 2}
    yield "number of knots", smooth(100, 4, 8), {"minspan": -3, "degree": 2}
    yield "endspan", smooth(100, 4, 9), {"endspan": 4, "adjust_endspan": 0.0, "degree": 2}
    yield "all parents", smooth(100, 4, 10), {"fast_k": 0, "degree": 2, "thresh": 0.0}
    yield "few parents", smooth(100, 8, 11), {"fast_k": 5, "degree": 3, "thresh": 0.0, "nk": 40}
    yield "no ageing", smooth(100, 8, 12), {"fast_beta": 0.0, "degree": 3, "thresh": 0.0, "nk": 40}
    yield "penalty", smooth(100, 4, 13), {"penalty": 6.25, "degree": 2}
    yield "free terms", smooth(100, 4, 14), {"penalty": -1.0, "degree": 2}
    yield "nprune", smooth(100, 4, 15), {"nprune": 4}
    yield "nprune without pruning", smooth(100, 4, 16), {"nprune": 4, "pmethod": "none"}
    yield "forward", smooth(100, 4, 17), {"pmethod": "forward", "degree": 2}
    yield "seqrep", smooth(100, 4, 18), {"pmethod": "seqrep", "degree": 2}
    yield "exhaustive", smooth(100, 4, 19), {"pmethod": "exhaustive", "nk": 15}
    yield "exhaustive nprune", smooth(90, 4, 20), {"pmethod": "exhaustive", "nk": 15, "nprune": 5}
    yield "newvar", smooth(100, 6, 21), {"newvar_penalty": 0.2, "degree": 2}
    yield "linpreds", smooth(100, 6, 22), {"linpreds": (0,), "degree": 2}
    yield (
        "auto_linpreds",
        (lambda X, y: (X, X[:, 0] + 0.1 * y))(*smooth(90, 3, 23)),
        {"auto_linpreds": False},
    )
    yield "rounded", rounded(120, 5, 24), {"degree": 2, "thresh": 0.0, "nk": 31}
    yield "duplicates", duplicated(120, 5, 25), {"degree": 3, "thresh": 0.0, "nk": 31}
    yield "large", (lambda X, y: (X * 1e6, y))(*smooth(90, 4, 26)), {"degree": 2}
    yield "small", (lambda X, y: (X / 1e3, y))(*smooth(90, 4, 27)), {"degree": 2}
    yield "perfect fit", (lambda X, y: (X, np.abs(X[:, 0])))(*rounded(60, 1, 28)), {}
    yield "more columns than rows", smooth(15, 40, 29), {"degree": 2}


def degenerate_cases():
    X, y = smooth(12, 3, 30)
    for thresh in (0.0, 0.001):
        options = {"thresh": thresh, "degree": 2}
        yield f"constant y {thresh}", (X, np.full(12, 3.7)), options
        yield f"zero y {thresh}", (X, np.zeros(12)), options
        yield f"constant X {thresh}", (np.full((12, 3), 2.5), y), options
        yield f"constant column {thresh}", (np.column_stack([np.ones(12), X]), y), options
        yield f"equal columns {thresh}", (np.repeat(X[:, :1], 3, axis=1), y), options
        yield f"two rows {thresh}", (X[:2], y[:2]), options
        yield f"three rows {thresh}", (X[:3], y[:3]), options


CASES = {
    name: Case.make(*data, label=name, **options)
    for name, data, options in [*options_cases(), *degenerate_cases()]
}
rng = np.random.default_rng(31)
for name, weights in {
    "weights": rng.uniform(0.2, 3, 70),
    "zero weights": rng.integers(0, 3, 70),
    "equal weights": np.full(70, 2.0),
}.items():
    CASES[name] = Case.make(*smooth(70, 3, 32), weights=weights, label=name, degree=2, nk=15)


@pytest.fixture(scope="module")
def from_r():
    return dict(zip(CASES, fit_in_r(list(CASES.values())), strict=True))


@needs_rscript
@pytest.mark.parametrize("name", CASES)
def test_same_as_r(name, from_r):
    case = CASES[name]
    found = native.fit(case.X, case.y, case.options, case.weights)
    assert unexplained(case, found, from_r[name]) == ""


@pytest.mark.parametrize(
    ("name", "tied"),
    [
        ("constant y 0.0", True),
        ("two rows 0.0", True),
        ("three rows 0.0", True),
        ("default", False),
    ],
)
def test_a_tie_is_told_from_another_choice(name, tied):
    """In the first three an earth with fused operations takes another predictor, which explains the same."""
    case = CASES[name]
    found = native.fit(case.X, case.y, case.options)
    other = {part: np.roll(getattr(found.model, part), 1, axis=1) for part in ("dirs", "cuts")}
    middle = np.median(case.X, axis=0)
    other["cuts"] = np.where(np.abs(other["dirs"]) == 1, middle, other["cuts"])
    assert is_tied(case, found.model, other) == tied
    assert not is_tied(case, found.model, {"dirs": found.model.dirs, "cuts": found.model.cuts})


@needs_rscript
@pytest.mark.parametrize(("degree", "scale"), [(1, None), (2, None), (2, True)])
def test_several_responses(degree, scale):
    X, y = smooth(80, 4, 40)
    noise = np.random.default_rng(49).normal(size=(80, 2))
    Y = np.column_stack([y, X[:, 1] * X[:, 2] + noise[:, 0], np.abs(X[:, 3]) + noise[:, 1]])
    found = native.fit(X, Y, Case.make(X, y, degree=degree, scale_y=scale).options)
    wanted = run_r(
        f"f <- earth(x, y, degree = {degree}, Scale.y = {'TRUE' if scale else 'NULL'})\n"
        "out <- list(dirs = f$dirs, cuts = f$cuts, selected = f$selected.terms - 1,"
        " coef = f$coefficients, grsq = f$grsq, fitted = f$fitted.values)",
        packages=("earth",), x=X, y=Y,
    )  # fmt: skip
    for name in ("dirs", "cuts", "selected"):
        np.testing.assert_array_equal(value_of(found, name), wanted[name])
    for name in ("coef", "grsq", "fitted"):
        np.testing.assert_allclose(value_of(found, name), np.squeeze(wanted[name]), rtol=1e-8)


@needs_rscript
def test_allowed_gives_rs_terms():
    X, y = smooth(150, 5, 41)
    asked = []

    def allowed(degree, pred, parents, namesx, first):
        asked.append((tuple(parents), pred))
        assert first == (len(asked) == 1)
        assert degree == 1 + np.count_nonzero(parents)
        assert namesx[pred] == f"x{pred + 1}"
        return degree == 1 or (pred != 0 and parents[0] == 0)

    found = native.fit(X, y, Case.make(X, y, degree=3, allowed=allowed).options)
    wanted = run_r(
        "allowed <- function(degree, pred, parents) degree == 1 || (pred != 1 && parents[1] == 0)\n"
        "f <- earth(x, y, degree = 3, allowed = allowed)\n"
        "out <- list(dirs = f$dirs, cuts = f$cuts, gcv = f$gcv)",
        packages=("earth",), x=X, y=y,
    )  # fmt: skip
    np.testing.assert_array_equal(found.model.dirs, wanted["dirs"])
    np.testing.assert_array_equal(found.model.cuts, wanted["cuts"])
    assert found.model.gcv == pytest.approx(wanted["gcv"][0], rel=1e-8)


class Rule:
    def three(self, degree, pred, parents):
        return degree == 1 or (pred != 0 and parents[0] == 0)


RULES = {
    "three": lambda degree, pred, parents: degree == 1 or (pred != 0 and parents[0] == 0),
    "method": Rule().three,
    "four": lambda degree, pred, parents, namesx: (
        degree == 1 or (namesx[pred] != "x1" and parents[0] == 0)
    ),
    "default": lambda degree, pred, parents, odd=0, *, more=1: (
        degree == 1 or (pred != 0 and parents[0] == 0)
    ),
    "any": lambda *known: known[0] == 1 or (known[1] != 0 and known[2][0] == 0 and len(known) == 5),
}


@pytest.mark.parametrize("engine", ["native", pytest.param("r", marks=pytest.mark.needs_r)])
@pytest.mark.parametrize("rule", RULES)
def test_allowed_takes_as_many_arguments_as_in_r(rule, engine):
    X, y = smooth(150, 5, 41)

    def allowed(degree, pred, parents, namesx, first):
        return degree == 1 or (pred != 0 and parents[0] == 0)

    wanted = Earth(degree=3, allowed=allowed, engine=engine).fit(X, y)
    found = Earth(degree=3, allowed=RULES[rule], engine=engine).fit(X, y)
    assert found.terms_ == wanted.terms_ != Earth(degree=3, engine=engine).fit(X, y).terms_


@pytest.mark.parametrize(
    "rule",
    [
        lambda degree, pred: True,
        lambda a, b, c, d, e, f: True,
        lambda a, b, c, *, d: True,
        lambda: True,
    ],
)
def test_allowed_with_other_arguments_is_refused(rule):
    X, y = smooth(30, 2, 41)
    with pytest.raises(
        InvalidInputError, match="a function of degree, pred, parents and, if wanted,"
    ):
        Earth(allowed=rule, engine="native").fit(X, y)


@pytest.mark.parametrize("pmethod", ["none", "backward"])
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("kind", [smooth, rounded, duplicated])
def test_many_is_one_by_one(kind, degree, pmethod):
    X, _ = kind(60, 5, 42)
    Y = np.random.default_rng(43).normal(size=(60, 9))
    Y[:, 3] = 2.0
    options = Case.make(X, Y[:, 0], degree=degree, pmethod=pmethod, thresh=0.0, nk=31).options
    fits = [native.fit(X, y, options) for y in Y.T]
    for n_threads in (1, 2):
        fitted, n_terms = many(X, Y, options, n_threads)
        np.testing.assert_allclose(fitted, np.column_stack([f.fitted for f in fits]), atol=1e-9)
        np.testing.assert_array_equal(n_terms, [f.model.n_terms for f in fits])


@pytest.mark.parametrize("degree", [1, 2])
def test_path_is_the_fit_at_every_nk(degree):
    X, _ = rounded(50, 4, 44)
    Y = np.random.default_rng(45).normal(size=(50, 3))
    options = Case.make(X, Y[:, 0], degree=degree, pmethod="none", thresh=0.0).options
    nks = [1, 2, 3, 4, 9, 16, 30]
    paths = native.BoundNative(X, None, options).fit_path(Y, nks, n_threads=2)
    assert paths.fitted.shape == (len(nks), 50, 3)
    for i, nk in enumerate(nks):
        fitted, n_terms = many(X, Y, replace(options, nk=nk))
        np.testing.assert_allclose(paths.fitted[i], fitted, atol=1e-9)
        np.testing.assert_array_equal(paths.n_terms[i], n_terms)


@pytest.mark.parametrize("kind", [smooth, rounded, duplicated, raw])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_updating_takes_the_same_terms_as_earths_own_order(kind, degree):
    X, y = kind(80, 5, 46)
    options = Case.make(X, y, degree=degree, thresh=0.0, nk=41).options
    fast = native.forward_pass(X, y[:, None], options)
    exact = native.forward_pass(X, y[:, None], options, exact=True)
    np.testing.assert_array_equal(fast.dirs, exact.dirs)
    np.testing.assert_array_equal(fast.cuts, exact.cuts)


def test_parents_that_memory_has_no_room_for_are_computed_again(monkeypatch):
    X, _ = smooth(120, 6, 47)
    Y = np.random.default_rng(48).normal(size=(120, 3))
    options = Case.make(X, Y[:, 0], degree=3, pmethod="none", thresh=0.0, nk=41).options
    wanted, _ = many(X, Y, options)
    monkeypatch.setattr(_core, "Settings", partial(_core.Settings, most_knots=0, most_cases=0))
    found, _ = many(X, Y, options)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@needs_rscript
def test_degrees_of_freedom_of_algorithm_2():
    """One line of the reference table: n = 100, p = 10, nk = 21, degree 1, R's seed 1234."""
    data = run_r(
        "set.seed(1234); y <- matrix(rnorm(100 * 100), 100); x <- matrix(rnorm(1000), 100)\n"
        "out <- list(x = x, y = y)"
    )
    options = Case.make(
        data["x"], data["y"][:, 0], nk=21, thresh=0.0, penalty=2.0, pmethod="none"
    ).options
    fitted, n_terms = many(data["x"], data["y"], options)
    centred = data["y"] - data["y"].mean(axis=1, keepdims=True)
    assert (centred * fitted).sum() / 99 == pytest.approx(36.3063211221, rel=1e-9)
    assert (2 * n_terms - 1).mean() == pytest.approx(34.22, rel=1e-12)


def test_refusals():
    X, y = smooth(30, 2, 47)
    case = Case.make(X, y, newvar_penalty=0.1)
    with pytest.raises(InvalidInputError, match=r"newvar_penalty=0\.1"):
        native.fit(X, y, case.options, np.arange(1.0, 31.0))
    with pytest.raises(InvalidInputError, match="several responses"):
        native.fit(X, np.column_stack([y, -y]), Case.make(X, y, pmethod="seqrep").options)
    with pytest.raises(InvalidInputError, match=r"thresh=0\.001"):
        native.BoundNative(X, None, Case.make(X, y).options).fit_path(y[:, None], [5])


def test_models_know_their_engine():
    X, y = smooth(50, 2, 48)
    data = TrainingData(Design(X, ("a", "b")), Responses(y, ("y",)))
    found = native.fit_one(data, Case.make(X, y).options)
    model = found.model
    assert model.engine == "native"
    assert model.term_names[0] == "(Intercept)"
    np.testing.assert_allclose(model.predict(X), found.fitted, atol=1e-10)
    assert found.r_object is None


@needs_rscript
@pytest.mark.parametrize("asked", [None, True])
def test_leverages_of_many_rows_are_there_where_r_has_them(asked):
    X, y = smooth(100_000, 2, 48)
    found = native.fit(X, y, Case.make(X, y, get_leverages=asked).options).leverages
    given = "" if asked is None else ", Get.leverages = TRUE"
    wanted = run_r(
        f"m <- earth(x, y{given}); out <- list(none = is.null(m$leverages), h = head(m$leverages, 50))",
        packages=("earth",), x=X, y=y,
    )  # fmt: skip
    assert (found is None) == bool(wanted["none"])
    if asked:
        np.testing.assert_allclose(found[:50], wanted["h"], rtol=1e-9)


def test_a_fit_does_not_depend_on_n_jobs():
    X, y = smooth(300, 5, 49)
    models = [
        Earth(engine="native", degree=2, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 1, 3, -1)
    ]
    for model in models[1:]:
        assert np.array_equal(model.term_coef_, models[0].term_coef_)
        assert np.array_equal(model.leverages_, models[0].leverages_)


def test_numbers_beyond_the_cores_integers_count_as_large_ones():
    X, y = smooth(60, 3, 50)
    for given, same in (
        ({"minspan": -(10**10)}, {"minspan": -60}),
        ({"fast_k": 10**20}, {"fast_k": 0}),
        ({"nprune": 10**20}, {}),
    ):
        found, wanted = (
            many(X, y[:, None], Case.make(X, y, **options).options)[0] for options in (given, same)
        )
        assert np.array_equal(found, wanted)
