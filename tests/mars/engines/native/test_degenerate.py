"""Degenerate data end with the native engine as they do with R: the same model and the same warnings."""

import warnings

import numpy as np
import pytest

from pyearthdof import Earth

pytestmark = pytest.mark.needs_r

RNG = np.random.default_rng(11)
X = RNG.normal(size=(30, 3))
Y = np.abs(X[:, 0]) + 0.1 * RNG.normal(size=30)
DATA = {
    "constant y": (X, np.full(30, 3.0)),
    "zero y": (X, np.zeros(30)),
    "constant column": (np.column_stack([X, np.ones(30)]), Y),
    "only constant columns": (np.ones((30, 2)), Y),
    "all columns equal": (np.repeat(X[:, :1], 4, axis=1), Y),
    "two rows": (X[:2], Y[:2]),
    "three rows": (X[:3], Y[:3]),
    "more columns than rows": (RNG.normal(size=(12, 40)), RNG.normal(size=12)),
    "binary": ((X > 0).astype(float), Y),
    "integers with ties": (np.round(X), np.round(Y, 1)),
    "huge": (X * 1e6, Y * 1e6),
    "tiny": (X * 1e-3, Y * 1e-6),
    "exact linear": (X, X @ [1.0, 2.0, 3.0]),
}


def fit(data, engine, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = Earth(engine=engine, **options).fit(*data)
    return model, [str(w.message) for w in caught]


@pytest.mark.parametrize("options", [{}, {"degree": 2}, {"thresh": 0, "pmethod": "none"}], ids=str)
@pytest.mark.parametrize("name", DATA)
def test_same_as_r(name, options):
    r, r_warnings = fit(DATA[name], "r", **options)
    native, native_warnings = fit(DATA[name], "native", **options)
    np.testing.assert_array_equal(native.dirs_, r.dirs_)
    np.testing.assert_array_equal(native.cuts_, r.cuts_)
    np.testing.assert_array_equal(native.selected_terms_, r.selected_terms_)
    scale = np.abs(DATA[name][1]).max() or 1.0
    np.testing.assert_allclose(native.fitted_values_, r.fitted_values_, atol=1e-8 * scale)
    assert native.termcond_ == r.termcond_
    assert native_warnings == r_warnings


def underflowing(n_responses=1):
    """Leading rows whose squares are 0 for a double."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    y = 2 * x + rng.normal(size=60)
    x[:2] = [1e-200, -1e-200]
    return x[:, None], y if n_responses == 1 else np.column_stack([y, rng.normal(size=60)])


@pytest.mark.parametrize("kind", ["plain", "linear", "weights", "glm", "several", "exhaustive"])
def test_squares_that_underflow(kind):
    x, y = underflowing(2 if kind == "several" else 1)
    options = {
        "plain": {}, "exhaustive": {"linpreds": [0], "pmethod": "exhaustive"},
        "glm": {"linpreds": [0], "glm_family": "gaussian"},
    }.get(kind, {"linpreds": [0]})  # fmt: skip
    weights = np.linspace(0.5, 2, 60) if kind == "weights" else None
    r, native = (Earth(engine=e, **options).fit(x, y, weights) for e in ("r", "native"))
    assert native.terms_ == r.terms_ and len(r.terms_) > 1
    np.testing.assert_allclose(native.gcv_, r.gcv_, rtol=1e-10)
    np.testing.assert_allclose(native.term_coef_, r.term_coef_, rtol=1e-9)


@pytest.mark.parametrize("size", [2e-160, 3e-161, 5e-162, 1e-156, 1e-154])
@pytest.mark.parametrize("weighted", [False, True])
def test_squares_with_few_digits_left(size, weighted):
    x, y = underflowing()
    x[:3, 0] = [size, -size, 1e-200]
    weights = np.linspace(0.5, 2, 60) if weighted else None
    r, native = (Earth(engine=e, linpreds=[0]).fit(x, y, weights) for e in ("r", "native"))
    assert native.terms_ == r.terms_ and len(r.terms_) > 1
    np.testing.assert_allclose([native.gcv_, native.rss_], [r.gcv_, r.rss_], rtol=1e-10)
