"""Case weights: random problems by both engines take the same terms and give the same numbers."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from pyearthdof import Earth
from pyearthdof._core import eliminate_backward, regress
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.engines.native import engine as native
from pyearthdof.mars.options import EarthOptions
from tests.mars.engines.native.test_native_sweep import TRICKS, ordinary_design, random_spans
from tests.support.mars.earth_batch import Case, fit_in_r, unexplained
from tests.support.rscript import needs_rscript, run_r

FEW, MANY = 100, 3000


def uniform_weights(rng, n):
    return rng.uniform(0.5, 2, n)


def whole_weights(rng, n):
    return rng.integers(1, 6, n).astype(float)


def tiny_weights(rng, n):
    """Some are next to nothing, also below earth's floor."""
    return np.where(rng.random(n) < 0.2, 10 ** rng.uniform(-12, -4, n), rng.uniform(0.5, 2, n))


def zero_weights(rng, n):
    return rng.integers(0, 3, n).astype(float)


def wide_weights(rng, n):
    return 10 ** rng.uniform(-3, 3, n)


WEIGHTS = (uniform_weights, whole_weights, tiny_weights, zero_weights, wide_weights)


def random_options(rng) -> dict:
    options = {
        "degree": int(rng.integers(1, 4)),
        "nk": int(rng.integers(3, 32)),
        "thresh": float(rng.choice([0.0, 0.001])),
        "pmethod": str(rng.choice(["backward", "none"])),
    }
    if rng.random() < 0.3:
        options["penalty"] = float(rng.choice([-1, 0, 1, 4]))
    if rng.random() < 0.3:
        options |= random_spans(rng) | {"auto_linpreds": bool(rng.random() < 0.7)}
    return options


def random_response(rng, X):
    unit = X / max(1e-12, np.abs(X).mean())
    y = np.sin(2 * unit[:, 0]) + unit[:, -1] * unit[:, 0]
    y = y + rng.choice([0.0, 0.1, 0.5, 1.0]) * rng.normal(size=len(X))
    if rng.random() < 0.1:
        y = np.round(y)
    # R cannot scale a constant response with weights and stops
    return rng.normal(size=len(X)) if rng.random() < 0.3 or np.ptp(y) == 0 else y


def random_case(rng, largest_n) -> Case:
    n, p = int(np.exp(rng.uniform(np.log(20), np.log(largest_n)))), int(rng.integers(1, 9))
    X = ordinary_design(rng, n, p)
    label = "ordinary"
    if rng.random() < 0.75:
        trick = TRICKS[rng.integers(len(TRICKS))]
        X, label = trick(rng, X), trick.__name__
    weights = WEIGHTS[rng.integers(len(WEIGHTS))]
    y, options = random_response(rng, X), random_options(rng)
    if rng.random() < 0.2:
        more = [random_response(rng, X) for _ in range(rng.integers(0, 3))]
        y = np.column_stack([y, *more])
        options["scale_y"] = [None, True, False][rng.integers(3)]
    return Case.make(X, y, weights(rng, n), f"{label}, {weights.__name__}", **options)


def differences(seed, count, largest_n) -> tuple[Counter, list[str]]:
    rng = np.random.default_rng(seed)
    cases = [random_case(rng, largest_n) for _ in range(count)]
    totals, found = Counter(), []
    for i, (case, wanted) in enumerate(zip(cases, fit_in_r(cases), strict=True)):
        if wanted is None:  # terms that are nearly dependent
            totals["refused by R"] += 1
            continue
        totals.update(case.label.split(", "))
        totals["several responses"] += case.y.ndim > 1
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            ours = native.fit(case.X, case.y, case.options, case.weights)
        what = unexplained(case, ours, wanted)
        if what:
            found.append(f"{i} {case.label} {case.X.shape} {case.y.shape} {what} {case.options}")
    return totals, found


@needs_rscript
def test_weighted_fits_are_identical():
    totals, found = differences(20210321, FEW, largest_n=80)
    assert found == []
    assert totals["refused by R"] <= FEW // 50


