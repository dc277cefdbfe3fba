"""What `summary` says of a variance model beside plain R's own words."""

import functools
import json

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, MarsModel
from pyearthdof.exceptions import InvalidInputError
from tests.support.rscript import needs_rscript, run_r
from tests.support.without_r import run_without_r

RNG = np.random.default_rng(8)
N = 200
X = pd.DataFrame(
    {"a": RNG.uniform(0, 2, N), "b": RNG.normal(size=N), "count": RNG.integers(0, 5, N) * 1.0}
)
MEAN = 2 + 6 * np.abs(X["a"] - 1) + 2 * X["a"] * (X["b"] > 0) + X["count"]
Y = (MEAN + 0.05 * MEAN**1.5 * RNG.normal(size=N)).rename("y")
FOLDS = {"nfold": 3, "ncross": 3, "random_state": 5}
# R's arguments: ours
CASES = {
    'varmod.method="const"': {"varmod_method": "const"},
    'varmod.method="lm"': {"varmod_method": "lm"},
    'varmod.method="rlm"': {"varmod_method": "rlm"},
    'varmod.method="earth"': {"varmod_method": "earth"},
    'varmod.method="x.lm"': {"varmod_method": "x.lm"},
    'varmod.method="x.rlm"': {"varmod_method": "x.rlm"},
    'varmod.method="x.earth"': {"varmod_method": "x.earth"},
    'varmod.method="lm", varmod.exponent=0.5': {"varmod_method": "lm", "varmod_exponent": 0.5},
    'varmod.method="rlm", varmod.exponent=1/3': {"varmod_method": "rlm", "varmod_exponent": 1 / 3},
    'varmod.method="earth", varmod.exponent=2': {"varmod_method": "earth", "varmod_exponent": 2},
    'varmod.method="lm", varmod.exponent=1.5': {"varmod_method": "lm", "varmod_exponent": 1.5},
    'varmod.method="lm", varmod.conv=-1, varmod.clamp=0.8': {
        "varmod_method": "lm", "varmod_conv": -1, "varmod_clamp": 0.8},
    'varmod.method="lm", pmethod="cv"': {"varmod_method": "lm", "pmethod": "cv"},
    'varmod.method="lm", penalty=1000': {"varmod_method": "lm", "penalty": 1000},
    'varmod.method="lm", penalty=1000, varmod.exponent=2': {
        "varmod_method": "lm", "penalty": 1000, "varmod_exponent": 2},
    'varmod.method="x.lm", degree=2, nprune=3': {"varmod_method": "x.lm", "degree": 2, "nprune": 3},
}  # fmt: skip
# R's nls stops a little before the minimum, which fewer digits do not show
POWERS = {
    'varmod.method="power"': {"varmod_method": "power"},
    'varmod.method="power0"': {"varmod_method": "power0"},
}
DIGITS = (7, 2, 3, 12)
CODE = """
y <- d$y
out <- list()
for (i in seq_along(calls)) {
  set.seed(5)
  text <- paste0("earth(x, y, nfold=3, ncross=3, ", calls[i], ")")
  fit <- suppressWarnings(eval(parse(text = text)))
  for (k in digits)
    out[[paste0("s", i, ".", k)]] <- capture.output(print(summary(fit, digits = k)))
}
"""


@functools.cache
def plain_r():
    calls = [*CASES, *POWERS]
    digits = np.array(DIGITS, dtype=float)
    return run_r(CODE, packages=("earth",), x=X, d=Y.to_frame(), calls=calls, digits=digits)


def fitted(options, **more):
    return Earth(**(FOLDS | {"engine": "native"} | options | more)).fit(X, Y)


def below_the_call(text):
    return text.split("\n\n", 1)[1].split("\n")


@needs_rscript
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
@pytest.mark.parametrize("case", [*CASES, *POWERS])
def test_same_as_plain_r(case):
    model = fitted((CASES | POWERS)[case])
    for digits in DIGITS if case in CASES else (2, 3):
        theirs = plain_r()[f"s{1 + [*CASES, *POWERS].index(case)}.{digits}"]
        ours = below_the_call(model.summary(digits=digits))
        assert any(line.startswith("varmod: method") for line in ours)
        assert ours == below_the_call("\n".join(theirs))


