"""earth objects of which a part is gone, cut or exchanged: refused in a sentence, or a model that works."""

import contextlib
import warnings

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth
from pyearthdof.exceptions import InvalidInputError, PyEarthDofError
from tests.support.figures import record
from tests.support.rscript import needs_rscript, run_r

pytestmark = [needs_rscript, pytest.mark.needs_r]

# Fits of every kind; every part of each, damaged in every way.
DAMAGED = """
set.seed(1)
n <- 60
d <- data.frame(x = runif(n, 1, 3), z = runif(n, 1, 3), f = factor(sample(letters[1:3], n, TRUE)),
                o = factor(sample(c("l", "m", "h"), n, TRUE), c("l", "m", "h"), ordered = TRUE))
d$y <- abs(d$x - 2) * d$z + (d$f == "b") + rnorm(n) / 9
d$k <- as.numeric(d$y + rnorm(n) > 1)
suppressWarnings(fits <- list(
  matrix = earth(as.matrix(d[, 1:2]), d$y, degree = 2),
  frame = earth(d[, c("x", "f", "o")], d$y, keepxy = TRUE),
  formula = earth(y ~ poly(x, 2) + z * f + offset(z), data = d),
  glm = earth(k ~ x + f, data = d, glm = list(family = binomial)),
  two = earth(d[, 1:2], d[, c("y", "z")]),
  cv = earth(d[, 1:2], d$y, nfold = 3, ncross = 3, varmod.method = "lm")))
put <- function(value) { force(value); function(old) value }
damages <- list(
  null = put(NULL), na = put(NA), text = put("a"), texts = put(c("a", "b")), list = put(list()),
  named = put(list(a = 1)), zero = put(0), minus = put(-1), large = put(1e6), infinite = put(Inf),
  empty = put(numeric(0)), fun = put(function(x) x), matrix = put(matrix(1:4, 2)), part = put(1.5),
  complex = put(1i), call = put(quote(x + y)), env = put(new.env()), truth = put(TRUE),
  short = function(old) if (is.matrix(old)) old[-1, , drop = FALSE] else old[-1],
  long = function(old) if (is.matrix(old)) rbind(old, old) else c(old, old),
  turned = function(old) t(as.matrix(old)), unnamed = unname,
  first = function(old) { old[1] <- NA; old }, last = function(old) { old[length(old)] <- 1e9; old })
damaged <- list()
for (kind in names(fits)) for (part in names(fits[[kind]])) for (damage in names(damages)) {
  fit <- fits[[kind]]
  made <- try(suppressWarnings(fit[part] <- list(damages[[damage]](fit[[part]]))), silent = TRUE)
  if (!inherits(made, "try-error") && !identical(fit, fits[[kind]]))
    damaged[[paste(kind, part, damage, sep = "|")]] <- fit
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged")
    code = (
        DAMAGED
        + """
chosen <- damaged[seq(1, length(damaged), by = 12)]
saveRDS(chosen, file.path(target, "some.rds"), compress = FALSE)
saveRDS(damaged[-seq(1, length(damaged), by = 12)], file.path(target, "others.rds"), compress = FALSE)
for (name in c("matrix|dirs|null", "formula|cuts|short", "matrix|selected.terms|last"))
  saveRDS(damaged[[name]], file.path(target, paste0(gsub("|", " ", name, fixed = TRUE), ".rds")))
out <- list(n = length(damaged))
"""
    )
    run_r(code, packages=("earth",), target=str(folder))
    return folder


def rows_for(model) -> pd.DataFrame | np.ndarray:
    rng = np.random.default_rng(0)
    new = pd.DataFrame({"x": rng.uniform(1, 3, 9), "z": rng.uniform(1, 3, 9)})
    new = new.assign(f=list("abcabcabc"), o=list("lmhlmhlmh"))
    if model.columns is not None:
        return new[list(model.columns.names)]
    return new if model.formula is not None else np.zeros((3, len(model.feature_names)))


def uses(model):
    """What a user does with a model; refusals are fine, and R's own word about its own summary."""
    new = rows_for(model.model_)
    assert np.isfinite(model.predict(new)).all()
    for use in (
        model.anova, model.format, model.to_python, model.importance, model.model_.to_json,
        model.summary, lambda: model.feature_importances_, lambda: model.nominal_df_, lambda: str(model),
    ):  # fmt: skip
        with contextlib.suppress(PyEarthDofError):
            use()


@pytest.mark.parametrize("file", ["some.rds", pytest.param("others.rds", marks=pytest.mark.slow)])
def test_a_damaged_object_is_refused_or_works(folder, file):
    from rpy2 import rinterface

    damaged = rinterface.baseenv["readRDS"](rinterface.StrSexpVector([str(folder / file)]))
    ends = {"refused": 0, "read": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, fit in zip(damaged.names, damaged, strict=True):
            try:
                uses(Earth.from_r(fit))
            except InvalidInputError as error:
                ends["refused"] += 1
                assert str(error) and "\n" not in str(error), name
            except Exception as error:
                raise AssertionError(f"{name}: {error!r}") from error
            else:
                ends["read"] += 1
    record("damaged earth objects", tried=sum(ends.values()), **ends)
    assert ends["refused"] > ends["read"] > 0


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("matrix dirs null", "the earth object is damaged: dirs should be a matrix"),
        ("formula cuts short", "the earth object is damaged: cuts has .* entries, not"),
        ("matrix selected.terms last", "selected.terms should be numbers from 1 to"),
    ],
)
def test_what_is_damaged_is_said(folder, file, message):
    with pytest.raises(InvalidInputError, match=message):
        Earth.from_r(folder / f"{file}.rds")


def test_objects_that_are_none(tmp_path):
    from rpy2 import rinterface

    for made in ("list()", "structure(list(), class = 'earth')", "structure(1, class = 'earth')"):
        run_r(f"saveRDS({made}, path); out <- list(a = 1)", path=str(tmp_path / "odd.rds"))
        with pytest.raises(
            InvalidInputError, match=r"odd.rds.* but it should be an earth object|damaged"
        ):
            Earth.from_r(tmp_path / "odd.rds")
        fit = rinterface.baseenv["readRDS"](rinterface.StrSexpVector([str(tmp_path / "odd.rds")]))
        with pytest.raises(InvalidInputError):
            Earth.from_r(fit)
