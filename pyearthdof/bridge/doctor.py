"""Diagnosis of the installation: features available, features that R would add, and fixes."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass

from .._utils.core import load_core
from .._utils.html import ShowsItself, table, text_block
from .._version import __version__
from ..exceptions import CoreNotAvailableError, RError, RNotAvailableError
from .installation import (
    find_r_home,
    import_rinterface,
    package_remedy,
    r_again,
    r_is_running,
    run_without_home,
)
from .session import call, require

RPY2_PARTS = ("rpy2-rinterface", "rpy2-robjects")  # of rpy2 3.6; rpy2 3.5 is one package
PACKAGES = {"earth": True, "mda": False}  # True if MARS through R needs the package
NATIVE = "native engine"
UNKNOWN = "not looked for"
EARTH_ADDS = "fits by R's earth itself, a gam as the variance model, models for R"
MDA_ADDS = "Mars, the MARS of R's package mda"

# Prints each step before it runs, so that a crash can be attributed to it; the findings follow later.
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
    """A component: its version, its problem if any, and the command that fixes it."""

    part: str
    found: str
    problem: str = ""
    remedy: str = ""
    needed: bool = True

    @property
    def ok(self) -> bool:
        """True if this component works."""
        return not self.problem


@dataclass(frozen=True)
class Ability:
    """A feature: its availability, the problem and its remedy, and the benefit of the remedy."""

    name: str
    problem: str = ""
    remedy: str = ""
    adds: str = ""

    @property
    def ready(self) -> bool:
        """True if the feature is available."""
        return not self.problem

    def __str__(self) -> str:
        if self.ready:
            return f"{self.name}, ready"
        adds = f"\n    it would add: {self.adds}" if self.adds else ""
        return f"{self.name}, cannot work here: {self.problem}{adds}\n    to fix it: {self.remedy}"


@dataclass(frozen=True)
class Diagnosis(ShowsItself):
    """All findings; `usable` if the package works, `ok` if R works as well."""

    findings: tuple[Finding, ...]

    @property
    def usable(self) -> bool:
        """True if MARS works, with or without R."""
        return self.abilities[0].ready

    @property
    def ok(self) -> bool:
        """True if MARS through R works."""
        return all(f.ok for f in self.findings if f.needed)

    @property
    def abilities(self) -> tuple[Ability, ...]:
        """Available features: first without R, then with R."""
        native, *rest = self.findings
        mda = next(f for f in rest if f.part == "R's mda")
        wrong = next((f for f in rest if f.needed and not f.ok), Finding("", ""))
        # The remedy for R also checks for mda.
        mda_remedy = wrong.remedy if mda.found == UNKNOWN else mda.remedy
        return (
            Ability(f"MARS: {NATIVE}", native.problem, native.remedy),
            Ability("MARS: R's earth", wrong.problem, wrong.remedy, EARTH_ADDS),
            Ability("MARS: R's mda", mda.problem, mda_remedy, MDA_ADDS),
        )

    def __str__(self) -> str:
        width = max(len(f.part) for f in self.findings)
        marks = {True: "ok", False: "no"}
        parts = [f"{marks[f.ok]}  {f.part:<{width}}  {f.found}" for f in self.findings]
        return "\n".join([*map(str, self.abilities), "", *parts])

    def _repr_pretty_(self, printer, cycle) -> None:
        """Show the text in IPython's terminal."""
        printer.text(str(self))

    def _html_title(self) -> str:
        return "pyearthdof works here" if self.usable else "pyearthdof cannot work here"

    def _html_body(self) -> str:
        parts = [["✓" if f.ok else "✗", f.part, f.found] for f in self.findings]
        able = text_block("\n".join(map(str, self.abilities)))
        return able + table(["", "part", "found"], parts, left=3)

    def to_dict(self) -> dict:
        """Return plain values for JSON."""
        abilities = [asdict(ability) | {"ready": ability.ready} for ability in self.abilities]
        findings = [asdict(finding) | {"ok": finding.ok} for finding in self.findings]
        return {"usable": self.usable, "ok": self.ok, "abilities": abilities, "findings": findings}


def doctor() -> Diagnosis:
    """Check Python, the native engine, R, rpy2 and the R packages; starts R if possible.

    Examples
    --------
    >>> from pyearthdof import doctor
    >>> diagnosis = doctor()
    >>> diagnosis.usable
    True
    >>> print(diagnosis.abilities[0])
    MARS: native engine, ready
    """
    findings = [
        _native(),
        Finding("pyearthdof", __version__),
        Finding("Python", f"{platform.python_version()} ({platform.system()})"),
        _r(),
        _rpy2(),
        *(Finding(name, version) for name in RPY2_PARTS if (version := _version(name))),
    ]
    deadly = None
    if not r_is_running() and all(f.ok for f in findings[1:] if f.needed):
        deadly = _deadly_part()
    findings += [_bridge() if deadly is None else deadly]
    works = all(f.ok for f in findings[1:] if f.needed)
    findings += [_package(name, needed, works) for name, needed in PACKAGES.items()]
    return Diagnosis(tuple(findings))


def _native() -> Finding:
    try:
        core = load_core()
    except CoreNotAvailableError as error:
        return Finding(NATIVE, "does not load", error.problem, error.remedy)
    return Finding(NATIVE, f"compiled, takes this processor's {core.instructions()} instructions")


def _deadly_part() -> Finding | None:
    """Try each component in a separate process first, so that a crash becomes a finding."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(  # noqa: S603  this Python with the fixed text above
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
        remedy, doing = r_again(), "started"
    else:
        remedy, doing = f"installing it again: {package_remedy(package)}", f"loaded {package!r}"
    problem = f"R ended its process (exit code {done.returncode}) while it {doing}"
    return Finding("bridge", "R crashes", problem, remedy)


def _r() -> Finding:
    try:
        home = find_r_home()
    except RNotAvailableError as error:
        return Finding("R", "not found", error.problem, error.remedy)
    done = run_without_home([str(home / "bin" / "R"), "--version"])
    if done.returncode:
        return Finding("R", f"in {home}", f"`R --version` failed: {done.stderr.strip()}", r_again())
    return Finding("R", f"{done.stdout.split(' -- ')[0].removeprefix('R version ')}, home {home}")


def _rpy2() -> Finding:
    version = _version("rpy2")
    if version is not None:
        return Finding("rpy2", version)
    try:
        import_rinterface()
    except RNotAvailableError as error:
        return Finding("rpy2", "not installed", error.problem, error.remedy)
    return Finding("rpy2", "without a version")


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


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
        return Finding(part, UNKNOWN, "R does not work yet", remedy, needed)
    try:
        version = call("versions", [name], package=name)[1]
    except RNotAvailableError as error:
        return Finding(part, "does not work", error.problem, error.remedy, needed)
    except RError as error:
        return Finding(part, "does not work", str(error), package_remedy(name), needed)
    return Finding(part, str(version))
