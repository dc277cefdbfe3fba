"""Tables of the command line: a CSV file or a data set by name, and its columns as predictors and response.

A CSV file is looked at before pandas reads it: pandas takes the first field of longer rows for an index,
fills up shorter ones and renames columns of one name, all of it in silence.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from ..exceptions import InvalidInputError

__all__ = [
    "leave_out", "numbers_of", "read_table", "split_target", "split_targets", "split_weights",
]  # fmt: skip

SEPARATORS = (",", ";", "\t", "|")
MAX_UNPACKED = 2**30  # bytes
MAX_COLUMNS = 100_000
NO_NAME = "Unnamed: 0"  # pandas' name for a first column without one
_OPEN: dict[str, Callable[..., IO]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read_table(source: str, sep: str = ",", decimal: str = ".") -> pd.DataFrame:
    """Read a CSV file, which may be compressed, standard input ("-"), or a data set by name.

    `sep` is what separates the fields, `decimal` the decimal mark.
    """
    from ..datasets import load_ozone, read_csv

    sep = _check_marks(sep, decimal)
    if source == "ozone" and not Path(source).exists():
        return load_ozone()
    name = "standard input" if source == "-" else source
    if source != "-" and not Path(source).exists():
        raise InvalidInputError(f"there is no file {source!r}")
    if Path(source).is_dir():
        raise InvalidInputError(f"{source!r} is a folder but it should be a CSV file")
    try:
        text = _text(_bytes(source))
        shape = _check_lines(text, sep)
        marks = {"sep": sep, "decimal": decimal}
        table = read_csv(io.StringIO(text), index_col=False, low_memory=False, **marks)
        if sep != "," and decimal == ".":
            _check_decimals(table)
    except InvalidInputError as error:
        raise InvalidInputError(f"{name} is not a readable CSV file: {error}") from None
    except (ValueError, EOFError, OSError, lzma.LZMAError) as error:
        reason = " ".join(str(error).split())
        raise InvalidInputError(f"{name} is not a readable CSV file: {reason}") from None
    if table.shape != shape:  # two readers of one text that disagree
        raise InvalidInputError(
            f"{name} is not a readable CSV file: it can be read as {shape} or as {table.shape} rows and "
            "columns"
        )
    table = _without_row_names(table, name)
    if table.empty:
        raise InvalidInputError(f"{name} has no rows")
    return table


def _without_row_names(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """R's write.csv and pandas' to_csv write row names as a first column without a name."""
    if table.columns[0] != NO_NAME:
        return table
    if not table.iloc[:, 0].is_unique:
        raise InvalidInputError(
            f"{name} is not a readable CSV file: the header has no name for column 1, which should then "
            "hold row names, all different"
        )
    warnings.warn(
        f"the first column of {name} has no name and is left out: it holds row names, as R's write.csv and "
        "pandas' to_csv write them",
        stacklevel=3,
    )
    return table.drop(columns=NO_NAME)


def _bytes(source: str) -> bytes:
    if source == "-":
        return sys.stdin.buffer.read()
    opener = _OPEN.get(Path(source).suffix.lower())
    if opener is None:
        return Path(source).read_bytes()
    with opener(source, "rb") as stream:
        data = stream.read(MAX_UNPACKED + 1)
    if len(data) > MAX_UNPACKED:
        raise InvalidInputError(
            f"it unpacks to more than {MAX_UNPACKED:,} bytes: unpack it first, and give the plain file"
        )
    return data


def _text(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(
            f"line {line} holds the byte 0x{data[error.start]:02x}, which is not UTF-8"
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InvalidInputError(f"line {line} holds a NUL character")
    return text


def _check_marks(sep: str, decimal: str) -> str:
    sep = {"tab": "\t", "\\t": "\t"}.get(sep, sep)
    if sep not in SEPARATORS:
        raise InvalidInputError(f"--sep={sep!r} but it should be one of , ; | and tab")
    if decimal not in (".", ",") or decimal == sep:
        raise InvalidInputError(
            f"--decimal={decimal!r} but it should be . or , and another one than --sep"
        )
    return sep


def _check_lines(text: str, sep: str) -> tuple[int, int]:
    """Numbers of rows and columns; every line should have a field for each name of the header."""
    records = _records(text, sep)
    first, header = next(records, (1, None))
    if header is None:
        raise InvalidInputError("it is empty")
    if len(header) > MAX_COLUMNS:
        raise InvalidInputError(
            f"it has {len(header):,} columns but it should have {MAX_COLUMNS:,} at most"
        )
    _check_separator(header, sep)
    _check_header(first, header)
    n_rows = 0
    for line, fields in records:
        if len(fields) != len(header):
            advice = " (row names? R's write.csv(row.names=FALSE) leaves them out)"
            is_longer = len(fields) == len(header) + 1
            raise InvalidInputError(
                f"line {line} has {len(fields)} field(s) but the header has {len(header)}"
                + advice * is_longer
            )
        n_rows += 1
    return n_rows, len(header)


def _check_separator(header: list[str], sep: str) -> None:
    """A header that is one field with another separator in it is a file with that one."""
    other = next((mark for mark in SEPARATORS if mark != sep and mark in header[0]), None)
    if len(header) == 1 and other is not None:
        flag = "tab" if other == "\t" else f"'{other}'"
        name = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}[other]
        comma = " (with --decimal ',' where numbers are written 1,5)" if other == ";" else ""
        raise InvalidInputError(
            f"its fields seem to be separated by {name}: read it with --sep {flag}{comma}"
        )


def _check_decimals(table: pd.DataFrame) -> None:
    """Numbers with a comma would be taken for texts, and a target of them for classes."""
    for name in table.columns:
        if pd.api.types.is_numeric_dtype(table[name]):
            continue
        values = table[name].dropna().astype(str)
        commas = values.str.contains(",", regex=False)
        if commas.any() and values.str.fullmatch(r"\s*[-+]?\d*,?\d+(e[-+]?\d+)?\s*").all():
            raise InvalidInputError(
                f"column {name!r} holds {values[commas].iloc[0]!r} and other numbers with a comma: read it "
                "with --decimal ','"
            )


def _records(text: str, sep: str):
    """The number of its first line and the fields of every record that is not blank."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=sep)
    line = 1
    try:
        for fields in reader:
            if len(fields) > 1 or "".join(fields).strip(" \t"):
                yield line, fields
            line = reader.line_num + 1
    except csv.Error as error:
        raise InvalidInputError(f"line {line}: {error}") from None


