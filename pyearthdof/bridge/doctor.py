"""What MARS through R needs, what of it is here, and the command that mends what is not."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
from dataclasses import dataclass

from .._version import __version__
from ..exceptions import RError, RNotAvailableError
from .installation import (
    APT_COMMAND_AGAIN,
    PIP_COMMAND,
    find_r_home,
    package_remedy,
    r_is_running,
)
from .session import call, require

__all__ = ["Diagnosis", "Finding", "doctor"]

RPY2_PARTS = ("rpy2", "rpy2-rinterface", "rpy2-robjects")
PACKAGES = {"earth": True, "mda": False, "kernlab": False}  # and whether it is needed

# Says what it tries before it tries it; whatever can be said in words is said later.
_TRY_ALL = """
import sys
from pyearthdof.bridge import is_available
print("R", flush=True)
is_available(None)
for package in sys.argv[1:]:
    print(package, flush=True)
    is_available(package)
"""


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
    """Look at Python, R, rpy2 and the R packages. Starts R where that is possible.

    Examples
    --------
    >>> from pyearthdof import doctor
    >>> diagnosis = doctor()
    >>> [finding.part for finding in diagnosis.findings[:3]]
    ['pyearthdof', 'Python', 'R']
    """
    findings = [
        Finding("pyearthdof", __version__),
        Finding("Python", f"{platform.python_version()} ({platform.system()})"),
        _r(),
        *(_rpy2_part(name) for name in RPY2_PARTS),
    ]
    deadly = None
    if not r_is_running() and all(f.ok for f in findings if f.needed):
        deadly = _deadly_part()
    findings += [_bridge() if deadly is None else deadly]
    works = all(f.ok for f in findings if f.needed)
    findings += [_package(name, needed, works) for name, needed in PACKAGES.items()]
    return Diagnosis(tuple(findings))


def _deadly_part() -> Finding | None:
    """Use everything in a process of its own first: a crash there is a finding, here it is the end."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-c", _TRY_ALL, *PACKAGES],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode == 0:
        return None
    steps = done.stdout.split()
    package = steps[-1] if steps else "R"
    if package == "R":
        remedy, doing = APT_COMMAND_AGAIN, "started"
    else:
        remedy, doing = f"installing it again: {package_remedy(package)}", f"loaded {package!r}"
    problem = f"R ended its process (exit code {done.returncode}) while it {doing}"
    return Finding("bridge", "R crashes", problem, remedy)


def _r() -> Finding:
    try:
        home = find_r_home()
    except RNotAvailableError as error:
        return Finding("R", "not found", error.problem, error.remedy)
    environment = {k: v for k, v in os.environ.items() if k != "R_HOME"}
    done = subprocess.run(
        [str(home / "bin" / "R"), "--version"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode:
        return Finding(
            "R", f"in {home}", f"`R --version` failed: {done.stderr.strip()}", APT_COMMAND_AGAIN
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
    part = f"R's {name}"
    if not r_works:
        remedy = package_remedy(name)
        return Finding(part, "not looked for", "R does not work yet", remedy, needed)
    try:
        version = call("versions", [name], package=name)[1]
    except RNotAvailableError as error:
        return Finding(part, "does not work", error.problem, error.remedy, needed)
    except RError as error:
        return Finding(part, "does not work", str(error), package_remedy(name), needed)
    return Finding(part, str(version))
