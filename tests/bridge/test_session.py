"""R in this process: threads, forks, console, warnings, errors, other users of rpy2, Ctrl-C."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pyearthdof import Earth, bridge
from pyearthdof.exceptions import RError, RForkedError
from tests.support.signals import ctrl_c_heard

pytestmark = pytest.mark.needs_r

RNG = np.random.default_rng(5)
X = RNG.normal(size=(100, 4))
Y = RNG.normal(size=(100, 16))


def fit(column):
    model = Earth(degree=2, thresh=0, engine="r").fit(X, Y[:, column])
    return model.term_coef_.tobytes() + model.dirs_.tobytes()


def test_eight_threads_give_what_one_gives():
    alone = [fit(j) for j in range(16)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(fit, range(16))) == alone


def _try_in_child(queue):
    try:
        fit(0)
        queue.put("it worked")
    except RForkedError as error:
        queue.put(str(error))


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_gets_the_clear_error():
    fit(0)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_try_in_child, args=(queue,))
    child.start()
    answer = queue.get(timeout=60)
    child.join(60)
    assert "forked after R had started" in answer and "loky" in answer


def python(code, **more):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **more,
    )


def test_rs_console_stays_quiet():
    code = """
import numpy as np, warnings
from pyearthdof import Earth
warnings.simplefilter("ignore")
x = np.arange(40.0)[:, None]
Earth(engine="r").fit(x, np.ones(40)); Earth(engine="r").fit(x, x[:, 0]).summary()
try:
    from pyearthdof import bridge
    bridge.call("load.package", "no.such.package")
except Exception as error:
    assert type(error).__name__ == "RError", error
"""
    done = python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_errors_of_r_are_one_family_with_rs_message():
    with pytest.raises(RError, match="there is no package called"):
        bridge.call("load.package", "no.such.package")


def test_other_users_of_this_r_find_everything_as_it_was():
    code = """
import os
import rpy2.robjects as ro
ro.r('set.seed(7); x <- 1; options(digits = 5); before <- search()')
state = ro.r('c(runif(1), sum(.Random.seed))')
ro.r('set.seed(7)'); folder = os.getcwd()
import numpy as np
from pyearthdof import Earth
X = np.random.default_rng(0).normal(size=(50, 2))
Earth(degree=2, engine="r").fit(X, X[:, 0]).summary()
assert list(ro.r('c(runif(1), sum(.Random.seed))')) == list(state)
assert list(ro.r('c(x, getOption("digits"))')) == [1, 5]
assert list(ro.r('ls(globalenv())')) == ['before', 'x']
assert ro.r('identical(search(), before)')[0] and os.getcwd() == folder
print(ro.r('1 + 1')[0])
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "2.0"


def test_programs_started_later_inherit_no_library_path():
    code = """
import os
before = os.environ.get("LD_LIBRARY_PATH")
from pyearthdof import bridge
bridge.require("earth")
assert os.environ.get("LD_LIBRARY_PATH") == before
"""
    assert python(code).returncode == 0


def test_a_wrong_r_home_is_named():
    code = """
from pyearthdof import Earth
Earth(engine="r").fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
"""
    done = python(code, env={**os.environ, "R_HOME": "/nowhere"})
    assert "R_HOME is '/nowhere'" in done.stderr and "unset R_HOME" in done.stderr


def test_ctrl_c_stops_a_batch_and_leaves_r_usable():
    many = RNG.normal(size=(100, 4000))
    timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    with ctrl_c_heard():
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            Earth(degree=2, thresh=0, engine="r").fit_many(X, many)
        timer.join()
        assert fit(0) == fit(0)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
