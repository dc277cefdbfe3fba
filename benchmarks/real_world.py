"""MARS against ridge, GAMs, boosting and forests on real data, with default options and a test part.

apt install r-cran-aer r-cran-cardata r-cran-caret r-cran-geepack r-cran-ggplot2 r-cran-gss r-cran-hsaur3
apt install r-cran-lasso2 r-cran-lme4 r-cran-locfit r-cran-mclust r-cran-mice r-cran-mlbench r-cran-modeldata
apt install r-cran-party r-cran-plm r-cran-psych r-cran-psychtools r-cran-quantreg r-cran-randomforest
apt install r-cran-robustbase r-cran-rrcov r-cran-sm r-cran-spdata r-cran-th.data
python -m pip install --group compare
python benchmarks/real_world.py data --folder DATA          what R's packages have, as CSV files
python benchmarks/real_world.py run --folder DATA --splits 3 --part 0 1 --seconds 280
python benchmarks/real_world.py report                      the tables and the figure of docs/real-world.md

Each fit is a line of docs/real-world.csv when it is finished, so a stopped run goes on where it was.
Sets of packages that are missing are skipped and listed. Complete rows are used, at most 3,000; factors of at
most twelve levels are dummy variables, others are dropped. Two thirds of the rows are for the fit, one third
is for the test, in several random divisions. Seconds are processor time of the fit, in one thread.
"""

from __future__ import annotations

import argparse
import csv
import importlib.metadata
import itertools
import subprocess
import time
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import pyearthdof
from pyearthdof import Earth, EarthClassifier, EarthCV

DOCS = Path(__file__).resolve().parent.parent / "docs"
ROWS = DOCS / "real-world.csv"
FIELDS = ("task", "set", "split", "n", "p", "model", "error", "wrong", "seconds", "refused")
LABEL_GAP = 0.02  # between the labels of the figure, in units of its ratio
MOST_ROWS, MOST_LEVELS, MOST_COLUMNS = 3000, 12, 70
REFERENCE = "EarthCV"
GROUPS = {"up to 150 rows": (0, 150), "151 to 500": (151, 500), "more than 500": (501, 10**9)}

