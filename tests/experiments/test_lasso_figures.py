"""F-lasso-df and F-lasso-demo."""

import numpy as np
import pytest

from pyearthdof.experiments import experiment
from pyearthdof.experiments.f_lasso_demo import COUNT, NONZEROS, TRACE, _leave_one_out


def test_theorem_one_along_the_path():
    frame = experiment("F-lasso-df").run("paper")
    assert frame.groupby("p").size().index.tolist() == [20, 120]
    assert frame["difference"].abs().max() < 1e-8
    assert frame["difference_with_floor"].abs().max() < 1e-3
    assert (frame["delta"] >= -1e-9).all()
    for p, part in frame.groupby("p"):
        ratio = part["lambda"].iloc[1] / part["lambda"].iloc[0]
        assert ratio == pytest.approx((1e-4 if p < 100 else 0.01) ** (1 / 99))
    assert all(c.agrees for c in experiment("F-lasso-df").compare(frame))


@pytest.fixture(scope="module")
def demo():
    found = experiment("F-lasso-demo")
    return found, found.run("quick")


def test_iterative_ridge_reaches_the_lasso(demo):
    found, frame = demo
    assert frame.loc[frame["panel"] == "gap", "value"].max() < 5e-3
    assert all(c.agrees for c in found.compare(frame))


def test_the_path_begins_with_ridge_and_ends_at_the_lasso(demo):
    _, frame = demo
    for _, part in frame[frame["panel"] == "coefficients"].groupby("p"):
        ridge = part[part["series"] == "iterative ridge"]
        last = ridge[ridge["iteration"] == ridge["iteration"].max()]["value"].to_numpy()
        lasso = part[part["series"] == "lasso"]["value"].to_numpy()
        first = ridge[ridge["iteration"] == 0]["value"].to_numpy()
        assert np.abs(last - lasso).max() < 5e-3 < np.abs(first - lasso).max()


def test_three_counts_of_degrees_of_freedom(demo):
    _, frame = demo
    for _, part in frame[frame["panel"] == "df"].groupby("p"):
        wide = part.pivot(index="lambda", columns="series", values="value")
        used = wide[NONZEROS] > 0
        assert (wide[TRACE] < wide[NONZEROS])[used].all()
        assert (wide[COUNT] >= wide[TRACE] - 1)[used].all()


def test_leave_one_out_leaves_one_out():
    from sklearn.linear_model import Lasso

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    lams = np.array([6.0, 2.0])
    found = _leave_one_out(X, y, lams)
    for k, lam in enumerate(lams):
        rest = np.arange(12) != 5
        fit = Lasso(alpha=lam / 24, fit_intercept=False, tol=1e-10).fit(X[rest], y[rest])
        assert found[k, 5] == pytest.approx((y[5] - fit.predict(X[[5]])[0]) ** 2, rel=1e-4)
