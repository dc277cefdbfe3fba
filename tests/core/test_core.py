"""The compiled loops as Python sees them: same bits for any threads and instructions, forks, Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from pyearthdof import Earth, _core
from pyearthdof.mars.components.terms import evaluate_terms
from pyearthdof.mars.engines.native import engine as native
from pyearthdof.mars.options import EarthOptions
from pyearthdof.procedures import BestSubset, Lasso, RegressionTree

INSTRUCTIONS = ("plain", "sse2", "avx2", "avx512", "neon")


def options(X, **given) -> EarthOptions:
    return EarthOptions(n_features=X.shape[1], **given)


def data(n=200, p=6, m=9, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, 0] = np.round(X[:, 0], 1)
    return X, X[:, :1] * X[:, 1:2] + rng.normal(size=(n, m))


def many(X, Y, options, n_threads=1):
    fits = native.BoundNative(X, None, options).fit_many(Y, n_threads)
    return fits.fitted, fits.n_coef


@pytest.fixture
def instructions():
    """Choose an instruction set for a test, and put the machine's own back."""
    own = _core.instructions()

    def choose(name):
        if not _core.use_instructions(name):
            pytest.skip(f"this processor has no {name}")

    yield choose
    _core.use_instructions(own)


@pytest.fixture(params=[True, False], ids=["sharing all", "sharing long work"])
def sharing(request):
    """Threads that share even the shortest work, and those that share what is worth it."""
    _core.share_all_work(request.param)
    yield
    _core.share_all_work(False)


@pytest.mark.usefixtures("sharing")
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("pmethod", ["none", "backward"])
def test_many_fits_do_not_depend_on_the_threads(degree, pmethod):
    X, Y = data()
    chosen = options(X, degree=degree, pmethod=pmethod, nk=31)
    fitted, n_terms = many(X, Y, chosen)
    for n_threads in (2, 3, 7):
        again = many(X, Y, chosen, n_threads)
        assert np.array_equal(again[0], fitted)
        assert np.array_equal(again[1], n_terms)


