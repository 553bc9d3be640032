"""Selectors: the scikit-learn face of every method."""

from blockselect.selectors.adapt import ADAPT
from blockselect.selectors.block_model import PAPER, BlockModelSelector
from blockselect.selectors.gfs import GFS
from blockselect.selectors.laplacian import LaplacianScore, NetworkLaplacianScore
from blockselect.selectors.lufs import LUFS
from blockselect.selectors.mcfs import MCFS
from blockselect.selectors.mmpop import MMPOP
from blockselect.selectors.moran import MoransI
from blockselect.selectors.ndfs import NDFS
from blockselect.selectors.netfs import NetFS
from blockselect.selectors.partial_order import PartialOrder
from blockselect.selectors.registry import SELECTORS
from blockselect.selectors.spec import SPEC
from blockselect.selectors.udfs import UDFS
from blockselect.selectors.variance import VarianceScore

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
