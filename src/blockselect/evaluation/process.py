"""Call a function in a new process and measure its time and the peak memory of that process."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

STATUS = Path("/proc/self/status")
_LOOK = 0.5  # seconds between two polls; a wait without end would miss a Ctrl-C that another thread received


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The value that a call returned, its time and its memory."""

    value: Any
    seconds: float
    peak_bytes: int | None  # peak memory of the process, or None if the system does not report it
    base_bytes: int | None  # peak memory before the call: interpreter, imports and arguments


class CallError(Exception):
    """The call raised an error, or its process died. The message says which."""


def measure_in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Measured:
    """Call a module-level function in a new process, so that its peak memory can be measured alone.

    Function, arguments and result must be picklable.

    Raises
    ------
    CallError
        With the message of the error that the function raised, or with the way in which its process ended.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_answer, args=(theirs,), daemon=True)
    began = False
    try:
        with _interrupts_wait():
            _start(process)
        theirs.close()
        began = ours.recv()
        ours.send(
            (function, arguments)
        )  # If these came with the process and it died early, its start would wait forever.
        while not ours.poll(_LOOK):
            pass
        answer = ours.recv()
    except (EOFError, ConnectionError):
        process.join()
        raise CallError(_how_it_died(process.exitcode, began)) from None
    finally:
        if process.pid is not None:
            process.kill()
            process.join()
        ours.close()
    if isinstance(answer, str):
        raise CallError(answer)
    return answer  # type: ignore[no-any-return]


def _start(process: BaseProcess) -> None:
    try:
        process.start()
    except OSError as error:  # too many processes, or too little memory for another
        raise CallError(f"no process could be started for it ({error}); end other processes and try again.") from error


def peak_memory() -> int | None:
    """Peak memory of this process so far, in bytes."""
    if STATUS.exists():  # ru_maxrss of a new process starts at the memory of its parent
        kilobytes = next(line.split()[1] for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(kilobytes) * 1024
    try:
        import resource
    except ImportError:  # not on Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def error_text(error: Exception) -> str:
    """The message of an error, and its type unless it is a ValueError, which is written for users."""
    text = str(error)
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}: {text}"


def _answer(connection: Connection) -> None:  # pragma: no cover (its process is killed after the answer)
    connection.send(True)
    function, arguments = connection.recv()
    base = peak_memory()
    start = time.perf_counter()
    try:
        value = function(*arguments)
    except Exception as error:
        connection.send(error_text(error))
    else:
        connection.send(Measured(value, time.perf_counter() - start, peak_memory(), base))


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Block Ctrl-C while a process starts. The new process keeps it blocked; the process that waits for it stops it."""
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover (Windows)
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _how_it_died(exit_code: int | None, began: bool) -> str:
    if not began:
        return (
            f"its process ended with exit code {exit_code} before the call; a new process reads the script that starts "
            'it, so in a script make the call below `if __name__ == "__main__":`.'
        )
    if exit_code is not None and exit_code < 0:
        hint = "; perhaps memory ran out" if -exit_code == signal.SIGKILL else ""
        return f"its process was ended by {signal.Signals(-exit_code).name}{hint}."
    return f"its process ended with exit code {exit_code} and no result."
