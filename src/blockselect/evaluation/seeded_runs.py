"""Runs of a protocol that differ by their seeds, shared by processes: the same results however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from blockselect.scalars import check_n_jobs


def seeded_runs(
    run: Callable[..., Any], *arguments: Any, n_runs: int, first_seed: int = 0, n_jobs: int | None = None
) -> list[Any]:
    """The results of ``run(*arguments, seed)`` for the seeds from `first_seed` on, in their order.

    Examples
    --------
    >>> seeded_runs(pow, 2, n_runs=3, first_seed=4)
    [16, 32, 64]
    """
    n_jobs = check_n_jobs(n_jobs)
    seeds = np.arange(first_seed, first_seed + n_runs)
    shares = np.array_split(seeds, min(n_runs, effective_n_jobs(n_jobs)))
    parts = Parallel(n_jobs=n_jobs)(delayed(_share)(run, arguments, share.tolist()) for share in shares)
    return [result for part in parts for result in part]


def _share(run: Callable[..., Any], arguments: tuple[Any, ...], seeds: Iterable[int]) -> list[Any]:
    with threadpool_limits(limits=1):  # several threads sum in an order that changes from run to run
        return [run(*arguments, seed) for seed in seeds]
