"""R's earth in one long-lived plain Rscript: the judge in the fuzz tests. No rpy2, none of our code.

A process that dies or takes too long is ended and replaced; the case that did it is told as such.
"""

from __future__ import annotations

import os
import select
import struct
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

SCRIPT = Path(__file__).with_name("rserver.R")
# R's names of the arguments, written down here again so that a slip in the package's table shows.
R_NAMES = {
    "degree": "degree", "penalty": "penalty", "nk": "nk", "thresh": "thresh", "minspan": "minspan",
    "endspan": "endspan", "newvar_penalty": "newvar.penalty", "fast_k": "fast.k",
    "fast_beta": "fast.beta", "linpreds": "linpreds", "pmethod": "pmethod", "nprune": "nprune",
    "adjust_endspan": "Adjust.endspan", "auto_linpreds": "Auto.linpreds", "scale_y": "Scale.y",
    "response_weight": "wp", "glm_family": "glm", "force_weights": "Force.weights", "glm_link": "glm.link",
    "glm_maxit": "glm.maxit", "glm_epsilon": "glm.epsilon",
    "nfold": "nfold", "ncross": "ncross", "stratify": "stratify", "keepxy": "keepxy",
    "random_state": "seed", "varmod_method": "varmod.method", "varmod_exponent": "varmod.exponent",
    "varmod_conv": "varmod.conv", "varmod_clamp": "varmod.clamp", "varmod_minspan": "varmod.minspan",
}  # fmt: skip
AGAIN = "again "  # before the names of what the second pruning pass gave
R_FAMILIES = {"gamma": "Gamma", "inverse_gaussian": "inverse.gaussian"}


@dataclass(frozen=True)
class Fitted:
    """A fit: arrays by name, the names of the terms, the warnings in order, and names of columns."""

    parts: dict[str, np.ndarray]
    term_names: tuple[str, ...]
    warnings: tuple[str, ...]
    columns: tuple[str, ...] = ()
    responses: tuple[str, ...] = ()
    refused_rows: str = ""  # why a formula does not predict the new rows


@dataclass(frozen=True)
class Refused:
    """An error on purpose, with its message."""

    message: str


@dataclass(frozen=True)
class Died:
    """The process ended or did not answer in time."""

    message: str


