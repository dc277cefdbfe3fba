"""The R session of this process: started on first use, locked, and silent.

Rules of R that this module enforces: R is single-threaded (one lock); a forked R must not be used (pid
check); R's console must not reach the user's terminal (callbacks replaced during a call); R defers its
warnings (collected in guard.R and reissued as Python warnings); Ctrl-C works only where R checks for it (see
`_interruptible`); R's references to Python must be released before Python unloads its modules (see
`_close`).
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.metadata
import os
import signal
import threading
import warnings
from typing import Any

import numpy  # noqa: F401
import scipy.linalg  # noqa: F401  numpy and scipy must load their BLAS before R loads its own

from .._utils.core import self_again
from .._utils.warnings import warn_user
from .._version import __version__
from ..exceptions import (
    InvalidInputError,
    PyEarthDofError,
    RError,
    RForkedError,
    RNotAvailableError,
    RWarning,
)
from .convert import dispatcher, from_r, to_r
from .installation import (
    SOURCED,
    import_rinterface,
    package_remedy,
    profile_error,
    r_again,
    r_is_running,
    r_was_forked,
    scripts_folder,
)

_lock = threading.RLock()
_session: _Session | None = None
_started_in: int | None = None
_closed = False


def call(
    function: str, *args, package: str | None = "earth", first_column: int | None = None
) -> Any:
    """Call a function of r_scripts/ by name and return its converted value.

    R's warnings are issued as `RWarning`, an R error is raised as `RError` with R's message. `package` is the
    R package that the function needs; `RNotAvailableError` if it is missing. If the function loops over
    columns, `first_column` is the number of the first one sent, and an error names its column.
    """
    with _lock:
        session = _get_session()
        if package is not None:
            session.load(package)
        result = session.guarded(function, args)
    for text in result["warnings"] or ():
        warn_user(_tidy(text), RWarning)
    if result.get("interrupt"):
        raise KeyboardInterrupt
    if "error" in result:
        raise _error(result, first_column)
    return result["value"]


def _error(result: dict, first_column: int | None) -> PyEarthDofError:
    message = _tidy(result["error"][0]) or "R stopped without a message"
    if result.get("refused"):
        return InvalidInputError(message)
    if first_column is None or result["column"] is None:
        return RError(message)
    column = first_column + int(result["column"][0]) - 1
    return RError(f"column {column} (counted from 0): {message}")


def require(package: str | None = "earth") -> None:
    """Start R and load the package, or raise `RNotAvailableError` with the command that fixes it."""
    with _lock:
        session = _get_session()
        if package is not None:
            session.load(package)


def is_available(package: str | None = "earth") -> bool:
    """Return True if R, rpy2 and the R package work. Starts R if possible."""
    try:
        require(package)
    except (RNotAvailableError, RForkedError):
        return False
    return True


def r_versions() -> dict[str, str]:
    """Return the versions of this package, R, earth, mda and rpy2 in this session."""
    return dict(_r_versions())


def installed_version(name: str) -> str | None:
    """Return the installed version of "R", "earth" or "mda", or None. Starts R if possible."""
    try:
        return _r_versions().get(name)
    except (RNotAvailableError, RForkedError):
        return None


@functools.cache
def _r_versions() -> dict[str, str]:
    found = call("versions", ["earth", "mda"], package=None)
    names = ("R", "earth", "mda")
    versions = {name: v for name, v in zip(names, found, strict=True) if v is not None}
    return {"pyearthdof": __version__} | versions | {"rpy2": importlib.metadata.version("rpy2")}


def _get_session() -> _Session:
    global _session, _started_in
    ours_was_forked = _started_in is not None and _started_in != os.getpid()
    if ours_was_forked or (_session is None and r_was_forked()):
        raise RForkedError(
            "this process was forked after R had started, and a forked R gives wrong results; use "
            "processes that are started afresh (joblib's loky, or multiprocessing with 'spawn')"
        )
    if _session is None:
        if _closed:
            raise RNotAvailableError(
                "Python is ending, and R with it", "fit before the program's last line"
            )
        with _environment_kept("LD_LIBRARY_PATH"), _interrupts_kept():
            _session = _start()
            _started_in = os.getpid()
            atexit.register(_close)
    return _session


def _start() -> _Session:
    modules = import_rinterface()
    try:
        return _Session(modules)
    except RNotAvailableError:
        raise
    except Exception as error:  # the traceback of rpy2 is not helpful
        raise (
            profile_error()
            or RNotAvailableError(
                f"R does not start ({type(error).__name__}: {_tidy(error)})", r_again()
            )
        ) from None


def _close() -> None:
    """Release R's references to Python while both still run; rpy2 does it too late and prints errors.

    A thread in the middle of a call at the end of the program keeps its session.
    """
    global _session, _closed
    _closed = True
    if _lock.acquire(blocking=False):
        try:
            if _session is not None:
                _session.release()
            _session = None
        finally:
            _lock.release()


class _Session:
    """R running in this process, with our functions in a separate environment."""

    def __init__(self, modules):
        self.ri, self.callbacks, self.openrlib = modules
        self.loaded: set[str] = set()
        with _quiet(self.callbacks):
            if not r_is_running():
                _initialise(self.ri)
            base = self.ri.baseenv
            # earth evaluates calls such as model.frame in its calling environment: stats is visible there,
            # before the user's global environment.
            self.environment = base["new.env"](parent=base["asNamespace"]("stats"))
            self._source()
            self.environment["python.call"] = self.dispatcher = dispatcher(self.ri)
        self.guard = self.environment["guarded"]

    def _source(self) -> None:
        try:
            folder = scripts_folder()
            for name in SOURCED:
                self.ri.baseenv["sys.source"](str(folder / name), envir=self.environment)
        except Exception as error:
            raise RNotAvailableError(
                f"the R code of this package is damaged ({_tidy(error)})", self_again()
            ) from None

    def release(self) -> None:
        """Remove the one R function that calls Python from R."""
        del self.environment["python.call"]
        del self.dispatcher

    def load(self, package: str) -> None:
        if package in self.loaded:
            return
        result = self.guarded("load.package", (package,))
        if "error" in result:
            found = self.guarded("find.installed", (package,))["value"]
            if not found:
                raise RNotAvailableError(
                    f"R's package {package!r} is not installed", package_remedy(package)
                )
            raise RNotAvailableError(
                f"R's package {package!r} in {found[0]} does not load "
                f"({_tidy(result['error'][0])})",
                f"installing it again: {package_remedy(package)}",
            )
        self.loaded.add(package)

    def guarded(self, function: str, args) -> dict:
        """Run the function under guard.R's handlers; the R objects are freed before the lock is released."""
        with _quiet(self.callbacks), _interruptible(self.openrlib):
            converted = self.ri.ListSexpVector([to_r(a, self.ri) for a in args])
            try:
                result = self.guard(self.environment[function], converted)
            except self.ri.embedded.RRuntimeError:
                # guard.R catches all errors, but not a jump to R's top level, which has no message.
                return {"error": ["R jumped out of the call"], "column": None, "warnings": None}
            return from_r(result, self.ri)


