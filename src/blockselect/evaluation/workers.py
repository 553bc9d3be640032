"""Joblib worker processes that end when the process that started them ends, and not before."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing import current_process, parent_process

from joblib.externals.loky.backend.process import LokyProcess

_TERMINAL_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]


@cache  # once per process
def end_with_parent() -> None:
    """Make a joblib worker end soon after its parent is killed; otherwise it would finish its work and wait.

    In other processes, and on Windows, this does nothing.
    """
    parent = parent_process()
    if parent is not None and isinstance(current_process(), LokyProcess) and os.name == "posix":
        threading.Thread(target=_end_after, args=(parent.pid,), daemon=True).start()


def _end_after(parent: int | None) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


@contextmanager
def signals_ignored() -> Iterator[None]:
    """Make processes started in this context ignore the signals that a terminal sends to all its processes.

    A terminal sends them on Ctrl-C and when it closes. New processes inherit what this process ignores, and this
    process ends them. Blocking the signals would not help, because a new process unblocks them.
    """
    if threading.current_thread() is not threading.main_thread():  # only that thread can change signal handlers
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _TERMINAL_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
