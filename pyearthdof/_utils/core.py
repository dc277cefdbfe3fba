"""Import of the compiled core, or an error with the command that installs it."""

from __future__ import annotations

import shlex
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from ..exceptions import CoreNotAvailableError, InvalidInputError

NAME = "pyearthdof._core"


def load_core() -> ModuleType:
    """Import `pyearthdof._core`."""
    try:
        return import_module(NAME)
    except ImportError as error:
        reason = " ".join(str(error).split())
        if reason.startswith("PYEARTHDOF_INSTRUCTIONS="):  # raised by the core
            raise InvalidInputError(reason) from None
        missing = isinstance(error, ModuleNotFoundError) and error.name == NAME
        problem = "is missing for this Python" if missing else f"does not load ({reason})"
        raise CoreNotAvailableError(f"the compiled core {NAME} {problem}", _core_again()) from error


def self_again() -> str:
    """Return the command that reinstalls this package from its original source."""
    command = f"{this_python()} -m pip install --force-reinstall --no-deps"
    return f"installing it again: {command} and its checkout or wheel"


def _core_again() -> str:
    """Return the command that builds the core in a checkout, or reinstalls the package with it."""
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / "src" / "CMakeLists.txt").is_file():
        return self_again()
    where = shlex.quote(str(checkout))
    return f"{this_python()} -m pip install --editable {where} (which needs a C++ compiler)"


def this_python() -> str:
    """Return the path of this Python, so that the command works without activating the environment."""
    return shlex.quote(sys.executable or "python3")
