"""Plain R beside both engines on cases that hypothesis makes up: the same model or the same refusal.

50 cases of each kind, 200 in the slow tests; soak.py does the same with as many as one likes, in a process
that may crash.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from tests.support.fuzzing.case import Case
from tests.support.fuzzing.cases_strategy import distinct_cases
from tests.support.fuzzing.data_cases import data_cases
from tests.support.fuzzing.formula_cases import formula_cases
from tests.support.fuzzing.glm_cases import glm_cases
from tests.support.fuzzing.judge import AGREED, DIFFERENT, KINDS, REFUSED, TIED, judge
from tests.support.fuzzing.minimise import minimise
from tests.support.fuzzing.rserver import Died, Fitted, Refused, RServer
from tests.support.fuzzing.several_cases import several_cases
from tests.support.fuzzing.soak import Engines
from tests.support.fuzzing.weighted_cases import weighted_cases
from tests.support.rscript import needs_rscript

CASES = 200
ENGINES = ("r", "native")


@pytest.fixture(params=[50, pytest.param(CASES, marks=pytest.mark.slow)])
def n_cases(request) -> int:
    return request.param


def smallest_difference(server, case, engine):
    def differs(smaller):
        r = server.fit(smaller)
        return not isinstance(r, Died) and judge(smaller, r, engine).kind == DIFFERENT

    return minimise(case, differs)


@pytest.fixture(scope="module")
def server():
    with RServer() as running:
        yield running


def verdicts_of(server, cases) -> Counter:
    """How often each engine got which verdict; none may be a difference."""
    counts = Counter()
    for number, case in enumerate(cases):
        r = server.fit(case)
        assert not isinstance(r, Died), f"case {number}: {r}"
        for engine in ENGINES:
            verdict = judge(case, r, engine)
            counts[engine, verdict.kind] += 1
            assert verdict.kind != DIFFERENT, f"case {number}: {verdict}"
    return counts


@needs_rscript
@pytest.mark.needs_r
class TestAgainstR:
    def test_same_model_or_same_refusal(self, server, n_cases):
        counts = Counter()
        for case in distinct_cases(n_cases):
            r = server.fit(case)
            assert not isinstance(r, Died), f"what ends R would end us too: {r} {case}"
            for engine in ENGINES:
                verdict = judge(case, r, engine)
                counts[engine, verdict.kind] += 1
                if verdict.kind == DIFFERENT:
                    pytest.fail(f"{verdict}\n{smallest_difference(server, case, engine)}")
        print({f"{engine} {kind}": counts[engine, kind] for engine in ENGINES for kind in KINDS})
        # The cases are of both kinds, and a tie is rare.
        for engine in ENGINES:
            assert counts[engine, AGREED] > n_cases // 2
            assert counts[engine, REFUSED] > n_cases // 20
        assert counts["r", TIED] == 0
        assert counts["native", TIED] <= n_cases // 50

    def test_the_data_that_people_have(self, server, n_cases):
        counts = verdicts_of(server, data_cases(n_cases))
        for engine in ENGINES:
            assert counts[engine, AGREED] > n_cases // 2
            assert counts[engine, TIED] == 0

    def test_generalised_linear_models(self, server, n_cases):
        counts = verdicts_of(server, glm_cases(n_cases // 2))
        for engine in ENGINES:
            assert counts[engine, AGREED] > n_cases // 3

    def test_formulas(self, server, n_cases):
        counts = verdicts_of(server, formula_cases(n_cases // 2, 5))
        for engine in ENGINES:
            assert counts[engine, AGREED] > n_cases // 3

    def test_several_responses(self, server, n_cases):
        counts = verdicts_of(server, several_cases(n_cases // 2, 5))
        for engine in ENGINES:
            assert counts[engine, AGREED] > n_cases // 3

    def test_weights(self, server, n_cases):
        counts = verdicts_of(server, weighted_cases(n_cases // 2, 5))
        for engine in ENGINES:
            assert counts[engine, AGREED] > n_cases // 3

    def test_a_wrong_glm_would_be_noticed(self, server):
        case = next(c for c in glm_cases(CASES) if c.options.get("glm_family") == "gamma")
        r = server.fit(case)
        for name in ("glm_coef", "deviance", "null_deviance", "aic", "iterations"):
            parts = r.parts | {name: r.parts[name] * (1 + 1e-6) + (name == "iterations")}
            wrong = Fitted(parts, r.term_names, r.warnings)
            assert judge(case, wrong, "native").what.startswith(name)
        wrong = Fitted(r.parts, r.term_names, (*r.warnings, "glm.fit: algorithm did not converge"))
        assert judge(case, wrong, "native").what.startswith("warnings")

    def test_a_wrong_engine_would_be_noticed(self, server):
        case = next(c for c in distinct_cases(CASES) if len(c.y) > 60)
        r = server.fit(case)
        parts = dict(r.parts)
        parts["coef"] = parts["coef"] * (1 + 1e-7)
        wrong = Fitted(parts, r.term_names, r.warnings)
        assert {judge(case, wrong, engine).what for engine in ENGINES} == {"coef"}
        assert {judge(case, Refused("no"), engine).kind for engine in ENGINES} == {DIFFERENT}

    def test_the_server_survives_a_death(self):
        case = Case(np.arange(20.0)[:, None], np.arange(20.0))
        with RServer(timeout=30) as server:
            assert isinstance(server.fit(case), Fitted)
            server._process.kill()
            assert isinstance(server.fit(case), Died)
            assert isinstance(server.fit(case), Fitted)
            server.timeout = 0.0
            assert "did not answer" in server.fit(case).message
            assert server.starts == 2


def test_a_crash_of_an_engine_is_told_and_survived():
    case = Case(np.arange(20.0)[:, None], np.arange(20.0))
    engines = Engines(timeout=120)
    try:
        assert engines.judge(case, Refused("no"), "native").what == "R refused (no), we did not"
        os.kill(engines._process.pid, signal.SIGSEGV)
        assert (
            engines.judge(case, Refused("no"), "native").what == "the process ended with code -11"
        )
        assert engines.judge(case, Refused("no"), "native").what == "R refused (no), we did not"
    finally:
        engines.close()


def test_a_case_prints_as_code_that_makes_it_again():
    for case in (*distinct_cases(20, 1), *data_cases(20, 1)):
        again = eval(repr(case), {"Case": Case, "np": np, "pd": pd})
        np.testing.assert_array_equal(again.X, case.X)
        np.testing.assert_array_equal(again.y, case.y)
        assert repr(again) == repr(case)


def test_minimising_keeps_the_fault():
    case = next(c for c in distinct_cases(50, 2) if len(c.y) > 60 and len(c.options) > 3)
    name = next(iter(case.options))
    small = minimise(case, lambda c: name in c.options and len(c.y) > 4)
    assert list(small.options) == [name] and len(small.y) == 5 and small.X.shape[1] == 1
