"""The errors that pyearthdof raises on purpose. Each message is one sentence that says what to do."""

from __future__ import annotations

from collections.abc import Sequence


class PyEarthDofError(Exception):
    """Base of every error that is ours."""


class InvalidInputError(PyEarthDofError, ValueError):
    """An argument or a data set was refused before any work began."""


class TrainingRowsError(InvalidInputError, AttributeError):
    """The training rows are needed, and the model was loaded from a file without them."""


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
    """This process was forked from one in which R was running, so its R must not be used."""


class RError(PyEarthDofError, ValueError):
    """R stopped with an error; the message is R's own."""


class RWarning(UserWarning):
    """A warning that R gave while it computed."""


class SeparationWarning(UserWarning):
    """The terms of a generalised linear model separate its response: the coefficients have no limit.

    It replaces R's warnings of the same; `r_warnings` are all of R's for the fit, in R's order.
    """

    def __init__(self, message: str = "", r_warnings: Sequence[str] = ()):
        super().__init__(message)
        self.r_warnings = tuple(r_warnings)


class ExtrapolationWarning(UserWarning):
    """Rows to predict at are outside of the range of the training rows."""


class ColumnWarning(UserWarning):
    """A column is taken as R takes it, but perhaps not as it was meant."""


class MissingClassWarning(UserWarning):
    """Some of the responses that were drawn for a classifier do not have all classes."""


class FittingError(PyEarthDofError, RuntimeError):
    """One repetition of a Monte Carlo run failed; the message names it and how to replay it.

    `repetition` is its number, counted from 0, `draws` names its random numbers, and `X` and `y` are the
    design and the response that were fitted; each is None where it is not known.
    """

    def __init__(self, message: str, *, repetition=None, draws=None, X=None, y=None):
        super().__init__(message)
        self.repetition, self.draws, self.X, self.y = repetition, draws, X, y


class FolderInUseError(PyEarthDofError):
    """Another run is writing into the same folder."""


class ClusterError(PyEarthDofError, RuntimeError):
    """A dask cluster cannot do the work; the message names the worker or the scheduler."""
