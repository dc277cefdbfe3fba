"""Formulas: our design matrix and predictions beside those of plain R, without R in the loop at predict."""

import json
import random
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyearthdof import Earth
from pyearthdof.exceptions import InvalidInputError, PyEarthDofError
from pyearthdof.mars.engines.r.engine import moves_knots
from pyearthdof.mars.formula.functions import FUNCTIONS, SUMMARIES
from pyearthdof.mars.formula.learning import (
    frame_of_formula,
    learn_formula,
)
from pyearthdof.mars.formula.model_matrix import Formula
from pyearthdof.mars.formula.syntax import (
    label_of,
    parsed_formula,
    r_text,
)
from pyearthdof.mars.model.mars_model import MarsModel
from tests.support.rscript import needs_rscript, run_r
from tests.support.versions import assert_bits
from tests.support.without_r import run_without_r

# Data set and formula. Odd rows train, even rows are predicted: some lie outside of what was seen.
CASES = [
    ("ozone1", "O3 ~ ."),
    ("ozone1", "log(O3) ~ . - doy"),
    ("ozone1", "O3 ~ temp + humidity + log(vis + 1)"),
    ("ozone1", "sqrt(O3) ~ temp * humidity + ibh"),
    ("ozone1", "O3 ~ (temp + humidity + wind)^2"),
    ("ozone1", "O3 ~ (temp + humidity + wind + vis)^3 - temp:humidity"),
    ("ozone1", "O3 ~ poly(temp, 3) + humidity"),
    ("ozone1", "O3 ~ poly(temp, degree = 2, raw = TRUE) + poly(vis, 4)"),
    ("ozone1", "O3 ~ poly(temp, humidity, degree = 3)"),
    ("ozone1", "O3 ~ poly(temp, humidity, wind, degree = 2, raw = TRUE)"),
    ("ozone1", "O3 ~ bs(temp) + humidity"),
    ("ozone1", "O3 ~ bs(temp, df = 6) + bs(log(vis + 1), knots = c(3, 4, 5), degree = 2)"),
    ("ozone1", "O3 ~ bs(temp, knots = c(75, 50), intercept = TRUE, Boundary.knots = c(30, 90))"),
    ("ozone1", "O3 ~ bs(humidity, degree = 1, df = 4):wind"),
    ("ozone1", "O3 ~ ns(temp, df = 4) + ns(doy, 3)"),
    ("ozone1", "O3 ~ ns(temp, knots = 60, intercept = TRUE, Boundary.knots = c(40, 80))"),
    ("ozone1", "O3 ~ ns(temp) * wind"),
    ("etitanic", "age ~ ns(sibsp, 3) + bs(parch, df = 5) + ns(parch, 3, intercept = TRUE)"),
    ("etitanic", "age ~ ns(sibsp, 3) + bs(parch, df = 5) + ns(parch, 6, intercept = TRUE)"),
    ("etitanic", "age ~ ns(-parch, 3) + sex"),  # refused by R
    ("etitanic", "age ~ bs(-parch, df = 6) + bs(-sibsp, df = 6, degree = 2)"),
    ("ozone1", "O3 ~ bs(log(temp - 20), 4) + ns(sqrt(temp - 20), 2):log(temp - 20)"),
    ("ozone1", "O3 ~ I(temp^2) + I(-humidity / (wind + 1)) + I(temp * 2 - 1)"),
    ("ozone1", "O3 ~ log(temp, 3) + log(base = 2, temp) + log10(temp) + log2(temp) + log1p(wind)"),
    ("ozone1", "O3 ~ exp(-temp / 50) + sqrt(abs(dpg)) + I(temp^-0.5) + temp:I(wind - 5)"),
    ("ozone1", "O3 ~ temp / humidity + offset(wind)"),
    ("ozone1", "O3 ~ temp + offset(log(temp)) - 1"),
    ("ozone1", "cbind(O3, wind) ~ temp + cbind(humidity, ibh / 2)"),
    ("ozone1", "O3 + wind ~ temp * humidity + ibh"),
    ("ozone1", "log(O3) ~ cbind(a = temp, wind, 1):humidity"),
    ("etitanic", "survived ~ ."),
    ("etitanic", "survived ~ pclass * sex + age"),
    ("etitanic", "age ~ pclass:sex + parch"),
    ("etitanic", "age ~ pclass:sex:survived + poly(sibsp, 2):pclass"),
    ("etitanic", "age ~ (pclass + sex + sibsp)^3"),
    ("etitanic", "age ~ sex %in% pclass"),
    ("etitanic", "age ~ pclass / sex - 1"),
    ("etitanic", "age ~ sex:sibsp + pclass - 1"),
    ("etitanic", "survived ~ child * sex + I(child) + bs(age, df = 4):child"),
    ("etitanic", "pclass ~ sex + age"),
    ("trees", "Volume ~ log(Girth) + Height"),
    ("trees", "log(Volume) ~ poly(Height, 2) * ns(Girth, 2)"),
    ("odd", "`a b` ~ log + c"),
    ("odd", "log(`a b`) ~ log(log) + poly(c, 2) + c"),
    ("odd", "log ~ `a b` * c + I(`a b` / log(`a b`))"),
    ("odd", "c ~ ."),
    ("warpbreaks", "breaks ~ ."),
    ("warpbreaks", "breaks ~ wool * tension"),
    ("warpbreaks", "breaks ~ wool:tension - 1"),
    ("ordered", "breaks ~ wool * tension"),
    ("ordered", "breaks ~ wool:tension + offset(breaks)"),
    ("ordered", "breaks ~ tension - 1"),
    # functions
    ("ozone1", "O3 ~ sin(doy / 58) + cos(doy / 58) + tan(wind / 20)"),
    ("ozone1", "O3 ~ pmin(temp, 60) + pmax(humidity, wind, 30) + pmax(-dpg, 0)"),
    ("ozone1", "O3 ~ ifelse(temp > 60, temp, 0) + ifelse(no = 1, wind < 5, yes = humidity)"),
    ("ozone1", "O3 ~ ifelse(temp > 60, TRUE, FALSE) + wind"),
    ("ozone1", "O3 ~ (temp > 60) + wind"),
    ("ozone1", "O3 ~ temp > 60"),
    ("ozone1", "O3 ~ (temp > 60):humidity + I(wind <= 5) * vis"),
    ("ozone1", "O3 ~ (temp > 60 & wind < 5) + (temp == 60 | humidity != 20) + !(vis >= 100)"),
    ("ozone1", "O3 ~ I(temp > 60) + (wind > 3) - 1"),
    ("ozone1", "O3 > 10 ~ temp + wind"),
    ("ozone1", "O3 ~ cut(temp, c(0, 50, 70, 100)) + wind"),
    ("ozone1", "O3 ~ cut(temp, breaks = c(-Inf, 50, 70, Inf), labels = c('cold', 'mild', 'hot')) * wind"),
    ("ozone1", "O3 ~ cut(temp, c(20, 50, 70, 100), right = FALSE, include = TRUE, ordered_result = TRUE)"),
    ("ozone1", "O3 ~ cut(temp, c(0, 50, 70, 100), labels = FALSE) + as.numeric(cut(wind, c(-1, 4, 30)))"),
    ("ozone1", "O3 ~ factor(cut(temp, c(0, 50, 70, 100), labels = FALSE)):wind + wind"),
    ("ozone1", "O3 ~ factor(temp > 60, levels = c(TRUE, FALSE), labels = c('hot', 'cold')) + wind"),
    ("ozone1", "O3 | wind ~ temp"), ("ozone1", "O3 + wind ~ temp | vis"),
    ("ozone1", "O3 + wind ~ vis + (temp > 60 | vis > 100)"), ("ozone1", "log(O3) ~ temp > 60 | vis > 100"),
    ("ozone1", "O3 ~ scale(temp) + scale(wind, center = FALSE) + scale(vis, scale = FALSE)"),
    ("ozone1", "O3 ~ scale(cbind(temp, log(vis + 1), w = wind)) + scale(ibh, 100, 10)"),
    ("ozone1", "O3 ~ scale(cbind(temp + 1, wind * 2)):humidity"),
    ("ozone1", "scale(O3) ~ temp + as.integer(wind / 3) + as.numeric(vis)"),
    ("ozone1", "ifelse(O3 > 20, 20, O3) ~ temp"),
    # the response among the predictors
    ("ozone1", "O3 ~ O3 + temp"),
    ("ozone1", "log(O3) ~ log(O3) + temp + O3"),
    ("ozone1", "O3 ~ O3 * temp"),
    ("ozone1", "O3 ~ O3:temp + wind"),
    ("ozone1", "cbind(O3, wind) ~ cbind(O3, wind) + temp"),
    ("etitanic", "pclass ~ pclass:age + sex"),
    # algebra
    ("ozone1", "O3 ~ temp + wind - wind"),
    ("ozone1", "O3 ~ temp + wind + 0"),
    ("ozone1", "O3 ~ -1 + temp:wind + 1"),
    ("ozone1", "O3 ~ . - doy - vis:ibt - 1"),
    ("ozone1", "O3 ~ (. - doy - vis - ibt - ibh)^2"),
    ("ozone1", "O3 ~ temp / (wind + humidity)"),
    ("ozone1", "O3 ~ (temp + wind) / humidity"),
    ("ozone1", "O3 ~ (temp + wind) %in% humidity"),
    ("ozone1", "O3 ~ temp * wind - temp"),
    ("ozone1", "O3 ~ ((temp + wind)^2 + humidity)^2 - temp:wind:humidity"),
    ("ozone1", "O3 ~ wind:temp + temp + temp:wind"),
    ("ozone1", "O3 ~ +temp + +wind"),
    ("ozone1", "O3 ~ temp + temp:temp + temp^3"),
    ("ozone1", "O3 ~ 0 / temp + wind"),
    ("ozone1", "O3 ~ 1 * temp"),
    ("ozone1", "O3 ~ (temp - temp) / wind + vis:1 + humidity"),
    ("ozone1", "O3 ~ temp * offset(wind) + wind %in% 1"),
    ("etitanic", "age ~ sex * pclass * sibsp - sex:pclass"),
    ("etitanic", "age ~ pclass + pclass:sex"),
    ("etitanic", "age ~ pclass + sex:pclass - 1"),
    ("etitanic", "age ~ sex:pclass:sibsp - 1"),
    ("etitanic", "age ~ sibsp + sex + pclass - 1"),
    ("etitanic", "age ~ child:sex + child - 1"),
    ("etitanic", "age ~ sibsp:pclass + parch:sex + pclass"),
    ("etitanic", "age ~ pclass / sex / sibsp"),
    ("ordered", "breaks ~ tension:wool"),
    ("ordered", "breaks ~ wool / tension"),
    ("ordered", "breaks ~ wool:tension + tension - 1"),
    # factors inside of functions
    ("etitanic", "age ~ (sex == 'male') * sibsp"),
    ("etitanic", "age ~ (pclass != '1st'):parch + as.numeric(pclass) + as.integer(sex)"),
    ("etitanic", "age ~ ifelse(sex == 'male' & pclass == '3rd', sibsp, parch)"),
    ("etitanic", "age ~ factor(sibsp > 0) + factor(pclass, levels = c('3rd', '2nd', '1st'))"),
    ("etitanic", "age ~ factor(survived, labels = c('no', 'yes')) * factor(sex == 'male', ordered = TRUE)"),
    ("ordered", "breaks ~ (tension > 'L') + (tension <= 'M'):wool"),
    # responses
    ("etitanic", "sex ~ age + pclass"),
    ("etitanic", "child ~ pclass + sex"),
    ("etitanic", "pclass + age ~ sex + sibsp"),
    ("etitanic", "sex + age ~ sibsp"),
    ("etitanic", "factor(survived) ~ sex"),
    ("etitanic", "cut(age, c(0, 18, 40, 99)) ~ sex + pclass"),
    ("ordered", "tension ~ breaks"),
    ("ozone1", "cbind(log(O3), wind) ~ temp"),
    ("ozone1", "cbind(log(O3), log(wind + 1)) ~ temp"),
    ("ozone1", "cbind(a = log(O3), log(wind + 1)) ~ temp"),
    ("ozone1", "cbind(O3) ~ temp"),
    ("ozone1", "cbind(a = log(O3)) ~ temp"),
    ("ozone1", "cbind(aaaaaaaaaa = log(O3 + wind * humidity)) ~ temp"),
    ("ozone1", "I(log(O3) + log(wind + 1) + log(humidity) + 1) ~ temp"),
    ("ozone1", "(O3 + wind) ~ temp"),
    ("ozone1", "O3 - wind ~ temp"),
    ("ozone1", "-O3 ~ temp"),
    # numbers and texts
    ("ozone1", "O3 ~ I(temp * 1e5) + I(temp + 100000L) + I(temp / 0.0001) + I(temp - 0x10)"),
    ("ozone1", "O3 ~ I(temp ** 2) + I(-temp^2) + I((-temp)^2) + I(2^-wind) + I(-(-temp))"),
    ("ozone1", "O3 ~ I(temp + wind * humidity - vis / 2) + I(temp == 1 + 59)"),
    ("ozone1", "O3 ~ `+`(temp, wind) + I(`*`(temp + 1, wind)) + I(`-`(temp, wind - vis))"),
    ("ozone1", "O3 ~ poly(x = temp, degree = 2) + bs(df = 5, x = wind) + ns(wind, df = 2, int = TRUE)"),
    ("ozone1", "O3 ~ poly(temp, 2):poly(wind, 2) + poly(temp, humidity) + poly(log(vis + 1), 3)"),
    ("ozone1", "O3 ~ bs(temp, 2) + ns(wind, df = 1)"),
    ("ozone1", "O3 ~ bs(temp, 2) + ns(temp, df = 1, intercept = TRUE)"),  # equal up to rounding
    ("ozone1", "O3 ~ bs(temp, knots = c(50, 60) + 5 * 2, degree = 1 ) + bs(wind, knots = NULL)"),
    ("odd", "c ~ `a b`:log + poly(`a b`, 2) + (`a b` > 20)"),
    ("trees", "Volume ~ Girth + offset(Height) + offset(Height)"),
    # cut with infinite breaks, and other arguments of it
    ("ozone1", "O3 ~ cut(temp, c(-Inf, 50, 70, Inf)) + wind"),
    ("ozone1",
     "O3 ~ cut(temp, c(-Inf, 50, 99)) + cut(wind, c(0, 4, Inf), right = FALSE, include.lowest = T)"),
    ("ozone1",
     "O3 ~ cut(temp, c(-Inf, 50, Inf), right = FALSE):wind + cut(vis, c(-1, 98.76, 9999), dig.lab = 5)"),
    ("ozone1", "cut(O3, c(-Inf, 5, 15, Inf)) ~ temp"),
    # rounding and remainders
    ("ozone1", "O3 ~ round(temp / 7) + round(vis / 7, 1) + round(digits = -2, vis)"),
    ("ozone1",
     "O3 ~ floor(temp / 10) + ceiling(wind / 3) + trunc(dpg / 9) + sign(dpg) + as.integer(dpg / 90)"),
    ("ozone1", "O3 ~ temp %% 7 + wind %/% 3 + I(dpg %% -4.5):wind + (doy %% 2 == 0)"),
    ("ozone1", "O3 %/% 3 ~ sin(2 * pi * doy / 365) + cos(2 * pi * doy / 365)"),
    # summaries: those of the new rows
    ("ozone1", "O3 ~ I((temp - mean(temp)) / sd(temp)) + ifelse(wind > median(wind), vis, 0)"),
    ("ozone1", "O3 ~ I(vis / max(vis, ibh)) + I(temp / var(wind)) + I(dpg - min(dpg)) + I(wind / sum(wind))"),
    ("ozone1", "O3 ~ pmin(temp, quantile(temp, 0.9)) + (humidity > quantile(humidity, 1 / 3))"),
    ("ozone1", "O3 ~ poly(temp - mean(temp), 2) + scale(wind, center = mean(wind), scale = sd(wind))"),
    ("ozone1", "O3 ~ mean(temp) + wind"),  # refused by R
    ("ozone1", "O3 ~ ifelse(mean(temp) > 3, temp, wind)"),  # refused by R
    # factors
    ("ozone1",
     "O3 ~ as.factor(temp > 60) + as.ordered(doy %% 3) + ordered(doy %% 4, labels = c('a', 'b', 'c', 'd'))"),
    ("ozone1", "O3 ~ factor(wind, levels = 0:30) + factor(temp %/% 10, levels = rev(seq(2, 9)))"),
    ("ozone1", "O3 ~ factor(doy %% 3, labels = rep('q', 1)) + factor(doy %% 4, levels = c(3:1, 0)):wind"),
    ("ozone1", "O3 ~ as.factor(wind)"),
    ("etitanic", "age ~ relevel(pclass, ref = '3rd') + relevel(sex, 2) + relevel(factor(sibsp > 0), 'TRUE')"),
    ("etitanic", "age ~ interaction(pclass, sex) + parch"),
    ("etitanic", "age ~ interaction(pclass, sex, child, lex.order = TRUE, sep = ' x '):sibsp + parch"),
    ("etitanic", "age ~ interaction(pclass, sibsp, drop = TRUE)"),
    ("etitanic", "age ~ interaction(sex, child, pclass, drop = TRUE, lex.order = TRUE) + as.factor(pclass)"),
    ("etitanic", "age ~ I(pclass %in% c('1st', 'nth')) * sibsp + ifelse(sibsp %in% c(0, 2:3), parch, 0)"),
    ("etitanic", "age ~ is.na(sibsp) + is.na(sex) + ordered(pclass, levels = c('3rd', '1st', '2nd'))"),
    ("etitanic", "relevel(pclass, '2nd') ~ sex + age"),
    ("etitanic", "interaction(sex, child) ~ pclass"),
    ("ordered", "breaks ~ as.factor(tension) + as.ordered(wool)"),
    ("ordered", "breaks ~ relevel(tension, 'M')"),  # refused by R
    # levels that no row has, and responses of integers
    ("etitanic", "age ~ ordered(pclass, levels = c('4th', '3rd', '2nd', '1st')) + parch"),
    ("etitanic", "age ~ factor(sex, levels = c('male', 'x', 'female')):parch"),
    ("ozone1", "as.integer(O3 / 2) ~ temp"),
    ("ozone1", "-(O3 > 10) ~ temp"),
    ("ozone1", "ifelse(O3 > 10, 2L, 1L) ~ temp"),
    ("ozone1", "cut(O3, 5, labels = FALSE) ~ temp + wind"),
    ("ozone1", "abs(O3 > 10) ~ temp"),
    ("ozone1", "pmax(as.integer(O3), 3L) ~ temp"),
    ("ozone1", "pmax(as.integer(O3), 3) ~ temp"),
    ("ozone1", "cbind(as.integer(O3), wind > 3) ~ temp"),
    ("ozone1", "O3 * 2L ~ temp"),
    # calls as arguments
    ("ozone1",
     "O3 ~ cut(temp, 10 * (0:10)) + cut(wind, seq(-1, 29, by = 6)) + cut(vis, seq(-1, 999, length.out = 5))"),
    ("ozone1", "O3 ~ cut(temp, quantile(temp, 0:4 / 4), include.lowest = TRUE) + wind"),
    ("ozone1", "O3 ~ bs(temp, knots = quantile(temp, c(0.25, 0.5, 0.75))) + ns(wind, knots = median(wind))"),
    ("ozone1",
     "O3 ~ ns(temp, df = 3, Boundary.knots = quantile(temp, c(0.1, 0.9))) + bs(vis, Bound = range(vis))"),
    ("ozone1", "O3 ~ bs(temp, knots = seq(40, 80, 20), degree = 2) + ns(wind, knots = rev(c(3, sqrt(36))))"),
    ("ozone1", "O3 ~ poly(temp, 2, raw = T) + bs(wind, intercept = F) + log(vis + 1, base = exp(1) / 2)"),
    # knots outside of the boundary, and a boundary inside of the data
    ("ozone1",
     "O3 ~ bs(temp, knots = c(30, 60), Boundary.knots = c(40, 80)) + ns(wind, knots = 2:3, Bound = c(4, 9))"),
    ("ozone1",
     "O3 ~ bs(temp, df = 5, Boundary.knots = c(50, 60)) + bs(wind, degree = 1, knots = 9, Bound = c(1, 5))"),
    ("ozone1",
     "O3 ~ bs(temp, df = 5, Boundary.knots = c(-99, 200)) + ns(wind, df = 3, Boundary.knots = c(-5, 50))"),
    # texts, dropped levels, numbers of intervals
    ("etitanic",
     "age ~ as.character(pclass):sibsp + as.character(survived) + I(as.character(sex) == 'male')"),
    ("etitanic", "age ~ letters[pclass] * sex + month.abb[survived + 4.9] + I(sex == letters[3])"),
    ("etitanic", "age ~ as.factor(as.character(parch > 0)) + interaction(as.character(sex), LETTERS[sex])"),
    ("etitanic",
     "age ~ factor(as.character(pclass), levels = c('3rd', '2nd', '1st'), labels = letters[1:3])"),
    ("etitanic", "age ~ as.numeric(as.character(factor(survived))) + I(pclass %in% month.name[2]) + parch"),
    ("etitanic",
     "age ~ droplevels(pclass) * base::droplevels(factor(sex, levels = c('x', 'male', 'female')))"),
    ("etitanic", "relevel(droplevels(pclass), '2nd') ~ sex + age"),
    ("ordered", "breaks ~ droplevels(tension) + wool"),
    ("ordered", "breaks ~ relevel(as.character(wool), 'B')"),  # refused by R
    ("ozone1", "O3 ~ findInterval(temp, c(40, 60, 60, 80)) + findInterval(wind, 5, left.open = TRUE):vis"),
    ("ozone1",
     "O3 ~ findInterval(temp, c(40, 60, 84), rightmost = TRUE, all = TRUE) + factor(findInterval(vis, 90))"),
    ("ozone1", "O3 ~ findInterval(temp, vec = c(40, 84), left.open = TRUE, rightmost.closed = TRUE) + wind"),
    ("ozone1", "findInterval(O3, c(5, 10, 20)) ~ temp + wind"),
    # factors in cbind are their codes
    ("etitanic", "cbind(age, pclass) ~ sex + sibsp"),
    ("etitanic", "cbind(pclass, s = sex) ~ age"),
    ("etitanic", "cbind(age, factor(sibsp > 0), age > 30) ~ sex + pclass"),
    ("etitanic", "age ~ cbind(pclass, sibsp):sex + scale(cbind(parch, sex), center = FALSE)"),
    # with the package
    ("ozone1",
     "O3 ~ splines::bs(temp, 4) + splines::ns(wind, df = 2) + stats::poly(vis, 2) + base::log(ibh)"),
    ("ozone1",
     "base::log(O3) ~ base::cut(temp, c(0, 50, stats::median(temp), 99), labels = FALSE) + base::I(wind^2)"),
    ("etitanic", "age ~ base::interaction(sex, child) + stats::relevel(pclass, ref = '2nd'):sibsp"),
]  # fmt: skip

