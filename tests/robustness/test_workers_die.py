"""A worker is killed in the middle of a run: the same bits as without, or one clear error; never a hang."""

import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import ClassVar

import joblib
import numpy as np
import pytest

from pyearthdof._version import __version__
from pyearthdof.contract import Fits
from pyearthdof.dof import degrees_of_freedom
from pyearthdof.dof.montecarlo import cluster as _cluster
from pyearthdof.dof.montecarlo import workers as _workers
from pyearthdof.dof.montecarlo.workers import WorkerDiedWarning, run_tasks
from pyearthdof.exceptions import ClusterError, FittingError
from pyearthdof.experiments import Experiment
from pyearthdof.experiments.runner import CellStore, run_experiments
from pyearthdof.mars.earth import Earth
from pyearthdof.random import RDraws
from tests.support.figures import record

X = RDraws(31).normal(50 * 3).reshape(50, 3)


def in_worker() -> bool:
    return multiprocessing.current_process().name != "MainProcess"


def once(flag) -> bool:
    """True for the first caller of all workers."""
    if not in_worker():
        return False
    try:
        Path(flag).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def fit_and_die_once(flag, X, y):
    if y[0] > 0.5 and once(flag):
        die()
    return X @ np.linalg.lstsq(X, y, rcond=None)[0]


def fit_or_die(X, y):
    if y[0] > 1.5:
        die()
    return np.full(len(y), y.mean())


def same(a, b) -> bool:
    return (a.df, a.se) == (b.df, b.se) and np.array_equal(a.per_observation, b.per_observation)


class DiesWhileSending:
    """Means; the first worker is killed when the head of its result is sent and the rest is not."""

    is_linear = is_equivariant = False
    df_statistic = None

    def __init__(self, flag):
        self.flag = flag

    def fit_many(self, X, Y):
        if once(self.flag):
            threading.Thread(target=self.die_while_sending, daemon=True).start()
        return Fits(fitted=np.repeat(Y.mean(axis=0)[None], len(Y), axis=0))

    @staticmethod
    def die_while_sending():
        def written():
            return int(Path("/proc/self/io").read_text().split("wchar:")[1].split()[0])

        before = written()
        while written() < before + 4:
            time.sleep(0)
        die()


class TestProcesses:
    def test_the_same_bits(self, tmp_path):
        fit = functools.partial(fit_and_die_once, str(tmp_path / "died"))
        run = functools.partial(degrees_of_freedom, fit, X, n_rep=60, random_state=1)
        expected = run()
        began = time.monotonic()
        with pytest.warns(WorkerDiedWarning, match="its work is done again"):
            found = run(n_jobs=2)
        assert (tmp_path / "died").exists()
        assert same(found, expected)
        record("loky worker killed", seconds=time.monotonic() - began, same_bits=True)

    def test_killed_while_it_sends_its_result(self, tmp_path, monkeypatch):
        """joblib alone waits for the rest of the result for ever."""
        monkeypatch.setattr(_workers, "_PATIENCE", 1.0)
        procedure = DiesWhileSending(str(tmp_path / "died"))
        large = np.zeros((100_000, 1))
        run = functools.partial(degrees_of_freedom, procedure, large, n_rep=32, random_state=1)
        expected = run()
        began = time.monotonic()
        with pytest.warns(WorkerDiedWarning):
            found = run(n_jobs=2)
        assert (tmp_path / "died").exists()
        assert same(found, expected)
        record(
            "loky worker killed while sending",
            seconds=time.monotonic() - began,
            same_bits=True,
        )

    def test_a_procedure_that_always_crashes_is_one_error(self):
        with (
            pytest.warns(WorkerDiedWarning),
            pytest.raises(FittingError, match=r"died again and again.*n_jobs=1") as caught,
        ):
            degrees_of_freedom(fit_or_die, X, n_rep=40, random_state=1, n_jobs=2)
        error = caught.value
        assert (error.y[0] > 1.5).any(), "the response that crashes is not among those named"
        assert error.draws == "numpy.random.default_rng(1)"
        assert same(
            *(degrees_of_freedom(mean, X, n_rep=20, random_state=1, n_jobs=k) for k in (1, 2))
        ), "the session is not usable afterwards"

    @pytest.mark.slow
    @pytest.mark.needs_r
    def test_with_an_r_in_each_worker(self):
        procedure = Earth(engine="r", degree=2, nk=31)
        run = functools.partial(degrees_of_freedom, procedure, (200, 10), n_rep=200, random_state=1)
        expected = run()
        run(n_jobs=2)  # the workers and their R are there now
        kill_a_child_after(0.3)
        began = time.monotonic()
        with pytest.warns(WorkerDiedWarning):
            found = run(n_jobs=2)
        assert same(found, expected)
        assert found.msdf_se == expected.msdf_se
        record(
            "loky worker with R killed",
            seconds=time.monotonic() - began,
            same_bits=True,
        )


def touch(path):
    Path(path).touch()


