"""The cost of a search: what the degrees of freedom are beyond those of a fixed model.

Two definitions: `sdf` compares the least-squares refit on the active set with the rank of that set
(equation "sdf" of the paper, after Tibshirani), `msdf` compares the fit itself, written as S(y) y,
with the trace of S(y) (the paper's own definition, which needs no active set).
"""

from __future__ import annotations

from .montecarlo.jackknife import Jackknife

__all__ = ["modified_search_cost", "search_cost"]


def modified_search_cost(df: Jackknife, trace: Jackknife | None) -> Jackknife | None:
    """msdf = df - E[tr S(y)]; None where the procedure cannot tell the trace."""
    return None if trace is None else df - trace


def search_cost(df_refitted: Jackknife | None, rank: Jackknife | None) -> Jackknife | None:
    """sdf = df(refitted) - E[rank X_A]; None where there is no active set."""
    return None if df_refitted is None or rank is None else df_refitted - rank
