"""The table of corrected penalties: its cells, what is between them, and what it refuses."""

import dataclasses
import importlib.metadata
import pickle
from importlib import resources
from itertools import pairwise, product

import numpy as np
import pytest
from packaging.version import Version
from scipy import stats

from pyearthdof import RDraws, correct_penalty
from pyearthdof.dof.mars.correction import corrected_penalty
from pyearthdof.dof.mars.tables import penalty_table, quick_penalty
from pyearthdof.exceptions import InvalidInputError

TABLE = penalty_table()
SETTINGS = TABLE.attrs["settings"]


def row_at(n, p, nk, degree):
    (row,) = TABLE.query("n == @n and p == @p and nk == @nk and degree == @degree").itertuples()
    return row


def exact(n, p, nk, degree, n_rep, seeds):
    """Mean over designs, as the table has it: df, terms, penalty and its jackknife error."""
    runs = [
        correct_penalty(
            (n, p), nk=nk, degree=degree, n_rep=n_rep, draws=RDraws(seed), engine="native", n_jobs=1
        )
        for seed in seeds
    ]
    df, r = np.array([[run.df, run.n_terms] for run in runs]).T
    k = len(runs)
    without = (
        [np.delete(df, j).mean() for j in range(k)],
        [np.delete(r, j).mean() for j in range(k)],
    )
    spread = 2 * (np.array(without[0]) - without[1]) / (np.array(without[1]) - 1)
    se = np.sqrt((k - 1) * spread.var())
    return df.mean(), r.mean(), float(corrected_penalty(df.mean(), r.mean())), float(se)


@pytest.mark.parametrize(("n", "p", "nk", "degree"), [(50, 1, 21, 1), (71, 4, 9, 2)])
def test_a_cell_can_be_computed_again(n, p, nk, degree):
    row = row_at(n, p, nk, degree)
    first, last = SETTINGS["seeds"]
    n_rep = row.n_rep // SETTINGS["n_designs"]
    found = exact(n, p, nk, degree, n_rep, range(first, last + 1))
    stored = (row.df, row.n_terms, row.penalty, row.se)
    assert [f"{x:.8g}" for x in found] == [f"{x:.8g}" for x in stored]


def test_the_table_says_what_made_it():
    versions = TABLE.attrs["versions"]
    assert {"pyearthdof", "numpy", "scipy", "numba"} <= versions.keys()
    made_by = Version(versions["pyearthdof"])
    assert made_by <= Version(importlib.metadata.version("pyearthdof"))
    assert SETTINGS["engine"] == "native"
    assert SETTINGS["seeds"][1] - SETTINGS["seeds"][0] + 1 == SETTINGS["n_designs"]


def test_the_table_is_whole_and_small():
    assert not TABLE.isna().any().any()
    assert not TABLE.duplicated(["degree", "n", "p", "nk"]).any()
    values = {name: set(TABLE[name]) for name in ("degree", "n", "p", "nk")}
    cells = set(TABLE[["degree", "n", "p", "nk"]].itertuples(index=False, name=None))
    assert cells == {cell for cell in product(*values.values()) if cell[3] <= cell[1]}
    file = resources.files("pyearthdof").joinpath("data", "penalties.csv")
    assert len(file.read_bytes()) < 200_000


def test_penalty_is_that_of_the_degrees_of_freedom_beside_it():
    np.testing.assert_allclose(
        TABLE["penalty"], corrected_penalty(TABLE["df"], TABLE["n_terms"]), rtol=1e-6, atol=1e-6
    )


def test_a_copy_is_given_out():
    mine = penalty_table()
    mine["penalty"] = 0.0
    mine.attrs["settings"].clear()
    assert (penalty_table()["penalty"] > 0).any()
    assert penalty_table().attrs["settings"]


def test_a_cell_is_found_as_it_is():
    for row in TABLE.sample(200, random_state=1).itertuples():
        found = quick_penalty((row.n, row.p), nk=row.nk, degree=row.degree)
        assert found.method == "table"
        assert found.penalty == pytest.approx(row.penalty, abs=1e-6)
        assert found.se == pytest.approx(row.se, rel=1e-6)
        assert found.interpolation_se == pytest.approx(0, abs=1e-9)


def test_the_interval_follows_from_ten_designs():
    found = quick_penalty((264, 9))
    assert SETTINGS["n_designs"] == 10
    lower, upper = found.interval()
    assert (upper - lower) / 2 == pytest.approx(2.2621571628 * found.se)
    assert (upper + lower) / 2 == pytest.approx(found.penalty)
    lower, upper = found.interval(level=0.5)
    assert (upper - lower) / 2 == pytest.approx(stats.t.ppf(0.75, 9) * found.se)
    assert found.to_dict()["interval"] == list(found.interval())
    assert tuple(found.to_frame().loc[0, ["lower", "upper"]]) == found.interval()
    with pytest.raises(
        InvalidInputError, match="level=2 but it should be a number between 0 and 1"
    ):
        found.interval(level=2)


def test_no_interval_begins_below_zero():
    small = dataclasses.replace(quick_penalty((264, 9)), penalty=0.01, se=0.02)
    assert small.interval() == pytest.approx((0.0, 0.01 + 2.2621571628 * 0.02))


