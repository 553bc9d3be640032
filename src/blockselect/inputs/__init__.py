"""Input: reading and validating a network and the features of its nodes, from matrices, tables, graphs and files.

All input passes the same functions, which convert it to an AttributedGraph:

    path ─► read_features ─► features ─► as_feature_table ──► check_feature_table ─┐
    path ─► read_graph ────► graph ────► read_graph_object ─► check_adjacency ─────┴─► check_attributed_graph
"""

from blockselect.inputs.adjacency import as_adjacency
from blockselect.inputs.attributed import AttributedGraph, check_attributed_graph
from blockselect.inputs.files import read_attributed_graph, read_features, read_graph
from blockselect.inputs.kinds import FeatureTable
from blockselect.inputs.neighbour_graph import nearest_neighbour_graph

__all__ = [
    "AttributedGraph",
    "FeatureTable",
    "as_adjacency",
    "check_attributed_graph",
    "nearest_neighbour_graph",
    "read_attributed_graph",
    "read_features",
    "read_graph",
]
