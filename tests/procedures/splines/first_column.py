"""scikit-learn's checks for procedures of one predictor."""

WELCOME = "a plain vector of x is welcome, as in IsotonicRegression"
A_VECTOR_IS_FINE = {"check_fit1d": WELCOME, "check_fit2d_predict1d": WELCOME}


class FirstColumn:
    """scikit-learn's checks feed several columns; this one looks at the first of them only."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = False
        tags.regressor_tags.poor_score = True
        return tags

    def _column(self, X):
        return X[:, 0]
