"""The order of the examples in the gallery: from a first selection to your own data and large data."""

from __future__ import annotations

from pathlib import PurePath

ORDER = [
    "plot_first_selection.py",
    "plot_beyond_communities.py",
    "plot_how_stable_how_many.py",
    "plot_read_the_report.py",
    "plot_every_plot.py",
    "plot_compare_without_labels.py",
    "plot_pipeline.py",
    "plot_own_blocks.py",
    "plot_networkx_names.py",
    "plot_citation_network.py",
    "plot_signed_features.py",
    "plot_row_chunks.py",
    "single_cell.py",
]


def place(path: str) -> int:
    """Return the position of an example. An example that is not in the list raises an error."""
    return ORDER.index(PurePath(path).name)