def deaf_to_ctrl_c(_) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_an_initializer_of_the_user_runs_and_workers_are_attached(tmp_path):
    flag = tmp_path / "initialized"
    with joblib.parallel_config("loky", initializer=touch, initargs=(flag,)):
        assert list(run_tasks(deaf_to_ctrl_c, [0, 1], n_jobs=2)) == [(0, True), (1, True)]
    assert flag.exists()


def mean(X, y):
    return np.full(len(y), y.mean())


def kill_a_child_after(seconds):
    """SIGKILL, from outside, to a worker of joblib's executor."""
    from joblib.externals.loky import get_reusable_executor

    pid = next(iter(get_reusable_executor(2, reuse=True)._processes))
    threading.Timer(seconds, os.kill, (pid, signal.SIGKILL)).start()


def slowly(task):
    time.sleep(0.01)
    return task


class TestTasks:
    def test_order_and_laziness(self):
        seen = []

        def tasks():
            for i in range(100):
                seen.append(i)
                yield i

        results = run_tasks(slowly, tasks(), n_jobs=2, prefer="threads")
        assert next(results) == (0, 0)
        assert len(seen) < 50
        assert list(results) == [(i, i) for i in range(1, 100)]

    def test_results_that_joblib_does_not_deliver_are_missed(self, monkeypatch):
        def lazy(jobs, *settings):
            function, args, _ = next(jobs)
            yield function(*args)

        monkeypatch.setattr(_workers, "_on_joblib", lazy)
        with pytest.warns(WorkerDiedWarning):
            assert list(run_tasks(abs, [-1, 2, -3])) == [(-1, 1), (2, 2), (-3, 3)]


class Cells(Experiment):
    name = "T-cells"
    sizes: ClassVar = {"quick": {"n": 3}}

    def __init__(self, flag=None, deadly=None):
        self.flag, self.deadly = flag, deadly

    def cells(self, size):
        return [{"seed": seed} for seed in range(6)]

    def compute(self, cell, engine):
        if self.flag is not None and cell["seed"] == 3 and once(self.flag):
            die()
        if cell["seed"] == self.deadly and in_worker():
            die()
        value = np.random.default_rng(cell["seed"]).normal()
        return [{"seed": cell["seed"], "value": float(value)}]

    def compare(self, frame):
        return []

    def plot(self, frame):
        return None


class TestCells:
    def test_the_same_bytes(self, tmp_path):
        experiment = Cells(flag=str(tmp_path / "died"))
        with pytest.warns(WorkerDiedWarning):
            [found] = run_experiments(
                [experiment], "quick", n_jobs=2, store=CellStore(tmp_path / "cells")
            )
        [expected] = run_experiments([Cells()], "quick")
        assert found.frame.to_csv() == expected.frame.to_csv()
        # the worker that was killed along may leave a partial file, which the next run removes
        assert len(list((tmp_path / "cells").glob("*.json"))) == 6

    @pytest.mark.slow
    def test_a_cell_that_always_crashes_is_one_error_and_the_others_are_kept(self, tmp_path):
        with (
            pytest.warns(WorkerDiedWarning),
            pytest.raises(FittingError, match=r"T-cells; finished cells are kept"),
        ):
            list(run_experiments([Cells(deadly=5)], "quick", n_jobs=2, store=CellStore(tmp_path)))
        kept = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
        assert len(kept) == 5
        list(run_experiments([Cells()], "quick", store=CellStore(tmp_path)))
        assert all(file.stat().st_mtime_ns == when for file, when in kept.items())
        record("process of `reproduce` killed", cells_kept=len(kept), cells_lost=0)


def test_workers_end_with_a_main_process_that_was_killed(tmp_path):
    code = """
        import os, sys, time
        from pyearthdof.dof.montecarlo.workers import run_tasks

        def note(folder):
            open(os.path.join(folder, str(os.getpid())), "w").close()
            time.sleep(60)

        for _ in run_tasks(note, [sys.argv[1]] * 2, n_jobs=2):
            pass
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)],
        stderr=subprocess.DEVNULL,
    )
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    process.kill()
    process.wait()
    began = time.monotonic()
    workers = [int(file.name) for file in tmp_path.iterdir()]
    wait_until(lambda: not any(map(is_running, workers)))
    record("main process killed", seconds_until_workers_ended=time.monotonic() - began)


@pytest.mark.parametrize("seconds", [0.0, 0.3, 1.0])
def test_workers_end_that_had_only_just_started(seconds):
    code = """
        import time
        from pyearthdof.dof.montecarlo.workers import run_tasks

        for _ in run_tasks(time.sleep, [60] * 2, n_jobs=2):
            pass
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stderr=subprocess.DEVNULL
    )
    started: set[int] = set()
    wait_until(lambda: started.update(children(process.pid)) or started)
    time.sleep(seconds)
    started.update(children(process.pid))
    process.kill()
    process.wait()
    wait_until(lambda: not any(map(is_running, started)), seconds=20)


