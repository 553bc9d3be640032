"""Selectors: the scikit-learn face of every method."""

from blockselect.baselines.by_network.adapt import ADAPT
from blockselect.consensus.estimator import PAPER, BlockModelSelector
from blockselect.baselines.by_network.gfs import GFS
from blockselect.baselines.by_features.laplacian import LaplacianScore, NetworkLaplacianScore
from blockselect.baselines.by_network.lufs import LUFS
from blockselect.baselines.by_features.mcfs import MCFS
from blockselect.baselines.by_network.mmpop import MMPOP
from blockselect.baselines.by_network.moran import MoransI
from blockselect.baselines.by_features.ndfs import NDFS
from blockselect.baselines.by_network.netfs import NetFS
from blockselect.baselines.by_network.partial_order import PartialOrder
from blockselect.registry import SELECTORS
from blockselect.baselines.by_features.spec import SPEC
from blockselect.baselines.by_features.udfs import UDFS
from blockselect.baselines.by_features.variance import VarianceScore

__all__ = [
    "ADAPT",
    "GFS",
    "LUFS",
    "MCFS",
    "MMPOP",
    "NDFS",
    "PAPER",
    "SELECTORS",
    "SPEC",
    "UDFS",
    "BlockModelSelector",
    "LaplacianScore",
    "MoransI",
    "NetFS",
    "NetworkLaplacianScore",
    "PartialOrder",
    "VarianceScore",
]
