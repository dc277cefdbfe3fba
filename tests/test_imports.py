"""Modules that `from pyearthdof import Earth` does not import yet, and the direction of all imports."""

import importlib.util
import subprocess
import sys
import tomllib

import pytest

from tests.support import ROOT

LATER = (
    "pyearthdof.mars.formula", "pyearthdof.mars.engines.native", "pyearthdof.dof", "pyearthdof.plots",
    "pyearthdof._core", "rpy2", "matplotlib",
)  # fmt: skip
CODE = """
import sys
from pyearthdof import Earth
print([name for name in sys.modules if name.startswith(tuple(sys.argv[1:]))])
"""
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
    "contracts"
]
NAMED = sorted(
    {
        name
        for contract in CONTRACTS
        for key in ("source_modules", "forbidden_modules")
        for name in contract.get(key, ())
        if name != "rpy2"
    }
)


def test_an_estimator_imports_neither_engine_nor_formulas():
    done = subprocess.run(
        [sys.executable, "-c", CODE, *LATER], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", sorted({*LATER, *NAMED} - {"rpy2"}))
def test_modules_that_tests_and_contracts_name_exist(name):
    """A contract about a module that was moved would hold for nothing."""
    assert importlib.util.find_spec(name) is not None


def test_no_import_points_upwards_and_the_page_shows_them():
    pytest.importorskip("grimp")
    script = str(ROOT / "docs" / "import_graph.py")
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
