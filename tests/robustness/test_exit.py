"""The end of a process in which R runs: silent, without a crash, also for worker processes."""

import subprocess
import sys

import pytest

from tests.support.child import run_child
from tests.support.figures import record

pytestmark = pytest.mark.needs_r

WORKERS = """
import numpy as np
from joblib import Parallel, delayed
from pyearthdof import Earth


def allowed(degree, pred, parents, namesx, first):
    return pred != 1


def n_terms(seed):
    X = np.random.default_rng(seed).normal(size=(50, 3))
    return Earth(engine="r", allowed=allowed if seed % 2 else None).fit(X, np.abs(X[:, 0])).n_terms_


if __name__ == "__main__":
    found = Parallel(n_jobs=2)(delayed(n_terms)(seed) for seed in range(4))
    assert found == [n_terms(seed) for seed in range(4)]
"""


def run_script(folder, code):
    """Workers import the script that started them, so it must be a file."""
    script = folder / "script.py"
    script.write_text(code)
    return subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_workers_end_silently(tmp_path, times):
    for _ in range(times):
        done = run_script(tmp_path, WORKERS)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    record("ends of a process with R", processes=3 * times, complaints=0)


# Python takes modules down in an order that depends on who holds what. The complaint came when rpy2's
# were gone before our function in R was released; a release of our own is still whole. And what other
# code does at exit may come later than the end of R.
AT_EXIT = """
import atexit, os
from pyearthdof import bridge
from pyearthdof.exceptions import RNotAvailableError


def late():
    try:
        bridge.call("echo", 1.0, package=None)
    except RNotAvailableError as error:
        os.write(1, str(error).encode())


atexit.register(late)
bridge.require(None)
from rpy2.rinterface_lib import _rinterface_capi

released = _rinterface_capi.SexpCapsuleWithPassenger.__del__


def watch(capsule, write=os.write, released=released):
    released(capsule)
    write(1, b"released, ")


_rinterface_capi.SexpCapsuleWithPassenger.__del__ = watch
"""


def test_r_is_left_while_rpy2_is_whole_and_not_used_after():
    done = run_child(AT_EXIT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "released, Python is ending, and R with it; to fix it: fit before"
    )


IN_A_CALL = """
import threading, time
from pyearthdof import bridge
from pyearthdof.bridge import session
bridge.require(None)
running = session._get_session()
running.environment["nap"] = running.ri.baseenv["Sys.sleep"]
threading.Thread(target=bridge.call, args=("nap", 1.5), kwargs={"package": None}, daemon=True).start()
time.sleep(0.5)
"""


@pytest.mark.slow
def test_a_thread_in_the_middle_of_a_call_is_waited_for():
    done = run_child(IN_A_CALL)
    assert (done.returncode, done.stderr) == (0, "")