# package, data set, response, and what is dropped: identifiers, and other forms of the response
REGRESSION = """
AER CASchools math -district -school -county -read
AER CollegeDistance score
AER CPS1985 log(wage)
AER CPSSW04 earnings
AER Electricity1970 log(cost)
AER GSOEP9402 income
AER Guns log(violent) -murder -robbery
AER HousePrices log(price)
AER Journals log(subs) -title -publisher
AER MASchools score4 -district -municipality -score8
AER NaturalGas log(consumption) -state -statecode
AER NMES1988 visits
AER OECDGas gas
AER Parade2005 log(earnings)
AER PSID1982 log(wage)
AER RecreationDemand trips
AER TeachingRatings eval -prof
AER USAirlines log(cost)
carData Davis weight -repwt -repht
carData Ericksen undercount
carData Freedman crime
carData Leinhardt log(infant)
carData MplsDemo hhIncome -neighborhood
carData Ornstein interlocks
carData Prestige prestige -census
carData Salaries salary
carData SLID wages
carData UN lifeExpF
datasets airquality Ozone
datasets attenu log(accel) -station
datasets ChickWeight weight -Chick
datasets CO2 uptake -Plant
datasets iris Petal.Width
datasets quakes stations
geepack dietox Weight -Pig
ggplot2 diamonds log(price)
ggplot2 economics unemploy
ggplot2 midwest percbelowpoverty -PID -county -percchildbelowpovert -percadultpoverty -percelderlypoverty
ggplot2 mpg hwy -cty -model
gss LakeAcidity ph
gss NO2 no2
gss nox nox
gss ozone upo3
HSAUR3 Forbes2000 log(marketvalue) -rank -name
lasso2 Prostate lpsa
lme4 cake angle
locfit ais BFat
MASS birthwt bwt -low
MASS Cars93 Price -Min.Price -Max.Price -Manufacturer -Model -Make
MASS crabs RW -index
mice brandsma lpo -sch -pup
mice fdgs wgt -id -wgt.z -hgt.z
mice popmis popular -pupil -school -const
mice windspeed Shannon
mlbench BostonHousing medv
mlbench Ozone V4
mlbench Servo Class
modeldata biomass HHV -sample -dataset
modeldata car_prices Price
modeldata Chicago ridership
modeldata concrete compressive_strength
modeldata penguins body_mass_g
modeldata Sacramento price -city -zip
nlme bdf langPOST -schoolNR -pupilNR -aritPOST
nlme MathAchieve MathAch -School
nlme Milk protein -Cow
nlme Spruce logSize -Tree
party readingSkills score
plm Cigar sales -state
plm Crime crmrte -county -lcrmrte
plm EmplUK log(emp) -firm
plm Produc log(gsp) -state
plm RiceFarms goutput -id -noutput
psych sat.act ACT
psychTools epi.bfi bdi
psychTools globalWarm govact
quantreg barro y.net
quantreg uis Y -ID -TIME -CENSOR
randomForest imports85 price -make -normalizedLosses
robustbase ambientNOxCH zg
robustbase NOxEmissions LNOx -julday
robustbase possumDiv Diversity
robustbase pulpfiber Y1 -Y2 -Y3 -Y4
robustbase radarImage Band.1
rpart solder skips
rrcov fish Weight
rrcov machines log(PRP) -ERP
rrcov rice Overall_evaluation
rrcov un86 MOR
sm aircraft Speed
sm coalash Percent
sm trawl Score1 -Score2
spData baltimore PRICE -STATION
survival flchain kappa -futime -death -chapter
survival pbc log(bili) -id -time -status
TH.data bodyfat DEXfat
sklearn diabetes target
statsmodels anes96 PID -vote
statsmodels ccard AVGEXP
statsmodels fair affairs
statsmodels macrodata unemp
"""

CLASSES = """
AER CreditCard card -expenditure -share
AER HMDA deny
AER PSID1976 participation -hours -wage -repwage
AER SmokeBan smoker
AER SwissLabor participation
carData Arrests released
carData Cowles volunteer
carData Mroz lfp
carData TitanicSurvival survived
carData Wells switch
caret GermanCredit Class
caret segmentationData Class -Cell -Case
kernlab spam type
MASS biopsy class -ID
MASS birthwt low -bwt
MASS Pima.tr type
mclust wdbc Diagnosis -ID
mlbench HouseVotes84 Class
mlbench Ionosphere Class
mlbench PimaIndiansDiabetes diabetes
mlbench Sonar Class
modeldata attrition Attrition
modeldata credit_data Status
modeldata mlc_churn churn -state
modeldata parabolic class
modeldata two_class_dat Class
modeldata wa_churn churn
robustbase foodstamp participation
rpart kyphosis Kyphosis
statsmodels anes96 vote
TH.data GlaucomaM Class
"""

WRITE = """
folder <- commandArgs(TRUE)[1]
for (words in strsplit(readLines(file.path(folder, "wanted")), " ")) {
  if (!nzchar(system.file(package = words[1]))) next
  frame <- tryCatch({
    into <- new.env()
    suppressWarnings(data(list = words[2], package = words[1], envir = into))
    as.data.frame(get(words[2], envir = into))
  }, error = function(e) NULL)
  if (is.null(frame)) next
  plain <- vapply(frame, function(x) is.null(dim(x)) && (is.numeric(x) || is.factor(x) ||
                                                        is.logical(x) || is.character(x)), TRUE)
  frame <- frame[plain]
  frame[] <- lapply(frame, function(x) if (is.numeric(x)) as.numeric(x) else as.character(x))
  write.csv(frame, file.path(folder, paste0(words[1], "-", words[2], ".csv")), row.names = FALSE)
}
"""


