"""The wheel and the source distribution: complete, and working in an environment of their own."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest
from rscript import needs_rscript

from pyearthdof import Earth

ROOT = Path(__file__).resolve().parents[2]
ARITHMETIC = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")  # with others, other last digits
FIT = """
import sys
import numpy as np, pandas as pd, pyearthdof
from pyearthdof.bridge.scripts import scripts_folder
assert pyearthdof.__file__.startswith(sys.prefix), pyearthdof.__file__
assert str(scripts_folder()).startswith(sys.prefix), scripts_folder()
frame = pd.DataFrame({"x": np.arange(50.0), "kind": ["a", "b"] * 25})
model = pyearthdof.Earth(engine=sys.argv[1]).fit(frame, np.abs(frame["x"] - 25))
again = pyearthdof.MarsModel.from_json(model.model_.to_json())
assert (again.predict(frame) == model.predict(frame)).all()
print(model.engine_, *model.terms_)
"""

USE = """
import pyearthdof
from pyearthdof.procedures import LeastSquares
print(float(pyearthdof.MarsModel.load("model.json").predict([[7.5]])[0]))
print(pyearthdof.doctor().ok)
print(pyearthdof.degrees_of_freedom(LeastSquares(), (20, 3), n_rep=2).trace)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("pyearthdof-*.whl"))


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A new environment that has the wheel, and borrows everything else from this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    site = next(folder.glob("lib/python*/site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    # Paths in a .pth file are not looked through for further ones: this checkout stays out of sight.
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python"


def fit(python, engine, cwd, **environ):
    done = subprocess.run(
        [python, "-c", FIT, engine],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environ,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@needs_rscript
def test_the_wheel_fits_with_r(environment, tmp_path):
    found = fit(environment, "r", tmp_path, PATH="/usr/local/bin:/usr/bin:/bin")
    assert found[:2] == ["r", "(Intercept)"]


def test_the_wheel_predicts_and_measures_without_r(environment, tmp_path):
    """What needs no compiling; `test_an_install_from_nothing` fits."""
    x = np.arange(50.0)[:, None]
    model = Earth(engine="native").fit(x, np.abs(x[:, 0] - 25)).model_
    model.save(tmp_path / "model.json")
    done = subprocess.run(
        [environment, "-c", USE], capture_output=True, text=True, cwd=tmp_path, check=False,
        env={"PATH": str(tmp_path)} | {k: v for k, v in os.environ.items() if k in ARITHMETIC},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [repr(float(model.predict([[7.5]])[0])), "False", "3.0"]


def test_the_wheel_holds_no_more_than_the_package(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"pyearthdof"}
    assert any(name.endswith("r_scripts/earth.R") for name in names)
    assert not any("__pycache__" in name or name.endswith((".nbi", ".nbc")) for name in names)


@pytest.mark.slow
def test_an_install_from_nothing(wheel, tmp_path):
    """The wheel with its dependencies from the index, and nothing else."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True, capture_output=True)
    subprocess.run([python, "-m", "pip", "check"], check=True, capture_output=True)
    found = fit(python, "auto", tmp_path, PATH=str(tmp_path))
    assert found[:2] == ["native", "(Intercept)"]
    command = [tmp_path / "env" / "bin" / "pyearthdof", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pyearthdof ")


@pytest.mark.slow
def test_the_source_distribution_makes_the_same_wheel(wheel, tmp_path):
    build = [sys.executable, "-m", "build", "--sdist", "--outdir", tmp_path, ROOT]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    if "No module named build" in done.stderr:
        pytest.skip("the package build is not installed")
    assert done.returncode == 0, done.stderr
    source = next(tmp_path.glob("pyearthdof-*.tar.gz"))
    with tarfile.open(source) as archive:
        names = archive.getnames()
    assert any(name.endswith("/r_scripts/earth.R") for name in names)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, source]
    subprocess.run(command, check=True, capture_output=True)
    again = next(tmp_path.glob("pyearthdof-*.whl"))
    assert zipfile.ZipFile(again).namelist() == zipfile.ZipFile(wheel).namelist()
