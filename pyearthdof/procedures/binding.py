"""Procedures that do what depends on X in `bind`, and the rest for many responses at once."""

from __future__ import annotations

from .._checks import check_responses
from ..contract import Fits, Procedure

__all__ = ["BindingProcedure"]


class BindingProcedure(Procedure):
    """A procedure whose `bind` checks X; a subclass has no `fit_many` of its own."""

    def fit_many(self, X, Y) -> Fits:
        """Fit every column of Y on the same X.

        Parameters
        ----------
        X : (n, p) array
        Y : (n, m) array

        Returns
        -------
        Fits
        """
        bound = self.bind(X)
        return bound.fit_many(check_responses(Y, len(X)))
