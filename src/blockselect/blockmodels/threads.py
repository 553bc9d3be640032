"""Threads: calls that run at the same time, what they share, and BLAS and OpenMP with one thread each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from threading import Lock
from typing import Any, Generic, TypeVar

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

T = TypeVar("T")


def one_thread() -> Any:
    """A context in which BLAS and OpenMP use one thread: sums over several threads would depend on their number."""
    return _thread_pools().limit(limits=1)


def in_threads(n_jobs: int | None, calls: Iterable[Callable[[], T]]) -> Iterator[T]:
    """The result of each call in order, as soon as it is known; each thread uses one thread of BLAS and OpenMP."""
    with one_thread():
        yield from Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
            delayed(_with_one_thread)(call, os.getpid()) for call in calls
        )


def _with_one_thread(call: Callable[[], T], process: int) -> T:
    """The caller limits BLAS for its whole process; the number of threads of OpenMP is a setting of each thread."""
    pools = _thread_pools()
    with (pools.select(user_api="openmp") if os.getpid() == process else pools).limit(limits=1):
        return call()


class Shared(Generic[T]):
    """A value that threads share. The first one that asks for it computes it, and the others wait.

    Another process, to which joblib may send a call, computes its own.
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


@cache  # looking for these libraries takes as long as clustering
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()
