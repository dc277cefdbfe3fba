"""Dates as R counts them: days since 1970, or seconds where there are times of day."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError

__all__ = ["UNITS", "is_date", "numbers_of_dates", "unit_of"]

UNITS = {"days": 86_400, "seconds": 1}  # in seconds


def is_date(values: pd.Series) -> bool:
    """Whether a column is of pandas' dates."""
    return pd.api.types.is_datetime64_any_dtype(values.dtype)


def unit_of(values: pd.Series) -> str:
    """Days, R's Date, unless some value has a time of day: then seconds, R's POSIXct.

    >>> unit_of(pd.Series(pd.to_datetime(["2020-01-01 00:00", "2020-01-02 12:00"])))
    'seconds'
    """
    seconds = numbers_of_dates(values, "seconds")
    return "days" if not np.nanmax(np.mod(seconds, UNITS["days"]), initial=0.0) else "seconds"


def numbers_of_dates(values: pd.Series, unit: str) -> np.ndarray | pd.Series:
    """Dates as numbers, missing ones as NaN; what is a number already stays.

    >>> numbers_of_dates(pd.Series(pd.to_datetime(["1970-01-01", "1971-01-01"])), "days").tolist()
    [0.0, 365.0]
    """
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values
    if not is_date(values):
        raise InvalidInputError(
            f"column {values.name!r} of X has the type {values.dtype} but the model knows it as dates"
        )
    if getattr(values.dtype, "tz", None) is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    seconds = values.to_numpy(dtype="datetime64[ns]").astype("int64") / 1e9
    return np.where(values.isna(), np.nan, seconds) / UNITS[unit]