@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
@pytest.mark.parametrize("method", ["const", "earth", "power", "x.lm"])
def test_a_loaded_model_says_the_same_and_a_model_alone_says_less(method, tmp_path):
    model = fitted({"varmod_method": method})
    loaded = Earth.from_json(model.to_json())
    assert below_the_call(loaded.summary()) == below_the_call(model.summary())
    model.model_.save(tmp_path / "model.json")
    assert MarsModel.load(tmp_path / "model.json") == model.model_
    alone = Earth.load(tmp_path / "model.json").summary()
    assert f'varmod: method "{method}"' in alone and "need the training rows" in alone
    shown = model.summary().split("stddev of predictions:")[1].split("\n\n")[0].split("\n")[2:]
    names = [line.split()[:2] for line in shown]
    lines = alone.split("stddev of predictions:")[1].split("\n\n")[0].split("\n")[2:]
    assert [line.split() for line in lines] == names


@pytest.mark.needs_r
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
@pytest.mark.parametrize("method", ["const", "lm", "rlm", "earth", "x.earth", "power0"])
def test_a_model_of_r_says_the_same_when_it_is_loaded(method):
    model = fitted({"varmod_method": method}, engine="r")
    loaded = Earth.from_json(model.to_json())
    assert below_the_call(loaded.summary()) == below_the_call(model.summary())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"widths": [1.0]}, "widths should have 3 entries"),
        ({"stderr": [1.0]}, "stderr should have 2 entries"),
        ({"names": [1, 2]}, "where text should be"),
        ({"rsq": "x"}, "where a number should be"),
        ({"more": 1}, "should have exactly names, stderr, rsq, widths, inside"),
    ],
)
def test_damaged_files_are_refused_by_name(change, message):
    entries = json.loads(fitted({"varmod_method": "lm"}).to_json())
    entries["estimator"]["varmod_shown"] |= change
    with pytest.raises(InvalidInputError, match=message):
        Earth.from_json(json.dumps(entries))


def test_files_without_the_numbers_of_the_summary_are_read():
    """Those of versions before they were kept."""
    entries = json.loads(fitted({"varmod_method": "lm"}).to_json())
    del entries["estimator"]["varmod_shown"]
    assert "need the training rows" in Earth.from_json(json.dumps(entries)).summary()
    entries["estimator"]["varmod_shown"] = {}
    entries["varmod"] = None
    with pytest.raises(InvalidInputError, match="has no variance model"):
        Earth.from_json(json.dumps(entries))


def test_without_r():
    code = """
import numpy as np
from pyearthdof import Earth
x = np.random.default_rng(0).uniform(size=(90, 1))
y = 5 + x[:, 0] * (1 + np.random.default_rng(1).normal(size=90))
fit = Earth(nfold=3, ncross=3, varmod_method="lm", random_state=1).fit(x, y)
print(fit.engine_, "iter.stderr%" in fit.summary(), "95% prediction interval" in fit.summary())
"""
    assert run_without_r(code).split()[-3:] == ["native", "True", "True"]


@pytest.mark.needs_r
@pytest.mark.filterwarnings("ignore::pyearthdof.exceptions.RWarning")
@pytest.mark.parametrize("engine", ["r", "native"])
def test_predictors_that_depend_on_each_other(engine):
    """R's own summary stops at coefficients without standard errors."""
    doubled = X.assign(twice=2 * X["a"])
    model = Earth(**FOLDS, varmod_method="x.lm", engine=engine).fit(doubled, Y)
    text = model.summary()
    line = next(line for line in text.splitlines() if line.startswith("twice "))
    assert line.split() == ["twice", "NA", "NA", "NA"]
    loaded = Earth.from_json(model.to_json()).summary()
    assert below_the_call(loaded) == below_the_call(text)
