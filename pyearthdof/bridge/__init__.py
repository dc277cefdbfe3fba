"""The only code that knows rpy2: everything else calls `bridge.call("function.of.r_scripts", ...)`."""

from .convert import Factor, NamedMatrix, RFunction
from .session import call, is_available, r_versions, require

__all__ = ["Factor", "NamedMatrix", "RFunction", "call", "is_available", "r_versions", "require"]
