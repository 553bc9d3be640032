"""Graphs from GraphML, GML and edge lists, as networkx reads and writes them. Ids are kept as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from blockselect.extras import needed
from blockselect.graphs.edge_tables import ENDS, WEIGHT
from blockselect.graphs.io.damaged import naming_file
from blockselect.graphs.io.packed import read_text

_DECLARATIONS = ("<!DOCTYPE", "<!ENTITY")  # of no use in GraphML, and a way to make a small file a large one


def read_markup(path: Path, suffix: str) -> Any:
    """A networkx graph of a GraphML or GML file."""
    networkx = needed("networkx", f"a {suffix} file")
    text = read_text(path)
    if suffix == ".graphml" and any(word in text for word in _DECLARATIONS):
        raise ValueError(f"{path} declares entities, which GraphML does not need; export it again without them.")
    with naming_file(path, "export it again.", problem=f"is no readable {suffix[1:]} file"):
        graph = networkx.parse_graphml(text) if suffix == ".graphml" else networkx.parse_gml(text)
    return networkx.relabel_nodes(graph, str)


def read_edge_list(path: Path) -> pd.DataFrame:
    """An edge list without a header: source, target and perhaps a weight, blanks between them, # before remarks."""
    rows: list[list[str]] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        cells = line.partition("#")[0].split()
        if not cells:
            continue
        if "{" in line:
            raise ValueError(
                f"{path}, line {number}: attributes in braces; write the weights alone: "
                "networkx.write_weighted_edgelist(graph, path), or GraphML."
            )
        if len(cells) not in (2, 3) or len(cells) != len(rows[0] if rows else cells):
            raise ValueError(
                f"{path}, line {number}: {len(cells)} cell(s); give each line source, target and perhaps a weight, "
                "with blanks between them, on all lines alike."
            )
        rows.append(cells)
    if not rows:
        raise ValueError(f"{path} has no edge; write one a line: source target.")
    return pd.DataFrame(rows, columns=[*ENDS, WEIGHT][: len(rows[0])])
