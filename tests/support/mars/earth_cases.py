"""Paired cases beyond one numeric response: factors, several responses, GLMs, subsets.

Each case has R's arguments beside ours; all of them run in one plain Rscript (see `r_found`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pyearthdof import Earth
from tests.support.rscript import run_r


@dataclass(frozen=True, eq=False)
class Case:
    """`earth(x, y, <r>)` beside `Earth(**py).fit(X, y)`; x and y are names of columns, with spaces between.

    `sent` is what else goes to both fits: "w" (case weights), "subset".
    """

    data: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    r: str = ""
    py: dict = field(default_factory=dict)
    sent: tuple[str, ...] = ()

    def __str__(self):
        return f"{self.data}: {'+'.join(self.y)} ~ {'+'.join(self.x)[:40]}, {self.r}"

    @property
    def r_call(self) -> str:
        return f"earth(x, y, {self.r})" if self.r else "earth(x, y)"


def _case(data, x, y, r="", **py):
    sent = tuple(name for name in ("w", "subset") if f"={name}" in r.replace(" ", ""))
    return Case(data, tuple(x.split("|")), tuple(y.split("|")), r, py, sent)


BINOMIAL = "glm=list(family=binomial)"
POISSON = "glm=list(family=poisson)"
BASIC = "pclass|sex|sibsp|parch"
OZONE = "humidity|temp|ibh|dpg|vis|doy"

CASES = [
    # Factors
    _case("titanic", BASIC, "age"),
    _case("titanic", BASIC, "age", "degree=2", degree=2),
    _case("titanic", BASIC, "age", "degree=3, penalty=0", degree=3, penalty=0),
    _case("titanic", "pclass", "age"),
    _case("titanic", "xfactor", "age"),
    _case("titanic", "child|sibsp", "survived"),
    _case("titanic", "child|sex|sibsp", "survived", "degree=2", degree=2),
    _case("titanic", "rank|sibsp", "age", "degree=2", degree=2),
    _case("titanic", "rank5|sex|parch", "age", "degree=2", degree=2),
    _case("titanic", "text|sibsp", "age", "degree=2", degree=2),
    _case("titanic", "num|parch", "age", "degree=2", degree=2),
    _case("titanic", "whole|parch", "age", "degree=2", degree=2),
    _case("titanic", "unused|parch", "age", "degree=2", degree=2),
    _case("titanic", "a b|parch", "age", "degree=2", degree=2),
    _case("titanic", "if|a`b|parch", "age", "degree=2", degree=2),
    _case("titanic", "odd|parch", "age", "degree=2", degree=2),
    _case("titanic", "höhe|_under|.2x|.y|parch", "age", "degree=2", degree=2),
    _case("titanic", BASIC, "age", "weights=w"),
    _case("titanic", BASIC, "age", "weights=w, degree=2", degree=2),
    _case("titanic", BASIC, "age", "subset=subset, degree=2", degree=2),
    _case("titanic", BASIC, "age", "subset=subset, weights=w"),
    _case("titanic", BASIC, "age", 'linpreds=c(1, 2, 4)', linpreds=["pclass", "sibsp"]),
    _case("titanic", BASIC, "age", 'pmethod="exhaustive"', pmethod="exhaustive"),
    _case("titanic", BASIC, "age", 'pmethod="none", nprune=4', pmethod="none", nprune=4),
    _case("iris", "Species|Sepal.Width", "Petal.Length", "degree=2", degree=2),
    _case("warp", "wool|tension", "breaks"),
    _case("insects", "spray", "count"),
    # Several responses
    _case("ozone", OZONE, "O3|wind"),
    _case("ozone", OZONE, "O3|wind", "degree=2", degree=2),
    _case("ozone", OZONE, "O3|wind|vh", "degree=2, nk=31, penalty=1", degree=2, nk=31, penalty=1),
    _case("ozone", OZONE, "O3|wind", "Scale.y=TRUE", scale_y=True),
    _case("ozone", OZONE, "O3|vh", "degree=2, Scale.y=TRUE", degree=2, scale_y=True),
    _case("ozone", OZONE, "O3|vh", "wp=c(1, 4)", response_weight=[1, 4]),
    _case("ozone", OZONE, "O3|wind|vh", "wp=c(10, 3, 0.1), degree=2",
          degree=2, response_weight=[10, 3, 0.1]),
    _case("ozone", OZONE, "O3|wind", "weights=w"),
    _case("ozone", OZONE, "O3|wind", "weights=w, degree=2", degree=2),
    _case("ozone", OZONE, "O3|wind", "weights=w, wp=c(1, 2)", response_weight=[1, 2]),
    _case("ozone", OZONE, "O3|wind|vh", "weights=w, Scale.y=TRUE, degree=2", degree=2, scale_y=True),
    _case("ozone", OZONE, "O3|wind", "subset=subset"),
    _case("ozone", OZONE, "O3|wind", "subset=subset, weights=w, degree=2", degree=2),
    _case("ozone", OZONE, "O3|wind", 'pmethod="none"', pmethod="none"),
    _case("ozone", OZONE, "O3|wind", "nprune=3", nprune=3),
    _case("ozone", OZONE, "O3|wind", "nk=1", nk=1),
    _case("ozone", OZONE, "O3", "wp=3", response_weight=3),
    _case("titanic", BASIC, "age|survived"),
    _case("titanic", BASIC, "age|survived", "degree=2, weights=w", degree=2),
    _case("titanic", "rank|child|parch", "age|survived", "degree=2, wp=c(1, 100)",
          degree=2, response_weight=[1, 100]),
    _case("trees", "Girth|Height", "Volume|log volume", "degree=2", degree=2),
    _case("trees", "Girth", "Volume|Height"),
    _case("iris", "Sepal.Width|Species", "Sepal.Length|Petal.Length|Petal.Width"),
    # Generalised linear models
    _case("titanic", BASIC, "survived", BINOMIAL, glm_family="binomial"),
    _case("titanic", BASIC + "|age", "survived", "degree=2, " + BINOMIAL,
          degree=2, glm_family="binomial"),
    _case("titanic", BASIC, "survived", "glm=list(family=binomial(link=probit))",
          glm_family="binomial", glm_link="probit"),
    _case("titanic", BASIC, "survived", "glm=list(family=binomial(link=cauchit))",
          glm_family="binomial", glm_link="cauchit"),
    _case("titanic", BASIC, "survived", "glm=list(family=binomial(link=cloglog))",
          glm_family="binomial", glm_link="cloglog"),
    _case("titanic", BASIC, "survived", "glm=list(family=quasibinomial)",
          glm_family="quasibinomial"),
    _case("titanic", BASIC, "survived", "glm=list(family=binomial, maxit=100, epsilon=1e-12)",
          glm_family="binomial", glm_maxit=100, glm_epsilon=1e-12),
    _case("titanic", BASIC, "survived", "weights=whole.weights, " + BINOMIAL, glm_family="binomial"),
    _case("titanic", BASIC, "survived", "subset=subset, degree=2, " + BINOMIAL,
          degree=2, glm_family="binomial"),
    _case("titanic", "sibsp|age", "survived|child01", BINOMIAL, glm_family="binomial"),
    _case("titanic", BASIC + "|age", "survived", "degree=2, nprune=4, " + BINOMIAL,
          degree=2, nprune=4, glm_family="binomial"),
    _case("beetles", "dose", "killed|alive", BINOMIAL, glm_family="binomial"),
    _case("beetles", "dose|kind", "killed|alive", "degree=2, glm=list(family=binomial(link=cloglog))",
          degree=2, glm_family="binomial", glm_link="cloglog"),
    _case("warp", "wool|tension", "breaks", POISSON, glm_family="poisson"),
    _case("warp", "wool|tension", "breaks", "degree=2, " + POISSON, degree=2, glm_family="poisson"),
    _case("warp", "wool|tension", "breaks", "glm=list(family=quasipoisson)",
          glm_family="quasipoisson"),
    _case("insects", "spray", "count", POISSON, glm_family="poisson"),
    _case("insects", "spray", "count", "glm=list(family=poisson(link=sqrt))",
          glm_family="poisson", glm_link="sqrt"),
    _case("insects", "spray", "count", "weights=w, " + POISSON, glm_family="poisson"),
    _case("trees", "Girth|Height", "Volume", "glm=list(family=Gamma)", glm_family="gamma"),
    _case("trees", "Girth|Height", "Volume", "degree=2, glm=list(family=Gamma(link=log))",
          degree=2, glm_family="gamma", glm_link="log"),
    _case("trees", "Girth|Height", "Volume", "weights=w, glm=list(family=Gamma(link=log))",
          glm_family="gamma", glm_link="log"),
    _case("trees", "Girth|Height", "Volume", "glm=list(family=inverse.gaussian)",
          glm_family="inverse_gaussian"),
    _case("trees", "Girth|Height", "Volume", "glm=list(family=gaussian)", glm_family="gaussian"),
    _case("ozone", OZONE, "O3|wind", "degree=2, glm=list(family=gaussian)",
          degree=2, glm_family="gaussian"),
    _case("ozone", OZONE, "O3|vh", "weights=w, " + POISSON, glm_family="poisson"),
]  # fmt: skip

# Strings sort by code points here, as R has it in the C locale.
R_DATA = """
invisible(Sys.setlocale("LC_COLLATE", "C"))
titanic <- etitanic[seq(1, nrow(etitanic), 2), ]
titanic$child <- titanic$age < 16
titanic$child01 <- as.double(titanic$child)
titanic$xfactor <- titanic$pclass
titanic$rank <- factor(titanic$pclass, c("3rd", "2nd", "1st"), ordered = TRUE)
titanic$rank5 <- factor(c("e", "b", "a", "d", "c")[1 + (titanic$sibsp + 2 * titanic$parch) %% 5],
                        ordered = TRUE)
