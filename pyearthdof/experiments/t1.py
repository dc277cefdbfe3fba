"""T1: the paper's overview table, with numbers in place of signs and ticks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from .base import BLUE, GREEN, ORANGE, Experiment, new_figure, seed_of
from .verdict import multiple, number, stated

N = 100
QUANTITIES = ("n_coef", "df", "trace", "sdf", "msdf")


@dataclass(frozen=True)
class _Line:
    """A procedure, its setting in words, and its entry in the paper's table (None: not in it)."""

    setting: str
    build: Callable
    p: int = 0  # 0: x = 1, ..., 100
    sparse: bool = False  # mean x1 + x2 + x3, else 0
    sign: str | None = None  # n_coef compared with df
    has_sdf: bool | None = None


def _of(name: str, **arguments) -> Callable:
    def build(engine):
        from .. import procedures

        return getattr(procedures, name)(**arguments)

    return build


def _mars(engine):
    from ..mars.earth import Earth

    return Earth(degree=1, nk=21, thresh=0.0, pmethod="none", engine=engine)


LINES = {
    "ridge": _Line("p = 10, λ = 10", _of("Ridge", lam=10.0), 10, False, ">", True),
    "smoothing spline": _Line(
        "λ = 0.01", _of("SmoothingSpline", lam=0.01, n_knots=N), 0, False, ">", False
    ),
    "monotone cubic spline": _Line(
        "J = 10", _of("MonotoneCubicSpline", n_basis=10), 0, False, ">", False
    ),
    "monotone smoothing spline": _Line("λ = 0.01", _of("MonotoneSmoothingSpline", lam=0.01)),
    "cubic spline": _Line("J = 10", _of("CubicSpline", n_basis=10), 0, False, "=", False),
    "least squares": _Line("p = 10", _of("LeastSquares"), 10, False, "=", True),
    "nearest neighbours": _Line("k = 5", _of("NearestNeighbors", k=5)),
    "lasso": _Line("p = 20, λ = 40", _of("Lasso", lam=40.0), 20, True, "=", True),
    "relaxed lasso": _Line("p = 20, λ = 40", _of("RelaxedLasso", lam=40.0), 20, True),
    "best subset": _Line("p = 10, size 3", _of("BestSubset", size=3), 10, False, "<", True),
    "regression tree": _Line(
        "p = 5, depth 2", _of("RegressionTree", depth=2), 5, False, "<", False
    ),
    "MARS": _Line("p = 10, degree 1, nk = 21", _mars, 10, False, "<", False),
}
SIGNS = [name for name, line in LINES.items() if line.sign is not None]
ROUNDING = 1e-9


