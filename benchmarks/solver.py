"""The descent on BlogCatalog, relative to its matrix products alone and to the literal formula of the paper."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import Measurement, interleaved_ratio, peak_gigabytes
from benchmarks.networks import N_BLOCKS, blogcatalog
from blockselect import BMGUFS, Descent, find_block_models
from blockselect.blockmodels.model import BlockModel
from blockselect.bmgufs.gram import GramSquared, gram_squared
from blockselect.bmgufs.statistics import BlockStatistics
from blockselect.rows.matrices import membership_matrix
from blockselect.utils.arrays import Features

_ITERATIONS = 10
_DESCENT = Descent(max_iter=_ITERATIONS, tol=0)


def run() -> Iterator[Measurement]:
    graph = blogcatalog()
    gram = gram_squared(graph.features)
    models = find_block_models(graph.adjacency, N_BLOCKS, n_candidates=24, rng=np.random.default_rng(0))
    for count, limit in ((1, 1.25), (24, 1.3)):
        statistics = BlockStatistics.of(graph.features, models[:count])
        scores = np.random.default_rng(0).random((count, graph.n_features))
        bare = _bare_products(gram.values, scores)
        ratio = interleaved_ratio(
            lambda statistics=statistics: _DESCENT.solve(gram, statistics, profile_ratio=0.6, sparsity=0.0),
            bare,
        )
        yield Measurement(
            f"one iteration of {count} solve(s)",
            ratio,
            limit,
            "relative to only the product of the scores with gram_squared in NumPy",
        )
    yield _against_the_literal_formula(graph.features, models[0], gram)
    yield Measurement(
        "BlogCatalog BMGUFS fit", peak_gigabytes(fit_bmgufs), 1.2, "peak of a separate process", unit="GB"
    )


def _bare_products(W: np.ndarray, scores: np.ndarray) -> Callable[[], object]:
    """The matrix products that a descent computes, in the faster order; for one solve, matrix–vector products."""
    if len(scores) == 1:
        return lambda: [W @ scores[0] for _ in range(_ITERATIONS + 1)]
    return lambda: [scores @ W for _ in range(_ITERATIONS + 1)]


def _against_the_literal_formula(
    features: Features, model: BlockModel, gram: GramSquared, sample: int = 3
) -> Measurement:
    """One iteration with the gradient of L_b as printed: n × n matrices and a loop over features.

    The loop is timed for a few features and scaled up, because all features would take almost an hour.
    """
    statistics = BlockStatistics.of(features, [model])
    start = time.perf_counter()
    _DESCENT.solve(gram, statistics, profile_ratio=0.6, sparsity=0.0)
    ours = (time.perf_counter() - start) / (_ITERATIONS + 1)
    Y, m = features.toarray(), features.shape[1]
    F = membership_matrix(model.labels)
    sizes = np.outer(model.block_sizes, model.block_sizes)

    def projected(matrix: np.ndarray) -> np.ndarray:
        return F @ (F.T @ (F.T @ matrix.T).T / sizes) @ F.T

    start = time.perf_counter()
    induced = (Y / m**0.5) @ Y.T
    residual = induced - projected(induced)
    once = time.perf_counter() - start
    start = time.perf_counter()
    for feature in range(sample):
        outer = np.outer(Y[:, feature], Y[:, feature])
        np.sum(residual * (outer - projected(outer)))
        np.sum(induced * outer)
    each = (time.perf_counter() - start) / sample
    literal = once + m * each
    return Measurement(
        "against the literal formula",
        literal / ours,
        500,
        f"literal iteration {literal:,.0f} s, loop scaled up from {sample} of {m} features; ours {ours * 1e3:.0f} ms",
        at_most=False,
    )


def fit_bmgufs() -> None:
    graph = blogcatalog()
    BMGUFS(64, n_blocks=N_BLOCKS, random_state=0).fit(graph.features, adjacency=graph.adjacency)
