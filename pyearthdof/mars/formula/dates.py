"""Dates as R counts them: days since 1970, or seconds where there are times of day."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...exceptions import InvalidInputError

__all__ = ["UNITS", "dates_of_numbers", "is_date", "numbers_of_dates", "unit_of"]

UNITS = {"days": 86_400, "seconds": 1, "days UTC": 86_400, "seconds UTC": 1}  # in seconds
TICKS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}  # of pandas' dates in a second


def is_date(values: pd.Series) -> bool:
    """Whether a column is of pandas' dates."""
    return pd.api.types.is_datetime64_any_dtype(values.dtype)


def unit_of(values: pd.Series) -> str:
    """Days, R's Date, unless some value has a time of day: then seconds, R's POSIXct.

    Dates with a time zone are counted in UTC.

    >>> unit_of(pd.Series(pd.to_datetime(["2020-01-01 00:00", "2020-01-02 12:00"])))
    'seconds'
    """
    seconds = _seconds(values)
    unit = "days" if not np.nanmax(np.mod(seconds, UNITS["days"]), initial=0.0) else "seconds"
    return f"{unit} UTC" if _zone(values) is not None else unit


def numbers_of_dates(values: pd.Series, unit: str) -> np.ndarray:
    """Dates as numbers, missing ones as NaN.

    >>> numbers_of_dates(pd.Series(pd.to_datetime(["1970-01-01", "1971-01-01"])), "days").tolist()
    [0.0, 365.0]
    """
    if not is_date(values):
        raise InvalidInputError(
            f"column {values.name!r} of X has the type {values.dtype} but the model knows it as dates"
        )
    if unit.endswith("UTC") and _zone(values) is None:
        raise InvalidInputError(
            f"column {values.name!r} of X has dates without a time zone but the model knows them with one: "
            f"X[{values.name!r}].dt.tz_localize('UTC'), or another zone, says which they have"
        )
    if not unit.endswith("UTC") and _zone(values) is not None:
        raise InvalidInputError(
            f"column {values.name!r} of X has dates with the time zone {_zone(values)} but the model knows "
            f"them without one: X[{values.name!r}].dt.tz_localize(None) gives the local times"
        )
    return _seconds(values) / UNITS[unit]


def dates_of_numbers(values, unit: str) -> pd.DatetimeIndex:
    """The inverse of `numbers_of_dates`."""
    return pd.to_datetime(np.asarray(values) * UNITS[unit], unit="s", utc=unit.endswith("UTC"))


def _zone(values: pd.Series):
    return values.dt.tz


def _seconds(values: pd.Series) -> np.ndarray:
    if _zone(values) is not None:
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    found = np.asarray(values)  # not as nanoseconds, which end in 2262
    seconds = found.astype("int64") / TICKS[np.datetime_data(found.dtype)[0]]
    return np.where(values.isna(), np.nan, seconds)
