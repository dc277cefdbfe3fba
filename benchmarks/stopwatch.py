"""Rivals in processes of their own: they set up once, then run and time themselves each time they are told.

A process prints "ready" when it is set up. Then, for every line that it reads, it does its work and prints
the seconds.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

__all__ = ["Stopwatch", "r_stopwatch"]

R_LOOP = """
read <- function(name, columns) matrix(readBin(name, "double", file.size(name) / 8), ncol = columns)
{setup}
cat("ready\\n"); flush(stdout())
input <- file("stdin", "r")
while (length(readLines(input, 1)) > 0) {{
  seconds <- system.time({{ {work} }})[["elapsed"]]
  cat(seconds, "\\n"); flush(stdout())
}}
"""


class Stopwatch:
    """A process that times its own work."""

    def __init__(self, command: list[str], cwd=None):
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
        )
        self._expect("ready")

    def seconds(self) -> float:
        """Let it do its work once."""
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return float(self._line())

    def ask(self, question: str) -> str:
        """Send another line and return the answer."""
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        return self._line()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait(timeout=60)

    def _expect(self, word: str) -> None:
        line = self._line()
        if line != word:
            raise RuntimeError(f"the process said {line!r} instead of {word!r}")

    def _line(self) -> str:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process ended: {self._process.stderr.read()[-2000:]}")
        return line.strip()


def r_stopwatch(setup: str, work: str, **arrays: np.ndarray) -> Stopwatch:
    """A plain R; the arrays stand there as matrices under their names, exact to the bit."""
    if shutil.which("Rscript") is None:
        raise RuntimeError("Rscript is not on the PATH")
    folder = Path(tempfile.mkdtemp(prefix="pyearthdof-bench-"))
    lines = []
    for name, array in arrays.items():
        matrix = np.asarray(array, dtype=float).reshape(len(array), -1)
        (folder / name).write_bytes(matrix.ravel(order="F").tobytes())
        lines.append(f'{name} <- read("{name}", {matrix.shape[1]})')
    script = folder / "work.R"
    script.write_text(R_LOOP.format(setup="\n".join(lines) + "\n" + setup, work=work))
    return Stopwatch(["Rscript", "--vanilla", str(script)], cwd=folder)
