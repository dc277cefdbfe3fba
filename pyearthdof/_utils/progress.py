"""Progress bars by tqdm, in notebooks with ipywidgets as widgets."""

import sys
import warnings

with warnings.catch_warnings():
    # Without ipywidgets, show the plain bar in a notebook instead of tqdm's warning at import.
    warnings.filterwarnings("ignore", message="IProgress not found")
    from tqdm.auto import tqdm


def progress_bar(wanted: bool = True, **options) -> tqdm:
    """A progress bar on standard error; hidden in log files, where each step would add a line."""
    shown = "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
    return tqdm(disable=not (wanted and shown), **options)
