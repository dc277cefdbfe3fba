"""Which rule chooses the best MARS? Truths that are known, and real data with a test part.

python benchmarks/size_rules.py truths --rows FILE     108 truths x 20 data sets, degree 1 and 2
python benchmarks/size_rules.py real --rows FILE       data sets of R and scikit-learn, with a test part
python benchmarks/size_rules.py report --rows FILE     the tables of both, docs/size-rules.csv and the figure
python benchmarks/size_rules.py auto --rows FILE       AutoEarth: the 108 truths and 40 others, in groups
python benchmarks/size_rules.py auto-glm --rows FILE   AutoEarth: 24 truths of classes and counts
python benchmarks/size_rules.py auto-real --rows FILE  AutoEarth: the real data sets
python benchmarks/size_rules.py auto-report --rows FILE  their tables, and the coverage of intervals

Each data set is a line of FILE when it is finished, so a run that was stopped goes on where it was. The
error is that of the mean at new points (truths), or of the response in the test part (real data), always over
that of a penalty chosen by 10-fold cross-validation on the same data. AutoEarth is compared with a degree
from 1 to 3 and a penalty that are chosen together by 10-fold cross-validation.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from real_data import WRITE
from scipy.special import expit
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold

from pyearthdof import (
    AutoEarth,
    Earth,
    EarthCV,
    choose_size,
    correct_penalty,
    df_of_sizes,
    quick_df_of_sizes,
)
from pyearthdof.dof.mars.correction import mars_search
from pyearthdof.dof.mars.fitted_mean import penalty_around_fit, size_around_fit
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.cv import PENALTIES
from pyearthdof.mars.data.design import check_design

DOCS = Path(__file__).resolve().parent.parent / "docs"
N_TRUTHS, N_DATA, N_NEW = 108, 20, 2000
N_AUTO = 3  # data sets of a truth
N_SPLITS, MOST_ROWS = 3, 400
CRITERIA = ("aicc", "covariance", "gcv")
NAMES = {
    "default": "default penalty",
    "corrected": "corrected penalty (the authors')",
    "penalty-fit": "corrected penalty, noise around the fit",
    "gcv": "size, GCV",
    "covariance": "size, covariance penalty",
    "covariance-long": "size, covariance penalty, sigma of a long model",
    "aicc": "size, AICc",
    "gcv-table": "size, GCV, curve of the table",
    "covariance-table": "size, covariance penalty, curve of the table",
    "aicc-table": "size, AICc, curve of the table",
    "aicc-fit": "size, AICc, noise around the fit",
    "cv": "penalty by 10-fold cross-validation",
}


@dataclass(frozen=True)
class Truth:
    """A mean function and the data that it is seen through."""

    number: int
    kind: str
    design: str
    n: int
    p: int
    snr: float
    noise: str = "normal"
    group: str = "the 108"

    def means(self, X: np.ndarray) -> np.ndarray:
        """The mean at the rows of X; some columns matter, the others do not."""
        rng = np.random.default_rng([7, self.number])
        k = int(rng.integers(1, min(self.p, 6) + 1))
        Z = X[:, rng.choice(self.p, k, replace=False)]
        size = rng.normal(1, 0.5, k) * rng.choice([-1, 1], k)
        knot, side = rng.normal(0, 0.7, k), rng.choice([-1, 1], k)
        hinges = np.maximum(side * (Z - knot), 0)
        if self.kind == "null":
            return np.zeros(len(X))
        if self.kind == "linear":
            return Z @ size
        if self.kind == "hinges":
            return hinges @ size
        if self.kind == "smooth":
            return np.sin(1.5 * Z + knot) @ size
        if self.kind == "steps":
            return np.heaviside(Z - np.clip(knot, -0.9, 0.9), 0) @ size
        products = hinges * np.roll(hinges, 1, axis=1) if k > 1 else hinges
        return hinges @ size + 2 * products @ size

    def design_of(self, rng, n: int) -> np.ndarray:
        """Rows of predictors."""
        Z = rng.normal(size=(n, self.p))
        if self.design == "correlated":
            for j in range(1, self.p):
                Z[:, j] = 0.7 * Z[:, j - 1] + np.sqrt(1 - 0.7**2) * Z[:, j]
        if self.design == "uniform":
            Z = np.sqrt(3) * (2 * rng.uniform(size=(n, self.p)) - 1)
        if self.design == "mixed":  # counts, truth values and long tails among them
            Z[:, ::3] = rng.poisson(1.0, Z[:, ::3].shape) - 1.0
            Z[:, 1::4] = np.sign(Z[:, 1::4])
            Z[:, 2::5] = rng.exponential(1.0, Z[:, 2::5].shape) - 1.0
        if self.design == "strongly correlated":
            Z = np.sqrt(0.1) * Z + np.sqrt(0.9) * rng.normal(size=(n, 1))
        if self.design == "binary":
            Z = np.sign(Z)
        if self.design == "half binary":
            Z[:, ::2] = np.sign(Z[:, ::2])
        if self.design == "duplicated":
            Z = Z[rng.integers(0, max(n // 3, 1), n)]
        return Z

    def errors(self, rng, X: np.ndarray, count: int) -> np.ndarray:
        """Errors of variance 1 on average over the rows, a row for each of `count` data sets."""
        if self.noise == "t3":
            return rng.standard_t(3, size=(count, len(X))) / np.sqrt(3)
        errors = rng.normal(size=(count, len(X)))
        if self.noise == "normal":
            return errors
        k = np.random.default_rng([9, self.number]).choice(self.p, 2, replace=False)
        one, two = X[:, k[0]], X[:, k[1]]
        sd = {
            "exp": np.exp(0.8 * one), "both": np.exp(0.6 * (one + two)), "step": np.where(one > 0, 3, 0.5),
            "v": 0.2 + np.abs(one), "mild": np.exp(0.3 * one),
        }[self.noise]  # fmt: skip
        return errors * sd / np.sqrt((sd**2).mean())


def truths() -> list[Truth]:
    """Kinds and designs in turn; n, p and the ratio of signal to noise at random. Each ninth is null."""
    rng = np.random.default_rng(20)
    kinds = (
        "hinges",
        "smooth",
        "products",
        "linear",
        "products",
        "steps",
        "hinges",
        "smooth",
        "null",
    )
    designs = ("gaussian", "uniform", "correlated", "mixed")
    return [
        Truth(
            k, kinds[k % 9], designs[k % 4], int(rng.choice([80, 100, 150, 200])),
            int(rng.choice([5, 10, 20, 50])), float(rng.choice([0.5, 1.0, 2.0, 4.0])),
        )
        for k in range(N_TRUTHS)
    ]  # fmt: skip


SHAPES = ("exp", "both", "step", "v", "mild")
GROUPS = {  # of the further truths: how many, noise, designs, n, p
    "heteroscedastic": (10, SHAPES, ("gaussian", "uniform"), (100, 400), (5, 20)),
    "heavy tails": (6, ("t3",), ("gaussian", "mixed"), (80, 300), (5, 30)),
    "n 500 to 2000": (6, ("normal",), ("gaussian", "correlated", "mixed"), (500, 2000), (5, 20)),
    "p 40 to 80": (6, ("normal",), ("gaussian", "uniform"), (80, 300), (40, 80)),
    "correlated": (4, ("normal",), ("strongly correlated",), (80, 300), (5, 20)),
    "binary X": (4, ("normal",), ("binary", "half binary"), (80, 400), (5, 30)),
    "duplicated rows": (4, ("normal",), ("duplicated",), (100, 400), (5, 20)),
}  # fmt: skip


def further_truths() -> list[Truth]:
    """40 truths that are harder than those of `truths`, in groups; the last of some groups is null."""
    rng = np.random.default_rng(40)
    kinds = ("hinges", "products", "smooth", "linear", "steps", "products")
    found: list[Truth] = []
    for group, (count, noises, designs, ns, ps) in GROUPS.items():
        for k in range(count):
            null = k >= count - {"heteroscedastic": 2, "heavy tails": 1, "binary X": 1}.get(
                group, 0
            )
            n = int(round(np.exp(rng.uniform(*np.log(ns))), -1))
            p = int(rng.integers(ps[0], ps[1] + 1))
            kind = "null" if null else kinds[k % 6]
            snr = float(rng.choice([0.5, 1.0, 2.0, 4.0]))
            noise, design = noises[k % len(noises)], designs[k % len(designs)]
            found.append(Truth(200 + len(found), kind, design, n, p, snr, noise, group))
    return found


class Rules:
    """All rules on one design; what depends on X alone is measured once."""

    def __init__(self, X, degree: int):
        self.X, self.degree = X, degree
        self.earth = Earth(degree=degree, engine="native")
        self.curve = df_of_sizes(X, estimator=self.earth)
        self.penalty = correct_penalty(X.shape, estimator=self.earth).penalty
        try:
            self.table = quick_df_of_sizes(X.shape, degree=degree)
        except InvalidInputError:
            self.table = None

    def choose(self, y, seed: int) -> dict:
        """A fitted model for each rule; and the seconds that some of them took."""
        earth = self.earth
        long = Earth(**earth.get_params() | {"penalty": -1}).fit(self.X, y)
        rss, sizes, seconds = long.rss_per_subset_, {}, {}

        def at(size):
            if size not in sizes:
                sizes[size] = long.reprune(nprune=int(size))
            return sizes[size]

        found = {"default": earth.fit(self.X, y)}
        found["corrected"] = Earth(**earth.get_params() | {"penalty": self.penalty}).fit(self.X, y)
        for end, curve in (("", self.curve), ("-table", self.table)):
            for criterion in CRITERIA if curve is not None else ():
                found[criterion + end] = at(choose_size(curve, rss, criterion=criterion).size)
        choice = choose_size(self.curve, rss)
        found["covariance-long"] = at(_by_a_long_model(choice.table, len(y)))
        began = time.time()
        cv = EarthCV(earth, cv=KFold(10, shuffle=True, random_state=seed)).fit(self.X, y)
        found["cv"], seconds["cv"] = cv.best_estimator_, time.time() - began
        run = {"draws": None, "random_state": None, "n_rep": 100, "n_jobs": 1, "progress": False}
        began = time.time()
        design = check_design(Earth(), self.X)
        size = size_around_fit(design, long, choice, earth, None, None, **run)
        found["aicc-fit"], seconds["aicc-fit"] = at(size.size), time.time() - began
        began = time.time()
        search = mars_search(design, earth, "data", {"engine": "native"})
        fit = lambda c: Earth(**earth.get_params() | {"penalty": c}).fit(self.X, y)  # noqa: E731
        penalty = penalty_around_fit(search, fit, **run)
        found["penalty-fit"], seconds["penalty-fit"] = fit(penalty.penalty), time.time() - began
        seconds |= {"ended-size": size.ended, "ended-penalty": penalty.ended}
        return found | {"seconds": seconds}


def _by_a_long_model(table: pd.DataFrame, n: int) -> int:
    """The covariance penalty with the noise of the largest size that has at most n/2 degrees of freedom."""
    rss, df = table["rss"].to_numpy(), table["df"].to_numpy()
    long = max(int((df <= n / 2).sum()) - 1, 0)
    score = np.where(np.isfinite(table["aicc"]), rss + 2 * rss[long] / (n - df[long]) * df, np.inf)
    return int(np.argmin(score)) + 1


def run_truths(done: set, write, part: int, parts: int) -> None:
    """All data sets of all truths: the same X for each truth, new noise for each data set."""
    for truth in truths()[part::parts]:
        rng = np.random.default_rng([11, truth.number])
        X, new = truth.design_of(rng, truth.n), truth.design_of(rng, N_NEW)
        mean, new_mean = truth.means(X), truth.means(new)
        sigma = float(np.sqrt(new_mean.var() / truth.snr)) or 1.0
        noise = sigma * rng.normal(size=(N_DATA, truth.n))
        for degree in (1, 2):
            left = [k for k in range(N_DATA) if f"truth-{truth.number}-{degree}-{k}" not in done]
            if not left:
                continue
            rules = Rules(X, degree)
            for k in left:
                found = rules.choose(mean + noise[k], k)
                seconds = found.pop("seconds")
                error = {
                    name: float(((m.predict(new) - new_mean) ** 2).mean())
                    for name, m in found.items()
                }
                terms = {name: int(m.n_terms_) for name, m in found.items()}
                shape = {"n": truth.n, "p": truth.p, "snr": truth.snr, "design": truth.design}
                write({"key": f"truth-{truth.number}-{degree}-{k}", "kind": truth.kind, **shape,
                       "degree": degree, "error": error, "terms": terms, "seconds": seconds})  # fmt: skip


def auto_models(estimator, seed: int) -> dict:
    """AutoEarth with its defaults, its single model, and cross-validation over degree and penalty."""
    grid = {"degree": [1, 2, 3], "penalty": list(PENALTIES)}
    return {
        "auto": AutoEarth(estimator),
        "auto-one": AutoEarth(estimator, n_models=1),
        "default": estimator,
        "cv": EarthCV(estimator, grid, cv=KFold(10, shuffle=True, random_state=seed)),
    }


def fit_all(models: dict, X, y) -> tuple[dict, dict]:
    """The models, fitted, and the seconds of the processor that each took."""
    seconds = {}
    for name, model in models.items():
        began = time.process_time()
        model.fit(X, y)
        seconds[name] = time.process_time() - began
    return models, seconds


def run_auto(done: set, write, part: int, parts: int) -> None:
    """AutoEarth on the truths of `truths` and `further_truths`, with the coverage of its intervals."""
    cases = [*truths(), *further_truths()][part::parts]
    for k, truth in itertools.product(range(N_AUTO), cases):
        key = f"auto-{truth.number}-{k}"
        if key in done:
            continue
        rng = np.random.default_rng([17, truth.number])
        X, new = truth.design_of(rng, truth.n), truth.design_of(rng, N_NEW)
        mean, new_mean = truth.means(X), truth.means(new)
        sigma = float(np.sqrt(new_mean.var() / truth.snr)) or 1.0
        errors = sigma * truth.errors(rng, X, N_AUTO)
        models, seconds = fit_all(auto_models(Earth(engine="native"), k), X, mean + errors[k])
        error = {n: float(((m.predict(new) - new_mean) ** 2).mean()) for n, m in models.items()}
        auto, y = models["auto"], new_mean + sigma * truth.errors(rng, new, 1)[0]
        row = {
            "key": key, "kind": truth.kind, "group": truth.group, "noise": truth.noise, "n": truth.n,
            "p": truth.p, "snr": truth.snr, "error": error, "seconds": seconds,
            "inside": share_inside(auto.predict_interval(new), y),
            "inside-mean": share_inside(auto.predict_interval(new, kind="confidence"), new_mean),
            "varies": auto.noise_sd_ is not None, "df": auto.df_,
        }  # fmt: skip
        write(row)


def share_inside(table: pd.DataFrame, y: np.ndarray) -> float:
    """Share of the values that are in their intervals."""
    return float(((table["lower"] <= y) & (table["upper"] >= y)).mean())


def run_auto_glm(done: set, write, part: int, parts: int) -> None:
    """Excess deviance at new rows of AutoEarth, and of cross-validation, for classes and counts."""
    kinds = ("hinges", "smooth", "products", "linear", "steps", "null")
    for number in range(24)[part::parts]:
        family = ("binomial", "poisson")[number // 12]
        n, p = (200, 400)[number % 2], (5, 10, 20)[number % 3]
        truth = Truth(
            300 + number, kinds[number % 6], ("gaussian", "uniform")[number // 6 % 2], n, p, 1.0
        )
        rng = np.random.default_rng([19, truth.number])
        X, new = truth.design_of(rng, n), truth.design_of(rng, N_NEW)
        eta, new_eta = truth.means(X), truth.means(new)
        scale = (1.5 if family == "binomial" else 0.7) / (new_eta.std() or 1.0)
        eta, new_eta = scale * (eta - new_eta.mean()), scale * (new_eta - new_eta.mean())
        for k in range(N_AUTO):
            key = f"glm-{number}-{k}"
            if key in done:
                continue
            if family == "binomial":
                y = (rng.uniform(size=n) < expit(eta)).astype(float)
            else:
                y = rng.poisson(np.exp(np.minimum(eta, 4))).astype(float)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                models, seconds = fit_all(
                    auto_models(Earth(engine="native", glm_family=family), k), X, y
                )
            error = {n: excess(m.predict(new), new_eta, family) for n, m in models.items()}
            write({"key": key, "kind": truth.kind, "group": family, "n": n, "p": p, "error": error,
                   "seconds": seconds})  # fmt: skip


def excess(mean: np.ndarray, eta: np.ndarray, family: str) -> float:
    """Mean deviance of predictions about the truth, less that of the truth itself."""
    if family == "binomial":
        p, q = expit(eta), np.clip(mean, 1e-6, 1 - 1e-6)
        return float(2 * (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))).mean())
    m, q = np.exp(np.minimum(eta, 4)), np.clip(mean, 1e-6, 1e6)
    return float(2 * (m * np.log(m / q) - (m - q)).mean())


def run_auto_real(done: set, write, part: int, parts: int) -> None:
    """Two thirds to fit on, one third to test, as in `run_real`."""
    sets = list(real_data().items())[part::parts]
    for split, (name, values) in itertools.product(range(N_SPLITS), sets):
        key = f"autoreal-{name}-{split}"
        if key in done:
            continue
        rng = np.random.default_rng([13, split])
        rows = rng.permutation(len(values))[:MOST_ROWS]
        cut = 2 * len(rows) // 3
        train, test = values[rows[:cut]], values[rows[cut:]]
        try:
            models, seconds = fit_all(
                auto_models(Earth(engine="native"), split), train[:, :-1], train[:, -1]
            )
        except InvalidInputError as error:
            write({"key": key, "refused": str(error)})
            continue
        new, y = test[:, :-1], test[:, -1]
        error = {n: float(((m.predict(new) - y) ** 2).mean()) for n, m in models.items()}
        inside = share_inside(models["auto"].predict_interval(new), y)
        write({"key": key, "kind": name, "group": "real data", "n": cut, "p": values.shape[1] - 1,
               "error": error, "seconds": seconds, "inside": inside})  # fmt: skip


RULES = {"auto": "20 models", "auto-one": "1 model", "default": "default Earth"}


def groups_of(kind: str, group: str, noise: str | None) -> list[str]:
    """The groups of a data set in the tables."""
    if group == "real data":
        return [group]
    null = kind == "null"
    if noise is None:
        return [f"{group}, null" if null else group]
    if not null:
        return ["all truths with signal", *(["the 40 with signal"] * (group != "the 108")), group]
    return ["null, heteroscedastic" if noise in SHAPES else "null, homoscedastic"]


def auto_frame(rows: list[dict]) -> pd.DataFrame:
    """A row for each data set: its truth, errors over cross-validation's error, seconds, coverage."""
    table = []
    for row in rows:
        if "error" not in row or not row["key"].startswith(("auto", "glm")):
            continue
        case, k = row["key"].rsplit("-", 1)
        one = {"case": case, "data_set": int(k), "kind": row["kind"], "group": row["group"],
               "noise": row.get("noise"), "n": row["n"], "p": row["p"]}  # fmt: skip
        one |= {f"error {rule}": row["error"][rule] for rule in (*RULES, "cv")}
        one |= {f"seconds {rule}": row["seconds"][rule] for rule in ("auto", "cv")}
        one |= {name: row.get(name) for name in ("inside", "inside-mean", "varies")}
        table.append(one)
    return pd.DataFrame(table)


