"""The R code of a page, run by plain R, gives the coefficients of the model."""

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, EarthClassifier
from pyearthdof.mars.report.contents import About
from pyearthdof.mars.report.r_code import _text, r_code
from tests.support.rscript import needs_rscript, run_r


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    n = 120
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            'b "q" c': rng.normal(size=n),
            "kind": rng.choice(["low", "mid\\dle", "z"], n),
        }
    )
    y = np.maximum(0, frame["a"]) * 2 + (frame["kind"] == "z") * frame.iloc[:, 1]
    return frame, (y + rng.normal(size=n) / 5).rename("y out")


def code_of(model) -> str:
    about = About(
        classes=getattr(model, "classes_", None),
        is_named=hasattr(model, "feature_names_in_"),
        **model._settings(),
    )
    return r_code(model.model_, about)


CASES = {
    "plain": lambda X, y: Earth(degree=2, engine="native").fit(X, y),
    "options": lambda X, y: Earth(
        degree=2, penalty=1.25, nk=11, minspan=5, fast_k=5, newvar_penalty=0.1,
        linpreds=["a"], engine="native",
    ).fit(X, y),
    "glm": lambda X, y: Earth(glm_family="poisson", glm_link="sqrt", engine="native").fit(
        X, np.round(np.exp(y / 3) * 9).rename("y out")
    ),
    "classes": lambda X, y: EarthClassifier(glm_link="probit", engine="native").fit(
        X, np.where(y + np.sin(9 * y) > 0, "<yes>", "no")
    ),
    "cv": lambda X, y: Earth(nfold=3, pmethod="cv", random_state=7, engine="native").fit(X, y),
    "formula": lambda X, y: Earth.from_formula(
        "y ~ exp(a) + kind", X.assign(y=y)[["a", "kind", "y"]], engine="native"
    ),
    "interactions": lambda X, y: Earth(
        degree=2, interactions=[("kind", 'b "q" c')], penalty=0, engine="native"
    ).fit(X, y),
    "additive": lambda X, y: Earth(degree=2, interactions=[], engine="native").fit(X, y),
    "array": lambda X, y: Earth(engine="native").fit(X.iloc[:, :2].to_numpy(), y.to_numpy()),
}  # fmt: skip


@needs_rscript
@pytest.mark.needs_r
def test_r_gives_the_same_coefficients(data):
    X, y = data
    models = {name: make(X, y) for name, make in CASES.items()}
    counts = np.round(np.exp(y / 3) * 9)
    classes = np.where(y + np.sin(9 * y) > 0, "<yes>", "no")
    parts = []
    for name, model in models.items():
        response = {"glm": "counts", "classes": "classes"}.get(name, "values")
        code = code_of(model).replace("summary(fit)", "")
        parts.append(
            f"data <- frame; names(data)[1:3] <- column.names; y <- {response}; data[['y out']] <- y\n"
            f"data[['y']] <- y; x <- as.matrix(data[, 1:2]); dimnames(x) <- NULL\n{code}\n"
            f"out[['{name}']] <- as.numeric("
            "if (is.null(fit$glm.coefficients)) fit$coefficients else fit$glm.coefficients)\n"
        )
    plain = X.set_axis(["a", "b", "kind"], axis=1)
    found = run_r(
        "out <- list()\n" + "".join(parts),
        packages=("earth",),
        frame=plain,
        values=y.to_numpy(),
        counts=counts.to_numpy(),
        classes=list(classes),
        **{"column.names": list(X.columns)},
    )
    for name, model in models.items():
        expected = model.coef().to_numpy().ravel()
        assert len(expected) > 1, name
        np.testing.assert_allclose(found[name], expected, rtol=1e-7, atol=1e-8, err_msg=name)


def test_what_r_does_not_have_is_said(data):
    X, y = data
    model = Earth(engine="native", allowed=lambda *rest: True).fit(X, y)
    assert "# the fit had a Python function as allowed" in code_of(model)
    ridge = EarthClassifier(engine="native", glm_l2=0.5).fit(X, y > 0)
    assert "# R has no ridge penalty, which was 0.5 here" in code_of(ridge)


def test_strings_of_r():
    assert _text('a"b\\c\nd\x01') == '"a\\"b\\\\c\\nd\\x01"'


def test_r_has_neither_indicators_nor_monotone_effects(data):
    X, y = data
    holes = X.assign(a=X["a"].where(X["a"] < 1))
    said = code_of(Earth(missing="indicator").fit(holes, y))
    assert "# R refuses missing values, which had indicators here: its model differs" in said
    said = code_of(Earth(monotone={"a": 1}).fit(X, y))
    assert '# R has no monotone effects, here of "a": its model differs' in said
