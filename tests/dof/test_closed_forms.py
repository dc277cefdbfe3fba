"""Closed forms: a tree with one split, best subset on orthonormal columns, and noise that differs by rows."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, chi2

from pyearthdof import Earth, degrees_of_freedom, prediction_df, stump_df
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures import BestSubset, LeastSquares, RegressionTree, Ridge

RNG = np.random.default_rng(8)
STUMP = RegressionTree(depth=1)


@pytest.mark.parametrize(("n", "expected"), [(20, 4.54), (35, 4.97), (100, 5.65)])
def test_a_stump_of_one_predictor(n, expected):
    x = RNG.normal(size=(n, 1))
    exact = degrees_of_freedom(STUMP, x, method="exact", sigma=3.0, mu=2.0)
    assert exact.df == pytest.approx(expected, abs=0.006) and exact.se == 0 and exact.n_rep == 0
    assert exact.df == stump_df(n) and exact.trace == 2 and exact.msdf == exact.df - 2
    found = degrees_of_freedom(STUMP, x, n_rep=4000, random_state=0)
    assert abs(found.df - exact.df) < 3.5 * found.se


def test_two_and_three_rows_by_hand():
    """One split is one more parameter; two have a correlation of 1/2."""
    assert stump_df(2) == pytest.approx(2, abs=1e-6)
    z = RNG.normal(size=(2, 500_000))
    other = 0.5 * z[0] + np.sqrt(0.75) * z[1]
    assert stump_df(3) == pytest.approx(1 + np.maximum(z[0] ** 2, other**2).mean(), abs=0.012)


def test_ties_leave_fewer_splits():
    x = np.repeat([0.0, 1.0, 2.0, 5.0], [10, 4, 20, 6])[:, None]
    exact = degrees_of_freedom(STUMP, x, method="exact")
    found = degrees_of_freedom(STUMP, x, n_rep=4000, random_state=0)
    assert exact.df < stump_df(40) - 1 and abs(found.df - exact.df) < 3.5 * found.se
    two = degrees_of_freedom(STUMP, (x > 1) * 1.0, method="exact")
    assert two.df == pytest.approx(2, abs=1e-6)
    constant = degrees_of_freedom(STUMP, 0 * x, method="exact")
    assert (constant.df, constant.trace) == (1, 1)


def test_a_stump_of_several_predictors():
    """The maxima share the length of y, so that their independence holds for long y alone: 3 % here."""
    found = degrees_of_freedom(STUMP, (60, 5), n_rep=1000, random_state=0)
    assert found.df < stump_df(60, 5) < 1.04 * found.df + 3.5 * found.se
    assert stump_df(60, 5) > stump_df(60) + 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": RNG.normal(size=(20, 2))}, "is not linear and declares no df_statistic"),
        ({"X": (20, 1)}, "is not linear and declares no df_statistic"),
        ({"mu": np.arange(20.0)}, "mu='not constant' but it should be constant"),
        ({"sigma": np.arange(1.0, 21.0)}, "a number with method='exact'"),
    ],
)
def test_where_a_stump_has_no_formula(arguments, message):
    given = {"X": RNG.normal(size=(20, 1)), "method": "exact"} | arguments
    with pytest.raises(InvalidInputError, match=message):
        degrees_of_freedom(STUMP, **given)


def test_sizes_of_a_stump_are_checked():
    for given, message in (((1,), "n=1 but"), ((5000,), "at most 1,000"), ((20, 0), "p=0 but")):
        with pytest.raises(InvalidInputError, match=message):
            stump_df(*given)


@pytest.mark.parametrize(("k", "p"), [(2, 6), (1, 6), (4, 6)])
def test_best_subset_is_the_integral_over_the_largest(k, p):
    """The k largest of p chi-squares: the integral of E min(k, number above x)."""

    def expected(x):
        number = np.arange(p + 1)
        return np.minimum(k, number) @ binom.pmf(number, p, chi2.sf(x, 1))

    integral = quad(expected, 0, 60, limit=200)[0]
    Q = np.linalg.qr(RNG.normal(size=(20, p)))[0]
    assert degrees_of_freedom(BestSubset(size=k), Q, method="exact").df == pytest.approx(integral)
    if k == 2:
        assert integral == pytest.approx(4.513, abs=5e-4)


SD = np.exp(np.linspace(-1, 1.5, 40))
X = np.column_stack([SD, RNG.normal(size=(40, 2))])


def test_a_linear_smoother_has_both_df():
    """tr S, and the mean of S_ii with the variances as weights."""
    found = degrees_of_freedom(LeastSquares(), X, sigma=SD)
    leverage = np.diag(X @ np.linalg.pinv(X))
    assert found.df == pytest.approx(3)
    assert found.optimism_df == pytest.approx(leverage @ SD**2 / np.mean(SD**2))
    assert found.optimism_df_se == 0 and found.interval("optimism_df")[0] == found.optimism_df
    assert "optimism_df" in found.to_frame()["quantity"].tolist()
    same = degrees_of_freedom(LeastSquares(), X, sigma=2.0)
    assert same.optimism_df is None and "optimism_df" not in repr(same)


@pytest.mark.parametrize("reduction", [None, "control", "best"])
def test_both_df_by_monte_carlo(reduction):
    ridge = Ridge(lam=3.0)
    exact = degrees_of_freedom(ridge, X, sigma=SD)
    found = degrees_of_freedom(
        ridge, X, sigma=SD, method="monte-carlo", n_rep=2000, random_state=0,
        variance_reduction=reduction,
    )  # fmt: skip
    for name in ("df", "optimism_df"):
        error = abs(getattr(found, name) - getattr(exact, name))
        se = found.se if name == "df" else found.optimism_df_se
        assert error < 3.5 * se + 1e-9, name


def test_a_covariance_matrix():
    """The optimism of correlated noise is tr(S Sigma)/mean of its diagonal."""
    t = np.arange(40)
    C = 0.7 ** np.abs(t[:, None] - t) * np.outer(SD, SD)
    exact = degrees_of_freedom(LeastSquares(), X, sigma=C)
    S = X @ np.linalg.pinv(X)
    assert exact.df == pytest.approx(3)
    assert exact.optimism_df == pytest.approx(np.trace(S @ C) / np.mean(SD**2))
    found = degrees_of_freedom(
        LeastSquares(), X, sigma=C, method="monte-carlo", n_rep=2000, random_state=0
    )
    assert abs(found.optimism_df - exact.optimism_df) < 3.5 * found.optimism_df_se


def test_the_optimism_is_that_of_the_mean_squared_error():
    """What the df are for: 2 mean(sigma^2) df/n is the mean of the error at new responses less RSS/n."""
    tree = RegressionTree(depth=2)
    found = degrees_of_freedom(tree, X, sigma=SD, n_rep=4000, random_state=0)
    noise, new = SD[:, None] * np.random.default_rng(5).normal(size=(2, 40, 4000))
    fitted = tree.bind(X).fit_many(np.ascontiguousarray(noise)).fitted
    optimism = ((new - fitted) ** 2).mean(axis=0) - ((noise - fitted) ** 2).mean(axis=0)
    predicted = 2 * np.mean(SD**2) * found.optimism_df / 40
    error = np.hypot(optimism.std() / np.sqrt(4000), 2 * np.mean(SD**2) / 40 * found.optimism_df_se)
    assert abs(optimism.mean() - predicted) < 3.5 * error
    assert found.optimism_df > 1.3 * found.df


def test_predictive_df_of_mars():
    """df + n/2 (variance at new rows less that at the rows of X)/sigma^2, by plain loops."""
    earth, n, n_rep = Earth(engine="native"), 40, 300
    design, new = RNG.normal(size=(n, 3)), RNG.normal(size=(100, 3))
    Y = np.random.default_rng(4).normal(size=(n_rep, n))
    models = [Earth(engine="native").fit(design, y) for y in Y]
    rows, fresh = (np.array([model.predict(at) for model in models]) for at in (design, new))
    df = (Y * rows).sum(axis=1)
    excess = n / 2 * ((fresh**2).mean(axis=1) - (rows**2).mean(axis=1))
    by_hand = df + excess
    found = prediction_df(earth, design, new, n_rep=n_rep, random_state=0)
    error = np.hypot(by_hand.std() / np.sqrt(n_rep), found.predictive_se)
    assert abs(found.predictive - by_hand.mean()) < 3.5 * error + 0.2
    assert found.predictive > found.df
