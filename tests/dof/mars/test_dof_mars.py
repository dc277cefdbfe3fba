"""Algorithm 2 and self-consistency on R's earth and mda: the authors' numbers."""

import functools
import json

import numpy as np
import pandas as pd
import pytest

from pyearthdof import bridge
from pyearthdof.dof import correct_penalty, degrees_of_freedom, nominal_df, self_consistency
from pyearthdof.dof.mars.correction import _correct
from pyearthdof.dof.montecarlo.errors import Jackknife
from pyearthdof.mars.earth import Earth
from pyearthdof.mars.mda import Mars
from pyearthdof.mars.options import default_nk
from pyearthdof.random import RDraws
from tests.support import ROOT
from tests.support.rscript import needs_rscript, run_r
from tests.support.versions import EARTH_SEEN, golden

REFERENCE = pd.read_csv(ROOT / "tests" / "data" / "correct_penalty.csv")
ROWS = list(REFERENCE.itertuples(index=False))


@functools.cache
def by_r(n, p, degree, nk):
    return correct_penalty((n, p), degree=degree, nk=nk, engine="r")


@pytest.mark.needs_r
@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"n{r.n}-p{r.p}-nk{r.nk}-degree{r.degree}")
@golden(earth=EARTH_SEEN)
def test_the_authors_penalties(row):
    found = by_r(row.n, row.p, row.degree, row.nk)
    assert found.df == pytest.approx(row.df, abs=1e-8)
    assert found.nominal_df == pytest.approx(row.nominal_df, abs=1e-8)
    assert found.penalty == pytest.approx(row.penalty, abs=1e-8)
    assert found.n_rep == row.n_rep and 0 < found.se < 0.5
    assert found.versions["earth"] == bridge.r_versions()["earth"]


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"n{r.n}-p{r.p}-nk{r.nk}-degree{r.degree}")
def test_the_authors_penalties_without_r(row):
    shape, options = (row.n, row.p), {"degree": row.degree, "nk": row.nk}
    one, two = (correct_penalty(shape, engine="native", n_jobs=k, **options) for k in (1, 2))
    assert one.penalty == pytest.approx(row.penalty, abs=1e-8)
    assert one.df == pytest.approx(row.df, abs=1e-8)
    assert (one.df, one.se) == (two.df, two.se)


# Paper's ozone and spam tables: the corrected penalties for the sizes of the training data.
@pytest.mark.needs_r
@pytest.mark.parametrize(("degree", "penalty"), [(1, 2.99357), (2, 3.92098)])
@golden(earth=EARTH_SEEN)
def test_ozone(degree, penalty):
    found = by_r(264, 9, degree, 21)
    assert default_nk(9) == 21
    assert round(found.penalty, 5) == penalty


@pytest.mark.needs_r
@pytest.mark.slow
@pytest.mark.parametrize(("degree", "penalty"), [(1, 6.252168), (2, 7.935667)])
@golden(earth=EARTH_SEEN)
def test_spam(degree, penalty):
    found = correct_penalty((3065, 57), degree=degree, engine="r", n_jobs=2)
    assert found.nk == 115
    assert round(found.penalty, 6) == penalty


@pytest.mark.needs_r
class TestCorrection:
    def test_same_bits_for_any_number_of_workers(self):
        one, two = (
            correct_penalty((60, 4), n_rep=20, engine="r", n_jobs=n_jobs) for n_jobs in (1, 2)
        )
        assert (one.penalty, one.se, one.df) == (two.penalty, two.se, two.df)
        assert one.versions == two.versions

    def test_own_design_instead_of_noise(self):
        X = RDraws(3).uniform(80 * 3).reshape(80, 3)
        found = correct_penalty(pd.DataFrame(X, columns=list("abc")), degree=2, n_rep=20)
        again = correct_penalty(X, degree=2, n_rep=20)
        assert (
            found.penalty == again.penalty != correct_penalty((80, 3), degree=2, n_rep=20).penalty
        )
        assert (found.n, found.p, found.nk) == (80, 3, 21)
        assert found.settings["design"] == "given"

    def test_is_the_formula_on_algorithm_1(self):
        X = RDraws(3).uniform(80 * 3).reshape(80, 3)
        mars = Earth(nk=11, thresh=0, pmethod="none", engine="r")
        measured = degrees_of_freedom(mars, X, n_rep=20, draws=RDraws(1234))
        found = correct_penalty(X, nk=11, n_rep=20, engine="r")
        r = measured.n_coef
        assert found.df == measured.df and found.n_terms == r
        assert found.penalty == pytest.approx(2 * (measured.df - r) / (r - 1))
        assert found.nominal_df == pytest.approx(r + 2 * (r - 1) / 2)
        assert measured.trace == r and measured.rank is None and measured.sdf is None

    def test_another_seed(self):
        default, again, other = (
            correct_penalty((40, 2), nk=5, n_rep=10, draws=d).penalty
            for d in (None, RDraws(1234), RDraws(1))
        )
        assert default == again != other

    def test_no_term_at_all_keeps_the_default_with_a_warning(self):
        with pytest.warns(UserWarning, match="default penalty 3 is kept"):
            found = correct_penalty((30, 2), degree=2, nk=1, n_rep=5)
        assert found.penalty == 3.0 and found.n_terms == 1.0 and found.se == 0.0

    def test_prints_and_exports(self):
        found = correct_penalty((30, 2), nk=5, n_rep=5)
        assert repr(found).startswith("PenaltyCorrection(2 -> ") and "\n" not in repr(found)
        assert json.loads(json.dumps(found.to_dict()))["penalty"] == found.penalty
        assert found.to_frame().loc[0, "df"] == found.df


