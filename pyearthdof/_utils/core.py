"""The compiled core, or one sentence where it is missing: there is no second implementation."""

from importlib import import_module
from types import ModuleType

from ..exceptions import CoreNotAvailableError, InvalidInputError

__all__ = ["load_core"]

NAME = "pyearthdof._core"


def load_core() -> ModuleType:
    """Import `pyearthdof._core`."""
    try:
        return import_module(NAME)
    except ImportError as error:
        from .remedies import core_again

        reason = " ".join(str(error).split())
        if reason.startswith("PYEARTHDOF_INSTRUCTIONS="):  # refused by the core itself
            raise InvalidInputError(reason) from None
        missing = isinstance(error, ModuleNotFoundError) and error.name == NAME
        problem = "is not here for this Python" if missing else f"does not load ({reason})"
        raise CoreNotAvailableError(f"the compiled core {NAME} {problem}", core_again()) from error
