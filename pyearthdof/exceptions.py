"""Errors and warnings of pyearthdof. Each message is one sentence that states the remedy."""

from __future__ import annotations

from collections.abc import Sequence


class PyEarthDofError(Exception):
    """Base class of all errors of pyearthdof."""


class InvalidInputError(PyEarthDofError, ValueError):
    """An argument or data set is invalid."""


class TrainingRowsError(InvalidInputError, AttributeError):
    """The method requires the training rows, and the model was loaded from a file without them."""


class _NotAvailableError(PyEarthDofError):
    """Something outside Python is missing; `problem` describes it, `remedy` is the command that fixes it."""

    def __init__(self, problem: str, remedy: str):
        super().__init__(f"{problem}; to fix it: {remedy}")
        self.problem = problem
        self.remedy = remedy

    def __reduce__(self):
        return type(self), (self.problem, self.remedy)


class RNotAvailableError(_NotAvailableError, RuntimeError):
    """R, rpy2 or an R package is missing or incompatible; `remedy` is the command that fixes it."""


class CoreNotAvailableError(_NotAvailableError, ImportError):
    """The compiled core is missing or does not load; `remedy` is the command that fixes it."""


class ExtraNotAvailableError(_NotAvailableError, ImportError):
    """An optional Python package is missing or does not load; `remedy` is the command that installs it."""


class RForkedError(PyEarthDofError, RuntimeError):
    """This process was forked from one in which R was running, so R cannot be used."""


class RError(PyEarthDofError, ValueError):
    """R stopped with an error; the message is R's."""


class RWarning(UserWarning):
    """A warning of R."""


class SeparationWarning(UserWarning):
    """The terms of a generalised linear model separate its response, so its coefficients diverge.

    Replaces R's warnings on this; `r_warnings` are all warnings of R for the fit, in R's order.
    """

    def __init__(self, message: str = "", r_warnings: Sequence[str] = ()):
        super().__init__(message)
        self.r_warnings = tuple(r_warnings)


class ExtrapolationWarning(UserWarning):
    """Rows to predict are outside the range of the training rows."""


class ColumnWarning(UserWarning):
    """A column is treated as in R, but perhaps not as intended."""


class MissingClassWarning(UserWarning):
    """Some of the responses drawn for a classifier lack a class."""


class FittingError(PyEarthDofError, RuntimeError):
    """A repetition of a Monte Carlo run failed; the message explains how to replay it.

    Attributes
    ----------
    repetition : int or None
        Number of the repetition, starting at 0.
    draws : str or None
        Its random numbers.
    X, y : array or None
        Design and response of the fit.
    """

    def __init__(self, message: str, *, repetition=None, draws=None, X=None, y=None):
        super().__init__(message)
        self.repetition, self.draws, self.X, self.y = repetition, draws, X, y


class FolderInUseError(PyEarthDofError):
    """Another run is writing into the same folder."""


class ClusterError(PyEarthDofError, RuntimeError):
    """A dask cluster cannot do the work; the message names the worker or the scheduler."""
