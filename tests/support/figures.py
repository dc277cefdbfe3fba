"""Figures that the tests of this folder measure, for the report on reliability.

Every `record` appends one line of JSON to the file that the environment variable PYEARTHDOF_RELIABILITY
names; without the variable it does nothing.
"""

from __future__ import annotations

import json
import os


def record(name: str, **figures) -> None:
    """Append the figures under a name."""
    path = os.environ.get("PYEARTHDOF_RELIABILITY")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, **figures}) + "\n")