def test_even_nk_is_the_odd_one_below_as_in_earth():
    even, odd = (quick_penalty((150, 6), nk=nk) for nk in (16, 15))
    assert (even.penalty, even.se, even.nk) == (odd.penalty, odd.se, 16)
    runs = [correct_penalty((60, 3), nk=nk, n_rep=20, engine="native") for nk in (16, 15)]
    assert runs[0].penalty == runs[1].penalty


def test_default_nk_is_that_of_earth():
    assert quick_penalty((500, 5)).nk == 21
    assert quick_penalty((500, 30)).nk == 61
    assert quick_penalty((500, 30)).penalty == quick_penalty((500, 30), nk=61).penalty


@pytest.mark.parametrize("degree", [1, 2])
def test_between_two_cells_is_between_their_values(degree):
    """A spline may overshoot, but not by more than its error says."""
    for n in (100, 400, 1600):
        for low, high in pairwise(sorted(set(TABLE["p"]))):
            for p in range(low + 1, high, max(1, (high - low) // 5)):
                found = quick_penalty((n, p), degree=degree, nk=21)
                ends = [
                    quick_penalty((n, end), degree=degree, nk=21).penalty for end in (low, high)
                ]
                assert min(ends) - 2 * found.se <= found.penalty <= max(ends) + 2 * found.se


@pytest.mark.parametrize("degree", [1, 2])
def test_more_predictors_cost_more(degree):
    for n in (60, 120, 264, 1000, 3000):
        found = [quick_penalty((n, p), degree=degree, nk=21) for p in (1, 3, 6, 12, 24, 48)]
        assert (np.diff([f.penalty for f in found]) > 0).all()


def test_error_has_two_parts():
    found = quick_penalty((264, 9), degree=2)
    assert found.method == "interpolation"
    assert found.monte_carlo_se > 0
    assert found.interpolation_se > 0
    parts = np.hypot(found.monte_carlo_se, found.interpolation_se)
    assert found.se == pytest.approx(parts)


@pytest.mark.parametrize(
    ("shape", "options", "sentence"),
    [
        ((49, 5), {}, "n=49 but it should be from 50"),
        ((3201, 5), {}, "n=3201 but it should be from"),
        ((500, 61), {}, "p=61 but it should be from 1 to 60"),
        (
            (500, 5),
            {"nk": 2},
            "nk=2 but it should be from 3 to 121",
        ),
        ((500, 5), {"nk": 122}, "nk=122 but it should be from"),
        ((500, 5), {"degree": 3}, "degree=3 but it should be from 1 to 2, which the table has"),
        ((100, 60), {}, "n=100 but it should be from 141 to 3200 for nk=121"),
        (np.zeros((100, 3)), {}, "X is a ndarray but it should be a tuple"),
        ((100.0, 3), {}, r"X is a tuple but it should be a tuple \(n, p\) of integers"),
    ],
)
def test_it_refuses_and_names_the_exact_way(shape, options, sentence):
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        quick_penalty(shape, **options)
    assert "correct_penalty" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"), [("nk", 0), ("nk", 2.5), ("degree", True), ("degree", 0)]
)
def test_bad_counts(name, value):
    with pytest.raises(InvalidInputError, match=f"{name}={value}"):
        quick_penalty((100, 3), **{name: value})


def test_an_estimate_knows_the_exact_run():
    found = quick_penalty((60, 3), degree=2, nk=9)
    run = found.exact(n_rep=20, engine="native")
    assert (run.n, run.p, run.nk, run.degree, run.n_rep) == (60, 3, 9, 2, 20)


def test_an_estimate_as_data():
    found = quick_penalty((264, 9))
    assert repr(found).startswith("PenaltyEstimate(2 -> ")
    assert found.to_dict()["versions"] == TABLE.attrs["versions"]
    assert found.to_frame().loc[0, "penalty"] == found.penalty
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)


def test_ozone_and_spam_are_near_the_exact_penalties():
    """One exact run with 100 repetitions for each: the paper's."""
    for shape, degree, penalty in [
        ((264, 9), 1, 2.99357), ((264, 9), 2, 3.92098),
        ((3065, 57), 1, 6.252168), ((3065, 57), 2, 7.935667),
    ]:  # fmt: skip
        found = quick_penalty(shape, degree=degree)
        assert abs(found.penalty - penalty) < 4 * np.hypot(found.se, 0.1)


@pytest.mark.slow
def test_between_cells_against_exact_runs():
    """Other seeds than the table's, so that nothing is shared."""
    random = np.random.default_rng(7)
    distances = []
    for k in range(10):
        n, p = round(np.exp(random.uniform(4.3, 6))), int(random.integers(1, 20))
        nk, degree = int(random.integers(3, 42)), 1 + k % 2
        found = quick_penalty((n, p), nk=nk, degree=degree)
        _, _, penalty, se = exact(n, p, nk, degree, 100, range(7000, 7010))
        distances.append(abs(found.penalty - penalty) / np.hypot(found.se, se))
    assert max(distances) < 3.5
    assert np.mean(np.array(distances) < 2) >= 0.8
