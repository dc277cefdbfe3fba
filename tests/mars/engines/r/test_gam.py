"""A gam as the variance model: R's packages gam and mgcv, which earth wants on its search path."""

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, bridge
from pyearthdof.exceptions import RError
from tests.support.rscript import needs_rscript, run_r

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"x": RNG.normal(size=100)})
Y = (np.abs(FRAME["x"]) + 0.3 * RNG.normal(size=100)).rename("y")
OPTIONS = {"nfold": 3, "ncross": 3, "random_state": 5, "engine": "r"}


def attached() -> list[str]:
    """R's search path in this process."""
    import rpy2.robjects as robjects

    return list(robjects.r("search()"))


@needs_rscript
@pytest.mark.needs_r("gam")
@pytest.mark.parametrize("method", ["gam", "x.gam"])
@pytest.mark.parametrize("by_formula", [False, True])
def test_same_as_plain_r(method, by_formula):
    call = "earth(y ~ x, data = data.frame(d, y = y)" if by_formula else "earth(d, y"
    code = f"""
set.seed(5)
fit <- {call}, nfold = 3, ncross = 3, varmod.method = "{method}")
out <- list(fit = as.matrix(predict(fit, d[1:9, , drop = FALSE], interval = "pint")),
            residuals = as.vector(residuals(fit, type = "standardize")),
            text = capture.output(print(summary(fit))))
"""
    r = run_r(code, packages=("earth", "gam"), d=FRAME, y=Y.to_numpy())
    bridge.require("earth")
    before = attached()
    if by_formula:
        model = Earth.from_formula("y ~ x", FRAME.assign(y=Y), varmod_method=method, **OPTIONS)
    else:
        model = Earth(varmod_method=method, **OPTIONS).fit(FRAME, Y)
    np.testing.assert_allclose(model.predict_interval(FRAME[:9]), r["fit"], rtol=1e-13)
    np.testing.assert_allclose(model.residuals("standardize"), r["residuals"], rtol=1e-12)
    assert model.summary().split("\n\n", 1)[1] == "\n".join(r["text"]).split("\n\n", 1)[1]
    assert attached() == before


@pytest.mark.needs_r
def test_what_is_missing_is_named():
    if bridge.is_available("gam") or bridge.is_available("mgcv"):
        pytest.skip("gam or mgcv is here")
    with pytest.raises(RError, match=r'needs the R package gam or mgcv: install.packages\("gam"\)'):
        Earth(varmod_method="gam", **OPTIONS).fit(FRAME, Y)
