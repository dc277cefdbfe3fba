"""MARS engines: R's earth, and compiled code that fits the same models without R."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._utils.checks import refusal
from ...exceptions import InvalidInputError

if TYPE_CHECKING:
    from ..options import EarthOptions
    from .base import Engine


def choose_engine(name: str, options: EarthOptions, many: bool = False) -> Engine:
    """Select an engine; "auto" is R if available, or the native engine for `many` fits."""
    if not isinstance(name, str) or name not in ("auto", "r", "native"):
        raise refusal("engine", name, "'auto', 'r' or 'native'")
    only_r, only_native = options.only_r, options.only_native
    if name == "native" and only_r:
        raise InvalidInputError(f"engine='native' but {only_r} needs engine='r'")
    if only_native and (name == "r" or only_r):
        other = "engine='r'" if name == "r" else f"{only_r}, which needs R,"
        raise InvalidInputError(f"{other} but {only_native} needs engine='native'")
    if name != "native" and not only_native:
        from ... import bridge

        if name == "r" or only_r:
            bridge.require("earth")
            return engine_called("r")
        if name == "auto" and not many and bridge.is_available("earth"):
            return engine_called("r")
    return engine_called("native")


def engine_called(name: str) -> Engine:
    """Return the engine with this name."""
    if name == "r":
        from .r.engine import REngine

        return REngine()
    from .native.engine import NativeEngine

    return NativeEngine()
