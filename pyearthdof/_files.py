"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(file: str | os.PathLike, content: str | bytes) -> None:
    """Write a temporary file beside it, then rename: a reader sees the old file or the new one."""
    file = Path(file)
    data = content.encode("utf-8") if isinstance(content, str) else content
    handle, partial = tempfile.mkstemp(dir=file.parent, prefix=".partial-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(partial, 0o644)  # mkstemp's own would be readable for its owner only
        os.replace(partial, file)
    except BaseException:
        os.unlink(partial)
        raise