def auto_groups(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The data sets of each group."""
    found: dict[str, list[int]] = {}
    for index, row in frame.iterrows():
        noise = row["noise"] if isinstance(row["noise"], str) else None
        for group in groups_of(row["kind"], row["group"], noise):
            found.setdefault(group, []).append(index)
    order = ("all truths with signal", "the 108", "the 40 with signal", *GROUPS)
    names = [*(name for name in order if name in found), *(n for n in found if n not in order)]
    return {name: frame.loc[found[name]] for name in names}


def over_cv(frame: pd.DataFrame, rule: str) -> tuple[float, float]:
    """Geometric mean of error over cross-validation's, over the truths, with its standard error."""
    known = frame[(frame[f"error {rule}"] > 0) & (frame["error cv"] > 0)]
    logs = np.log(known[f"error {rule}"] / known["error cv"]).groupby(known["case"]).mean()
    ratio = float(np.exp(logs.mean()))
    return ratio, ratio * float(logs.std() / np.sqrt(len(logs)))


def ratio_of_means(frame: pd.DataFrame, rule: str) -> tuple[float, float]:
    """Mean error over cross-validation's mean error, with its jackknife standard error over the truths."""
    sums = frame.groupby("case")[[f"error {rule}", "error cv"]].mean().to_numpy()
    total, m = sums.sum(axis=0), len(sums)
    without = (total[0] - sums[:, 0]) / (total[1] - sums[:, 1])
    return float(total[0] / total[1]), float(np.sqrt((m - 1) ** 2 / m * without.var(ddof=1)))


def auto_table(frame: pd.DataFrame) -> str:
    """The table of errors of docs/auto-earth.md: null truths by mean errors, all others geometric."""
    head = ("", "truths", "data sets", *RULES.values(), "seconds", "EarthCV's")
    text = "| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|\n"
    for name, of in auto_groups(frame).items():
        compare = ratio_of_means if "null" in name else over_cv
        cells = [cell(*compare(of, rule)) for rule in RULES]
        seconds = [f"{of[f'seconds {rule}'].median():.2f}" for rule in ("auto", "cv")]
        columns = [name, str(of["case"].nunique()), str(len(of)), *cells, *seconds]
        text += "| " + " | ".join(columns) + " |\n"
    return text


def coverage_table(frame: pd.DataFrame) -> str:
    """How often intervals of 95 % hold a new observation, and the mean."""
    head = ("", "data sets", "new observation", "5 % to 95 % of the data sets", "mean of y")
    text = "| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|\n"
    for name, of in auto_groups(frame).items():
        inside = of["inside"].dropna()
        if len(inside) == 0:
            continue
        low, high = inside.quantile([0.05, 0.95])
        of_mean = of["inside-mean"].dropna()
        mean = f"{of_mean.mean():.3f}" if len(of_mean) else ""
        columns = [name, str(len(inside)), f"{inside.mean():.3f}", f"{low:.3f} to {high:.3f}", mean]
        text += "| " + " | ".join(columns) + " |\n"
    return text


MARKS = "<!-- {}: written by benchmarks/size_rules.py auto-report -->", "<!-- end of {} -->"


def auto_report(rows: list[dict]) -> None:
    """Write docs/auto-earth.csv, the tables of docs/auto-earth.md, and the figure."""
    auto_frame(rows).to_csv(DOCS / "auto-earth.csv", index=False, float_format="%.5g")
    frame = read_auto()
    page = DOCS / "auto-earth.md"
    text = page.read_text("utf-8")
    for name, table in {"errors": auto_table(frame), "coverage": coverage_table(frame)}.items():
        print(table)
        begin, end = (mark.format(name) for mark in MARKS)
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{table}\n{end}{rest.split(end)[1]}"
    page.write_text(text, "utf-8")
    for varies in (False, True):
        of = frame[frame["varies"].notna() & (frame["noise"].isin(SHAPES) == varies)]
        kind = "heteroscedastic" if varies else "homoscedastic"
        print(f"varying noise found in {of['varies'].astype(float).mean():.2f} of {kind} data sets")
    draw_auto(frame)


def read_auto() -> pd.DataFrame:
    """docs/auto-earth.csv."""
    return pd.read_csv(DOCS / "auto-earth.csv", keep_default_na=False, na_values=[""])


def draw_auto(frame: pd.DataFrame) -> None:
    """The errors of all groups but the null ones, with two standard errors."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    groups = {name: of for name, of in auto_groups(frame).items() if "null" not in name}
    fig, ax = plt.subplots(figsize=(8, 0.9 + 0.42 * len(groups)), constrained_layout=True)
    colours = {"auto": "tab:red", "auto-one": "tab:blue", "default": "0.5"}
    for place, of in enumerate(reversed(groups.values())):
        for shift, rule in zip((0.22, 0.0, -0.22), RULES, strict=True):
            ratio, se = over_cv(of, rule)
            bars = [
                [ratio - ratio * np.exp(-2 * se / ratio)],
                [ratio * np.exp(2 * se / ratio) - ratio],
            ]
            ax.errorbar(ratio, place + shift, xerr=bars, fmt="o", markersize=4, color=colours[rule])
    for rule, label in RULES.items():
        ax.errorbar([], [], xerr=[], fmt="o", markersize=4, color=colours[rule], label=label)
    ax.axvline(1, color="grey", linewidth=0.8, linestyle="--")
    ax.set_xscale("log")
    ticks = [t for t in (0.2, 0.5, 1, 2, 5, 10) if ax.get_xlim()[0] <= t <= ax.get_xlim()[1]]
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    ax.minorticks_off()
    labels = [f"{name} ({of['case'].nunique()})" for name, of in groups.items()]
    ax.set_yticks(range(len(groups)), labels[::-1])
    ax.set_xlabel("error over that of cross-validation of degree and penalty, ± 2 standard errors")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9)
    fig.savefig(DOCS / "auto-earth.png", dpi=110)


def real_data() -> dict[str, np.ndarray]:
    """Numeric data sets by name, the response last: 45 rows, 2 to 60 predictors, ten values of y at least."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["Rscript", "-e", WRITE, folder], check=True, stdout=subprocess.DEVNULL)
        for file in sorted(Path(folder).iterdir()):
            name, n_columns = file.name.rsplit("-", 1)
            found[name] = np.fromfile(file).reshape(int(n_columns), -1).T
    diabetes = load_diabetes()
    found["sklearn-diabetes"] = np.column_stack([diabetes.data, diabetes.target])
    return {
        name: values.copy() for name, values in found.items()
        if name != "MASS-Pima.tr2" and len(values) >= 45 and 3 <= values.shape[1] <= 61
        and len(np.unique(values[:, -1])) >= 10
    }  # fmt: skip


def run_real(done: set, write, part: int, parts: int) -> None:
    """Two thirds to fit on, one third to test, three times; at most 400 rows."""
    for name, values in list(real_data().items())[part::parts]:
        for split in range(N_SPLITS):
            rng = np.random.default_rng([13, split])
            rows = rng.permutation(len(values))[:MOST_ROWS]
            cut = 2 * len(rows) // 3
            train, test = values[rows[:cut]], values[rows[cut:]]
            for degree in (1, 2):
                key = f"real-{name}-{degree}-{split}"
                if key in done:
                    continue
                try:
                    found = Rules(train[:, :-1], degree).choose(train[:, -1], split)
                except InvalidInputError as error:  # terms that are nearly dependent, as in R
                    write({"key": key, "refused": str(error)})
                    continue
                seconds = found.pop("seconds")
                new, y = test[:, :-1], test[:, -1]
                error = {n: float(((m.predict(new) - y) ** 2).mean()) for n, m in found.items()}
                terms = {n: int(m.n_terms_) for n, m in found.items()}
                write({"key": key, "kind": name, "n": cut, "p": values.shape[1] - 1, "degree": degree,
                       "error": error, "terms": terms, "seconds": seconds})  # fmt: skip


def ratios(rows: list[dict], part: str) -> pd.DataFrame:
    """log(error / cross-validation's), a mean over the data sets of a truth (the splits of real data)."""
    table = [
        {"part": part, "case": row["key"].rsplit("-", 2)[0], "kind": row["kind"], "degree": row["degree"],
         "n": row["n"], "p": row["p"], "snr": row.get("snr"), "rule": rule,
         "log": np.log(value / row["error"]["cv"])}
        for row in rows if row["key"].startswith(part) and "error" in row and row["error"]["cv"] > 0
        for rule, value in row["error"].items() if value > 0
    ]  # fmt: skip
    frame = pd.DataFrame(table)
    by = ["part", "case", "kind", "degree", "n", "p", "snr", "rule"]
    return frame.groupby(by, dropna=False)["log"].agg(["mean", "count"]).reset_index()


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Geometric means over the cases, both degrees of a case together, and their standard errors."""
    each = frame.groupby(["rule", "case"])["mean"].mean().reset_index()
    found = each.groupby("rule")["mean"].agg(["mean", "std", "count"])
    ratio = np.exp(found["mean"])
    se = ratio * found["std"] / np.sqrt(found["count"])
    return pd.DataFrame({"ratio": ratio, "se": se, "cases": found["count"]})


def cell(ratio: float, se: float) -> str:
    """A number with its error, in one line."""
    return f"{ratio:.3f} ± {se:.3f}".replace(" ", "\u00a0")


def report(rows: list[dict]) -> None:
    """Print the tables, and write docs/size-rules.csv and the figure."""
    known, real = ratios(rows, "truth"), ratios(rows, "real")
    signal, null = known[known["kind"] != "null"], known[known["kind"] == "null"]
    one, two = (signal[signal["degree"] == degree] for degree in (1, 2))
    parts = {
        "truths": signal,
        "degree 1": one,
        "degree 2": two,
        "null truths": null,
        "real data": real,
    }
    tables = {name: summary(frame) for name, frame in parts.items() if len(frame)}
    text = "| rule | " + " | ".join(tables) + " |\n|---" * 1 + "|---" * len(tables) + "|\n"
    for rule in (name for name in NAMES if name in tables["truths"].index):
        cells = [
            cell(t.loc[rule, "ratio"], t.loc[rule, "se"]) if rule in t.index else ""
            for t in tables.values()
        ]
        text += f"| {NAMES[rule]} | " + " | ".join(cells) + " |\n"
    print(text)
    for name, table in tables.items():
        print(name, int(table["cases"].max()), "cases")
    many = signal[(signal["p"] >= 20) & (signal["snr"] <= 1)]
    few = signal[(signal["p"] <= 10) & (signal["snr"] >= 2)]
    for name, frame in {
        "p >= 20, signal-to-noise <= 1": many,
        "p <= 10, signal-to-noise >= 2": few,
    }.items():
        if len(frame):
            print(
                name,
                {
                    r: (round(float(v.ratio), 3), round(float(v.se), 3))
                    for r, v in summary(frame).iterrows()
                },
            )
    seconds = pd.DataFrame([row["seconds"] for row in rows if "seconds" in row])
    for column in seconds:
        if column.startswith("ended"):
            print(column, (seconds[column].value_counts(normalize=True).round(3)).to_dict())
        else:
            print(column, "seconds, median:", round(float(seconds[column].median()), 3))
    refused = [row["key"] for row in rows if "refused" in row]
    print(len(refused), "real fits refused:", sorted({key.rsplit("-", 2)[0] for key in refused}))
    both = pd.concat([known, real])
    both["mean"] = both["mean"].round(5)
    both = both.rename(columns={"mean": "log_ratio", "count": "data_sets"})
    both.to_csv(DOCS / "size-rules.csv", index=False)
    draw(tables)


def draw(tables: dict) -> None:
    """A panel for the truths, the null ones and the real data."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    shown = [name for name in ("truths", "null truths", "real data") if name in tables]
    fig, axes = plt.subplots(1, len(shown), figsize=(10, 4.4), sharey=True, constrained_layout=True)
    for ax, name in zip(np.atleast_1d(axes), shown, strict=True):
        table = tables[name]
        rules = [rule for rule in reversed(NAMES) if rule in table.index]
        own = {"default", "corrected", "penalty-fit"}
        colours = [
            "black" if r == "cv" else "tab:orange" if r in own else "tab:blue" for r in rules
        ]
        for y, (rule, colour) in enumerate(zip(rules, colours, strict=True)):
            x, se = table.loc[rule, ["ratio", "se"]]
            bars = [[x - x * np.exp(-2 * se / x)], [x * np.exp(2 * se / x) - x]]
            ax.errorbar(x, y, xerr=bars, fmt="o", color=colour, markersize=4)
        ax.axvline(1, color="grey", linewidth=0.8, linestyle="--")
        ax.set_xscale("log")
        low, high = ax.get_xlim()
        round_ones = (0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100)
        ticks = [t for t in round_ones if low <= t <= high]
        if high / low > 1.5:
            ticks = [t for t in (1, 1.2, 1.5, 2, 3, 5) if low <= t <= high]
        if high / low > 10:
            ticks = [t for t in (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if low <= t <= high]
        ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
        ax.set_yticks(range(len(rules)), [NAMES[r] for r in rules])
        ax.set_title(f"{name} ({int(table['cases'].max())})", fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
    fig.supxlabel("error over cross-validation's, geometric mean ± 2 standard errors", fontsize=10)
    fig.savefig(DOCS / "size-rules.png", dpi=110)


WORK = {
    "truths": run_truths,
    "real": run_real,
    "auto": run_auto,
    "auto-glm": run_auto_glm,
    "auto-real": run_auto_real,
}


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=[*WORK, "report", "auto-report"])
    parser.add_argument(
        "--rows", type=Path, required=True, help="file of finished data sets, a line each"
    )
    parser.add_argument(
        "--part", type=int, default=0, help="which part of the cases this run takes"
    )
    parser.add_argument("--parts", type=int, default=1, help="of how many")
    arguments = parser.parse_args()
    lines = arguments.rows.read_text().splitlines() if arguments.rows.exists() else []
    rows = [json.loads(line) for line in lines if line.endswith("}")]
    if arguments.work == "report":
        return report(rows)
    if arguments.work == "auto-report":
        return auto_report(rows)
    with arguments.rows.open("a") as file:

        def write(row: dict) -> None:
            file.write(json.dumps(row) + "\n")
            file.flush()

        work = WORK[arguments.work]
        work({row["key"] for row in rows}, write, arguments.part, arguments.parts)


if __name__ == "__main__":
    main()
