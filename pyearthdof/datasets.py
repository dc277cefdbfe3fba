"""The paper's data sets."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pandas as pd
import pooch

from . import bridge

__all__ = ["load_ozone"]


def load_ozone() -> pd.DataFrame:
    """Ozone in Los Angeles in 1976: R's `earth::ozone1`, 330 rows, response O3 and 9 predictors.

    Read from R's package once and kept as a file, so that later loads need no R.

    >>> load_ozone().shape
    (330, 10)
    """
    return _package_data("ozone1", "earth")


def _package_data(name: str, package: str) -> pd.DataFrame:
    file = cache_folder() / f"{package}-{name}.csv"
    if file.is_file():
        return pd.read_csv(file, float_precision="round_trip")
    frame = pd.DataFrame(bridge.call("package.data", name, package, package=package))
    _keep(frame, file)
    return frame


def cache_folder() -> Path:
    """Where data are kept: the folder PYEARTHDOF_CACHE, or the user's cache folder."""
    return Path(os.environ.get("PYEARTHDOF_CACHE") or pooch.os_cache("pyearthdof"))


def _keep(frame: pd.DataFrame, file: Path) -> None:
    """Write the cache, whole or not at all; where it cannot be written the data come from R again."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as folder:
            partial = Path(folder) / file.name
            frame.to_csv(partial, index=False)
            os.replace(partial, file)
    except OSError:
        return
