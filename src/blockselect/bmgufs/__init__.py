"""The scores r: statistics of the blocks, two losses, one batched descent."""

from blockselect.bmgufs.descent import DescentResult, descend
from blockselect.bmgufs.gram_squared import DenseGramSquared, GramSquared, SparseGramSquared, gram_squared
from blockselect.bmgufs.block_statistics import BlockStatistics

__all__ = [
    "BlockStatistics",
    "DenseGramSquared",
    "DescentResult",
    "GramSquared",
    "SparseGramSquared",
    "descend",
    "gram_squared",
]
