"""Draw until the error is reached."""

import sys

import numpy as np
import pytest

from pyearthdof import RDraws, correct_penalty, degrees_of_freedom
from pyearthdof.dof.montecarlo import measurement, workers
from pyearthdof.dof.montecarlo.errors import Looks, Target
from pyearthdof.mars.engines.native.engine import BoundNative
from pyearthdof.procedures import Lasso, RegressionTree, Ridge

X = RDraws(31).normal(20 * 3).reshape(20, 3)
MARS = {"degree": 2, "nk": 9, "engine": "native"}


def tree(**options):
    return degrees_of_freedom(RegressionTree(2), X, random_state=1, **options)


def test_stops_where_the_error_is_reached():
    found = tree(target_se=0.25, variance_reduction="direction")
    assert found.se <= 0.25 and found.n_rep % 16 == 0
    # As if that number had been asked for.
    again = tree(n_rep=found.n_rep, variance_reduction="direction")
    assert found.df == pytest.approx(again.df, rel=1e-13)
    assert found.se == pytest.approx(again.se, rel=1e-9)
    fewer = tree(n_rep=found.n_rep // 2, variance_reduction="direction")
    assert fewer.se > 0.25
    assert found.settings["target_se"] == 0.25


def test_at_least_thirty_and_at_most_n_rep():
    assert tree(target_se=100.0).n_rep == 32
    with pytest.warns(UserWarning, match=r"after n_rep=50 repetitions.* and not target_se=0.01"):
        found = tree(target_se=0.01, n_rep=50)
    assert found.n_rep == 50 and found.se > 0.01


def test_long_runs_turn_to_frames():
    found = tree(target_se=0.1)
    assert found.settings["variance_reduction"] == "orthogonal, direction, control"
    assert found.se <= 0.1 and found.n_rep % 19 == 0 and found.n_rep >= 190
    short = tree(target_se=0.5)
    assert short.settings["variance_reduction"] == "direction, control"


@pytest.mark.parametrize("target", [0.1, 0.3])
@pytest.mark.parametrize("design", [X, (20, 3)], ids=["one", "drawn"])
def test_the_number_of_workers_does_not_matter(design, target):
    one, two = (
        degrees_of_freedom(
            RegressionTree(2), design, target_se=target, n_rep=2000, random_state=3, n_jobs=n
        )
        for n in (1, 2)
    )
    assert one.df == two.df and one.n_rep == two.n_rep
    assert np.array_equal(one.left_out["df"], two.left_out["df"])


def test_more_designs_where_designs_are_drawn():
    found = degrees_of_freedom(RegressionTree(2), (20, 3), target_se=0.3, random_state=1)
    assert found.n_designs >= 20 and found.n_rep == 5 * found.n_designs
    assert found.se <= 0.3 and found.se_covers == "the draws of y and of the design"
    one = degrees_of_freedom(RegressionTree(2), (20, 3), target_se=0.3, random_state=1, n_designs=1)
    assert one.n_designs == 1 and one.se <= 0.3


def test_rs_draws_and_the_papers_estimator():
    found = degrees_of_freedom(RegressionTree(2), X, target_se=0.5, draws=RDraws(1))
    again = degrees_of_freedom(RegressionTree(2), X, n_rep=found.n_rep, draws=RDraws(1))
    assert found.settings["variance_reduction"] is None
    assert found.df == pytest.approx(again.df, rel=1e-13)


def test_a_statistic_and_an_exact_one():
    found = degrees_of_freedom(Lasso(8.0), X, method="exact", target_se=0.05, random_state=1)
    assert found.df == found.n_coef and found.se <= 0.05
    assert degrees_of_freedom(Ridge(1.0), X, target_se=0.05).n_rep == 0


def test_penalty():
    found = correct_penalty(X, target_se=0.2, random_state=1, **MARS)
    assert found.se <= 0.2 and found.settings["target_se"] == 0.2
    long = correct_penalty(X, n_rep=3000, random_state=2, **MARS)
    assert abs(found.penalty - long.penalty) <= 3.5 * np.hypot(found.se, long.se)
    drawn = correct_penalty((20, 3), target_se=0.3, random_state=1, **MARS)
    assert drawn.se <= 0.3 and drawn.n_rep == 5 * drawn.n_designs


def test_a_search_that_finds_nothing_keeps_the_default():
    with pytest.warns(UserWarning, match="no fit added a term"):
        found = correct_penalty(np.ones((20, 1)), target_se=0.2, n_rep=64, engine="native")
    assert found.penalty == 2.0 and found.n_rep == 64


def test_the_bar_shows_the_last_error_and_changes_nothing(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    plain = correct_penalty(X, target_se=0.2, random_state=1, **MARS)
    found = correct_penalty(X, target_se=0.2, random_state=1, progress=True, n_jobs=2, **MARS)
    shown = capsys.readouterr().err
    assert f"se {found.se:.3g}, wanted 0.2" in shown and f"{found.n_rep}/10000" in shown
    assert found.se == plain.se and (found.left_out["df"] == plain.left_out["df"]).all()


def test_threads_fit_all_up_to_a_look_in_one_call(monkeypatch):
    calls = []
    fit_many = BoundNative.fit_many

    def counted(self, Y, n_threads=1):
        calls.append(Y.shape[1])
        return fit_many(self, Y, n_threads)

    monkeypatch.setattr(BoundNative, "fit_many", counted)
    found = correct_penalty(X, target_se=0.1, draws=RDraws(1), **MARS)
    assert calls[0] == 32 and calls[1] > 32 and sum(calls) == found.n_rep
    assert len(calls) < 6


@pytest.mark.parametrize("joined", [1 << 20, 2000])
@pytest.mark.parametrize(("target", "frame"), [(0.05, None), (0.02, 19)])
def test_what_is_fitted_in_one_call_changes_nothing(monkeypatch, joined, target, frame):
    def found(**options):
        return correct_penalty(X, target_se=target, random_state=1, **MARS, **options)

    monkeypatch.setattr(measurement, "_JOINED", joined)
    once = found()
    monkeypatch.setattr(workers, "_LONG_ENOUGH", 1e-4)
    barred = found(progress=True, n_jobs=2)
    monkeypatch.setattr(workers, "_MAX_VALUES", 1000)
    pieces = found()
    assert once.settings["frame_size"] == frame
    for other in (barred, pieces):
        assert (other.left_out["penalty"] == once.left_out["penalty"]).all()


def test_looks_are_few():
    looks, seen = Looks(Target(1.0, lambda found: found), 30), []
    for done in range(1, 5000):
        if looks.due(done):
            seen.append(done)
            if looks.reached(done, 40 / np.sqrt(done)):
                break
    assert seen == [30, 120, 480, 960, 1600]


def test_looks_are_at_steps():
    looks = Looks(Target(1.0, lambda found: found), 30, 16)
    assert looks.next == 32
    assert not looks.reached(32, 1.2) and looks.next == 48
    assert not looks.reached(48, 2.0) and looks.next == 96
    assert not looks.reached(96, np.nan) and looks.next == 384


@pytest.mark.parametrize("reduction", ["direction", None])
def test_what_waits_to_be_reduced_stays_small(monkeypatch, reduction):
    """Also after looks that ask for a number of repetitions at which no block ends."""
    monkeypatch.setattr(measurement, "_JOINED", 20 * 64)
    widths = []
    take = measurement._Tally.take

    def recorded(tally, block, parts):
        widths.append(block.Y.shape[1])
        take(tally, block, parts)

    monkeypatch.setattr(measurement._Tally, "take", recorded)
    with pytest.warns(UserWarning, match="and not target_se"):
        found = tree(target_se=0.001, n_rep=1000, variance_reduction=reduction)
    assert sum(widths) == found.n_rep == 1000 and max(widths) <= 64
