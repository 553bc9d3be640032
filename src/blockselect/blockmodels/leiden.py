"""Blocks by modularity: Leiden communities, merged to the number asked for. Needs leidenalg and igraph."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.blockmodels.clusters import draw_seed
from blockselect.blockmodels.model import encode_labels, membership_matrix
from blockselect.blockmodels.scaling import unit_weights

_RESOLUTIONS = (1.0, 2.0)  # from plain modularity to about twice its communities, which merging brings back
_SWEEPS = 2  # of the Leiden algorithm


def leiden_labels(
    adjacency: Sparse,
    n_blocks: int,
    rngs: Sequence[np.random.Generator],
    *,
    features: Features | None = None,
    n_jobs: int | None = None,
) -> list[IntArray]:
    """Communities of each generator's seed and resolution, merged greedily to k by least loss of modularity.

    Where fewer than k communities are found, that many blocks come back. Nodes without links stand in one block.
    """
    require_leiden()
    weights = unit_weights(adjacency)
    drawn = [(float(rng.uniform(*_RESOLUTIONS)), draw_seed(rng)) for rng in rngs]
    return list(Parallel(n_jobs=n_jobs)(delayed(_blocks)(weights, n_blocks, *draw) for draw in drawn))


def require_leiden() -> tuple[Any, Any]:
    """The packages igraph and leidenalg, or an error that says how to get them."""
    try:
        return import_module("igraph"), import_module("leidenalg")
    except ImportError as error:
        raise ImportError(
            "block_model is 'leiden', which needs leidenalg and igraph; install them with: "
            "pip install 'blockselect[leiden]'"
        ) from error


def _blocks(weights: Sparse, n_blocks: int, resolution: float, seed: int) -> IntArray:
    communities = np.where(np.diff(weights.indptr) > 0, _communities(weights, resolution, seed), -1)
    return merge_communities(weights, encode_labels(communities), n_blocks)


def _communities(weights: Sparse, resolution: float, seed: int) -> IntArray:
    igraph, leidenalg = require_leiden()
    links = sparse.triu(weights, format="coo")
    graph = igraph.Graph(weights.shape[0], np.column_stack(links.coords))
    partition = leidenalg.find_partition(
        graph,
        leidenalg.RBConfigurationVertexPartition,
        weights=links.data.tolist(),
        resolution_parameter=resolution,
        n_iterations=_SWEEPS,
        seed=seed,
    )
    return np.asarray(partition.membership, dtype=np.intp)


def merge_communities(adjacency: Sparse, labels: IntArray, n_blocks: int) -> IntArray:
    """Merge two communities at a time, those whose merging costs least modularity, until k are left.

    Merging a and b changes modularity by 2 (e_ab − e_a e_b): e_ab their share of all link weight, e_a and e_b those of
    their degrees. Of equals the first pair is merged.
    """
    F = membership_matrix(labels)
    between = (F.T @ (adjacency @ F)).toarray()
    between /= between.sum()  # e_ab, (b, b)
    degrees = between.sum(axis=1)  # (b,)
    alive = np.ones(len(degrees), dtype=bool)
    names = np.arange(len(degrees))  # which community each one has become part of
    best = np.array([_best_partner(between, degrees, alive, row) for row in range(len(degrees))], dtype=np.intp)
    for _ in range(len(degrees) - n_blocks):
        rows = np.flatnonzero(alive)
        kept = rows[np.argmax(_gain(between, degrees, rows, best[rows]))]
        gone = best[kept]
        between[kept] += between[gone]
        between[:, kept] += between[:, gone]
        degrees[kept] += degrees[gone]
        alive[gone] = False
        names[names == gone] = kept
        _update_partners(between, degrees, alive, best, kept, gone)
    return encode_labels(names[labels])


def _gain(between: FloatArray, degrees: FloatArray, rows: Any, columns: Any) -> FloatArray:
    """Half the change of modularity if these are merged."""
    return np.asarray(between[rows, columns] - degrees[rows] * degrees[columns])


def _best_partner(between: FloatArray, degrees: FloatArray, alive: Any, row: int) -> int:
    others = np.flatnonzero(alive)
    others = others[others != row]
    return int(others[np.argmax(_gain(between, degrees, row, others))]) if len(others) else row


def _update_partners(
    between: FloatArray, degrees: FloatArray, alive: Any, best: IntArray, kept: int, gone: int
) -> None:
    """Only gains with the merged community changed: look again where it was the best, or has become it."""
    rows = np.flatnonzero(alive & (np.arange(len(best)) != kept))
    lost = np.isin(best[rows], (kept, gone))
    better = _gain(between, degrees, rows, kept) > _gain(between, degrees, rows, best[rows])
    best[rows[better & ~lost]] = kept
    for row in (kept, *rows[lost]):
        best[row] = _best_partner(between, degrees, alive, row)
