"""Does it pay to search for a better selection instead of choosing among a few? Two searches, judged on hidden links.

    python -m benchmarks.quality.optimise --networks cora citeseer --csv docs/quality/optimise.csv

A fifth of the links is hidden before the fit. Starting from the set by block, a search looks for what clusters explain
most of the other links: *mixtures* draws geometric means of the portfolio's guides, with weights and a construction at
random; *exchanges* swaps a twentieth of the features for the next in line, at random, and keeps what is better. The
table says, after so many tries, what the best so far explains of the links it was searched by and of the hidden ones,
relative to the start, and, for evaluation alone, its NMI and few-label accuracy.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from benchmarks.networks import JUDGED, judged
from benchmarks.quality.use.own import Found, find
from blockselect import AttributedGraph
from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.consensus.judge import Judge
from blockselect.consensus.portfolio import WAYS
from blockselect.evaluation import classify_selection, evaluate_selection

_HIDDEN = 0.2  # share of the links
_N_STARTS = 4  # of K-means for each number of clusters
_SWAPPED = 0.05  # share of the selection in one exchange
_N_RUNS = 5  # of K-means, and draws of labels, against known classes
_REPORTED = (0, 1, 3, 10, 30, 100)  # tries


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A network without some of its links, what a fit finds there, and both parts of the links to judge by."""

    found: Found
    searched: Judge
    hidden: Judge

    @classmethod
    def of(cls, graph: AttributedGraph, seed: int) -> Split:
        rng = np.random.default_rng(seed)
        links = sparse.triu(graph.adjacency, 1, format="coo")
        is_hidden = rng.random(links.nnz) < _HIDDEN
        kept, held_out = (_symmetric(links, chosen) for chosen in (~is_hidden, is_hidden))
        found = find(AttributedGraph(kept, graph.features, classes=graph.classes), seed)
        judges = (Judge.of(graph.features, part, [], None, rng) for part in (kept, held_out))
        return cls(found, *judges)


def _symmetric(links: Any, chosen: FloatArray) -> Sparse:
    upper = sparse.csr_array((links.data[chosen], (links.row[chosen], links.col[chosen])), shape=links.shape)
    return sparse.csr_array(upper + upper.T)


def explained(judge: Judge, selected: IntArray) -> float:
    """Nats a link, the mean over numbers of clusters and the same starts for every selection."""
    return float(judge.use(selected, _N_STARTS, [], np.random.default_rng(0))[0].mean())


def mixtures(split: Split, n_features: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Sets guided by geometric means of the guides."""
    evidence, scores = split.found.evidence, split.found.scores
    guides = {way.guide: evidence.guided(way) for way in WAYS}
    logs = np.array([np.log(np.maximum(each / each.max(), 1e-6)) for each in guides.values()])
    while True:
        mixed = np.exp(rng.dirichlet(np.ones(len(logs))) @ logs)
        way = WAYS[rng.integers(len(WAYS))]
        yield evidence.enter(mixed, way.construction, scores, n_features)[:n_features]


def exchanges(split: Split, n_features: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """The best so far with some of its features swapped; it is told by `send` which that is."""
    order = split.found.evidence.order(WAYS[0], split.found.scores, 3 * n_features)[: 3 * n_features]
    best = order[:n_features]
    n_swapped = max(1, round(_SWAPPED * n_features))
    while True:
        out = rng.choice(n_features, n_swapped, replace=False)
        new = rng.choice(np.setdiff1d(order, best), n_swapped, replace=False)
        better = yield np.concatenate([np.delete(best, out), new])
        best = best if better is None else better


SEARCHES = {"mixtures": mixtures, "exchanges": exchanges}


def search(split: Split, kind: str, n_features: int, n_tries: int, seed: int) -> Iterator[tuple[int, IntArray]]:
    """The best selection after so many tries."""
    best = split.found.evidence.order(WAYS[0], split.found.scores, n_features)[:n_features]
    value = explained(split.searched, best)
    proposals = SEARCHES[kind](split, n_features, np.random.default_rng(seed))
    yield 0, best
    proposal = next(proposals)
    for n_tried in range(1, n_tries + 1):
        tried = explained(split.searched, proposal)
        accepted = proposal if tried > value else None
        if accepted is not None:
            best, value = accepted, tried
        if n_tried in _REPORTED:
            yield n_tried, best
        proposal = proposals.send(accepted)


def measure(name: str, n_features: int, n_tries: int, seed: int) -> Iterator[dict[str, Any]]:
    """A row for each search and number of tries."""
    graph = judged(name)
    split = Split.of(graph, seed)
    for kind in SEARCHES:
        for n_tried, selected in search(split, kind, n_features, n_tries, seed):
            here, there = explained(split.searched, selected), explained(split.hidden, selected)
            if n_tried == 0:
                start = here, there
            yield {
                "network": name,
                "seed": seed,
                "search": kind,
                "tries": n_tried,
                "searched": here / start[0],
                "hidden": there / start[1],
                **_by_classes(graph, selected, seed),
            }


def _by_classes(graph: AttributedGraph, selected: IntArray, seed: int) -> dict[str, float]:
    seen = {"n_runs": _N_RUNS, "first_seed": seed}
    clusters = evaluate_selection(graph.features, graph.classes, selected, **seen)
    labels = classify_selection(graph.features, graph.classes, selected, adjacency=graph.adjacency, **seen)
    return {"nmi": clusters.nmi, "few_labels": float(labels.accuracies.mean())}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=list(JUDGED))
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--tries", type=int, default=max(_REPORTED))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    for name in given.networks:
        for seed in range(given.seeds):
            rows += measure(name, given.features, given.tries, seed)
            print(f"{name}, seed {seed}: done", flush=True)
            if given.csv:
                pd.DataFrame(rows).round(4).to_csv(given.csv, index=False)
    print(pd.DataFrame(rows).groupby(["search", "tries"]).mean(numeric_only=True).drop(columns="seed").round(4))


if __name__ == "__main__":
    main()
