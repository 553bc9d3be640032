"""The squared Gram matrix of low rank ÷ the dense one, on BlogCatalog: time, memory, and the best features."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.before import overlap
from benchmarks.measure import Measurement, seconds
from benchmarks.networks import blogcatalog, blogcatalog_name
from blockselect import BlockModelSelector
from blockselect.bmgufs.gram_squared import (
    DenseGramSquared,
    LowRankGramSquared,
    gram_squared,
    low_rank_error,
    low_rank_factor,
)
from blockselect.consensus.joint import JointLikelihood
from blockselect.consensus.weights import feature_weights, weighted_vote

RANKS = (16, 32, 64, 128, 256, 512)


@dataclass(frozen=True, slots=True)
class Rank:
    rank: int
    making: float  # seconds ÷ those of the dense matrix
    product: float  # the same of a product with the scores of three block models
    memory: float  # bytes ÷ those of the dense matrix
    error: float  # of W r for uniform r, relatively
    top_64: float  # share of the exact ones
    top_200: float


def run() -> Iterator[Measurement]:
    """Of the rank that the library takes by its own rule, whatever another rank would keep."""
    (own,) = table((None,))
    how = f"rank {own.rank}, which the error of W r chooses, on {blogcatalog_name()}"
    yield Measurement("memory ÷ dense", own.memory, 1 / 50, how)
    yield Measurement("making ÷ dense", own.making, float("inf"), how)
    yield Measurement("product ÷ dense", own.product, float("inf"), f"{how}; three block models")
    for count, share in ((64, own.top_64), (200, own.top_200)):
        yield Measurement(f"share of the exact top {count}", share, 0.98, how, at_most=False, unit="")


def table(ranks: Sequence[int | None] = RANKS) -> list[Rank]:
    """What each rank (None: the library's choice) takes and keeps, with block models and weights of one exact fit."""
    graph = blogcatalog()
    selector = BlockModelSelector(64, random_state=0)
    selector.fit(graph.features, adjacency=graph.adjacency)
    graph = selector._read_network(graph.features, None, graph.adjacency)  # as the fit reads it: counts as presence
    statistics = selector._statistics(graph, selector.voters_)
    weights = feature_weights(JointLikelihood(graph), graph, selector.voters_)

    def scores(gram: DenseGramSquared | LowRankGramSquared) -> np.ndarray:
        return weighted_vote(selector._solve(gram, statistics).scores[:, 0], weights)

    start = time.perf_counter()
    dense = gram_squared(graph.features, form="dense")
    making = time.perf_counter() - start
    votes = np.random.default_rng(0).random((len(selector.voters_), graph.n_features))
    product = seconds(lambda: dense.apply(votes), repeats=3)
    exact = scores(dense)
    rows = []
    for rank in ranks:
        start = time.perf_counter()
        low = LowRankGramSquared(low_rank_factor(graph.features, np.dtype(np.float64), rank=rank))
        taken = time.perf_counter() - start
        found = scores(low)
        rows.append(
            Rank(
                low.values.shape[1],
                taken / making,
                seconds(lambda low=low: low.apply(votes), repeats=3) / product,
                low.values.nbytes / dense.values.nbytes,
                low_rank_error(graph.features, low.values),
                overlap(exact, found, 64),
                overlap(exact, found, 200),
            )
        )
    return rows


if __name__ == "__main__":
    print(
        "| rank | memory | making | product | error of W r | top 64 | top 200 |\n|---:|---:|---:|---:|---:|---:|---:|"
    )
    for row in table():
        print(
            f"| {row.rank} | 1/{1 / row.memory:.0f} | {row.making:.2f} × | {row.product:.2f} × | {row.error:.1%} | "
            f"{row.top_64:.1%} | {row.top_200:.1%} |"
        )
