"""Location of R, rpy2 and the R code, and the commands that install missing parts on this system.

A remedy names all missing parts in the order of installation: R, a compiler, R's packages, and rpy2, which
is compiled from source for the installed R.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
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

from .._utils.core import this_python
from ..exceptions import RNotAvailableError

# Without these files R ends the whole process at startup, or rpy2 fails.
_PARTS_OF_R = ("bin/Rscript", "library/base/R/base.rdb")


def find_r_home() -> Path:
    """Return R's home folder, from R_HOME or from the R on the PATH, after checking its contents."""
    named = os.environ.get("R_HOME")
    home = _named_home(named) if named else _home_on_path()
    for part in _PARTS_OF_R:
        if not (home / part).is_file():
            raise RNotAvailableError(f"the R in {home} is incomplete, {part} is missing", r_again())
    return home


def import_rinterface():
    """Import rpy2's low-level interface, or raise an error that describes the problem in one sentence."""
    home = None if r_is_running() else find_r_home()
    if not rpy2_is_installed():
        raise RNotAvailableError("rpy2 is not installed", rpy2_remedy(home or find_r_home()))
    try:
        # rpy2 logs its attempts; the error below reports the outcome.
        with contextlib.redirect_stderr(io.StringIO()):
            import rpy2.rinterface as ri
            from rpy2.rinterface_lib import callbacks, openrlib
    except Exception as error:  # rpy2 raises many kinds: ImportError, OSError, ffi errors
        raise RNotAvailableError(
            f"rpy2 does not work with the installed R ({type(error).__name__}: {error})",
            rpy2_again(home),
        ) from None
    return ri, callbacks, openrlib


def profile_error() -> RNotAvailableError | None:
    """Return the error for a start-up file that stops R; None if R starts, or fails without them too."""
    rscript = str(find_r_home() / "bin" / "Rscript")
    stopped = run_without_home([rscript, "-e", "0"])
    if stopped.returncode == 0 or run_without_home([rscript, "--vanilla", "-e", "0"]).returncode:
        return None
    of_user = run_without_home([rscript, "--no-init-file", "-e", "0"]).returncode == 0
    named = os.environ.get("R_PROFILE_USER" if of_user else "R_PROFILE")
    if named:
        profile = Path(named)
    elif of_user:
        profile = next(
            (p for p in (Path.cwd() / ".Rprofile", Path.home() / ".Rprofile") if p.is_file()),
            Path(".Rprofile"),
        )
    else:
        profile = find_r_home() / "etc" / "Rprofile.site"
    said = " ".join(stopped.stderr.replace("Execution halted", "").split())
    without = f"R_PROFILE{'_USER' * of_user}={os.devnull}"
    return RNotAvailableError(
        f"R does not start because {profile} stops it ({said})",
        f"correcting that file, or setting {without} to start R without it",
    )


def r_is_running() -> bool:
    """Return True if other code started R in this process through rpy2."""
    embedded = sys.modules.get("rpy2.rinterface_lib.embedded")
    return embedded is not None and embedded.isinitialized()


def r_was_forked() -> bool:
    """Return True if R was started by a process from which this one was forked."""
    # rpy2 notes "current_pid=<number>:..." when it starts R.
    noted = re.search(r"current_pid=(\d+)", os.environ.get("PYTHON_SESSION_INITIALIZED", ""))
    return r_is_running() and noted is not None and int(noted[1]) != os.getpid()


def _named_home(named: str) -> Path:
    remedy = "unset R_HOME"
    executable = Path(named) / "bin" / "R"
    if not executable.is_file():
        raise RNotAvailableError(f"R_HOME is {named!r}, but it contains no R", remedy)
    try:
        home = _ask_home(executable)
    except OSError as error:
        raise RNotAvailableError(
            f"R_HOME is {named!r}, but the R in it does not run ({error})", remedy
        ) from None
    if home.resolve() != Path(named).resolve():
        # R would start with the files of one installation and the settings of the other.
        raise RNotAvailableError(f"R_HOME is {named!r}, but the R in it is that of {home}", remedy)
    return Path(named)


def _home_on_path() -> Path:
    executable = shutil.which("R")
    if executable is None:
        raise RNotAvailableError(
            "R is not installed or not on the PATH", r_remedy(not rpy2_is_installed())
        )
    try:
        return _ask_home(executable)
    except OSError as error:
        raise RNotAvailableError(
            f"the R on the PATH, {executable}, does not run ({error})",
            r_remedy(not rpy2_is_installed()),
        ) from None


def _ask_home(executable) -> Path:
    """Return the output of `R RHOME`; raise OSError on any failure."""
    try:
        done = run_without_home([executable, "RHOME"])
    except subprocess.TimeoutExpired:
        raise OSError("no answer for a minute") from None
    if done.returncode or not done.stdout.strip():
        said = " ".join(done.stderr.split())
        raise OSError(f"exit code {done.returncode}" + (f": {said}" if said else ""))
    return Path(done.stdout.strip())


