"""PlantedNetwork: a made network together with the truth it was made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blockselect.arrays import Features, FloatArray, IntArray, Sparse
from blockselect.graphs.attributed import AttributedGraph


@dataclass(frozen=True, slots=True, eq=False)
class PlantedNetwork:
    """A network whose blocks and informative features are known.

    Make one with :func:`make_attributed_blocks`.
    """

    graph: AttributedGraph  # its classes are the planted blocks
    blocks: IntArray  # (n,) planted block of each node
    density: FloatArray  # (k, k) chance of a link between two different nodes of these blocks
    roles: NDArray[np.str_]  # (m,) "informative", "redundant", "noise" or "decoy"
    copied_from: IntArray  # (m,) column that a redundant feature copies, -1 for all others
    decoy_blocks: IntArray | None = None  # (n,) the partition that decoys follow, if there are decoys

    @property
    def adjacency(self) -> Sparse:
        return self.graph.adjacency

    @property
    def features(self) -> Features:
        return self.graph.features

    @property
    def n_blocks(self) -> int:
        return len(self.density)

    @property
    def is_informative(self) -> NDArray[np.bool_]:
        """Which features follow the blocks, as originals or as copies: (m,)."""
        return np.isin(self.roles, ("informative", "redundant"))
