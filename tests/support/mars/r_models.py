"""Models that plain R fitted, as MarsModels: several responses, factors, GLMs, odd names.

All R work of the tests of texts and exports runs in one Rscript.
"""

from __future__ import annotations

import functools

import numpy as np

from pyearthdof.mars.components.glm import GlmPart
from pyearthdof.mars.model.mars_model import MarsModel
from tests.support.rscript import run_r

FITS = {
    "trees": "earth(Volume ~ ., data = trees)",
    "ozone": "earth(O3 ~ ., data = ozone1)",
    "ozone-2": "earth(O3 ~ ., data = ozone1, degree = 2)",
    "ozone-3": "earth(O3 ~ ., data = ozone1, degree = 3, nk = 41)",
    "ozone-none": "earth(O3 ~ ., data = ozone1, degree = 2, pmethod = 'none', nk = 31)",
    "linear": "earth(O3 ~ ., data = ozone1, linpreds = TRUE)",
    "mixed": "earth(O3 ~ ., data = ozone1, degree = 2, linpreds = c(1, 4))",
    "one-linear": "earth(O3 ~ temp, data = ozone1, linpreds = TRUE)",
    "intercept": "earth(O3 ~ ., data = ozone1, nprune = 1)",
    "nk=1": "earth(O3 ~ ., data = ozone1, nk = 1)",
    "negative": "earth(O3 ~ ., data = centred, degree = 2)",
    "large": "earth(1e7 * O3 ~ ., data = ozone1, degree = 2)",
    "small": "earth(1e-9 * O3 ~ ., data = ozone1, degree = 2)",
    "wide-knots": "earth(O3 ~ I(1e8 * temp) + I(1e-6 * ibh), data = ozone1, degree = 2)",
    "close-knots": "earth(y ~ x, data = close, minspan = 1, endspan = 1, thresh = 0, penalty = 0)",
    "names": "earth(odd, ozone1$O3, degree = 2, penalty = 0)",
    "factors": "earth(age ~ ., data = etitanic, degree = 2)",
    "ordered": "earth(price ~ ., data = ordered.frame, degree = 2)",
    "two": "earth(cbind(Volume, lv = log(Volume)) ~ Girth + Height, data = trees)",
    "two-2": "earth(cbind(O3, wind) ~ . , data = ozone1, degree = 2)",
    "two-intercept": "earth(cbind(O3, wind) ~ ., data = ozone1, nk = 1)",
    "twelve": "earth(iris[, c(3, 4)], many)",
    "binomial": "earth(survived ~ ., data = etitanic, degree = 2, glm = list(family = binomial))",
    "probit": "earth(survived ~ ., data = etitanic, glm = list(family = binomial(probit)))",
    "cauchit": "earth(survived ~ ., data = etitanic, glm = list(family = binomial(cauchit)))",
    "cloglog": "earth(survived ~ ., data = etitanic, glm = list(family = binomial(cloglog)))",
    "classes": "earth(pclass ~ ., data = etitanic, glm = list(family = binomial))",
    "species": "earth(Species ~ Sepal.Length + Sepal.Width, data = iris, glm = list(family = binomial))",
    "poisson": "earth(breaks ~ ., data = warpbreaks, degree = 2, glm = list(family = poisson))",
    "poisson-sqrt": "earth(count ~ spray, data = InsectSprays, glm = list(family = poisson(sqrt)))",
    "quasi": "earth(count ~ spray, data = InsectSprays, glm = list(family = quasipoisson))",
    "gamma": "earth(Volume ~ ., data = trees, glm = list(family = Gamma))",
    "gamma-log": "earth(Volume ~ ., data = trees, glm = list(family = Gamma(log)))",
    "gaussian": "earth(O3 ~ ., data = ozone1, degree = 2, glm = list(family = gaussian))",
    "inverse-gaussian": "earth(Volume ~ Girth, data = trees, glm = list(family = inverse.gaussian))",
    "two-glm": "earth(cbind(O3, ibh + 1) ~ temp + doy, data = ozone1, glm = list(family = poisson))",
}
STYLES = ("h", "pmax", "max", "C", "bf")
IN_FULL = ("trees", "ozone-3", "mixed", "negative", "close-knots", "names", "two")
ARGUMENTS = {  # of R's format beside style: ours
    "": {},
    ', decomp="none"': {"decomp": "none"},
    ", digits=3": {"digits": 3},
    ", digits=1": {"digits": 1},
    ", digits=12": {"digits": 12},
    ", digits=17": {"digits": 17},
    ", use.names=FALSE": {"use_names": False},
    ', colon.char="*"': {"colon_char": "*"},
    ', decomp="none", digits=4, use.names=FALSE, colon.char="."': {
        "decomp": "none", "digits": 4, "use_names": False, "colon_char": ".",
    },
}  # fmt: skip

