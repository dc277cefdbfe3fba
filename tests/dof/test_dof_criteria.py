"""AIC, BIC and GCV are the paper's equations; earth's GCV is the one divided by n."""

import math

import numpy as np
import pytest

from pyearthdof.dof import aic, bic, gcv
from pyearthdof.exceptions import InvalidInputError
from tests.support.rscript import needs_rscript, run_r

Y = np.array([1.0, 2.0, 4.0, 3.0, 7.0])
FITTED = np.array([1.5, 2.0, 3.0, 3.5, 6.5])
RSS = 0.25 + 0 + 1 + 0.25 + 0.25


def test_the_equations():
    assert aic(Y, FITTED, 2.5) == pytest.approx(5 * math.log(RSS) + 5.0)
    assert bic(Y, FITTED, 2.5) == pytest.approx(5 * math.log(RSS) + 2.5 * math.log(5))
    assert gcv(Y, FITTED, 2.5) == pytest.approx(RSS / 0.25)
    assert gcv(Y, FITTED, 2.5, per_observation=True) == pytest.approx(RSS / 0.25 / 5)


def test_at_the_edges():
    assert gcv(Y, FITTED, 5.0) == math.inf
    assert gcv(Y, FITTED, 6.0) == math.inf
    assert aic(Y, Y, 5.0) == bic(Y, Y, 5.0) == -math.inf


@needs_rscript
def test_gcv_per_observation_is_what_earth_reports():
    r = run_r(
        """
        fit <- earth(O3 ~ ., data = ozone1, degree = 2)
        r <- length(fit$selected.terms)
        out <- list(y = ozone1$O3, fitted = fit$fitted.values[, 1], df = r + 3 * (r - 1)/2,
                    gcv = fit$gcv)
        """,
        packages=("earth",),
    )
    ours = gcv(r["y"], r["fitted"], r["df"][0], per_observation=True)
    assert ours == pytest.approx(r["gcv"][0], rel=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Y, FITTED[1:], 2.0), "fitted has shape"),
        ((Y, FITTED, math.nan), "df=nan but it should be a finite number"),
        (([], [], 2.0), "y is empty"),
        (([1.0, math.nan], [1.0, 2.0], 1.0), "y has missing"),
    ],
)
@pytest.mark.parametrize("criterion", [aic, bic, gcv])
def test_bad_input(criterion, arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        criterion(*arguments)
