"""Plain R in a process of its own, for paired tests: no rpy2 and none of our code in the loop.

Numbers travel as hexadecimal floats ("0x1.8p+3"): 17 decimal digits would name every double too, but
R's own parser rounds twice and now and then misses the last bit.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pyearthdof.exceptions import RWarning, SeparationWarning

HARNESS = Path(__file__).with_name("rscript.R")

needs_rscript = pytest.mark.skipif(
    shutil.which("Rscript") is None, reason="plain R (Rscript) is not installed"
)


def run_r(code: str, *, packages: tuple[str, ...] = (), timeout: float = 300, **data) -> dict:
    """Run R code with the named data in scope; return what it leaves in the list `out`.

    Data: scalars, strings, 1-d and 2-d arrays, DataFrames of numbers or strings, lists of strings.
    Results: 1-d arrays, 2-d arrays, or lists of strings; vectors of length one stay arrays. What R
    refuses in a loop `for (i in ...) tryCatch({...}, error = refused)` is missing there, with a warning.

    >>> run_r("out <- list(s = sum(x))", x=np.arange(4.0))["s"]
    array([6.])
    """
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "in").mkdir()
        (folder / "out").mkdir()
        for name, value in data.items():
            _write(folder / "in", name, value)
        script = folder / "code.R"
        script.write_text(
            "".join(f"suppressMessages(library({p}))\n" for p in packages) + code, encoding="utf-8"
        )
        done = subprocess.run(
            ["Rscript", "--vanilla", str(HARNESS), str(folder)],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"Rscript failed:\n{done.stderr}\n{done.stdout}")
        for refusal in (folder / "refusals.txt").read_text(encoding="utf-8").splitlines():
            warnings.warn(f"R refused {refusal}", stacklevel=2)
        return {f.stem: _read(f) for f in sorted((folder / "out").iterdir())}


def r_warnings(caught) -> list[str]:
    """R's warnings of one fit, from what was caught: a `SeparationWarning` replaces some, and knows all."""
    for w in caught:
        if isinstance(w.message, SeparationWarning):
            return list(w.message.r_warnings)
    return [str(w.message) for w in caught if w.category is RWarning]


def r_version(package: str | None = None) -> str:
    """Version of R, or of one of its packages."""
    code = "R.version.string" if package is None else f"as.character(packageVersion('{package}'))"
    return run_r(f"out <- list(v = {code})")["v"][0]


def _write(folder: Path, name: str, value) -> None:
    if isinstance(value, pd.DataFrame):
        lines = ["frame"]
        for column in value.columns:
            values = value[column]
            numeric = (
                np.issubdtype(values.dtype, np.number)
                if isinstance(values.dtype, np.dtype)
                else False
            )
            lines.append(f"{'number' if numeric else 'string'} {len(values)}")
            lines.append(str(column))
            lines += [float(v).hex() if numeric else str(v) for v in values]
    elif isinstance(value, str) or (
        isinstance(value, (list, tuple)) and value and isinstance(value[0], str)
    ):
        values = [value] if isinstance(value, str) else list(value)
        lines = ["string", *values]
    else:
        array = np.asarray(value, dtype=float)
        lines = [f"array {' '.join(map(str, array.shape))}".strip()]
        lines += [v.hex() for v in array.ravel(order="F").tolist()]
    (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _read(file: Path):
    kind, *lines = file.read_text(encoding="utf-8").splitlines()
    if kind == "string":
        return lines
    shape = tuple(int(d) for d in kind.split()[1:])
    values = np.array([np.nan if v in ("NA", "NaN") else float.fromhex(v) for v in lines])
    return values.reshape(shape, order="F")
