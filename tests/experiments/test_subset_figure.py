"""F-subset: R's figures from R's packages, and ours from the same draws."""

import subprocess

import numpy as np
import pytest

from pyearthdof.bridge.installation import scripts_folder
from pyearthdof.experiments import experiment
from pyearthdof.experiments.f_subset import (
    CONVERGED_LASSO_DF,
    LASSO_DF,
    LASSO_NONZEROS,
    LONG_LASSO_DF,
    LONG_LASSO_SE,
    LONG_SUBSET_DF,
    LONG_SUBSET_SE,
    N_LONG,
    SUBSET_DF,
    draw_design,
)
from pyearthdof.experiments.verdict import tally
from tests.support.rscript import needs_rscript, run_r
from tests.support.versions import GLMNET_SEEN, LEAPS_SEEN, golden


@pytest.fixture(scope="module")
def frame():
    return experiment("F-subset").run("paper")


def parts(frame):
    return frame[frame["method"] == "lasso"], frame[frame["method"] == "best subset"]


def figures_of_r(*arguments):
    script = scripts_folder() / "reference" / "f_subset.R"
    done = subprocess.run(
        ["Rscript", "--vanilla", str(script), *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "there is no package called" in done.stderr:
        pytest.skip(f"R lacks a package: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return np.array([[float(v) for v in line.split()] for line in done.stdout.splitlines()])


@needs_rscript
@golden(glmnet=GLMNET_SEEN, leaps=LEAPS_SEEN)
def test_the_listed_figures_are_those_of_r():
    assert np.array_equal(figures_of_r().round(3), [LASSO_NONZEROS, LASSO_DF, SUBSET_DF])


@needs_rscript
def test_where_glmnet_converges_it_gives_ours(frame):
    nonzeros, lasso_df, subset_df = figures_of_r("1e-20")
    assert tuple(lasso_df.round(3)) == CONVERGED_LASSO_DF
    lasso, subset = parts(frame)
    np.testing.assert_allclose(lasso["df"], lasso_df, rtol=0, atol=1e-7)
    np.testing.assert_allclose(lasso["nonzeros"], nonzeros, rtol=0, atol=0.005)
    np.testing.assert_allclose(subset["df"], subset_df, rtol=1e-9)


@needs_rscript
def test_the_design_is_that_of_rmvnorm():
    code = """
if (!requireNamespace("mvtnorm", quietly = TRUE)) quit(status = 77)
Sigma <- matrix(0, 10, 10); Sigma[1:4, 1:4] <- 0.75; Sigma[5:10, 5:10] <- 0.9; diag(Sigma) <- 1
set.seed(20210319)
X <- mvtnorm::rmvnorm(20, rep(0, 10), Sigma); unused <- rnorm(20)
out <- list(X = X, z = rnorm(5))
"""
    theirs = run_r(code)
    draws, X = draw_design(20210319)
    np.testing.assert_allclose(X, theirs["X"], rtol=0, atol=1e-13)
    np.testing.assert_allclose(draws.normal(5), theirs["z"], rtol=1e-14)


def test_best_subset_is_the_same_to_three_decimals(frame):
    _, subset = parts(frame)
    assert tuple(subset["df"].round(3)) == SUBSET_DF
    assert tuple(subset["nonzeros"]) == tuple(range(1, 11))


@needs_rscript
def test_with_other_numbers_of_fits_r_gives_ours_too():
    """The first hundred draws give less than all five hundred, in R as here, and in all methods."""
    _, lasso_df, subset_df, lasso_se, subset_se = figures_of_r("1e-20", "100")
    found = experiment("F-subset")
    cells = [cell | {"n_rep": 100} for cell in found.cells("paper")]
    rows = [found.compute(cell, "auto")[0] for cell in cells]
    df, se = ([row[name] for row in rows] for name in ("df", "df_se"))
    np.testing.assert_allclose(df, [*lasso_df, *subset_df], rtol=0, atol=1e-7)
    np.testing.assert_allclose(se, [*lasso_se, *subset_se], rtol=0, atol=1e-6)
    assert (np.array(df) < [*CONVERGED_LASSO_DF, *SUBSET_DF]).all()


@pytest.mark.slow
@needs_rscript
@golden(glmnet=GLMNET_SEEN, leaps=LEAPS_SEEN)
def test_the_long_run_is_that_of_r():
    _, *found = figures_of_r("1e-20", str(N_LONG))
    digits = (3, 3, 4, 4)
    listed = (LONG_LASSO_DF, LONG_SUBSET_DF, LONG_LASSO_SE, LONG_SUBSET_SE)
    for values, places, expected in zip(found, digits, listed, strict=True):
        assert tuple(values.round(places)) == expected


def test_verdicts(frame):
    comparisons = experiment("F-subset").compare(frame)
    assert all(c.agrees for c in comparisons)
    assert {c.verdict for c in comparisons[:20]} == {"exact (rounded)"}


def test_quick_size_has_the_same_draws_as_r():
    found = experiment("F-subset")
    assert found.cells("quick") == found.cells("paper")


def test_the_numbers_of_r_are_counted_as_those_of_r(frame):
    comparisons = [c.to_dict() for c in experiment("F-subset").compare(frame)]
    counts = {judge: str(count) for judge, count in tally(comparisons).items()}
    assert counts == {"the paper": "1 of 1", "R": "20 of 20"}
    assert {c["paper"] for c in comparisons[:20]} == {"-"}


def test_other_responses_are_compared_with_a_long_run_of_r():
    found = experiment("F-subset")
    frame = found.run("quick", seed=3)
    comparisons = found.compare(frame)
    assert all(c.agrees for c in comparisons)
    assert {c.verdict for c in comparisons} == {"within error", "holds"}
    assert comparisons[11].reference == "2.741 (0.054)"
    # Known from the long run: these draws alone would not tell it.
    assert comparisons[11].ours.endswith("(0.34)")


def test_best_subset_searches_and_the_lasso_does_not(frame):
    lasso, subset = parts(frame)
    gap = (lasso["df"] - lasso["nonzeros"]) / np.hypot(lasso["df_se"], lasso["nonzeros_se"])
    assert gap.abs().max() < 3
    assert (subset["df"] - subset["nonzeros"]).max() > 10 * subset["df_se"].min()