def test_fewer_degrees_of_freedom_than_terms_is_penalty_zero():
    found = correct_penalty((150, 5), estimator=Earth(linpreds=True), engine="native")
    assert found.df < found.n_terms and found.penalty == 0.0


def test_standard_error_of_the_penalty_by_leaving_out():
    rng = np.random.default_rng(1)
    df, r = Jackknife(9.0, 9 + rng.normal(size=50)), Jackknife(5.0, 5 + 0.1 * rng.normal(size=50))
    expected = 2 * (df.left_out - r.left_out) / (r.left_out - 1)
    found = _correct(df, r, 2.0)
    np.testing.assert_allclose(found.left_out, expected)
    assert found.se == pytest.approx(np.sqrt(49 / 50 * ((expected - expected.mean()) ** 2).sum()))


@pytest.mark.needs_r
def test_direction_has_less_variance_for_mars():
    X = RDraws(5).normal(100 * 10).reshape(100, 10)
    mars = Earth(degree=2, nk=21, thresh=0, pmethod="none")
    plain, direction, control = (
        degrees_of_freedom(mars, X, draws=RDraws(6), variance_reduction=v)
        for v in (None, "direction", "control")
    )
    assert plain.se**2 > 1.3 * direction.se**2 and plain.se**2 > 1.3 * control.se**2
    assert abs(plain.df - direction.df) < 3 * plain.se
    assert abs(plain.df - control.df) < 3 * plain.se


@needs_rscript
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize(("n", "p", "top"), [(100, 1, 25), (60, 3, 41), (50, 30, 61)])
def test_prefix_property_in_plain_r(n, p, top, degree):
    r = run_r(
        """
        set.seed(n + p)
        ok <- c(); sizes <- c()
        for (rep in 1:2) {
          y <- rnorm(n); x <- matrix(rnorm(n * p), n)
          fit <- function(nk) earth(x, y, nk = nk, degree = degree, thresh = 0, pmethod = "none",
                                    penalty = degree + 1)
          full <- fit(top)
          for (nk in 1:top) {
            short <- fit(nk)
            first <- seq_len(nrow(short$dirs))
            ok <- c(ok, identical(short$dirs, full$dirs[first, , drop = FALSE]),
                    identical(short$cuts, full$cuts[first, , drop = FALSE]),
                    identical(unclass(short$bx), unclass(full$bx)[, first, drop = FALSE]))
            sizes <- c(sizes, length(first))
          }
        }
        out <- list(ok = as.numeric(ok), sizes = sizes)
        """,
        packages=("earth",),
        n=n, p=p, top=top, degree=degree,
    )  # fmt: skip
    assert r["ok"].all() and len(r["ok"]) == 6 * top
    assert r["sizes"].max() > 6


@pytest.mark.needs_r
@pytest.mark.parametrize(("p", "degree"), [(1, 1), (10, 2), (50, 1)])
def test_path_is_refitting_at_every_nk(p, degree):
    X = RDraws(7).normal(60 * p).reshape(60, p)
    Y = RDraws(8).normal(60 * 4).reshape(60, 4)
    mars = Earth(degree=degree, thresh=0, pmethod="none", engine="r")
    nks = [1, 2, 3, 4, 8, 15, 30, 45]
    path = mars.fit_path(X, Y, nks)
    for k, nk in enumerate(nks):
        single = mars.set_params(nk=nk).fit_many(X, Y)
        assert np.array_equal(path.n_terms[k], single.n_coef), nk
        np.testing.assert_allclose(path.fitted[k], single.fitted, atol=1e-9)


