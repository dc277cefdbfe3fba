"""Where R and rpy2 are, and whether they go together."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .._utils.remedies import r_again, r_remedy, rpy2_again, rpy2_remedy, run_without_home
from ..exceptions import RNotAvailableError

__all__ = [
    "find_r_home",
    "import_rinterface",
    "profile_error",
    "r_is_running",
    "r_was_forked",
    "rpy2_is_installed",
]

# Without these R ends the whole process while it starts, or rpy2 stumbles over their absence.
_PARTS_OF_R = ("bin/Rscript", "library/base/R/base.rdb")


def find_r_home() -> Path:
    """Return R's home folder, from R_HOME or from the R on the PATH, after a look at what is in it."""
    named = os.environ.get("R_HOME")
    home = _named_home(named) if named else _home_on_path()
    for part in _PARTS_OF_R:
        if not (home / part).is_file():
            raise RNotAvailableError(f"the R in {home} is incomplete, {part} is missing", r_again())
    return home


def import_rinterface():
    """Import rpy2's low-level interface, or say in one sentence what is wrong."""
    home = None if r_is_running() else find_r_home()
    if not rpy2_is_installed():
        raise RNotAvailableError("rpy2 is not installed", rpy2_remedy(home or find_r_home()))
    try:
        # rpy2 logs what it tries; what comes of it is said below.
        with contextlib.redirect_stderr(io.StringIO()):
            import rpy2.rinterface as ri
            from rpy2.rinterface_lib import callbacks, openrlib
    except Exception as error:  # rpy2 raises many kinds: ImportError, OSError, ffi errors
        raise RNotAvailableError(
            f"rpy2 does not work with the R that is here ({type(error).__name__}: {error})",
            rpy2_again(home),
        ) from None
    return ri, callbacks, openrlib


def profile_error() -> RNotAvailableError | None:
    """The error of a start-up file that stops R; None if R starts, or fails without such files as well."""
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
    """Tell whether somebody has started R in this process through rpy2."""
    embedded = sys.modules.get("rpy2.rinterface_lib.embedded")
    return embedded is not None and embedded.isinitialized()


def r_was_forked() -> bool:
    """Tell whether the R that runs here was started by a process that this one was forked from."""
    # rpy2 notes "current_pid=<number>:..." when it starts R.
    noted = re.search(r"current_pid=(\d+)", os.environ.get("PYTHON_SESSION_INITIALIZED", ""))
    return r_is_running() and noted is not None and int(noted[1]) != os.getpid()


def _named_home(named: str) -> Path:
    remedy = "unset R_HOME"
    executable = Path(named) / "bin" / "R"
    if not executable.is_file():
        raise RNotAvailableError(f"R_HOME is {named!r}, but there is no R in it", remedy)
    try:
        home = _ask_home(executable)
    except OSError as error:
        raise RNotAvailableError(
            f"R_HOME is {named!r}, but the R in it does not run ({error})", remedy
        ) from None
    if home.resolve() != Path(named).resolve():
        # R would start with the files of one and the settings of the other.
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
    """What `R RHOME` prints; OSError if it fails in whatever way."""
    try:
        done = run_without_home([executable, "RHOME"])
    except subprocess.TimeoutExpired:
        raise OSError("no answer for a minute") from None
    if done.returncode or not done.stdout.strip():
        said = " ".join(done.stderr.split())
        raise OSError(f"exit code {done.returncode}" + (f": {said}" if said else ""))
    return Path(done.stdout.strip())


def rpy2_is_installed() -> bool:
    """Tell whether there is an rpy2, without starting R."""
    try:
        spec = importlib.util.find_spec("rpy2.rinterface")
    except (
        ModuleNotFoundError,
        ValueError,  # somebody put None in sys.modules, which is Python's way to forbid an import
    ):
        return False
    except Exception:  # it is there, and does not work: that is said when it is imported
        return True
    # An rpy2 that was removed leaves folders behind, which Python takes for a package of nothing.
    return spec is not None and spec.origin is not None
