"""What every fitted MARS estimator has, whoever computed the fit and whatever it predicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import bridge
from ..exceptions import InvalidInputError
from .cross_validation import cv_frames
from .describe.anova import anova_table
from .describe.contributions import term_contributions
from .describe.export import to_python, to_sql, to_sympy
from .describe.folds import cv_lines
from .describe.format import (
    DECOMPOSITIONS,
    STYLES,
    check_choice,
    check_digits,
    format_model,
    formulas_of,
)
from .describe.importance import feature_importances, importance_table, pruned_again
from .describe.residuals import TYPES, fit_residuals
from .describe.text import anova_order, model_summary, spaced
from .design.data import check_new_data
from .learned import LearnedFromModel
from .native.weights import differ
from .r import engine as engine_r

__all__ = ["FittedMars"]


class FittedMars(LearnedFromModel, TransformerMixin):
    """Basis, texts, importance and learned attributes of a fitted `MarsModel`."""

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

    def summary(
        self, *, details=False, style="h", decomp="anova", digits=7, fixed_point=True
    ) -> str:
        """R's own summary of the model; where there is no R, the same layout by us.

        What R says of a variance model below it comes from R alone.

        Parameters
        ----------
        details : bool
            For a generalised linear model, also earth's coefficients and R's table of the glm; needs R.
        style : {"h", "pmax", "max", "C", "bf"}
            "h" is a table of coefficients, the others are formulas as in `format`.
        decomp : {"anova", "none"}
            Order of the terms: by degree and predictor, or as they were found.
        digits : int
            Significant digits.
        fixed_point : bool
            Round coefficients that are tiny beside the largest away.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> print(Earth().fit(x, x[:, 0] + 0.1 * x[:, 1] ** 2).summary())  # doctest: +ELLIPSIS
        Call: ...
        <BLANKLINE>
                         coefficients
        (Intercept)         0.8604269
        h(0.916655-x1)     -0.9998561
        h(x1-0.916655)      0.9995384
        h(-0.049801-x2)     0.2026489
        h(x2- -0.049801)    0.1749666
        <BLANKLINE>
        Selected 5 of 5 terms, and 2 of 2 predictors
        Termination condition: RSq changed by less than 0.001 at 5 terms
        Importance: x1, x2
        Number of terms at each degree of interaction: 1 4 (additive model)
        GCV 0.001413273    RSS 0.1170331    GRSq 0.9985615    RSq 0.9987846
        """
        check_is_fitted(self)
        check_choice("style", style, STYLES)
        check_choice("decomp", decomp, DECOMPOSITIONS)
        check_digits(digits)
        for name, value in (("details", details), ("fixed_point", fixed_point)):
            if not isinstance(value, (bool, np.bool_)):
                raise InvalidInputError(f"{name}={value!r} but it should be True or False")
        # R's own summary stops where a GCV is infinite
        infinite = not np.isfinite(self.model_.gcv_per_subset).all()
        if self._r_object is not None and bridge.is_available() and not infinite:
            given = {"details": details, "style": style, "decomp": decomp, "digits": digits}
            return engine_r.summary_text(self._r_object, given | {"fixed.point": fixed_point})
        if details and self.model_.glm is not None:
            raise InvalidInputError(
                "details=True but the table of a generalised linear model comes from R: fit with engine='r'"
            )
        options = {"decomp": decomp, "digits": digits}
        formulas = None if style == "h" else formulas_of(self.model_, style, **options)
        nprune, statistics = getattr(self, "nprune", None), None
        if hasattr(self, "cv_tables_"):
            statistics = cv_lines(self.model_, self.cv_, self.cv_tables_, nprune, digits)
        return model_summary(
            self.model_,
            repr(self),
            nprune,
            self._weights_shown(),
            details=details,
            fixed_point=fixed_point,
            formulas=formulas,
            offset=getattr(getattr(self, "_data", None), "offset", None),
            statistics=statistics,
            **options,
        )

    def _weights_shown(self) -> np.ndarray | None:
        """The weights that R keeps with a fit: as they were given, of all rows, unless all are equal."""
        weights = self.weights_
        if self.model_.glm is None:
            weights = getattr(getattr(self, "_data", None), "all_weights", weights)
        if getattr(self, "force_weights", False):
            return np.ones(self.model_.n_samples) if weights is None else weights
        if weights is None or not differ(weights):
            return None
        return getattr(self, "_case_weights", weights) if self.model_.glm is not None else weights

    def format(self, style="h", *, decomp="anova", digits=7, use_names=True, colon_char=":") -> str:
        """The model as a formula, the text of R's `format(fit, style)`.

        Parameters
        ----------
        style : {"h", "pmax", "max", "C", "bf"}
            Hinges as h(x-c), as R's pmax, as max, as C code, or as a list of basis functions.
        decomp : {"anova", "none"}
            Order of the terms: by degree and predictor, or as they were found.
        digits : int
            Significant digits.
        use_names : bool
            Names of the predictors, or x[,1], x[,2], ...
        colon_char : str
            What stands for the colon in names of interactions.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> print(Earth(engine="native").fit(x, 2 + x[:, 0]).format("pmax", digits=3).strip())
        2
          + 1 * x1
        """
        check_is_fitted(self)
        return format_model(
            self.model_,
            style,
            decomp=decomp,
            digits=digits,
            use_names=use_names,
            colon_char=colon_char,
        )

    def to_python(self, name="predict", type="response") -> str:
        """Source of a plain Python function that predicts one row; it imports nothing but math.

        Its name is `name`, and `type` is what it predicts, as in `predict`.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = Earth(engine="native").fit(x, np.abs(x[:, 0]))
        >>> scope = {}
        >>> exec(model.to_python("f"), scope)
        >>> bool(abs(scope["f"](1.0, 2.0) - model.predict([[1.0, 2.0]])[0]) < 1e-12)
        True
        """
        check_is_fitted(self)
        return to_python(self.model_, name, type=type)

    def to_sympy(self, type="response"):
        """The model as a sympy expression; needs the package sympy (an example is in `export`).

        `type` is what it predicts, as in `predict`.
        """
        check_is_fitted(self)
        return to_sympy(self.model_, type=type)

    def to_sql(self, type="response"):
        """The model as one SQL expression for a SELECT; a list of them for several responses.

        `type` is what it predicts, as in `predict`.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = Earth(engine="native", linpreds=True).fit(x, x[:, 0])
        >>> '"x1"' in model.to_sql()
        True
        """
        check_is_fitted(self)
        return to_sql(self.model_, type=type)

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
            the variance model, too, and needs R.

        Returns
        -------
        (n,) or (n, m) array; a DataFrame with a column for each term for "partial".

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> model = Earth(engine="native").fit(x, np.abs(x[:, 0]))
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
            self.fitted_values_,
            self.bx_,
            self.leverages_,
            self.weights_,
            getattr(data, "offset", None),
            is_pairs=data is not None
            and data.responses.matrix.shape[1] > len(self.model_.response_names),
        )

    def _standardized_residuals(self) -> np.ndarray:
        if getattr(self, "varmod_method", "none") == "none" or self._r_object is None:
            raise InvalidInputError(
                "type='standardize' but there is no variance model: fit with varmod_method, nfold and ncross"
            )
        bridge.require("earth")
        return engine_r.standardized_residuals(self._r_object)[:, 0]

    def coef(self, type="response", decomp="none"):
        """Coefficients by the names of their terms, R's `coef(fit)`.

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
        names = [spaced(model.selected_names[k]) for k in order]
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
        if model.n_terms > 1 and model.prune_terms.size == 0:
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
        responses = self.fitted_values_ + self.residuals_
        return anova_table(self.model_, self.bx_, responses, self.weights_)

    def _learn(self, model, details, weights=None) -> None:
        """Take over a model and what is known of the training rows."""
        self.model_ = model
        self.bx_ = details.bx
        self.fitted_values_, self.residuals_ = details.fitted, details.residuals
        self.leverages_ = details.leverages
        self.weights_ = weights
        self._r_object, self._sd = details.r_object, details.sd
        if details.cv is not None:
            self.cv_, self.cv_tables_ = cv_frames(details.cv)

    def __str__(self) -> str:
        return str(self.model_) if hasattr(self, "model_") else repr(self)
