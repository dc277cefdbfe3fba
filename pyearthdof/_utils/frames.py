"""Data frames of other libraries, converted to pandas at the boundary by narwhals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..exceptions import InvalidInputError


def to_pandas(data: Any, name: str) -> Any:
    """Convert frames and series of other libraries to pandas; return other objects unchanged."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        raise InvalidInputError(
            f"{name} is a lazy frame ({type(data).__name__}) but it should be in memory: collect it first"
        )
    if isinstance(frame, nw.Series):
        return _series(frame)
    if not isinstance(frame, nw.DataFrame):
        return _by_protocol(data)
    if frame.implementation.is_pandas_like():
        return frame.to_pandas()
    columns = {i: _series(frame[:, i]) for i in range(len(frame.columns))}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(frame))).set_axis(frame.columns, axis=1)


def _by_protocol(data: Any) -> Any:
    """Convert a frame that narwhals does not support, by columns; return anything else unchanged."""
    names = getattr(data, "column_names", getattr(data, "columns", None))
    if names is None or not hasattr(data, "__getitem__"):
        return data
    return pd.DataFrame({name: np.asarray(data[name]) for name in names})


def _series(values: Any) -> pd.Series:
    """Convert a column to pandas without pyarrow, which polars' own conversion would need."""
    import narwhals.stable.v2 as nw

    if values.implementation.is_pandas_like():
        return values.to_pandas()
    name, dtype = values.name or None, values.dtype
    if isinstance(dtype, nw.Enum | nw.Categorical):
        return pd.Series(_categorical(values), name=name)
    if isinstance(dtype, nw.Decimal):
        values = values.cast(nw.Float64)
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
        utc = pd.Series(values.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy())
        return utc.dt.tz_localize("UTC").dt.tz_convert(dtype.time_zone).rename(name)
    if isinstance(dtype, nw.Date):
        values = values.cast(nw.Datetime("ms"))
    if dtype.is_numeric() or dtype.is_temporal():
        return pd.Series(values.to_numpy(), name=name)
    return pd.Series(values.to_list(), name=name)  # text and booleans; None if missing


def _categorical(values: Any) -> pd.Categorical:
    import narwhals.stable.v2 as nw

    found = values.cast(nw.String).to_list()
    if isinstance(values.dtype, nw.Enum):
        return pd.Categorical(found, categories=list(values.dtype.categories))
    if values.implementation.is_polars():
        return pd.Categorical(found)
    return pd.Categorical(found, categories=values.cat.get_categories().to_list())
