"""Tables of earth's cross-validation as data frames."""

from __future__ import annotations

import pandas as pd

COUNTS = {"nterms.selected.by.gcv": "nterms", "nvars.selected.by.gcv": "nvars"}
PER_FOLD = (
    "rsq", "maxerr", "class_rate", "auc", "cor", "deviance", "calib_int", "calib_slope",
)  # fmt: skip


def cv_frames(found) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Return a frame with one row per fold, and all of R's tables by name.

    The last row of the frame is R's mean over the folds. For several responses, it contains R's mean over
    them (the maximum for the error), and an additional column per response, such as `rsq_y1`.
    """
    tables = {_short(name): _table(table) for name, table in found["tables"].items()}
    frame = pd.DataFrame({"nterms": found["terms"]}, index=found["folds"])
    if "nterms" in tables:
        counts = {name: tables.pop(name).iloc[:, 0] for name in COUNTS.values()}
        frame = pd.DataFrame(counts)
    for name in PER_FOLD:
        if name in tables:
            frame = frame.join(_columns(name, tables[name], list(frame.index)))
    return frame, tables


def _short(name: str) -> str:
    """Shorten the name of a table: cv.class.rate.tab becomes class_rate."""
    name = name.removeprefix("cv.").removesuffix(".tab")
    return COUNTS.get(name, name.replace(".", "_"))


def _table(table) -> pd.DataFrame:
    return pd.DataFrame(table["values"], index=table["rows"], columns=table["columns"])


def _columns(name: str, table: pd.DataFrame, rows: list[str]) -> pd.DataFrame:
    """Return the overall column, named after the table, and one per response if there are several."""
    # one of R's tables has unnamed rows, and a mean is called "all"
    values = table.set_axis(rows, axis=0)
    columns = {name: values.iloc[:, -1]}
    if values.shape[1] > 2:
        columns |= {f"{name}_{response}": values[response] for response in values.columns[:-1]}
    return pd.DataFrame(columns)
