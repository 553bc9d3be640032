"""A call in a process of its own: its result, its memory, and every way in which it may fail."""

from __future__ import annotations

import multiprocessing
import operator
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from blockselect.evaluation import process
from blockselect.evaluation.process import CallError, Measured, measure_in_fresh_process, peak_memory


def in_python(code: str) -> Measured:
    """Evaluated over there: a function of a test could not be imported."""
    return measure_in_fresh_process(eval, code)


def ours() -> set[int | None]:
    """Processes of the kind that is measured in, started by this one, that still run; workers of joblib are no such."""
    kind = multiprocessing.get_context("spawn").Process
    return {process.pid for process in multiprocessing.active_children() if type(process) is kind}


def test_the_result_comes_back_from_another_process():
    measured = in_python("(__import__('os').getpid(), 6 * 7)")
    pid, value = measured.value
    assert value == 42
    assert pid != os.getpid()
    assert measured.seconds > 0


@pytest.mark.skipif(peak_memory() is None, reason="the system does not report it")
def test_peak_memory_is_that_of_the_call_alone():
    held = b"x" * 300_000_000  # which the other process never sees
    measured = in_python("len(b'x' * 200_000_000)")
    assert peak_memory() > len(held)
    assert measured.value == 200_000_000
    assert 190e6 < measured.peak_bytes - measured.base_bytes < 260e6
    assert measured.base_bytes < 250e6


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (operator.truediv, (1, 0), r"^ZeroDivisionError: division by zero$"),
        (os._exit, (3,), "ended with exit code 3 and no result"),
        (signal.raise_signal, (signal.SIGKILL,), "ended by SIGKILL; perhaps memory ran out"),
    ],
)
def test_a_failure_over_there_is_an_error_here(function, arguments, message):
    before = ours()
    with pytest.raises(CallError, match=message):
        measure_in_fresh_process(function, *arguments)
    assert ours() == before


def test_ctrl_c_stops_the_other_process():
    before = ours()
    interrupt = f"__import__('os').kill({os.getpid()}, {signal.SIGINT:d})"
    with pytest.raises(KeyboardInterrupt):
        in_python(f"{interrupt} or __import__('time').sleep(600)")
    assert ours() == before


UNGUARDED = """
from blockselect.evaluation.process import CallError, measure_in_fresh_process

try:
    measure_in_fresh_process(len, bytes(10**6))  # more than a pipe holds
except CallError as error:
    print(error)
"""


def test_a_script_that_starts_processes_when_it_is_read_gets_an_answer(tmp_path):
    """The new process reads the script first, and fails: the one that waits for it must not wait for ever."""
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=True)
    assert 'make the call below `if __name__ == "__main__":`' in done.stdout


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals reach processes alone here")
def test_ctrl_c_that_another_thread_receives_stops_it_too(tmp_path):
    def interrupt():
        while not (tmp_path / "began").exists():
            time.sleep(0.01)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    began, ended = (f"__import__('pathlib').Path({str(tmp_path / name)!r}).touch()" for name in ("began", "ended"))
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        in_python(f"{began} or __import__('time').sleep(8) or {ended}")
    assert not (tmp_path / "ended").exists()


@pytest.mark.skipif(peak_memory() is None, reason="the system does not report it")
def test_peak_memory_is_asked_for_in_every_way_there_is(monkeypatch, tmp_path):
    held = peak_memory()
    monkeypatch.setattr(process, "STATUS", tmp_path / "none")
    assert peak_memory() == pytest.approx(held, rel=0.2)
    monkeypatch.setitem(sys.modules, "resource", None)  # as on Windows
    assert peak_memory() is None


def test_a_process_that_cannot_be_started_is_an_error_of_the_call(monkeypatch):
    def full(started):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(multiprocessing.get_context("spawn").Process, "_Popen", staticmethod(full))
    with pytest.raises(CallError, match=r"no process could be started for it .*temporarily unavailable.*; end other"):
        measure_in_fresh_process(len, "abc")
