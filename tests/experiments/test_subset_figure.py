"""F-subset: R's figures from R's packages, and ours from the same draws."""

import subprocess

import numpy as np
import pytest
from rscript import needs_rscript, run_r
from versions import golden

from pyearthdof.bridge.scripts import scripts_folder
from pyearthdof.experiments import experiment
from pyearthdof.experiments.f_subset import (
    LASSO_DF,
    LASSO_NONZEROS,
    SUBSET_DF,
    draw_design,
)


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
@golden(glmnet="4.1.6", leaps="3.1")
def test_the_listed_figures_are_those_of_r():
    assert np.array_equal(figures_of_r().round(3), [LASSO_NONZEROS, LASSO_DF, SUBSET_DF])


@needs_rscript
def test_where_glmnet_converges_it_gives_ours(frame):
    nonzeros, lasso_df, subset_df = figures_of_r("1e-20")
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


def test_verdicts(frame):
    comparisons = experiment("F-subset").compare(frame)
    assert all(c.agrees for c in comparisons)


def test_best_subset_searches_and_the_lasso_does_not(frame):
    lasso, subset = parts(frame)
    gap = (lasso["df"] - lasso["nonzeros"]) / np.hypot(lasso["df_se"], lasso["nonzeros_se"])
    assert gap.abs().max() < 3
    assert (subset["df"] - subset["nonzeros"]).max() > 10 * subset["df_se"].min()
