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
    """Processes, started by this one, that still run."""
    return {process.pid for process in multiprocessing.active_children()}


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
        (os._exit, (3,), r"unexpectedly terminated.*EXIT\(3\)"),
        (signal.raise_signal, (signal.SIGKILL,), r"excessive memory usage.*SIGKILL"),
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
from blockselect.evaluation.process import measure_in_fresh_process

print(measure_in_fresh_process(len, bytes(10**6)).value)
"""


def test_a_script_needs_no_guard_against_being_read_again(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "1000000\n"


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
    def full(*arguments):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(process.ProcessPoolExecutor, "submit", full)
    with pytest.raises(CallError, match="temporarily unavailable"):
        measure_in_fresh_process(len, "abc")
