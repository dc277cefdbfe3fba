"""Other MARS packages for Python, each in an environment of its own, which this file makes."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
from stopwatch import Stopwatch

__all__ = ["OTHERS", "start_other"]

OTHERS = {"py-earth2": "pyearth", "mars-earth": "pymars"}
FOLDER = Path(__file__).resolve().parent.parent / ".venv-others"

WORKER = """
import sys, time
import numpy as np
from {module} import Earth
data = np.load(sys.argv[1]); X, y = data["X"], data["y"]
Earth(max_degree={degree}).fit(X, y)
print("ready", flush=True)
for line in sys.stdin:
    began = time.perf_counter()
    model = Earth(max_degree={degree}).fit(X, y)
    seconds = time.perf_counter() - began
    if line.strip() == "rss":
        print(float(np.sum((y - np.ravel(model.predict(X))) ** 2)), flush=True)
    else:
        print(seconds, flush=True)
"""


def start_other(package: str, X, y, degree: int) -> Stopwatch:
    """Start a process that fits with the package; RuntimeError says why it cannot."""
    python = _environment(package)
    folder = FOLDER / package
    np.savez(folder / "data.npz", X=np.asarray(X, dtype=float), y=np.asarray(y, dtype=float))
    script = folder / "worker.py"
    script.write_text(WORKER.format(module=OTHERS[package], degree=degree))
    return Stopwatch([str(python), str(script), str(folder / "data.npz")])


def _environment(package: str) -> Path:
    folder = FOLDER / package
    python = folder / "bin" / "python"
    if (folder / "installed").exists():
        return python
    venv.create(folder, with_pip=True, clear=True)
    done = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", package], capture_output=True, text=True
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(
            f"{package} does not install with Python {sys.version.split()[0]}: {last}"
        )
    (folder / "installed").touch()
    return python
