"""The compiled core, or one sentence where it is missing: there is no second implementation."""

from importlib import import_module
from types import ModuleType

from .exceptions import CoreNotAvailableError

__all__ = ["load_core"]

NAME = f"{__package__}._core"


def load_core() -> ModuleType:
    """Import `pyearthdof._core`."""
    try:
        return import_module(NAME)
    except ImportError as error:
        from .bridge.remedies import core_again

        missing = isinstance(error, ModuleNotFoundError) and error.name == NAME
        reason = " ".join(str(error).split())
        problem = "is not here for this Python" if missing else f"does not load ({reason})"
        raise CoreNotAvailableError(f"the compiled core {NAME} {problem}", core_again()) from error
