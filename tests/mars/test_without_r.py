"""Everything native in a process where R cannot be found: fit, summary, the authors' penalties."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from without_r import run_without_r

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