SETS = """
data(ozone1); data(etitanic)
etitanic$child <- etitanic$age < 18
odd <- setNames(trees, c("log", "c", "a b"))
ordered <- transform(warpbreaks, tension = factor(tension, ordered = TRUE))
frames <- list(ozone1 = ozone1, etitanic = etitanic, trees = trees, odd = odd, warpbreaks = warpbreaks,
               ordered = ordered)
out <- list()
for (set in names(frames)) {
  out[[paste0("columns.", set)]] <- names(frames[[set]])
  for (j in seq_along(frames[[set]])) {
    column <- frames[[set]][[j]]
    out[[paste("values", set, j, sep = ".")]] <- if (is.factor(column)) as.character(column)
                                                 else as.double(column)
    out[[paste("class", set, j, sep = ".")]] <- class(column)
    out[[paste("levels", set, j, sep = ".")]] <- c("", levels(column))
  }
}
"""

# What R refuses, it refuses for that case alone: versions of R differ in what they refuse.
FITS = """
suppressMessages(library(splines))
keep <- function(part, i, value) out[[paste0(part, i)]] <<- value
for (i in seq_along(formulas)) tryCatch({
  frame <- frames[[sets[i]]]
  even <- seq_len(nrow(frame)) %% 2 == 0
  train <- frame[!even, , drop = FALSE]; new <- frame[even, , drop = FALSE]
  rownames(train) <- rownames(new) <- NULL
  # The strings of a formula could stand for other things in this script.
  formula <- eval(parse(text = formulas[i])[[1]], new.env(parent = globalenv()))
  fit <- suppressWarnings(earth(formula, data = train, keepxy = 2))
  keep("columns", i, colnames(fit$dirs))
  keep("responses", i, colnames(fit$coefficients))
  keep("terms", i, rownames(fit$coefficients))
  keep("coef", i, unname(fit$coefficients))
  keep("gcv", i, fit$gcv)
  keep("fitted", i, unname(fit$fitted.values))
  x <- suppressWarnings(earth:::get.earth.x(fit, new, globalenv(), 0, "test"))
  p <- suppressWarnings(predict(fit, new))
  keep("x", i, matrix(as.double(x), nrow(x)))
  keep("names", i, colnames(x))
  keep("p", i, matrix(as.double(p), nrow(p)))
}, error = function(e) keep("refusal", i, conditionMessage(e)))
"""

