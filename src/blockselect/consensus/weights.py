"""Feature gains: how much better blocks and links explain each feature than chance.

A gain E is a log-likelihood gain in nats, minus one nat per extra parameter (AIC). √(2E) is like a z value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blockselect.arrays import BoolArray, Features, FloatArray
from blockselect.blockmodels.model import BlockModel
from blockselect.consensus.joint import JointLikelihood
from blockselect.consensus.link_excess import link_gains_of_scaled, scaled_for_links
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.statistics import constant_columns


@dataclass(frozen=True, slots=True, eq=False)
class FeatureGains:
    """Log-likelihood gains of each feature in nats, minus the penalty: (m,)"""

    by_blocks: FloatArray  # the mean over block models
    by_links: FloatArray
    is_constant: BoolArray  # features that have the same value for all nodes

    @property
    def total(self) -> FloatArray:
        """Gain by blocks and by links."""
        return self.by_blocks + self.by_links

    @property
    def weights(self) -> FloatArray:
        """√(2E) of each feature, E its total gain; 0 if the gain is negative."""
        weights: FloatArray = np.sqrt(2 * np.maximum(self.total, 0.0))
        return weights


def feature_gains(
    likelihood: JointLikelihood,
    graph: AttributedGraph,
    models: Sequence[BlockModel],
    scaled: Features | None = None,
) -> FeatureGains:
    """How much better blocks and links explain each feature than chance.

    `scaled` are the features as returned by `scaled_for_links`, for callers that need the gains on many graphs.
    """
    scaled = scaled_for_links(graph.features) if scaled is None else scaled
    by_blocks = np.mean(
        [likelihood.feature_gains(model.labels) - likelihood.penalty(model.n_blocks) for model in models], axis=0
    )
    by_links = link_gains_of_scaled(scaled, graph.adjacency, likelihood.link_unit)
    return FeatureGains(by_blocks, by_links - likelihood.penalty(2), constant_columns(graph.features))
