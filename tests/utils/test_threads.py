"""Calls in threads restore the settings of the process."""

import os
import subprocess
import sys
from functools import partial
from time import sleep

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from blockselect.utils.threads import in_threads


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


OVERLAP = """
from contextlib import suppress
from threading import Event, Thread
import numpy, scipy.linalg
from threadpoolctl import threadpool_info
from blockselect.utils.threads import one_thread

def blas_threads():
    return sorted({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})

def first():
    with suppress(ValueError), one_thread():
        entered.set()
        second_entered.wait()
        raise ValueError

def second():
    entered.wait()
    with suppress(ValueError), one_thread():
        second_entered.set()
        threads[0].join()
        print(blas_threads())
        raise ValueError

print(blas_threads())
entered, second_entered = Event(), Event()
threads = [Thread(target=first), Thread(target=second)]
for thread in threads:
    thread.start()
threads[1].join()
print(blas_threads())
"""


def test_blas_has_one_thread_until_the_last_user_leaves():
    """In a separate process, whose environment sets the number of BLAS threads."""
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", OVERLAP], env=environment, capture_output=True, text=True, check=True)
    before, between, after = done.stdout.splitlines()
    assert (between, after) == ("[1]", before)


def test_an_error_in_a_thread_restores_the_number_of_blas_threads():
    def fail():
        raise ValueError("on purpose")

    calls = [partial(sleep, 0.2), fail, partial(sleep, 0.2), partial(sleep, 0.2)]
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ValueError, match="on purpose"):
            list(in_threads(3, calls))
        sleep(0.5)  # calls that were under way have ended
        assert blas_threads() == {2}
