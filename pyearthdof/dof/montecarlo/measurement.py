"""One Monte Carlo run: every quantity of the paper with its leave-one-out values."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ...contract import Fits, Rows
from ...exceptions import InvalidInputError
from .designs import Designs
from .draws import Responses, frame_groups, has_one_sigma, merged_groups
from .errors import (
    DESIGNS,
    FRAMES,
    LEAST,
    STEP,
    Jackknife,
    Looks,
    Target,
    mean_of,
    mean_over_designs,
)
from .variance_reduction import (
    PLAIN,
    Covariance,
    Estimator,
    Reduction,
    estimator,
    jackknife_groups,
    optimism_estimator,
)
from .workers import Block, FitMany, one_blas_thread, run_blocks

_STATISTICS = ("trace", "n_coef", "rank")
_WIDTH = 2  # a fit and possibly a refit for each response
_JOINED = 1 << 20  # responses reduced at once


@dataclass(frozen=True)
class Measurement:
    """Results of a run; None for quantities unknown for the procedure.

    `optimism_df` requires noise that is correlated or differs between rows. `counts` are the repetitions
    on each design; `reduction` is the estimator.
    """

    df: Jackknife
    per_observation: np.ndarray | None
    trace: Jackknife | None
    n_coef: Jackknife | None
    rank: Jackknife | None
    df_refitted: Jackknife | None
    optimism_df: Jackknife | None = None
    engine: str | None = None
    versions: dict = field(default_factory=dict)
    counts: tuple[int, ...] = ()
    reduction: Reduction = PLAIN

    @property
    def msdf(self) -> Jackknife | None:
        """The paper's search cost, df - E[tr S(y)], of the fit S(y) y; requires no active set."""
        return None if self.trace is None else self.df - self.trace

    @property
    def sdf(self) -> Jackknife | None:
        """Tibshirani's search cost, df(refitted) - E[rank X_A], by refits on the active set."""
        if self.df_refitted is None or self.rank is None:
            return None
        return self.df_refitted - self.rank


@dataclass(frozen=True)
class _Run:
    """Settings common to all designs."""

    procedure: object
    responses: Responses
    statistic: str | None
    reduction: Reduction
    n_jobs: int | None
    progress: bool

    def blocks(self, designs: Designs, **options: Any) -> Generator[Block]:
        return run_blocks(
            FitMany(self.procedure), designs, self.responses, n_jobs=self.n_jobs,
            progress=self.progress, **options,
        )  # fmt: skip