@pytest.mark.usefixtures("sharing")
@pytest.mark.parametrize("n_responses", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_fit_does_not_depend_on_the_threads(weighted, n_responses):
    X, Y = data()
    weights = np.linspace(0.5, 2, len(X)) if weighted else None
    passes = [
        native.forward_pass(
            X, Y[:, :n_responses], options(X, degree=2), weights, n_threads=n_threads
        )
        for n_threads in (1, 2, 5)
    ]
    for found in passes[1:]:
        assert np.array_equal(found.bx, passes[0].bx)
        assert np.array_equal(found.cuts, passes[0].cuts)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_the_columns_are_those_of_the_terms(degree):
    X, Y = data()
    found = native.forward_pass(X, Y[:, :1], options(X, degree=degree, nk=31, thresh=0))
    assert (found.dirs != 0).sum(axis=1).max() == degree  # terms that are no parents, and that are
    for column, dirs, cuts in zip(found.bx.T, found.dirs, found.cuts, strict=True):
        np.testing.assert_allclose(
            column, evaluate_terms(X, dirs[None], cuts[None])[:, 0], rtol=1e-14
        )


def test_searches_of_long_data_take_turns():
    """Their work space comes and goes with each; the pass in earth's order alone has only one of them."""
    X, Y = data(n=33_000, p=3, m=1)
    chosen = options(X, degree=2, nk=9, thresh=0)
    found, exact = (native.forward_pass(X, Y, chosen, exact=exact) for exact in (False, True))
    assert found.n_ties > 0 and len(found.dirs) > 5
    assert np.array_equal(found.dirs, exact.dirs) and np.array_equal(found.bx, exact.bx)


def test_an_unknown_instruction_set_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", "from pyearthdof.cli import main; main()", "df", "tree", "--depth", "2"],
        env=os.environ | {"PYEARTHDOF_INSTRUCTIONS": "mmx"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(
        "pyearthdof: PYEARTHDOF_INSTRUCTIONS=mmx but it should be one that"
    )
    assert done.stderr.endswith("plain\n")


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_instruction_sets_give_the_same_bits(name, instructions):
    X, Y = data(n=150, m=5)
    chosen = options(X, degree=2, nk=41)
    wanted = many(X, Y, chosen), native.fit(X, Y[:, 0], chosen), native.fit(X, Y[:, :3], chosen)
    instructions(name)
    found = many(X, Y, chosen), native.fit(X, Y[:, 0], chosen), native.fit(X, Y[:, :3], chosen)
    assert np.array_equal(found[0][0], wanted[0][0])
    for ours, theirs in zip(found[1:], wanted[1:], strict=True):
        assert np.array_equal(ours.model.coef, theirs.model.coef)
        assert np.array_equal(ours.leverages, theirs.leverages)


@pytest.mark.parametrize("procedure", [RegressionTree(3), Lasso(10.0), BestSubset(size=2)])
@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_procedures_give_the_same_bits(procedure, name, instructions):
    X, Y = data(n=60)
    wanted = procedure.fit_many(X, Y).fitted
    instructions(name)
    assert np.array_equal(procedure.fit_many(X, Y).fitted, wanted)


def test_an_unknown_instruction_set_is_not_taken():
    before = _core.instructions()
    assert not _core.use_instructions("mmx")
    assert _core.instructions() == before


def test_the_environment_chooses_the_instructions():
    code = "from pyearthdof import _core; print(_core.instructions())"
    shown = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYEARTHDOF_INSTRUCTIONS": "plain"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() == "plain"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fit_a_fork_and_a_fit_in_the_child():
    code = """
import os, numpy as np
from pyearthdof.mars.engines.native import engine as native
from pyearthdof.mars.options import EarthOptions
options = EarthOptions(n_features=5)
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(100, 5)), rng.normal(size=(100, 20))
mine = native.BoundNative(X, None, options).fit_many(Y, 2).fitted
child = os.fork()
same = np.array_equal(native.BoundNative(X, None, options).fit_many(Y, 2).fitted, mine)
if child == 0:
    os._exit(0 if same else 3)
assert same and os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_no_thread_is_left_behind():
    X, Y = data()
    before = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else None
    if before is None:
        pytest.skip("this system does not show its threads")
    many(X, Y, options(X), 4)
    assert len(os.listdir("/proc/self/task")) <= before


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system does not say where threads may run"
)
def test_threads_stay_on_the_processors_of_the_process():
    """Also those that are new: they are sent to another processor than the caller's, if there is one."""
    code = """
import os, threading, numpy as np
from pyearthdof.mars.engines.native import engine as native
from pyearthdof.mars.options import EarthOptions
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(500, 10)), rng.normal(size=(500, 2000))
bound = native.BoundNative(X, None, EarthOptions(n_features=10, degree=2))
alone = bound.fit_many(Y[:, :50], 1).fitted
mine = {min(os.sched_getaffinity(0))}
os.sched_setaffinity(0, mine)
others = set(os.listdir("/proc/self/task"))  # of libraries such as pyarrow
run = threading.Thread(target=lambda: bound.fit_many(Y, 4))
run.start()
seen = {}
while run.is_alive():
    for task in map(int, set(os.listdir("/proc/self/task")) - others):
        try:
            seen[task] = os.sched_getaffinity(task)
        except ProcessLookupError:
            pass
assert len(seen) >= 4, seen
assert all(where == mine for where in seen.values()), seen
assert os.sched_getaffinity(0) == mine
assert np.array_equal(bound.fit_many(Y[:, :50], 4).fitted, alone)
"""
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, env=environment)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_is_heard_in_the_loops(n_threads):
    """A fit of minutes, stopped; Python goes on and fits again."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50_000, 30)), rng.normal(size=(50_000, 1))
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            native.forward_pass(
                X, y, options(X, degree=3, nk=301, thresh=0.0, fast_k=0), n_threads=n_threads
            )
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(native.fit(X[:200], y[:200, 0], options(X)).model.selected) >= 1


def test_python_goes_on_while_the_loops_run():
    """The GIL is released: another thread counts meanwhile."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 10)), rng.normal(size=(300, 200))
    counted, over = [0], threading.Event()

    def count():
        while not over.wait(0.001):
            counted[0] += 1

    other = threading.Thread(target=count)
    other.start()
    many(X, Y, options(X, degree=2, nk=41))
    over.set()
    other.join()
    assert counted[0] > 2


def test_arrays_of_other_layouts_are_taken():
    X, Y = data()
    wanted = Earth(engine="native").fit(X, Y[:, 0])
    strided = np.asfortranarray(np.repeat(X, 2, axis=1))[:, ::2]
    found = Earth(engine="native").fit(strided, np.repeat(Y[:, 0], 3)[::3])
    assert np.array_equal(found.term_coef_, wanted.term_coef_)


def test_read_only_arrays_are_taken():
    X, Y = data()
    X.setflags(write=False)
    Y.setflags(write=False)
    assert many(X, Y, options(X))[0].shape == Y.shape


REFUSED_THREADS = """
import resource, sys
import numpy as np
from pyearthdof import Earth

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(300, 3)), rng.normal(size=(300, 40))
one = Earth(engine="native").fit_many(X, Y, n_jobs=1).fitted
pages = int(open("/proc/self/statm").read().split()[0])
# The stacks of two more threads fit into memory, those of eight do not.
limit = pages * resource.getpagesize() + 2 * STACK + STACK // 2
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for _ in range(5):
    assert (Earth(engine="native").fit_many(X, Y, n_jobs=8).fitted == one).all()
print("done")
""".replace("STACK", str(2**28))


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory as Linux has them")
def test_threads_that_the_system_refuses():
    """Fewer threads do the work; before, the call waited forever or ended the process."""
    import resource

    def large_stacks():
        resource.setrlimit(resource.RLIMIT_STACK, (2**28, 2**28))

    done = subprocess.run(
        [sys.executable, "-c", REFUSED_THREADS],
        capture_output=True, text=True, timeout=60, check=False, preexec_fn=large_stacks,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def term_by_numpy(X, dirs, cuts):
    """One term, factor by factor: R's operations on whole columns."""
    values = np.ones(len(X))
    with np.errstate(over="ignore", invalid="ignore"):
        for j in np.flatnonzero(dirs):
            if dirs[j] == 2:
                values *= X[:, j]
            else:
                hinge = dirs[j] * (X[:, j] - cuts[j])
                values *= hinge
                values *= hinge > 0.0
    return values + 0.0


@pytest.mark.parametrize("n", [0, 1, 127, 128, 300])
@pytest.mark.parametrize("kind", ["C", "F", "reversed", "float32", "unaligned"])
def test_terms_have_the_bits_of_numpy(kind, n):
    rng = np.random.default_rng(n)
    p = 4
    X = rng.choice([-np.inf, -1e200, -1.5, -0.0, 0.0, 0.5, 1e200, np.inf, np.nan], size=(n, p))
    X[::2] = rng.normal(size=X[::2].shape)
    if kind == "F":
        X = np.asfortranarray(X)
    elif kind == "reversed":
        X = X[::-1, ::-1]
    elif kind == "float32":
        with np.errstate(over="ignore"):
            X = X.astype(np.float32)
    elif kind == "unaligned":
        packed = np.zeros(n, dtype=[("odd", "f4"), ("X", "f8", (p,))])
        packed["X"] = X
        X = packed["X"]
    dirs = rng.choice([-1, 0, 0, 1, 2], size=(12, p))
    dirs[0] = 0
    cuts = np.where(dirs == 0, 0.0, rng.choice([0.0, -0.3, 0.5], size=dirs.shape))
    found = evaluate_terms(X, dirs, cuts)
    assert found.shape == (n, 12) and found.flags.c_contiguous
    for column, *term in zip(found.T, dirs, cuts, strict=True):
        expected = term_by_numpy(X.astype(float), *term)
        np.testing.assert_array_equal(column, expected)
        known = ~np.isnan(expected)
        assert np.array_equal(np.signbit(column[known]), np.signbit(expected[known]))


def test_terms_that_do_not_fit_the_predictors_are_refused():
    with pytest.raises(ValueError, match="a column for each predictor"):
        evaluate_terms(np.ones((3, 2)), np.zeros((1, 3)), np.zeros((1, 3)))
