"""The only code that knows rpy2: everything else calls `bridge.call("function.of.r_scripts", ...)`."""

from .convert import Factor, Frame, NamedMatrix, RFunction
from .session import call, earth_version, is_available, r_version, r_versions, require

__all__ = [
    "Factor",
    "Frame",
    "NamedMatrix",
    "RFunction",
    "call",
    "earth_version",
    "is_available",
    "r_version",
    "r_versions",
    "require",
]