@one_blas_thread()
def measure(
    procedure: Any,
    designs: Designs,
    responses: Responses,
    *,
    statistic: str | None = None,
    reduction: Reduction = PLAIN,
    target: Target | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Measurement:
    """Run the fits and reduce them in the order of the repetitions.

    With `statistic`, the df is the mean of that field of the fits instead of a covariance. With `target`,
    the run ends when the error is reached.
    """
    run = _Run(procedure, responses, statistic, reduction, n_jobs, progress)
    run, designs = _in_frames(run, designs, reduction.frame)
    if target is not None and len(designs) == 1:
        return _until(run, designs, target)
    sums = _Sums(run, designs)
    if target is not None:
        return _until_designs(run, sums, designs, target)
    with closing(run.blocks(designs, summary=sums)) as blocks:
        return over_designs(list(_each(run, sums, blocks)), designs.counts)


def _in_frames(run: _Run, designs: Designs, size: int | None) -> tuple[_Run, Designs]:
    """Return the same run with responses in frames, if frames have a valid size."""
    if size is None:
        return run, designs
    reduction = replace(run.reduction, frame=size, later=None)
    responses = run.responses.in_frames(reduction)
    return replace(run, responses=responses, reduction=reduction), designs.in_frames(size)


def _each(run: _Run, sums: _Sums, blocks: Any) -> Iterator[Measurement]:
    """Yield the results for each design, from summaries of its blocks."""
    for k, of_one in itertools.groupby(blocks, key=lambda block: block.design):
        tally = _Tally(run, sums, k)
        for block in of_one:
            tally.take(block, block.result)
        yield tally.result()


def _until_designs(run: _Run, sums: _Sums, designs: Designs, target: Target) -> Measurement:
    """More and more designs."""
    looks, each = Looks(target, DESIGNS), []
    with closing(run.blocks(designs, summary=sums, note=looks.text)) as blocks:
        for found in _each(run, sums, blocks):
            each.append(found)
            if looks.due(len(each)):
                whole = over_designs(each, designs.counts[: len(each)])
                if looks.reached(len(each), whole):
                    break
    return over_designs(each, designs.counts[: len(each)])


def _until(run: _Run, designs: Designs, target: Target) -> Measurement:
    """Add repetitions on one design, in frames if many are needed.

    The first check is a pilot for this decision. Its responses are independent of the frames and cause no
    bias.
    """
    size, later = run.reduction.frame, run.reduction.later
    step = STEP if size is None else size
    looks = Looks(target, LEAST if size is None else FRAMES * size, step)
    # Kept or in frames, for any final number.
    sums = _Sums(run, designs, open_end=True)
    tally = _Tally(run, sums)
    began = run.responses.draws if later is None else run.responses.draws.copy()
    most = max(1, _JOINED // (designs.n * step)) * step

    def stop() -> int:  # the position at which the following blocks are reduced
        return min(looks.next, tally.done + most, designs.n_rep)

    blocks = run.blocks(designs, step=step, sure=stop, note=looks.text)
    with closing(blocks):
        for block in _joined_up_to(stop, blocks):
            tally.take(block, sums(0, block.X, tally.done, block.Y, block.result))
            if not looks.due(tally.done):
                continue
            found = tally.result()
            if looks.reached(tally.done, found):
                return found
            wanted = min(looks.needed(tally.done), designs.n_rep - tally.done)
            if later is not None and wanted >= FRAMES * later:
                break
        else:
            return tally.result()
    began.skip_normals(designs.n * tally.done)
    left = replace(designs, counts=(designs.n_rep - tally.done,), n_skipped=designs.n_rep)
    again = replace(run, responses=replace(run.responses, draws=began))
    return _until(*_in_frames(again, left, later), target)


def _joined_up_to(stop: Callable[[], int], blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield the blocks before each stop as one, because one reduction is cheaper than several."""
    together: list[Block] = []
    done = 0
    for block in blocks:
        together.append(block)
        done += block.count
        if done >= stop():
            yield _joined(together)
            together = []


def _joined(blocks: list[Block]) -> Block:
    if len(blocks) == 1:
        return blocks[0]
    results = [block.result for block in blocks]
    given = [f.name for f in fields(Fits) if getattr(results[0], f.name) is not None]
    whole = {name: np.concatenate([getattr(r, name) for r in results], axis=-1) for name in given}
    Y = np.hstack([block.Y for block in blocks])
    return replace(
        blocks[0], count=Y.shape[1], draw=functools.partial(np.asarray, Y), result=Fits(**whole)
    )


def run_groups(n: int, n_rep: int, width: int, frame: int | None) -> np.ndarray | None:
    """Return repetitions left out together: frames, groups of a large run, or None for single ones."""
    if frame is not None:
        return frame_groups(n_rep, frame)
    return jackknife_groups(n, n_rep, width)


@dataclass(frozen=True)
class _Parts:
    """The kept parts of a block: those of the estimators, by name, and the statistics of each fit."""

    estimators: dict[str, Any]
    statistics: dict[str, np.ndarray | None]


class _Sums:
    """The summary of a run's blocks, computed where they are fitted; estimators are created per design.

    In a run of unknown length, everything is kept unless it is in frames.
    """

    def __init__(self, run: _Run, designs: Designs, open_end: bool = False) -> None:
        self.statistic, self.reduction, self.responses = run.statistic, run.reduction, run.responses
        self.n, self.counts, self.open_end = designs.n, designs.counts, open_end
        self._last: tuple[int, dict[str, Estimator]] | None = None

    def __getstate__(self) -> dict:
        return vars(self) | {"_last": None}  # workers create their own

    def groups(self, design: int) -> np.ndarray | None:
        """Return the groups of a design's repetitions that are left out together."""
        frame = self.reduction.frame
        if self.open_end and frame is None:
            return None
        return run_groups(self.n, self.counts[design], _WIDTH, frame)

    def estimator(self, name: str, design: int, X: Rows) -> Estimator:
        """Return the design's summary, empty before the first block."""
        last = self._last  # other threads may change it
        if last is None or last[0] != design:
            last = self._last = design, {}
        if name not in last[1]:
            empty = optimism_estimator if name == "optimism" else estimator
            last[1][name] = empty(self.reduction, X, self.responses, self.groups(design))
        return last[1][name]

    def __call__(self, design: int, X: Rows, first: int, Y: np.ndarray, fits: Fits) -> _Parts:
        def part(name: str, fitted: np.ndarray) -> Any:
            return self.estimator(name, design, X).part(Y, fitted, first)

        parts = {}
        if self.statistic is None:
            parts["fitted"] = part("fitted", fits.fitted)
            if not has_one_sigma(self.responses):
                parts["optimism"] = part("optimism", fits.fitted)
        if fits.refitted is not None:
            parts["refitted"] = part("fitted", fits.refitted)
        return _Parts(parts, {name: getattr(fits, name) for name in _STATISTICS})


class _Tally:
    """Sums over the blocks of one design."""

    def __init__(self, run: _Run, sums: _Sums, design: int = 0) -> None:
        self.run, self.sums, self.design = run, sums, design
        self.groups = sums.groups(design)
        self.done = 0
        self.statistics: dict[str, list] = {name: [] for name in _STATISTICS}
        self.estimators: dict[str, Estimator] = {}

    def take(self, block: Block, parts: _Parts) -> None:
        for name, part in parts.estimators.items():
            if name not in self.estimators:
                self.estimators[name] = self.sums.estimator(name, self.design, block.X)
            self.estimators[name].take(part, lambda: block.Y)
        for name, values in self.statistics.items():
            values.append(parts.statistics[name])
        self.done += block.count
        self.engine, self.versions = block.engine, block.versions

    def _found(self, name: str) -> Jackknife | None:
        return self.estimators[name].result().total if name in self.estimators else None

    def result(self) -> Measurement:
        groups = None if self.groups is None else merged_groups(self.groups[: self.done])
        means = {name: _mean(values, groups) for name, values in self.statistics.items()}
        statistic = self.run.statistic
        if statistic is None:
            found = self.estimators["fitted"].result()
        else:
            mean = means[statistic]
            if mean is None:
                raise InvalidInputError(
                    f"the procedure declares df_statistic={statistic!r} but its fits do not provide it"
                )
            found = Covariance(None, mean)
        return Measurement(
            df=found.total,
            per_observation=found.per_observation,
            trace=means["trace"],
            n_coef=means["n_coef"],
            rank=means["rank"],
            df_refitted=self._found("refitted"),
            optimism_df=self._found("optimism"),
            engine=self.engine,
            versions=self.versions,
            counts=(self.done,),
            reduction=self.run.reduction,
        )


def over_designs(each: list[Measurement], counts: Sequence[float] | np.ndarray) -> Measurement:
    """Return the means over the designs; a single measurement unchanged."""
    if len(each) == 1:
        return each[0]

    def mean(name: str) -> Jackknife | None:
        found = [getattr(measurement, name) for measurement in each]
        return None if any(f is None for f in found) else mean_over_designs(found, counts)

    vectors = [found.per_observation for found in each if found.per_observation is not None]
    return Measurement(
        df=mean_over_designs([found.df for found in each], counts),
        per_observation=np.average(vectors, axis=0, weights=counts)
        if len(vectors) == len(each)
        else None,
        trace=mean("trace"),
        n_coef=mean("n_coef"),
        rank=mean("rank"),
        df_refitted=mean("df_refitted"),
        optimism_df=mean("optimism_df"),
        engine=each[-1].engine,
        versions=each[-1].versions,
        counts=tuple(int(count) for count in counts),
        reduction=each[-1].reduction,
    )


def _mean(blocks: Any, groups: np.ndarray | None) -> Jackknife | None:
    if any(values is None for values in blocks):
        return None
    return mean_of(np.concatenate([np.atleast_1d(values) for values in blocks]), groups)
