"""The wheel and the source distribution: complete, and working in an environment of their own."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from pyearthdof import Earth
from tests.support.rscript import needs_rscript

ROOT = Path(__file__).resolve().parents[2]
ARITHMETIC = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")  # with others, other last digits
FIT = """
import sys
import numpy as np, pandas as pd, pyearthdof
from pyearthdof.bridge.installation import scripts_folder
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


REPORT = """
import numpy as np, pandas as pd, pyearthdof
from pyearthdof.mars.model.mars_model import model_schema
table = pd.DataFrame({"x": np.arange(50.0), "kind": ["a", "b"] * 25})
table.assign(y=np.abs(table["x"] - 25)).to_csv("table.csv", index=False)
table = pd.read_csv("table.csv")
model = pyearthdof.Earth().fit(table[["x", "kind"]], table["y"])
model.report("model.html", title="A first model")
assert model_schema()["properties"]
"""


def lacking() -> list[str]:
    """What is not here of what builds the package without a network."""
    tools = ("build", "scikit_build_core", "nanobind", "cmake", "ninja")
    return [name for name in tools if find_spec(name) is None] + ["c++"] * (not shutil.which("c++"))


def run(command) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def built(tmp_path_factory, worker_id):
    """A folder with the source distribution and the wheel, made once for all workers.

    The core is compiled where the checkout's own was: only what has changed since.
    """
    if lacking():
        pytest.skip(f"nothing can be built without {', '.join(lacking())}")
    top = tmp_path_factory.getbasetemp()
    folder = (top if worker_id == "master" else top.parent) / "built"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            command = [sys.executable, "-m", "build", "--sdist", "--wheel", "--no-isolation"]
            run([*command, "--outdir", folder, ROOT])
    return folder


@pytest.fixture(scope="session")
def wheel(built):
    return next(built.glob("pyearthdof-*.whl"))


@pytest.fixture(scope="session")
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


def test_the_wheel_fits_without_r_and_with_nothing_writable(environment, tmp_path):
    tmp_path.chmod(0o555)
    found = fit(environment, "auto", tmp_path, PATH=str(tmp_path), PYTHONDONTWRITEBYTECODE="1")
    assert found[:2] == ["native", "(Intercept)"]
    assert list(tmp_path.iterdir()) == []


def test_the_wheel_predicts_and_measures_without_r(environment, tmp_path):
    x = np.arange(50.0)[:, None]
    model = Earth(engine="native").fit(x, np.abs(x[:, 0] - 25)).model_
    model.save(tmp_path / "model.json")
    done = subprocess.run(
        [environment, "-c", USE], capture_output=True, text=True, cwd=tmp_path, check=False,
        env={"PATH": str(tmp_path)} | {k: v for k, v in os.environ.items() if k in ARITHMETIC},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [repr(float(model.predict([[7.5]])[0])), "False", "3.0"]


def sources(*folders) -> set[str]:
    """Files of the repository there, by their names in it; new ones too."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("this is no checkout")
    return set(done.stdout.split())


def test_the_wheel_holds_the_package_and_no_more(wheel):
    held = zipfile.ZipFile(wheel).namelist()
    assert {"LICENSE", "LICENSES"} <= {n.rpartition("/")[2] for n in held if ".dist-info/" in n}
    names = {n for n in held if ".dist-info/" not in n}
    code = {name for name in names if name.startswith("pyearthdof/r_scripts/")}
    (core,) = (
        name for name in names if name.startswith("pyearthdof/_core.") and not name.endswith(".pyi")
    )
    assert names - code - {core} == sources("pyearthdof")
    assert code == {f"pyearthdof/{name}" for name in sources("r_scripts") if name.endswith(".R")}


def test_the_wheel_holds_what_a_page_and_a_saved_model_need(wheel):
    """By name, as a checkout that has lost them would agree with its wheel."""
    page = {
        f"pyearthdof/mars/report/{n}"
        for n in ("explorer.js", "model.js", "start.js", "page.css", "page.html")
    }
    held = {info.filename: info.file_size for info in zipfile.ZipFile(wheel).infolist()}
    for name in page | {"pyearthdof/mars/model/model.schema.json", "pyearthdof/py.typed"}:
        assert name in held
    assert all(held[name] > 500 for name in page)


def test_the_wheel_writes_a_report_without_r(environment, tmp_path):
    done = subprocess.run(
        [environment, "-c", REPORT], capture_output=True, text=True, cwd=tmp_path, check=False,
        env={"PATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "model.html").read_text("utf-8")
    assert "A first model" in page and "<script" in page and "<style" in page


def test_one_wheel_serves_python_3_12_and_later(wheel):
    """Before, every Python needs its own: there is no stable ABI that nanobind could take."""
    python, abi, _platform = wheel.stem.split("-")[2:]
    own = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert (python, abi) == (("cp312", "abi3") if sys.version_info >= (3, 12) else (own, own))
    stable = any(n.startswith("pyearthdof/_core.abi3.") for n in zipfile.ZipFile(wheel).namelist())
    assert stable == (sys.version_info >= (3, 12))


def test_the_source_distribution_holds_what_builds_and_tests_it(built):
    (source,) = built.glob("pyearthdof-*.tar.gz")
    with tarfile.open(source) as archive:
        names = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    parts = (
        "src",
        "pyearthdof",
        "r_scripts",
        "tests",
        "docs",
        "benchmarks",
        "README.md",
        "LICENSE",
    )
    assert sources(*parts) - names == set()
    assert names - sources() == {"PKG-INFO"}


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
def test_the_source_distribution_makes_the_same_wheel(built, wheel, tmp_path):
    (source,) = built.glob("pyearthdof-*.tar.gz")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    run([*command, "-w", tmp_path, source])
    (again,) = tmp_path.glob("pyearthdof-*.whl")
    assert again.name == wheel.name
    assert sorted(zipfile.ZipFile(again).namelist()) == sorted(zipfile.ZipFile(wheel).namelist())