# R fits these, but fails at new rows: a response that it dropped, arguments by place where it puts in
# arguments by name, and texts or quoted names in what earth takes apart as text.
ONLY_FITTED = (
    "O3 ~ O3", "log(O3) ~ log(O3)", "cbind(O3, wind) ~ cbind", "pclass ~ pclass", "scale(ibh, 100, 10)",
    "tension > 'L'", "bs(df = 5, x", "`a b` > 20",
    # breaks of the new rows, which give other levels or, without names, other numbers
    "cut(temp, quantile", "stats::median(temp), 99)",
    # a level that no training row has
    "as.factor(wind)", "drop = TRUE)",
)  # fmt: skip


@pytest.fixture(scope="module")
def plain_r():
    """Data sets as pandas frames, and what plain R computes for every case."""
    out = run_r(
        SETS + FITS,
        packages=("earth",),
        formulas=[formula for _, formula in CASES],
        sets=[name for name, _ in CASES],
    )
    names = {name for name, _ in CASES}
    return {name: _frame(out, name) for name in names}, out


def _frame(out, name) -> pd.DataFrame:
    columns = {}
    for j, column in enumerate(out[f"columns.{name}"], 1):
        values, kinds = out[f"values.{name}.{j}"], out[f"class.{name}.{j}"]
        if "factor" in kinds:
            levels = out[f"levels.{name}.{j}"][1:]
            values = pd.Categorical(values, levels, ordered="ordered" in kinds)
        elif kinds == ["logical"]:
            values = values.astype(bool)
        columns[column] = values
    return pd.DataFrame(columns)


