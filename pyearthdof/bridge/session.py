"""One R in this process: found, started on first use, locked, and quiet.

R's rules that this file keeps so that nobody else needs to know them: R is single-threaded (one lock);
an R that was forked must not be used (pid check); R's console must not reach the user's terminal
(callbacks replaced for the time of a call); warnings are deferred by R (collected in guard.R and given
again as Python warnings); Ctrl-C is honoured only where R looks for it (see `_interruptible`).
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import importlib.util
import os
import shutil
import signal
import subprocess
import threading
import warnings
from pathlib import Path

import numpy  # noqa: F401
import scipy.linalg  # noqa: F401  numpy and scipy must load their BLAS before R loads its own

from ..exceptions import RError, RForkedError, RNotAvailableError, RWarning
from .convert import dispatcher, from_r, to_r
from .scripts import SOURCED, scripts_folder

__all__ = ["call", "find_r_home", "is_available", "r_versions", "require"]

APT_COMMAND = "sudo apt-get install r-base-core r-base-dev r-cran-earth r-cran-mda r-cran-kernlab"
# rpy2-rinterface 3.6.6 and later need R >= 4.5; the older one works with newer R too.
PIP_COMMAND = "pip install 'pyearthdof[r]' 'rpy2-rinterface<=3.6.5'"
PIP_COMMAND_OLD_R = "pip install --force-reinstall rpy2 'rpy2-rinterface<=3.6.5'"

_lock = threading.RLock()
_session: _Session | None = None
_started_in: int | None = None


def call(function: str, *args, package: str | None = "earth"):
    """Call a function of r_scripts/ by name and return its converted value.

    R's warnings come out as `RWarning`, an R error as `RError` with R's message. `package` is an R
    package that the function needs; a missing one is a `RNotAvailableError`.
    """
    with _lock:
        session = _get_session()
        if package is not None:
            session.load(package)
        result = session.guarded(function, args)
    for text in result["warnings"] or ():
        warnings.warn(_tidy(text), RWarning, stacklevel=3)
    if result.get("interrupt"):
        raise KeyboardInterrupt
    if "error" in result:
        raise RError(_tidy(result["error"][0]))
    return result["value"]


def require(package: str | None = "earth") -> None:
    """Start R and load the package, or raise `RNotAvailableError` with the command that mends it."""
    with _lock:
        session = _get_session()
        if package is not None:
            session.load(package)


def is_available(package: str | None = "earth") -> bool:
    """Tell whether R, rpy2 and the R package work here. Starts R if it may."""
    try:
        require(package)
    except (RNotAvailableError, RForkedError):
        return False
    return True


@functools.cache
def r_versions() -> dict[str, str]:
    """Versions of R, earth, mda and rpy2 that this session computes with."""
    found = call("versions", ["earth", "mda"], package=None)
    names = ("R", "earth", "mda")
    versions = {name: v for name, v in zip(names, found, strict=True) if v is not None}
    return versions | {"rpy2": importlib.metadata.version("rpy2")}


def find_r_home() -> Path:
    """Return R's home folder, from R_HOME or from the R on the PATH."""
    home = os.environ.get("R_HOME")
    if home:
        if not (Path(home) / "bin" / "R").exists():
            raise RNotAvailableError(f"R_HOME is {home!r}, but there is no R in it", "unset R_HOME")
        return Path(home)
    executable = shutil.which("R")
    if executable is None:
        raise RNotAvailableError("R is not installed or not on the PATH", APT_COMMAND)
    done = subprocess.run([executable, "RHOME"], capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout.strip():
        raise RNotAvailableError(f"`{executable} RHOME` failed: {done.stderr.strip()}", APT_COMMAND)
    return Path(done.stdout.strip())


def _get_session() -> _Session:
    global _session, _started_in
    if _started_in is not None and _started_in != os.getpid():
        raise RForkedError(
            "this process was forked after R had started, and a forked R gives wrong results; use "
            "processes that are started afresh (joblib's loky, or multiprocessing with 'spawn')"
        )
    if _session is None:
        with _environment_kept("LD_LIBRARY_PATH"):
            _session = _Session(_import_rinterface())
        _started_in = os.getpid()
    return _session


def _import_rinterface():
    """Import rpy2's low-level interface, or say in one sentence what is wrong."""
    if importlib.util.find_spec("rpy2") is None:
        raise RNotAvailableError("rpy2 is not installed", PIP_COMMAND)
    find_r_home()
    try:
        import rpy2.rinterface as ri
        from rpy2.rinterface_lib import callbacks, openrlib
    except Exception as error:  # rpy2 raises many kinds: ImportError, OSError, ffi errors
        raise RNotAvailableError(
            f"rpy2 does not work with the R that is here ({type(error).__name__}: {error})",
            PIP_COMMAND_OLD_R,
        ) from error
    return ri, callbacks, openrlib


class _Session:
    """R running in this process, with our functions in an environment of their own."""

    def __init__(self, modules):
        self.ri, self.callbacks, self.openrlib = modules
        self.loaded: set[str] = set()
        with _quiet(self.callbacks):
            self.ri.initr()
            base = self.ri.baseenv
            self.environment = base["new.env"](parent=base)
            for name in SOURCED:
                base["sys.source"](str(scripts_folder() / name), envir=self.environment)
            self.environment["python.call"] = self.dispatcher = dispatcher(self.ri)
        self.guard = self.environment["guarded"]

    def load(self, package: str) -> None:
        if package in self.loaded:
            return
        result = self.guarded("load.package", (package,))
        if "error" in result:
            raise RNotAvailableError(
                f"R's package {package!r} does not load ({_tidy(result['error'][0])})",
                f"sudo apt-get install r-cran-{package}, or in R: install.packages({package!r})",
            )
        self.loaded.add(package)

    def guarded(self, function: str, args) -> dict:
        """Run the function under guard.R's handlers; the R objects die before the lock is released."""
        with _quiet(self.callbacks), _interruptible(self.openrlib):
            converted = self.ri.ListSexpVector([to_r(a, self.ri) for a in args])
            result = self.guard(self.environment[function], converted)
            return from_r(result, self.ri)


@contextlib.contextmanager
def _quiet(callbacks):
    """Swallow what R writes; whoever set these callbacks before has them back afterwards."""
    silent = {
        "consolewrite_print": lambda text: None,
        "consolewrite_warnerror": lambda text: None,
        "showmessage": lambda text: None,
        "consoleread": lambda prompt: "",
    }
    before = {name: getattr(callbacks, name) for name in silent}
    for name, function in silent.items():
        setattr(callbacks, name, function)
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(callbacks, name, function)


@contextlib.contextmanager
def _interruptible(openrlib):
    """Turn Ctrl-C during a call into R's own interrupt, then into KeyboardInterrupt.

    Python runs its signal handlers only between byte codes, that is inside one of rpy2's callbacks,
    where an exception is printed and lost. So the handler only sets R's flag and remembers; R stops at
    its next check (the handler of guard.R catches it), and the memory becomes the exception here.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = []

    def remember(signum, frame):
        interrupted.append(signum)
        openrlib.rlib.R_interrupts_pending = 1

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        openrlib.rlib.R_interrupts_pending = 0
        signal.signal(signal.SIGINT, before if before is not None else signal.default_int_handler)
    if interrupted:
        raise KeyboardInterrupt


@contextlib.contextmanager
def _environment_kept(name: str):
    """Undo what rpy2 does to an environment variable: programs started later would inherit it.

    It puts R's libraries first for them too, and another Python then loads the wrong libpython.
    """
    before = os.environ.get(name)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before


def _tidy(text: str) -> str:
    """R breaks and indents its messages; one line is enough."""
    return " ".join(str(text).split())
