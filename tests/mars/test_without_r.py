"""Everything native in a process where R cannot be found: fit, summary, the authors' penalties."""

import csv
import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, EarthClassifier
from tests.support.without_r import run_without_r

ROWS = list(csv.DictReader((Path(__file__).parents[1] / "data" / "correct_penalty.csv").open()))


def test_fit_and_summary():
    code = """
import numpy as np
from pyearthdof import Earth
x = np.random.default_rng(0).normal(size=(100, 3))
model = Earth(degree=2).fit(x, np.abs(x[:, 0]) * x[:, 1])
print(model.engine_, model.summary())
"""
    text = run_without_r(code)
    assert text.startswith("native Call: Earth(degree=2)")
    assert "Termination condition: " in text and "GRSq" in text


@pytest.mark.needs_r
@pytest.mark.filterwarnings("ignore")
def test_models_that_r_fitted(tmp_path):
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=120),
            "kind": rng.choice(["u", "v", "w"], 120),
            "on": rng.random(120) > 0.5,
        }
    )
    frame["size"] = pd.Categorical(rng.choice(["S", "M", "L"], 120), ["S", "M", "L"], ordered=True)
    y = np.abs(frame["a"]) + 2 * (frame["kind"] == "v") * frame["on"] + 0.1 * rng.normal(size=120)
    several = np.column_stack([y, y**2])
    data = frame.assign(y=y, b=np.exp(frame["a"]))
    models = {
        "factors": Earth(degree=2, engine="r").fit(frame, y),
        "several": Earth(degree=2, engine="r").fit(frame, several),
        "poisson": Earth(glm_family="poisson").fit(frame, np.round(y + 1)),
        "several glm": Earth(glm_family="gaussian").fit(frame, several),
        "two classes": EarthClassifier().fit(frame, y > 1),
        "classes": EarthClassifier().fit(frame[["a", "size"]], frame["kind"]),
        "formula": Earth.from_formula("y ~ kind * on + poly(a, 2) + size", data, degree=2),
        "offset": Earth.from_formula("log(y + 1) ~ a + offset(log(b))", data),
        "cbind": Earth.from_formula("cbind(y, b) ~ ns(a, 3) + kind", data),
    }
    frames = {name: data if m.model_.formula else frame for name, m in models.items()}
    frames["classes"] = frame[["a", "size"]]
    kept = {
        name: (model, frames[name], model.model_.to_json(), model.predict(frames[name]))
        for name, model in models.items()
    }
    (tmp_path / "models.pickle").write_bytes(pickle.dumps(kept))
    code = """
import pickle, sys
import numpy as np
from pyearthdof.mars.model.mars_model import MarsModel
for name, (model, frame, text, expected) in pickle.load(open(sys.argv[1], "rb")).items():
    np.testing.assert_array_equal(model.predict(frame), expected, name)
    read = MarsModel.from_json(text)
    assert read == model.model_ and read.to_json() == text, name
    for type in ("response", "link", "earth"):
        np.testing.assert_array_equal(read.predict(frame, type), model.model_.predict(frame, type))
    assert model.transform(frame).shape == (len(frame), model.n_terms_)
    assert len(model.summary()) > 100 and len(model.format()) > 5
    model.importance(), model.anova(), model.feature_importances_, str(model)
    print(name)
"""
    assert run_without_r(code, str(tmp_path / "models.pickle")).splitlines() == list(models)


def test_factors_and_several_responses_are_fitted():
    code = """
import numpy as np, pandas as pd
from pyearthdof import Earth
rng = np.random.default_rng(0)
frame = pd.DataFrame({"a": rng.normal(size=100), "kind": rng.choice(["u", "v"], 100)})
model = Earth(degree=2).fit(frame, np.column_stack([frame["a"], frame["kind"] == "v"]) * 1.0)
print(model.engine_, model.term_coef_.shape[1], model.reprune(nprune=2).n_terms_)
"""
    assert run_without_r(code).split() == ["native", "2", "2"]


def test_all_penalties_of_the_reference():
    code = """
import csv, json, sys
from pyearthdof import correct_penalty
found = []
for row in csv.DictReader(open(sys.argv[1])):
    n, p, nk, degree, n_rep = (int(row[k]) for k in ("n", "p", "nk", "degree", "n_rep"))
    result = correct_penalty((n, p), nk=nk, degree=degree, n_rep=n_rep)
    found.append([result.df, result.nominal_df, result.penalty, result.settings["engine"]])
print(json.dumps(found))
"""
    path = Path(__file__).parents[1] / "data" / "correct_penalty.csv"
    found = json.loads(run_without_r(code, str(path)))
    assert len(found) == len(ROWS)
    for row, (df, nominal, penalty, engine) in zip(ROWS, found, strict=True):
        assert engine == "native"
        expected = [float(row[k]) for k in ("df", "nominal_df", "penalty")]
        np.testing.assert_allclose([df, nominal, penalty], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
def test_the_spam_penalties():
    code = """
from pyearthdof import correct_penalty
print(*(f"{correct_penalty((3065, 57), degree=d, nk=115, n_jobs=2).penalty:.6f}" for d in (1, 2)))
"""
    assert run_without_r(code).split() == ["6.252168", "7.935667"]
