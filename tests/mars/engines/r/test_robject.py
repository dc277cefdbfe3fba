"""R's own earth objects: what somebody fitted in R is read, and what is written here R can use."""

import gzip
import pickle

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, EarthClassifier, correct_penalty, nominal_df
from pyearthdof.exceptions import InvalidInputError, PyEarthDofError
from pyearthdof.mars.model.mars_model import MarsModel
from tests.support.mars.earth_cases import R_DATA, read_frames
from tests.support.rscript import needs_rscript, run_r
from tests.support.without_r import run_without_r

pytestmark = [needs_rscript, pytest.mark.needs_r, pytest.mark.filterwarnings("ignore")]

# name: frame, columns of new data, R's fit
FITS = {
    "matrix": ("ozone", "temp|ibh|doy", "earth(as.matrix(d[, c('temp', 'ibh', 'doy')]), d$O3, degree=2)"),
    "frame": ("ozone", "temp|ibh|doy", "earth(d[, c('temp', 'ibh', 'doy')], d$O3)"),
    "formula": ("ozone", None, "earth(O3 ~ ., data=d, degree=2)"),
    "log": ("ozone", None, "earth(log(O3) ~ temp + log(ibh + 1) + poly(doy, 2), data=d)"),
    "offset": ("ozone", None, "earth(O3 ~ temp + offset(wind), data=d)"),
    "weights": ("ozone", "temp|ibh|doy", "earth(d[, c('temp', 'ibh', 'doy')], d$O3, weights=w)"),
    "formula weights": ("ozone", None, "earth(O3 ~ temp + ibh, data=d, weights=w)"),
    "several": ("ozone", "temp|ibh|doy", "earth(d[, c('temp', 'ibh', 'doy')], d[, c('O3', 'wind')])"),
    "cbind": ("ozone", None, "earth(cbind(O3, wind) ~ temp + ibh, data=d)"),
    "factors": ("titanic", None, "earth(age ~ pclass + sex + parch, data=d, degree=2)"),
    "factors xy": ("titanic", "pclass|sex|parch",
                   "earth(d[, c('pclass', 'sex', 'parch')], d$age, degree=2, keepxy=TRUE)"),
    "ordered xy": ("titanic", "rank|child|parch",
                   "earth(d[, c('rank', 'child', 'parch')], d$age, degree=2, keepxy=TRUE)"),
    "binomial": ("titanic", None,
                 "earth(survived ~ pclass + sex + age, data=d, degree=2, glm=list(family=binomial))"),
    "probit": ("titanic", None,
               "earth(survived ~ pclass + sex, data=d, glm=list(family=binomial(link=probit)))"),
    "classes": ("iris", "Sepal.Length|Sepal.Width",
                "earth(d[, 1:2], d$Species, glm=list(family=binomial))"),
    "pairs": ("beetles", "dose", "earth(d[, 'dose', drop=FALSE], d[, 3:4], glm=list(family=binomial))"),
    "poisson": ("warp", None, "earth(breaks ~ ., data=d, glm=list(family=poisson))"),
    "cv": ("ozone", "temp|ibh",
           "earth(d[, c('temp', 'ibh')], d$O3, nfold=3, ncross=3, varmod.method='lm')"),
}  # fmt: skip
R_FIT = """
set.seed(1)
for (i in seq_along(names)) tryCatch({
  d <- frames[[data[i]]]
  w <- weights.all[seq_len(nrow(d))]
  fit <- eval(parse(text = calls[i]))
  new <- news[[data[i]]]
  if (nzchar(columns[i])) new <- new[, strsplit(columns[i], "|", fixed = TRUE)[[1]], drop = FALSE]
  saveRDS(fit, file.path(target, paste0(names[i], ".rds")))
  put <- function(what, value) out[[paste("fit", names[i], what, sep = "|")]] <<- value
  put("coef", fit$coefficients)
  put("gcv", fit$gcv)
  for (type in c("response", "link", "earth")) put(type, unname(as.matrix(predict(fit, new, type = type))))
  put("summary", capture.output(print(summary(fit))))
  importance <- evimp(fit)
  put("important", c("", sub("-unused$", "", rownames(importance))))
}, error = refused)
d <- frames$titanic
saveRDS(earth(d[, c("pclass", "sex")], d$age), file.path(target, "no data.rds"))
saveRDS(lm(Volume ~ Girth, trees), file.path(target, "lm.rds"))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rds")


@pytest.fixture(scope="module")
def found(folder):
    data, columns, calls = zip(*FITS.values(), strict=True)
    result = run_r(
        R_DATA + R_FIT, packages=("earth",), names=list(FITS), data=list(data), calls=list(calls),
        columns=[c or "" for c in columns], target=str(folder),
    )  # fmt: skip
    return result, read_frames(result)


def new_data(found, name) -> pd.DataFrame:
    data, columns, _ = FITS[name]
    frame = found[1]["new"][data]
    return frame if columns is None else frame[columns.split("|")]


@pytest.mark.parametrize("name", FITS)
def test_a_model_fitted_in_r_is_read(found, folder, name):
    model = Earth.from_r(folder / f"{name}.rds")
    r = {key.split("|")[2]: v for key, v in found[0].items() if key.startswith(f"fit|{name}|")}
    np.testing.assert_array_equal(model.term_coef_.ravel(), r["coef"].ravel())
    assert model.gcv_ == r["gcv"][0]
    new = new_data(found, name)
    for type in ("response", "link", "earth"):
        scale = np.abs(r[type]).max()
        ours = model.predict(new, type=type).reshape(r[type].shape)
        np.testing.assert_allclose(ours, r[type], rtol=1e-12, atol=1e-12 * scale, err_msg=type)
    assert model.summary().split() == " ".join(r["summary"]).split()
    assert list(model.importance().index) == r["important"][1:]
    assert MarsModel.from_json(model.model_.to_json()) == model.model_
    assert model.nominal_df_ > 1 and model.get_params()["degree"] == model.model_.degree
    model.anova()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))


def test_options_are_read(found, folder):
    read = Earth.from_r(folder / "binomial.rds").get_params()
    assert (read["degree"], read["glm_family"], read["glm_link"]) == (2, "binomial", "logit")
    assert Earth.from_r(folder / "matrix.rds").penalty == 3


def test_degrees_of_freedom_of_a_read_model(found, folder):
    for name, shape, degree in (
        ("matrix", (330, 3), 2),
        ("factors", (523, 4), 2),
        ("frame", (330, 3), 1),
    ):
        model = Earth.from_r(folder / f"{name}.rds")
        r, c = model.n_terms_, model.penalty_
        assert nominal_df(model) == r + c * (r - 1) / 2
        of_model = correct_penalty(model, n_rep=3, engine="auto")  # its own is R's
        of_shape = correct_penalty(shape, degree=degree, nk=21, n_rep=3)
        assert of_model.to_dict() == of_shape.to_dict()
        assert correct_penalty(model, n_rep=3, nk=5).nk == 5
    with pytest.raises(InvalidInputError, match="it should be fitted first"):
        correct_penalty(Earth())


def test_an_object_of_rpy2(found, folder):
    from rpy2 import rinterface

    for name in ("formula", "several"):
        fit = rinterface.baseenv["readRDS"](rinterface.StrSexpVector([str(folder / f"{name}.rds")]))
        model, file = Earth.from_r(fit), Earth.from_r(folder / f"{name}.rds")
        assert model.model_ == file.model_


def test_intervals_and_cv_of_a_read_model(found, folder):
    model = Earth.from_r(folder / "cv.rds")
    assert len(model.cv_) == 10
    assert (model.nfold, model.ncross, model.varmod_method) == (3, 3, "lm")
    assert list(model.predict_interval(new_data(found, "cv")).columns) == ["fit", "lower", "upper"]


def test_factors_without_the_data_are_a_matrix_model(found, folder):
    model = Earth.from_r(folder / "no data.rds")
    names = model.model_.feature_names
    assert names == ("pclass2nd", "pclass3rd", "sexmale")
    frame = found[1]["frame"]["titanic"]
    X = pd.DataFrame(
        {n: (frame[n[:-3] if n[0] == "p" else "sex"] == n[-3:]) * 1.0 for n in names[:2]}
    )
    X["sexmale"] = (frame["sex"] == "male") * 1.0
    expected = Earth(engine="r").fit(frame[["pclass", "sex"]], frame["age"])
    np.testing.assert_allclose(
        model.predict(X), expected.predict(frame[["pclass", "sex"]]), rtol=1e-12
    )


def test_wrong_sources_are_refused(found, folder, tmp_path):
    (tmp_path / "text.rds").write_text("no R data")
    (tmp_path / "cut.rds").write_bytes((folder / "matrix.rds").read_bytes()[:300])
    for source, message in [
        (tmp_path / "text.rds", "text.rds"),
        (tmp_path / "cut.rds", "cut.rds"),
        (tmp_path / "nothing.rds", "there is no such file"),
        (tmp_path, "there is no such file"),
        (folder / "lm.rds", "class lm, not earth"),
        (3, "source is a int"),
    ]:
        with pytest.raises(PyEarthDofError, match=message):
            Earth.from_r(source)


def test_a_read_model_works_without_r(found, folder, tmp_path):
    models = {name: Earth.from_r(folder / f"{name}.rds") for name in FITS}
    (tmp_path / "m.pickle").write_bytes(
        pickle.dumps(
            {n: (m, new_data(found, n), m.predict(new_data(found, n))) for n, m in models.items()}
        )
    )
    code = """