class Overview(Experiment):
    name = "T1"
    title = "Number of coefficients, degrees of freedom and search costs of twelve procedures"
    question = (
        "Is the number of free parameters larger than (>), equal to (=) or smaller than (<) the "
        "degrees of freedom, and are the search cost sdf and the modified search cost msdf defined? "
        "The paper prints signs and ticks; this table gives the numbers behind them. n = 100, sigma 1; mean "
        "0, but x1 + x2 + x3 for the lasso. The df of a linear smoother are its trace, without error; "
        "the others come from Algorithm 1."
    )
    order = 10
    sizes: ClassVar = {"quick": {"n_rep": 300}, "paper": {"n_rep": 1000}}
    r_packages = ("earth",)

    def cells(self, size, seed=None):
        return [{"procedure": name, **self.settings(size, seed)} for name in LINES]

    def compute(self, cell, engine):
        from ..dof import degrees_of_freedom

        name, seed = cell["procedure"], cell.get("seed")
        line = LINES[name]
        rng = np.random.default_rng(seed_of(1, line.p, seed=seed))
        X = rng.standard_normal((N, line.p)) if line.p else np.arange(1.0, N + 1)[:, None]
        found = degrees_of_freedom(
            line.build(engine),
            X,
            mu=X[:, :3].sum(axis=1) if line.sparse else None,
            n_rep=cell["n_rep"],
            random_state=seed_of(1, *name.encode(), seed=seed),
            variance_reduction=None,
        )
        row = {"procedure": name, "setting": line.setting}
        for quantity in QUANTITIES:
            row[quantity] = getattr(found, quantity)
            row[f"{quantity}_se"] = (
                found.se if quantity == "df" else getattr(found, f"{quantity}_se")
            )
        return [row | {"n_rep": found.n_rep}]

    def compare(self, frame):
        lines = []
        for row in frame.itertuples():
            line = LINES[row.procedure]
            if line.sign is None:
                continue
            gap, error = _gap(row)
            lines.append(
                stated(
                    f"{row.procedure}: coefficients and df",
                    f"n_coef {line.sign} df",
                    f"n_coef {sign_of(row)} df, difference {number(_clean(gap), error)}",
                    _holds(line.sign, row),
                )
            )
            defined = not pd.isna(row.sdf)
            lines.append(
                stated(
                    f"{row.procedure}: sdf, msdf",
                    f"{_tick(line.has_sdf)}, {_tick(True)}",
                    f"{_tick(defined)}, {_tick(not pd.isna(row.msdf))}",
                    defined == line.has_sdf and not pd.isna(row.msdf),
                )
            )
        return lines

    def table(self, frame):
        columns = {"procedure": frame["procedure"], "setting": frame["setting"]}
        columns["n_coef"] = _shown(frame, "n_coef")
        columns["sign"] = [sign_of(row) for row in frame.itertuples()]
        columns["df"] = _shown(frame, "df")
        columns["paper's sign"] = [LINES[name].sign or "-" for name in frame["procedure"]]
        columns["E tr S(y)"] = _shown(frame, "trace")
        columns["sdf"] = _shown(frame, "sdf")
        columns["msdf"] = _shown(frame, "msdf")
        return pd.DataFrame(columns)

    def plot(self, frame):
        figure, ax = new_figure(1, 1, width=8.4, height=4.8)
        places = np.arange(len(frame))[::-1]
        styles = (("n_coef", "s", ORANGE, 0.2, "number of coefficients"), ("df", "o", BLUE, 0.0, "df"),
                  ("trace", "^", GREEN, -0.2, "E tr S(y)"))  # fmt: skip
        for quantity, marker, colour, shift, label in styles:
            ax.errorbar(
                frame[quantity], places + shift, xerr=3 * frame[f"{quantity}_se"].fillna(0.0),
                fmt=marker, color=colour, markersize=5, capsize=2, label=label,
            )  # fmt: skip
        ax.set_xscale("log")
        ticks = [1, 2, 5, 10, 20, 50, 100]
        ax.set_xticks(ticks, [str(t) for t in ticks])
        ax.minorticks_off()
        ax.set_yticks(places, frame["procedure"])
        ax.set_xlabel("number of parameters (log scale); df − E tr S(y) is the search cost msdf")
        # Above the axes, where it hides no points.
        figure.legend(title="± three s.e.", loc="outside upper center", ncols=3)
        return figure


def _gap(row) -> tuple[float, float]:
    """Return n_coef - df and its standard error, 0 if both are exact."""
    return row.n_coef - row.df, float(np.hypot(row.n_coef_se, row.df_se))


def sign_of(row) -> str:
    """Compare n_coef with df: equal up to the error, or up to rounding if both are exact."""
    gap, error = _gap(row)
    allowed = multiple(len(SIGNS), row.n_rep - 1) * error if error > 0 else 0.0
    if abs(gap) <= max(allowed, ROUNDING * abs(row.df)):
        return "="
    return ">" if gap > 0 else "<"


def _holds(stated_sign: str, row) -> bool | None:
    """Return True if the paper's sign equals ours; None if the error hides a sign > or <."""
    sign = sign_of(row)
    if sign == "=" != stated_sign and _gap(row)[1] > 0:
        return None
    return sign == stated_sign


def _tick(defined: bool | None) -> str:
    return "✓" if defined else "✗"


def _shown(frame: pd.DataFrame, quantity: str) -> list[str]:
    pairs = zip(frame[quantity], frame[f"{quantity}_se"], strict=True)
    return [_tick(False) if pd.isna(v) else number(_clean(v), e) for v, e in pairs]


def _clean(value: float) -> float:
    """Replace rounding errors by 0."""
    return 0.0 if abs(value) < ROUNDING else value


EXPERIMENT = Overview()
