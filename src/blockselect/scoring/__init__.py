"""The scores r: statistics of the blocks, two losses, one batched descent."""

from blockselect.scoring.descent import DescentResult, descend
from blockselect.scoring.gram import DenseGramSquared, GramSquared, SparseGramSquared, gram_squared
from blockselect.scoring.statistics import BlockStatistics

__all__ = [
    "BlockStatistics",
    "DenseGramSquared",
    "DescentResult",
    "GramSquared",
    "SparseGramSquared",
    "descend",
    "gram_squared",
]