def _split(frame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return frame.iloc[::2].reset_index(drop=True), frame.iloc[1::2].reset_index(drop=True)


@needs_rscript
@pytest.mark.needs_r
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
@pytest.mark.parametrize("engine", ["r", "native"])
@pytest.mark.parametrize("case", range(len(CASES)), ids=[f"{s}: {f}" for s, f in CASES])
def test_design_and_predictions_are_plain_rs(plain_r, case, engine):
    frames, out = plain_r
    name, text = CASES[case]
    train, new = _split(frames[name])
    refusal, number = out.get(f"refusal{case + 1}"), case + 1
    if f"coef{number}" not in out:
        with pytest.raises(PyEarthDofError):
            Earth.from_formula(text, train, engine=engine)
        return
    model = Earth.from_formula(text, train, engine=engine)
    assert model.engine_ == engine
    assert list(model.model_.feature_names) == out[f"columns{number}"]
    assert list(model.response_names_) == out[f"responses{number}"]
    assert list(model.terms_) == out[f"terms{number}"]
    _close(model.gcv_, out[f"gcv{number}"][0])
    _close(model.fitted_values_, out[f"fitted{number}"])
    _close(model.term_coef_, out[f"coef{number}"], 1e-8)
    assert model.model_.formula.n_columns == len(model.model_.feature_names)
    again = MarsModel.from_json(model.model_.to_json())
    assert again == model.model_
    if refusal is not None:
        assert any(start in text for start in ONLY_FITTED), refusal
    elif not any(start in text for start in ONLY_FITTED):
        assert list(model.model_.feature_names) == out[f"names{number}"]
        _close(model.model_.formula.design(new), out[f"x{number}"])
        _close(model.predict(new), out[f"p{number}"])
        _close(again.predict(new), out[f"p{number}"])


def _close(found, expected, tolerance=1e-10):
    expected = np.asarray(expected)
    found = np.reshape(found, expected.shape)
    scale = np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


OPTIONS = """
train <- etitanic[seq(1, nrow(etitanic), 2), ]; new <- etitanic[seq(2, nrow(etitanic), 2), ]
rownames(train) <- rownames(new) <- NULL
weights <- 1 + (seq_len(nrow(train)) %% 3)
keep <- function(name, fit, ...) tryCatch({
  p <- predict(fit, new, ...)
  out[[paste0("coef.", name)]] <<- unname(as.matrix(fit$coefficients))
  out[[paste0("p.", name)]] <<- matrix(as.double(p), nrow(p))
}, error = function(e) out[[paste0("refusal.", name)]] <<- conditionMessage(e))
keep("weights", earth(age ~ pclass * sex + sibsp, data = train, weights = weights))
keep("subset", earth(age ~ poly(sibsp, 2) + sex, data = train, subset = 1:200))
keep("glm", earth(survived ~ log1p(sibsp) + . - sibsp, data = train, degree = 2,
                  glm = list(family = binomial)), type = "response")
keep("offset", earth(survived ~ sex + offset(sibsp), data = train, glm = list(family = poisson)),
     type = "response")
set.seed(7)
keep("cv", earth(survived ~ pclass + ns(age, 3) + sex, data = train, nfold = 3, pmethod = "cv"))
keep("linpreds", earth(age ~ sibsp * parch, data = train, linpreds = c(1, 3)))
"""


@pytest.fixture(scope="module")
def with_options():
    out = run_r(SETS + OPTIONS, packages=("earth", "splines"))
    return *_split(_frame(out, "etitanic")), out


FITTED = {
    "weights": lambda train: Earth.from_formula(
        "age ~ pclass * sex + sibsp", train, 1.0 + np.arange(1, len(train) + 1) % 3
    ),
    "subset": lambda train: Earth.from_formula(
        "age ~ poly(sibsp, 2) + sex", train, subset=np.arange(200)
    ),
    "glm": lambda train: Earth.from_formula(
        "survived ~ log1p(sibsp) + . - sibsp", train, degree=2, glm_family="binomial"
    ),
    "offset": lambda train: Earth.from_formula(
        "survived ~ sex + offset(sibsp)", train, glm_family="poisson"
    ),
    "cv": lambda train: Earth.from_formula(
        "survived ~ pclass + ns(age, 3) + sex", train, nfold=3, pmethod="cv", random_state=7
    ),
    "linpreds": lambda train: Earth.from_formula(
        "age ~ sibsp * parch", train, linpreds=[0, 2]
    ),
}  # fmt: skip


@needs_rscript
@pytest.mark.needs_r
@pytest.mark.parametrize("name", FITTED)
def test_options_are_plain_rs(with_options, name):
    train, new, out = with_options
    assert f"refusal.{name}" not in out, out[f"refusal.{name}"]
    model = FITTED[name](train)
    np.testing.assert_array_equal(model.model_.coef.ravel(), out[f"coef.{name}"].ravel())
    expected = out[f"p.{name}"]
    found = model.predict(new).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_the_names_that_a_frame_needs(example):
    """Not the response, and not a column that the formula took away."""
    assert example.names == ("x", "f", "flag", "w")
    assert example.has_offset
    assert example.n_columns == 1 + 2 + 3 + 1 + 2


@pytest.fixture
def example() -> Formula:
    """log(x) + f + poly(x, 2, raw = TRUE):flag ... as R would describe it, written by hand."""
    x, f, flag, w = ({"column": name} for name in ("x", "f", "flag", "w"))
    powers = {"call": "poly", "args": [x], "degree": 2, "alpha": None, "norm2": None}
    spline = {
        "call": "bs", "args": [x], "knots": [], "boundary": [0.0, 4.0], "degree": 3,
        "intercept": False,
    }  # fmt: skip
    variables = [
        _variable("log(x)", {"call": "log", "args": [x]}),
        _variable("f", f, "factor", ["a", "b", "c"]),
        _variable("bs(x)", spline),
        _variable("flag", flag, "logical"),
        _variable("poly(x, 2, raw = TRUE)", powers),
        _variable("offset(2 * w)", {"call": "*", "args": [{"number": 2.0}, w]}),
    ]
    terms = [[[0, 1]], [[1, 1]], [[2, 1]], [[3, 1]], [[3, 1], [4, 1]]]
    return Formula.from_dict(
        {"text": "y ~ ...", "variables": variables, "terms": terms, "offset": 5}
    )


def _variable(label, expression, kind="number", levels=()):
    return {"label": label, "kind": kind, "levels": list(levels), "expression": expression}


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {"x": [1.0, 2.0, 4.0], "f": ["c", "a", "b"], "flag": [True, False, True], "w": [1, 2, 3]}
    )


def test_a_design_by_hand(example, frame):
    x = frame["x"].to_numpy()
    t = x / 4
    bernstein = [3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3]
    dummies = [[0, 0, 1], [1, 0, 0]]
    flag = [1, 0, 1]
    expected = [np.log(x), *dummies, *bernstein, flag, x * flag, x**2 * flag]
    np.testing.assert_allclose(example.design(frame), np.transpose(expected), atol=1e-15)
    np.testing.assert_array_equal(example.offset(frame), [2, 4, 6])