@dataclass(frozen=True)
class Task:
    """A data set: its package and name, the response, and the columns that are dropped."""

    kind: str
    package: str
    name: str
    response: str
    dropped: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"{self.package}-{self.name}"

    def load(self, folder: Path) -> tuple[pd.DataFrame, np.ndarray] | None:
        """Predictors, dummy variables for factors, and the response; None where the package is missing."""
        frame = self._frame(folder)
        if frame is None:
            return None
        name = self.response.removeprefix("log(").removesuffix(")")
        frame = frame.drop(columns=list(self.dropped)).dropna(axis=1, thresh=len(frame) // 2)
        frame = frame.dropna().reset_index(drop=True)
        rows = np.random.default_rng([1, *self.seed]).permutation(len(frame))[:MOST_ROWS]
        frame = frame.iloc[rows].reset_index(drop=True)
        y, X = frame.pop(name), frame
        words = X.select_dtypes(exclude="number").columns
        X = X.drop(columns=[w for w in words if X[w].nunique() > MOST_LEVELS])
        X = pd.get_dummies(X, drop_first=True).astype(float)
        X = X.loc[:, X.nunique() > 1]
        if self.kind == "classes":
            assert y.nunique() == 2, (self.label, y.unique())
            return X, (y == sorted(y.unique())[1]).to_numpy().astype(int)
        y = y.to_numpy(dtype=float)
        return X, np.log(y) if self.response.startswith("log(") else y

    @property
    def seed(self) -> tuple[int, ...]:
        return tuple(self.label.encode())

    def _frame(self, folder: Path) -> pd.DataFrame | None:
        if self.package == "sklearn":
            from sklearn.datasets import load_diabetes

            return load_diabetes(as_frame=True).frame
        if self.package == "statsmodels":
            import statsmodels.api as sm

            return getattr(sm.datasets, self.name).load_pandas().data
        file = folder / f"{self.label}.csv"
        return pd.read_csv(file) if file.exists() else None


def tasks() -> list[Task]:
    """All data sets."""
    found = []
    for kind, lines in (("regression", REGRESSION), ("classes", CLASSES)):
        for line in lines.strip().splitlines():
            package, name, response, *rest = line.split()
            dropped = tuple(word.removeprefix("-") for word in rest)
            found.append(Task(kind, package, name, response, dropped))
    return found


def write_data(folder: Path) -> None:
    """Have R write its data sets, and list those that it does not have."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{task.package} {task.name}" for task in tasks()]
    (folder / "wanted").write_text("\n".join(lines) + "\n")
    subprocess.run(["Rscript", "-e", WRITE, str(folder)], check=True, stdout=subprocess.DEVNULL)
    for task in tasks():
        data = task.load(folder)
        shape = "missing" if data is None else f"{data[0].shape[0]:5d} x {data[0].shape[1]:3d}"
        print(f"{task.kind:10s} {task.label:30s} {shape}")


PENALTIES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 30, 100)


class Gam:
    """pyGAM: a smooth term for each column of ten values or more, else a linear one; lam by its grid."""

    def __init__(self, classifies: bool) -> None:
        self.classifies = classifies

    def fit(self, X: np.ndarray, y: np.ndarray) -> Gam:
        from pygam import LinearGAM, LogisticGAM, l, s

        values = [len(np.unique(column)) for column in X.T]
        most = int(np.clip(160 // max(1, sum(k >= 10 for k in values)), 8, 20))
        terms = [s(j, n_splines=min(most, k)) if k >= 10 else l(j) for j, k in enumerate(values)]
        model = (LogisticGAM if self.classifies else LinearGAM)(sum(terms[1:], terms[0]))
        self.model = model.gridsearch(X, y, progress=False)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(X)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        p = self.model.predict_proba(X)
        return np.column_stack([1 - p, p])


def _ebm(classifies: bool) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingClassifier if classifies else ExplainableBoostingRegressor
    return kind(outer_bags=4, n_jobs=1, random_state=0)


def _earth(degree: int) -> Callable[[bool], Any]:
    return lambda classifies: (EarthClassifier if classifies else Earth)(
        degree=degree, engine="native"
    )


def _earth_cv(classifies: bool) -> Any:
    grid = {"degree": [1, 2], "penalty": list(PENALTIES)}
    if classifies:
        return EarthCV(EarthClassifier(engine="native"), grid, scoring="neg_log_loss", n_jobs=1)
    return EarthCV(Earth(engine="native"), grid, n_jobs=1)


def _auto_earth(n_models: int) -> Callable[[bool], Any]:
    def make(classifies: bool) -> Any:
        earth = (EarthClassifier if classifies else Earth)(engine="native")
        return pyearthdof.AutoEarth(earth, n_models=n_models, random_state=0, n_jobs=1)

    return make


def _linear(classifies: bool) -> Any:
    if classifies:
        model = LogisticRegressionCV(
            Cs=10, cv=5, scoring="neg_log_loss", max_iter=1000, l1_ratios=(0.0,), use_legacy_attributes=False
        )  # fmt: skip
    else:
        model = RidgeCV(np.logspace(-3, 5, 33))
    return make_pipeline(StandardScaler(), model)


def _forest(classifies: bool) -> Any:
    return (RandomForestClassifier if classifies else RandomForestRegressor)(random_state=0)


def _boosting(classifies: bool) -> Any:
    kind = HistGradientBoostingClassifier if classifies else HistGradientBoostingRegressor
    return kind(random_state=0)


MODELS: dict[str, Callable[[bool], Any]] = {
    "Earth, degree 1": _earth(1),
    "Earth, degree 2": _earth(2),
    "EarthCV": _earth_cv,
    "AutoEarth, 1 model": _auto_earth(1),
    "AutoEarth, 20 models": _auto_earth(20),
    "ridge, logistic": _linear,
    "pyGAM": Gam,
    "EBM": _ebm,
    "random forest": _forest,
    "HistGradientBoosting": _boosting,
}


def run(arguments: argparse.Namespace) -> None:
    """Fit what is missing in the table, one model after the other for each division."""
    file = ROWS if arguments.rows is None else arguments.rows
    done = set()
    if file.exists():
        done = {(r.set, r.task, r.split, r.model) for r in pd.read_csv(file).itertuples()}
    part, parts = arguments.part
    end = time.time() + arguments.seconds
    loaded = {}
    mixed = sorted(tasks(), key=lambda task: zlib.crc32(task.label.encode()))
    models = arguments.models or MODELS
    for split, model, task in itertools.product(
        range(arguments.splits), models, mixed[part::parts]
    ):
        if (task.label, task.kind, split, model) in done:
            continue
        if time.time() > end:
            print("out of time; call again", flush=True)
            return
        if task not in loaded:
            loaded[task] = task.load(arguments.folder)
        if loaded[task] is not None:
            _append(file, fit_and_test(task, *loaded[task], split, model))
    print("finished", flush=True)


def _append(file: Path, row: dict[str, Any]) -> None:
    with file.open("a", newline="") as out:
        writer = csv.DictWriter(out, FIELDS)
        if out.tell() == 0:
            writer.writeheader()
        writer.writerow(row)


def fit_and_test(
    task: Task, X: pd.DataFrame, y: np.ndarray, split: int, name: str
) -> dict[str, Any]:
    """One model on one division; predictors that are constant in the fitting part are left out."""
    rows = np.random.default_rng([2, split, *task.seed]).permutation(len(y))
    cut = 2 * len(y) // 3
    fit, test = rows[:cut], rows[cut:]
    values = X.to_numpy()
    values = values[:, np.ptp(values[fit], axis=0) > 0]
    classifies = task.kind == "classes"
    shape = {"n": cut, "p": values.shape[1]}
    row = {"task": task.kind, "set": task.label, "split": split, **shape, "model": name}
    model = MODELS[name](classifies)
    assert name == "pyGAM" or is_classifier(model) == classifies
    began = time.process_time()
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            model.fit(values[fit], y[fit])
            row["seconds"] = f"{time.process_time() - began:.4g}"
            if classifies:
                clip = 1 / (2 * cut)
                p = np.clip(model.predict_proba(values[test])[:, 1], clip, 1 - clip)
                row["error"] = f"{log_loss(y[test], p, labels=[0, 1]):.6g}"
                row["wrong"] = f"{float(((p > 0.5) != y[test]).mean()):.6g}"
            else:
                row["error"] = f"{float(((model.predict(values[test]) - y[test]) ** 2).mean()):.6g}"
    except Exception as error:  # it counts as refused, and is listed
        row["refused"] = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return row


def ratios(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """log(error / EarthCV's), a mean over the divisions of a set; or that of the seconds."""
    rows = rows.dropna(subset=[column])
    reference = rows[rows["model"] == REFERENCE].set_index(["task", "set", "split"])[column]
    rows = rows.join(reference.rename("reference"), on=["task", "set", "split"], how="inner")
    rows = rows.assign(log=np.log(rows[column] / rows["reference"]))
    return rows.groupby(["task", "set", "n", "model"])["log"].mean().reset_index()


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Geometric means over the sets, and their standard errors."""
    found = (
        frame.groupby("model")["log"]
        .agg(["mean", "std", "count"])
        .reindex(list(MODELS))
        .dropna(how="all")
    )
    ratio = np.exp(found["mean"])
    return pd.DataFrame(
        {
            "ratio": ratio,
            "se": ratio * found["std"] / np.sqrt(found["count"]),
            "sets": found["count"],
        }
    )


def _cell(row: Any) -> str:
    return f"{row.ratio:.3f} ± {row.se:.3f}".replace(" ", "\u00a0")


def report(file: Path) -> None:
    """Print the tables, put them into docs/real-world.md, and draw the figure."""
    rows = pd.read_csv(file)
    text = ""
    for task, title in (("regression", "Regression"), ("classes", "Two classes")):
        part = rows[rows["task"] == task]
        if len(part):
            text += f"## {title}\n\n{_tables(part)}\n"
    refused = rows[rows["refused"].notna()]
    for model, of_one in refused.groupby("model"):
        sets = ", ".join(f"{name} ({len(each)})" for name, each in of_one.groupby("set"))
        text += f"- {model} refused {len(of_one)} fits: {sets}.\n"
    versions = ("scikit-learn", "interpret-core", "pygam", "numpy")
    known = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in versions)
    text += f"\nMeasured with pyearthdof {pyearthdof.__version__}, {known}.\n"
    print(text)
    page = DOCS / "real-world.md"
    if page.exists():
        before, _, rest = page.read_text("utf-8").partition(MARKS[0])
        page.write_text(
            before + MARKS[0] + "\n\n" + text + "\n" + MARKS[1] + rest.partition(MARKS[1])[2],
            "utf-8",
        )
    _draw(rows)


MARKS = (
    "<!-- tables: written by benchmarks/real_world.py report -->",
    "<!-- end of the tables -->",
)


def _tables(rows: pd.DataFrame) -> str:
    """Error by the number of rows to fit on, and time; then AutoEarth against each of the others."""
    error, seconds = ratios(rows, "error"), ratios(rows, "seconds")
    parts = {"all": error}
    for name, (low, high) in GROUPS.items():
        group = error[error["n"].between(low, high)]
        if len(group):
            parts[name] = group
    tables = {name: summary(frame) for name, frame in parts.items()}
    columns = [f"{name}, {int(table['sets'].max())} sets" for name, table in tables.items()]
    head = ["", *columns, "sets", "time", "median seconds", "best in"]
    wide = error.pivot(index="set", columns="model", values="log")
    best = wide.idxmin(axis=1).value_counts()
    time, median = summary(seconds), rows.groupby("model")["seconds"].median()
    text = "| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|\n"
    for model in tables["all"].index:
        cells = [
            _cell(table.loc[model]) if model in table.index else "" for table in tables.values()
        ]
        cells += [str(int(tables["all"].loc[model, "sets"])), f"{time.loc[model, 'ratio']:.2f}"]
        cells += [f"{median[model]:.2g}", str(best.get(model, 0))]
        text += f"| {model} | " + " | ".join(cells) + " |\n"
    return text + _auto_against(wide)


def _auto_against(wide: pd.DataFrame) -> str:
    """AutoEarth's error over that of each other model on the sets that both have, and where it loses."""
    auto = "AutoEarth, 20 models"
    if auto not in wide:
        return ""
    head = (f"{auto} against", "its error / theirs", "sets", "it loses in", "largest losses")
    text = "\n| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|\n"
    for rival in (name for name in MODELS if name in wide and name != auto):
        gap = (wide[auto] - wide[rival]).dropna().sort_values(ascending=False)
        ratio, lost = np.exp(gap.mean()), gap[gap > 0]
        mean = f"{ratio:.3f} ± {ratio * gap.std() / np.sqrt(len(gap)):.3f}".replace(" ", "\u00a0")
        worst = ", ".join(f"{name} {np.exp(value):.2f}" for name, value in lost[:3].items())
        text += f"| {rival} | {mean} | {len(gap)} | {len(lost)} | {worst} |\n"
    return text


def _draw(rows: pd.DataFrame) -> None:
    """Error against time, both over EarthCV's, with two standard errors."""
    import matplotlib.pyplot as plt
    from matplotlib.patheffects import withStroke

    kinds = [kind for kind in ("regression", "classes") if kind in set(rows["task"])]
    figure, axes = plt.subplots(
        1, len(kinds), figsize=(11, 5.2), squeeze=False, layout="constrained"
    )
    titles = {"regression": "Regression: squared error", "classes": "Two classes: log-loss"}
    for ax, kind in zip(axes[0], kinds, strict=True):
        part = rows[rows["task"] == kind]
        error, seconds = summary(ratios(part, "error")), summary(ratios(part, "seconds"))
        heights: list[float] = []  # of the labels, which are moved apart
        for model in error["ratio"].sort_values().index:
            colour = "C3" if model.startswith("AutoEarth") else "C0" if "Earth" in model else "0.35"
            x, y = seconds.loc[model, "ratio"], error.loc[model, "ratio"]
            ax.errorbar(
                x, y, yerr=2 * error.loc[model, "se"], fmt="o", color=colour, capsize=2, zorder=4
            )
            height = max([y + 0.006, *(h + LABEL_GAP for h in heights[-1:])])
            heights.append(height)
            ax.annotate(
                model, (x, y), (x * 1.15, height), color=colour, fontsize=9, va="center", zorder=3,
                path_effects=[withStroke(linewidth=3, foreground="white")],
            )  # fmt: skip
        ax.axhline(1, color="0.8", zorder=0)
        ax.set(xscale="log", xlabel="time of the fit / EarthCV's", title=titles[kind])
        ax.set_ylabel("error in the test part / EarthCV's, two standard errors")
        ax.margins(x=0.25)
    figure.savefig(DOCS / "real-world.png", dpi=110)


def main() -> None:
    """Write the data, fit, or report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("data", "run", "report"))
    parser.add_argument("--folder", type=Path, default=Path("real-world-data"))
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--models", nargs="*", choices=MODELS)
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1))
    parser.add_argument("--seconds", type=float, default=1e9)
    arguments = parser.parse_args()
    if arguments.command == "data":
        write_data(arguments.folder)
    elif arguments.command == "run":
        run(arguments)
    else:
        report(arguments.rows or ROWS)


if __name__ == "__main__":
    main()
