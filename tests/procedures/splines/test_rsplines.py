"""R's splines through the bridge are R's splines in plain R."""

import numpy as np
import pytest

from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures import RBSpline, RNaturalSpline, RSmoothingSpline
from tests.support.rscript import needs_rscript, run_r

pytestmark = [
    needs_rscript,
    pytest.mark.filterwarnings("ignore:some 'x' values beyond"),
]

RNG = np.random.default_rng(7)
X = np.sort(RNG.uniform(0, 10, 80))
Y = np.sin(X) + 0.3 * RNG.normal(size=80)
NEW = np.array([-1.0, 0.5, 5.0, 9.7, 12.0])


@pytest.mark.parametrize(("cls", "kind"), [(RBSpline, "bs"), (RNaturalSpline, "ns")])
@pytest.mark.parametrize("n_basis", [4, 7, 15])
def test_regression_splines(cls, kind, n_basis):
    expected = run_r(
        f"""b <- {kind}(x, df = J, intercept = TRUE); f <- lm(y ~ b - 1)
p <- suppressWarnings(predict(b, new) %*% coef(f))
out <- list(basis = matrix(b, length(x)), fitted = fitted(f), coef = coef(f), p = c(p))""",
        packages=("splines",), x=X, y=Y, new=NEW, J=n_basis,
    )  # fmt: skip
    model = cls(n_basis).fit(X[:, None], Y)
    np.testing.assert_array_equal(model.basis_, expected["basis"])
    np.testing.assert_allclose(model.fitted_values_, expected["fitted"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.coef_, expected["coef"], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(model.predict(NEW[:, None]), expected["p"], rtol=1e-9, atol=1e-10)
    assert model.trace_ == model.n_coef_ == n_basis


@pytest.mark.parametrize(
    ("r", "arguments"),
    [
        ("lambda = 0.01", {"lam": 0.01}),
        ("lambda = 1e-5, all.knots = TRUE", {"lam": 1e-5, "n_knots": "all"}),
        ("df=7", {"df": 7}),
        ("nknots = 20", {"n_knots": 20}),
        ("", {}),
    ],
)
def test_smoothing_spline(r, arguments):
    call = f"smooth.spline(x, y, {r})" if r else "smooth.spline(x, y)"
    expected = run_r(
        f"f <- {call}; out <- list(fitted = predict(f, x)$y, df = f$df, lam = f$lambda, "
        "nk = f$fit$nk, p = predict(f, new)$y)",
        x=X, y=Y, new=NEW,
    )  # fmt: skip
    model = RSmoothingSpline(**arguments).fit(X[:, None], Y)
    np.testing.assert_array_equal(model.fitted_values_, expected["fitted"])
    np.testing.assert_array_equal(model.predict(NEW[:, None]), expected["p"])
    assert (model.trace_, model.lam_, model.n_coef_) == tuple(
        expected[k][0] for k in ("df", "lam", "nk")
    )


@pytest.mark.parametrize(
    "model", [RBSpline(6), RNaturalSpline(5), RSmoothingSpline(lam=0.01)], ids=repr
)
def test_fit_many_is_a_loop_of_fits(model):
    responses = RNG.normal(size=(80, 3))
    many = model.fit_many(X[:, None], responses)
    for j in range(3):
        one = model.fit(X[:, None], responses[:, j])
        np.testing.assert_allclose(many.fitted[:, j], one.fitted_values_, rtol=1e-12, atol=1e-13)
        assert many.trace[j] == one.trace_ and many.n_coef[j] == one.n_coef_


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RBSpline(3), "n_basis=3"),
        (RBSpline(81), "n_basis=81 .*from 4 to 80, the number of rows"),
        (RNaturalSpline(1), "n_basis=1"),
        (RSmoothingSpline(lam=-1), "lam=-1"),
        (RSmoothingSpline(lam=1, df=5), "lam=1 and df=5 but at most one"),
        (RSmoothingSpline(n_knots=-2), "n_knots=-2"),
    ],
)
def test_bad_arguments(model, message):
    with pytest.raises(InvalidInputError, match=message):
        model.fit(X[:, None], Y)
