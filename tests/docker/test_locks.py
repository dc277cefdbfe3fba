"""The lock files hold what pyproject.toml asks for: one version each, with hashes, from no stated place."""

import importlib.metadata
import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.support import ROOT

LOCKS = sorted(path.name for path in (ROOT / "docker").glob("requirements*.lock"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# Where the lock is installed: Debian 12's Python.
DEBIAN = {
    "python_version": "3.11", "python_full_version": "3.11.2", "sys_platform": "linux",
    "platform_system": "Linux", "os_name": "posix", "implementation_name": "cpython",
    "platform_python_implementation": "CPython", "extra": "",
}  # fmt: skip


def pins(name):
    text = (ROOT / "docker" / name).read_text()
    found = re.findall(r"^([A-Za-z0-9._-]+)==(\S+) \\$", text, flags=re.M)
    return {canonicalize_name(package): Version(version) for package, version in found}


def lacking(requirements, locked):
    """Return the requirements that these pins do not fulfil."""
    wanted = [Requirement(text) for text in requirements]
    wanted = [r for r in wanted if r.marker is None or r.marker.evaluate(DEBIAN)]
    return [
        str(r)
        for r in wanted
        if (version := locked.get(canonicalize_name(r.name))) is None
        or not r.specifier.contains(version, prereleases=True)
    ]


def test_there_are_locks():
    assert "requirements.lock" in LOCKS
    assert "requirements-test.lock" in LOCKS


@pytest.mark.parametrize("name", LOCKS)
def test_every_line_is_a_pin_with_hashes(name):
    text = (ROOT / "docker" / name).read_text()
    assert "bash docker/lock.sh" in text.splitlines()[1]
    blocks = re.sub(r"^\s*#.*\n", "", text, flags=re.M).replace("\\\n", " ").splitlines()
    for block in filter(str.strip, blocks):
        pin, *hashes = block.split()
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[^=*]+", pin), block
        assert hashes, f"{pin} has no hash"
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", h) for h in hashes), block
    assert len(pins(name)) == len(list(filter(str.strip, blocks)))
    assert "://" not in text


def test_it_holds_what_the_package_needs():
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["r"], *extras["plots"]]
    assert lacking(needed, pins("requirements.lock")) == []
    # rpy2-rinterface 3.6.6 and later need R >= 4.5, and Debian 12 has R 4.2.2.
    assert lacking(["rpy2-rinterface<=3.6.5"], pins("requirements.lock")) == []


def test_a_need_that_it_lacks_is_seen():
    locked = pins("requirements.lock")
    assert lacking(["numpy>=99", "nosuch", "colorama; sys_platform == 'win32'"], locked) == [
        "numpy>=99",
        "nosuch",
    ]


def test_it_holds_what_the_tests_and_the_builds_need():
    together = pins("requirements.lock") | pins("requirements-test.lock")
    assert lacking(PYPROJECT["dependency-groups"]["test"], together) == []
    build = pins("requirements-build.lock")
    assert lacking(PYPROJECT["build-system"]["requires"], build) == []
    assert lacking(PYPROJECT["dependency-groups"]["build"], build) == []


def test_the_locks_agree():
    versions = {}
    for name in LOCKS:
        for package, version in pins(name).items():
            assert versions.setdefault(package, version) == version, f"{package} in {name}"


def test_nothing_is_missing_behind_the_first_row():
    """What the locked packages need in turn, read from those that are installed here at that version."""
    locked = pins("requirements.lock")
    checked = 0
    for package, version in locked.items():
        try:
            installed = importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        if Version(installed.version) == version:
            checked += 1
            assert lacking(installed.requires or [], locked) == [], package
    if not checked:
        pytest.skip("none of the locked versions is installed here")
