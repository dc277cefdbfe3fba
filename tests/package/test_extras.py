"""An environment without matplotlib: everything but pictures works, and those name what to install."""

import json
import subprocess
import sys
import tomllib

from pyearthdof._utils.extras import EXTRAS
from tests.support import ROOT

WITHOUT = """
import sys
sys.modules["matplotlib"] = None  # an import of it fails, as where it is not installed
"""
COMMAND = WITHOUT + "from pyearthdof.cli import main; main()"


def run(code, *args, cwd=None):
    return subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, check=False, cwd=cwd
    )


def test_each_optional_package_is_in_its_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for package, extra in EXTRAS.items():
        assert [text.partition(">")[0] for text in extras[extra]] == [package]
    assert extras["all"] == ["pyearthdof[plots,dask,sympy,onnx,excel]"]


def test_a_model_its_summary_and_its_page_need_no_matplotlib(tmp_path):
    fit = run(COMMAND, "fit", "ozone", "--target", "O3", "--save", "model.json", cwd=tmp_path)
    assert fit.returncode == 0, fit.stderr
    page = run(COMMAND, "report", "model.json", "--json", cwd=tmp_path)
    assert page.returncode == 0, page.stderr
    assert (tmp_path / json.loads(page.stdout)["file"]).is_file()


def test_a_picture_names_the_command():
    code = (
        WITHOUT
        + """
from pyearthdof import Earth
from pyearthdof.datasets import load_ozone
from pyearthdof.exceptions import ExtraNotAvailableError
from pyearthdof.plots import plot_residuals

ozone = load_ozone()
try:
    plot_residuals(Earth().fit(ozone.drop(columns="O3"), ozone["O3"]))
except ExtraNotAvailableError as error:
    print(error)
"""
    )
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("drawing needs matplotlib, which ")
    assert done.stdout.endswith(" -m pip install 'pyearthdof[plots]'\n")


def test_reproduce_stops_before_it_computes(tmp_path):
    done = run(COMMAND, "reproduce", "T-ozone", cwd=tmp_path)
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (3, "", [])
    assert done.stderr.startswith("pyearthdof: reproduce needs matplotlib, which ")
    assert done.stderr.endswith(" -m pip install 'pyearthdof[plots]'\n")


def test_the_page_of_results_needs_no_matplotlib(tmp_path):
    (tmp_path / "results").mkdir()
    done = run(COMMAND, "report", "--out", "results", cwd=tmp_path)
    assert done.returncode == 2 and "matplotlib" not in done.stderr
    assert "no results in" in done.stderr