def test_columns_may_come_in_any_order_and_kind(example, frame):
    expected = example.design(frame)
    other = frame.assign(
        f=pd.Categorical(frame["f"], list("cba")),
        flag=frame["flag"].astype(object),
        x=frame["x"].astype(int),
        more="?",
    )
    np.testing.assert_array_equal(example.design(other[["more", "w", "flag", "f", "x"]]), expected)
    assert example.design(frame.iloc[:0]).shape == (0, example.n_columns)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.drop(columns="x"), r"lacks the column 'x'"),
        (lambda d: d.assign(f=["c", "a", "z"]), r"column 'f' .* level 'z' in row 2"),
        (lambda d: d.assign(f=["c", None, "a"]), r"column 'f' .* missing value in row 1"),
        (lambda d: d.assign(flag=[1, 0, 2]), r"column 'flag' .* level '2' in row 2|'1'"),
        (lambda d: d.assign(x=[1.0, np.nan, 2.0]), r"NaN: column 'x', row 1"),
        (lambda d: d.assign(x=[1.0, 2.0, -3.0]), r"log\(x\) is not a finite number in row 2 .* x=-3"),
        (lambda d: d.assign(x=["1", "2", "?"]), r"column 'x' of X has the type"),
        (lambda d: d.to_numpy(), r"should be a pandas DataFrame"),
        (lambda d: pd.concat([d, d["x"]], axis=1), r"two columns named 'x'"),
    ],
)  # fmt: skip
def test_a_bad_frame_is_refused_by_name(example, frame, change, message):
    with pytest.raises(InvalidInputError, match=message):
        example.design(change(frame))


def test_a_bad_offset_is_refused_by_name(example, frame):
    with pytest.raises(InvalidInputError, match="'w'"):
        example.offset(frame.drop(columns="w"))
    with pytest.raises(
        InvalidInputError, match=r"offset\(2 \* w\) is not a finite number in row 1"
    ):
        example.offset(frame.assign(w=[1, 1e308, 2]))


def test_saved_and_read_again(example, frame):
    again = Formula.from_dict(json.loads(json.dumps(example.to_dict())))
    assert again == example
    np.testing.assert_array_equal(again.design(frame), example.design(frame))


def _nested(depth):
    node = {"column": "x"}
    for _ in range(depth):
        node = {"call": "abs", "args": [node]}
    return node


BAD_EXPRESSIONS = [
    None, [], "x", 5, {}, {"column": 5}, {"column": "x", "more": 1}, {"number": "x"}, {"call": "abs"},
    {"call": "system", "args": [{"column": "x"}]}, {"call": "__import__", "args": [{"column": "x"}]},
    {"call": ["abs"], "args": [{"column": "x"}]}, {"call": "abs", "args": []},
    {"call": "abs", "args": {"column": "x"}}, {"call": "*", "args": [{"column": "x"}]},
    {"call": "abs", "args": [{"call": "cbind", "args": [{"column": "x"}]}]},
    {"call": "abs", "args": [{"call": "poly", "args": [{"column": "x"}], "degree": 1}]},
    {"call": "poly", "args": [{"column": "x"}], "degree": 1e9, "alpha": None, "norm2": None},
    {"call": "poly", "args": [{"column": "x"}], "degree": 2, "alpha": [[1.0]], "norm2": [[1, 1, 1, 1]]},
    {"call": "poly", "args": [{"column": "x"}], "degree": 1, "alpha": [[1.0]], "norm2": [[1, 1, 0]]},
    {"call": "poly", "args": [{"column": "x"}] * 50, "degree": 50, "alpha": None, "norm2": None},
    {"call": "poly", "args": [{"number": 1}], "degree": 1, "alpha": None, "norm2": None},
    {"call": "bs", "args": [{"column": "x"}], "knots": [3, 2], "boundary": [0, 4], "degree": 3,
     "intercept": False},
    {"call": "bs", "args": [{"column": "x"}], "knots": [], "boundary": [4, 4], "degree": 3,
     "intercept": False},
    {"call": "bs", "args": [{"column": "x"}], "knots": [], "boundary": [0, "inf"], "degree": 3,
     "intercept": False},
    {"call": "bs", "args": [{"column": "x"}], "knots": [], "boundary": [0, 4], "degree": 0,
     "intercept": False},
    {"call": "ns", "args": [{"column": "x"}], "knots": [], "boundary": [0, 4], "degree": 2,
     "intercept": False},
    {"call": "ns", "args": [{"column": "x"}], "knots": [], "boundary": [0, 4], "degree": 3,
     "intercept": 0},
    {"call": "abs", "args": [{"column": "f"}]},
    {"call": "mean", "args": [{"column": "x"}]},
    {"call": "mean", "args": [], "dropped": False, "shares": []},
    {"call": "mean", "args": [{"column": "x"}], "dropped": 1, "shares": []},
    {"call": "mean", "args": [{"column": "x"}], "dropped": False, "shares": [0.5]},
    {"call": "quantile", "args": [{"column": "x"}], "dropped": False, "shares": [0.5, 0.6]},
    {"call": "quantile", "args": [{"column": "x"}], "dropped": False, "shares": [1.5]},
    {"call": "round", "args": [{"column": "x"}, {"column": "x"}]},
    _nested(200),
]  # fmt: skip


@pytest.mark.parametrize("expression", BAD_EXPRESSIONS, ids=lambda e: str(e)[:60])
def test_a_bad_expression_is_refused(example, expression):
    entries = example.to_dict()
    entries["variables"][0]["expression"] = expression
    with pytest.raises(InvalidInputError, match=r"formula|number|list|degree|knots"):
        Formula.from_dict(entries)


@pytest.mark.parametrize(
    "change",
    [
        lambda e: e.pop("text"),
        lambda e: e.update(more=1),
        lambda e: e.update(text=5),
        lambda e: e.update(terms=[]),
        lambda e: e.update(terms=[[]]),
        lambda e: e.update(terms=[[[99, 1]]]),
        lambda e: e.update(terms=[[[-1, 1]]]),
        lambda e: e.update(terms=[[[0, 3]]]),
        lambda e: e.update(terms=[[[0, 1], [0, 1]]]),
        lambda e: e.update(terms="x"),
        lambda e: e.update(offset=1),
        lambda e: e.update(offset=4),
        lambda e: e.update(offset=17),
        lambda e: e.update(offset="0"),
        lambda e: e.update(variables=None),
        lambda e: e["variables"][1].update(levels=["a"]),
        lambda e: e["variables"][1].update(levels=["a", "a"]),
        lambda e: e["variables"][1].update(levels=[1, 2]),
        lambda e: e["variables"][1].update(kind="number"),
        lambda e: e["variables"][1].update(kind=["factor"]),
        lambda e: e["variables"][3].update(levels=["a", "b"]),
        lambda e: e["variables"][0].update(kind="factor", levels=["a", "b"]),
        lambda e: e["variables"][4].update(kind="logical"),
        lambda e: e["variables"].append(_variable("f", {"column": "f"})),
    ],
)
def test_bad_entries_are_refused(example, change):
    entries = example.to_dict()
    change(entries)
    with pytest.raises(InvalidInputError):
        Formula.from_dict(entries)


def test_mutated_entries_are_refused_or_harmless(example, frame):
    """Whatever stands anywhere in a file: our error, or a formula that computes or refuses the frame."""
    rng = random.Random(5)
    values = [
        None,
        True,
        -1,
        0,
        3,
        1e300,
        "nan",
        "inf",
        "log",
        "",
        [],
        {},
        [[0, 1]],
        {"column": "x"},
    ]
    refused = 0
    for _ in range(600):
        entries = example.to_dict()
        places = list(_places(entries))
        parent, key = rng.choice(places)
        parent[key] = rng.choice(values)
        try:
            formula = Formula.from_dict(entries)
            design = formula.design(frame)
            assert design.shape == (3, formula.n_columns)
            formula.offset(frame)
        except InvalidInputError:
            refused += 1
    assert refused > 300


def _places(node):
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(pairs):
        yield node, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


@pytest.mark.needs_r
def test_predicts_where_there_is_no_r(tmp_path):
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.uniform(1, 5, 80), "f": rng.choice(["u", "v", "w"], 80)})
    data["y"] = np.log(data["x"]) + (data["f"] == "v") + rng.normal(0, 0.1, 80)
    model = Earth.from_formula("y ~ bs(x, 5) * f + ns(x, 3) + poly(x, 2)", data)
    model.model_.save(tmp_path / "model.json")
    data.to_json(tmp_path / "data.json", orient="columns", double_precision=15)
    code = """
import sys, numpy as np, pandas as pd
from pyearthdof.mars.model.mars_model import MarsModel
folder = sys.argv[1]
data = pd.read_json(folder + "/data.json")
np.save(folder + "/p.npy", MarsModel.load(folder + "/model.json").predict(data))
"""
    run_without_r(code, str(tmp_path))
    np.testing.assert_allclose(np.load(tmp_path / "p.npy"), model.predict(data), rtol=1e-12)


