"""Conversion of values between Python and R. Everything is copied; numbers are passed as doubles.

=============================  ==============================  ===========================
Python                         R                               back in Python
=============================  ==============================  ===========================
None                           NULL                            None
bool                           logical of length 1             bool (NA: nan)
int, float                     double of length 1              1-d float array
str                            character of length 1           list of str
list or tuple of str           character                       list of str (NA: None)
1-d array                      double vector, no dim           1-d float array
1-d array of bool              logical vector                  1-d float array
2-d array                      double matrix                   2-d float array
`NamedMatrix`                  double matrix with column names 2-d float array
`Factor`                       factor, ordered if so marked    list of str
`Frame`                        data.frame                      dict
an object of rpy2              itself                          (depends on its type)
`RFunction`                    its number, for `python.call`   (not converted back)
bytes                          raw                             bytes
dict with str keys             named list                      dict
list, tuple of other things    list                            list
=============================  ==============================  ===========================

rpy2's own converters return 1-d *arrays* that earth refuses, alias R's memory, lose column names, turn
R's integer NA into -2147483648, and depend on a context variable that a new thread lacks.
`rpy2.rinterface` has no such context.
"""

from __future__ import annotations

import itertools
import re
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import InvalidInputError


@dataclass(frozen=True)
class NamedMatrix:
    """A matrix of doubles with column names."""

    values: np.ndarray
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Factor:
    """A categorical column: 0-based codes (-1 is missing) into the levels."""

    codes: np.ndarray
    levels: tuple[str, ...]
    ordered: bool = False


@dataclass(frozen=True)
class Frame:
    """A data frame: columns of numbers, booleans or `Factor`s by name."""

    columns: Mapping[str, np.ndarray | Factor]


@dataclass(frozen=True, eq=False)
class RFunction:
    """A Python function that R may call with converted arguments; its result must be convertible.

    An exception in it cannot pass through R: it is stored in `errors`, R continues with `otherwise`, and
    the creator of the RFunction raises it afterwards.

    R refers to it by a number: `python.call(number, ...)` calls it. One R function, created once and never
    released, serves all of them (see `dispatcher`), because R crashes the process when it calls or collects
    a function whose Python side no longer exists.
    """

    function: Callable[..., Any]
    otherwise: Any
    errors: list[BaseException]


_functions: weakref.WeakValueDictionary[int, RFunction] = weakref.WeakValueDictionary()
_next_key = itertools.count(1)


def to_r(value, ri):
    """Convert a Python value to an R object (see the table above); `ri` is rpy2.rinterface; R must run."""
    if value is None:
        return ri.NULL
    if isinstance(value, (bool, np.bool_)):
        return ri.BoolSexpVector([bool(value)])
    if isinstance(value, (int, float, np.number)):
        return ri.FloatSexpVector([float(value)])
    if isinstance(value, str):
        return _texts([value], ri)
    if isinstance(value, (bytes, bytearray)):
        return ri.ByteSexpVector.from_memoryview(memoryview(value))
    if isinstance(value, NamedMatrix):
        return _matrix(value.values, ri, value.columns)
    if isinstance(value, Factor):
        return _factor(value, ri)
    if isinstance(value, Frame):
        return _frame(value, ri)
    if isinstance(value, RFunction):
        key = next(_next_key)
        _functions[key] = value
        return ri.FloatSexpVector([float(key)])
    if isinstance(value, ri.Sexp):
        return value
    if isinstance(value, np.ndarray):
        return _array(value, ri)
    if isinstance(value, dict):
        return _named_list(value, ri)
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(v, str) for v in value):
            return _texts(value, ri)
        return ri.ListSexpVector([to_r(v, ri) for v in value])
    raise TypeError(f"a {type(value).__name__} has no counterpart in R")


def from_r(value, ri):
    """Convert an R object to a Python value; the result does not refer to R's memory."""
    if value is ri.NULL or isinstance(value, type(ri.NULL)):
        return None
    if isinstance(value, ri.FloatSexpVector):
        return _shaped(np.array(value, dtype=float), value, ri)
    if isinstance(value, ri.BoolSexpVector):
        numbers = _integers(value)
        if len(numbers) == 1 and not np.isnan(numbers[0]):
            return bool(numbers[0])
        return _shaped(numbers, value, ri)
    if isinstance(value, ri.IntSexpVector):
        numbers = _integers(value)
        levels = _attribute(value, "levels", ri)
        if levels is not None:
            return [None if np.isnan(code) else levels[int(code) - 1] for code in numbers]
        return _shaped(numbers, value, ri)
    if isinstance(value, ri.StrSexpVector):
        return [_word(value, k, ri) for k in range(len(value))]
    if isinstance(value, ri.ByteSexpVector):
        return np.asarray(value, dtype=np.uint8).tobytes()
    if isinstance(value, ri.ListSexpVector):
        names = _attribute(value, "names", ri)
        items = [from_r(v, ri) for v in value]
        return items if names is None else dict(zip(names, items, strict=True))
    raise TypeError(f"an R {type(value).__name__} has no counterpart in Python")


