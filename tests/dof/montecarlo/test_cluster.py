"""A dask cluster: the same bits as without, chunks of equal time, workers that join later."""

import functools
import os
import pickle
import signal
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pyearthdof import Earth, RDraws, correct_penalty, family_df, self_consistency
from pyearthdof.dof import degrees_of_freedom
from pyearthdof.dof.families import Classes
from pyearthdof.dof.montecarlo import cluster as _cluster
from pyearthdof.dof.montecarlo.cluster import Chunks, run_on_cluster
from pyearthdof.dof.montecarlo.draws import (
    CorrelatedResponses,
    NumpyDraws,
    Responses,
    drawn_from,
    positions,
)
from pyearthdof.dof.montecarlo.variance_reduction import jackknife_groups
from pyearthdof.dof.montecarlo.workers import run_tasks
from pyearthdof.procedures import LeastSquares, NearestNeighbors

X = RDraws(31).normal(50 * 3).reshape(50, 3)


def same(a, b):
    numbers = ("df", "se", "trace", "msdf", "msdf_se", "sdf", "sdf_se")
    return all(getattr(a, name) == getattr(b, name) for name in numbers) and np.array_equal(
        a.per_observation, b.per_observation
    )


def responses(kind, draws):
    n, rng = 12, np.random.default_rng(0)
    mu, sigma = rng.normal(size=n), rng.uniform(1, 2, n)
    if kind == "classes":
        return Classes(np.full((n, 3), 1 / 3), np.arange(3), draws)
    if kind == "correlated":
        return CorrelatedResponses(n, mu, sigma, draws, root=np.tril(rng.normal(size=(n, n))))
    return Responses(n, mu, sigma, draws, frame=5 if kind == "frames" else None)


class TestPositions:
    """What is sent to a worker instead of responses."""

    @pytest.mark.parametrize("draws", [NumpyDraws(3), RDraws(3)], ids=["numpy", "R"])
    @pytest.mark.parametrize("kind", ["independent", "correlated", "frames", "classes"])
    def test_the_same_bits_as_one_after_the_other(self, kind, draws):
        edges = [0, 3, 4, 11, 15]
        expected = list(responses(kind, draws.copy()).blocks(edges))
        walked = responses(kind, draws.copy())
        found = list(positions(walked, edges))
        sent = pickle.loads(pickle.dumps(found))
        for position, Y in zip(sent, expected, strict=True):
            assert np.array_equal(next(drawn_from(position, walked, [Y.shape[1]])), Y)
        together = list(drawn_from(sent[1], walked, [1, 7, 4]))
        assert all(map(np.array_equal, together, expected[1:]))

    def test_the_stream_ends_where_the_responses_do(self):
        one, other = (responses("frames", NumpyDraws(3)) for _ in range(2))
        list(one.blocks([0, 7, 15]))
        list(positions(other, [0, 7, 15]))
        assert np.array_equal(one.draws.normal(3), other.draws.normal(3))


class TestChunks:
    def test_by_the_time_that_was_measured(self):
        chunks = Chunks(100_000, seconds=10.0)
        assert chunks.size(4) == 1
        chunks.learn(10, 1.0)
        assert chunks.size(4) == 100
        for _ in range(50):
            chunks.learn(100, 1.0)
        assert chunks.size(4) == pytest.approx(1000, abs=1)

    def test_half_an_even_share_of_the_rest_at_most(self):
        chunks = Chunks(1000, seconds=10.0)
        chunks.learn(1, 0.001)
        chunks.hand_out(200)
        assert chunks.size(4) == 100
        chunks.hand_out(799)
        assert chunks.size(4) == 1

    def test_no_smaller_than_a_frame(self):
        chunks = Chunks(1000, least=99)
        chunks.learn(1, 100.0)
        assert chunks.size(4) == 99


def _suicidal(folder, X, y):
    """The least-squares fit; the first worker to get here kills itself on its fifth fit."""
    folder = Path(folder)
    (folder / f"{os.getpid()}.{len(list(folder.glob(f'{os.getpid()}.*')))}").touch()
    if len(list(folder.glob(f"{os.getpid()}.*"))) >= 5:
        try:
            (folder / "killed").touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return X @ np.linalg.lstsq(X, y, rcond=None)[0]


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


def correlated(n):
    return 0.5 + 0.5 * np.eye(n)


