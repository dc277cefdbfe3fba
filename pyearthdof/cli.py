"""The door of the command line. It imports little, so that Ctrl-C is in order from the first moment on."""

from __future__ import annotations

import sys
import warnings

from . import _terminal
from .exceptions import InvalidInputError, PyEarthDofError

__all__ = ["main"]

REFUSED = 2


def main() -> None:
    """Run a command; a problem that we foresaw ends in one sentence and an exit code of its kind."""
    with _terminal.ctrl_c(), _terminal.output():
        code = _run()
    raise SystemExit(code)


def _run() -> int | str | None:
    # On a terminal a warning is a sentence; where in our code it arose does not help there.
    warnings.formatwarning = lambda message, *_, **__: f"pyearthdof: warning: {message}\n"
    try:
        code = _command()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _terminal.INTERRUPTED
    except PyEarthDofError as error:
        print(f"pyearthdof: {error}", file=sys.stderr)
        if isinstance(error, _terminal.OutputNotWrittenError):
            return error.exit_code
        return REFUSED if isinstance(error, InvalidInputError) else _terminal.FAILED


def _command() -> int | str | None:
    try:
        from .cli_commands import app

        app()
    except SystemExit as stop:
        return stop.code
    return 0
