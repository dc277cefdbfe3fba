"""A fitted estimator in words: summary and formulas."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import bridge
from .._utils.checks import check_choice, check_flag
from .components.variance import VarianceErrors
from .engines.r import engine as engine_r
from .inspect.cv_summary import cv_lines
from .inspect.format import DECOMPOSITIONS, STYLES, check_digits, format_model, formulas_of
from .inspect.glm_table import LEFT_OUT, glm_details
from .inspect.html import Summary
from .inspect.summary import model_summary
from .inspect.variance_summary import VarianceShown, variance_lines
from .learned import LearnedFromModel
from .saved_estimator import SavedEstimator

__all__ = ["MarsTexts"]


class MarsTexts(LearnedFromModel, SavedEstimator):
    """The texts of a fitted `MarsModel`."""

    _varmod_errors: VarianceErrors | None
    _weights_kept: np.ndarray | None

    def summary(
        self, *, details=False, style="h", decomp="anova", digits=7, fixed_point=True
    ) -> Summary:
        """R's own summary of the model; where there is no R, the same text by us.

        Below it are the variance model, if there is one, with standard errors of its coefficients, the
        lengths of the prediction intervals, and the shares of the responses in them.

        It is a str, which notebooks show with the terms drawn.

        Parameters
        ----------
        details : bool
            For a generalised linear model, also earth's coefficients and R's table of the glm, which needs
            the training rows.
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
        check_flag("details", details)
        check_flag("fixed_point", fixed_point)
        if self._r_object is not None and bridge.is_available() and not self._stops_in_r():
            given = {"details": details, "style": style, "decomp": decomp, "digits": digits}
            text = engine_r.summary_text(self._r_object, given | {"fixed.point": fixed_point})
            return Summary.of(text, self.model_)
        options = {"decomp": decomp, "digits": digits}
        formulas = None if style == "h" else formulas_of(self.model_, style, **options)
        nprune, statistics = getattr(self, "nprune", None), None
        if hasattr(self, "cv_tables_"):
            statistics = cv_lines(self.model_, self.cv_, self.cv_tables_, nprune, digits)
        text = model_summary(
            self.model_,
            repr(self),
            nprune,
            self._weights_shown(),
            details=details,
            glm_details=self._glm_details(digits) if details else (),
            fixed_point=fixed_point,
            formulas=formulas,
            offset=self._offset_shown(),
            statistics=statistics,
            **options,
        )
        if self.model_.varmod is not None:
            text = "\n".join([text, "", *variance_lines(self.model_, self._varmod_shown(), digits)])
        return Summary.of(text, self.model_)

    def _stops_in_r(self) -> bool:
        """Whether R's own summary stops: at an infinite GCV, or at a variance model of dependent columns.

        Two coefficients of which one has no standard error are no obstacle to R.
        """
        errors = self._varmod_errors
        dependent = errors is not None and len(errors.stderr) > 2 and np.isnan(errors.stderr).any()
        return dependent or not np.isfinite(self.model_.gcv_per_subset).all()

    def _glm_details(self, digits: int) -> list[str]:
        """The table of the glm, from the training rows."""
        if self.model_.glm is None:
            return []
        data = getattr(self, "_data", None)
        if data is None:
            return LEFT_OUT
        from .engines.native.glm_fit import fit_glms_again

        found = fit_glms_again(self.bx_, data, data.check_options(self))
        return glm_details(self.model_, found, digits)

    def _varmod_shown(self) -> VarianceShown | None:
        if self._kept is not None:
            return self._kept.varmod_shown
        errors = getattr(self, "_varmod_errors", None)
        if self.model_.varmod is None or errors is None or self._sd is None:
            return None
        return VarianceShown.of(errors, self._sd, self.fitted_values_, self.residuals_)

    def _offset_shown(self) -> np.ndarray | None:
        if self._kept is not None:
            return self._kept.offset_shown
        return getattr(getattr(self, "_data", None), "offset", None)

    def _weights_shown(self) -> np.ndarray | None:
        """The case weights that R keeps with a fit."""
        return self._weights_kept if self._kept is None else self._kept.weights_shown

    def format(self, style="h", *, decomp="anova", digits=7, use_names=True, colon_char=":") -> str:
        """The model as a formula, the text of R's `format(fit, style)`.

        Parameters
        ----------
        style : {"h", "pmax", "max", "C", "bf"}
            Hinges as h(x-c), as R's pmax, as max, as C code, or as a list of basis functions.
        decomp, digits
            As in `summary`.
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

    def __str__(self) -> str:
        return str(self.model_) if hasattr(self, "model_") else repr(self)