LIMITED = ("logit", "probit", "cauchit", "cloglog", "log")  # links with limits on the mean
ETA = np.outer([-1, 1], [1e-3, 0.5, 2.0, 9.0, 29.0, 31.0, 200.0, 705.0]).ravel()

R_CODE = """
centred <- data.frame(O3 = ozone1$O3, scale(ozone1[, -1], scale = FALSE))
odd <- as.matrix(ozone1[, c("temp", "ibh", "dpg", "doy", "vis", "wind", "humidity", "vh")])
colnames(odd) <- c("a b", "x:y", "p@q", "h\\u00f6he", "(z)", "if", "1.5", 'say "no"')
close <- data.frame(x = 1234567 + (1:60) / 20)
close$y <- sin(close$x)
set.seed(5)
ordered.frame <- data.frame(
  quality = factor(sample(c("low", "mid", "high"), 200, TRUE), c("low", "mid", "high"), ordered = TRUE),
  size = runif(200), shop = factor(sample(c("A:1", "it's", 'the "B"'), 200, TRUE)),
  open = sample(c(TRUE, FALSE), 200, TRUE))
ordered.frame$price <- with(ordered.frame, as.integer(quality)^2 * (1 + pmax(size - 0.4, 0)) +
  2 * (shop == "it's") * size + 3 * open + rnorm(200) / 9)
many <- sapply(1:12, function(k) iris[[1]] * k + k^2 * iris[[2]])
colnames(many) <- paste0("response", 1:12)
out <- list()
keep <- function(part, value) out[[paste(names[i], part, sep = "|")]] <<- value
for (i in seq_along(names)) tryCatch({
  call <- str2lang(calls[i])
  call$keepxy <- TRUE
  fit <- suppressWarnings(eval(call))
  for (part in c("dirs", "cuts", "selected.terms", "coefficients", "glm.coefficients", "rss", "rsq",
                 "gcv", "grsq", "rss.per.subset", "gcv.per.subset", "rss.per.response",
                 "rsq.per.response", "gcv.per.response", "grsq.per.response", "nk", "thresh",
                 "penalty", "pmethod", "termcond"))
    if (!is.null(fit[[part]])) keep(part, fit[[part]])
  keep("prune.terms", as.matrix(fit$prune.terms))
  keep("terms", rownames(fit$dirs))
  keep("features", colnames(fit$dirs))
  keep("responses", colnames(fit$fitted.values))
  x <- if (is.null(fit$terms)) fit$x else model.matrix(delete.response(fit$terms), fit$data)[, -1]
  keep("x", as.matrix(x))
  for (type in c("response", "link", "earth"))
    keep(paste("predict", type, sep = "|"), suppressWarnings(predict(fit, type = type)))
  keep("summary", suppressWarnings(capture.output(print(summary(fit)))))
  if (!is.null(fit$glm.list)) {
    parts <- function(f) vapply(fit$glm.list, f, 0)
    keep("family", fit$glm.list[[1]]$family$family)
    keep("link", fit$glm.list[[1]]$family$link)
    keep("deviance", parts(function(g) g$deviance))
    keep("null.deviance", parts(function(g) g$null.deviance))
    keep("df", parts(function(g) g$df.residual))
    keep("null.df", parts(function(g) g$df.null))
    keep("aic", parts(function(g) as.double(g$aic)))
    keep("iterations", parts(function(g) g$iter))
    keep("converged", parts(function(g) as.double(g$converged)))
  }
  raw <- intersect(names(fit$xlevels), names(fit$data))
  for (name in raw) {
    keep(paste("raw", name, sep = "|"), as.character(fit$data[[name]]))
    keep(paste("levels", name, sep = "|"), fit$xlevels[[name]])
  }
  for (a in if (names[i] %in% in.full) seq_along(arguments) else 1) for (style in styles) {
    call <- str2lang(paste0("format(fit, style = style", arguments[a], ")"))
    text <- suppressWarnings(eval(call))
    keep(paste("format", style, a, sep = "|"), capture.output(cat(text)))
  }
}, error = refused)
for (link in links) out[[paste("link", link, sep = "|")]] <- make.link(link)$linkinv(eta)
"""