def _initialise(ri) -> None:
    """Start R and keep the signal handlers; suppress rpy2's warning outside the main thread.

    rpy2 resets SIGINT to Python's default handler. Outside the main thread it cannot, and warns that Ctrl-C
    is lost; this does not apply, because R starts without signal handlers.
    """
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R is not initialized by the main thread")
        ri.initr()
    if main and handler is not None:
        signal.signal(signal.SIGINT, handler)


@contextlib.contextmanager
def _quiet(callbacks):
    """Suppress the output of R; restore the previous callbacks afterwards."""
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
def _interrupts_kept():
    """Defer Ctrl-C until R has started: a partly started R is unusable, and its callbacks lose exceptions.

    The signal is also blocked, because programs started by rpy2 inherit the mask and would otherwise stop.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    arrived = []
    signal.signal(signal.SIGINT, lambda *signalled: arrived.append(signalled))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
        if arrived:
            before(*arrived[-1])


@contextlib.contextmanager
def _interruptible(openrlib):
    """Turn Ctrl-C during a call into R's own interrupt, then into KeyboardInterrupt.

    Python runs its signal handlers only between byte codes, that is inside one of rpy2's callbacks,
    where an exception is printed and lost. The handler therefore sets R's flag and records the signal; R
    stops at its next check (guard.R handles the interrupt), and the recorded signal is raised here. A
    user's handler, which may do something other than stop, is called after the call to R.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):  # ignored, default, or not Python's: keep it
        yield
        return
    stops = before is signal.default_int_handler or hasattr(before, "raises_keyboard_interrupt")
    arrived = []

    def remember(signum, frame):
        arrived.append((signum, frame))
        if stops:
            openrlib.rlib.R_interrupts_pending = 1

    signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        openrlib.rlib.R_interrupts_pending = 0
        signal.signal(signal.SIGINT, before)
    if arrived:
        before(*arrived[-1])


@contextlib.contextmanager
def _environment_kept(name: str):
    """Restore an environment variable that rpy2 changes, so that programs started later do not inherit it.

    rpy2 prepends R's libraries, with which another Python would load the wrong libpython.
    """
    before = os.environ.get(name)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before


def _tidy(text: object) -> str:
    """Return the text on one line; R breaks and indents its messages."""
    return " ".join(str(text).split())
