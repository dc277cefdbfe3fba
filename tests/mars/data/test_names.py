"""Our names of terms are R's, in every paired case."""

import pytest

from pyearthdof.mars.components.terms import term_names
from pyearthdof.mars.data.design import default_names
from tests.support.mars.cases import CASES, r_results
from tests.support.rscript import needs_rscript


@needs_rscript
@pytest.mark.parametrize("case", CASES, ids=str)
def test_names_as_in_r(case):
    data, results = r_results()
    X, r = data[case.data]["x"], results[case]
    names = data[case.data].get("names", default_names(X.shape[1]))
    assert list(term_names(r["dirs"], r["cuts"], names, X)) == r["terms"]
