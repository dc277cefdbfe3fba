"""Cubic and smoothing splines beside R's `bs` and `smooth.spline`: expression and call in one case."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.stats import iqr
from sklearn.utils.estimator_checks import check_estimator

from pyearthdof.contract import Procedure
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.procedures.splines.bspline import basis_rows, clamped, penalty_rows
from pyearthdof.procedures.splines.smoothing import (
    CubicSpline,
    SmoothingSpline,
    default_n_knots,
)
from tests.support.first_column import A_VECTOR_IS_FINE, FirstColumn, refuses_bad_columns
from tests.support.rscript import needs_rscript, run_r

GRID = np.arange(1.0, 101.0)


def draw(kind, seed=0):
    """x, y, weights of one kind of data."""
    rng = np.random.default_rng(seed)
    x = {
        "grid": GRID,
        "short": rng.uniform(-3, 8, 30),
        "skewed": np.exp(rng.normal(size=400)),
        "tied": np.round(rng.uniform(0, 7, 300), 1),
        "nearly tied": np.repeat(rng.normal(size=60), 3) + 1e-8 * rng.normal(size=180),
        "uneven": rng.gamma(3, size=120),
        "large": rng.normal(size=5000),
    }[kind]
    weights = rng.uniform(0, 3, len(x))
    weights[:: max(2, len(x) // 10)] = 0
    return x, np.sin(x) + rng.normal(size=len(x)), weights


# ------------------------------------------------------------------------------------- cubic spline


@needs_rscript
@pytest.mark.parametrize("kind", ["grid", "short", "skewed", "tied"])
def test_cubic_spline_is_lm_on_bs(kind):
    x, y, _ = draw(kind)
    width = np.ptp(x)
    beyond = np.array([-1, -0.1, 1.1, 2])
    new = np.concatenate([x[:5], x.min() + width * beyond])
    sizes = [4, 5, 10, 15]
    r = run_r(
        """
        out <- list()
        for (J in sizes) {
          b <- bs(x, df = J, intercept = TRUE)
          f <- lm(y ~ b - 1)
          at <- suppressWarnings(predict(b, new))
          each <- list(basis = unclass(b), at = unclass(at), fit = unname(fitted(f)),
                       pred = as.vector(at %*% coef(f)), coef = unname(coef(f)),
                       knots = as.numeric(attr(b, "knots")))
          names(each) <- paste0(names(each), J)
          out <- c(out, each)
        }
        """,
        packages=("splines",), x=x, y=y, new=new, sizes=np.array(sizes),
    )  # fmt: skip
    for n_basis in sizes:
        model = CubicSpline(n_basis).fit(x, y)
        np.testing.assert_allclose(model.basis(x), r[f"basis{n_basis}"], atol=1e-12)
        np.testing.assert_allclose(model.basis(new), r[f"at{n_basis}"], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.knots_[4:-4], r[f"knots{n_basis}"], rtol=1e-14)
        np.testing.assert_allclose(model.coef_, r[f"coef{n_basis}"], rtol=1e-8)
        np.testing.assert_allclose(model.fitted_values_, r[f"fit{n_basis}"], atol=1e-10)
        np.testing.assert_allclose(model.predict(x), r[f"fit{n_basis}"], atol=1e-10)
        np.testing.assert_allclose(model.predict(new), r[f"pred{n_basis}"], rtol=1e-8)
        assert model.trace_ == model.n_coef_ == n_basis


def test_cubic_spline_where_the_basis_is_not_of_full_rank():
    x, y = np.repeat([0.0, 1.0, 3.0], 20), np.random.default_rng(2).normal(size=60)
    model = CubicSpline(10).fit(x, y)
    assert (model.trace_, model.n_coef_) == (3, 10)
    np.testing.assert_allclose(model.fitted_values_, np.repeat(y.reshape(3, 20).mean(axis=1), 20))


# --------------------------------------------------------------------------------- smoothing spline


@dataclass(frozen=True)
class Case:
    """Arguments of `smooth.spline` and of `SmoothingSpline` that must mean the same."""

    r: str
    ours: dict = field(default_factory=dict)


KNOTS = [
    Case("", {}),
    Case(", all.knots = TRUE", {"n_knots": "all"}),
    Case(", nknots = 17", {"n_knots": 17}),
    Case(", nknots = 2", {"n_knots": 2}),
]


@needs_rscript
@pytest.mark.parametrize("kind", ["grid", "short", "uneven", "tied", "nearly tied"])
@pytest.mark.parametrize("weighted", [False, True])
def test_smoothing_spline_is_rs(kind, weighted):
    x, y, weights = draw(kind)
    new = np.concatenate([[x.min() - 2], np.linspace(x.min(), x.max(), 50), [x.max() + 3]])
    lams = [1e-5, 1e-3, 0.1]
    call = "smooth.spline(x, y, lambda = l{}{})".format("{}", ", w = w" if weighted else "")
    r = run_r(
        "out <- list()\n"
        + "".join(
            f"""
            each <- lapply(lams, function(l) {call.format(case.r)})
            out <- c(out, list(df{i} = sapply(each, `[[`, "df"), fit{i} = sapply(each, `[[`, "y"),
              pred{i} = sapply(each, function(f) predict(f, new)$y), knots{i} = each[[1]]$fit$knot))
            """
            for i, case in enumerate(KNOTS)
        ),
        x=x, y=y, w=weights, new=new, lams=np.array(lams),
    )  # fmt: skip
    # The values of x that R keeps, as it finds them; its fitted() has NA at the others.
    first = np.sort(np.unique(np.round((x - x.mean()) / (1e-6 * iqr(x))), return_index=True)[1])
    first = first[np.argsort(x[first])]
    for i, case in enumerate(KNOTS):
        for j, lam in enumerate(lams):
            model = SmoothingSpline(lam=lam, **case.ours).fit(x, y, weights if weighted else None)
            np.testing.assert_allclose(model.fitted_values_[first], r[f"fit{i}"][:, j], atol=1e-8)
            np.testing.assert_allclose(model.predict(new), r[f"pred{i}"][:, j], atol=1e-8)
            assert model.trace_ == pytest.approx(r[f"df{i}"][j], abs=1e-8)
            assert model.n_coef_ == len(r[f"knots{i}"]) - 4
            np.testing.assert_allclose(
                (model.knots_ - x.min()) / np.ptp(x), r[f"knots{i}"], atol=1e-7
            )


@pytest.mark.parametrize(
    ("lam", "r_df", "exact_df"),
    [(0.001, 7.332091, 7.332043), (0.01, 4.561451, 4.561442), (0.1, 3.004509, 3.004507)],
)
def test_trace_of_the_papers_smoothing_splines(lam, r_df, exact_df):
    assert SmoothingSpline(lam=lam, n_knots=100).fit(GRID, GRID).trace_ == pytest.approx(
        r_df, abs=1e-6
    )
    # The exact integral of f''^2 gives other digits: the 0.333 of R's Fortran is really in there.
    knots = clamped((GRID - 1) / 99)
    B, P = basis_rows((GRID - 1) / 99, knots).dense(), penalty_rows(knots).dense()
    exact = np.trace(B @ np.linalg.solve(B.T @ B + lam * P.T @ P, B.T))
    assert exact == pytest.approx(exact_df, abs=1e-6)


@needs_rscript
def test_the_number_of_knots_is_rs():
    n = np.array([4, 49, 50, 51, 100, 199, 200, 201, 799, 800, 3199, 3200, 3201, 10**5])
    r = run_r("out <- list(k = sapply(n, .nknots.smspl))", n=n)
    assert [default_n_knots(int(v)) for v in n] == r["k"].astype(int).tolist()


@needs_rscript
@pytest.mark.parametrize("kind", ["grid", "short", "uneven", "tied"])
def test_lambda_by_df(kind):
    x, y, _ = draw(kind)
    wanted = np.array([2.5, 7, 12.25])
    r = run_r(
        "out <- list(df = sapply(wanted, function(d) smooth.spline(x, y, df = d)$df))",
        x=x,
        y=y,
        wanted=wanted,
    )
    for df, rs in zip(wanted, r["df"], strict=True):
        model = SmoothingSpline(df=df).fit(x, y)
        assert model.trace_ == pytest.approx(df, abs=1e-8)
        assert abs(rs - df) < 5e-3  # R stops early: the same question, a looser answer
        again = SmoothingSpline(lam=model.lam_).fit(x, y)
        np.testing.assert_allclose(again.fitted_values_, model.fitted_values_)


@needs_rscript
@pytest.mark.parametrize("kind", ["grid", "short", "skewed", "tied", "large"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gcv_is_at_least_as_good_as_rs(kind, weighted):
    x, y, weights = draw(kind, seed=3)
    w = weights * np.count_nonzero(weights) / weights.sum() if weighted else np.ones(len(x))
    cases = KNOTS[:3]
    calls = ", ".join(
        f"smooth.spline(x, y{case.r}{', w = w' if weighted else ''})" for case in cases
    )
    r = run_r(
        f"""each <- list({calls})
        out <- lapply(c(crit = "crit", lam = "lambda", df = "df"), function(v) sapply(each, `[[`, v))""",
        x=x, y=y, w=weights,
    )  # fmt: skip

    def gcv(model):
        return w @ (y - model.fitted_values_) ** 2 / w.sum() / (1 - model.trace_ / w.sum()) ** 2

    for i, case in enumerate(cases):
        ours = SmoothingSpline(**case.ours).fit(x, y, w)
        rs = SmoothingSpline(lam=r["lam"][i], **case.ours).fit(x, y, w)
        assert gcv(ours) <= gcv(rs) * (1 + 1e-10)
        # R's own digits are lost with thousands of uneven knots, and to 0/0 where it interpolates.
        if kind != "large" and r["df"][i] < 0.9 * w.sum():
            assert gcv(rs) == pytest.approx(r["crit"][i], rel=1e-7)


def test_gcv_of_a_perfect_fit_takes_the_straight_line():
    for y in (np.full(100, 7.0), 3 - 2 * GRID):
        model = SmoothingSpline().fit(GRID, y)
        np.testing.assert_allclose(model.fitted_values_, y, rtol=1e-9)
        assert model.trace_ < 2.001


def test_many_knots_do_not_cost_precision():
    """Normal equations, as R solves them, are off by 1e-3 and more here."""
    x, y = (
        np.sort(np.random.default_rng(5).normal(size=800)),
        np.random.default_rng(6).normal(size=800),
    )
    for lam in (1e-8, 1.0, 1e3):
        model = SmoothingSpline(lam=lam, n_knots="all").fit(x, y)
        u = (x - x[0]) / (x[-1] - x[0])
        knots = clamped(u)
        B, P = basis_rows(u, knots).dense(), penalty_rows(knots, 0.333).dense()
        q, _ = np.linalg.qr(np.vstack([B, np.sqrt(lam) * P]))
        np.testing.assert_allclose(model.fitted_values_, q[:800] @ (q[:800].T @ y), atol=1e-9)
        assert model.trace_ == pytest.approx((q[:800] ** 2).sum(), abs=1e-6)


@needs_rscript
def test_a_hundred_thousand_observations():
    rng = np.random.default_rng(4)
    x = rng.uniform(size=100_000)
    y = np.sin(6 * x) + rng.normal(size=x.size)
    r = run_r(
        "f <- smooth.spline(x, y, lambda = 1e-3); out <- list(df = f$df, p = predict(f, 0.3)$y)",
        x=x,
        y=y,
    )
    for n_knots in (None, "all"):
        model = SmoothingSpline(lam=1e-3, n_knots=n_knots).fit(x, y)
        if n_knots is None:
            assert model.trace_ == pytest.approx(r["df"][0], abs=1e-8)
        assert model.predict([0.3])[0] == pytest.approx(
            r["p"][0], abs=1e-8 if n_knots is None else 1e-2
        )


# ------------------------------------------------------------------------------------- the contract

ALL = [
    CubicSpline(8),
    SmoothingSpline(lam=0.01),
    SmoothingSpline(df=5.5),
    SmoothingSpline(lam=1e-4, n_knots="all"),
    SmoothingSpline(),
]


@pytest.mark.parametrize("procedure", ALL, ids=str)
@pytest.mark.parametrize("kind", ["grid", "tied"])
def test_fit_many_is_the_loop_of_the_base_class(procedure, kind):
    x, y, _ = draw(kind)
    Y = y[:, None] + np.random.default_rng(8).normal(size=(len(x), 4)) * [0.1, 1, 10, 1]
    ours, loop = procedure.fit_many(x[:, None], Y), Procedure.fit_many(procedure, x[:, None], Y)
    # Rounding leaves the place of a minimum, so the lambda of GCV, open to the root of eps.
    precision = 1e-9 if procedure.is_linear else 1e-6
    np.testing.assert_allclose(ours.fitted, loop.fitted, atol=precision)
    np.testing.assert_allclose(ours.trace, loop.trace, rtol=precision)
    np.testing.assert_array_equal(ours.n_coef, loop.n_coef)
    assert ours.rank is ours.refitted is None
    assert not hasattr(procedure, "n_features_in_")


@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_linear_ones_have_the_trace_of_their_matrix_as_df(procedure):
    linear = procedure != ALL[-1]
    assert procedure.is_linear == linear
    assert procedure.df_statistic == ("trace" if linear else None)
    if linear:
        fits = procedure.fit_many(GRID, np.eye(100))
        np.testing.assert_allclose(fits.trace, np.trace(fits.fitted), rtol=1e-9)


@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_predictions_at_the_data_are_the_fit(procedure):
    x, y, _ = draw("short")
    model = procedure.fit(x[:, None], y)
    np.testing.assert_allclose(model.predict(x[:, None]), model.fitted_values_, atol=1e-10)
    np.testing.assert_array_equal(model.predict(x), model.predict(x[:, None]))


@pytest.mark.parametrize(
    ("procedure", "message"),
    [
        (CubicSpline(3), "n_basis=3"),
        (CubicSpline(5.0), "n_basis=5.0"),
        (SmoothingSpline(lam=0), "lam=0"),
        (SmoothingSpline(lam=1.0, df=3), "lam=1.0 and df=3"),
        (SmoothingSpline(df=1.5), "df=1.5 .* between 2\\.0"),
        (SmoothingSpline(df=101), "df=101"),
        (SmoothingSpline(n_knots=1), "n_knots=1"),
        (SmoothingSpline(n_knots=101), "n_knots=101"),
        (SmoothingSpline(n_knots="some"), "n_knots='some'"),
    ],
    ids=str,
)
def test_bad_arguments_are_named(procedure, message):
    with pytest.raises(InvalidInputError, match=message):
        procedure.fit(GRID, GRID)
    with pytest.raises(InvalidInputError, match=message):
        procedure.fit_many(GRID, np.column_stack([GRID, GRID]))


@pytest.mark.parametrize("procedure", ALL, ids=str)
def test_bad_data_are_named(procedure):
    refuses_bad_columns(procedure)
    with pytest.raises(InvalidInputError, match="Y has shape"):
        procedure.fit_many(GRID, GRID)


def test_bad_weights_are_named():
    with pytest.raises(InvalidInputError, match="from 0 to 0"):
        SmoothingSpline(lam=1).fit(GRID, GRID, np.zeros(100))
    with pytest.raises(InvalidInputError, match="a single value of x"):
        SmoothingSpline(lam=1).fit(GRID, GRID, GRID == 3)
    with pytest.raises(InvalidInputError, match="from -100 to -1"):
        SmoothingSpline(lam=1).fit(GRID, GRID, -GRID)


class FirstCubic(FirstColumn, CubicSpline):
    pass


class FirstSmoothing(FirstColumn, SmoothingSpline):
    pass


@pytest.mark.parametrize(
    ("procedure", "expected"),
    [
        (FirstCubic(6), {}),
        (
            FirstSmoothing(lam=0.01),
            {
                "check_sample_weight_equivalence_on_dense_data": "as R does, weights are rescaled to "
                "add up to the number of observations, so a weight of 2 is not a repeated row"
            },
        ),
        (
            FirstSmoothing(),
            {
                "check_sample_weight_equivalence_on_dense_data": "as R does, weights are rescaled to "
                "add up to the number of observations, so a weight of 2 is not a repeated row"
            },
        ),
    ],
    ids=str,
)
def test_scikit_learns_checks(procedure, expected):
    checks = check_estimator(
        procedure, expected_failed_checks=A_VECTOR_IS_FINE | expected, on_skip=None
    )
    assert len(checks) >= 50  # all of a regressor of matrices, on the first column
