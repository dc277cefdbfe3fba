"""Options that several commands have, and how a result is printed as JSON."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

__all__ = ["Designs", "Engine", "Jobs", "Json", "Repetitions", "print_json"]

Designs = Annotated[
    int, typer.Option(min=1, help="Gaussian designs; the errors cover them if there are several.")
]
Engine = Annotated[Literal["auto", "r", "native"], typer.Option(help="What computes the fit.")]
Jobs = Annotated[int, typer.Option(min=1, help="Number of workers.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Repetitions = Annotated[int, typer.Option(min=2, help="Responses drawn and fitted.")]


def print_json(found) -> None:
    """Print what a result tells of itself."""
    print(json.dumps(found.to_dict(), default=str))
