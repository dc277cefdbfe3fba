"""Numbers written down in a test hold for the versions that gave them.

`@golden(earth=("5.3.2", "5.3.4"))` skips a test where another version of earth is installed, and says
which; where earth is not installed at all nothing can have given another number, and the test runs. Names
are R, R's packages, and Python's (`numpy`, `scikit_learn`).
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
import shutil

import numpy as np
import pytest

from tests.support.rscript import run_r

R_PACKAGES = ("earth", "mda", "kernlab", "glmnet", "leaps", "mvtnorm", "quadprog")


# What the numbers of these tests were seen with, one by one: the packages of Debian 12, 13 and testing.
EARTH_SEEN = ("5.3.2", "5.3.4", "5.3.6")
GLMNET_SEEN = ("4.1.6", "4.1.8", "4.1.10")
LEAPS_SEEN = ("3.1", "3.2")

_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


def golden(**versions: str | tuple[str, ...]):
    """Decorate a test, or a class of tests' methods, whose numbers hold for these versions."""
    unknown = [name for name in versions if not _is_known(name)]
    if unknown:
        raise ValueError(f"no such thing to have a version: {', '.join(unknown)}")

    def decorate(test):
        @functools.wraps(test)
        def guarded(*args, **kwargs):
            skip_unless(**versions)
            return test(*args, **kwargs)

        return guarded

    return decorate


def skip_unless(**versions: str | tuple[str, ...]) -> None:
    """Skip the running test unless what is installed has the versions given; "4.2" is any 4.2.x.

    Of several versions of one thing, any will do.
    """
    reasons = [
        f"{name} {' or '.join(_several(wanted))}, this is {installed(name)}"
        for name, wanted in versions.items()
        if installed(name) is not None
        and not any(_fits(installed(name), one) for one in _several(wanted))
    ]
    if reasons:
        pytest.skip(f"the numbers hold for {'; '.join(reasons)}")


def assert_bits(ours, r, name: str = "") -> None:
    """Equal to the bit where R is 4.2 or 4.5; the R 4.6 of Debian testing rounds some last bits otherwise."""
    if _rounds_as_here():
        np.testing.assert_array_equal(ours, r, name)
    else:
        np.testing.assert_allclose(ours, r, rtol=1e-12, atol=1e-15, err_msg=name)


def assert_lines(ours: list[str], r: list[str]) -> None:
    """The same text where R is 4.2 or 4.5; elsewhere the twelfth digit of a number may round otherwise."""
    if _rounds_as_here():
        assert ours == r
        return
    assert [_NUMBER.sub("#", line) for line in ours] == [_NUMBER.sub("#", line) for line in r]
    for mine, theirs in zip(ours, r, strict=True):
        numbers = [[float(x) for x in _NUMBER.findall(line)] for line in (mine, theirs)]
        np.testing.assert_allclose(*numbers, rtol=1e-11, atol=1e-15, err_msg=theirs)


def _rounds_as_here() -> bool:
    return (installed("R") or "").startswith(("4.2.", "4.5."))


def installed(name: str) -> str | None:
    """The installed version, None without."""
    if name == "R" or name in R_PACKAGES:
        return _r_versions().get(name)
    try:
        return importlib.metadata.version(name.replace("_", "-"))
    except importlib.metadata.PackageNotFoundError:
        return None


def _several(wanted: str | tuple[str, ...]) -> tuple[str, ...]:
    return (wanted,) if isinstance(wanted, str) else wanted


def _is_known(name: str) -> bool:
    return name == "R" or name in R_PACKAGES or installed(name) is not None


def _fits(found: str, wanted: str) -> bool:
    parts = wanted.split(".")
    return found.split(".")[: len(parts)] == parts


@functools.cache
def _r_versions() -> dict[str, str]:
    """Of R and its packages, by one plain R run."""
    if shutil.which("Rscript") is None:
        return {}
    code = """
version <- function(p) tryCatch(as.character(packageVersion(p)), error = function(e) "")
out <- list(found = c(as.character(getRversion()), vapply(names, version, "")))
"""
    found = run_r(code, names=list(R_PACKAGES))["found"]
    return {name: v for name, v in zip(("R", *R_PACKAGES), found, strict=True) if v}
