"""Random formulas of every function that a formula may have, on frames with columns of every kind.

Drawn by numpy from a seed and a number, so that any case can be made again by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tests.support.fuzzing.case import Case

__all__ = ["formula_case", "formula_cases"]


def formula_cases(count: int, seed: int = 0) -> Iterator[Case]:
    """Yield as many cases, the same ones for the same seed."""
    for number in range(count):
        yield formula_case(seed, number)


def formula_case(seed: int, number: int) -> Case:
    """Case `number` of a seed."""
    rng = np.random.default_rng([seed, number, 2])
    n = int(np.exp(rng.uniform(np.log(12), np.log(220))))
    if rng.random() < 0.05:
        n = int(rng.integers(4, 12))
    frame = _frame(rng, n)
    weights = _weights(rng, n) if rng.random() < 0.12 else None
    text = _Writer(rng, frame)
    formula, options = text.formula()
    options = _options(rng, weighted=weights is not None) | options
    subset = None
    if rng.random() < 0.15:
        subset = np.sort(
            rng.choice(n, size=int(rng.integers(max(4, n // 2), n + 1)), replace=False)
        )
    if weights is not None:  # earth does a regression for each knot: keep R's time within bounds
        options["nk"] = min(options.get("nk", 15), 15)
    if rng.random() < 0.08 and subset is None and n > 20:
        options |= {"nfold": int(rng.integers(2, 6)), "random_state": number}
    reprune = {"nprune": int(rng.integers(1, 6))} if rng.random() < 0.1 else {}
    if "nfold" in options or (subset is not None and weights is not None):
        reprune = {}
    return Case(frame, np.zeros(n), weights, options, subset, reprune, formula=formula)


def _frame(rng, n: int) -> pd.DataFrame:
    """Columns of all kinds, and responses that depend on some of them."""
    levels = [f"l{k}" for k in range(int(rng.integers(2, 6)))]
    columns = {
        "a": rng.normal(size=n),
        "r": np.round(rng.normal(size=n), int(rng.integers(0, 3))),
        "u": np.round(rng.exponential(size=n) + 0.01, 3),
        "p": rng.uniform(size=n),
        "k": rng.poisson(rng.choice([1.0, 3.0, 8.0]), n),
        "size.cm": np.round(150 + 20 * rng.normal(size=n), 1),
        "big": 1e6 * (1 + 0.1 * rng.normal(size=n)),
        "tiny": 1e-5 * rng.normal(size=n),
        "tied": rng.choice([0.1, 0.3, 0.7, 1.9], n),
        "f": pd.Categorical.from_codes(rng.integers(0, len(levels), n), levels),
        "g": pd.Categorical.from_codes(rng.integers(0, 3, n), ["lo", "mid", "top"], ordered=True),
        "word": rng.choice(np.array(["ant", "bee", "cat"], dtype=object), n),
        "flag": rng.random(n) < 0.4,
        "day": np.datetime64("2019-12-25") + rng.integers(0, 800, n),
        "two words": np.round(3 * rng.normal(size=n), 1),
        "gaps": np.where(rng.random(n) < 0.2, np.nan, np.round(rng.normal(size=n), 2)),
    }
    frame = pd.DataFrame(columns)
    frame["day"] = frame["day"].astype("datetime64[s]")
    if rng.random() < 0.5:
        frame["k"] = frame["k"].astype(float)
    signal = (
        np.maximum(frame["a"], 0) + np.log(frame["u"]) - 2 * np.abs(frame["p"] - 0.5)
        + 0.3 * frame["f"].cat.codes + 0.4 * frame["flag"] + 0.1 * frame["size.cm"] / 10 + 0.2 * frame["k"]
    ).to_numpy()  # fmt: skip
    noise = rng.choice([0.05, 0.3, 1.0])
    frame["y"] = np.round(signal + noise * rng.normal(size=n), 6)
    frame["z"] = np.exp(0.5 * signal / 2) + rng.exponential(size=n)
    frame["count"] = rng.poisson(np.exp(np.clip(0.4 * (signal - signal.mean()), -3, 3)))
    frame["won"] = rng.random(n) < 1 / (1 + np.exp(-(signal - signal.mean())))
    if rng.random() < 0.1:
        scale = 10.0 ** rng.integers(-6, 9)
        frame["y"] *= scale
    return frame


POSITIVE = ("u", "p", "`size.cm`", "big", "z")
NUMBERS = ("a", "r", "u", "p", "k", "size.cm", "big", "tiny", "tied", "`two words`")
FACTORS = ("f", "g", "word", "flag")
WHOLE = ("k", "tied", "r")


class _Writer:
    """Writes a formula for a frame."""

    def __init__(self, rng, frame: pd.DataFrame):
        self.rng, self.frame = rng, frame

    def one(self, options):
        return options[int(self.rng.integers(len(options)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def formula(self) -> tuple[str, dict]:
        left, options = self.left()
        if self.chance(0.06):
            right = self.with_dot(left)
        else:
            right = " + ".join(self.term() for _ in range(int(self.rng.integers(1, 5))))
        if self.chance(0.08):
            right += self.one([" - 1", " + 0", " - 1 + a"])
        if self.chance(0.06):
            right += self.one([" - a", " - u:a", " - f", " - k"])
        if self.chance(0.05):
            right += f" + offset({self.one([self.number(1), 'a', 'log(u)', 'k'])})"
        return f"{left} ~ {right}", options

    def left(self) -> tuple[str, dict]:
        kind = self.rng.random()
        if kind < 0.5:
            return "y", {}
        if kind < 0.68:
            return self.one([
                "z", "log(z)", "sqrt(z)", "log10(z)", "log(z, 3)", "log1p(z)", "log2(z)", "z^0.5",
                "I(z^2)", "y * 2",
                "-y", "round(y, 1)", "y %/% 1", "ifelse(y > mean(y), y, 0)", "pmin(y, 3)", "scale(y)",
                "(y + z)", "I(y - a)", "y / u", "abs(y)", "exp(-z)", "floor(z)", "count", "sign(y)",
                "trunc(y)", "pmax(y, z)", "z %% 2", "as.integer(z)", "1 / z",
            ]), {}  # fmt: skip
        if kind < 0.8:
            return self.one([
                "cbind(y, z)", "cbind(log(z), y)", "cbind(a = y, b = z)", "y + z", "cbind(y, 2)",
                "cbind(y, z, count)", "cbind(y > 2, z)", "scale(cbind(y, z))", "y + z + count",
                "cbind(y, y)", "cbind(y, 0 * z)", "cbind(round(y), z %/% 1)", "poly(y, 2)",
            ]), {}  # fmt: skip
        if kind < 0.9:
            return self.one([
                "f", "g", "word", "flag", "won", "y > 2", "factor(count > 1)", "cut(y, c(-Inf, 1, 3, Inf))",
                "cut(y, 3)", "ordered(pmin(count, 2))", "factor(pmin(count, 2))", "relevel(f, ref = 'l1')",
                "interaction(flag, won)", "won & flag", "as.factor(won)", "k %in% c(1, 2)", "!won",
            ]), {}  # fmt: skip
        if self.chance(0.5):
            return self.one(["won", "y > 2", "factor(won)", "as.numeric(won)", "won == TRUE"]), {
                "glm_family": "binomial"
            }
        return self.one(["count", "I(count + 1)", "count %/% 2", "pmin(count, 4)"]), {
            "glm_family": "poisson"
        }

    def with_dot(self, left: str) -> str:
        if self.chance(0.95):
            del self.frame["gaps"]
        return self.one([
            ".", ". - a - big", ". + log(u)", ". - word:flag", ". + poly(a, 2)", ". - day", "log(u) + . - u",
            ". - z - y - count - won", "a * . - big", "(.) - flag:k + bs(a, 4)",
        ])  # fmt: skip

    def term(self) -> str:
        kind = self.rng.random()
        if kind < 0.62:
            return self.piece()
        joint = self.one([":", "*", "*", ":", "/", " %in% "])
        if kind < 0.88:
            return f"{self.piece()}{joint}{self.piece()}"
        if kind < 0.94:
            return f"({self.piece()} + {self.piece()} + {self.piece(plain=True)})^2"
        if kind < 0.97:
            return f"({self.piece()} + {self.piece()}):{self.piece(plain=True)}"
        return f"{self.piece()}:{self.piece(plain=True)}:{self.piece(plain=True)}"

    def piece(self, plain: bool = False) -> str:
        """What may be a variable of a term."""
        kind = self.rng.random()
        if kind < 0.25 or plain:
            return self.one((*NUMBERS, *FACTORS, "day", "won", "count"))
        if kind < 0.5:
            return self.call(2)
        if kind < 0.58:
            return f"I({self.number(2)})"
        if kind < 0.75:
            return self.factor()
        if kind < 0.83:
            inner = self.logical()
            if "%in%" in inner and self.chance(0.9):  # an operator of terms
                return f"I({inner})"
            return self.one([f"I({inner})", f"({inner})"])
        return self.basis()

    def number(self, depth: int) -> str:
        """A number, as it stands inside of a function."""
        if depth == 0 or self.chance(0.3):
            return self.one(NUMBERS)
        if self.chance(0.35):
            a, b = self.number(depth - 1), self.number(depth - 1)
            return self.one([
                f"{a} + {b}", f"{a} - {b}", f"{a} * {b}", f"({a}) / (1 + abs({b}))", f"({a})^2", f"({a})^3",
                f"{a} * {self.constant()}", f"-{a}", f"{self.constant()} - {a}", f"({a}) / {self.constant()}",
                f"2^{self.one(('r', 'a', 'tied'))}",
                f"abs({a})^{self.one(('0.5', '1.5', '(1 / 3)', '-0.5'))}",
                f"({a})^{self.one(('4', '5', '2L', '1'))}", f"({a} - mean({a})) / sd({a})", f"{a} / max({a})",
                f"({a} > {self.constant()}) * {b}", f"2 * pi * {a}", f"{a} %% 2 + {b}", f"({a}) %/% 2",
            ])  # fmt: skip
        return self.call(depth)

    def positive(self, depth: int) -> str:
        if self.chance(0.05):
            return self.one(NUMBERS)  # may be refused
        if depth == 0 or self.chance(0.5):
            return self.one(POSITIVE)
        a = self.number(depth - 1)
        return self.one([
            "k + 1", f"abs({a}) + 0.1", f"exp({self.one(('r', 'a', 'tied'))})", f"({a})^2 + 1", "u * p",
            "u + p", f"pmax({a}, 0.01)", "big / 1e6", "sqrt(u)", "`size.cm` - 50", "tied", "1 / u",
        ])  # fmt: skip

    def call(self, depth: int) -> str:
        """One of the functions of numbers."""
        a, pos = self.number(depth - 1), self.positive(depth - 1)
        return self.one([
            f"log({pos})", f"log10({pos})", f"log2({pos})", f"log1p({pos})", f"sqrt({pos})",
            f"log({pos}, {self.one(('2', '10', '3', 'base = 2', 'exp(1)', '0.5'))})", f"log({pos})",
            f"sqrt({pos})",
            f"exp({self.one(('r', 'a', '-u', 'p', '-p^2', 'tied / 2', 'a - r'))})", f"abs({a})",
            f"sin({a})", f"cos({a})", f"tan({self.one(('p', 'a', 'r / 3', 'tied'))})", f"exp(-abs({a}) / 10)",
            f"round({a})", f"round({a}, {self.one(('1', '2', '-1', 'digits = 3', '0'))})", f"floor({a})",
            f"ceiling({a})", f"trunc({a})", f"sign({a})", f"pmin({a}, {self.constant()})",
            f"pmax({a}, {self.number(depth - 1)})", f"pmin({a}, quantile({a}, 0.9))",
            f"ifelse({self.logical()}, {a}, {self.one((self.number(depth - 1), '0', self.constant()))})",
            f"as.numeric({self.one(('f', 'g', 'flag', 'k', 'factor(k)', 'y > 1', 'won'))})",
            f"as.integer({a})", f"round({a} / 3, 1)", f"pmin({a}, {self.number(depth - 1)}, 2)",
            f"pmax({a}, median({a}))", f"ifelse(is.na(gaps), 0, {a})",
        ])  # fmt: skip

    def constant(self) -> str:
        return self.one(
            ("0", "1", "2", "0.5", "3", "-1", "10", "1.7", "1e3", "100L", "pi", "0.1", "1/3")
        ).replace("1/3", "(1 / 3)")

    def logical(self) -> str:
        a = self.one(NUMBERS)
        middle = self.one(("0", "1", f"mean({a})", f"median({a})", "0.5", "2"))
        simple = [
            f"{a} > {middle}", f"{a} <= {middle}", f"{a} < {self.one(NUMBERS)}", "k == 2", "k != 1",
            "tied == 0.3",
            "f == 'l1'", "f != 'l0'", "word == 'bee'", "word != 'ant'", "g > 'lo'", "g <= 'mid'", "flag",
            "!flag", "is.na(gaps)", "!is.na(gaps)", "k %in% c(1, 3)", "word %in% c('ant', 'cat')",
            "f %in% c('l0', 'l1')", "k %in% 2:5", "k %% 2 == 0", "flag == TRUE", "f %in% 'l1'", "won | flag",
        ]  # fmt: skip
        if self.chance(0.2):
            return f"{self.one(simple)} {self.one('&|')} {self.one(simple)}"
        return self.one(simple)

    def factor(self) -> str:
        a = self.one(
            (
                "a",
                "u",
                "p",
                "r",
                "`two words`",
                "size.cm",
                "k",
                "as.numeric(day)",
                "log(u)",
                "a + r",
            )
        )
        more = self.one((
            "", "", "", ", right = FALSE", ", include.lowest = TRUE", ", dig.lab = 5", ", labels = FALSE",
            ", ordered_result = TRUE", ", right = FALSE, include.lowest = TRUE",
        ))  # fmt: skip
        return self.one([
            "factor(k)", "factor(r)", "factor(tied)", "as.factor(k)", "factor(k, levels = 0:40)",
            "ordered(k)",
            "ordered(tied)", "as.ordered(round(a))", "factor(word)", "factor(flag)", "factor(f)",
            "as.factor(word)",
            "factor(g, ordered = FALSE)", "factor(tied, labels = c('p', 'q', 'r', 's'))", "factor(k > 2)",
            "factor(g, levels = c('top', 'mid', 'lo'))", "factor(round(a), levels = -6:6)",
            "factor(pmin(k, 3))",
            "relevel(f, ref = 'l1')", "relevel(f, 'l0')", "relevel(factor(word), ref = 'cat')",
            "relevel(f, 2)",
            "interaction(f, flag)", "interaction(f, g)", "interaction(word, flag, drop = TRUE)",
            "interaction(f, k > 2, sep = '_')", "interaction(g, flag, lex.order = TRUE)", "interaction(f)",
            f"cut({a}, 3{more})", f"cut({a}, {self.one('2457')}{more})",
            f"cut({a}, c(-Inf, 0, 1, Inf){more})",
            f"cut(a, c(-9, -1, 0, 0.5, 9){more})", f"cut(k, -1:40{more})", f"cut(p, seq(0, 1, 0.25){more})",
            "cut(u, quantile(u), include.lowest = TRUE)",
            f"cut(u, c(0, quantile(u, c(0.3, 0.6)), Inf){more})",
            f"cut(p, c(0, 0.5, 1), labels = c('low', 'high'){more})", f"cut(p, 0:4 / 4{more})",
            f"cut(big, 3, dig.lab = {self.one('357')})", f"cut(r, c(-Inf, median(r), Inf){more})",
            f"cut(size.cm, breaks = c(0, 150, 160, 400){more})",
            f"cut(p, seq(-0.1, 1.1, length.out = 5){more})",
            "factor(f, labels = 'q')", "factor(won, levels = c(TRUE, FALSE))", "as.ordered(f)",
            "ordered(word)",
            "ordered(f, levels = rev(c('l0', 'l1', 'l2')))", "factor(day > 18500)", "factor(k %% 3)",
            "factor(cut(p, 3))", "interaction(cut(p, 2), flag)", "ordered(cut(a, 3))",
            "factor(ifelse(a > 0, 1, 0))",
        ])  # fmt: skip

    def basis(self) -> str:
        """What makes several columns."""
        a = self.one((
            "a", "u", "p", "r", "k", "tied", "size.cm", "big", "tiny", "`two words`", "log(u)", "sqrt(p)",
            "a + r",
            "day", "round(a, 1)", "z",
        ))  # fmt: skip
        b = self.one(("a", "u", "p", "r", "size.cm"))
        package = self.one(("", "", "", "splines::"))
        degree = self.one("12233")
        return self.one([
            f"poly({a}, {degree})", f"poly({a}, {degree})", f"poly({a}, degree = 2, raw = TRUE)",
            f"poly({a}, 4)",
            f"poly({a}, {b}, degree = {degree})", f"poly({a}, {b}, degree = 2, raw = TRUE)",
            f"poly({a}, 3, raw = T)",
            f"{package}bs({a})", f"{package}bs({a}, df = {self.one('4567')})",
            f"{package}bs({a}, 5, degree = {degree})",
            f"bs({b}, knots = median({b}))",
            f"bs({b}, knots = quantile({b}, c(0.25, 0.5, 0.75)), degree = {degree})",
            "bs(p, knots = c(0.2, 0.7), Boundary.knots = c(0, 1))",
            "bs(a, df = 5, Boundary.knots = c(-5, 5))",
            "bs(a, knots = 0, Boundary.knots = c(-1, 1), degree = 2)", f"bs({a}, df = 5, intercept = TRUE)",
            "bs(p, knots = c(0.5, 0.8, 1.2), Boundary.knots = c(0.1, 0.9))",
            f"bs({b}, knots = mean({b}), degree = 1)",
            f"{package}ns({a})", f"{package}ns({a}, df = {self.one('2345')})", f"ns({a}, {self.one('234')})",
            f"ns({b}, knots = quantile({b}, c(0.33, 0.67)))",
            "ns(p, knots = c(0.2, 0.7), Boundary.knots = c(0, 1))",
            "ns(a, df = 3, Boundary.knots = c(-1, 1))", f"ns({a}, df = 3, intercept = TRUE)",
            f"ns({b}, knots = median({b}), Boundary.knots = range({b}))", "ns(a, knots = c(-1, 0, 1))",
            f"ns({b}, df = 3, Boundary.knots = quantile({b}, c(0.1, 0.9)))",
            f"cbind({a}, {b})", f"cbind(one = {a}, {b})", f"cbind({self.number(1)}, {self.number(1)})",
            f"scale({a})", f"scale({a}, center = FALSE)", f"scale({a}, scale = FALSE)",
            f"scale(cbind({a}, {b}))",
            f"scale({self.number(1)})", f"scale({a}, 1, 2)",
            f"scale({a}, center = mean({a}), scale = sd({a}))",
        ])  # fmt: skip


def _weights(rng, n) -> np.ndarray:
    kind = rng.integers(3)
    if kind == 0:
        return rng.integers(1, 4, n).astype(float)
    weights = rng.uniform(0.2, 3.0, n)
    if kind == 1:
        weights[rng.random(n) < 0.2] = 0.0
        weights[0] = 1.0
    return weights


def _options(rng, *, weighted: bool) -> dict:
    choices = {
        "degree": (0.5, lambda: int(rng.integers(2, 4))),
        "nk": (0.4, lambda: int(rng.integers(3, 40))),
        "thresh": (0.1, lambda: float(rng.choice([0.0, 1e-5, 0.01]))),
        "penalty": (0.2, lambda: float(rng.choice([-1, 0, 1, 4]))),
        "minspan": (0.1, lambda: int(rng.integers(-5, 6))),
        "endspan": (0.1, lambda: int(rng.integers(1, 6))),
        "fast_k": (0.1, lambda: int(rng.integers(0, 12))),
        "auto_linpreds": (0.05, lambda: False),
        "newvar_penalty": (0.0 if weighted else 0.05, lambda: float(rng.choice([0.01, 0.2]))),
        "nprune": (0.1, lambda: int(rng.integers(1, 12))),
        "pmethod": (0.15, lambda: str(rng.choice(["none", "forward", "seqrep", "exhaustive"]))),
    }
    found = {name: value() for name, (share, value) in choices.items() if rng.random() < share}
    if found.get("pmethod") == "exhaustive":  # its time doubles with each term
        found["nk"] = min(found.get("nk", 13), 13)
    return found
