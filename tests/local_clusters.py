"""Dask clusters of local processes, for tests."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from blockselect import RowChunks

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
if not Path("/proc/self/status").exists():
    pytest.skip("the tests kill processes and read their memory, as on Linux", allow_module_level=True)


def start_cluster(**settings):
    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", silence_logs=50, **settings
    )


def peak():
    """Peak memory of this process in bytes; not `ru_maxrss`, which a process inherits from the one that started it."""
    status = Path("/proc/self/status").read_text()
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


def assert_what_workers_hold_does_not_grow(client, fit, load, n_columns, n_chunks, chunk_bytes):
    """Relative to four chunks, peak memory per worker may grow by at most half the size of its share of all chunks."""

    def peaks(count):
        chunks = RowChunks.from_delayed([dask.delayed(load)(number) for number in range(count)], n_columns)
        client.run(lambda: Path("/proc/self/clear_refs").write_text("5"))  # resets the peak to the memory in use
        fit(chunks)
        return client.run(peak)

    client.run(lambda: fit(RowChunks.from_blocks([load(0)])) and None)  # imports and compiled code
    few, many = peaks(4), peaks(n_chunks)
    assert len(many) == 2
    assert max(many[worker] - few[worker] for worker in few) < n_chunks * chunk_bytes / 4


def die_once(mark):
    """Kill this process, unless another one was killed before and left the mark."""
    if not os.path.exists(mark):
        with open(mark, "w") as file:
            file.write(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def separate_cluster(folder):
    """A client, and a scheduler and two workers in separate processes, which are not restarted."""
    address = folder / "scheduler.json"
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

    def start(*arguments):
        command = [sys.executable, "-m", *arguments, "--scheduler-file", str(address), "--no-dashboard"]
        return subprocess.Popen(command, **options)

    scheduler = start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
    workers = [start("distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny") for _ in range(2)]
    try:
        with distributed.Client(scheduler_file=str(address)) as client:
            client.wait_for_workers(2, timeout=60)
            yield client, scheduler, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