class RServer:
    """Fits cases one after the other; use it in a `with` block.

    Parameters
    ----------
    timeout : seconds that a case may take.
    """

    def __init__(self, timeout: float = 60.0):
        self.timeout = timeout
        self.starts = 0
        self._process = None

    def __enter__(self) -> RServer:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def fit(self, case) -> Fitted | Refused | Died:
        """Fit a `Case`."""
        if self._process is None:
            self._start()
        self._deadline = time.monotonic() + self.timeout
        try:
            self._send(_encode(case))
            return self._answer()
        except TimeoutError:
            self.close()
            return Died(f"R did not answer within {self.timeout:g} s")
        except EOFError:
            code, text = self._process.wait(), self._console()
            self.close()
            return Died(f"R ended with code {code}: {text[-4000:]}")

    def close(self) -> None:
        """End the R process, if there is one."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        os.close(self._from_r)
        self._stderr.close()
        self._process = None

    def _start(self) -> None:
        self._from_r, to_us = os.pipe()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115, closed by `close`
        self._process = subprocess.Popen(
            ["Rscript", "--vanilla", str(SCRIPT), str(to_us)],
            stdin=subprocess.PIPE,
            stdout=self._stderr,
            stderr=self._stderr,
            pass_fds=(to_us,),
            bufsize=0,
        )
        os.close(to_us)
        os.set_blocking(self._process.stdin.fileno(), False)
        self.starts += 1

    def _console(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read().decode("utf-8", "replace")

    def _send(self, data: bytes) -> None:
        pipe = self._process.stdin.fileno()
        view = memoryview(data)
        while view:
            self._wait([], [pipe])
            try:
                view = view[os.write(pipe, view) :]
            except BrokenPipeError:
                raise EOFError from None

    def _take(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            self._wait([self._from_r], [])
            piece = os.read(self._from_r, count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def _wait(self, reading, writing) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0 or not any(select.select(reading, writing, [], left)):
            raise TimeoutError

    def _numbers(self, count: int) -> np.ndarray:
        return np.frombuffer(self._take(8 * count), dtype="<f8")

    def _count(self) -> int:
        return int(self._numbers(1)[0])

    def _text(self) -> str:
        return self._take(self._count()).decode("utf-8")

    def _texts(self) -> tuple[str, ...]:
        return tuple(self._text() for _ in range(self._count()))

    def _answer(self) -> Fitted | Refused:
        if self._text() == "refused":
            return Refused(self._text())
        names, warned, columns, responses = (self._texts() for _ in range(4))
        parts = {}
        for _ in range(self._count()):
            name = self._text()
            parts[name] = self._numbers(self._count())
        _shape(parts, "", len(names))
        if AGAIN + "coef" in parts:
            _shape(parts, AGAIN, len(names))
        return Fitted(parts, names, warned, columns, responses)


def _shape(parts: dict[str, np.ndarray], prefix: str, n_forward: int) -> None:
    """Make matrices of what R sent column by column: of the fit, or of the second pruning pass."""
    selected = parts[prefix + "selected"].astype(int) - 1
    n_responses = len(parts[prefix + "coef"]) // len(selected)
    rows = {"dirs": n_forward, "cuts": n_forward, "coef": len(selected), "glm_coef": len(selected)}
    rows["prune_terms"] = len(parts[prefix + "rss_per_subset"])
    for name, n_rows in rows.items():
        if prefix + name in parts:
            parts[prefix + name] = parts[prefix + name].reshape(-1, n_rows).T
    for name in ("fitted", "predicted", "response"):
        if prefix + name in parts:
            parts[prefix + name] = parts[prefix + name].reshape(n_responses, -1).T
    parts[prefix + "selected"] = selected


def _encode(case) -> bytes:
    return b"".join([
        _data(case.X), _responses(case), _data(case.weights), _data(case.subset),
        _arguments(case.r_options), _arguments(case.reprune), _data(case.X_new),
    ])  # fmt: skip


def _data(data) -> bytes:
    if data is None:
        return _text("none")
    if isinstance(data, pd.DataFrame):
        columns = [_column(data[name]) for name in data.columns]
        return b"".join([_text("frame"), _text_list(map(str, data.columns)), *columns])
    if data.ndim == 1:
        return _text("vector") + _vector(data)
    return _text("matrix") + struct.pack("<2d", *data.shape) + _bytes(data)


def _column(column: pd.Series) -> bytes:
    kind = column.dtype.kind
    if kind == "b":
        return _text("flags") + _vector(column)
    if kind == "M":
        return _text("dates") + _vector(column.to_numpy().astype("datetime64[D]").astype(float))
    if not isinstance(column.dtype, pd.CategoricalDtype) and kind in "OUT":
        return _text("texts") + _text_list(column)
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return _data(column.to_numpy())
    kind = "ordered" if column.cat.ordered else "factor"
    return _factor(kind, column.cat.codes, column.cat.categories)


def _factor(kind: str, codes, levels) -> bytes:
    return _text(kind) + _vector(codes) + _text_list(map(str, levels))


def _responses(case) -> bytes:
    if case.formula:
        return _text("formula") + _text(case.formula)
    return _factor("factor", case.y, case.classes) if case.classes else _data(case.y)


def _arguments(options: dict) -> bytes:
    given = {name: value for name, value in options.items() if value is not None}
    pieces = [struct.pack("<d", len(given))]
    for name, value in given.items():
        pieces += [_text(R_NAMES[name]), _argument(name, value)]
    return b"".join(pieces)


def _bytes(values) -> bytes:
    return np.asarray(values, dtype="<f8").tobytes("F")


def _vector(values) -> bytes:
    return struct.pack("<d", len(values)) + _bytes(values)


def _text(text: str) -> bytes:
    data = text.encode("utf-8")
    return struct.pack("<d", len(data)) + data


def _text_list(texts) -> bytes:
    texts = list(texts)
    return struct.pack("<d", len(texts)) + b"".join(map(_text, texts))


def _argument(name: str, value) -> bytes:
    if isinstance(value, str):
        return _text("text") + _text(R_FAMILIES.get(value, value))
    if isinstance(value, bool):
        return _text("flag") + struct.pack("<d", value)
    values = np.atleast_1d(np.asarray(value, dtype="<f8"))
    if name == "linpreds":
        values = values + 1  # R counts from one
    return _text("numbers") + _vector(values)
