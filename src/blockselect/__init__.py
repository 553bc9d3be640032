"""blockselect: the few features that tell a network's structure, without labels.

A package imports only from packages to its left::

    graphs → blockmodels → scoring → selectors, datasets → evaluation → experiments → report → cli

- `graphs`: what comes in, checked once.
- `blockmodels`: A ≈ F M Fᵀ, many candidates.
- `scoring`: the scores r, many solves at once, and what the baselines solve.
- `selectors`: the scikit-learn face: BlockModelSelector and every baseline, by name in `SELECTORS`.
- `datasets`: the paper's networks, and networks with planted truth.
- `evaluation`: how well selected features find known classes.
- `experiments`: the paper's figures and claims, in sweeps that survive a kill.
- `report`: what a fitted selector found, as a dict and as a picture.
- `cli`: the command.
"""

from blockselect.blockmodels import BlockModel, find_block_models
from blockselect.datasets import (
    fetch_blogcatalog,
    fetch_citeseer,
    fetch_cora,
    load_cora,
    make_attributed_blocks,
)
from blockselect.evaluation import evaluate_selection
from blockselect.graphs import AttributedGraph, check_attributed_graph
from blockselect.selectors import PAPER, BlockModelSelector
from blockselect.registry import SELECTORS

__version__ = "0.1.0"

__all__ = [
    "PAPER",
    "SELECTORS",
    "AttributedGraph",
    "BlockModel",
    "BlockModelSelector",
    "check_attributed_graph",
    "evaluate_selection",
    "fetch_blogcatalog",
    "fetch_citeseer",
    "fetch_cora",
    "find_block_models",
    "load_cora",
    "make_attributed_blocks",
]
