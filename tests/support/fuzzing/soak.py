"""Thousands of made-up cases by plain R and by both engines, and a report. Run by `make soak`.

    python -m tests.support.fuzzing.soak --cases 10000 --json soak.json
    python -m tests.support.fuzzing.soak --data --cases 20000 --json data.json
    python -m tests.support.fuzzing.soak --glm --cases 5000 --json glm.json
    python -m tests.support.fuzzing.soak --folds --cases 5000
    python -m tests.support.fuzzing.soak --formulas --cases 10000 --engine native
    python -m tests.support.fuzzing.soak --several --cases 5000
    python -m tests.support.fuzzing.soak --weighted --cases 5000 --engine native

The engines run in a process of their own: one that crashes or hangs is a difference like another, is told
with its case, and the next case goes on in a new process. The exit code is 1 if there was any.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from pyearthdof import bridge
from tests.support.fuzzing.case import Case
from tests.support.fuzzing.cases_strategy import distinct_cases
from tests.support.fuzzing.data_cases import data_cases
from tests.support.fuzzing.fold_cases import fold_cases
from tests.support.fuzzing.formula_cases import formula_cases
from tests.support.fuzzing.glm_cases import glm_cases
from tests.support.fuzzing.judge import DIFFERENT, KINDS, TIED, Verdict, family, judge
from tests.support.fuzzing.known import LOOSER_THAN_R, STRICTER_THAN_R
from tests.support.fuzzing.minimise import minimise
from tests.support.fuzzing.rserver import Died, Refused, RServer
from tests.support.fuzzing.several_cases import several_cases
from tests.support.fuzzing.weighted_cases import weighted_cases

ENGINES = ("r", "native")
STARTING = 120.0  # seconds that a process may take to import everything
SHOWN = 20  # differences that are minimised


class Engines:
    """Both engines in a process that may crash."""

    def __init__(self, timeout: float):
        self.timeout = timeout
        self.starts = 0
        self._process = None

    def judge(self, case: Case, r, engine: str) -> Verdict:
        """The verdict, or a difference if the process ended or hung."""
        if self._process is None:
            self._start()
        try:
            self._pipe.send((case, r, engine))
            if self._pipe.poll(self.timeout):
                return self._pipe.recv()
            what = f"no answer within {self.timeout:g} s"
        except (EOFError, OSError):  # the pipe is closed or broken
            self._process.join(10)
            what = f"the process ended with code {self._process.exitcode}"
        self.close()
        return Verdict(DIFFERENT, engine, what)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self.starts += 1
        self._pipe.send((Case(np.eye(20), np.arange(20.0), None), Refused("warm-up"), "native"))
        if self._pipe.poll(STARTING):
            self._pipe.recv()


def serve(pipe) -> None:
    """Judge what comes through the pipe until it closes."""
    while True:
        try:
            pipe.send(judge(*pipe.recv()))
        except EOFError:
            return


class Soak:
    """The run: counts, and the cases that were not agreed on."""

    def __init__(self, server: RServer, engines: Engines, chosen: tuple[str, ...] = ENGINES):
        self.server, self.engines, self.chosen = server, engines, chosen
        self.counts = Counter()
        self.found: list[tuple[Verdict, Case]] = []
        self.ties: list[tuple[Verdict, Case]] = []
        self.r_died = []
        self.reasons = Counter()

    def try_case(self, case: Case) -> None:
        """Fit a case everywhere and count."""
        self.counts["cases"] += 1
        r = self.server.fit(case)
        if isinstance(r, Died):
            self.counts["plain R died"] += 1
            self.r_died.append((r.message, case))
            return
        for engine in self.chosen:
            verdict = self.engines.judge(case, r, engine)
            self.counts[f"{engine} {verdict.kind}"] += 1
            if verdict.what and case.formula:
                self.reasons[f"{engine} {verdict.kind}: {family(verdict)}"] += 1
            if verdict.kind == DIFFERENT:
                self.found.append((verdict, case))
            elif verdict.kind == TIED:
                self.ties.append((verdict, case))

    def smallest(self) -> list[tuple[str, Case]]:
        """One minimised case for each kind of difference."""
        kinds = {}
        for verdict, case in self.found:
            kinds.setdefault((verdict.engine, family(verdict)), (verdict, case))
        shown = list(kinds.values())[:SHOWN]
        return [(f"{v.engine}: {v.what}", self._smallest(v, case)) for v, case in shown]

    def _smallest(self, verdict: Verdict, case: Case) -> Case:
        def shows(smaller):
            r = self.server.fit(smaller)
            if isinstance(r, Died):
                return False
            found = self.engines.judge(smaller, r, verdict.engine)
            return found.kind == DIFFERENT and family(found) == family(verdict)

        return minimise(case, shows)


def _makers(arguments):
    """What makes the cases that were asked for."""
    chosen = {
        "data": data_cases, "glm": glm_cases, "folds": fold_cases, "formulas": formula_cases,
        "several": several_cases, "weighted": weighted_cases,
    }  # fmt: skip
    return next((make for name, make in chosen.items() if getattr(arguments, name)), distinct_cases)


def main() -> int:
    """Parse the arguments, run, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=int(os.environ.get("SOAK_CASES", "10000")))
    parser.add_argument(
        "--data", action="store_true", help="factors, several responses, classes ..."
    )
    parser.add_argument("--glm", action="store_true", help="generalised linear models")
    parser.add_argument("--folds", action="store_true", help="cross-validation and variance models")
    parser.add_argument("--formulas", action="store_true", help="random formulas")
    parser.add_argument(
        "--several", action="store_true", help="several responses, constant ones among them"
    )
    parser.add_argument("--weighted", action="store_true", help="case weights of many sizes")
    parser.add_argument("--engine", choices=ENGINES, help="one of them instead of both")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a case")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    arguments = parser.parse_args()
    bridge.require("earth")
    began = time.monotonic()

    engines = Engines(arguments.timeout)
    try:
        with RServer(arguments.timeout) as server:
            chosen = (arguments.engine,) if arguments.engine else ENGINES
            soak = Soak(server, engines, chosen)
            make = _makers(arguments)
            for done, case in enumerate(make(arguments.cases, arguments.seed), 1):
                soak.try_case(case)
                if done % 250 == 0:
                    seconds = time.monotonic() - began
                    print(
                        f"{done} cases, {len(soak.found)} differences, {seconds:.0f} s",
                        file=sys.stderr,
                    )
            report(soak, time.monotonic() - began, arguments)
    finally:
        engines.close()
    return 1 if soak.found else 0


