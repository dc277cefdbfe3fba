"""How a run is divided: the same bits for any number of workers, bounded memory, a cluster."""

import functools
import subprocess
import sys
import textwrap

import joblib
import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from pyearthdof.dof import degrees_of_freedom
from pyearthdof.dof.montecarlo.errors import mean_of
from pyearthdof.dof.montecarlo.variance_reduction import covariance_sum, jackknife_groups
from pyearthdof.dof.montecarlo.workers import block_edges
from pyearthdof.procedures.linear import LeastSquares, NearestNeighbors
from pyearthdof.random import RDraws

X = RDraws(31).normal(50 * 3).reshape(50, 3)


def same(a, b):
    numbers = ("df", "se", "trace", "msdf", "msdf_se", "sdf", "sdf_se")
    return all(getattr(a, name) == getattr(b, name) for name in numbers) and np.array_equal(
        a.per_observation, b.per_observation
    )


class TestBlocks:
    @pytest.mark.parametrize("n", [10, 3065, 10**6, 10**8])
    @pytest.mark.parametrize("n_rep", [2, 16, 17, 40, 100, 1000, 12345])
    def test_cover_everything_evenly_and_are_small(self, n, n_rep):
        edges = block_edges(n, n_rep)
        sizes = np.diff(edges)
        assert edges[0] == 0 and edges[-1] == n_rep
        assert sizes.min() >= 1 and np.ptp(sizes) <= 1
        assert sizes.max() == 1 or n * sizes.max() <= 2**20 + n
        assert sizes.max() <= 64


@pytest.mark.parametrize(
    ("procedure", "n_jobs"),
    [(LeastSquares(), 2), (NearestNeighbors(3), 2), (DecisionTreeRegressor(max_features=1), 3)],
    ids=repr,
)
def test_same_bits_for_any_number_of_workers(procedure, n_jobs):
    run = functools.partial(
        degrees_of_freedom, procedure, X, n_rep=37, draws=RDraws(1), method="monte-carlo"
    )
    assert same(run(n_jobs=1), run(n_jobs=n_jobs))


def test_same_bits_in_threads():
    with joblib.parallel_config("threading", n_jobs=3):
        threads = degrees_of_freedom(LeastSquares(), X, method="monte-carlo", random_state=1)
    assert same(
        threads, degrees_of_freedom(LeastSquares(), X, method="monte-carlo", random_state=1)
    )


def test_progress_bar(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    degrees_of_freedom(LeastSquares(), X, method="monte-carlo", n_rep=20, progress=True)
    assert "20/20" in capsys.readouterr().err
    degrees_of_freedom(LeastSquares(), X, method="monte-carlo", n_rep=20)
    assert capsys.readouterr().err == ""


class TestLargeRunsKeepSumsOnly:
    rng = np.random.default_rng(0)
    mu, sigma = rng.normal(size=20) * 50, rng.uniform(0.5, 2, 20)
    Y = mu[:, None] + sigma[:, None] * rng.normal(size=(20, 500))
    fitted = 0.3 * Y + 0.01 * np.abs(Y) ** 1.5 + 1000

    def sums(self, groups):
        total = covariance_sum(self.mu, self.sigma, groups)
        for start in range(0, 500, 50):
            total.add(self.Y[:, start : start + 50], self.fitted[:, start : start + 50])
        return total.result()

    def test_the_same_estimate(self):
        kept, streamed = self.sums(None), self.sums(np.arange(500) * 32 // 500)
        assert streamed.total.value == pytest.approx(kept.total.value, rel=1e-11)
        np.testing.assert_allclose(streamed.per_observation, kept.per_observation, rtol=1e-10)
        assert streamed.total.se == pytest.approx(kept.total.se, rel=0.4)

    def test_both_are_the_covariance_of_the_definition(self):
        expected = [np.cov(y, f)[0, 1] for y, f in zip(self.Y, self.fitted, strict=True)]
        np.testing.assert_allclose(self.sums(None).per_observation, expected / self.sigma**2)

    def test_leaving_one_out_is_really_leaving_it_out(self):
        def df(columns):
            y, f = self.Y[:, columns], self.fitted[:, columns]
            return sum(np.cov(a, b)[0, 1] / s**2 for a, b, s in zip(y, f, self.sigma, strict=True))

        for groups, member in ((None, np.arange(500) == 7), (np.arange(500) // 100,) * 2):
            total = self.sums(groups).total
            left_out = member if groups is None else groups == 2
            value = total.left_out[7 if groups is None else 2]
            assert value == pytest.approx(df(~left_out), rel=1e-10)

    def test_groups_of_a_mean(self):
        values, groups = np.arange(10.0), np.arange(10) // 4
        assert mean_of(values, groups).left_out[2] == np.mean(values[:8])

    def test_small_runs_leave_out_single_repetitions(self):
        assert jackknife_groups(100, 1000) is None
        assert len(np.unique(jackknife_groups(10**6, 1000))) == 32


@pytest.mark.slow
def test_memory_of_a_large_run():
    code = """
        import numpy as np
        from pyearthdof.dof import degrees_of_freedom

        def mean(X, y):
            return np.full(len(y), y.mean())

        X = np.zeros((10_000, 1))
        degrees_of_freedom(mean, X, n_rep=2, random_state=1)
        found = degrees_of_freedom(mean, X, n_rep=1000, random_state=1)
        assert abs(found.df - 1) < 3 * found.se, found
        status = open("/proc/self/status").read()  # unlike getrusage, without the process that started it
        print(status.split("VmHWM:")[1].split()[0])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 500 * 1024  # KiB
