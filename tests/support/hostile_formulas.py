"""Formulas that ask for much: hundreds of short texts, within the limits of the guard and beyond them.

`python -m tests.support.hostile_formulas` fits them all to a small frame and prints the outcome of each and
the seconds that it took.
"""

import itertools
import json
import sys
import time
import warnings

import numpy as np
import pandas as pd

ROWS = 120
NUMBERS = [f"x{k}" for k in range(1, 13)]


def frame(rows: int = ROWS) -> pd.DataFrame:
    """Twelve numbers, factors of 2 to 60 levels, an ordered one, a truth value, and the response."""
    rng = np.random.default_rng(7)
    data = pd.DataFrame(rng.uniform(0.5, 3, size=(rows, len(NUMBERS))), columns=NUMBERS)
    for n_levels in (2, 7, 20, 60):
        data[f"f{n_levels}"] = [f"l{k % n_levels}" for k in rng.permutation(rows)]
    data["o"] = pd.Categorical(rng.choice(list("abcde"), rows), list("abcde"), ordered=True)
    data["b"] = rng.random(rows) < 0.5
    data["y"] = data["x1"] * data["x2"] + rng.normal(0, 0.1, rows)
    return data


def hostile_formulas() -> list[str]:
    """Texts; the same ones at each call."""
    sums = {n: " + ".join(NUMBERS[:n]) for n in (1, 2, 3, 6, 12)}
    found = [f"y ~ ({s})^{k}" for s in sums.values() for k in (1, 2, 3, 5, 12, 50, 100)]
    found += [
        f"y ~ ({s})^{k}" for s in (".", ". - f60", "f2 * f7 * f20") for k in (1, 2, 3, 20, 100)
    ]
    for mark in ("*", ":", "/", "%in%"):
        found += [f"y ~ {f' {mark} '.join(NUMBERS[:n])}" for n in (2, 6, 9, 12)]
        found += [f"y ~ {f' {mark} '.join(p)}" for p in itertools.combinations(FACTORS, 2)]
        found += [f"y ~ {f' {mark} '.join(p)}" for p in itertools.combinations(FACTORS, 3)]
    for function in ("bs", "ns"):
        found += [
            f"y ~ {function}(x1, df = {df})" for df in (3, 20, 119, 200, 999, 1000, 1001, 1e308)
        ]
        found += [f"y ~ {function}(x1, knots = c({', '.join(map(str, np.linspace(1, 2, n)))}))"
                  for n in (1, 50, 400, 1000)]  # fmt: skip
        found += [f"y ~ {function}(x1, df = {d}){m}{function}(x2, df = {d})"
                  for d in (5, 30, 44, 45, 200, 900) for m in ":*"]  # fmt: skip
        found += [f"y ~ {' * '.join(f'{function}({x}, df = {d})' for x in NUMBERS[:n])}"
                  for d in (4, 10) for n in (3, 6, 12)]  # fmt: skip
        found += [f"y ~ {function}(x1, Boundary.knots = c({a}, {b}))"
                  for a, b in ((1, 2), (0, 1e-300), (-1e300, 1e300), (1, 1), (2, 1))]  # fmt: skip
        found += [f"y ~ {function}(x1, df = 8, Boundary.knots = c(1, 1.1), intercept = TRUE)"]
    found += [
        f"y ~ bs(x1, degree = {d})" for d in (1, 3, 10, 25, 49, 50, 51, 100, 1000, 0, -1, 2.5)
    ]
    found += [f"y ~ bs(x1, degree = {d}, Boundary.knots = c(1, 1.01))" for d in (1, 10, 30, 50)]
    found += [f"y ~ bs(x1, df = {df}, degree = {d})" for df in (10, 500, 1000) for d in (1, 20, 50)]
    found += [f"y ~ poly(x1, {d})" for d in (1, 5, 20, 24, 30, 50, 51, 118, 119, 1000, 1e9)]
    found += [f"y ~ poly(x1, {d}, raw = TRUE)" for d in (1, 5, 20, 50, 51, 1000)]
    found += [f"y ~ poly({', '.join(NUMBERS[:n])}, degree = {d})"
              for n in (2, 3, 5, 8, 12) for d in (1, 2, 3, 9, 50)]  # fmt: skip
    found += [f"y ~ poly({', '.join(NUMBERS * n)})" for n in (1, 2, 4, 40)]
    found += [f"y ~ poly(x1, 10):poly(x2, 10){':poly(x3, 10)' * n}" for n in (0, 1, 2, 9)]
    found += [f"y ~ {'I(' * n}x1{')' * n}" for n in (1, 10, 45, 99, 100, 1000)]
    found += [f"y ~ {'log(abs(' * n}x1{'))' * n}" for n in (1, 10, 24, 50, 100)]
    found += [f"y ~ I({'-' * n}x1)" for n in (1, 50, 99, 100, 101, 3000)]
    found += [f"y ~ {'-' * n}x1" for n in (1, 2, 1000, 1999, 2500)]
    found += [f"y ~ I({'x1^' * n}2)" for n in (1, 10, 60, 99, 200)]
    found += [f"y ~ I(x1{' + x2' * n})" for n in (1, 50, 98, 120, 2000)]
    found += [f"y ~ {' + '.join(f'I(x1 + {k})' for k in range(n))}" for n in (10, 100, 400, 1500)]
    found += [f"y ~ {' + '.join(f'I(x1^{k})' for k in range(2, n))}" for n in (10, 100, 300)]
    found += [f"y ~ ({' + '.join(f'I(x1 + {k})' for k in range(n))})^2" for n in (10, 60, 64, 500)]
    found += [f"y ~ {' + '.join(['x1'] * n)}" for n in (2, 500, 1999, 2001)]
    found += [f"y ~ {' - '.join(['x1'] * n)}" for n in (2, 3, 500)]
    found += [f"y ~ cbind({', '.join(['x1'] * n)})" for n in (1, 2, 999, 1000, 1001)]
    found += [
        f"y ~ cbind({', '.join(['x1'] * n)}):f{n_levels}" for n in (20, 500) for n_levels in (2, 60)
    ]
    found += [f"cbind({', '.join(['y'] * n)}) ~ x1" for n in (1, 2, 100, 1000)]
    found += [f"{' + '.join(['y'] * n)} ~ x1" for n in (2, 50, 1000)]
    found += [f"y ~ x1 + {' + '.join(['offset(x2)'] * n)}" for n in (1, 2, 500)]
    found += [f"y ~ I(x1^{e})" for e in (0, 1e9, -1e9, 1e308, 0.5)]
    found += [f"{f}(y) ~ {f}({f}({f}(x1)))" for f in ("exp", "log", "sqrt", "log1p", "log2")]
    found += [
        "y ~ exp(exp(exp(exp(x1))))",
        "y ~ I(1e308 * x1 * 10)",
        "y ~ I(x1 / 0)",
        "y ~ I(0 * x1)",
    ]
    found += ["y ~ f60:f60", "y ~ f60^100", "y ~ (f60 + f20)^2", "y ~ f60 * o * b", "y ~ o:f60:f7"]
    found += ["y ~ 0 + f60 + f20:f7", "y ~ f60:x1 + f20:x2 + f7:x3", "y ~ bs(x1, df = 30):f60"]
    found += ["y ~ poly(x1, 50):f60", "y ~ bs(x1, df = 33):f60", "y ~ bs(x1, df = 100):f20:b"]
    found += [
        "y ~ f60:f20:f7:f2",
        "y ~ . * .",
        "y ~ .:.",
        "y ~ .:.:.",
        "y ~ . * . * . * .",
        "y ~ (.)^2 / .",
    ]
    found += ["y ~ ((x1 + x2)^50 + (x3 + x4)^50)^50", "y ~ ((x1 * x2 * x3)^9 * (x4 * x5 * x6)^9)^9"]
    found += [f"y ~ x1 {'+ x2:x3 ' * n}" for n in (1, 600, 1900)]
    found += [f"y ~ {'(' * n}x1{')' * n}" for n in (1, 20, 49, 51, 500)]
    found += ["f60 ~ x1 + x2", "f20 ~ f60", "o ~ x1", "b ~ .", "y ~ " + "x1" * 20_000]
    return found


FACTORS = ("f2", "f7", "f20", "f60", "o", "b")


def main(every: int, engine: str = "auto") -> None:
    """One line of JSON for each formula."""
    from pyearthdof import Earth
    from pyearthdof.exceptions import InvalidInputError, PyEarthDofError

    data = frame()
    for text in hostile_formulas()[::every]:
        began = time.perf_counter()
        message = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = Earth.from_formula(text, data, engine=engine)
            end = "fitted" if np.isfinite(model.predict(data)).all() else "not finite"
        except InvalidInputError as error:
            end, message = "refused", str(error)
        except PyEarthDofError as error:
            end, message = "failed", str(error)
        seconds = time.perf_counter() - began
        print(
            json.dumps({"text": text[:80], "end": end, "message": message, "seconds": seconds}),
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1, *sys.argv[2:])
