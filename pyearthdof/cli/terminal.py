"""Signal handling and output of the command line."""

from __future__ import annotations

import atexit
import codecs
import contextlib
import errno
import os
import signal
import sys
import threading
from typing import TextIO

from ..exceptions import PyEarthDofError

INTERRUPTED = 130
FAILED = 3
PIPE_CLOSED = (
    141  # the exit code that a shell shows of a program that wrote into a pipe without a reader
)

# Replacements of characters that an encoding lacks; others are written as \xe9.
PLAIN = {
    "±": "+-", "λ": "lambda", "δ": "delta", "²": "^2", "−": "-", "–": "-", "—": "-", "→": "->", "…": "...",
    "≤": "<=", "≥": ">=", "×": "x", "✓": "yes", "✗": "no", "•": "*", "─": "-", "│": "|", "╭": "+", "╮": "+",
    "╰": "+", "╯": "+", "━": "-", "█": "#",
}  # fmt: skip


class OutputNotWrittenError(PyEarthDofError):
    """Standard output is closed or full."""


class PipeClosedError(OutputNotWrittenError):
    """The reader of standard output closed it before the end."""


def estimate(value: float, se: float, interval: tuple[float, float], digits: int = 6) -> str:
    """Format a number with its standard error and interval, unless it is exact.

    >>> estimate(3.14159, 0.02, (3.1, 3.18))
    '3.14159 ± 0.02 (95 %: 3.1 to 3.18)'
    """
    error = " ± {:.2g} (95 %: {:.4g} to {:.4g})".format(se, *interval) if se else ""
    return f"{value:.{digits}g}{error}"


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = error.object[error.start : error.end]
    texts = [PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in found]
    return "".join(texts), error.end


codecs.register_error("pyearthdof.plain", _plain)


class _Stream:
    """A standard stream whose failed writes are errors of ours, or ignored if it takes messages only."""

    def __init__(self, stream: TextIO | None, *, is_output: bool):
        self._stream, self._is_output = stream, is_output

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._lost():
            if self._stream is None and self._is_output:
                raise OSError("it is closed")
            if self._stream is not None:
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._lost():
            if self._stream is not None:
                self._stream.flush()

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    @contextlib.contextmanager
    def _lost(self):
        try:
            yield
        except OSError as error:
            # Python writes the rest of the buffer at its end, which would fail again.
            with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
                if self._stream is not None:
                    os.dup2(nowhere.fileno(), self._stream.fileno())
            if self._is_output:
                kind = PipeClosedError if error.errno == errno.EPIPE else OutputNotWrittenError
                reason = error.strerror or str(error)
                raise kind(f"the output could not be written: {reason}") from None


@contextlib.contextmanager
def output():
    """Report failed writes, and replace characters that the encoding of the terminal lacks."""
    before = sys.stdout, sys.stderr
    errors = [_replace_by(stream, "pyearthdof.plain") for stream in before]
    sys.stdout = _Stream(sys.stdout, is_output=True)
    sys.stderr = _Stream(sys.stderr, is_output=False)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream, handler in zip(before, errors, strict=True):
            _replace_by(stream, handler)


def _replace_by(stream, handler: str | None) -> str | None:
    """Set what a stream does with characters that it cannot encode, and return what it did before."""
    known = getattr(stream, "errors", None)
    if handler is not None and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors=handler)
    return known


_in_order = False


@contextlib.contextmanager
def ctrl_c(before):
    """Let Ctrl-C end the command with INTERRUPTED and without a traceback; then restore `before`."""
    if before is None:
        yield
        return
    hook = sys.unraisablehook
    signal.signal(signal.SIGINT, _Stop())
    sys.unraisablehook = _stop_if_lost(hook)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        # Nothing is left to stop while Python and R end. atexit runs last what is registered first.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def stopping_in_order():
    """Raise KeyboardInterrupt at any moment, for a command that has to clean up when it is stopped."""
    global _in_order
    _in_order = True
    try:
        yield
    finally:
        _in_order = False


class _Stop:
    """KeyboardInterrupt, but the end of the process during an import, which may swallow exceptions."""

    raises_keyboard_interrupt = True  # read by the bridge

    def __call__(self, signum, frame) -> None:
        while frame is not None and not _in_order:
            if frame.f_globals.get("__name__") == "importlib._bootstrap":
                os._exit(INTERRUPTED)
            frame = frame.f_back
        raise KeyboardInterrupt


def _stop_if_lost(hook):
    """End the process, or interrupt it again, if Python printed and dropped an interrupt in a destructor."""

    def stop(lost):
        if lost.exc_type is not KeyboardInterrupt:
            hook(lost)
        elif _in_order:
            threading.Timer(0.05, os.kill, [os.getpid(), signal.SIGINT]).start()
        else:
            os._exit(INTERRUPTED)

    return stop
