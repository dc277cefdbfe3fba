"""Options that several commands have, and how a result is printed as JSON."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

__all__ = [
    "Degree", "Designs", "Engine", "Jobs", "Json", "Nk", "Penalty", "Repetitions", "Table", "print_json",
]  # fmt: skip

Degree = Annotated[int, typer.Option(help="Highest degree of interaction.")]
Designs = Annotated[
    int, typer.Option(min=1, help="Gaussian designs; the errors cover them if there are several.")
]
Engine = Annotated[Literal["auto", "r", "native"], typer.Option(help="What computes the fit.")]
Jobs = Annotated[int, typer.Option(min=1, help="Number of workers.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Nk = Annotated[int | None, typer.Option(help="Most terms in the forward pass.")]
Penalty = Annotated[float | None, typer.Option(help="GCV penalty for each knot.")]
Repetitions = Annotated[int, typer.Option(min=2, help="Responses drawn and fitted.")]
Table = Annotated[str, typer.Argument(help="A CSV file, or `ozone` for R's ozone1.")]


def print_json(found) -> None:
    """Print what a result tells of itself."""
    print(json.dumps(found.to_dict(), default=str))
