"""One Monte Carlo run: every quantity of the paper with its leave-one-out values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ...contract import Fits
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
from .workers import Block, FitMany, run_blocks

_STATISTICS = ("trace", "n_coef", "rank")
_WIDTH = 2  # a fit and perhaps a refit for each response
_JOINED = 1 << 20  # responses that are reduced at once


@dataclass(frozen=True)
class Measurement:
    """What a run found; None for what the procedure cannot tell.

    `optimism_df` is known where the noise differs between rows, or is correlated. `counts` are the
    repetitions on each design, `reduction` is the estimator.
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
        """The paper's search cost, df - E[tr S(y)], of the fit S(y) y; it needs no active set."""
        return None if self.trace is None else self.df - self.trace

    @property
    def sdf(self) -> Jackknife | None:
        """Tibshirani's search cost, df(refitted) - E[rank X_A], by refits on the active set."""
        if self.df_refitted is None or self.rank is None:
            return None
        return self.df_refitted - self.rank


@dataclass(frozen=True)
class _Run:
    """What is the same for all designs."""

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
    the run ends where the error is reached.
    """
    run = _Run(procedure, responses, statistic, reduction, n_jobs, progress)
    run, designs = _in_frames(run, designs, reduction.frame)
    if target is None:
        with closing(run.blocks(designs)) as blocks:
            return over_designs(list(_each(run, designs, blocks)), designs.counts)
    if len(designs) > 1:
        return _until_designs(run, designs, target)
    return _until(run, designs, target)


def _in_frames(run: _Run, designs: Designs, size: int | None) -> tuple[_Run, Designs]:
    """The same run with responses in frames, if there is a size of them."""
    if size is None:
        return run, designs
    reduction = replace(run.reduction, frame=size, later=None)
    responses = run.responses.in_frames(reduction)
    return replace(run, responses=responses, reduction=reduction), designs.in_frames(size)


def _each(run: _Run, designs: Designs, blocks: Any) -> Iterator[Measurement]:
    """What is found on each design."""
    for k, of_one in itertools.groupby(blocks, key=lambda block: block.design):
        groups = run_groups(designs.n, designs.counts[k], _WIDTH, run.reduction.frame)
        tally = _Tally(run, groups)
        for block in of_one:
            tally.add(block)
        yield tally.result()


def _until_designs(run: _Run, designs: Designs, target: Target) -> Measurement:
    """More and more designs."""
    looks, each = Looks(target, DESIGNS), []
    with closing(run.blocks(designs, note=looks.text)) as blocks:
        for found in _each(run, designs, blocks):
            each.append(found)
            if looks.due(len(each)):
                whole = over_designs(each, designs.counts[: len(each)])
                if looks.reached(len(each), whole):
                    break
    return over_designs(each, designs.counts[: len(each)])


def _until(run: _Run, designs: Designs, target: Target) -> Measurement:
    """More and more repetitions on one design, in frames if there have to be many.

    The first look is a pilot for that. Its responses are not in the frames, which are independent of them,
    so what it says biases nothing.
    """
    size, later = run.reduction.frame, run.reduction.later
    step = STEP if size is None else size
    looks = Looks(target, LEAST if size is None else FRAMES * size, step)
    # Kept or in frames, whatever their number is in the end.
    tally = _Tally(run, None if size is None else frame_groups(designs.n_rep, size))
    began = run.responses.draws if later is None else run.responses.draws.copy()
    most = max(1, _JOINED // (designs.n * step)) * step

    def stop() -> int:  # where what is done from here on is reduced
        return min(looks.next, tally.done + most, designs.n_rep)

    blocks = run.blocks(designs, step=step, sure=stop, note=looks.text)
    with closing(blocks):
        for block in _joined_up_to(stop, blocks):
            tally.add(block)
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
    """The blocks before each stop as one: a reduction costs less than several."""
    together: list[Block] = []
    done = 0
    for block in blocks:
        together.append(block)
        done += block.Y.shape[1]
        if done >= stop():
            yield _joined(together)
            together = []


def _joined(blocks: list[Block]) -> Block:
    if len(blocks) == 1:
        return blocks[0]
    results = [block.result for block in blocks]
    given = [f.name for f in fields(Fits) if getattr(results[0], f.name) is not None]
    whole = {name: np.concatenate([getattr(r, name) for r in results], axis=-1) for name in given}
    return replace(blocks[0], Y=np.hstack([block.Y for block in blocks]), result=Fits(**whole))


def run_groups(n: int, n_rep: int, width: int, frame: int | None) -> np.ndarray | None:
    """What is left out together: frames, groups of a large run, or (None) single repetitions."""
    if frame is not None:
        return frame_groups(n_rep, frame)
    return jackknife_groups(n, n_rep, width)


class _Tally:
    """What the blocks of one design say."""

    def __init__(self, run: _Run, groups: np.ndarray | None) -> None:
        self.run, self.groups = run, groups
        self.done = 0
        self.statistics: dict[str, list] = {name: [] for name in _STATISTICS}
        self.fitted: Estimator | None = None
        self.refitted: Estimator | None = None
        self.optimism: Estimator | None = None

    def add(self, block: Block) -> None:
        run, fits = self.run, block.result
        if run.statistic is None:
            self.fitted = self._added(self.fitted, block, fits.fitted)
            self._add_optimism(block)
        if fits.refitted is not None:
            self.refitted = self._added(self.refitted, block, fits.refitted)
        for name, values in self.statistics.items():
            values.append(getattr(fits, name))
        self.done += block.Y.shape[1]
        self.engine, self.versions = block.engine, block.versions

    def _added(self, total: Estimator | None, block: Block, fitted: np.ndarray) -> Estimator:
        run = self.run
        if total is None:
            total = estimator(run.reduction, block.X, run.responses, self.groups)
        total.add(block.Y, fitted)
        return total

    def _add_optimism(self, block: Block) -> None:
        run = self.run
        if not has_one_sigma(run.responses):
            if self.optimism is None:
                self.optimism = optimism_estimator(
                    run.reduction, block.X, run.responses, self.groups
                )
            self.optimism.add(block.Y, block.result.fitted)

    def result(self) -> Measurement:
        groups = None if self.groups is None else merged_groups(self.groups[: self.done])
        means = {name: _mean(values, groups) for name, values in self.statistics.items()}
        statistic = self.run.statistic
        if statistic is None:
            assert self.fitted is not None  # there was a block
            found = self.fitted.result()
        else:
            found = _stated(statistic, means[statistic])
        return Measurement(
            df=found.total,
            per_observation=found.per_observation,
            trace=means["trace"],
            n_coef=means["n_coef"],
            rank=means["rank"],
            df_refitted=self.refitted.result().total if self.refitted else None,
            optimism_df=self.optimism.result().total if self.optimism else None,
            engine=self.engine,
            versions=self.versions,
            counts=(self.done,),
            reduction=self.run.reduction,
        )


def _stated(statistic: str, mean: Jackknife | None) -> Covariance:
    if mean is None:
        raise InvalidInputError(
            f"the procedure declares df_statistic={statistic!r} but its fits do not tell it"
        )
    return Covariance(None, mean)


def over_designs(each: list[Measurement], counts: Sequence[float] | np.ndarray) -> Measurement:
    """The means over the designs; a single measurement as it is."""
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