@needs_rscript
@pytest.mark.slow
def test_many_weighted_fits_are_identical():
    totals, found = differences(20210322, MANY, largest_n=300)
    print(dict(totals), *found, sep="\n")
    assert found == []
    assert totals["refused by R"] <= MANY // 200


def both_searches(X, y, weights, **options):
    """The forward pass by updating and by regressions alone."""
    full = EarthOptions(n_features=X.shape[1], **options)
    used = native.effective_weights(weights, len(X), full)
    Y = y.reshape(len(X), -1)
    return (native.forward_pass(X, Y, full, used, exact=exact) for exact in (False, True))


def assert_same_steps(updating, exact):
    assert np.array_equal(updating.dirs, exact.dirs)
    assert np.array_equal(updating.cuts, exact.cuts)
    assert updating.termcond == exact.termcond
    assert_allclose(updating.rss_after, exact.rss_after, rtol=0, atol=1e-9 * exact.rss_null)


def test_updating_takes_the_steps_of_regressions():
    rng = np.random.default_rng(20210323)
    n_steps = n_ties = 0
    for _ in range(FEW):
        case = random_case(rng, 120)
        weights = native.effective_weights(case.weights, len(case.X), case.options)
        if weights is None or (weights < native.ALMOST_ZERO).any():
            continue
        Y = case.y.reshape(len(case.X), -1)
        passes = [
            native.forward_pass(case.X, Y, case.options, weights, exact=exact)
            for exact in (False, True)
        ]
        assert_same_steps(*passes)
        n_steps += len(passes[0].rss_after)
        n_ties += passes[0].n_ties
    assert 0 < n_ties < n_steps / 2  # most steps were found by updating


@pytest.mark.parametrize("seed", [1235, 2873])
def test_dependent_lines_that_r_regresses_on(seed):
    """R's norm of a column far from zero loses so many digits that what rounding leaves of it is used."""
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(40, 2)), rng.uniform(0.5, 2, 40)
    X -= np.average(X, axis=0, weights=weights)
    X += 999.5 * np.sqrt(np.average(X**2, axis=0, weights=weights))
    y = (
        5 * np.maximum(0, X[:, 1] - np.sort(X[:, 1])[-6])
        + np.sin(3 * X[:, 0])
        + rng.normal(size=40)
    )
    assert_same_steps(*both_searches(X, y, weights, nk=21, thresh=0.0, minspan=1))


@pytest.mark.parametrize("seed", [190, 230, 761, 772, 1215, 1485])
def test_order_of_parents_that_gain_nothing(seed):
    """Rounding ranks them, and with a small fast_k that decides which are looked at later."""
    rng = np.random.default_rng(seed)
    X = np.exp(rng.normal(size=(25, 2)))
    X[:, 0] = np.round(3 * X[:, 0])
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 0] + 0.1 * rng.normal(size=25)
    options = {"nk": 25, "thresh": 0.0, "minspan": -2, "endspan": 2, "degree": 3, "fast_k": 5}
    assert_same_steps(*both_searches(X, y, 10 ** rng.uniform(-12, 0, 25), **options))


MANY_OPTIONS = (
    {"degree": 1},
    {"degree": 2, "nk": 25, "penalty": 0.0},
    {"pmethod": "none", "thresh": 0.0, "scale_y": False},
    {"degree": 2, "nprune": 4, "fast_k": 3},
)