def report(soak: Soak, seconds: float, arguments) -> None:
    """Print what was found, and write it for the documentation."""
    counts = soak.counts
    print(f"{counts['cases']} cases in {seconds:.0f} s, seed {arguments.seed}")
    print(f"plain R ended or hung: {counts['plain R died']}")
    for engine in ENGINES:
        print(f"{engine:>7}: " + ", ".join(f"{k} {counts[f'{engine} {k}']}" for k in KINDS))
    print("Refused by us although R fits (stricter):")
    for known in STRICTER_THAN_R:
        print(f"  {known.message:34} {known.reason}")
    print("Fitted by the native engine although R fails (looser):")
    for known in LOOSER_THAN_R:
        print(f"  {known.message:34} {known.reason}")
    for reason, count in soak.reasons.most_common():
        print(f"{count:6} {reason}")
    for verdict, case in soak.ties[:SHOWN]:
        print(f"tie: {verdict.what}; X {case.X.shape}, {case.options}")
    for message, case in soak.r_died:
        print(f"plain R died: {message[:300]}\n  {case!r}")
    smallest = soak.smallest()
    for what, case in smallest:
        print(f"difference: {what}\n  {case!r}")
    if arguments.json:
        numbers = dict(sorted(counts.items())) | {
            "seed": arguments.seed,
            "seconds": round(seconds),
            "versions": dict(bridge.r_versions()),
            "differences": [what for what, _ in smallest],
        }
        arguments.json.write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
