"""Reading saved models: plain JSON values back to arrays, everything unexpected refused by name."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..exceptions import InvalidInputError

MAX_ENTRIES = 10_000_000  # of a matrix in a file; earth allows 1000 terms


def plain(value):
    """Lists, numbers and strings of a value; JSON has no infinities, so they travel as strings."""
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, np.ndarray):
        return [plain(v) for v in value.tolist()]
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def read_file(file: str | os.PathLike | IO[bytes]) -> str:
    """The text of a saved model: of a file, or of a stream of bytes."""
    try:
        if isinstance(file, (str, os.PathLike)):
            return Path(file).read_text(encoding="utf-8")
        return file.read().decode("utf-8")
    except UnicodeDecodeError as error:
        name = file if isinstance(file, (str, os.PathLike)) else "standard input"
        raise InvalidInputError(f"{name} is not a saved MARS model: {error}") from error


def read_json(text: str):
    """The value of a JSON text; names that stand twice and halves of characters are refused."""
    found = json.loads(text, object_pairs_hook=_without_duplicates)
    if re.search(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]", text):
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            code = ord(error.object[error.start])
            raise InvalidInputError(
                f"the text has \\u{code:04x}, which is half of a character"
            ) from None
    return found


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError(f"the text has {twice[:40]!r} twice in one object")
    return entries


def read_number(name, value) -> float:
    """A number, or one of the strings that stand for NaN and infinities."""
    if isinstance(value, str) and value in ("nan", "inf", "-inf"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInputError(f"{name} holds {str(value)[:40]!r} where a number should be")
    try:
        return float(value)
    except OverflowError:
        raise InvalidInputError(f"{name} contains a number that is too large") from None


def read_integer(name, value) -> int:
    """A whole number that a double can hold."""
    number = read_number(name, value)
    if not number.is_integer() or abs(number) > 2**53:
        raise InvalidInputError(f"{name}={str(value)[:40]} but it should be an integer")
    return int(number)


def read_flag(name, value) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise InvalidInputError(f"{name} holds {str(value)[:40]!r} where true or false should be")
    return value


def read_text(name, value) -> str:
    """A string."""
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} holds {str(value)[:40]!r} where text should be")
    return value


def read_texts(name, value) -> tuple[str, ...]:
    """A list of strings."""
    return tuple(read_text(name, v) for v in _read_list(name, value))


def read_vector(name, value) -> np.ndarray:
    """A list of numbers."""
    entries = _read_list(name, value)
    if {int, float}.issuperset(map(type, entries)):  # at once, in a long list
        with contextlib.suppress(OverflowError):  # which is said below
            return np.array(entries, dtype=float)
    return np.array([read_number(name, v) for v in entries], dtype=float)


def read_indices(name, value) -> np.ndarray:
    """A list of whole numbers."""
    entries = _read_list(name, value)
    if set(map(type, entries)) == {int} and max(map(abs, entries)) <= 2**53:  # as above
        return np.array(entries, dtype=int)
    return np.array([read_integer(name, v) for v in entries], dtype=int)


def read_matrix(name, value) -> np.ndarray:
    """A list of rows of one length."""
    rows = [read_vector(name, row) for row in _read_list(name, value)]
    if len({len(row) for row in rows}) > 1 or sum(map(len, rows)) > MAX_ENTRIES:
        raise InvalidInputError(f"{name} should be a list of rows of one length")
    return np.array(rows, dtype=float).reshape(len(rows), -1 if rows else 0)


def read_coefficients(name, value) -> np.ndarray:
    """A list of numbers, or of rows with one number for each response."""
    nested = isinstance(value, list) and bool(value) and isinstance(value[0], list)
    return (read_matrix if nested else read_vector)(name, value)


def read_versions(name, value) -> dict[str, str]:
    """A mapping of texts."""
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{name} should be a mapping")
    return {read_text(name, k): read_text(name, v) for k, v in value.items()}


def read_fields(
    name: str, entries: Any, readers: Mapping[str, Callable[[str, Any], Any]]
) -> dict[str, Any]:
    """The entries of a mapping, each by its reader; no other entries may be in it."""
    if not isinstance(entries, Mapping) or set(entries) != set(readers):
        raise InvalidInputError(f"{name} should have exactly {', '.join(readers)}")
    return {key: read(f"{name}.{key}", entries[key]) for key, read in readers.items()}


def optional(read: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """A reader that also takes null."""
    return lambda name, value: None if value is None else read(name, value)


def _read_list(name, value) -> list:
    if not isinstance(value, list):
        raise InvalidInputError(f"{name} should be a list")
    return value
