"""Ctrl-C reaches a test and the programs that it starts, also where whoever started pytest ignores it.

A shell starts what it puts in the background with SIGINT ignored, and every program started from there
inherits that.
"""

import contextlib
import signal


@contextlib.contextmanager
def ctrl_c_heard():
    """SIGINT is KeyboardInterrupt here, and at its default in what is started here."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