class TestManyResponses:
    """Fits of many responses in the compiled loops are those of one response at a time."""

    n, m = 80, 9

    def data(self, weigh):
        rng = np.random.default_rng(31)
        X = rng.normal(size=(self.n, 4))
        X[:, 3] = np.round(X[:, 3])
        signal = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 3]
        Y = signal[:, None] * rng.uniform(0, 2, self.m) + rng.normal(size=(self.n, self.m))
        return X, Y, weigh(rng, self.n)

    @pytest.mark.parametrize("weigh", WEIGHTS)
    @pytest.mark.parametrize("options", MANY_OPTIONS)
    def test_fits(self, weigh, options):
        X, Y, weights = self.data(weigh)
        earth = Earth(engine="native", **options)
        many = earth.fit_many(X, Y, sample_weight=weights)
        for j, y in enumerate(Y.T):
            one = earth.fit(X, y, weights)
            assert many.n_coef[j] == one.n_terms_
            assert_allclose(many.fitted[:, j], one.fitted_values_, rtol=0, atol=1e-9)
        threads = earth.fit_many(X, Y, n_jobs=2, sample_weight=weights)
        assert np.array_equal(threads.fitted, many.fitted)

    def test_forced_weights_are_ones(self):
        X, Y, _ = self.data(uniform_weights)
        forced = Earth(engine="native", force_weights=True).fit_many(X, Y)
        ones = Earth(engine="native", force_weights=True).fit(X, Y[:, 0])
        assert_allclose(forced.fitted[:, 0], ones.fitted_values_, rtol=0, atol=1e-9)

    @pytest.mark.parametrize("weigh", WEIGHTS)
    def test_path(self, weigh):
        X, Y, weights = self.data(weigh)
        earth = Earth(engine="native", thresh=0, pmethod="none", degree=2)
        path = earth.fit_path(X, Y, [5, 9, 15], sample_weight=weights)
        for k, nk in enumerate([5, 9, 15]):
            one = clone(earth).set_params(nk=nk).fit(X, Y[:, 2], weights)
            assert path.n_terms[k, 2] == one.n_terms_
            assert_allclose(path.fitted[k, :, 2], one.fitted_values_, rtol=0, atol=1e-9)

    @pytest.mark.parametrize("weigh", WEIGHTS)
    def test_sizes(self, weigh):
        X, Y, weights = self.data(weigh)
        bound = Earth(engine="native", degree=2, nk=15).bind(X)
        Z = np.random.default_rng(3).normal(size=Y.shape)
        found = bound.fit_sizes(Y, Z, weights)
        used = native.effective_weights(weights, self.n, bound.options)
        root = np.sqrt(used)
        for j, y in enumerate(Y.T):
            sequence = bound.sequence(y, weights)
            size = len(sequence)
            assert found.n_terms[j] == size
            assert_allclose(found.rss[j, :size], sequence.found.rss, rtol=1e-9)
            for k in (1, 2, size):
                columns = sequence.columns[sequence.found.best[k - 1, :k]]
                fit = columns.T @ np.linalg.lstsq(columns.T, root * y, rcond=None)[0]
                assert_allclose(found.products[j, k - 1], fit @ Z[:, j], rtol=1e-7, atol=1e-9)

    @pytest.mark.needs_r
    def test_r_fits_them_without_weights(self):
        X, Y, weights = self.data(uniform_weights)
        with pytest.raises(InvalidInputError, match="engine='native'"):
            Earth(engine="r").fit_many(X, Y, sample_weight=weights)


def problem(seed, n, m, n_resp):
    """Columns and responses with weights from 1e-8 to 1, where the order of operations shows."""
    rng = np.random.default_rng(seed)
    root = 10 ** rng.uniform(-4, 0, n)
    columns = np.vstack([np.ones(n), rng.normal(size=(m - 1, n))]) * root
    return columns, rng.normal(size=(n_resp, n)) * root


