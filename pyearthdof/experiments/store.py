"""Finished cells on disk: one JSON file each, written whole or not at all, found by what made them."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from pathlib import Path

from .._files import write_whole
from ..exceptions import FolderInUseError, InvalidInputError

__all__ = ["CellStore", "locked"]


class CellStore:
    """A folder of finished cells.

    The name of a file is a hash of the experiment, the cell's settings, the engine and the versions
    of all that computed it. So a result of another version of earth is never taken for one of
    this version: it simply is not found.
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
        """The record kept under the key, or None. A file that does not read as ours is ignored."""
        try:
            record = json.loads(self.file(key).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        same = isinstance(record, dict) and record.get("key") == key
        return record if same and "rows" in record else None

    def put(self, key: dict, record: dict) -> None:
        """Keep a record."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.file(key), json.dumps({"key": key, **record}, indent=1))

    def forget(self, key: dict) -> None:
        """Remove the record, if there is one."""
        self.file(key).unlink(missing_ok=True)


@contextlib.contextmanager
def locked(folder: Path):
    """Hold the folder; a second run into it is refused. The lock ends with the process, however that ends."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = open(folder / ".lock", "a+", encoding="utf-8")  # noqa: SIM115  closed below
    except OSError as error:
        raise InvalidInputError(f"the folder {str(folder)!r} cannot be written: {error}") from None
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            stream.seek(0)
            raise FolderInUseError(
                f"another run (process {stream.read().strip() or 'unknown'}) is writing into "
                f"{str(folder)!r}; wait for it, or pass another folder with --out"
            ) from None
        stream.truncate(0)
        stream.write(str(os.getpid()))
        stream.flush()
        yield
