"""A small experiment for the tests of the machinery."""

from typing import ClassVar

import numpy as np

from pyearthdof.experiments import Experiment
from pyearthdof.experiments.base import new_figure
from pyearthdof.experiments.verdict import printed


class Toy(Experiment):
    name = "T-toy"
    title = "Means of normal numbers"
    question = "What is the mean?"
    order = 1
    sizes: ClassVar = {"quick": {"n": 3}, "paper": {"n": 1000}}

    def __init__(self, fail_at=None):
        self.fail_at = fail_at

    def cells(self, size, seed=None):
        given = {} if seed is None else {"given": seed}
        return [{"seed": number, **self.settings(size), **given} for number in range(4)]

    def compute(self, cell, engine):
        if cell["seed"] == self.fail_at:
            raise ArithmeticError("asked to fail")
        seeds = [cell["seed"], *([cell["given"] + 1] if "given" in cell else [])]
        values = np.random.default_rng(seeds).normal(size=cell["n"])
        return [{"seed": cell["seed"], "mean": float(values.mean()), "nothing": None}]

    def compare(self, frame):
        return [printed("mean", frame["mean"].mean(), "9.9")]

    def plot(self, frame):
        figure, ax = new_figure()
        ax.plot(frame["seed"], frame["mean"])
        return figure