import pickle, sys
import numpy as np
from pyearthdof.mars.model.mars_model import MarsModel
models = pickle.load(open(sys.argv[1], "rb"))
for name, (model, new, expected) in models.items():
    np.testing.assert_array_equal(model.predict(new), expected)
    model.summary(), model.importance(), model.anova(), model.format()
    read = MarsModel.from_json(model.model_.to_json())
    assert read == model.model_
    np.testing.assert_array_equal(read.predict(new), expected)
print(len(models))
"""
    assert run_without_r(code, str(tmp_path / "m.pickle")).strip() == str(len(FITS))


# What is written: name, predictors, responses, options, engines
WRITTEN = {
    "numbers": ("ozone", "temp|ibh|doy", "O3", {"degree": 2}),
    "two": ("ozone", "temp|ibh|doy", "O3|wind", {}),
    "mixed": ("titanic", "pclass|sex|child|parch", "age", {"degree": 2}),
    "levels": ("titanic", "rank|parch", "age", {"degree": 2}),
    "one": ("ozone", "temp", "O3", {}),
}
R_USE = """
for (name in names) {
  fit <- readRDS(file.path(target, paste0("written ", name, ".rds")))
  set <- sub(" .*", "", name)
  index <- match(sub("^[^ ]* ", "", name), cases)
  new <- news[[data[index]]][, strsplit(columns[index], "|", fixed = TRUE)[[1]], drop = FALSE]
  put <- function(what, value) out[[paste("use", name, what, sep = "|")]] <<- value
  put("class", class(fit))
  put("predict", unname(as.matrix(predict(fit, new))))
  put("fitted", unname(as.matrix(predict(fit))))
  put("summary", capture.output(print(summary(fit))))
  put("format", capture.output(cat(format(fit))))
  importance <- evimp(fit)
  put("important", c("", sub("-unused$", "", rownames(importance))))
  put("nsubsets", importance[, 3])
  put("residuals", unname(as.matrix(residuals(fit))))
  put("coef", unname(fit$coefficients))
}
"""


@pytest.fixture(scope="module")
def written(found, folder):
    """Models of both engines, written and used by plain R."""
    models = {}
    for name, (data, x, y, options) in WRITTEN.items():
        frame = found[1]["frame"][data]
        y = y.split("|")
        for engine in ("r", "native"):
            model = Earth(engine=engine, **options)
            model.fit(frame[x.split("|")], frame[y if len(y) > 1 else y[0]])
            model.to_rds(folder / f"written {engine} {name}.rds")
            models[f"{engine} {name}"] = model
    used = run_r(
        R_DATA + R_USE, packages=("earth",), names=list(models), target=str(folder),
        cases=list(WRITTEN), data=[c[0] for c in WRITTEN.values()],
        columns=[c[1] for c in WRITTEN.values()],
    )  # fmt: skip
    return models, used


@pytest.mark.parametrize("name", [f"{e} {n}" for e in ("r", "native") for n in WRITTEN])
def test_r_uses_what_was_written(found, folder, written, name):
    models, used = written
    model = models[name]
    r = {key.split("|")[2]: v for key, v in used.items() if key.startswith(f"use|{name}|")}
    data, x, _, _ = WRITTEN[name.split()[1]]
    new = found[1]["new"][data][x.split("|")]
    assert r["class"] == ["earth"]
    ours = model.predict(new).reshape(r["predict"].shape)
    scale = np.abs(ours).max()
    np.testing.assert_allclose(ours, r["predict"], rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_array_equal(model.fitted_values_.reshape(r["fitted"].shape), r["fitted"])
    np.testing.assert_array_equal(model.residuals_.reshape(r["residuals"].shape), r["residuals"])
    np.testing.assert_array_equal(model.term_coef_.reshape(r["coef"].shape), r["coef"])
    assert list(model.importance().index) == r["important"][1:]
    np.testing.assert_array_equal(model.importance()["nsubsets"], r["nsubsets"])
    assert model.format().splitlines() == r["format"]
    text = " ".join(" ".join(r["summary"]).split())
    assert f"Selected {model.n_terms_} of {len(model.dirs_)} terms" in text
    assert Earth.from_r(folder / f"written {name}.rds").model_.selected_names == model.terms_


@pytest.mark.parametrize("engine", ["r", "native"])
def test_a_written_classifier_predicts_classes_in_r(found, folder, engine):
    iris = found[1]["frame"]["iris"]
    X = iris[["Sepal.Length", "Sepal.Width"]]
    model = EarthClassifier(engine=engine).fit(X, iris["Species"])
    model.to_rds(folder / "iris.rds")
    used = run_r(
        "f <- readRDS(path); out <- list(c = as.character(predict(f, iris[, 1:2], type = 'class')))",
        packages=("earth",), path=str(folder / "iris.rds"),
    )  # fmt: skip
    assert used["c"] == list(model.predict(X))
    with pytest.raises(InvalidInputError, match="glm_l2=1 but R has no ridge penalty"):
        EarthClassifier(glm_l2=1).fit(X, iris["Species"]).to_rds(folder / "penalised.rds")
    assert not (folder / "penalised.rds").exists()


def test_the_file_is_a_plain_rds(found, folder, written, tmp_path):
    models, _ = written
    models["r one"].to_rds(tmp_path / "a.rds")
    models["r one"].to_rds(tmp_path / "b.rds")
    assert (tmp_path / "a.rds").read_bytes() == (tmp_path / "b.rds").read_bytes()
    assert gzip.decompress((tmp_path / "a.rds").read_bytes())[:2] == b"X\n"
    with pytest.raises(PyEarthDofError, match="nowhere"):
        models["r one"].to_rds(tmp_path / "nowhere" / "a.rds")