@functools.cache
def r_found() -> dict[str, dict]:
    """What R tells of every fit, by its name; under "link" the means at ETA."""
    found = run_r(
        R_CODE,
        packages=("earth",),
        names=list(FITS),
        calls=list(FITS.values()),
        styles=list(STYLES),
        arguments=list(ARGUMENTS),
        links=list(LIMITED),
        eta=ETA,
        **{"in.full": list(IN_FULL)},
    )
    results: dict[str, dict] = {}
    for key, value in found.items():
        name, part = key.split("|", 1)
        results.setdefault(name, {})[part] = value
    return results


def r_text(name: str, style: str, arguments: str) -> str:
    """What R's cat(format(fit)) printed."""
    lines = r_found()[name][f"format|{style}|{list(ARGUMENTS).index(arguments) + 1}"]
    return "\n".join(lines) + "\n"


def r_model(name: str, **changes) -> MarsModel:
    """A MarsModel of the numbers that R found."""
    found = r_found()[name]
    several = len(found["responses"]) > 1
    shaped = (lambda coef: coef) if several else (lambda coef: coef[:, 0])
    glm = None
    if "family" in found:
        glm = GlmPart(
            family=found["family"][0],
            link=found["link"][0],
            coef=shaped(found["glm.coefficients"]),
            null_deviance=found["null.deviance"],
            null_df=found["null.df"],
            deviance=found["deviance"],
            df=found["df"],
            aic=found["aic"],
            iterations=found["iterations"],
            converged=found["converged"],
        )
    single = {n: float(found[n][0]) for n in ("rss", "rsq", "gcv", "grsq", "penalty", "thresh")}
    arrays = {
        n.replace(".", "_"): found[n]
        for n in (
            "rss.per.subset", "gcv.per.subset", "rss.per.response", "rsq.per.response",
            "gcv.per.response", "grsq.per.response", "prune.terms",
        )
    }  # fmt: skip
    settings = {
        "feature_names": tuple(found["features"]),
        "dirs": found["dirs"],
        "cuts": found["cuts"],
        "term_names": tuple(found["terms"]),
        "selected": found["selected.terms"].astype(int) - 1,
        "coef": shaped(found["coefficients"]),
        "degree": int(np.count_nonzero(found["dirs"], axis=1).max()),
        "nk": int(found["nk"][0]),
        "pmethod": found["pmethod"][0],
        "termcond": int(found["termcond"][0]),
        "n_samples": len(found["x"]),
        "engine": "r",
        "response_names": tuple(found["responses"]),
        "glm": glm,
    }
    return MarsModel(**(single | arrays | settings | changes))
