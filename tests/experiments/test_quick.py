"""Experiments at quick size: the same code path as the paper's, in seconds."""

import numpy as np
import pytest
from sklearn.base import clone

from pyearthdof import Earth
from pyearthdof.datasets import make_hinges
from pyearthdof.experiments import experiment
from pyearthdof.experiments.f_mars_df import MarsDf
from pyearthdof.experiments.f_mars_mse import PENALTIES, MarsMse, _for_each_penalty
from pyearthdof.experiments.t2 import PAPER as SPLINES


def test_trees():
    found = experiment("T3")
    frame = found.run("quick")
    assert all(c.agrees for c in found.compare(frame))
    assert (frame.loc[frame["depth"] == 4, "leaves"] < 14).all()
    assert (frame.loc[frame["depth"] > 0, "msdf"] > 2).all()
    assert found.table(frame).shape == (5, 8)


@pytest.mark.parametrize("method", SPLINES)
def test_splines(method):
    found = experiment("T2")
    cells = [cell for cell in found.cells("quick") if cell["method"] == method]
    rows = [found.compute(cell, "auto")[0] for cell in cells]
    for row in rows:
        _, paper, paper_se = SPLINES[method][1][row["parameter"]]
        assert abs(row["df"] - paper) <= 3 * np.hypot(row["df_se"], paper_se)
        assert abs(row["df"] - row["theory"]) <= 3.5 * np.hypot(row["df_se"], row["theory_se"])
    if method == "smoothing spline":
        exact = [7.332091, 4.561451, 3.004509]
        np.testing.assert_allclose([row["theory"] for row in rows], exact, atol=5e-7)


def test_overview_without_mars():
    found = experiment("T1")
    cells = [c for c in found.cells("quick") if c["procedure"] in ("least squares", "lasso")]
    rows = {c["procedure"]: found.compute(c, "auto")[0] for c in cells}
    assert rows["least squares"]["n_coef"] == rows["least squares"]["trace"] == 10
    assert rows["lasso"]["trace"] < rows["lasso"]["n_coef"]
    assert rows["lasso"]["msdf"] > 3 * rows["lasso"]["msdf_se"]


def test_mars_df_of_the_authors_draw():
    """The first draws are those of Algorithm 2 with the authors' seed."""
    cell = {"p": 10, "degree": 1, "seed": 1234, "fresh_seed": 4321, "n_rep": 100, "nk": [1, 5, 21]}
    rows = MarsDf().compute(cell, "auto")
    assert rows[1]["df"] == pytest.approx(13.1638400908, abs=1e-8)
    assert rows[1]["penalty"] == pytest.approx(4.09716295279, abs=1e-8)
    assert rows[2]["df"] == pytest.approx(36.3063211221, abs=1e-8)
    assert rows[2]["nominal_df"] == pytest.approx(34.22)
    assert rows[2]["penalty"] == pytest.approx(2.25121265769, abs=1e-8)
    assert rows[2]["fresh_df"] != rows[2]["df"]


@pytest.mark.needs_r
@pytest.mark.parametrize("engine", ["r", "native"])
@pytest.mark.parametrize(("p", "degree"), [(2, 1), (20, 2)])
def test_one_fit_serves_all_penalties(p, degree, engine):
    train, test = make_hinges(180, p, random_state=1), make_hinges(30, p, random_state=2)
    fit = Earth(degree=degree, nk=max(20, 2 * p + 1), thresh=0.0, engine=engine)
    found = _for_each_penalty(fit, train.X, train.y, test.X)
    for penalty, predictions in zip(PENALTIES, found, strict=True):
        direct = (
            clone(fit).set_params(penalty=penalty, engine="r").fit(train.X, train.y).predict(test.X)
        )
        np.testing.assert_allclose(predictions, direct, rtol=0, atol=1e-9)


@pytest.mark.needs_r
def test_mars_mse_of_two_predictors():
    cell = {"p": 2, "degree": 1, "n_rep": 20, "replications": 2}
    rows = MarsMse().compute(cell, "auto")
    by_r = MarsMse().compute(cell, "r")
    for ours, theirs in zip(rows, by_r, strict=True):
        assert ours["method"] == theirs["method"] and ours["n_terms"] == theirs["n_terms"]
        assert ours["penalty"] == pytest.approx(theirs["penalty"], rel=1e-8)
        assert ours["r2"] == pytest.approx(theirs["r2"], rel=1e-8)
    assert len(rows) == 6 and {row["nk"] for row in rows} == {20}
    assert all(0.5 < row["r2"] < 1 for row in rows)
    assert rows[0]["penalty"] == 2.0 and rows[2]["penalty"] in PENALTIES
