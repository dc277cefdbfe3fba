"""The wheel holds our R code, and finds it."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_r_scripts_travel_in_the_wheel(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, ROOT],
        check=True, capture_output=True,
    )  # fmt: skip
    wheel = next(tmp_path.glob("pyearthdof-*.whl"))
    unpacked = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(unpacked)
    code = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, pyearthdof
from pyearthdof.bridge.scripts import scripts_folder
assert str(scripts_folder()).startswith(sys.argv[1]), scripts_folder()
x = np.arange(50.0)
print(pyearthdof.Earth(engine="r").fit(x[:, None], np.abs(x - 25)).terms_)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(unpacked)], capture_output=True, text=True,
        cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "h(x-" in done.stdout