@needs_rscript
@pytest.mark.needs_r
def test_formulas_of_models_that_plain_r_fitted(tmp_path):
    """Known formulas come along; others leave a model of the expanded columns."""
    code = """
data(etitanic)
etitanic <- etitanic[seq(1, nrow(etitanic), 3), ]
rownames(etitanic) <- NULL
twice <- function(x) 2 * x
save.fit <- function(name, fit) saveRDS(fit, file.path(store, paste0(name, ".rds")))
save.fit("known", earth(age ~ pclass * sex + poly(sibsp, 2) + offset(parch), data = etitanic))
save.fit("sum", earth(age + parch ~ pclass + sex, data = etitanic))
save.fit("numbers", earth(age ~ round(sibsp / 2, digits = 1) + sin(2 * pi * parch / 7) + I(parch %% 2),
                          data = etitanic))
save.fit("summaries", earth(age ~ I(sibsp - mean(sibsp)) + pmin(parch, quantile(parch, 0.9)) + is.na(parch),
                            data = etitanic))
save.fit("prefix", earth(age ~ splines::bs(parch, 4) + base::log(sibsp + 1), data = etitanic))
save.fit("unknown", earth(age ~ twice(sibsp) + pclass, data = etitanic))
save.fit("inside", earth(age ~ I(poly(sibsp, 2)) + pclass, data = etitanic))
options(contrasts = c("contr.sum", "contr.poly"))
save.fit("contrasts", earth(age ~ pclass * sex, data = etitanic))
options(contrasts = c("contr.treatment", "contr.poly"))
p <- function(name) predict(readRDS(file.path(store, paste0(name, ".rds"))), etitanic)
out <- c(lapply(etitanic, function(v) if (is.factor(v)) as.character(v) else v),
         list(p.known = p("known"), p.sum = p("sum"), p.numbers = p("numbers"), p.summaries = p("summaries"),
              p.prefix = p("prefix")))
"""
    out = run_r(code, packages=("earth",), store=str(tmp_path))
    names = ("known", "sum", "numbers", "summaries", "prefix")
    expected = {name: out.pop(f"p.{name}") for name in names}
    data = pd.DataFrame(out)
    for name, predicted in expected.items():
        model = Earth.from_r(tmp_path / f"{name}.rds")
        found = model.predict(data).reshape(predicted.shape)
        np.testing.assert_allclose(found, predicted, rtol=1e-12)
    known = Earth.from_r(tmp_path / "known.rds").model_.formula
    assert known.text == "age ~ pclass * sex + poly(sibsp, 2) + offset(parch)"
    for name in ("unknown", "inside", "contrasts"):
        assert Earth.from_r(tmp_path / f"{name}.rds").model_.formula is None


@pytest.mark.needs_r
def test_why_a_formula_does_not_come_along():
    with pytest.raises(PyEarthDofError, match="nobody"):
        Earth.from_formula("y ~ nobody", pd.DataFrame({"y": [1.0, 2, 3], "x": [1.0, 2, 4]}))


def _dated() -> tuple[dict, pd.DataFrame]:
    """Data with a matrix with names, one without, a date and a time; and a frame of all of it for R."""
    rng = np.random.default_rng(8)
    days = np.arange("2020-01-01", "2020-04-30", dtype="M8[D]")
    n = len(days)
    named = pd.DataFrame(rng.uniform(1, 9, size=(n, 2)), columns=["a", "b"])
    plain, z = rng.normal(size=(n, 3)), rng.normal(size=n)
    y = np.abs(np.arange(n) - 50) / 20 + named["a"].to_numpy() - plain[:, 1] + rng.normal(0, 0.1, n)
    times = days.astype("M8[s]") + (rng.uniform(size=n) * 86_000).astype("m8[s]")
    data = {"y": y, "when": days, "m": named, "u": plain, "z": z, "time": times}
    flat = pd.DataFrame({"y": y, "z": z, "day": days.astype(float), "second": times.astype(float)})
    flat[["a", "b"]], flat[["u1", "u2", "u3"]] = named, plain
    return data, flat


DATED = [
    "y ~ when + z", "y ~ .", "y ~ m * z + u", "y ~ m:u - 1", "y ~ I(when) + as.numeric(when) + time",
    "m ~ when", "u ~ z + when:m", "cbind(y, z) ~ when:z + m",
]  # fmt: skip