titanic$text <- c("zebra", "apple", "Mango")[as.integer(titanic$pclass)]
titanic$num <- factor(c(10, 2, 1.5)[as.integer(titanic$pclass)])
titanic$whole <- factor(c(10, 2, 1)[as.integer(titanic$pclass)], c(2, 10, 1))
titanic$unused <- factor(titanic$pclass, c("none", "1st", "nobody", "2nd", "3rd"))
titanic[["a b"]] <- titanic[["if"]] <- titanic[["_under"]] <- titanic$sex
titanic[["a`b"]] <- titanic[[".2x"]] <- titanic[[".y"]] <- titanic$pclass
titanic[["h\\u00f6he"]] <- as.double(titanic$sibsp)
titanic$odd <- factor(c("a b", "h(x-1)", 'say "no"\\\\')[as.integer(titanic$pclass)])
for (name in c("age", "sibsp", "parch", "survived")) titanic[[name]] <- as.double(titanic[[name]])
ozone <- ozone1
trees <- transform(trees, `log volume` = log(Volume), check.names = FALSE)
beetles <- data.frame(dose = c(1.69, 1.72, 1.76, 1.78, 1.81, 1.84, 1.86, 1.88, 1.70, 1.74, 1.79, 1.85),
  kind = factor(rep(c("red", "blue"), c(8, 4))), killed = c(6, 13, 18, 28, 52, 53, 61, 60, 7, 15, 30, 50),
  alive = c(53, 47, 44, 28, 11, 6, 1, 0, 50, 44, 25, 8))
