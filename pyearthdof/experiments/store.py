"""Finished cells on disk: one JSON file each, written whole or not at all, found by what made them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import warnings
from pathlib import Path

from filelock import FileLock, Timeout

from .._utils.files import FileNotWrittenError, remove_partial_files, write_whole
from ..exceptions import FolderInUseError, InvalidInputError

__all__ = ["CellStore", "DamagedCellWarning", "locked"]


class DamagedCellWarning(UserWarning):
    """A stored cell cannot be used and is computed again."""


class CellStore:
    """A folder of finished cells.

    The name of a file is a hash of the experiment, the cell's settings, the engine and the versions
    of all that computed it. So a result of another version of earth is never taken for one of
    this version: it simply is not found. A hash of the contents is kept with them, so that a file that
    was damaged is never taken for a result.
    """

    def __init__(self, folder: Path):
        self.folder = Path(folder)

    def file(self, key: dict) -> Path:
        """Where the cell of this key is kept."""
        text = json.dumps(key, sort_keys=True)
        return (
            self.folder
            / f"{key['experiment']}-{hashlib.sha256(text.encode()).hexdigest()[:20]}.json"
        )

    def get(self, key: dict) -> dict | None:
        """The record kept under the key, or None; a damaged one is reported as a warning."""
        file = self.file(key)
        try:
            text = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            problem: str | None = f"cannot be read ({error})"
        else:
            problem = _problem(text, key)
            if problem is None:
                return json.loads(text)
        warnings.warn(
            f"the stored cell {str(file)!r} {problem} and is computed again",
            DamagedCellWarning,
            stacklevel=2,
        )
        return None

    def put(self, key: dict, record: dict) -> None:
        """Keep a record."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileNotWrittenError(
                f"the folder {str(self.folder)!r} cannot be made: {error.strerror or error}"
            ) from error
        whole = {"key": key, **record}
        write_whole(self.file(key), json.dumps({**whole, "digest": _digest(whole)}, indent=1))

    def forget(self, key: dict) -> None:
        """Remove the record, if there is one."""
        try:
            self.file(key).unlink(missing_ok=True)
        except OSError as error:
            raise FileNotWrittenError(
                f"{str(self.file(key))!r} cannot be removed: {error.strerror or error}"
            ) from error


def _problem(text: str, key: dict) -> str | None:
    """What is wrong with the text of a stored cell; None if it is whole and the one of the key."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return "is not whole" if text else "is empty"
    if not isinstance(record, dict) or not {"key", "rows", "seconds", "digest"} <= record.keys():
        return "is not a record of a cell"
    if record["key"] != json.loads(json.dumps(key)):
        return "holds a cell of other settings"
    if record.pop("digest") != _digest(record):
        return "was changed after it was written"
    return None


def _digest(record: dict) -> str:
    """A hash of everything in a record, the same before and after a way through JSON."""
    text = json.dumps(json.loads(json.dumps(record)), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@contextlib.contextmanager
def locked(folder: Path):
    """Hold the folder; a second run into it is refused. The lock ends with the process, however that ends."""
    folder = Path(folder)
    # Beside the lock and not in it: on Windows nobody else can read a file that is locked.
    owner = folder / ".owner"
    lock = FileLock(folder / ".lock")
    with _said(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise FolderInUseError(
                f"another run (process {_read(owner) or 'unknown'}) is writing into "
                f"{str(folder)!r}; wait for it, or pass another folder with --out"
            ) from None
    try:
        with _said(folder):
            owner.write_text(str(os.getpid()), encoding="utf-8")
        _remove_partial(folder)
        yield
    finally:
        _remove_partial(folder)
        with contextlib.suppress(OSError):  # a read-only folder; nobody reads it without the lock
            owner.unlink(missing_ok=True)
        lock.release()


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


@contextlib.contextmanager
def _said(folder: Path):
    """Turn the system's error into a sentence about the folder."""
    try:
        yield
    except OSError as error:
        raise InvalidInputError(
            f"the folder {str(folder)!r} cannot be written: {error.strerror or error}"
        ) from None


def _remove_partial(folder: Path) -> None:
    for place in (folder, folder / "cells"):
        remove_partial_files(place)
