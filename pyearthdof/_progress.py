"""The progress bar: tqdm's, in a notebook with ipywidgets its form for notebooks."""

import warnings

__all__ = ["tqdm"]

with warnings.catch_warnings():
    # Without ipywidgets a notebook has the plain bar; an import is no place to ask for them.
    warnings.filterwarnings("ignore", message="IProgress not found")
    from tqdm.auto import tqdm
