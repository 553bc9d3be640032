"""Measure the time of a call, and in a process of its own also its peak memory."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import current_process, parent_process
from pathlib import Path
from typing import Any

from joblib.externals.loky.backend.process import LokyProcess
from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

STATUS = Path("/proc/self/status")
_TERMINAL_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]

_LOOK = 0.5  # seconds between two looks; a wait without end would miss a Ctrl-C that another thread received


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The value that a call returned, its time and its memory."""

    value: Any
    seconds: float
    peak_bytes: int | None = None  # peak memory of the process, or None if it was not measured
    base_bytes: int | None = None  # peak memory before the call: interpreter, imports and arguments


class CallError(Exception):
    """The call raised an error, or its process died. The message says which."""


def measure_here(function: Callable[..., Any], *arguments: Any) -> Measured:
    """Call a function in this process and measure its time alone.

    Raises
    ------
    CallError
        With the message of the error that the function raised, and its type unless it is a ValueError, which is
        written for users.
    """
    start = time.perf_counter()
    try:
        value = function(*arguments)
    except Exception as error:
        text = str(error)
        is_plain = isinstance(error, ValueError) and text
        raise CallError(text if is_plain else f"{type(error).__name__}: {text}") from error
    return Measured(value, time.perf_counter() - start)


def measure_in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Measured:
    """Call a function in a new process, so that its peak memory can be measured alone.

    Function, arguments and result must be picklable.

    Raises
    ------
    CallError
        As in `measure_here`, or with the way in which the process ended.
    """
    executor = ProcessPoolExecutor(max_workers=1)
    try:
        with signals_ignored():
            answer = executor.submit(_measure_with_memory, function, *arguments)
        while not wait([answer], timeout=_LOOK).done:
            pass
        return answer.result()  # type: ignore[no-any-return]
    except (BrokenProcessPool, OSError) as error:
        raise CallError(" ".join(str(error).split())) from error
    finally:
        executor.shutdown(kill_workers=True)


def _measure_with_memory(function: Callable[..., Any], *arguments: Any) -> Measured:
    end_with_parent()
    base = peak_memory()
    return replace(measure_here(function, *arguments), peak_bytes=peak_memory(), base_bytes=base)


def peak_memory() -> int | None:
    """Peak memory of this process so far, in bytes, or None if the system does not report it."""
    if STATUS.exists():  # ru_maxrss of a new process starts at the memory of its parent
        kilobytes = next(line.split()[1] for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(kilobytes) * 1024
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@cache  # once per process
def end_with_parent() -> None:
    """Let a worker of joblib end soon after its parent is killed; it would finish its work and wait for minutes.

    In other processes, and on Windows, this does nothing.
    """
    parent = parent_process()
    if parent is not None and isinstance(current_process(), LokyProcess) and os.name == "posix":
        threading.Thread(target=_end_after, args=(parent.pid,), daemon=True).start()


def _end_after(parent: int | None) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


@contextmanager
def signals_ignored() -> Iterator[None]:
    """Let processes that start meanwhile ignore the signals that a terminal sends to all of its processes.

    These are Ctrl-C and the end of the terminal. New processes inherit what this process ignores, and this process ends
    them. Blocking the signals would not help, because a new process unblocks them.
    """
    if threading.current_thread() is not threading.main_thread():  # Python changes signal handlers there alone.
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _TERMINAL_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
