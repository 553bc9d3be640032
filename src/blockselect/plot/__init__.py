"""Plotting functions: each takes a fitted selector or arrays and returns matplotlib axes. Needs the extra `report`.

>>> from blockselect import plot
>>> plot.scores([0.2, 0.7, 0.1], feature_names=["graph", "gene", "tree"]).get_title(loc="left")
'Scores, best first'
"""

from blockselect.utils.extras import install_advice

try:
    from blockselect.plot.of_blocks import block_densities, ordered_adjacency, tree
    from blockselect.plot.of_features import explained, features_by_block, scores, stability
    from blockselect.plot.of_runs import candidates, compare, losses
except ModuleNotFoundError as error:
    raise ImportError(install_advice(error, "plots need") or str(error), name=error.name) from error

__all__ = [
    "block_densities",
    "candidates",
    "compare",
    "explained",
    "features_by_block",
    "losses",
    "ordered_adjacency",
    "scores",
    "stability",
    "tree",
]
