"""Options shared by several commands, and printing of results as JSON."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..exceptions import InvalidInputError, PyEarthDofError

Degree = Annotated[int, typer.Option(help="Maximum degree of interaction.")]
Designs = Annotated[
    int, typer.Option(min=1, help="Number of Gaussian designs; errors cover several.")
]
Engine = Annotated[Literal["auto", "r", "native"], typer.Option(help="Engine of the fit.")]
Factors = Annotated[
    list[str],
    typer.Option("--factor", help="Column to treat as a factor; repeatable."),
]
Jobs = Annotated[int, typer.Option(min=1, help="Number of workers.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Nk = Annotated[int | None, typer.Option(help="Maximum number of terms in the forward pass.")]
Penalty = Annotated[float | None, typer.Option(help="GCV penalty per knot.")]
Repetitions = Annotated[
    int | None,
    typer.Option(
        min=2,
        help="Number of responses to draw and fit, 100 by default; with --target-se the maximum, "
        "10000 by default.",
    ),
]
TargetSe = Annotated[
    float | None, typer.Option(help="Draw until the standard error is this small.")
]
Table = Annotated[
    str, typer.Argument(help="A CSV file, `-` for standard input, or `ozone` for R's ozone1.")
]


def be_quiet(quiet: bool = True) -> bool:
    """Suppress warnings if requested."""
    if quiet:
        warnings.simplefilter("ignore")
    return quiet


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        callback=be_quiet,
        help="No progress, notes or warnings, and no output if a file is written.",
    ),
]
Sep = Annotated[str, typer.Option(help="Field separator: , ; or tab.")]
Decimal = Annotated[str, typer.Option(help="Decimal mark: . or ,")]


def print_json(found) -> None:
    """Print the result of `to_dict` as JSON."""
    print(json.dumps(found.to_dict(), default=str))


@contextlib.contextmanager
def refusals():
    """Convert errors of scikit-learn's checks into ours."""
    try:
        yield
    except PyEarthDofError:
        raise
    except ValueError as error:
        raise InvalidInputError(str(error).splitlines()[0]) from None


def check_writable(path: Path) -> None:
    """Raise an error for paths that cannot be written, before any work."""
    exists = path.exists()
    folder = Path(os.path.realpath(path)).parent  # where the new file is made; a link is followed
    if path.is_dir():
        problem = "it is a folder"
    elif exists and not os.access(path, os.W_OK):
        problem = "it is read-only"
    elif exists and not path.is_file():  # a FIFO or a device
        return
    elif not folder.is_dir():
        problem = "its folder does not exist"
    elif not os.access(folder, os.W_OK):
        problem = "its folder is read-only"
    else:
        return
    raise InvalidInputError(f"{str(path)!r} cannot be written: {problem}")
