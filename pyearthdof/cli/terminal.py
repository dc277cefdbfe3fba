"""The manners of a command in a terminal: Ctrl-C at any moment, outputs that nobody takes, few characters."""

from __future__ import annotations

import atexit
import codecs
import contextlib
import errno
import os
import signal
import sys
import threading

from ..exceptions import PyEarthDofError

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "PIPE_CLOSED",
    "OutputNotWrittenError",
    "PipeClosedError",
    "ctrl_c",
    "estimate",
    "output",
    "stopping_in_order",
]

INTERRUPTED = 130
FAILED = 3
PIPE_CLOSED = 141  # what a shell shows of a program that wrote into a pipe without a reader

# What stands for characters that a terminal does not have; others are written as \xe9.
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
    """A number as commands print it, with its standard error and interval unless it is exact.

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
    """Standard output or error. What its encoding lacks is written in plain characters."""

    def __init__(self, stream, *, is_output: bool):
        self._stream = stream
        self._is_output = is_output

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._do("write", self._encodable(text))
        return len(text)

    def writelines(self, lines) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        if self._stream is not None:
            self._do("flush")

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def _encodable(self, text: str) -> str:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            return text.encode(encoding, "pyearthdof.plain").decode(encoding)
        return text

    def _do(self, action: str, *args) -> None:
        """An output that is lost is an error; a message that is lost has nobody to tell it."""
        if self._stream is None:
            if self._is_output:
                raise OutputNotWrittenError("the output could not be written: it is closed")
            return
        try:
            getattr(self._stream, action)(*args)
        except OSError as error:
            _discard(self._stream)
            if self._is_output:
                kind = PipeClosedError if error.errno == errno.EPIPE else OutputNotWrittenError
                reason = error.strerror or str(error)
                raise kind(f"the output could not be written: {reason}") from None


def _discard(stream) -> None:
    """Let what a stream still holds go nowhere: Python tries to write it again at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def output():
    """Write to standard output and error in these manners."""
    before = sys.stdout, sys.stderr
    sys.stdout = _Stream(sys.stdout, is_output=True)
    sys.stderr = _Stream(sys.stderr, is_output=False)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


_in_order = False
_put_off = False


@contextlib.contextmanager
def ctrl_c(before):
    """Let Ctrl-C end the command with INTERRUPTED and without a traceback; then `before` handles it again.

    While a module is imported the process ends at once: nothing has begun, and an exception would end in
    whatever that module makes of it. Otherwise KeyboardInterrupt is raised.
    """
    if before is None:
        yield
        return
    hook = sys.unraisablehook
    signal.signal(signal.SIGINT, _Stop())
    sys.unraisablehook = _again_if_lost(hook)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        # Nothing is left to stop, and Python's own end is long, and R's. What is registered last comes first.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def stopping_in_order():
    """For a command that has something to put in order when it is stopped: always KeyboardInterrupt."""
    global _in_order
    _in_order = True
    try:
        yield
    finally:
        _in_order = False


class _Stop:
    """What Ctrl-C does here."""

    raises_keyboard_interrupt = True  # the bridge asks for it

    def __call__(self, signum, frame) -> None:
        global _put_off
        if not _in_order and _is_within(frame, "importlib._bootstrap"):
            os._exit(INTERRUPTED)
        if _is_within(frame, __name__, "again"):  # raised there it would be lost once more
            _put_off = True
            return
        raise KeyboardInterrupt


def _is_within(frame, module: str, function: str | None = None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") == module and function in (None, frame.f_code.co_name):
            return True
        frame = frame.f_back
    return False


def _again_if_lost(hook):
    """An interrupt inside of a destructor is printed and lost: it comes again a little later."""

    def again(lost):
        global _put_off
        if lost.exc_type is not KeyboardInterrupt:
            hook(lost)
            return
        seconds, _put_off = 0.01, True
        while _put_off:  # on a busy machine it may come before this has ended
            _put_off = False
            threading.Timer(seconds, os.kill, [os.getpid(), signal.SIGINT]).start()
            seconds *= 2

    return again