@pytest.fixture(scope="module")
def path():
    return self_consistency((100, 10), degree=2, nk=[1, 2, 5, 21], engine="r")


@pytest.mark.needs_r
class TestSelfConsistency:
    def test_agrees_with_the_correction(self, path):
        [row] = [r for r in ROWS if (r.n, r.p, r.nk, r.degree) == (100, 10, 21, 2)]
        assert path.df[-1] == pytest.approx(row.df, abs=1e-8)
        assert path.nominal_df[-1] == pytest.approx(row.nominal_df, abs=1e-8)
        assert path.penalty[-1] == pytest.approx(row.penalty, abs=1e-8)
        single = by_r(100, 10, 2, 21)
        assert path.se[-1] == pytest.approx(single.df_se, rel=1e-8)

    def test_corrected_lies_on_the_diagonal_where_df_exceeds_the_terms(self, path):
        np.testing.assert_allclose(path.corrected_nominal_df[2:], path.df[2:])

    def test_the_intercept_alone(self, path):
        assert list(path.n_terms[:2]) == [1.0, 1.0]
        assert list(path.penalty[:2]) == [3.0, 3.0]
        assert abs(path.df[0] - 1.0) < 3 * path.se[0]

    def test_frame_dict_and_line(self, path):
        frame = path.to_frame()
        assert list(frame.nk) == [1, 2, 5, 21]
        assert json.loads(json.dumps(path.to_dict()))["df"] == list(path.df)
        assert "\n" not in repr(path)

    def test_plot(self, path):
        import matplotlib

        matplotlib.use("Agg")
        ax = path.plot()
        assert ax.get_xlabel() == "actual df" and len(ax.get_lines()) >= 3
        assert path.plot(ax=ax) is ax
        matplotlib.pyplot.close(ax.figure)

    def test_same_bits_for_any_number_of_workers(self):
        one, two = (
            self_consistency((40, 2), nk=[3, 9], n_rep=20, engine="r", n_jobs=n_jobs)
            for n_jobs in (1, 2)
        )
        assert np.array_equal(one.df, two.df) and np.array_equal(one.se, two.se)


@pytest.mark.needs_r("mda")
class TestMda:
    @needs_rscript
    @pytest.mark.parametrize("degree", [1, 2])
    def test_same_as_the_loop_in_r(self, degree):
        r = run_r(
            """
            set.seed(1234)
            Y <- matrix(rnorm(60 * 20), 60); x <- matrix(rnorm(60 * 3), 60)
            fits <- lapply(1:20, function(j)
              mars(x, Y[, j], degree = degree, nk = 9, penalty = degree + 1, thresh = 0,
                   prune = FALSE))
            fitted <- sapply(fits, function(f) f$fitted.values)
            r <- mean(sapply(fits, function(f) length(f$selected.terms)))
            out <- list(df = sum(sapply(1:60, function(i) cov(Y[i, ], fitted[i, ]))), r = r)
            """,
            packages=("mda",),
            degree=degree,
        )
        found = correct_penalty((60, 3), degree=degree, nk=9, n_rep=20, package="mda")
        assert found.df == pytest.approx(r["df"][0], abs=1e-8)
        assert found.n_terms == r["r"][0]
        assert found.settings["package"] == "mda"
        path = self_consistency((60, 3), degree=degree, nk=[5, 9], n_rep=20, package="mda")
        assert path.df[-1] == pytest.approx(found.df) and path.penalty[-1] == pytest.approx(
            found.penalty
        )

    def test_default_nk_is_that_of_mda(self):
        assert correct_penalty((40, 12), n_rep=2, package="mda").nk == 25

    def test_nominal_df(self):
        X = RDraws(1).normal(120).reshape(40, 3)
        y = X[:, 0] + RDraws(2).normal(40)
        model = Mars(nk=9).fit(X, y)
        assert nominal_df(model) == model.n_terms_ + 2 * (model.n_terms_ - 1) / 2


@pytest.mark.needs_r
def test_nominal_df_of_earth():
    X = RDraws(1).normal(120).reshape(40, 3)
    y = X[:, 0] + RDraws(2).normal(40)
    model = Earth(penalty=4.0).fit(X, y)
    assert nominal_df(model) == model.n_terms_ + 4 * (model.n_terms_ - 1) / 2
    assert nominal_df(Earth(penalty=-1).fit(X, y)) == 0.0
