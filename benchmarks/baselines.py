"""Time and peak memory of baselines on Cora, relative to scikit-feature (skfeature-chappers) and hotspotsc."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.measure import Measurement, peak_gigabytes
from blockselect import load_cora
from blockselect.baselines.by_features.laplacian import LaplacianScore
from blockselect.baselines.by_features.ndfs import NDFS
from blockselect.baselines.by_features.spec import SPEC
from blockselect.baselines.by_network.hotspot import Hotspot
from blockselect.graphs.affinity import neighbour_affinity

_NDFS_ITERATIONS = 3
_CLUSTERS = 7


def run() -> Iterator[Measurement]:
    pairs = (
        ("Laplacian score", laplacian_ours, laplacian_theirs, 50, "scikit-feature", "with the same affinity"),
        ("SPEC, all pairs", spec_ours, spec_theirs, 15, "scikit-feature", "with the same affinity"),
        ("NDFS, an iteration", ndfs_ours, ndfs_theirs, 10, "scikit-feature", "with the same affinity"),
        ("Hotspot", hotspot_ours, hotspot_theirs, 50, "hotspotsc", "each in its own process, excluding compilation"),
    )
    for name, ours, theirs, limit, peer, same in pairs:
        seconds, their_seconds = min(ours() for _ in range(3)), theirs()
        yield Measurement(
            name,
            their_seconds / seconds,
            limit,
            f"{peer} {their_seconds:.3g} s ÷ ours {seconds:.3g} s, {same}",
            at_most=False,
        )
        memory, their_memory = peak_gigabytes(ours), peak_gigabytes(theirs)
        how = f"ours {memory:.2f} GB ÷ {peer} {their_memory:.2f} GB, including imports and data"
        yield Measurement(f"{name}: peak memory", memory / their_memory, 1.0, how)


def timed(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def laplacian_ours() -> float:
    X = load_cora().features
    affinity = neighbour_affinity(X)
    return timed(partial(LaplacianScore(64).fit, X, affinity=affinity))


def laplacian_theirs() -> float:
    from skfeature.function.similarity_based.lap_score import lap_score

    X = load_cora().features
    return timed(partial(lap_score, X.toarray(), mode="raw", W=sparse.csr_matrix(neighbour_affinity(X))))


def spec_ours() -> float:
    return timed(partial(SPEC(64).fit, load_cora().features))


def spec_theirs() -> float:
    from skfeature.function.similarity_based.SPEC import spec

    return timed(partial(spec, load_cora().features.toarray(), mode="raw"))


def hotspot_ours() -> float:
    cora = load_cora()
    return timed(partial(Hotspot(64).fit, cora.features, adjacency=cora.adjacency))


def hotspot_theirs() -> float:
    from hotspot.local_stats import compute_hs

    cora = load_cora()
    counts = sparse.csr_matrix(cora.features.T)
    neighbours, weights = neighbour_lists(cora.adjacency)
    others = (neighbours, weights, pd.Series(cora.features.sum(axis=1)), "bernoulli")
    with contextlib.redirect_stderr(io.StringIO()):  # hide its progress bar
        compute_hs(counts[:2], *others, genes=range(2), centered=True)
        return timed(partial(compute_hs, counts, *others, genes=range(counts.shape[0]), centered=True))


def neighbour_lists(adjacency: sparse.csr_array) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Each link once, in hotspotsc's format: neighbours and weights, both of shape (n, maximum degree)."""
    once = sparse.csr_array(sparse.triu(adjacency, k=1))
    rows, position = once.tocoo().row, np.arange(once.nnz) - np.repeat(once.indptr[:-1], np.diff(once.indptr))
    neighbours = np.zeros((once.shape[0], position.max() + 1), dtype=np.intp)
    weights = np.zeros(neighbours.shape)
    neighbours[rows, position], weights[rows, position] = once.indices, once.data
    return pd.DataFrame(neighbours), pd.DataFrame(weights)


def ndfs_start() -> np.ndarray:
    return np.random.default_rng(0).random((2708, _CLUSTERS)) + 0.02


def ndfs_ours() -> float:
    """Seconds per iteration, from runs with many and few iterations, so that set-up does not count."""
    X = load_cora().features
    affinity = neighbour_affinity(X, weights="binary")
    few, many = (
        timed(partial(NDFS(64, initial_clusters=ndfs_start(), max_iter=count, tol=0).fit, X, affinity=affinity))
        for count in (_NDFS_ITERATIONS, 10 * _NDFS_ITERATIONS)
    )
    return (many - few) / (9 * _NDFS_ITERATIONS)


class _StopAfter(io.StringIO):
    """Stops a verbose solver after a number of output lines, since it has no iteration limit."""

    def __init__(self, lines: int) -> None:
        super().__init__()
        self.left, self.times = lines, [time.perf_counter()]

    def write(self, text: str) -> int:
        if "obj at iter" in text:
            self.times.append(time.perf_counter())
            self.left -= 1
            if self.left == 0:
                raise StopIteration
        return len(text)


def ndfs_theirs() -> float:
    from skfeature.function.sparse_learning_based.NDFS import ndfs

    X = load_cora().features
    affinity = neighbour_affinity(X, weights="binary").toarray()
    clock = _StopAfter(_NDFS_ITERATIONS)
    with contextlib.redirect_stdout(clock), contextlib.suppress(StopIteration):
        ndfs(X.toarray(), W=np.asmatrix(affinity), n_clusters=_CLUSTERS, verbose=True)  # fails if F0 is passed
    return float(np.diff(clock.times)[1:].mean())
