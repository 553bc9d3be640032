"""What comes in: a graph and the features of its nodes, checked once."""

from blockselect.graphs.adjacency import as_adjacency
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph
from blockselect.graphs.features import FeatureTable
from blockselect.graphs.files import read_attributed_graph, read_features, read_graph
from blockselect.graphs.neighbours import nearest_neighbour_graph

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
