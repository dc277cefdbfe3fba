"""pyearthdof doctor, with R and without."""

import json
import subprocess
import sys

from without_r import run_without_r

from pyearthdof import doctor


def test_everything_is_found_here():
    diagnosis = doctor()
    assert diagnosis.ok, str(diagnosis)
    parts = {f.part: f.found for f in diagnosis.findings}
    assert "home" in parts["R"] and "mode" in parts["bridge"]
    assert {"Python", "rpy2", "R's earth", "R's mda", "R's kernlab"} <= set(parts)


def test_command_line_exit_code_and_json():
    done = subprocess.run(
        [sys.executable, "-c", "from pyearthdof.cli import main; main()", "doctor", "--json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and json.loads(done.stdout)["ok"]


def test_without_r_it_names_the_command_that_mends_it():
    code = """
import sys
from pyearthdof.cli import main
sys.argv = ["pyearthdof", "doctor"]
try:
    main()
except SystemExit as stop:
    print("exit code", stop.code)
"""
    text = run_without_r(code)
    assert "exit code 1" in text
    assert "BAD  R " in text and "apt-get install r-base-core" in text