frames <- list(titanic = titanic, ozone = ozone, trees = trees, iris = iris, warp = warpbreaks,
               insects = InsectSprays, beetles = beetles)
frames <- lapply(frames, function(d) { rownames(d) <- NULL; d })
set.seed(20)
weights.all <- runif(2000, 0.5, 2)
whole.all <- sample(1:4, 2000, replace = TRUE)
# Rows in another order, numbers moved a little, so that knots are crossed.
moved <- function(d) {
  new <- d[rev(seq_len(nrow(d))), , drop = FALSE]
  for (name in names(new)) if (is.double(new[[name]])) new[[name]] <- new[[name]] * 1.01 + 0.1
  rownames(new) <- NULL
  new
}
news <- lapply(frames, moved)
send <- function(kind, frames) for (set in names(frames)) {
  out[[paste(kind, set, "columns", sep = "|")]] <<- names(frames[[set]])
  for (j in seq_along(frames[[set]])) {
    column <- frames[[set]][[j]]
    put <- function(what, value) out[[paste(kind, set, what, j, sep = "|")]] <<- value
    put("values", if (is.factor(column) || is.character(column)) as.character(column)
                  else as.double(column))
    put("class", class(column))
    put("levels", c("", levels(column)))
  }
}
out <- list(weights.all = weights.all, whole.all = whole.all)
send("frame", frames)
send("new", news)
"""
# What begins a loop over cases; data, xs, ys and args have an entry for each, columns with | between them.
R_CASES = """
split.names <- function(text) strsplit(text, "|", fixed = TRUE)[[1]]
for (i in seq_along(args)) tryCatch({
  d <- frames[[data[i]]]
  x <- d[, split.names(xs[i]), drop = FALSE]
  y <- as.matrix(d[, split.names(ys[i]), drop = FALSE])
"""

R_RUN = """
for (i in seq_along(calls)) tryCatch({
  d <- frames[[data[i]]]
  x <- d[, strsplit(xs[i], "|", fixed = TRUE)[[1]], drop = FALSE]
  y <- as.matrix(d[, strsplit(ys[i], "|", fixed = TRUE)[[1]], drop = FALSE])
  w <- weights.all[seq_len(nrow(d))]
  whole.weights <- whole.all[seq_len(nrow(d))]
  subset <- seq_len(nrow(d)) %% 3 != 1
  fit <- suppressWarnings(eval(parse(text = calls[i])))
  new <- news[[data[i]]][, names(x), drop = FALSE]
  found <- c(
    fit[c("dirs", "cuts", "selected.terms", "coefficients", "rss", "rsq", "gcv", "grsq",
          "rss.per.response", "rsq.per.response", "gcv.per.response", "grsq.per.response",
          "rss.per.subset", "gcv.per.subset", "fitted.values", "residuals", "leverages", "nk",
          "penalty", "termcond")],
    list(prune.terms = as.matrix(fit$prune.terms), terms = rownames(fit$dirs),
         features = colnames(fit$dirs), responses = colnames(fit$coefficients)))
  for (type in c("response", "link", "earth"))
    found[[paste0("predict.", type)]] <- unname(as.matrix(suppressWarnings(
      predict(fit, new, type = type))))
  importance <- evimp(fit)
  found$importance <- unname(matrix(importance[, c(3, 4, 6)], ncol = 3))
  found$important <- c("", sub("-unused$", "", rownames(importance)))
  if (!is.null(fit$glm.list)) {
    each <- function(f) vapply(fit$glm.list, function(g) as.double(f(g)), 0)
    found <- c(found, list(glm.coef = fit$glm.coefficients,
      glm.deviance = each(function(g) g$deviance), glm.null_deviance = each(function(g) g$null.deviance),
      glm.df = each(function(g) g$df.residual), glm.null_df = each(function(g) g$df.null),
      glm.aic = each(function(g) g$aic), glm.iterations = each(function(g) g$iter),
      glm.converged = each(function(g) g$converged)))
  }
  for (name in names(found)) out[[paste("case", i, name, sep = "|")]] <- found[[name]]
}, error = refused)
"""


@functools.cache
def r_found() -> tuple[dict[str, dict[str, pd.DataFrame]], dict[Case, dict], dict]:
    """Frames by kind ("frame", "new") and name, R's results by case, and the weights."""
    found = run_r(
        R_DATA + R_RUN,
        packages=("earth",),
        calls=[case.r_call for case in CASES],
        data=[case.data for case in CASES],
        xs=["|".join(case.x) for case in CASES],
        ys=["|".join(case.y) for case in CASES],
    )
    results: dict[Case, dict] = {case: {} for case in CASES}
    for key, value in found.items():
        if key.startswith("case|"):
            _, number, name = key.split("|")
            results[CASES[int(number) - 1]][name] = value
    return read_frames(found), results, {name: found[name] for name in ("weights.all", "whole.all")}


def read_frames(found) -> dict[str, dict[str, pd.DataFrame]]:
    """What `send` in R_DATA wrote."""
    frames: dict[str, dict[str, pd.DataFrame]] = {}
    for key in found:
        if key.endswith("|columns"):
            kind, name, _ = key.split("|")
            frames.setdefault(kind, {})[name] = _frame(found, kind, name)
    return frames


def _frame(found, kind, name) -> pd.DataFrame:
    columns = {}
    for j, column in enumerate(found[f"{kind}|{name}|columns"], 1):
        values, classes, levels = (
            found[f"{kind}|{name}|{what}|{j}"] for what in ("values", "class", "levels")
        )
        columns[column] = _column(column, values, classes, levels[1:])
    return pd.DataFrame(columns)


def _column(name, values, classes, levels):
    if "factor" in classes:
        if name in ("num", "whole"):  # categories that are no strings
            kind = {"num": float, "whole": int}[name]
            values, levels = [kind(v) for v in values], [kind(v) for v in levels]
        return pd.Categorical(values, levels, ordered="ordered" in classes)
    return values.astype(bool) if classes == ["logical"] else values


def fit_case(case: Case, engine: str) -> Earth:
    """Our fit of a case."""
    frames, _, weights = r_found()
    frame = frames["frame"][case.data]
    sent = {}
    if "whole.weights" in case.r:
        sent["sample_weight"] = weights["whole.all"][: len(frame)]
    elif "w" in case.sent:
        sent["sample_weight"] = weights["weights.all"][: len(frame)]
    if "subset" in case.sent:
        sent["subset"] = np.arange(len(frame)) % 3 != 0
    y = frame[case.y[0]] if len(case.y) == 1 else frame[list(case.y)]
    return Earth(engine=engine, **case.py).fit(frame[list(case.x)], y, **sent)


def new_rows(case: Case) -> pd.DataFrame:
    """Rows to predict at."""
    return r_found()[0]["new"][case.data][list(case.x)]
