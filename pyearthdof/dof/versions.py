"""The versions behind a number."""

from __future__ import annotations

import functools
import importlib.metadata
import platform

from .._version import __version__

__all__ = ["package_versions"]


@functools.cache
def package_versions() -> dict[str, str]:
    """Versions of Python and of the packages that compute here."""
    names = ("numpy", "scipy", "scikit-learn")
    versions = {"pyearthdof": __version__, "python": platform.python_version()}
    return versions | {name: importlib.metadata.version(name) for name in names}
