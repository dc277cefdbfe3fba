"""The command `reproduce`."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..exceptions import PyEarthDofError
from .options import Engine, Json, Quiet
from .terminal import INTERRUPTED, stopping_in_order

Out = Annotated[Path, typer.Option(envvar="PYEARTHDOF_RESULTS", help="Folder for the results.")]


def _complete_name(incomplete: str) -> list[str]:
    from ..experiments import experiments

    return [name for name in experiments() if name.lower().startswith(incomplete.lower())]


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Tables and figures, for example T-ozone or F-mars-df; all by default.",
            autocompletion=_complete_name,
        ),
    ] = None,
    size: Annotated[
        Literal["quick", "paper"], typer.Option(help="The repetitions of the paper, or fewer.")
    ] = "quick",
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**31 - 1,
            help="Seed; by default the authors'.",
        ),
    ] = None,
    out: Out = Path("results"),
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    engine: Engine = "auto",
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit code 1 if something disagrees with the paper or R."),
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Recompute existing results.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
):
    """Recompute the tables and figures of the paper, and compare them with the printed numbers.

    Writes NAME.csv (unrounded numbers), NAME.md, NAME.tex, NAME.png, NAME.svg and NAME.json (settings) to the
    folder, and report.html, one page with all results. An interrupted run continues when started again.
    Differences from the paper change the exit code only with --strict. Without a seed, the draws are the
    authors' where known, which reproduces their digits; with a seed, results are compared within their Monte
    Carlo error.

    Example: `pyearthdof reproduce T-ozone --size paper`

    Example: `pyearthdof reproduce --size paper --jobs 8 --out paper-results`

    Example: `pyearthdof reproduce T-ozone --seed 7 --out another-seed`
    """
    from .._utils.extras import load_extra
    from .._utils.files import FileNotWrittenError
    from ..experiments import experiment, experiments
    from ..experiments.output import about_file, write_left_out, write_result
    from ..experiments.results_page import write_report
    from ..experiments.runner import CellStore, locked, run_experiments

    load_extra("matplotlib", "reproduce")  # before minutes of computing, not after
    found = map(experiment, names) if names else experiments().values()
    wanted = list({e.name: e for e in found}.values())
    summary = []
    try:
        with stopping_in_order(), locked(out), _plain_warnings():
            chosen, left_out = _possible(wanted, engine, asked_for=bool(names))
            write_left_out(out, [e.name for e in wanted], left_out)
            results = run_experiments(
                chosen,
                size,
                seed=seed,
                engine=engine,
                n_jobs=jobs,
                store=CellStore(out / "cells"),
                fresh=fresh,
                progress=not (as_json or quiet),
            )
            for result in results:
                files = write_result(result, out)
                about = json.loads((out / about_file(result.experiment.name)).read_text("utf-8"))
                summary.append(about | {"files": [str(file) for file in files]})
                if not as_json:
                    _print_result(result, files)
            page = write_report(out) if summary else None
    except KeyboardInterrupt:
        print("pyearthdof: stopped; run the same command to continue", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    except FileNotWrittenError as error:
        raise PyEarthDofError(
            f"{error}; after fixing this, run the same command to continue"
        ) from None
    if as_json:
        print(json.dumps(summary, indent=1))
    else:
        print(f"\nComputed: {', '.join(about['name'] for about in summary) or 'nothing'}")
        print(f"Left out: {', '.join(left_out) or 'nothing'}")
        if page is not None:
            print(
                f"Report:   {page}, a page for your browser; the tables and figures are beside it"
            )
    if strict and any(c["agrees"] is False for about in summary for c in about["comparisons"]):
        raise typer.Exit(1)


@contextlib.contextmanager
def _plain_warnings():
    """Print our warnings as one line each, without their location in the source."""
    from ..dof.montecarlo.workers import WorkerDiedWarning
    from ..experiments.runner import DamagedCellWarning

    ours = (DamagedCellWarning, WorkerDiedWarning)
    others = warnings.showwarning

    def show(message, category, *place):
        if issubclass(category, ours):
            print(f"pyearthdof: {message}", file=sys.stderr)
        else:
            others(message, category, *place)

    with warnings.catch_warnings():
        for category in ours:
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        yield


def _possible(wanted: list, engine: str, *, asked_for: bool) -> tuple[list, dict[str, str]]:
    """Return the experiments that can run, and reasons for the others; an error if requested by name."""
    chosen, left_out = [], {}
    for e in wanted:
        reason = e.missing(engine)
        if reason is None:
            chosen.append(e)
        elif asked_for:
            raise PyEarthDofError(f"{e.name} cannot run here: {reason}")
        else:
            print(f"pyearthdof: {e.name} is left out: {reason}", file=sys.stderr)
            left_out[e.name] = reason
    return chosen, left_out


def _print_result(result, files) -> None:
    from ..experiments.base import comparison_table
    from ..experiments.output import as_text
    from ..experiments.verdict import tally

    e = result.experiment
    comparisons = e.compare(result.frame)
    seed = "" if result.seed is None else f", seed {result.seed}"
    print(
        f"\n{e.name}: {e.title} ({result.size} size{seed}, {result.seconds:.1f} s of computing)\n"
    )
    print(as_text(comparison_table(comparisons)))
    counts = tally([c.to_dict() for c in comparisons])
    agreement = "; ".join(count.agree_with(judge) for judge, count in counts.items())
    print(f"\n{agreement}; see {files[0]}", flush=True)  # a pipe shows each as it comes
