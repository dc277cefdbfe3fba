"""Tables of the command line: CSV files and named data sets, split into predictors and responses.

CSV files are validated before pandas reads them: pandas silently uses the first field of longer rows as an
index, pads shorter ones, and renames duplicate columns.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from shlex import quote
from typing import IO, Any

import numpy as np
import pandas as pd

from .._utils.warnings import warn_user
from ..exceptions import InvalidInputError

DATA_SET = "ozone"  # the one that goes by its name
SEPARATORS = (",", ";", "\t", "|")
MAX_COLUMNS = 100_000
LIMIT, DEFAULT_LIMIT = "PYEARTHDOF_MAX_TABLE_MB", 500
SHOWN = 5  # cells in an error
# Thousands, a decimal comma, hexadecimal digits, percent, a currency: meant as a number, but none for pandas.
ALMOST_NUMBER = (
    r"\s*[-+]?[$€£]?\s*(0[xX][0-9a-fA-F]+|\d{1,3}([,_']\d{3})+(\.\d*)?|\d*,\d+|\d+(\.\d*)?)"
    r"\s*[%€£$]?\s*"
)
ROW_NAMES = (
    "R's write.csv and pandas' to_csv write the names of the rows as a first column: leave them out "
    "with row.names=FALSE in R or index=False in pandas, or give the column a name and use --without"
)
_OPEN: dict[str, Callable[..., IO]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def read_table(
    source: str,
    sep: str = ",",
    decimal: str = ".",
    *,
    factors: Collection[str] | None = None,
    texts: Collection[str] = (),
    used: Collection[str] | None = None,
    unused: Collection[str] = (),
) -> pd.DataFrame:
    """Read a CSV file, which may be compressed, standard input (`-`) or a data set by name.

    `sep` is the field separator, `decimal` the decimal mark. Columns in `factors` (None for commands
    without --factor) and `texts` are read as text. In other used columns, a few non-numeric cells among
    numbers are an error, and numbers among text raise a warning.
    """
    from ..datasets import load_ozone, read_csv

    sep = _check_marks(sep, decimal)
    if source == DATA_SET and not Path(source).exists():
        table = load_ozone()
        _check_factors(factors, table)
        return table.astype(dict.fromkeys(factors or (), str))
    if source != "-" and (not Path(source).exists() or Path(source).is_dir()):
        raise InvalidInputError(f"there is no file {source!r}")
    called = "standard input" if source == "-" else source
    try:
        data = _data(source)
        shape, header = _check_lines(data, sep)
        as_text = [name for name in header if name in texts or name in (factors or ())]
        options: dict[str, Any] = {"sep": sep, "decimal": decimal}
        options |= {"index_col": False, "low_memory": False, "dtype": dict.fromkeys(as_text, str)}
        table = read_csv(io.BytesIO(data), **options)
        if sep != "," and decimal == ".":
            _check_decimals(table.drop(columns=as_text))
    except InvalidInputError as error:
        raise InvalidInputError(f"{called} is not a readable CSV file: {error}") from None
    except (ValueError, EOFError, OSError, lzma.LZMAError) as error:
        reason = " ".join(str(error).split())
        raise InvalidInputError(f"{called} is not a readable CSV file: {reason}") from None
    if table.shape != shape:  # two readers of one text that disagree
        raise InvalidInputError(
            f"{called} is not a readable CSV file: it can be read as {shape} or as {table.shape} rows and "
            "columns"
        )
    if table.empty:
        raise InvalidInputError(f"{called} has no rows")
    _check_factors(factors, table)
    doubtful = [
        name
        for name in table.columns
        if (used is None or name in used)
        and name not in unused
        and name not in as_text
        and not pd.api.types.is_numeric_dtype(table[name])
    ]
    if doubtful:
        # As text: of integers that are too long for 64 bits pandas reads NA as a text, too.
        cells = read_csv(io.BytesIO(data), **options | {"usecols": doubtful, "dtype": str})
        for name in doubtful:
            bad, numbers, is_numeric = _numbers_in(cells[name], decimal)
            n_cells = int(cells[name].count())
            option = f"--factor {quote(name)}"
            if bad.empty:
                table[name] = numbers
            elif is_numeric:
                remedy = "" if factors is None else f", or take it for a factor by {option}"
                raise InvalidInputError(
                    f"{called}: the column {name!r} seems to contain numbers but {len(bad)} of its "
                    f"{n_cells} cells cannot be read as numbers: {_places(bad, data, sep)}; correct the "
                    f"file{remedy}"
                )
            elif len(bad) < n_cells:
                remedy = "" if factors is None else f", or confirm the factor by {option}"
                warn_user(
                    f"{called}: {n_cells - len(bad)} of the {n_cells} cells of the column {name!r} are "
                    f"numbers, but it is read as texts, a factor of {cells[name].nunique()} levels, because "
                    f"of {_places(bad, data, sep)}; correct the file if it should be numbers{remedy}"
                )
    return table


def read_rows(
    estimator,
    source: str,
    written: tuple[str, str],
    targets: Collection[str] = (),
    keep: Collection[str] = (),
):
    """Return the predictors of a saved model in a table, which may lack the targets, and the table.

    `written` are its separator and decimal mark. Other columns to `keep` are read as text.
    """
    model = estimator.model_
    levels = {c.name: c.levels for c in model.raw_columns if c.kind in ("factor", "ordered")}
    is_text = isinstance(next(iter(getattr(estimator, "classes_", ())), None), str)
    used = [*model.raw_names, *targets]
    texts = [*levels, *(targets if is_text else ()), *(set(keep) - set(used))]
    table = read_table(source, *written, texts=texts, used=used)
    for name in keep:
        if name not in table.columns:
            raise InvalidInputError(
                f"--keep={name!r} but it should be one of {', '.join(map(str, table.columns))}"
            )
    missing = [name for name in model.raw_names if name not in table.columns]
    if missing:
        raise InvalidInputError(f"{source} lacks the column {missing[0]!r} that the model needs")
    for name, known in levels.items():
        table[name] = _as_levels(table[name], known)
    X = table[list(model.raw_names)]
    if model.columns is None and model.formula is None:
        numbers_of(X)
    if not hasattr(estimator, "feature_names_in_"):  # fitted on an array: only places count
        X = X.to_numpy(dtype=float)
    return X, table


def _as_levels(values: pd.Series, levels: tuple[str, ...]) -> pd.Series:
    """Return text as written, or matched numerically to a level of the model, 1.0 for the level 1."""
    if values.dropna().isin(levels).all():
        return values
    numbers = pd.to_numeric(values, errors="coerce")
    return values if (numbers.isna() & values.notna()).any() else numbers


def _check_factors(factors: Collection[str] | None, table: pd.DataFrame) -> None:
    for name in factors or ():
        if name not in table.columns:
            raise InvalidInputError(
                f"--factor={name!r} but it should be one of {', '.join(map(str, table.columns))}"
            )


def _numbers_in(cells: pd.Series, decimal: str) -> tuple[pd.Series, pd.Series, bool]:
    """Return the non-numeric cells, the numbers, and whether the column is probably numeric.

    As text, it would be a factor with one level per number.
    """
    present = cells.dropna()
    plain = present.str.translate(str.maketrans(",.", ".,")) if decimal == "," else present
    numbers = pd.to_numeric(plain, errors="coerce").astype(float)
    bad = present[numbers.isna()]
    almost = int(plain[bad.index].str.fullmatch(ALMOST_NUMBER).sum())
    is_numeric = 2 * (len(present) - len(bad) + almost) > len(present)
    return bad, numbers.reindex(cells.index), is_numeric


def _places(bad: pd.Series, data: bytes, sep: str) -> str:
    lines = [line for line, _ in _records(data, sep)][1:]
    shown = [f"{text!r} in row {k + 1} (line {lines[k]})" for k, text in bad[:SHOWN].items()]
    return ", ".join(shown) + (f" and {len(bad) - SHOWN} more" if len(bad) > SHOWN else "")


def _data(source: str) -> bytes:
    """Return the bytes of a table, in UTF-8 without byte order mark."""
    if source == "-":
        if sys.stdin is None:
            raise InvalidInputError("it is closed")
        data = _read_bounded(sys.stdin.buffer)
    else:
        unpack = _OPEN.get(Path(source).suffix.lower())
        with (unpack or open)(source, "rb") as stream:
            is_plain = unpack is None and Path(source).is_file()
            data = stream.read() if is_plain else _read_bounded(stream)
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(
            f"line {line} contains the byte 0x{data[error.start]:02x}, which is not UTF-8"
        ) from None
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise InvalidInputError(f"line {line} contains a NUL character")
    return data


def _read_bounded(stream: IO) -> bytes:
    """Read a stream of unknown size with a limit: a small file may unpack to more than the memory."""
    text = os.environ.get(LIMIT) or str(DEFAULT_LIMIT)
    if not text.isdecimal() or int(text) < 1:
        raise InvalidInputError(f"{LIMIT}={text!r} but it should be a number of megabytes")
    limit = int(text)
    data = stream.read(limit * 10**6 + 1)
    if len(data) > limit * 10**6:
        raise InvalidInputError(
            f"it has more than {limit} MB, the limit for compressed files and pipes: unpack it into a "
            f"file, or set {LIMIT} to a larger number"
        )
    return data


def _check_marks(sep: str, decimal: str) -> str:
    sep = {"tab": "\t", "\\t": "\t"}.get(sep, sep)
    if sep not in SEPARATORS:
        raise InvalidInputError(f"--sep={sep!r} but it should be one of , ; | and tab")
    if decimal not in (".", ",") or decimal == sep:
        raise InvalidInputError(
            f"--decimal={decimal!r} but it should be . or , and another one than --sep"
        )
    return sep


def _check_lines(data: bytes, sep: str) -> tuple[tuple[int, int], list[str]]:
    """Check numbers of rows and columns, and the header; every line should have one field per name."""
    records = _records(data, sep)
    first, header = next(records, (1, None))
    if header is None:
        raise InvalidInputError("it is empty")
    if len(header) > MAX_COLUMNS:
        raise InvalidInputError(
            f"it has {len(header)} columns but there should be at most {MAX_COLUMNS}"
        )
    _check_separator(header, sep)
    _check_header(first, header)
    n_rows = 0
    for line, fields in records:
        if len(fields) != len(header):
            note = f" ({ROW_NAMES})" if n_rows == 0 and len(fields) == len(header) + 1 else ""
            raise InvalidInputError(
                f"line {line} has {len(fields)} field(s) but the header has {len(header)}{note}"
            )
        n_rows += 1
    return (n_rows, len(header)), header


def _check_separator(header: list[str], sep: str) -> None:
    """Raise an error if the header is one field that contains another separator."""
    other = next((mark for mark in SEPARATORS if mark != sep and mark in header[0]), None)
    if len(header) == 1 and other is not None:
        flag = "tab" if other == "\t" else f"'{other}'"
        name = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}[other]
        comma = " (with --decimal ',' where numbers are written 1,5)" if other == ";" else ""
        raise InvalidInputError(
            f"its fields seem to be separated by {name}: read it with --sep {flag}{comma}"
        )


def _check_decimals(table: pd.DataFrame) -> None:
    """Raise an error for numbers with a decimal comma, which would be read as text."""
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


def _records(data: bytes, sep: str):
    """Yield the line number and the fields of every nonblank record."""
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    reader = csv.reader(text, strict=True, delimiter=sep)
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
        if not name.strip():
            note = f" ({ROW_NAMES})" if position == 1 and len(names) > 1 else ""
            raise InvalidInputError(
                f"the header in line {line} has no name for column {position}{note}"
            )
        if name in seen:
            raise InvalidInputError(
                f"the header in line {line} has the name {name!r} twice, for columns {seen[name]} and "
                f"{position}"
            )
        seen[name] = position


def split_target(
    table: pd.DataFrame, target: str, *, classes: bool = False
) -> tuple[pd.DataFrame, pd.Series]:
    """Separate the response from the predictors; errors list the columns.

    Text responses require `classes`.
    """
    if target not in table.columns:
        raise InvalidInputError(
            f"target={target!r} but it should be one of {', '.join(map(str, table.columns))}"
        )
    X, y = table.drop(columns=target), table[target]
    if X.shape[1] == 0:
        raise InvalidInputError(f"there is no column beside the target {target!r}")
    if not classes and not pd.api.types.is_numeric_dtype(y):
        raise InvalidInputError(
            f"the target {target!r} contains text but it should contain numbers"
        )
    if y.isna().any():
        raise InvalidInputError(f"the target {target!r} has missing values but it should have none")
    return X, y


def leave_out(table: pd.DataFrame, names: list[str], targets: list[str]) -> pd.DataFrame:
    """Return the table without some of its predictors."""
    known = [str(name) for name in table.columns if name not in targets]
    for name in names:
        if name not in known:
            raise InvalidInputError(
                f"--without={name!r} but it should be one of {', '.join(known)}"
            )
    return table.drop(columns=names)


def split_weights(table: pd.DataFrame, weights: str | None, targets: list[str]):
    """Return the table without its column of weights, and that column."""
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
            f"the column {weights!r} of weights should contain a number in each row"
        )
    return table.drop(columns=weights), values.to_numpy(dtype=float)


def split_targets(table: pd.DataFrame, targets: list[str], *, classes: bool = False):
    """Split as `split_target`; several responses form a numeric frame."""
    X, y = table, {}
    for target in targets:
        X, y[target] = split_target(X, target, classes=classes and len(targets) == 1)
    return X, y[targets[0]] if len(targets) == 1 else pd.DataFrame(y)


def numbers_of(table: pd.DataFrame) -> np.ndarray:
    """Return the table as numbers; errors name columns without finite numbers."""
    from ..mars.data.columns import Columns
    from ..mars.data.design import check_finite

    for column in Columns.learn(table).columns:
        if column.kind != "number":
            raise InvalidInputError(
                f"column {column.name!r} contains text but it should contain numbers"
            )
    values = table.to_numpy(dtype=float)
    check_finite(values, list(table.columns))
    return values