@needs_rscript
@pytest.mark.needs_r
@pytest.mark.parametrize("engine", ["r", "native"])
def test_dates_and_matrices_are_plain_rs(engine):
    data, flat = _dated()
    code = """
d <- data.frame(y = flat$y, when = structure(flat$day, class = "Date"))
d$m <- as.matrix(flat[c("a", "b")])
d$u <- unname(as.matrix(flat[c("u1", "u2", "u3")]))
d$z <- flat$z
d$time <- structure(flat$second, class = c("POSIXct", "POSIXt"), tzone = "UTC")
out <- list()
for (i in seq_along(texts)) {
  fit <- suppressWarnings(earth(as.formula(texts[i]), data = d))
  out[[paste0("columns", i)]] <- colnames(fit$dirs)
  out[[paste0("responses", i)]] <- colnames(fit$coefficients)
  out[[paste0("terms", i)]] <- rownames(fit$coefficients)
  out[[paste0("fitted", i)]] <- unname(fit$fitted.values)
}
"""
    out = run_r(code, packages=("earth",), flat=flat, texts=DATED)
    for k, text in enumerate(DATED, 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = Earth.from_formula(text, data, engine=engine)
        assert list(model.model_.feature_names) == out[f"columns{k}"], text
        assert list(model.response_names_) == out[f"responses{k}"], text
        assert list(model.terms_) == out[f"terms{k}"], text
        _close(model.fitted_values_, out[f"fitted{k}"], 1e-9)
        _close(model.predict(data), out[f"fitted{k}"], 1e-9)
        again = MarsModel.from_json(model.model_.to_json())
        np.testing.assert_array_equal(again.predict(data), model.predict(data))


@needs_rscript
@pytest.mark.needs_r
@pytest.mark.parametrize("engine", ["r", "native"])
def test_a_response_of_one_column_is_named_by_the_formula(engine):
    x = np.random.default_rng(3).normal(size=60)
    data = {"x": x, "named": pd.DataFrame({"own": np.abs(x)}), "plain": np.abs(x)[:, None]}
    texts = ["named ~ x", "plain ~ x", "cbind(x) ~ I(x^2)", "cbind(own = x) ~ I(x^2)"]
    code = """
d <- data.frame(x = x)
d$named <- cbind(own = abs(x)); d$plain <- matrix(abs(x))
out <- list(names = unlist(lapply(texts, function(text)
  colnames(earth(as.formula(text), data = d)$coefficients))))
"""
    names = run_r(code, packages=("earth",), x=x, texts=texts)["names"]
    for text, name in zip(texts, names, strict=True):
        model = Earth.from_formula(text, data, engine=engine)
        assert model.response_names_ == (name,), text


def test_what_dates_and_matrices_may_not():
    data, _ = _dated()
    for text, message in (
        ("y ~ log(m)", "the column 'm' is a matrix"),
        ("when ~ z", "the response when is a date"),
        ("y ~ poly(u, 2)", "the column 'u' is a matrix"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            Earth.from_formula(text, data, engine="native")
    model = Earth.from_formula("y ~ when + m", data, engine="native")
    with pytest.raises(InvalidInputError, match="the model knows it as dates"):
        model.predict(data | {"when": np.array(["x"] * len(data["y"]), dtype=object)})


def test_a_column_of_dates_given_something_else(tmp_path):
    n = 60
    days = pd.Series(pd.date_range("2020-01-01", periods=n))
    frame = pd.DataFrame({"when": days, "y": np.abs(np.arange(n) - 30.0)})
    model = Earth.from_formula("y ~ when", frame, engine="native")
    same = MarsModel.from_json(model.model_.to_json())
    others = [np.arange(n), np.arange(n) / 2, np.arange(n) > 3, days - days[0], days.dt.date]
    for odd in [*others, days.dt.to_period("D"), days.astype("category"), np.arange(n) + 1j]:
        for predict in (model.predict, same.predict, model.transform):
            with pytest.raises(InvalidInputError, match=r"column 'when' of X .* knows it as dates"):
                predict(frame.assign(when=odd))
    assert "h(when-" in model.terms_[1]
    model.report(tmp_path / "page.html")  # it makes rows of dates itself


def test_a_time_zone_that_comes_or_goes():
    n = 60
    times = pd.Series(pd.date_range("2020-01-01 07:00", periods=n, freq="13h"))
    y = np.abs(np.arange(n) - 30.0)
    berlin = times.dt.tz_localize("Europe/Berlin")
    for fitted, odd, message in (
        (
            times,
            berlin,
            "has dates with the time zone Europe/Berlin but the model knows them without",
        ),
        (berlin, times, "has dates without a time zone but the model knows them with one"),
    ):
        model = Earth.from_formula("y ~ t", pd.DataFrame({"t": fitted, "y": y}), engine="native")
        again = MarsModel.from_json(model.model_.to_json())
        for predict in (model.predict, again.predict):
            with pytest.raises(InvalidInputError, match=f"column 't' of X {message}"):
                predict(pd.DataFrame({"t": odd}))
    # the same instants in another zone are the same
    there = pd.DataFrame({"t": berlin.dt.tz_convert("Asia/Tokyo")})
    np.testing.assert_array_equal(model.predict(there), model.predict(pd.DataFrame({"t": berlin})))


def test_dates_beyond_the_range_of_nanoseconds():
    days = pd.Series(np.arange("2260-01-01", "2265-01-01", 30, dtype="M8[D]"))
    frame = pd.DataFrame({"when": days, "y": np.arange(len(days)) * 30.0})
    model = Earth.from_formula("y ~ when", frame, engine="native")
    np.testing.assert_allclose(model.term_coef_[1], 1.0)


TEXTS = [
    "a/b*c-d", "-a^b", "(-a)^b", "a^-b", "-a:b", "!a==b", "!a & b | c", "a %in% b", "a%%b", "x==1", "x>=-1",
    "1e5", "123456", "0.1", "1e-5", "0.0001", "1e15", "123456789012345678", "0x10", "'a\"b\\n'", "`a b`+1",
    "`+`(a,b)", "`*`(a+b,c)", "`+`(a, b+c)", "-(-a)", "--a", "a - -b", "f(a=1, `b c`=2)", "x**2", "c(-1,Inf)",
    "`-`(a)^2", "`^`(-a,2)", "I((a))", "\"f\"(x)", "`my f`(x)", "a::b(c)", "x$a", "x[1,2]",
    "function(x, y=2) x", "a&&b", "é+1", "`a\\`b`+1", "1e-300", "3.14159265358979", "0.30000000000000004",
    "(a)(b)", "f(\n a,\n b)", "a +\n b", "f(x) # more", "a:b:c*d", "a-b-c", "a-(b-c)", "a^b^c", "(a^b)^c",
    "a<b", "a & b | c & d", "!(a | b)", "- a * b", "-1e-3", "f(,a)", "f(a,)", "\"\\u00e9\\t\"", ".x+..y",
    "x1.y_2", "TRUE & FALSE", "a%/%b%in%c",
]  # fmt: skip


@needs_rscript
def test_columns_of_long_variables_have_rs_names():
    """R joins the lines of a long one otherwise for the columns than for the frame."""
    knots = ", ".join(f"{k:.15g}" for k in np.linspace(-0.5, 0.5, 40))
    texts = [
        f"y ~ bs(x, knots = c({knots}))",
        "y ~ I(" + " + ".join(f"{k} * x" for k in range(90)) + "):z + z",
        "y ~ sqrt(abs(" + " - ".join(["1.23456789 * x"] * 50) + ")) + z",
    ]
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(80, 3)), columns=["x", "z", "y"])
    code = """
library(splines)
out <- list()
for (i in seq_along(texts)) {
  x <- model.matrix(as.formula(texts[i]), data)
  out[[paste0("names", i)]] <- gsub("\\n", "(new line)", colnames(x)[-1])
}
"""
    expected = run_r(code, texts=texts, data=data)
    for k, text in enumerate(texts, 1):
        model = Earth.from_formula(text, data, engine="native")
        names = [name.replace("\n", "(new line)") for name in model.model_.feature_names]
        assert names == list(expected[f"names{k}"])
        assert any("(new line)" in name for name in names)


@needs_rscript
def test_texts_are_read_and_written_as_r_does():
    """Our parser and deparse beside R's; long ones are broken into lines as R breaks them."""
    texts = [text.replace("\n", "\\n") for text in TEXTS]
    long = [
        "cbind(" + ", ".join(f"x{k}" for k in range(400)) + ")",
        "I(" + " + x2 * ".join(["x1"] * 90) + ")",
        "bs(x1, knots = c(" + ", ".join(["1.5"] * 300) + "), df = 4)",
        "I(log(" + " - ".join(["x1"] * 300) + "))",
    ]
    code = """
texts <- ifelse(grepl("^['\\"]", texts), texts, gsub("\\\\n", "\\n", texts, fixed = TRUE))
write <- function(text) {
  parsed <- parse(text = text, keep.source = FALSE, encoding = "UTF-8")[[1]]
  paste(deparse(parsed, width.cutoff = 500, backtick = !is.symbol(parsed)), collapse = " ")
}
out <- list(written = vapply(c(texts, long), write, ""))
"""
    written = run_r(code, texts=texts, long=long)["written"]
    for text, expected in zip(TEXTS + long, written, strict=True):
        node = parsed_formula(f"y ~ {text}")[1]
        assert label_of(node) == expected, text
        assert label_of(parsed_formula(f"y ~ {r_text(node)}")[1]) == expected, text


@needs_rscript
def test_bases_are_rs_to_the_bit():
    """Ties between dependent columns are decided by the last digit."""
    rng = np.random.default_rng(0)
    calls = [
        "poly(x, 4)", "poly(x, z, degree = 2)", "bs(x, df = 7)", "bs(x, df = 12, degree = 5)", "ns(x)",
        "ns(x, df = 4)",
        "bs(z, df = 6, degree = 2, intercept = TRUE)", "ns(z, df = 5, intercept = TRUE)", "scale(x)",
        "bs(x, knots = c(-0.5, 0.25, 1))", "ns(t, df = 3)", "bs(t, df = 5)", "poly(x, 5, raw = TRUE)",
        "bs(x, df = 6, Boundary.knots = c(-1, 1))", "bs(x, degree = 5, Boundary.knots = c(-0.2, 0.9))",
        "ns(x, df = 4, Boundary.knots = c(-1, 1))", "bs(z, knots = c(2, 9), Boundary.knots = c(5, 20))",
        "ns(z, knots = c(-3, 9), Boundary.knots = c(5, 20))", "bs(x, knots = c(-9, 9), degree = 2)",
        "bs(z, knots = 25, degree = 1, Boundary.knots = c(5, 20))", "bs(x, Boundary.knots = c(-9, 9))",
        "bs(x, knots = quantile(x, 1:4 / 5))", "scale(x, mean(x), sd(x))",
    ]  # fmt: skip
    frame = pd.DataFrame({"x": rng.normal(size=150), "z": rng.integers(0, 30, 150).astype(float)})
    frame["t"] = np.maximum(frame["z"] - 12, 0)
    frame["y"] = frame["x"]
    code = """
suppressMessages(library(splines))
out <- list()
for (i in seq_along(calls)) {
  made <- suppressWarnings(with(d, eval(parse(text = calls[i]))))
  out[[paste0("m", i)]] <- matrix(as.double(made), nrow(d))
}
"""
    out = run_r(code, d=frame, calls=calls)
    for k, text in enumerate(calls, 1):
        design = learn_formula(f"y ~ {text}", frame_of_formula(frame), moves_knots).design
        assert_bits(design, out[f"m{k}"], text)


@needs_rscript
def test_functions_are_rs_to_the_bit():
    """Of numbers near ties of rounding, and of columns short and long; a zero has R's sign, too."""
    rng = np.random.default_rng(2)
    n = 20_000
    spread = rng.normal(size=n) * 10 ** rng.uniform(-5, 6, n)
    x = np.concatenate(
        [spread, rng.integers(-1000, 1000, n) / 8, rng.integers(-1000, 1000, n) / 100]
    )
    x = np.append(x, [0.0, -0.0, 0.5, 2.5, -0.5, 1e300, -1e-300, 2.675, -0.3])
    m = np.concatenate([spread[::-1], rng.choice([0.1, 0.25, 2, 7, -1, -0.3], len(x) - n)])
    digits = [-3, -1, 0, 1, 2, 5, 15, 400]
    sizes = np.repeat([1, 2, 3, 5, 9, 50, 201], 20)
    code = """
out <- list(remainder = x %% m, quotient = x %/% m, as.integer = suppressWarnings(as.integer(x)),
            trunc = trunc(x), sign = sign(x), ceiling = ceiling(x), floor = floor(x),
            zero = 1 / c(as.integer(-0.5), trunc(-0.5), ceiling(-0.5), round(-0.3), round(-0.01, 1)))
for (d in digits) out[[paste("round", d)]] <- round(x, d)
ends <- cumsum(sizes)
for (name in c("mean", "median", "min", "max", "sum", "var", "sd"))
  out[[name]] <- mapply(function(size, end) get(name)(x[(end - size + 1):end]), sizes, ends)
"""
    out = run_r(code, x=x, m=m, digits=digits, sizes=sizes)
    ends = np.cumsum(sizes)
    with np.errstate(all="ignore"):
        for name in ("as.integer", "trunc", "sign", "ceiling", "floor"):
            assert_bits(FUNCTIONS[name][0](x), out[name], name)
        for name, called in (("%%", "remainder"), ("%/%", "quotient")):
            assert_bits(FUNCTIONS[name][0](x, m), out[called], name)
        for d in digits:
            assert_bits(FUNCTIONS["round"][0](x, d), out[f"round {d}"], f"round {d}")
        for name, function in SUMMARIES.items():
            found = [function(x[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
            assert_bits(np.array(found), out[name], name)
        halves = [FUNCTIONS[name][0](-0.5) for name in ("as.integer", "trunc", "ceiling")]
        rounded = [FUNCTIONS["round"][0](-0.3), FUNCTIONS["round"][0](-0.01, 1.0)]
        np.testing.assert_array_equal(1 / np.array([*halves, *rounded]), out["zero"])


@needs_rscript
@pytest.mark.needs_r
@pytest.mark.parametrize("engine", ["r", "native"])
def test_missing_values_that_a_formula_deals_with(engine):
    """R takes them where no variable of the formula has one."""
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"x": rng.normal(size=60), "z": rng.normal(size=60)})
    data["y"] = np.maximum(data["x"], 0) + data["z"] + rng.normal(0, 0.1, 60)
    data.loc[::7, "x"] = np.nan
    text = "y ~ ifelse(is.na(x), mean(x, na.rm = TRUE), x) + is.na(x) + z"
    code = """
fit <- earth(eval(parse(text = text)[[1]]), data = d)
out <- list(terms = rownames(fit$coefficients), p = as.double(predict(fit, d[40:1, ])))
"""
    out = run_r(code, packages=("earth",), d=data, text=text)
    model = Earth.from_formula(text, data, engine=engine)
    assert list(model.terms_) == out["terms"]
    new = data.iloc[39::-1]
    for fitted in (model, model.reprune(), MarsModel.from_json(model.model_.to_json())):
        np.testing.assert_allclose(fitted.predict(new), out["p"], rtol=1e-12)
    np.testing.assert_allclose(model.predict(new, missing="propagate"), out["p"], rtol=1e-12)
    with pytest.raises(InvalidInputError, match="depends on all rows"):
        model.predict(new.assign(z=new["z"].mask(new["z"] > 1)), missing="propagate")
    for refused in ("y ~ x + is.na(x)", "y ~ z + I(x + is.na(x))"):
        with pytest.raises(InvalidInputError, match=r"row 0"):
            Earth.from_formula(refused, data, engine=engine)
    with pytest.raises(InvalidInputError, match="the column 'x' has no value in any row"):
        Earth.from_formula(text, data.assign(x=np.nan), engine=engine)


@needs_rscript
@pytest.mark.needs_r
@pytest.mark.parametrize("engine", ["r", "native"])
def test_summaries_are_of_all_rows_before_the_subset(engine):
    rows = np.arange(5, 60, 2)
    text = "y ~ I(x - mean(x)) + pmin(z, quantile(z, 0.8))"
    code = """
fit <- earth(eval(parse(text = text)[[1]]), data = d, subset = rows + 1)
out <- list(terms = rownames(fit$coefficients), p = as.double(predict(fit, d[1:9, ])))
"""
    numbers = SMALL[["x", "y", "z"]]
    out = run_r(code, packages=("earth",), d=numbers, text=text, rows=rows)
    model = Earth.from_formula(text, numbers, subset=rows, engine=engine)
    assert list(model.terms_) == out["terms"]
    np.testing.assert_allclose(model.predict(numbers[:9]), out["p"], rtol=1e-10)
    assert model.reprune(nprune=2).n_terms_ == 2


def test_knots_on_the_boundary_are_moved_as_by_the_newest_r():
    """By hand: of the quantiles 0, 4 and 8 of 0 to 8 the outer ones go an eighth of the way to 4."""
    x = np.repeat([0.0, 4.0, 8.0], 4)
    frame = frame_of_formula(pd.DataFrame({"x": x, "y": np.arange(12.0)}))
    moved = learn_formula("y ~ bs(x, df = 6)", frame)
    by_hand = learn_formula("y ~ bs(x, knots = c(0.5, 4, 7.5))", frame)
    np.testing.assert_array_equal(moved.design, by_hand.design)
    assert moved.warnings == ("shoving 'interior' knots matching boundary knots to inside",)
    left = learn_formula("y ~ bs(x, df = 6)", frame, lambda: False)
    assert not np.array_equal(left.design, by_hand.design) and left.warnings == ()


TERMS = st.sampled_from([
    "x", "z", "f", "b", "o", ".", "1", "0", "log(x)", "I(x^2)", "(x > 2)", "factor(z > 2)", "poly(x, 2)",
    "bs(z, 4)", "ns(x, 3)", "cut(x, 3)", "(f == 'u')", "scale(z)", "ifelse(b, x, z)", "as.numeric(f)",
    "offset(z)", "cbind(x, z)", "pmax(x, z, 2)", "(o > 'a')", "!b", "y", "sin(x)",
    "factor(f, levels = c('w', 'v', 'u'))", "as.factor(z)", "ordered(f)", "relevel(f, ref = 'v')",
    "round(x, 1)",
    "x %% 0.3", "z %/% 0.5", "I(x - mean(x))", "interaction(f, b)", "splines::bs(x, df = 4)", "sin(pi * x)",
    "cut(x, seq(0, 4, by = 0.5))", "cut(z, quantile(z), include.lowest = TRUE)", "I(f %in% c('u', 'v'))",
    "bs(x, Boundary.knots = c(1.5, 2.5))", "cut(x, c(-Inf, 2, Inf))", "is.na(x)", "floor(z)",
])  # fmt: skip
LEFTS = st.sampled_from(["y", "log(y)", "cbind(y, z)", "f", "b", "y > 7", "y + z", "o"])


def _grown(inner):
    mark = st.sampled_from(["+", "-", "*", ":", "/", "%in%"])
    return st.one_of(
        st.tuples(inner, mark, inner).map(" ".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"({text})^2"),
    )


@pytest.mark.needs_r
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(left=LEFTS, right=st.recursive(TERMS, _grown, max_leaves=5))
def test_both_engines_make_the_same_model_of_any_formula(left, right):
    """The same columns, terms, numbers and warnings; what R's own code cannot fit may be fitted here."""
    text, found = f"{left} ~ {right}", []
    for engine in ("r", "native"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                model = Earth.from_formula(text, SMALL, engine=engine)
            except PyEarthDofError as error:
                model = error
        found.append((model, [str(w.message) for w in caught]))
    (by_r, warned_by_r), (native, warned) = found
    if isinstance(native, Exception):
        assert str(by_r) == str(native)
    elif isinstance(by_r, Exception):
        assert str(by_r).startswith("R could not fit the formula: ")
    else:
        assert native.model_.feature_names == by_r.model_.feature_names
        assert (native.terms_, native.response_names_) == (by_r.terms_, by_r.response_names_)
        assert warned == warned_by_r
        _close(native.fitted_values_, by_r.fitted_values_, 1e-8)
        _close(native.predict(SMALL), by_r.predict(SMALL), 1e-8)


def _small() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.uniform(1, 3, 60), "z": rng.uniform(1, 3, 60).round(1)})
    frame["f"], frame["b"] = rng.choice(["u", "v", "w"], 60), rng.random(60) < 0.5
    frame["o"] = pd.Categorical(rng.choice(list("abc"), 60), list("abc"), ordered=True)
    frame["y"] = 5 + frame["x"] * frame["z"] + rng.normal(0, 0.1, 60)
    return frame


SMALL = _small()
