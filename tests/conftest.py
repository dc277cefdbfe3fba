"""One BLAS thread for each worker, and tests that need R are skipped where it is missing."""

import os

import pytest

# Two pytest workers with two BLAS threads each on two cores spend their time waiting for each other.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Skip what is marked `needs_r` (R with earth) or `needs_r("mda")` where that is not here.

    Asked only when such a test is about to run, so that collecting the tests starts no R.
    """
    from pyearthdof import bridge

    for marker in item.iter_markers("needs_r"):
        package = marker.args[0] if marker.args else "earth"
        if not bridge.is_available(package):
            pytest.skip(f"R with {package} is not here")
