"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from .exceptions import PyEarthDofError

__all__ = ["FileNotWrittenError", "remove_partial_files", "write_whole"]

_PARTIAL = ".partial-"


class FileNotWrittenError(PyEarthDofError, OSError):
    """The disk is full, the folder is read-only, ...; the message names the file and the reason."""


def write_whole(file: str | os.PathLike, content: str | bytes) -> None:
    """Write a temporary file beside it, then rename: a reader sees the old file or the new one.

    Raises
    ------
    FileNotWrittenError
        It could not be written. The old file is as it was, and nothing else is left.
    """
    file = Path(file)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        _write_whole(file, data)
    except OSError as error:
        raise FileNotWrittenError(
            f"{str(file)!r} could not be written: {error.strerror or error}"
        ) from error


def _write_whole(file: Path, data: bytes) -> None:
    handle, partial = tempfile.mkstemp(dir=file.parent, prefix=_PARTIAL)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(partial, 0o644)  # mkstemp's own would be readable for its owner only
        os.replace(partial, file)
    except BaseException:
        with contextlib.suppress(OSError):  # a read-only folder; the reason itself is raised
            os.unlink(partial)
        raise


def remove_partial_files(folder: str | os.PathLike) -> None:
    """Remove what processes that were killed while writing left; nobody may be writing now."""
    for partial in Path(folder).glob(f"{_PARTIAL}*"):
        with contextlib.suppress(OSError):  # nobody reads it, so it does not matter
            partial.unlink()
