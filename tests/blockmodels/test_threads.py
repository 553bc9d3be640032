"""Calls in threads leave the process as it was."""

from functools import partial
from time import sleep

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from blockselect.blockmodels.threads import in_threads


def test_an_error_in_a_thread_leaves_the_threads_of_blas_as_they_were():
    def fail():
        raise ValueError("on purpose")

    calls = [partial(sleep, 0.2), fail, partial(sleep, 0.2), partial(sleep, 0.2)]
    with threadpool_limits(2, user_api="blas"):
        before = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
        with pytest.raises(ValueError, match="on purpose"):
            list(in_threads(3, calls))
        sleep(0.5)  # calls that were under way have ended
        assert [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"] == before
