"""One function per plot: each takes a fitted selector or arrays and returns matplotlib axes. Needs the extra `cli`.

>>> from blockselect import plot
>>> plot.scores([0.2, 0.7, 0.1], feature_names=["graph", "gene", "tree"]).get_title(loc="left")
'Scores, the best first'
"""

from typing import TYPE_CHECKING, Any

from blockselect.extras import lazy_member

if TYPE_CHECKING:
    from blockselect.plot.of_blocks import block_densities, ordered_adjacency
    from blockselect.plot.of_features import explained, features_by_block, scores, stability
    from blockselect.plot.of_runs import candidates, compare, losses

_HOME = {
    "block_densities": "of_blocks",
    "candidates": "of_runs",
    "compare": "of_runs",
    "explained": "of_features",
    "features_by_block": "of_features",
    "losses": "of_runs",
    "ordered_adjacency": "of_blocks",
    "scores": "of_features",
    "stability": "of_features",
}

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
]


def __getattr__(name: str) -> Any:
    return lazy_member(__name__, _HOME, name, what="plots")
