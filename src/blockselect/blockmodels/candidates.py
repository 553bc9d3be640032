"""Many candidate block models of one graph, the best-fitting first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from blockselect.arrays import IntArray
from blockselect.blockmodels.model import BlockModel
from blockselect.blockmodels.onmtf import onmtf_labels
from blockselect.blockmodels.spectral import spectral_labels
from blockselect.graphs.attributed import check_adjacency

Family = Callable[..., list[IntArray]]  # adjacency, n_blocks, rngs, n_jobs → labels, one array a generator

FAMILIES: dict[str, Family] = {"spectral": spectral_labels, "onmtf": onmtf_labels}


def find_block_models(
    adjacency: Any,
    n_blocks: int,
    *,
    family: str = "spectral",
    n_candidates: int = 10,
    rng: np.random.Generator,
    n_jobs: int | None = None,
) -> list[BlockModel]:
    """Candidate block models, ordered by relative error, lowest first (equals: in the order found).

    Each candidate has a random stream of its own, so the first ten of twenty are the ten of ten.
    """
    adjacency = check_adjacency(adjacency, np.shape(adjacency)[0])
    check_n_blocks(n_blocks, adjacency.shape[0])
    if family not in FAMILIES:
        raise ValueError(f"block_model is {family!r}; expected one of {list(FAMILIES)}, labels or a BlockModel.")
    labels = FAMILIES[family](adjacency, n_blocks, rng.spawn(n_candidates), n_jobs=n_jobs)
    return order_by_error([BlockModel.from_labels(adjacency, candidate) for candidate in labels])


def check_n_blocks(n_blocks: int, n_nodes: int) -> None:
    if not 1 <= n_blocks <= n_nodes:
        raise ValueError(f"n_blocks is {n_blocks} but the graph has {n_nodes} nodes; choose 1 to {n_nodes} blocks.")


def order_by_error(models: Sequence[BlockModel]) -> list[BlockModel]:
    return sorted(models, key=lambda model: model.relative_error)
