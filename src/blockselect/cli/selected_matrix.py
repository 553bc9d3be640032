"""The file that `--save-matrix` writes: the selected features of all nodes, in the format that features came in."""

from __future__ import annotations

from pathlib import Path

from blockselect.base import ScoreSelector
from blockselect.cli.inputs import NetworkInput
from blockselect.graphs.write import matrix_file, matrix_suffix


def matrix_name(features: Path | None) -> str:
    """Its name, by the file that features come from, if any."""
    return f"matrix{matrix_suffix(features)}"


def selected_matrix(network: NetworkInput, selector: ScoreSelector) -> dict[str, bytes]:
    """Its name and its content."""
    graph, chosen = network.graph, selector.get_support(indices=True)
    names = None if graph.feature_names is None else graph.feature_names[chosen]
    content = matrix_file(graph.features[:, chosen], graph.node_ids, names, network.features_file)
    return {matrix_name(network.features_file): content}
