"""The folds of R's earth for scikit-learn."""

from __future__ import annotations

import numpy as np

from .._utils.checks import check_count, check_flag
from ..random import RDraws
from .engines.native.cross_validation import draw_folds


class RFolds:
    """Splitter with the folds of R's earth: the same rows for the same seed.

    Parameters
    ----------
    nfold, ncross : int
        Number of folds and of repetitions.
    stratify : bool
        Balance the folds over the rows with nonzero responses, as in earth.
    random_state : int
        R's seed.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import RFolds
    >>> folds = RFolds(nfold=3, random_state=1)
    >>> [test.tolist() for _, test in folds.split(np.zeros((6, 1)), np.arange(6.0))]
    [[0, 3, 4], [2, 5], [1]]
    """

    def __init__(self, nfold=10, *, ncross=1, stratify=True, random_state=1):
        self.nfold = nfold
        self.ncross = ncross
        self.stratify = stratify
        self.random_state = random_state

    def split(self, X, y, groups=None):
        """Yield training and test rows.

        Parameters
        ----------
        X : ignored
        y : (n,) or (n, m) array
            Responses, for stratified folds.
        groups : ignored
        """
        Y = np.asarray(y, dtype=float).reshape(len(y), -1)
        nfold, ncross = check_count("nfold", self.nfold, 2), check_count("ncross", self.ncross, 1)
        stratify = check_flag("stratify", self.stratify)
        draws = RDraws(check_count("random_state", self.random_state, 0))
        for fold_of in draw_folds(Y, min(nfold, len(Y)), ncross, stratify, draws):
            for fold in range(min(nfold, len(Y))):
                yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)

    def get_n_splits(self, X=None, y=None, groups=None) -> int:
        """Return the number of folds over all repetitions; X, if given, needs at least as many rows as folds.

        Parameters
        ----------
        X : array, optional
        y, groups : ignored
        """
        nfold = self.nfold if X is None else min(self.nfold, len(X))
        return nfold * self.ncross