def _check_header(line: int, names: list[str]) -> None:
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name.strip() and (name or position > 1 or not "".join(names)):
            raise InvalidInputError(f"the header in line {line} has no name for column {position}")
        if name in seen:
            raise InvalidInputError(
                f"the header in line {line} has the name {name!r} twice, for columns {seen[name]} and "
                f"{position}"
            )
        seen[name] = position


def split_target(
    table: pd.DataFrame, target: str, *, classes: bool = False
) -> tuple[pd.DataFrame, pd.Series]:
    """Separate the response from the predictors, or say which columns there are.

    Only with `classes` may the response be text.
    """
    if target not in table.columns:
        raise InvalidInputError(
            f"target={target!r} but it should be one of {', '.join(map(str, table.columns))}"
        )
    X, y = table.drop(columns=target), table[target]
    if X.shape[1] == 0:
        raise InvalidInputError(f"there is no column beside the target {target!r}")
    if not classes and not pd.api.types.is_numeric_dtype(y):
        raise InvalidInputError(f"the target {target!r} holds text but it should hold numbers")
    if y.isna().any():
        raise InvalidInputError(f"the target {target!r} has missing values but it should have none")
    return X, y


def leave_out(table: pd.DataFrame, names: list[str], targets: list[str]) -> pd.DataFrame:
    """The table without some of its predictors."""
    known = [str(name) for name in table.columns if name not in targets]
    for name in names:
        if name not in known:
            raise InvalidInputError(
                f"--without={name!r} but it should be one of {', '.join(known)}"
            )
    return table.drop(columns=names)


def split_weights(table: pd.DataFrame, weights: str | None, targets: list[str]):
    """The table without its column of weights, and that column."""
    if weights is None:
        return table, None
    if weights not in table.columns or weights in targets:
        raise InvalidInputError(
            f"weights={weights!r} but it should be one of "
            f"{', '.join(str(name) for name in table.columns if name not in targets)}"
        )
    values = table[weights]
    if not pd.api.types.is_numeric_dtype(values) or values.isna().any():
        raise InvalidInputError(
            f"the column {weights!r} of weights should hold a number in each row"
        )
    return table.drop(columns=weights), values.to_numpy(dtype=float)


def split_targets(table: pd.DataFrame, targets: list[str], *, classes: bool = False):
    """As `split_target`; several responses are a frame, of numbers."""
    X, y = table, {}
    for target in targets:
        X, y[target] = split_target(X, target, classes=classes and len(targets) == 1)
    return X, y[targets[0]] if len(targets) == 1 else pd.DataFrame(y)


def numbers_of(table: pd.DataFrame) -> np.ndarray:
    """The table as numbers; a column that does not hold finite ones is named."""
    from ..mars.design.columns import Columns
    from ..mars.design.data import check_finite

    for column in Columns.learn(table).columns:
        if column.kind != "number":
            raise InvalidInputError(f"column {column.name!r} holds text but it should hold numbers")
    values = table.to_numpy(dtype=float)
    check_finite(values, list(table.columns))
    return values
