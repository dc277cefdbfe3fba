"""How long it takes from a wheel to a first report: an empty environment, no R, a table, a page.

python benchmarks/wheel_to_report.py dist/pyearthdof-*.whl
python benchmarks/wheel_to_report.py dist/pyearthdof-*.whl --runs 3

Nothing is built here: `make dist` makes the wheel, or `pip wheel --no-deps -w dist .`. Dependencies come from
the index that pip is set to; what is in pip's cache is taken from there, so that a second run shows an
installation without a download (`--no-cache` always downloads). Each run has a new environment; each part is
time on the clock. The PATH of its processes has the environment's own programs and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

TABLE = "ozone1.csv"  # the wheel's own, taken for a table of the user
WORK = """
import json, shutil, sys, time
assert shutil.which("R") is None and shutil.which("Rscript") is None
times, began = {}, time.perf_counter()

def done(part):
    global began
    times[part] = time.perf_counter() - began
    began = time.perf_counter()

import pandas as pd
from pyearthdof import Earth
done("import")
table = pd.read_csv("table.csv")
X, y = table.drop(columns="O3"), table["O3"]
done("read the CSV")
model = Earth(degree=2, nfold=5, ncross=3, varmod_method="lm", random_state=1).fit(X, y)
assert model.engine_ == "native"
done("fit, with cross-validation and a variance model")
model.report("model.html", X, y)
done("write the report")
print(json.dumps(times))
"""
COMMANDS = (
    ("fit", "table.csv", "--target", "O3", "--degree", "2", "--save", "model.json"),
    ("report", "model.json", "--data", "table.csv", "--out", "shell.html"),
)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--no-cache", action="store_true", help="download the dependencies")
    arguments = parser.parse_args()
    wheel = arguments.wheel.resolve()
    if wheel.suffix != ".whl" or not wheel.is_file():
        parser.error(f"wheel={str(arguments.wheel)!r} but it should be a wheel that is there")
    runs = [_measure(wheel, arguments.no_cache) for _ in range(arguments.runs)]
    print(f"{wheel.name}, Python {sys.version.split()[0]}, seconds, medians of {len(runs)}:")
    for part in runs[0]:
        print(f"  {statistics.median(run[part] for run in runs):8.2f}  {part}")


def _measure(wheel: Path, no_cache: bool) -> dict[str, float]:
    """Seconds of each part, and what they add up to."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with zipfile.ZipFile(wheel) as archive:
            (folder / "table.csv").write_bytes(archive.read(f"pyearthdof/data/{TABLE}"))
        programs = folder / "env" / "bin"
        python = programs / "python"
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        pip += ["--no-cache-dir"] * no_cache
        times = {
            "make an environment": _clock([sys.executable, "-m", "venv", folder / "env"]),
            "pip install of what the wheel needs": _clock([*pip, *_requirements(wheel)]),
            "pip install of the wheel": _clock([*pip, "--no-deps", wheel]),
        }
        before = sum(times.values())
        alone = {"PATH": str(programs), "HOME": name}
        began = time.perf_counter()
        parts = json.loads(_run([python, "-c", WORK], folder, alone))
        whole = time.perf_counter() - began
        times |= parts
        times["first process, from its start to its end"] = whole
        times["all of this"] = before + whole
        for command in COMMANDS:
            times[f"pyearthdof {' '.join(command)}"] = _clock(
                [programs / "pyearthdof", *command], folder, alone
            )
    return times


def _requirements(wheel: Path) -> list[str]:
    """What the wheel asks for, without its extras."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode("utf-8").splitlines()
    named = (
        line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")
    )
    return [requirement for requirement in named if "extra ==" not in requirement]


def _clock(command: list, folder: Path | None = None, environment=None) -> float:
    began = time.perf_counter()
    _run(command, folder, environment)
    return time.perf_counter() - began


def _run(command: list, folder: Path | None = None, environment=None) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment or os.environ,
    )
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