def children(pid) -> set[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return {int(child) for task in tasks for child in task.read_text().split()}


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def is_running(pid) -> bool:
    """Tell whether the process is there and not merely unburied."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def kill_at_work(pid) -> None:
    """Kill a process a moment after its R has loaded earth."""
    wait_until(lambda: "earth.so" in Path(f"/proc/{pid}/maps").read_text())
    time.sleep(0.2)
    os.kill(pid, signal.SIGKILL)


MISSING = "sys.modules['pyearthdof'] = None"
OTHER = "sys.modules['pyearthdof'] = types.SimpleNamespace(__version__='0.0.1')"


class TestDaskRefused:
    """Clusters that cannot do the work: the error names the worker or the scheduler."""

    @pytest.fixture
    def start(self, tmp_path):
        pytest.importorskip("distributed", reason="dask.distributed is not installed")
        file = tmp_path / "scheduler.json"
        processes = []

        def start(kind, package="import pyearthdof"):
            code = f"import sys, types; {package}; from distributed.cli.dask_{kind} import main; main()"
            arguments = ["--scheduler-file", file, "--no-dashboard", "--host", "127.0.0.1"]
            arguments += ["--no-nanny"] if kind == "worker" else ["--port", "0"]
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-c", code, *arguments], stderr=subprocess.DEVNULL
                )
            )
            return processes[-1]

        yield start
        for process in processes:
            process.kill()
            process.wait()

    @pytest.fixture
    def connect(self, tmp_path):
        import distributed

        clients = []

        def connect(n_workers):
            file = tmp_path / "scheduler.json"
            wait_until(lambda: file.exists() and file.read_text().endswith("}"))
            clients.append(distributed.Client(scheduler_file=file, timeout=60))
            clients[0].wait_for_workers(n_workers, timeout=60)
            return clients[0]

        yield connect
        for client in clients:
            client.close(timeout=1)

    @pytest.mark.parametrize(
        ("part", "package", "message"),
        [
            ("worker", MISSING, r"worker tcp://127.0.0.1:\d+ cannot import pyearthdof .+"),
            ("worker", OTHER, r"worker tcp://127.0.0.1:\d+ has pyearthdof 0\.0\.1"),
            ("scheduler", MISSING, r"scheduler at tcp://127.0.0.1:\d+ cannot import .+"),
        ],
        ids=["worker without", "worker with another version", "scheduler without"],
    )
    def test_a_part_without_this_version_of_the_package(
        self, start, connect, part, package, message
    ):
        for kind in "scheduler", "worker", "worker":
            start(kind, *[package] if kind == part else [])
            part = None if kind == part else part
        connect(2)
        with (
            joblib.parallel_config("dask"),
            pytest.raises(
                ClusterError, match=f"^the dask {message}; install pyearthdof {__version__},"
            ),
        ):
            degrees_of_freedom(mean, X, n_rep=20, random_state=1)

    def test_a_scheduler_that_is_lost(self, start, connect, tmp_path):
        scheduler = start("scheduler")
        start("worker")
        address = connect(1).scheduler.address
        flag = tmp_path / "working"

        def fit(X, y):  # nested: it travels by value
            flag.touch()
            time.sleep(0.05)
            return y

        def kill():
            wait_until(flag.exists)
            scheduler.kill()

        threading.Thread(target=kill, daemon=True).start()
        lost = f"the connection to the dask scheduler at {address} was lost"
        for _ in "during the run", "before the next one":
            with joblib.parallel_config("dask"), pytest.raises(ClusterError, match=lost):
                degrees_of_freedom(fit, X, n_rep=200, random_state=1)


@pytest.mark.slow
class TestDask:
    @pytest.fixture
    def cluster(self):
        distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client

    @pytest.mark.needs_r
    def test_the_same_bits_with_an_r_in_each_worker(self, cluster):
        procedure = Earth(engine="r", degree=2, nk=31)
        run = functools.partial(degrees_of_freedom, procedure, (200, 10), n_rep=300, random_state=1)
        expected = run()
        pid = next(iter(cluster.run(os.getpid).values()))
        threading.Thread(target=kill_at_work, args=(pid,)).start()
        began = time.monotonic()
        with joblib.parallel_config("dask"):
            found = run()
        assert not is_running(pid), "the worker was killed too late"
        assert same(found, expected)
        record(
            "dask worker with R killed",
            seconds=time.monotonic() - began,
            same_bits=True,
        )

    def test_a_procedure_that_always_crashes_is_one_error(self, cluster, monkeypatch):
        """joblib alone waits for ever."""
        monkeypatch.setattr(_cluster, "_NO_WORKERS", 20.0)
        began = time.monotonic()
        with (
            joblib.parallel_config("dask"),
            pytest.raises(FittingError, match="again and again"),
        ):
            degrees_of_freedom(fit_or_die, X, n_rep=40, random_state=1)
        record(
            "procedure that kills dask workers",
            seconds_until_error=time.monotonic() - began,
        )
