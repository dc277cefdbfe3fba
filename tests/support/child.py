"""Python in a process of its own, for faults that a process may not survive."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyearthdof

SOURCES = Path(pyearthdof.__file__).resolve().parent.parent
R_SETTINGS = ("R_HOME", "R_LIBS", "R_LIBS_SITE", "R_LIBS_USER", "LD_LIBRARY_PATH")


def run_child(
    code: str, *args: str, options: tuple[str, ...] = (), folder=None, **environment: str
) -> subprocess.CompletedProcess:
    """Run the code where R is as its installer left it, but for the environment variables given."""
    clean = {k: v for k, v in os.environ.items() if k not in R_SETTINGS}
    paths = [str(SOURCES), clean.get("PYTHONPATH", "")]
    clean["PYTHONPATH"] = os.pathsep.join(p for p in paths if p)
    return subprocess.run(
        [sys.executable, *options, "-c", code, *args],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=folder,
        env=clean | environment,
    )
