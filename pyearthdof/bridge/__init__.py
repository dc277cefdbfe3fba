"""Interface to R, the only code that imports rpy2; call `bridge.call("function.of.r_scripts", ...)`."""

from .convert import Factor, Frame, NamedMatrix, RFunction
from .session import call, installed_version, is_available, r_versions, require

__all__ = [
    "Factor",
    "Frame",
    "NamedMatrix",
    "RFunction",
    "call",
    "installed_version",
    "is_available",
    "r_versions",
    "require",
]
