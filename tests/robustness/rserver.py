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

SCRIPT = Path(__file__).with_name("rserver.R")
# R's names of the arguments, written down here again so that a slip in the package's table shows.
R_NAMES = {
    "degree": "degree", "penalty": "penalty", "nk": "nk", "thresh": "thresh", "minspan": "minspan",
    "endspan": "endspan", "newvar_penalty": "newvar.penalty", "fast_k": "fast.k",
    "fast_beta": "fast.beta", "linpreds": "linpreds", "pmethod": "pmethod", "nprune": "nprune",
    "adjust_endspan": "Adjust.endspan", "auto_linpreds": "Auto.linpreds", "scale_y": "Scale.y",
}  # fmt: skip


@dataclass(frozen=True)
class Fitted:
    """A fit: arrays by name, the names of the terms, and the warnings in order."""

    parts: dict[str, np.ndarray]
    term_names: tuple[str, ...]
    warnings: tuple[str, ...]


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
        """Fit a case with X, y, weights (or None), options and X_new."""
        if self._process is None:
            self._start()
        self._deadline = time.monotonic() + self.timeout
        try:
            self._send(_encode(case))
            return self._answer(*case.X.shape)
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

    def _answer(self, n: int, p: int) -> Fitted | Refused:
        if self._text() == "refused":
            return Refused(self._text())
        names, warned = self._texts(), self._texts()
        parts = {}
        for _ in range(self._count()):
            name = self._text()
            parts[name] = self._numbers(self._count())
        parts["selected"] = parts["selected"].astype(int) - 1
        for name in ("dirs", "cuts"):
            parts[name] = parts[name].reshape(p, -1).T
        size = len(parts["rss_per_subset"])
        parts["prune_terms"] = parts["prune_terms"].reshape(size, -1).T
        return Fitted(parts, names, warned)


def _encode(case) -> bytes:
    n, p = case.X.shape
    options = {name: value for name, value in case.options.items() if value is not None}
    pieces = [struct.pack("<4d", n, p, case.weights is not None, len(options))]
    arrays = [case.X, case.y] if case.weights is None else [case.X, case.y, case.weights]
    pieces += [np.asarray(a, dtype="<f8").tobytes("F") for a in arrays]
    for name, value in options.items():
        pieces += [_text(R_NAMES[name]), _argument(name, value)]
    pieces.append(np.asarray(case.X_new, dtype="<f8").tobytes("F"))
    return b"".join(pieces)


def _text(text: str) -> bytes:
    data = text.encode("utf-8")
    return struct.pack("<d", len(data)) + data


def _argument(name: str, value) -> bytes:
    if isinstance(value, str):
        return _text("text") + _text(value)
    if isinstance(value, bool):
        return _text("flag") + struct.pack("<d", value)
    values = np.atleast_1d(np.asarray(value, dtype="<f8"))
    if name == "linpreds":
        values = values + 1  # R counts from one
    return _text("numbers") + struct.pack("<d", len(values)) + values.tobytes()
