"""The commands that mend what is missing, of this package or between Python and R, on the system here.

A remedy names all that is missing, in the order in which it has to come: R, a compiler, R's packages,
rpy2, which is built from its sources with the compiler for the R that is there.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

__all__ = [
    "core_again",
    "package_remedy",
    "r_again",
    "r_remedy",
    "rpy2_again",
    "rpy2_remedy",
    "run_without_home",
    "self_again",
]

PACKAGES = ("earth", "mda")
R_SITE = "https://cran.r-project.org"
# rpy2-rinterface 3.6.6 and later need R >= 4.5 and fail at import beside an older one.
OLD_R_PIN = "rpy2-rinterface<=3.6.5"


def r_remedy(with_rpy2: bool) -> str:
    """The command that installs R with its packages, and then rpy2 if that is missing too."""
    rpy2 = _pip("pyearthdof[r]", None) if with_rpy2 else ""
    return _joined(["R", "a compiler", *PACKAGES], rpy2)


def rpy2_remedy(home: Path) -> str:
    """The command that installs rpy2 for the R of this home, after what it needs."""
    return _joined(_missing_beside_rpy2(home), _pip("pyearthdof[r]", home))


def rpy2_again(home: Path | None) -> str:
    """The command that replaces an rpy2 that does not work with this R."""
    missing = [] if home is None else _missing_beside_rpy2(home)
    return _joined(missing, _pip("--force-reinstall --no-cache-dir rpy2", home))


def r_again() -> str:
    """The command that installs R itself once more."""
    if _system() == "debian":
        return "sudo apt-get install --reinstall r-base-core"
    return "installing R again" if _system() == "conda" else f"installing R again, from {R_SITE}"


def package_remedy(package: str) -> str:
    """The command that installs an R package."""
    in_r = f"install.packages({package!r})"
    first = {"debian": f"sudo apt-get install r-cran-{package}, or ",
             "conda": f"conda install -c conda-forge r-{package}, or "}  # fmt: skip
    return f"{first.get(_system(), '')}in R: {in_r}"


def self_again() -> str:
    """The command that installs this package once more, from where it came."""
    command = f"{_python()} -m pip install --force-reinstall --no-deps"
    return f"installing it again: {command} and its checkout or wheel"


def core_again() -> str:
    """The command that builds the compiled core in a checkout, or brings it with the package."""
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / "src" / "CMakeLists.txt").is_file():
        return self_again()
    where = shlex.quote(str(checkout))
    return f"{_python()} -m pip install --editable {where} (which needs a C++ compiler)"


def _system() -> str:
    """Whose commands install R here: "conda", "debian", "mac", "windows" or "other"."""
    conda = os.environ.get("CONDA_PREFIX")
    if conda and Path(conda).resolve() == Path(sys.prefix).resolve():
        return "conda"
    if sys.platform in ("darwin", "win32"):
        return {"darwin": "mac", "win32": "windows"}[sys.platform]
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return "other"
    like = {release.get("ID", ""), *release.get("ID_LIKE", "").split()}
    return "debian" if like & {"debian", "ubuntu"} else "other"


def _system_part(missing: list[str]) -> str:
    """The command, or the words, for what pip cannot install."""
    if not missing:
        return ""
    if _system() == "debian":
        return f"sudo apt-get install {' '.join(_debian_names(missing))}"
    packages = [f"'{m}'" for m in missing if m in PACKAGES]
    words = [_in_words(m) for m in missing if m not in PACKAGES]
    if packages:
        words.append(f"in R install.packages(c({', '.join(packages)}))")
    return ", then ".join(words)


def _debian_names(missing: list[str]) -> list[str]:
    names = {"R": "r-base-core", "a compiler": "r-base-dev"}
    found = [names.get(m, f"r-cran-{m}") for m in missing]
    if "a compiler" in missing and not _has_python_headers():
        found.insert(found.index("r-base-dev") + 1, "python3-dev")
    return found


def _in_words(part: str) -> str:
    if part == "R":
        return f"installing R ({R_SITE})"
    compilers = {"mac": "xcode-select --install", "windows": f"Rtools, {R_SITE}"}
    return f"installing a C compiler ({compilers.get(_system(), 'and the headers of R')})"


def _missing_beside_rpy2(home: Path) -> list[str]:
    compiler = [] if _can_build(home) and _has_python_headers() else ["a compiler"]
    return compiler + _missing_packages(home)


def _missing_packages(home: Path) -> list[str]:
    """Which of R's packages are not there, asked of R as a plain process."""
    look = "cat(vapply(commandArgs(TRUE), requireNamespace, NA, quietly = TRUE))"
    answer = _run([str(home / "bin" / "Rscript"), "-e", look, *PACKAGES]).split()
    if len(answer) != len(PACKAGES):  # this R is in a bad way: that is said elsewhere
        return []
    return [name for name, here in zip(PACKAGES, answer, strict=True) if here != "TRUE"]


def _can_build(home: Path) -> bool:
    """Whether there is a compiler, and with it what a program that links to R needs."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    flags = _run([str(home / "bin" / "R"), "CMD", "config", "--ldflags"]).split()
    if compiler is None or not flags:
        return False
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "try.c", Path(folder) / "try"
        source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        _run([compiler, str(source), "-o", str(program), *flags])
        return program.exists()


def _has_python_headers() -> bool:
    return (Path(sysconfig.get_path("include")) / "Python.h").is_file()


def _pip(what: str, home: Path | None) -> str:
    """pip's command; an R that is not known to be new gets the older rpy2, which fits newer ones too."""
    words = what.split() + ([] if home is not None and _r_is_new(home) else [OLD_R_PIN])
    return f"{_python()} -m pip install {' '.join(shlex.quote(word) for word in words)}"


def _r_is_new(home: Path) -> bool:
    found = re.search(r"R version (\d+)\.(\d+)", _run([str(home / "bin" / "R"), "--version"]))
    return found is not None and (int(found[1]), int(found[2])) >= (4, 5)


def _python() -> str:
    """This Python, so that the command works where its environment is not activated."""
    return shlex.quote(sys.executable or "python3")


def _joined(missing: list[str], rpy2: str) -> str:
    """One line for all that is missing; rpy2 is the command for it, empty where it is not missing."""
    if _system() == "conda":  # which has rpy2 ready for its R
        names = [{"R": "r-base"}.get(m, f"r-{m}") for m in missing if m != "a compiler"]
        return f"conda install -c conda-forge {' '.join(names + ['rpy2'] * bool(rpy2))}"
    return " && ".join(command for command in (_system_part(missing), rpy2) if command)


def run_without_home(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a program without R_HOME, for a minute at most: R would warn that it takes no notice of it."""
    environment = {k: v for k, v in os.environ.items() if k != "R_HOME"}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=60
    )


def _run(command: list[str]) -> str:
    """What a program printed, or nothing if it failed."""
    try:
        done = run_without_home(command)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
