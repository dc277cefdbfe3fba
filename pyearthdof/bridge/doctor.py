"""What MARS through R needs, what of it is here, and the command that mends what is not."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import subprocess
from dataclasses import dataclass

from .._version import __version__
from ..exceptions import RError, RNotAvailableError
from .session import APT_COMMAND, PIP_COMMAND, call, find_r_home, require

__all__ = ["Diagnosis", "Finding", "doctor"]

RPY2_PARTS = ("rpy2", "rpy2-rinterface", "rpy2-robjects")


@dataclass(frozen=True)
class Finding:
    """One part: what was found, and if something is wrong what and how to mend it."""

    part: str
    found: str
    problem: str = ""
    remedy: str = ""
    needed: bool = True

    @property
    def ok(self) -> bool:
        """Nothing is wrong with this part."""
        return not self.problem


@dataclass(frozen=True)
class Diagnosis:
    """All findings; `ok` tells whether MARS through R works here."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Everything that MARS through R needs is in order."""
        return all(f.ok for f in self.findings if f.needed)

    def __str__(self) -> str:
        width = max(len(f.part) for f in self.findings)
        lines = []
        for f in self.findings:
            mark = "ok  " if f.ok else ("BAD " if f.needed else "none")
            lines.append(f"{mark} {f.part:<{width}}  {f.found}")
            if not f.ok:
                lines.append(f"     {'':<{width}}  {f.problem}")
                lines.append(f"     {'':<{width}}  mend it with: {f.remedy}")
        verdict = "MARS through R works." if self.ok else "MARS through R cannot work here."
        return "\n".join([*lines, verdict])

    def to_dict(self) -> dict:
        """Plain values, for JSON."""
        findings = [
            {"part": f.part, "found": f.found, "ok": f.ok, "needed": f.needed,
             "problem": f.problem, "remedy": f.remedy}
            for f in self.findings
        ]  # fmt: skip
        return {"ok": self.ok, "findings": findings}


def doctor() -> Diagnosis:
    """Look at Python, R, rpy2 and the R packages. Starts R where that is possible."""
    findings = [
        Finding("pyearthdof", __version__),
        Finding("Python", f"{platform.python_version()} ({platform.system()})"),
        _r(),
        *(_rpy2_part(name) for name in RPY2_PARTS),
        _bridge(),
    ]
    works = all(f.ok for f in findings if f.needed)
    packages = (("earth", True), ("mda", False), ("kernlab", False))
    findings += [_package(name, needed, works) for name, needed in packages]
    return Diagnosis(tuple(findings))


def _r() -> Finding:
    try:
        home = find_r_home()
    except RNotAvailableError as error:
        return Finding("R", "not found", error.problem, error.remedy)
    executable = shutil.which("R") or str(home / "bin" / "R")
    done = subprocess.run([executable, "--version"], capture_output=True, text=True, check=False)
    if done.returncode:
        return Finding(
            "R", f"in {home}", f"`R --version` failed: {done.stderr.strip()}", APT_COMMAND
        )
    return Finding("R", f"{done.stdout.split(' -- ')[0].removeprefix('R version ')}, home {home}")


def _rpy2_part(name: str) -> Finding:
    try:
        return Finding(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        # rpy2 3.5 is one package; only 3.6 comes in parts.
        needed = name == "rpy2"
        return Finding(name, "not installed", f"{name} is missing", PIP_COMMAND, needed)


def _bridge() -> Finding:
    try:
        require(None)
    except RNotAvailableError as error:
        return Finding("bridge", "R does not start", error.problem, error.remedy)
    from rpy2.rinterface_lib import openrlib

    mode = getattr(openrlib.cffi_mode, "name", openrlib.cffi_mode)
    return Finding("bridge", f"R runs in this process, rpy2 in {mode} mode")


def _package(name: str, needed: bool, r_works: bool) -> Finding:
    remedy = f"sudo apt-get install r-cran-{name}, or in R: install.packages({name!r})"
    if not r_works:
        return Finding(f"R's {name}", "not looked for", "R does not work yet", remedy, needed)
    try:
        version = call("versions", [name], package=name)[1]
    except (RNotAvailableError, RError) as error:
        return Finding(f"R's {name}", "not found", str(error), remedy, needed)
    return Finding(f"R's {name}", str(version))