def rpy2_is_installed() -> bool:
    """Return True if rpy2 is installed, without starting R."""
    try:
        spec = importlib.util.find_spec("rpy2.rinterface")
    except (
        ModuleNotFoundError,
        ValueError,  # None in sys.modules, which forbids an import
    ):
        return False
    except Exception:  # installed but broken; its import reports the error
        return True
    # Uninstalling rpy2 leaves folders behind, which Python imports as an empty namespace package.
    return spec is not None and spec.origin is not None


PACKAGES = ("earth", "mda")
R_SITE = "https://cran.r-project.org"
# rpy2-rinterface 3.6.6 and later need R >= 4.5 and fail at import beside an older one.
OLD_R_PIN = "rpy2-rinterface<=3.6.5"


def r_remedy(with_rpy2: bool) -> str:
    """Return the command that installs R with its packages, followed by rpy2 if it is missing too."""
    rpy2 = _pip("pyearthdof[r]", None) if with_rpy2 else ""
    return _joined(["R", "a compiler", *PACKAGES], rpy2)


def rpy2_remedy(home: Path) -> str:
    """Return the command that installs rpy2 for the R of this home, preceded by its requirements."""
    return _joined(_missing_beside_rpy2(home), _pip("pyearthdof[r]", home))


def rpy2_again(home: Path | None) -> str:
    """Return the command that replaces an rpy2 incompatible with this R."""
    missing = [] if home is None else _missing_beside_rpy2(home)
    return _joined(missing, _pip("--force-reinstall --no-cache-dir rpy2", home))


def r_again() -> str:
    """Return the command that reinstalls R."""
    if _system() == "debian":
        return "sudo apt-get install --reinstall r-base-core"
    return "installing R again" if _system() == "conda" else f"installing R again, from {R_SITE}"


def package_remedy(package: str) -> str:
    """Return the command that installs an R package."""
    in_r = f"install.packages({package!r})"
    first = {"debian": f"sudo apt-get install r-cran-{package}, or ",
             "conda": f"conda install -c conda-forge r-{package}, or "}  # fmt: skip
    return f"{first.get(_system(), '')}in R: {in_r}"


def _system() -> str:
    """Return the system that installs R: "conda", "debian", "mac", "windows" or "other"."""
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
    """Return the command or instruction that installs parts beyond pip's reach."""
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
    """Return the missing R packages, as reported by R in a separate process."""
    look = "cat(vapply(commandArgs(TRUE), requireNamespace, NA, quietly = TRUE))"
    answer = _run([str(home / "bin" / "Rscript"), "-e", look, *PACKAGES]).split()
    if len(answer) != len(PACKAGES):  # R itself is broken, which another check reports
        return []
    return [name for name, here in zip(PACKAGES, answer, strict=True) if here != "TRUE"]


def _can_build(home: Path) -> bool:
    """Return True if a compiler and the libraries for linking to R are available."""
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
    """Return pip's command; unless R is known to be new, it pins the older rpy2, which also fits newer R."""
    words, version = what.split(), None
    if home is not None:
        version = re.search(r"R version (\d+)\.(\d+)", _run([str(home / "bin" / "R"), "--version"]))
    if version is None or (int(version[1]), int(version[2])) < (4, 5):
        words.append(OLD_R_PIN)
    return f"{this_python()} -m pip install {' '.join(shlex.quote(word) for word in words)}"


def _joined(missing: list[str], rpy2: str) -> str:
    """Return one line that installs all missing parts; `rpy2` is its command, empty if rpy2 is installed."""
    if _system() == "conda":  # conda has rpy2 compiled for its R
        names = [{"R": "r-base"}.get(m, f"r-{m}") for m in missing if m != "a compiler"]
        return f"conda install -c conda-forge {' '.join(names + ['rpy2'] * bool(rpy2))}"
    return " && ".join(command for command in (_system_part(missing), rpy2) if command)


def run_without_home(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a program without R_HOME, for at most a minute; R would warn that it ignores the variable."""
    environment = {k: v for k, v in os.environ.items() if k != "R_HOME"}
    return subprocess.run(  # noqa: S603  a list, no shell: R from R_HOME or the PATH, or the C compiler
        command, capture_output=True, text=True, check=False, env=environment, timeout=60
    )


def _run(command: list[str]) -> str:
    """Return the output of a program, or an empty string if it failed."""
    try:
        done = run_without_home(command)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


# The files that a session sources, in this order; each defines functions and runs nothing.
SOURCED = (
    "guard.R",
    "earth.R",
    "formula.R",
    "robject.R",
    "montecarlo.R",
    "mars.R",
    "splines.R",
)


def scripts_folder() -> Path:
    """Return the folder of the R code of this package."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "r_scripts", package.parent / "r_scripts"):
        if (folder / "guard.R").is_file():
            return folder
    raise FileNotFoundError(
        f"r_scripts/ is missing from this installation (looked beside {package})"
    )
