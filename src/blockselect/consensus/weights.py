"""Weights: how surely each feature has to do with the graph; and scores, the weighted votes of the block models.

A block model's vote is its score vector of unit length: how far a feature helps the similarity of nodes to repeat the
blocks. Votes favour frequent features; we correct this by how much better blocks and links explain the feature than
chance, a log-likelihood gain E in nats, minus one nat per extra parameter (AIC). A feature's score is its mean vote
times a z-like weight √(2E).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blockselect.arrays import Features, FloatArray
from blockselect.blockmodels.model import BlockModel
from blockselect.bmgufs.descent import normalise
from blockselect.consensus.joint import JointLikelihood
from blockselect.consensus.link_excess import link_gains_of_scaled, scaled_for_links
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.column_statistics import constant_columns

_LEAST = 1e-3  # weight of a feature whose gain does not exceed the penalty: after all others, in the order of votes


def feature_weights(
    likelihood: JointLikelihood,
    graph: AttributedGraph,
    models: Sequence[BlockModel],
    scaled: Features | None = None,
) -> FloatArray:
    """√(2E) of each feature, at least 0.001; E the gain from blocks (the mean over models) and from links: (m,).

    0 for a feature that is the same for all nodes: it explains nothing.

    `scaled` are the features as `scaled_for_links` gives them, where they are weighted on many graphs.
    """
    scaled = scaled_for_links(graph.features) if scaled is None else scaled
    from_blocks = np.mean(
        [likelihood.feature_gains(model.labels) - likelihood.penalty(model.n_blocks) for model in models], axis=0
    )
    from_links = link_gains_of_scaled(scaled, graph.adjacency, likelihood.link_unit, device=likelihood.device)
    from_links -= likelihood.penalty(2)
    weights: FloatArray = np.maximum(np.sqrt(2 * np.maximum(from_blocks + from_links, 0.0)), _LEAST)
    return np.where(constant_columns(graph.features), 0.0, weights)


def weighted_vote(votes: FloatArray, weights: FloatArray) -> FloatArray:
    """One score of unit length for each feature, from the votes (c, m) and the weights (m,)."""
    scores: FloatArray = normalise(normalise(votes).mean(axis=0) * weights)
    return scores
