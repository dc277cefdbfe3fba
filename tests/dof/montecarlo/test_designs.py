"""Drawn designs: what is drawn, what the errors cover, and that each meaning can be asked for."""

import functools

import numpy as np
import pytest

from pyearthdof.dof import correct_penalty, degrees_of_freedom, self_consistency
from pyearthdof.dof.montecarlo.errors import Jackknife, mean_over_designs
from pyearthdof.exceptions import FittingError, InvalidInputError
from pyearthdof.mars.earth import Earth
from pyearthdof.procedures import BestSubset, LeastSquares, RegressionTree, Ridge
from pyearthdof.random import RDraws

MARS = Earth(nk=21, thresh=0, pmethod="none", engine="native")
NATIVE = {"engine": "native"}

MEASURES = {
    "degrees_of_freedom": functools.partial(degrees_of_freedom, MARS),
    "correct_penalty": functools.partial(correct_penalty, nk=21, **NATIVE),
    "self_consistency": functools.partial(self_consistency, nk=[5, 21], **NATIVE),
}


def df_of(found):
    return float(np.atleast_1d(found.df)[-1])


def se_of(found):
    return float(np.atleast_1d(getattr(found, "df_se", found.se))[-1])


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
class TestEachMeaning:
    def test_the_error_knows_that_designs_differ(self, measure):
        # With one predictor they differ more than the draws of y do: sd 1.5 where one design says 0.5.
        runs = [measure((100, 1), random_state=seed) for seed in range(40)]
        spread = np.std([df_of(found) for found in runs], ddof=1)
        claimed = np.sqrt(np.mean([se_of(found) ** 2 for found in runs]))
        assert 0.75 < spread / claimed < 1.33
        assert all(found.n_designs == 20 for found in runs)
        assert runs[0].se_covers == "the draws of y and of the design"
        assert "over 20 designs" in repr(runs[0])

    def test_rs_numbers_are_one_design_and_say_so(self, measure):
        found = measure((100, 1), draws=RDraws(1234))
        assert found.n_designs == 1
        assert found.se_covers == "the draws of y, for one drawn design"
        assert "for one drawn design" in repr(found)
        draws = RDraws(1234)
        draws.skip_normals(100 * 100)
        X = draws.normal(100).reshape(100, 1)
        given = measure(X, draws=RDraws(1234))
        assert np.array_equal(found.df, given.df) and se_of(found) == se_of(given)
        assert given.n_designs is None
        assert given.se_covers == "the draws of y, for the given design"
        assert "design" not in repr(given)

    def test_both_can_be_asked_for(self, measure):
        one = measure((60, 2), random_state=1, n_rep=20, n_designs=1)
        several = measure((60, 2), draws=RDraws(1), n_rep=20, n_designs=4)
        assert one.n_designs == 1 and "one drawn design" in one.se_covers
        assert several.n_designs == 4 and "of the design" in several.se_covers

    def test_the_designs_come_after_all_responses(self, measure):
        found = measure((30, 2), draws=RDraws(5), n_rep=10, n_designs=2)
        numbers = RDraws(5).normal(30 * 10 + 2 * 30 * 2)
        Y = numbers[:300].reshape(10, 30)
        values = []
        for k in range(2):
            X = numbers[300 + 60 * k : 360 + 60 * k].reshape(2, 30).T
            y = Y[5 * k : 5 * k + 5].T
            fitted = MARS.fit_many(X, y).fitted
            values.append(sum(np.cov(a, b)[0, 1] for a, b in zip(y, fitted, strict=True)))
        assert df_of(found) == pytest.approx(np.mean(values), rel=1e-10)
        assert se_of(found) == pytest.approx(abs(values[0] - values[1]) / 2, rel=1e-8)

    def test_same_bits_for_any_number_of_workers(self, measure):
        one, two = (measure((40, 2), random_state=1, n_rep=30, n_jobs=n) for n in (1, 2))
        assert np.array_equal(one.df, two.df) and se_of(one) == se_of(two)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"n_designs": 0}, "n_designs=0 but it should be an integer of 1"),
            ({"n_designs": 2.0}, "n_designs=2.0 but it should be an integer of 1"),
            ({"n_designs": 6, "n_rep": 10}, "n_designs=6 but it should be at most 5 for n_rep=10"),
            ({"draws": RDraws(1), "random_state": 1}, "one of them should be None"),
        ],
    )
    def test_refusals(self, measure, arguments, message):
        with pytest.raises(InvalidInputError, match=message):
            measure((30, 2), **arguments)

    def test_a_given_design_is_one(self, measure):
        X = np.random.default_rng(0).normal(size=(30, 2))
        with pytest.raises(
            InvalidInputError, match="n_designs=3 but it should be None or 1 for a given design"
        ):
            measure(X, n_designs=3)
        assert measure(X, n_designs=1, n_rep=4).n_designs is None


