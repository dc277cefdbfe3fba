"""What every fitted MARS estimator has, whoever computed the fit and whatever it predicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import bridge
from .._utils.checks import check_choice
from ..exceptions import InvalidInputError
from .components.cv_frames import cv_frames
from .data.design import check_new_data
from .engines.r import engine as engine_r
from .exports import Exports
from .inspect.importance import (
    anova_table,
    feature_importances,
    importance_table,
    term_contributions,
)
from .inspect.residuals import TYPES, fit_residuals, standardized
from .inspect.summary import anova_order
from .reported import Reports
from .shown import ShownEstimator
from .texts import MarsTexts

__all__ = ["FittedMars"]


class FittedMars(MarsTexts, Exports, Reports, ShownEstimator, TransformerMixin):
    """Basis, coefficients, residuals and importance of a fitted `MarsModel`."""

    def transform(self, X):
        """Evaluate the selected terms at the rows of X: an (n, n_terms_) matrix; needs no R.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = Earth(engine="native").fit(x, x[:, 0])
        >>> model.terms_, model.transform([[3.0, 0.0]])
        (('(Intercept)', 'x1'), array([[1., 3.]]))
        """
        check_is_fitted(self)
        return self.model_.basis(check_new_data(self, X))

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of `transform`: R's names of the selected terms.

        `input_features` is there for scikit-learn and does not count.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> Earth(engine="native").fit(x, x[:, 0]).get_feature_names_out()
        array(['(Intercept)', 'x1'], dtype=object)
        """
        check_is_fitted(self)
        return np.array(self.terms_, dtype=object)

    def contributions(self, X) -> pd.DataFrame:
        """What each term adds to the prediction at the rows of X, the intercept first.

        The columns add up to `predict(X)`; to the linear predictor, `predict(X, type="link")`, with a
        generalised linear model. Several responses have two levels of columns: the response and the term.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = Earth(engine="native").fit(x, 1 + 2 * x[:, 0])
        >>> model.contributions([[3.0, 0.0]]).round(6)
           (Intercept)   x1
        0          1.0  6.0
        """
        check_is_fitted(self)
        index = X.index if isinstance(X, pd.DataFrame) else None
        return term_contributions(self.model_, check_new_data(self, X), index)

    def residuals(self, type="earth"):
        """Residuals of the training rows, R's `residuals(fit, type)`.

        Parameters
        ----------
        type : {"earth", "deviance", "response", "standardize", "delever", "pearson", "working", "partial", \
"glm.response", "glm.pearson", "glm.working", "glm.partial"}
            "earth" are those of the least-squares fit. "deviance" and "response" are the same without a
            generalised linear model, and its own with one; "pearson", "working" and "partial" need one.
            "delever" divides by the root of 1 - leverage. "standardize" divides by the standard error of
            the variance model, too, and needs R for a gam.

        Returns
        -------
        (n,) or (n, m) array; a DataFrame with a column for each term for "partial".

        Examples
        --------
        >>> from pyearthdof import Earth
        >>> from pyearthdof.datasets import load_ozone
        >>> model = Earth.from_formula("O3 ~ temp", load_ozone(), engine="native")
        >>> bool((model.residuals("response") == model.residuals_).all())
        True
        """
        check_is_fitted(self)
        check_choice("type", type, TYPES)
        if type == "standardize":
            return self._standardized_residuals()
        data = getattr(self, "_data", None)
        has_offset = self.model_.formula is not None and self.model_.formula.has_offset
        if has_offset and data is None and self.model_.glm is not None and type != "earth":
            raise InvalidInputError(
                f"type={type!r} but the training data, and the offset, are not here"
            )
        return fit_residuals(
            self.model_,
            type,
            self.residuals_,
            self._glm_y,
            self.bx_,
            self.leverages_,
            self.weights_,
            getattr(data, "offset", None),
        )

    def _standardized_residuals(self) -> np.ndarray:
        if self.model_.varmod is not None:
            return standardized(np.ravel(self.residuals_), self._sd, self.leverages_)
        if getattr(self, "varmod_method", "none") == "none" or self._r_object is None:
            raise InvalidInputError(
                "type='standardize' but there is no variance model: fit with varmod_method, nfold and ncross"
            )
        # a gam, which is in R alone
        bridge.require("earth")
        return engine_r.standardized_residuals(self._r_object)[:, 0]

    def coef(self, type="response", decomp="none"):
        """Coefficients by `terms_`, the row names of R's `fit$coefficients`.

        R's `coef(fit)` has the same numbers, with the names as `summary` prints them:
        "h(a-1) * h(b-2)" for "h(a-1)*h(b-2)".

        Parameters
        ----------
        type : {"response", "earth", "glm"}
            Those of the generalised linear model where there is one; always those of the least-squares
            fit; or of the generalised linear model only.
        decomp : {"none", "anova"}
            Order: as the terms were found, or by degree and predictor. (R's `coef` of earth 5.3.2 leaves
            the names in the first order.)

        Returns
        -------
        Series; a DataFrame with a column for each of several responses, of which R gives the first.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> Earth(engine="native").fit(x, 1 + 2 * x[:, 0]).coef().round(6)
        (Intercept)    1.0
        x1             2.0
        dtype: float64
        """
        check_is_fitted(self)
        check_choice("type", type, ("response", "earth", "glm"))
        check_choice("decomp", decomp, ("none", "anova"))
        model = self.model_
        if type == "glm" and model.glm is None:
            raise InvalidInputError("type='glm' but this is no generalised linear model")
        values = model.coef if model.glm is None or type == "earth" else model.glm.coef
        order = list(range(model.n_terms))
        if decomp == "anova":
            order = anova_order(model.dirs[model.selected], model.cuts[model.selected])
        names = [model.selected_names[k] for k in order]
        if values.ndim == 1:
            return pd.Series(values[order], index=names)
        return pd.DataFrame(values[order], index=names, columns=list(model.response_names))

    def importance(self, *, trim=True, sqrt=True):
        """Importance of the predictors as a DataFrame, R's `evimp`: nsubsets, gcv, rss, used.

        Parameters
        ----------
        trim : bool
            Leave out predictors that are in no subset of the pruning pass.
        sqrt : bool
            Take the square root of gcv and rss before scaling them to 100.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> Earth(engine="native").fit(x, x[:, 0] + 0.1 * x[:, 1]).importance().round(1)
            nsubsets    gcv    rss  used
        x1         3  100.0  100.0  True
        x2         1    9.8    9.4  True
        """
        check_is_fitted(self)
        return importance_table(self.model_, trim=trim, sqrt=sqrt)

    @property
    def feature_importances_(self):
        """Share of each column of X in the importance by GCV; a factor's columns are added up.

        What scikit-learn's SelectFromModel and RFE choose columns by. Where no subset gains in GCV, it is
        the importance by RSS; where no column is used at all, the shares are 0.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 3))
        >>> model = Earth(engine="native").fit(x, np.abs(x[:, 2]) + 0.1 * x[:, 0])
        >>> model.feature_importances_.round(3)
        array([0.04, 0.  , 0.96])
        """
        check_is_fitted(self)
        model = self.model_
        if self._kept is not None and self._kept.importances is not None:
            return self._kept.importances
        if model.n_terms > 1 and model.prune_terms.size == 0:
            from .engines.native.prune import pruned_again

            model = pruned_again(model, self.bx_, self.fitted_values_ + self.residuals_)
        return feature_importances(model)

    @property
    def term_coef_(self):
        """Coefficients of the selected terms, the intercept first: (n_terms_,), or (n_terms_, m)."""
        check_is_fitted(self)
        return self.model_.coef

    @property
    def coef_(self):
        """There is none: the coefficients are of terms, `term_coef_`, not of columns of X."""
        raise AttributeError(
            f"{type(self).__name__} has no coef_, which would be a number for each column of X: the "
            "coefficients of the terms are in term_coef_, the importance of the columns of X is in "
            "feature_importances_"
        )

    def anova(self):
        """Friedman's decomposition: terms grouped by the predictors they use.

        Returns
        -------
        DataFrame
            One row for each group: its `terms`, the standard deviation `sd` of what it adds to the fit at
            the training rows, and the `gcv` of the model without it; the model's own GCV is `gcv_`.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> table = Earth(engine="native").fit(x, np.abs(x[:, 0]) + x[:, 1]).anova()
        >>> list(table.index), list(table.columns)
        (['x1', 'x2'], ['terms', 'sd', 'gcv'])
        """
        check_is_fitted(self)
        if self._kept is not None and self._kept.anova is not None:
            return self._kept.anova.copy()
        responses = self.fitted_values_ + self.residuals_
        return anova_table(self.model_, self.bx_, responses, self.weights_)

    def _learn(self, model, details, weights=None, weights_kept=None) -> None:
        """Take over a model and what is known of the training rows."""
        self.model_ = model
        self.bx_ = details.bx
        self.fitted_values_, self.residuals_ = details.fitted, details.residuals
        self.leverages_, self._glm_y = details.leverages, details.glm_y
        self.weights_, self._weights_kept = weights, weights_kept
        self._r_object, self._sd = details.r_object, details.sd
        self._varmod_errors = details.varmod_errors
        self._kept = None
        if details.cv is not None:
            self.cv_, self.cv_tables_ = cv_frames(details.cv)
