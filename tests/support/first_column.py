"""scikit-learn's checks for procedures of one predictor, and the data that all of them refuse."""

import numpy as np
import pytest

from pyearthdof.exceptions import InvalidInputError

WELCOME = "a plain vector of x is welcome, as in IsotonicRegression"
A_VECTOR_IS_FINE = {"check_fit1d": WELCOME, "check_fit2d_predict1d": WELCOME}


class FirstColumn:
    """scikit-learn's checks feed several columns; this one looks at the first of them only."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = False
        tags.input_tags.two_d_array = True
        tags.regressor_tags.poor_score = True
        return tags

    def _column(self, X):
        return X[:, 0]


def refuses_bad_columns(procedure):
    x = np.arange(1.0, 101.0)
    with pytest.raises(InvalidInputError, match="X has 2 columns"):
        procedure.fit(np.column_stack([x, x]), x)
    with pytest.raises(InvalidInputError, match=r"single value 1\.0"):
        procedure.fit(np.ones(5), np.arange(5.0))
