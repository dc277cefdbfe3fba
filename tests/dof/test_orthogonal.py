"""Exact degrees of freedom on orthogonal columns."""

import numpy as np
import pytest
from scipy.stats import norm

from pyearthdof import degrees_of_freedom
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures import BestSubset, RelaxedLasso

RNG = np.random.default_rng(0)
Q = np.linalg.qr(RNG.normal(size=(30, 6)))[0]
X = Q * np.arange(1, 7)
MU = X @ np.linspace(-0.5, 0.5, 6)


@pytest.mark.parametrize(
    "fit",
    [BestSubset(size=1), BestSubset(size=3), BestSubset(lam=4.0), RelaxedLasso(lam=6.0)],
    ids=str,
)
def test_the_formula_is_what_the_fits_do(fit):
    exact = degrees_of_freedom(fit, X, mu=MU, sigma=1.5, method="exact")
    found = degrees_of_freedom(fit, X, mu=MU, sigma=1.5, n_rep=3000, random_state=1)
    assert exact.se == 0.0 and exact.n_rep == 0
    for name in ("df", "n_coef", "sdf", "msdf"):
        se = found.se if name == "df" else getattr(found, f"{name}_se")
        assert abs(getattr(exact, name) - getattr(found, name)) <= 3 * se + 1e-12


def test_tibshirani_at_mean_zero():
    """p P(|z| > t) + 2 p t phi(t), his example."""
    t = 1.3
    found = degrees_of_freedom(BestSubset(lam=t**2), Q, method="exact")
    assert found.n_coef == pytest.approx(12 * norm.sf(t))
    assert found.sdf == pytest.approx(12 * t * norm.pdf(t))


def test_sizes_from_none_to_all():
    """None and all columns choose nothing; one of two is the larger: E max z^2 = 1 + 2/pi."""
    assert degrees_of_freedom(BestSubset(size=0), Q, method="exact").df == 0.0
    assert degrees_of_freedom(BestSubset(size=6), Q, method="exact").df == pytest.approx(6)
    one = degrees_of_freedom(BestSubset(size=1), Q[:, :2], method="exact")
    assert one.df == pytest.approx(1 + 2 / np.pi, rel=1e-8)


def test_an_intercept_adds_one():
    centred = np.linalg.qr(RNG.normal(size=(30, 4)) - 0.0)[0]
    centred = np.linalg.qr(centred - centred.mean(axis=0))[0]
    fit = RelaxedLasso(lam=2.0, fit_intercept=True)
    exact = degrees_of_freedom(fit, centred, method="exact")
    found = degrees_of_freedom(fit, centred, n_rep=2000, random_state=3)
    assert abs(exact.df - found.df) < 3 * found.se


def test_other_designs_have_no_formula():
    with pytest.raises(InvalidInputError, match="is not linear and declares no df_statistic"):
        degrees_of_freedom(BestSubset(size=2), RNG.normal(size=(30, 4)), method="exact")
    with pytest.raises(InvalidInputError, match="a number with method='exact'"):
        degrees_of_freedom(BestSubset(size=2), Q, sigma=np.linspace(1, 2, 30), method="exact")
    with pytest.raises(InvalidInputError, match="number of columns"):
        degrees_of_freedom(BestSubset(size=9), Q, method="exact")
