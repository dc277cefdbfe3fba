"""Optional packages, and the commands that install them."""

from __future__ import annotations

import shlex
from importlib import import_module
from types import ModuleType

from ..exceptions import ExtraNotAvailableError
from .core import this_python

EXTRAS = {  # extras of pyproject.toml
    "matplotlib": "plots",
    "onnx": "onnx",
    "openpyxl": "excel",
    "sympy": "sympy",
}


def load_extra(module: str, use: str) -> ModuleType:
    """Import a module of an optional package; `use` names what needs it, as in "drawing"."""
    package = module.partition(".")[0]
    try:
        import_module(package)
        return import_module(module)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == package
        problem = "is not installed" if missing else f"does not load ({error})"
        wanted = shlex.quote(f"pyearthdof[{EXTRAS[package]}]")
        raise ExtraNotAvailableError(
            f"{use} needs {package}, which {problem}", f"{this_python()} -m pip install {wanted}"
        ) from error
