"""blockselect: the few features that tell a network's structure, without labels.

A package imports only from packages to its left::

    graphs → blockmodels → scoring → selectors, datasets → report → cli

- `graphs`: what comes in, checked once.
- `blockmodels`: A ≈ F M Fᵀ, many candidates.
- `scoring`: the scores r, many solves at once.
- `selectors`: the scikit-learn face.
- `datasets`: Cora, and networks with planted truth.
- `report`: what a fitted selector found, as a dict and as a picture.
- `cli`: the command.
"""

from blockselect.blockmodels import BlockModel, find_block_models
from blockselect.datasets import load_cora, make_attributed_blocks
from blockselect.graphs import AttributedGraph, check_attributed_graph
from blockselect.selectors import PAPER, BlockModelSelector

__version__ = "0.1.0"

__all__ = [
    "PAPER",
    "AttributedGraph",
    "BlockModel",
    "BlockModelSelector",
    "check_attributed_graph",
    "find_block_models",
    "load_cora",
    "make_attributed_blocks",
]
