"""Search: what every family of block models is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.progress import StepProgress, no_step_progress

MAX_ITER = 500


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Blocks of one graph, from one random start for each generator."""

    adjacency: Sparse  # (n, n)
    n_blocks: int  # at most: a family may find fewer kinds of node
    rngs: Sequence[np.random.Generator]
    features: Features | None = None  # (n, m), for families that read them
    n_jobs: int | None = None  # threads or processes; the result is the same for any number
    max_iter: int = MAX_ITER  # of a factorisation that settles; a start that still gains by then moves few nodes
    progress: StepProgress = no_step_progress  # called by families whose work has parts
    eigenvectors: FloatArray | None = None  # (n, s) leading ones of the normalised graph, where they are known


Family: TypeAlias = Callable[[Search], list[IntArray]]  # labels (n,) of each start
