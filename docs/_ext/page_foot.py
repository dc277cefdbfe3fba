"""The versions that made the pages, for their foot."""

import platform

from pyearthdof import __version__, doctor

PARTS = {"R": "R", "R's earth": "earth"}


def built_with() -> str:
    """Those of pyearthdof and Python, and of R and earth where they are.

    >>> built_with().startswith("pyearthdof ")
    True
    """
    found = {
        PARTS[finding.part]: finding.found.split()[0]
        for finding in doctor().findings
        if finding.part in PARTS and finding.ok
    }
    r = ", ".join(f"{name} {version}" for name, version in found.items())
    return f"pyearthdof {__version__}, Python {platform.python_version()}, {r or 'without R'}"
