"""R's polynomials of an ordered factor, to the bit."""

import numpy as np
import pandas as pd
import pytest

from pyearthdof.mars.data.columns import (
    MAX_LEVELS,
    Columns,
    polynomial_contrasts,
)
from tests.support.rscript import needs_rscript, run_r

SIZES = [*range(2, 41), 60, 93, 94, MAX_LEVELS]


@needs_rscript
def test_polynomials_are_rs():
    code = """
out <- list()
for (n in sizes) out[[paste0("n", n)]] <- unname(contr.poly(n))
out$refused <- inherits(try(contr.poly(max(sizes) + 1), silent = TRUE), "try-error")
"""
    found = run_r(code, sizes=np.array(SIZES, dtype=float))
    assert found["refused"][0] == 1
    for n in SIZES:
        np.testing.assert_array_equal(polynomial_contrasts(n), found[f"n{n}"], str(n))


def test_they_are_orthonormal_and_read_only():
    values = polynomial_contrasts(8)
    np.testing.assert_allclose(values.T @ values, np.eye(7), atol=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        values[0, 0] = 1


@needs_rscript
def test_columns_and_their_names_are_model_matrix():
    """All kinds of columns and odd names: what model.matrix makes of the same frame."""
    code = """
invisible(Sys.setlocale("LC_COLLATE", "C"))
d <- data.frame(f = factor(f), o = factor(o, c("low", "mid", "high", "top", "max"), ordered = TRUE),
                b = b == "TRUE", x = x)
names(d) <- names
m <- model.matrix(~ ., d)[, -1]
out <- list(m = unname(m), names = colnames(m))
"""
    rng = np.random.default_rng(2)
    columns = {
        "f": rng.choice(["b", "a", "Z", "é"], 30),
        "o": rng.choice(["low", "mid", "high", "top", "max"], 30),
        "b": rng.random(30) > 0.5,
        "x": rng.normal(size=30),
    }
    for names in (["f", "o", "b", "x"], ["a b", "_o", "TRUE", "1x"], ["é", "o`", "b\\", ".5"]):
        frame = pd.DataFrame(columns).set_axis(names, axis=1)
        levels = ["low", "mid", "high", "top", "max"]
        frame[names[1]] = pd.Categorical(frame[names[1]], levels, ordered=True)
        sent = columns | {"f": columns["f"].tolist(), "o": columns["o"].tolist()}
        sent["b"] = ["TRUE" if b else "FALSE" for b in columns["b"]]
        found = run_r(code, names=names, **sent)
        ours = Columns.learn(frame)
        assert list(ours.feature_names) == found["names"]
        np.testing.assert_array_equal(ours.expand(frame), found["m"])
        assert Columns.from_dict(ours.to_dict()) == ours
