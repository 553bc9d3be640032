"""The portfolio: a few ways to rank features by what is known of them, of which the judge takes the best.

A way is a guide and a construction. Guides say how good each feature is alone: the score, vote × weight; the same with
the weight squared, closer to how surely a feature has to do with the graph than to how alike it makes nodes; or,
without any blocks, the weight of links alone, or the autocorrelation along links beyond what the nodes' depths explain.
Constructions turn that into an order of entry: the list of the best, or the sets of `sets`, by block and by node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from scipy import sparse

from blockselect.arrays import FloatArray, IntArray
from blockselect.base import best_first
from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.joint import JointLikelihood
from blockselect.consensus.judge import Judge
from blockselect.consensus.sets import order_by_block, order_by_node
from blockselect.consensus.weights import FeatureGains
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.autocorrelation import autocorrelation_z
from blockselect.graphs.binarize import in_units

Construction = Literal["list", "by block", "by node"]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to rank features."""

    guide: str
    construction: Construction

    @property
    def name(self) -> str:
        return f"{self.guide}, {self.construction}"


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of the features of one network under some block models."""

    graph: AttributedGraph
    vote: FloatArray  # (m,) mean vote of the block models
    gains: FeatureGains
    shares: Sequence[FloatArray]  # of each block model (m, k): how a feature's gain is split over the blocks
    labels: Sequence[IntArray]  # of each block model (n,)

    @classmethod
    def of(
        cls,
        graph: AttributedGraph,
        vote: FloatArray,
        gains: FeatureGains,
        likelihood: JointLikelihood,
        models: Sequence[BlockModel],
    ) -> Evidence:
        labels = [model.labels for model in models]
        return cls(graph, vote, gains, [likelihood.shares_of_blocks(each) for each in labels], labels)

    @cached_property
    def autocorrelation(self) -> FloatArray:
        """|Z| of each feature along links, whatever its unit: (m,)"""
        features = in_units(self.graph.features)
        values = features.data if sparse.issparse(features) else features[features > 0]
        model = "bernoulli" if np.allclose(values, 1) else "normal"
        return np.abs(np.nan_to_num(autocorrelation_z(features, self.graph.adjacency, model=model)))

    def guided(self, way: Way) -> FloatArray:
        """How good each feature is alone: (m,)"""
        return _GUIDES[way.guide](self)

    def order(self, way: Way, scores: FloatArray, n_wanted: int) -> IntArray:
        """All features in the order in which they enter, at least the first `n_wanted` as the way has it.

        Those that score 0 come last, in whatever way the others are ranked.
        """
        return self.enter(self.guided(way), way.construction, scores, n_wanted)

    def enter(self, guided: FloatArray, construction: Construction, scores: FloatArray, n_wanted: int) -> IntArray:
        """The same by any guide."""
        guided = np.where(scores > 0, guided, 0.0)
        if construction == "list":
            first = np.zeros(0, dtype=np.intp)
        elif construction == "by block":
            first = order_by_block(guided, self.shares, self.labels, n_wanted)
        else:
            first = order_by_node(guided, self.shares, self.labels, n_wanted, self.graph.features)
        rest = best_first(guided)
        rest = rest[np.argsort(scores[rest] <= 0, kind="stable")]
        return np.concatenate([first, rest[~np.isin(rest, first)]])


_GUIDES: dict[str, Callable[[Evidence], FloatArray]] = {
    "vote × weight": lambda known: known.vote * known.gains.weights,
    "vote × weight²": lambda known: known.vote * known.gains.weights**2,
    "links": lambda known: known.gains.weights_by_links,
    "autocorrelation": lambda known: known.autocorrelation,
}
PLAIN = Way("vote × weight", "list")  # the largest scores
WAYS: tuple[Way, ...] = tuple(  # the first is taken unless another is clearly better
    Way(guide, construction) for guide in _GUIDES for construction in ("by block", "list", "by node")
)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The best way for a number of features, and how all were judged."""

    way: Way
    order: IntArray  # (m,) features in the order in which they enter
    table: pd.DataFrame


def choose_way(
    evidence: Evidence,
    scores: FloatArray,
    n_selected: int,
    judge: Judge,
    rng: np.random.Generator,
    *,
    ways: Sequence[Way] = WAYS,
    n_jobs: int | None = None,
) -> Choice:
    """Judge the first `n_selected` features of every way; the first is taken unless another is clearly better."""
    orders = [evidence.order(way, scores, n_selected) for way in ways]
    selections = [np.sort(order[:n_selected]) for order in orders]
    distinct = {selection.tobytes(): place for place, selection in reversed(list(enumerate(selections)))}
    places = sorted(distinct.values())
    of_way = [places.index(distinct[selection.tobytes()]) for selection in selections]
    verdict = judge.compare([selections[place] for place in places], rng, n_jobs)
    best = places[verdict.best]
    explained, found = verdict.explained.mean[of_way], verdict.recalled.mean[of_way]
    table = pd.DataFrame(
        {
            "guide": [way.guide for way in ways],
            "construction": [way.construction for way in ways],
            **{f"explained_{k}": column for k, column in zip(judge.n_clusters, explained.T, strict=True)},
            "blocks_found": found.mean(axis=1),
            "share_of_best": verdict.share[of_way],
            "standard_error": verdict.standard_error[of_way],
            "chosen": np.arange(len(ways)) == best,
        }
    )
    return Choice(ways[best], orders[best], table)
