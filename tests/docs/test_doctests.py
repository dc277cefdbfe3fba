"""The examples in the doc strings print what they say."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import pyearthdof
from pyearthdof.exceptions import RNotAvailableError

SLOW = {"pyearthdof.bridge.doctor"}  # tries every part of R in a process of its own
MODULES = [
    pytest.param(module.name, marks=pytest.mark.slow if module.name in SLOW else ())
    for module in pkgutil.walk_packages(pyearthdof.__path__, "pyearthdof.")
]
# What users import. Each class and function of these has an example, except those below.
PUBLIC = (
    "pyearthdof", "pyearthdof.results", "pyearthdof.procedures", "pyearthdof.dof", "pyearthdof.datasets",
    "pyearthdof.plots", "pyearthdof.random",
)  # fmt: skip
WITHOUT = {
    "CrossCheck",  # `crosscheck`, which makes it, has the example
}


class NeedsR(Exception):
    """An example asked for R, or for a package of R, where there is none."""


class Runner(doctest.DocTestRunner):
    """Stops at what needs R, reports everything else."""

    def report_unexpected_exception(self, out, test, example, exc_info):
        if issubclass(exc_info[0], RNotAvailableError):
            raise NeedsR(f"{test.name}: {exc_info[1]}")
        super().report_unexpected_exception(out, test, example, exc_info)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.DocTestFinder(exclude_empty=True).find(import_module(name))
    needing_r, reports = [], []
    for test in found:
        runner = Runner(verbose=False, optionflags=doctest.ELLIPSIS)
        try:
            runner.run(test, out=reports.append)
        except NeedsR as reason:
            needing_r.append(str(reason))
    assert not reports, "".join(reports)
    if needing_r:
        pytest.skip("; ".join(needing_r))


def public_names():
    for module in PUBLIC:
        home = import_module(module)
        for name in home.__all__:
            if not name.startswith("_"):
                yield f"{module}.{name}", getattr(home, name)


def test_every_public_name_has_an_example():
    without = {
        name.rpartition(".")[2]
        for name, thing in public_names()
        if ">>>" not in (thing.__doc__ or "")
    }
    assert without == WITHOUT


def test_every_public_name_has_an_entry_in_the_api(repository):
    page = (repository / "docs" / "api" / "index.rst").read_text("utf-8").split()
    names = {name.rpartition(".")[2] for name, _ in public_names()}
    assert not sorted(names - set(page))
