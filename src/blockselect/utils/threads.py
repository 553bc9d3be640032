"""Calls in threads, values that threads share, and BLAS and OpenMP limited to one thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, Generic, TypeVar

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

T = TypeVar("T")


@contextmanager
def one_thread() -> Iterator[None]:
    """A context in which BLAS and OpenMP use one thread, so that rounding does not depend on the number of threads.

    BLAS has one setting for the whole process, and OpenMP one for each thread.
    """
    with _one_blas_thread, _thread_pools().select(user_api="openmp").limit(limits=1):
        yield


class _OneBlasThread:
    """A context shared by threads: BLAS uses one thread from when the first enters until the last leaves."""

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._before: list[dict[str, Any]] = []  # the thread pools with their original sizes

    def __enter__(self) -> None:
        pools = _thread_pools().select(user_api="blas")
        with self._lock:
            if not self._users:
                self._before = pools.info()
            self._users += 1
            _limit(pools, 1)

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                _limit(_thread_pools().select(user_api="blas"), self._before)


def _limit(pools: ThreadpoolController, limits: int | list[dict[str, Any]]) -> None:
    pools.limit(limits=limits)
    with pools.limit(limits=None):  # otherwise threadpoolctl ≥ 3.8 would ignore all other threads from now on
        pass


_one_blas_thread = _OneBlasThread()


def in_threads(n_jobs: int | None, calls: Iterable[Callable[[], T]]) -> Iterator[T]:
    """Run calls in threads, with one BLAS and OpenMP thread each; yield results in order as they become available."""
    with one_thread():
        yield from Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
            delayed(_with_one_thread)(call, os.getpid()) for call in calls
        )


def _with_one_thread(call: Callable[[], T], process: int) -> T:
    """Call with one thread; the caller limits BLAS for its process, but OpenMP has a setting for each thread."""
    with _thread_pools().select(user_api="openmp").limit(limits=1) if os.getpid() == process else one_thread():
        return call()


class Shared(Generic[T]):
    """A value that threads share: the first thread that needs it computes it while the others wait.

    Another process, to which joblib may send a call, computes its own value.
    """

    def __init__(self, compute: Callable[[], T]) -> None:
        self._compute, self._lock = compute, Lock()
        self._computed: list[T] = []

    def __call__(self) -> T:
        with self._lock:
            if not self._computed:
                self._computed.append(self._compute())
            return self._computed[0]

    def __reduce__(self) -> tuple[type[Shared[T]], tuple[Callable[[], T]]]:
        return type(self), (self._compute,)


@cache  # finding the libraries takes as long as a clustering
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()
