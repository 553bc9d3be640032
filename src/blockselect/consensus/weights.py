"""Consensus: the votes of many block models on the features become one score, weighed by the evidence.

A block model's vote is its score vector of unit length: how far a feature helps the similarity of nodes to repeat the
blocks. It is large for frequent features, of which some always do a little. The evidence says how surely a feature has
anything to do with the graph: nats that blocks tell of it, and that it tells of links, less what as many free rates
gain by chance. As √(2 nats) it is on the scale of a z-value, and a score is the mean vote times that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from blockselect.arrays import FloatArray
from blockselect.blockmodels.model import BlockModel
from blockselect.bmgufs.sphere import normalise
from blockselect.consensus.joint import JointProblem
from blockselect.consensus.link_excess import link_information
from blockselect.graphs.attributed import AttributedGraph

_UNPROVEN = 1e-3  # weight of a feature whose evidence is not worth its price: after all others, in the order of votes


def consensus_scores(votes: FloatArray, evidence: FloatArray) -> FloatArray:
    """One score of unit length for each feature, from the votes (c, m) and the evidence (m,) in nats."""
    z_values = np.sqrt(2 * np.maximum(evidence, 0.0))
    scores: FloatArray = normalise(normalise(votes).mean(axis=0) * np.maximum(z_values, _UNPROVEN))
    return scores


def evidence_of_blocks(problem: JointProblem, graph: AttributedGraph, models: Sequence[BlockModel]) -> FloatArray:
    """Nats that the blocks tell of each feature, net of their price, the mean over models (m,)."""
    nats: FloatArray = np.mean(
        [problem.information(model.labels) - problem.price(model.n_blocks) for model in models], axis=0
    )
    return nats


def evidence_of_blocks_and_links(
    problem: JointProblem, graph: AttributedGraph, models: Sequence[BlockModel]
) -> FloatArray:
    """The same, and nats that each feature tells of the links, net of the one rate they take (m,)."""
    of_links = link_information(graph.features, graph.adjacency, unit=problem.link_unit) - problem.price(2)
    return evidence_of_blocks(problem, graph, models) + of_links


def no_evidence(problem: JointProblem, graph: AttributedGraph, models: Sequence[BlockModel]) -> FloatArray:
    """The same for every feature: votes alone decide (m,)."""
    return np.ones(graph.n_features)


EVIDENCE: dict[str, Callable[[JointProblem, AttributedGraph, Sequence[BlockModel]], FloatArray]] = {
    "blocks and links": evidence_of_blocks_and_links,
    "blocks": evidence_of_blocks,
    "none": no_evidence,
}
"""What votes can be weighed by."""