def triple(common, tasks):
    return [(os.getpid(), len(tasks), common, 3 * task) for task in tasks]


def slowly(common, tasks):
    time.sleep(0.2)
    return [os.getpid()] * len(tasks)


class TestDask:
    @pytest.mark.parametrize(
        ("procedure", "options"),
        [
            (DecisionTreeRegressor(max_depth=2), {"n_rep": 40}),
            (DecisionTreeRegressor(max_depth=2), {"n_rep": 40, "variance_reduction": None}),
            (LeastSquares(), {"n_rep": 600, "draws": RDraws(2), "method": "monte-carlo"}),
            (NearestNeighbors(5), {"n_rep": 600, "random_state": 1, "method": "monte-carlo"}),
            (Earth(engine="native"), {"target_se": 0.5, "random_state": 1}),
            (DecisionTreeRegressor(max_depth=2), {"n_rep": 40, "sigma": correlated(50)}),
        ],
    )
    def test_same_bits_on_a_cluster(self, cluster, procedure, options):
        run = functools.partial(degrees_of_freedom, procedure, X, **{"random_state": 1} | options)
        if "draws" in options:
            run = functools.partial(degrees_of_freedom, procedure, X, **options)
        with joblib.parallel_config("dask"):
            there = run()
        assert same(there, run())

    @pytest.mark.parametrize(
        "reduction", ["direction", pytest.param("control", marks=pytest.mark.slow), None]
    )
    def test_same_bits_where_workers_send_sums(self, cluster, reduction):
        """A run too large to be kept."""
        large = np.random.default_rng(0).normal(size=(30_000, 1))
        run = functools.partial(
            degrees_of_freedom, LeastSquares(fit_intercept=True), large, n_rep=145, random_state=1,
            variance_reduction=reduction, method="monte-carlo",
        )  # fmt: skip
        assert jackknife_groups(30_000, 145, 2) is not None
        with joblib.parallel_config("dask"):
            there = run()
        assert same(there, run())

    def test_other_studies(self, cluster):
        studies = [
            functools.partial(correct_penalty, (60, 3), n_rep=40, random_state=1),
            functools.partial(self_consistency, (60, 3), nk=[3, 7], n_rep=40, random_state=1),
            functools.partial(
                family_df, DecisionTreeClassifier(max_depth=2), X, n_rep=20, random_state=1
            ),
        ]
        for study in studies:
            with joblib.parallel_config("dask"):
                there = study()
            assert there.to_frame().equals(study().to_frame())

    def test_a_worker_dies_on_the_way(self, cluster, tmp_path):
        fit = functools.partial(_suicidal, str(tmp_path))
        with joblib.parallel_config("dask"):
            there = degrees_of_freedom(fit, X, n_rep=60, random_state=1)
        assert (tmp_path / "killed").exists()
        assert same(there, degrees_of_freedom(fit, X, n_rep=60, random_state=1))

    def test_chunks_come_in_order_and_know_what_they_have_in_common(self, cluster):
        tasks = [("a", k) for k in range(400)] + [("b", k) for k in range(3)]
        a, b = "a" * 100, "b" * 100
        pairs = [(a if name == "a" else b, k) for name, k in tasks]
        with joblib.parallel_config("dask"):
            found = list(run_on_cluster(triple, pairs, chunks=Chunks(len(pairs))))
        assert [(common, task) for common, task, _ in found] == pairs
        assert all(result[2] == common and result[3] == 3 * k for common, k, result in found)
        sizes = [result[1] for *_, result in found]
        assert sizes[0] == 1 and max(sizes[:400]) > 10 and max(sizes[400:]) <= 3

    def test_a_worker_that_joins_later_gets_work(self, cluster, monkeypatch):
        monkeypatch.setattr(_cluster, "_LOOK", 0.1)
        seen = set()
        with joblib.parallel_config("dask"):
            chunks = Chunks(1000, seconds=0)
            for k, (*_, pid) in enumerate(
                run_on_cluster(slowly, (("x", k) for k in range(1000)), chunks=chunks)
            ):
                seen.add(pid)
                if k == 1:
                    cluster.scale(3)
                if len(seen) == 3:
                    break
        assert len(seen) == 3
        cluster.scale(2)

    def test_single_tasks(self, cluster):
        with joblib.parallel_config("dask"):
            assert list(run_tasks(abs, [-1, 2, -3])) == [(-1, 1), (2, 2), (-3, 3)]
