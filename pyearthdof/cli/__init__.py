"""Entry point of the command line, with few imports so that Ctrl-C works from the start."""

from __future__ import annotations

# What Python's own signal is made of; that one takes milliseconds to import.
import _signal  # type: ignore[import-not-found]
import os
import sys

__all__ = ["main"]

REFUSED = 2


def main() -> None:
    """Run a command; expected errors print one sentence and set the exit code."""
    try:
        before = _signal.signal(_signal.SIGINT, lambda *_: os._exit(130))
    except ValueError:  # not in the main thread, where no signal arrives
        before = None
    from . import terminal

    with terminal.ctrl_c(before), terminal.output():
        code = _run(terminal)
    raise SystemExit(code)


def _run(terminal) -> int | str | None:
    import warnings

    from ..exceptions import InvalidInputError, PyEarthDofError

    # On a terminal a warning is a sentence; where in our code it arose does not help there.
    warnings.formatwarning = lambda message, *_, **__: f"pyearthdof: warning: {message}\n"
    try:
        code = _command()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return terminal.INTERRUPTED
    except terminal.PipeClosedError:  # the reader has enough, as `head` has: no error to report
        return terminal.PIPE_CLOSED
    except PyEarthDofError as error:
        print(f"pyearthdof: {error}", file=sys.stderr)
        return REFUSED if isinstance(error, InvalidInputError) else terminal.FAILED


def _command() -> int | str | None:
    try:
        from .commands import app

        app()
    except SystemExit as stop:
        return stop.code
    return 0
