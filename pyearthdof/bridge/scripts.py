"""Finds r_scripts/: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

from pathlib import Path

__all__ = ["SOURCED", "scripts_folder"]

# The files that a session sources, in this order; each defines functions and runs nothing.
SOURCED = (
    "guard.R",
    "earth.R",
    "formula.R",
    "robject.R",
    "montecarlo.R",
    "mars.R",
    "splines.R",
)


def scripts_folder() -> Path:
    """Return the folder that holds our R code."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "r_scripts", package.parent / "r_scripts"):
        if (folder / "guard.R").is_file():
            return folder
    raise FileNotFoundError(
        f"r_scripts/ is missing from this installation (looked beside {package})"
    )
