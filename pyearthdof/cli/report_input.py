"""What the report page is made of: the JSON files of a folder, as far as they are results."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path

__all__ = ["read_results"]

TEXTS = ("name", "title", "question", "size", "engine")
COMPARED = {"quantity", "ours", "paper", "verdict", "agrees"}


def read_results(folder: Path) -> list[dict]:
    """What the results in a folder tell about themselves, by name; other JSON files are left alone.

    A file that says that it is a result and does not look like one is left out, with a warning.
    """
    results = []
    for file in sorted(folder.glob("*.json")):
        try:
            about = json.loads(file.read_text(encoding="utf-8"))
        except (ValueError, OSError, RecursionError):
            continue
        if not isinstance(about, dict) or not {"name", "comparisons", "table"} <= about.keys():
            continue
        problem = _problem(about, file.stem)
        if problem is None:
            results.append(about)
        else:
            warnings.warn(
                f"{str(file)!r} is left out of the page: {problem}; `pyearthdof reproduce` writes it again",
                stacklevel=3,
            )
    return results


def _problem(about: dict, name: str) -> str | None:
    """Why this is no result of `reproduce`, or None."""
    if about["name"] != name:
        return "its name is not that of the file"
    for field in TEXTS:
        if not isinstance(about.get(field), str):
            return f"its {field} is no text"
    for field in ("settings", "versions"):
        if not isinstance(about.get(field), dict):
            return f"its {field} are no mapping"
    for field in ("seconds", "cells"):
        if not _is_number(about.get(field)):
            return f"its {field} are no number"
    if not _is_table(about["table"]):
        return "its table is none"
    if not isinstance(about["comparisons"], list) or not all(
        map(_is_compared, about["comparisons"])
    ):
        return "its comparisons are none"
    return None


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_table(table) -> bool:
    if not isinstance(table, dict) or not isinstance(table.get("columns"), list):
        return False
    rows = table.get("rows")
    width = len(table["columns"])
    return isinstance(rows, list) and all(isinstance(r, list) and len(r) == width for r in rows)


def _is_compared(entry) -> bool:
    return (
        isinstance(entry, dict)
        and entry.keys() >= COMPARED
        and (entry["agrees"] is None or isinstance(entry["agrees"], bool))
    )
