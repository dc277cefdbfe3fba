"""Atomic writing of files."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Any

from ..exceptions import InvalidInputError, PyEarthDofError

_PARTIAL = ".partial-"


class FileNotWrittenError(PyEarthDofError, OSError):
    """A file could not be written; the message names the file and the reason."""


def check_path(path: Any) -> str:
    """Return the name of a file as text."""
    try:
        name = os.fsdecode(path)
    except TypeError:
        name = "\0"
    if "\0" in name:
        raise InvalidInputError(f"path={path!r:.80} but it should be the name of a file")
    return name


def write_whole(file: str | os.PathLike, content: str | bytes) -> None:
    """Write a temporary file beside it, then rename it: a reader sees either the old file or the new one.

    A new file gets its mode from the umask; an existing one keeps its mode. Symbolic links are followed. The
    content is written into a FIFO or a device, which cannot be replaced. After a `FileNotWrittenError` the
    old file is unchanged and no temporary file remains.
    """
    file = check_path(file)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        try:
            old = os.stat(file)
        except FileNotFoundError:
            old = None
        if old is None or stat.S_ISREG(old.st_mode):
            _replace(Path(os.path.realpath(file)), data, old)
        else:
            with open(file, "wb") as stream:
                stream.write(data)
    except OSError as error:
        raise FileNotWrittenError(
            f"{file!r} could not be written: {error.strerror or error}"
        ) from error


def written(path: str | os.PathLike | None, text: str) -> str:
    """Return the text after writing it to the file `path`, if given."""
    if path is not None:
        write_whole(path, text)
    return text


def _replace(file: Path, data: bytes, old: os.stat_result | None) -> None:
    partial = file.parent / f"{_PARTIAL}{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(partial, flags, 0o666 if old is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            if old is not None:
                _take_over(partial, old)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, file)
    except BaseException:
        with contextlib.suppress(OSError):  # a read-only folder; the original error is raised
            os.unlink(partial)
        raise
    _sync_folder(file.parent)


def _take_over(partial: Path, old: os.stat_result) -> None:
    """Give the new file the mode of the old one, and its group and owner if permitted."""
    if hasattr(os, "chown"):
        for owner, group in ((-1, old.st_gid), (old.st_uid, -1)):
            with contextlib.suppress(OSError):
                os.chown(partial, owner, group)
    os.chmod(partial, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a crash of the machine, if the system can synchronise folders."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_partial_files(folder: str | os.PathLike) -> None:
    """Remove temporary files of killed processes; no process may be writing."""
    for partial in Path(folder).glob(f"{_PARTIAL}*"):
        with contextlib.suppress(OSError):  # errors are harmless: these files are never read
            partial.unlink()
