"""Progress bars by tqdm, in notebooks with ipywidgets as widgets."""

import sys
import warnings

with warnings.catch_warnings():
    # Without ipywidgets a notebook has the plain bar; an import is no place to ask for them.
    warnings.filterwarnings("ignore", message="IProgress not found")
    from tqdm.auto import tqdm


def progress_bar(wanted: bool = True, **options) -> tqdm:
    """A progress bar on standard error; hidden in a log file, where each step would be another line."""
    shown = "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
    return tqdm(disable=not (wanted and shown), **options)
