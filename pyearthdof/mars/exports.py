"""A fitted estimator in other languages: Python, SQL, sympy, JavaScript, ONNX; and as a table."""

from __future__ import annotations

from typing import Any

import pandas as pd
from sklearn.utils.validation import check_is_fitted

__all__ = ["Exports"]


class Exports:
    """A fitted model in other languages, and as a table."""

    model_: Any
    classes_: Any
    threshold: Any

    def to_python(self, name="predict", type="response") -> str:
        """Source of a plain Python function that predicts one row; it imports nothing but math.

        Its name is `name`, and `type` is what it predicts, as in `predict`.

        Examples
        --------
        >>> from pyearthdof import Earth
        >>> from pyearthdof.datasets import load_ozone
        >>> model = Earth.from_formula("O3 ~ temp", load_ozone(), engine="native")
        >>> scope = {}
        >>> exec(model.to_python("ozone"), scope)
        >>> round(scope["ozone"](temp=58.0), 3)
        7.577
        """
        from .export.python import to_python

        check_is_fitted(self)
        return to_python(self.model_, name, type=type)

    def to_sympy(self, type="response"):
        """The model as a sympy expression; needs the package sympy (an example is in `export`).

        `type` is what it predicts, as in `predict`.
        """
        from .export.sympy import to_sympy

        check_is_fitted(self)
        return to_sympy(self.model_, type=type)

    def to_sql(self, type="response", dialect="ansi"):
        """The model as one SQL expression for a SELECT; a list of them for several responses.

        Parameters
        ----------
        type : {"response", "link", "earth"}
            The prediction, as in `predict`.
        dialect : {"ansi", "mysql"}
            How names and texts are quoted: "ansi" for SQLite, DuckDB and PostgreSQL, "mysql" for MySQL,
            MariaDB, BigQuery and Spark.

        Examples
        --------
        >>> from pyearthdof import Earth
        >>> from pyearthdof.datasets import load_ozone
        >>> model = Earth.from_formula("O3 ~ temp", load_ozone(), engine="native")
        >>> '"temp" > 58.0' in model.to_sql()
        True
        """
        from .export.sql import to_sql

        check_is_fitted(self)
        return to_sql(self.model_, type=type, dialect=dialect)

    def to_javascript(self, name="predict", type="response") -> str:
        """Source of a JavaScript function that predicts one row, an object by column names.

        Parameters
        ----------
        name : str
            Name of the function.
        type : {"response", "link", "earth", "terms", "proba", "sd"}
            What it gives: as in `predict`, or what each term adds (`contributions`), the probabilities of a
            classifier, or the standard deviation of a new observation (`predict_sd`).

        Examples
        --------
        >>> from pyearthdof import Earth
        >>> from pyearthdof.datasets import load_ozone
        >>> model = Earth.from_formula("O3 ~ temp", load_ozone(), engine="native")
        >>> "function ozone(row)" in model.to_javascript("ozone")
        True
        """
        from .export.javascript import to_javascript

        check_is_fitted(self)
        return to_javascript(self.model_, name, type=type)

    def to_onnx(self, type="response"):
        """The model as an ONNX graph in double precision; needs the package onnx.

        A model of numbers has one input, X; one with factors an input for each column, of texts where it is
        a factor. The output is `prediction`; of a classifier, `label` and `probabilities`.

        Parameters
        ----------
        type : {"response", "link", "earth"}
            What it predicts, as in `predict`; for a classifier other types give `prediction`.

        Returns
        -------
        onnx.ModelProto
            `onnx.save(graph, "model.onnx")` writes it.

        Examples
        --------
        >>> from pyearthdof import Earth
        >>> from pyearthdof.datasets import load_ozone
        >>> model = Earth.from_formula("O3 ~ temp", load_ozone(), engine="native")
        >>> [node.name for node in model.to_onnx().graph.input]  # doctest: +SKIP
        ['X']
        """
        from .export.onnx import to_onnx

        check_is_fitted(self)
        if type == "response" and hasattr(self, "classes_"):
            return to_onnx(self.model_, classes=self.classes_, threshold=self.threshold)
        return to_onnx(self.model_, type=type)

    def to_frame(self, type="response") -> pd.DataFrame:
        """The terms as a tidy table: a row for each factor of each term, with coefficient and knot.

        Parameters
        ----------
        type : {"response", "link", "earth"}
            Which coefficients: of the generalised linear model where there is one, or those of the
            least-squares fit.

        Returns
        -------
        DataFrame
            `term`, `number`, `response`, `coef`, `degree`, and of the factor `predictor`, `column`, `level`,
            `shape` ("constant", "linear", "above", "below") and `knot`.

        Examples
        --------
        >>> import numpy as np
        >>> from pyearthdof import Earth
        >>> x = np.linspace(0, 1, 101)[:, None]
        >>> model = Earth(engine="native", nk=3).fit(x, np.maximum(0, x[:, 0] - 0.5))
        >>> model.to_frame()[["term", "shape", "knot"]]
                  term     shape  knot
        0  (Intercept)  constant   NaN
        1    h(x-0.52)     above  0.52
        2    h(0.52-x)     below  0.52
        """
        from .inspect.format import term_table

        check_is_fitted(self)
        return term_table(self.model_, type=type)