@needs_rscript
def test_coefficients_are_those_of_r_to_the_last_bit():
    columns, y = problem(5, n=60, m=12, n_resp=3)
    found = regress(columns, y, tolerance=1e-8, leverages=True)
    wanted = run_r(
        "f <- lm.fit(x, y, tol = 1e-8); q <- qr.qy(f$qr, diag(1, nrow(x), ncol(x)))\n"
        "out <- list(coef = unname(f$coefficients), e = f$residuals, hat = rowSums(q^2))",
        x=columns.T,
        y=y.T,
    )
    assert found["is_independent"]
    assert np.array_equal(found["coef"], wanted["coef"])
    assert np.array_equal(found["residuals"].T, wanted["e"])
    assert found["rss"] == np.add.accumulate((wanted["e"].T ** 2).ravel())[-1]
    np.testing.assert_allclose(found["leverages"], wanted["hat"], rtol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_backward_elimination_drops_the_least_useful_column(weighted):
    columns, y = problem(6, n=40, m=6, n_resp=2)
    if not weighted:
        columns, y = columns / columns[0], y / columns[0]
    found = eliminate_backward(columns, y)
    rss, best = found["rss"], found["best"]
    assert found["is_independent"]
    for size in range(6, 0, -1):
        kept = best[size - 1, :size]
        _, left, _, _ = np.linalg.lstsq(columns[kept].T, y.T, rcond=None)
        assert rss[size - 1] == pytest.approx(left.sum(), rel=1e-8)
        if size > 1:
            rivals = [np.delete(kept, t) for t in range(1, size)]
            sums = [np.linalg.lstsq(columns[r].T, y.T, rcond=None)[1].sum() for r in rivals]
            assert list(best[size - 2, : size - 1]) == list(rivals[int(np.argmin(sums))])


def test_dependent_columns_are_reported():
    columns, y = problem(7, n=30, m=4, n_resp=1)
    columns = np.vstack([columns, columns[1] + columns[2]])
    assert not regress(columns, y)["is_independent"]
    assert not eliminate_backward(columns, y)["is_independent"]


def both_passes(X, y, weights, **options):
    """The forward pass with near-ties decided as in R, and decided quickly."""
    earth = Earth(engine="native", penalty=-1, **options)
    checked = earth._options_for(earth._check_data(X, y).design)
    return [
        native.forward_pass(X, y[:, None], checked, weights, as_earth=as_earth)
        for as_earth in (True, False)
    ]


def test_without_near_ties_the_quick_pass_takes_the_same_terms():
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(200, 4)), rng.uniform(0.2, 4, 200)
    y = X[:, 0] * X[:, 2] + X[:, 1] ** 2 + rng.normal(size=200)
    slow, quick = both_passes(X, y, weights, degree=2, nk=21)
    assert slow.n_ties == 0
    assert np.array_equal(slow.dirs, quick.dirs) and np.array_equal(slow.cuts, quick.cuts)


def test_the_quick_pass_decides_near_ties_without_regressions():
    """Products of truth values can be reached in several ways, which fit equally well."""
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(200, 4)), rng.uniform(0.2, 4, 200)
    X[:, 2:] = X[:, 2:] > 0
    y = X[:, 0] * X[:, 2] + X[:, 1] ** 2 + rng.normal(size=200)
    slow, quick = both_passes(X, y, weights, degree=3, nk=31)
    assert slow.n_ties > 0 and quick.n_ties == 0
    assert quick.rss_after[-1] == pytest.approx(slow.rss_after[-1], rel=0.02)


@pytest.mark.parametrize("weigh", [uniform_weights, whole_weights, wide_weights])
@pytest.mark.parametrize("seed", range(8))
def test_the_quick_pass_fits_as_well(weigh, seed):
    """Steps, copies, sums of columns and constants: what the columns leave of y is about what R's leave."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 6))
    X[:, 1] = np.round(X[:, 1])
    X[:, 2] = X[:, 0] if seed % 2 else X[:, 0] + X[:, 1]
    X[:, 3] = X[:, 3] > 0
    X[:, 4] = 1.0 if seed % 3 == 0 else 1e6 + 1e-3 * X[:, 4]
    weights = weigh(rng, 80)
    y = X[:, 0] * X[:, 3] + X[:, 1] ** 2 + rng.normal(size=80)
    slow, quick = both_passes(X, y, weights, degree=int(rng.integers(1, 4)), nk=25)
    rss = []
    for found in (slow, quick):
        q, _ = np.linalg.qr(found.bx)
        left = np.sqrt(weights) * y
        left = left - q @ (q.T @ left)
        rss.append(left @ left)
    assert rss[1] <= 1.1 * rss[0]
    assert quick.bx.shape[1] >= slow.bx.shape[1] - 3
