"""Weights: how surely each feature has to do with the graph; and scores, the weighted votes of the block models.

A block model's vote is its score vector of unit length: how far a feature helps the similarity of nodes to repeat the
blocks. Votes favour frequent features; we correct this by how much better blocks and links explain the feature than
chance, a log-likelihood gain E in nats, minus one nat per extra parameter (AIC). A feature's score is its mean vote
times a z-like weight √(2E).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blockselect.arrays import BoolArray, Features, FloatArray
from blockselect.blockmodels.model import BlockModel
from blockselect.bmgufs.descent import normalise
from blockselect.consensus.joint import JointLikelihood
from blockselect.consensus.link_excess import link_gains_of_scaled, scaled_for_links
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.column_statistics import constant_columns

_LEAST = 1e-3  # weight of a feature whose gain does not exceed the penalty: after all others, in the order of votes


@dataclass(frozen=True, slots=True, eq=False)
class FeatureGains:
    """Log-likelihood gains of each feature in nats, less the penalty: (m,)"""

    by_blocks: FloatArray  # the mean over block models
    by_links: FloatArray
    is_constant: BoolArray  # features that are the same for all nodes: they explain nothing

    @property
    def weights(self) -> FloatArray:
        """√(2E) of each feature, at least 0.001, or 0 if it is constant; E the gain by blocks and by links."""
        return self._weights(self.by_blocks + self.by_links)

    @property
    def weights_by_links(self) -> FloatArray:
        """The same of the gain by links alone."""
        return self._weights(self.by_links)

    def _weights(self, gains: FloatArray) -> FloatArray:
        weights: FloatArray = np.maximum(np.sqrt(2 * np.maximum(gains, 0.0)), _LEAST)
        return np.where(self.is_constant, 0.0, weights)


def feature_gains(
    likelihood: JointLikelihood,
    graph: AttributedGraph,
    models: Sequence[BlockModel],
    scaled: Features | None = None,
) -> FeatureGains:
    """How much better blocks and links explain each feature than chance.

    `scaled` are the features as `scaled_for_links` gives them, where they are weighted on many graphs.
    """
    scaled = scaled_for_links(graph.features) if scaled is None else scaled
    by_blocks = np.mean(
        [likelihood.feature_gains(model.labels) - likelihood.penalty(model.n_blocks) for model in models], axis=0
    )
    by_links = link_gains_of_scaled(scaled, graph.adjacency, likelihood.link_unit, device=likelihood.device)
    return FeatureGains(by_blocks, by_links - likelihood.penalty(2), constant_columns(graph.features))


def mean_vote(votes: FloatArray) -> FloatArray:
    """Of the votes (c, m), each of unit length: (m,)"""
    vote: FloatArray = normalise(votes).mean(axis=0)
    return vote


def weighted(vote: FloatArray, gains: FeatureGains) -> FloatArray:
    """Scores of unit length (m,)."""
    scores: FloatArray = normalise(vote * gains.weights)
    return scores