def _word(words, k, ri) -> str | None:
    try:
        word = words[k]
    except UnicodeDecodeError:
        # An invalid UTF-8 byte. R before 4.5 returns it as "<ff>", newer versions unchanged.
        word = ri.baseenv["iconv"](words, "UTF-8", "UTF-8", "byte")[k]
    return None if word is ri.NA_Character else str(word)


def _texts(texts, ri):
    for text in texts:
        if re.search("[\0\ud800-\udfff]", text):
            raise InvalidInputError(
                f"the text {text!r} cannot go to R, which supports no NUL and no broken UTF-8"
            )
    return ri.StrSexpVector(list(texts))


def _array(array, ri):
    if array.ndim == 1 and array.dtype == bool:
        return ri.BoolSexpVector(array.tolist())
    if array.ndim == 1:
        return _doubles(array, ri)
    if array.ndim == 2:
        return _matrix(array, ri)
    raise TypeError(f"an array with {array.ndim} dimensions has no counterpart in R")


def _doubles(array, ri):
    flat = np.ascontiguousarray(array, dtype=np.float64)
    if flat.size == 0:
        return ri.FloatSexpVector([])
    # A copy that owns its memory: rpy2 takes writable, contiguous buffers only.
    return ri.FloatSexpVector.from_memoryview(flat.copy().data)


def _matrix(array, ri, columns=None):
    array = np.asarray(array, dtype=np.float64)
    vector = ri.FloatSexpVector(_doubles(array.ravel(order="F"), ri))
    vector.do_slot_assign("dim", ri.IntSexpVector(list(array.shape)))
    if columns is not None:
        vector.do_slot_assign("dimnames", ri.ListSexpVector([ri.NULL, _texts(columns, ri)]))
    return vector


def _factor(factor, ri):
    codes = [ri.NA_Integer if code < 0 else int(code) + 1 for code in factor.codes]
    vector = ri.IntSexpVector(codes)
    vector.do_slot_assign("levels", _texts(factor.levels, ri))
    classes = ["ordered", "factor"] if factor.ordered else ["factor"]
    return _classed(vector, classes, ri)


def _frame(frame, ri):
    vector = _named_list(frame.columns, ri)
    first = next(iter(frame.columns.values()))
    n_rows = len(first.codes if isinstance(first, Factor) else first)
    # R's short form of the row names 1..n: NA and -n.
    vector.do_slot_assign("row.names", ri.IntSexpVector([ri.NA_Integer, -n_rows]))
    return _classed(vector, ["data.frame"], ri)


def _classed(vector, classes, ri):
    # Set by R itself: R's method dispatch does not see a class set as a slot.
    return ri.baseenv["class<-"](vector, ri.StrSexpVector(classes))


def _named_list(items, ri):
    vector = ri.ListSexpVector([to_r(v, ri) for v in items.values()])
    vector.do_slot_assign("names", _texts(items, ri))
    return vector


def dispatcher(ri):
    """Create the R function that calls any `RFunction` by its number."""

    def called_by_r(key, *args):
        function = _functions[int(key[0])]
        try:
            if not function.errors:
                return to_r(function.function(*(from_r(a, ri) for a in args)), ri)
        except BaseException as error:
            function.errors.append(error)
        return to_r(function.otherwise, ri)

    return ri.rternalize(called_by_r, signature=False)


def _integers(vector):
    # Not by vector.memoryview(), which drops a reference to None each time: after some thousand fits
    # the interpreter would crash.
    raw = np.array(vector, dtype=np.int64)
    return np.where(raw == -(2**31), np.nan, raw.astype(float))


def _shaped(array, vector, ri):
    dims = _attribute(vector, "dim", ri)
    return array if dims is None else array.reshape([int(d) for d in dims], order="F")


def _attribute(vector, name, ri):
    try:
        return from_r(vector.do_slot(name), ri)
    except LookupError:
        return None
