"""Start of worker processes, in a module with fast imports."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time

_INTERVAL = 0.5  # seconds between two checks of the main process

_attached = False


def attach_to(main: int) -> None:
    """Make this worker process ignore Ctrl-C, and end it soon after the main process.

    Threads of the main process and workers on a cluster are not changed.
    """
    global _attached
    parent = multiprocessing.parent_process()  # set even if the parent is already dead
    if _attached or parent is None or parent.pid != main:
        return
    _attached = True
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    elif threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def is_alive() -> bool:
        # Windows also reports the id of a dead parent; loky passes the handle only there.
        return parent.is_alive() if os.name == "nt" else os.getppid() == main

    def watch():
        while is_alive():
            time.sleep(_INTERVAL)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