def test_few_repetitions_take_fewer_designs():
    counts = [
        degrees_of_freedom(RegressionTree(depth=1), (20, 2), n_rep=n_rep, random_state=1).n_designs
        for n_rep in (2, 3, 4, 11, 40, 100)
    ]
    assert counts == [1, 1, 2, 5, 20, 20]


def test_exact_for_every_design_is_not_exact_over_designs():
    found = degrees_of_freedom(Ridge(10.0), (60, 5), random_state=1)
    assert found.se > 0 and found.se_covers == "the draws of the design" and found.n_rep == 0
    assert (found.msdf, found.msdf_se) == (0.0, 0.0)
    assert found.per_observation.sum() == pytest.approx(found.df)
    runs = np.array(
        [degrees_of_freedom(Ridge(10.0), (60, 5), random_state=s).df for s in range(30)]
    )
    assert 0.6 < runs.std(ddof=1) / found.se < 1.6
    assert degrees_of_freedom(LeastSquares(), (60, 5), random_state=1).se == 0.0
    one = degrees_of_freedom(Ridge(10.0), (60, 5), draws=RDraws(1))
    assert one.se == 0.0 and one.se_covers == "nothing, it is exact for one drawn design"


def test_every_quantity_and_reduction_over_designs():
    for reduction in (None, "control"):
        found = degrees_of_freedom(
            BestSubset(2), (40, 5), n_rep=60, random_state=1, variance_reduction=reduction
        )
        assert found.msdf == pytest.approx(found.df - 2) and found.sdf == pytest.approx(found.msdf)
        assert found.rank_se == 0.0 and found.msdf_se == pytest.approx(found.se)
        assert len(found.left_out["sdf"]) == 20


def test_mean_over_designs():
    each = [Jackknife(v, np.zeros(3)) for v in (1.0, 4.0, 7.0)]
    found = mean_over_designs(each, (2, 3, 3))
    assert found.value == pytest.approx((2 * 1 + 3 * 4 + 3 * 7) / 8)
    np.testing.assert_allclose(found.left_out, [(12 + 21) / 6, (2 + 21) / 5, (2 + 12) / 5])
    assert mean_over_designs(each[:1], (5,)) is each[0]


def test_a_failing_repetition_has_its_design():
    def fails_late(X, y):
        if fails_late.count == 7:
            raise ZeroDivisionError
        fails_late.count += 1
        return y * 0

    fails_late.count = 0
    with pytest.raises(FittingError, match=r"repetition 7 of 10 \(counted from 0\)") as caught:
        degrees_of_freedom(fails_late, (5, 2), n_rep=10, draws=RDraws(1), n_designs=5)
    numbers = RDraws(1).normal(50 + 5 * 10)
    assert np.array_equal(caught.value.y, numbers[35:40])
    assert np.array_equal(caught.value.X, numbers[80:90].reshape(2, 5).T)


def test_the_fitted_mean_needs_its_own_design():
    with pytest.raises(InvalidInputError, match=r"X=\(20, 2\) but it should be the design that y"):
        degrees_of_freedom(RegressionTree(depth=1), (20, 2), mu="fitted", y=np.arange(20.0))
