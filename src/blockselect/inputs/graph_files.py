"""Networks in text files: edge lists, read by pandas, and GraphML, GEXF, GML and JSON files, read by networkx."""

from __future__ import annotations

import csv
import json
from collections import Counter
from contextlib import suppress
from io import BytesIO, TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import sparse

from blockselect.inputs.edges import ENDS, WEIGHT, edge_columns
from blockselect.inputs.feature_tables import TableOptions
from blockselect.inputs.kinds import FeatureTable
from blockselect.inputs.node_attributes import encode_attributes
from blockselect.inputs.text_files import (
    BLANKS,
    BadFileError,
    check_columns,
    find_separator,
    format_of,
    note,
    parse_table,
    text_bytes,
)
from blockselect.utils.extras import needed
from blockselect.utils.parameters import is_number
from blockselect.utils.wording import count

MARKUP = (".graphml", ".gexf", ".gml", ".json")
COMMENTS = ("#", "%")  # used by SNAP and KONECT, respectively
MOST_EDGE_COLUMNS = 1000  # with many thousands, pandas takes minutes
FEW_COLUMNS = 3  # source, target and weight


def read_edge_text(path: Path, *, header: bool = True, decimal: str = ".") -> Any:
    """Read edges or an adjacency matrix from a text file, which may begin with comments and a header.

    Returns
    -------
    A DataFrame of edges; a networkx graph if edges have attributes in braces, as networkx writes them; or a CSR
    adjacency matrix if the nodes have no names.
    """
    content = text_bytes(path)
    lines = TextIOWrapper(BytesIO(content), encoding="utf-8", newline="")
    n_comments = 0
    while (first := next(lines, "")) and (first.startswith(COMMENTS) or not first.strip()):
        n_comments += 1
    if not first:
        raise BadFileError("it contains no edge; write one per line: source target.")
    is_edgelist = format_of(path) == ".edgelist"
    separator = None if is_edgelist else find_separator(first, decimal)
    if separator is None:  # the decimal comma may apply only to the feature file
        separator = (None if is_edgelist or len(first.split()) > 1 else find_separator(first)) or BLANKS
    if separator == BLANKS and first.rstrip().endswith("}"):
        return needed("networkx", "an edge list with attributes").parse_edgelist(content.decode().splitlines())
    if separator == BLANKS:
        names = first.split()
    else:
        cells = next(csv.reader([first], delimiter=separator, skipinitialspace=True))
        names = [cell.strip() for cell in cells]
    if len(names) < 2:
        raise BadFileError(f"the first line {first.strip()[:40]!r} has one cell; expected source and target.")
    named = set(ENDS) <= {name.lower() for name in names}
    if not named and (matrix := _read_square(content, separator, names, n_comments, decimal, path)) is not None:
        return matrix
    in_columns = separator in (",", ";") or (separator == "\t" and not n_comments)
    has_header = named or (header and in_columns and not all(map(is_number, names[:2])))
    if not has_header:
        names = [*ENDS, WEIGHT if is_edgelist else "2", *map(str, range(3, len(names)))][: len(names)]
    edge_columns(pd.DataFrame(columns=names), weight=False)  # refuses a table of features before it is read
    if len(names) > MOST_EDGE_COLUMNS:
        raise BadFileError(
            f"it has {len(names):,} columns, but an edge table may have at most {MOST_EDGE_COLUMNS:,}; keep source, "
            "target and weight."
        )
    if not (has_header or is_edgelist):
        between = {BLANKS: "blanks", "\t": "tabs"}.get(separator, separator)
        above = f", below {count(n_comments, 'line')} of comments" if n_comments else ""
        note("read %s as edges without a header: source and target, %s between them%s", path.name, between, above)
    edges = parse_table(content, separator, names, header=has_header, dtype=str, skip=n_comments)
    if decimal != ".":
        ends = [end.name for end in edge_columns(edges, weight=False)[:2]]
        edges = edges.apply(lambda column: column if column.name in ends else column.str.replace(decimal, "."))
    return without_row_numbers(edges, path)


def _read_square(content: bytes, separator: str, names: list[str], skip: int, decimal: str, path: Path) -> Any:
    """Read a square table whose header and first column name the nodes, or a square matrix; None for other files."""
    n_lines = content.count(b"\n", 0, len(content.rstrip())) + 1 - skip
    if len(names) <= FEW_COLUMNS or len(names) != n_lines:
        return None
    if all(is_number(name.replace(decimal, ".")) for name in names):
        note("read %s as an adjacency matrix without names: nodes are in the order of the features", path.name)
        cells = parse_table(content, separator, names, header=False, dtype=float, skip=skip, decimal=decimal)
        return sparse.csr_array(cells.to_numpy())
    cells = parse_table(content, separator, names, header=True, dtype={0: str}, skip=skip, decimal=decimal)
    if cells.iloc[:, 0].tolist() != names[1:]:
        return None
    note("read %s as an adjacency matrix of %s", path.name, count(len(cells), "node"))
    links = sparse.coo_array(cells.iloc[:, 1:].to_numpy(dtype=float))
    nodes = cells.iloc[:, 0].to_numpy(dtype=object)
    return pd.DataFrame(dict(zip((*ENDS, WEIGHT), (nodes[links.row], nodes[links.col], links.data), strict=True)))


def without_row_numbers(edges: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Drop a first column without a name, which is how pandas writes its index."""
    if edges.columns[0] != "" or not set(ENDS) <= {name.lower() for name in edges.columns}:
        return edges
    note("left out the first column of %s, which has no name", path.name)
    return edges.iloc[:, 1:]


def read_markup(path: Path, id_column: str | None = None) -> Any:
    """Read a GraphML, GEXF, GML or node-link JSON file as a networkx graph with node ids as text.

    If `id_column` is given, the ids are read from this attribute.
    """
    suffix = format_of(path)
    networkx = needed("networkx", f"a {suffix} file")
    content = text_bytes(path)
    if suffix in (".graphml", ".gexf") and (b"<!DOCTYPE" in content or b"<!ENTITY" in content):
        raise BadFileError("it declares entities, which can expand a small file to a huge one; export it without them.")
    if suffix == ".graphml":
        graph = networkx.parse_graphml(content.decode())
    elif suffix == ".gexf":
        graph = networkx.read_gexf(BytesIO(content))
    elif suffix == ".gml":
        graph = _parse_gml(networkx, content.decode())
    else:
        graph = _parse_json(networkx, content.decode())
    for key, items in (("node_default", graph.nodes), ("edge_default", graph.edges)):
        defaults = graph.graph.pop(key, {})  # networkx reads the defaults of GraphML without applying them
        for item in items:
            items[item].update({**defaults, **items[item]})
    for _, data in graph.nodes(data=True):
        data.pop("viz", None)  # Gephi's settings for drawing the node
    twice = [name for name, n in Counter(map(str, graph)).items() if n > 1]
    if twice:
        raise BadFileError(
            f"{len(twice)} label(s) name two nodes, once as a number and once as text, for example {twice[0]}; give "
            "each node a different label."
        )
    names = None
    if id_column is not None:
        check_columns([id_column], _attributes(graph))
        names = {node: data.pop(id_column, None) for node, data in graph.nodes(data=True)}
        if len(set(map(str, names.values()))) < len(graph) or None in names.values():
            raise BadFileError(
                f"the attribute {id_column!r} does not identify the nodes: it is missing or the same for some of them; "
                "choose another one."
            )
    elif _names_nodes(graph, "name") and list(graph) == [f"n{node}" for node in range(len(graph))]:
        names = {node: data.pop("name") for node, data in graph.nodes(data=True)}
        note("nodes of %s are identified by their attribute 'name', as in igraph", path.name)
    if graph.is_directed():
        note("links of %s have directions, which are ignored", path.name)
    return networkx.relabel_nodes(graph, {node: str(names[node] if names else node) for node in graph})


def _parse_gml(networkx: Any, text: str) -> Any:
    for label in ("label", "name"):  # igraph writes names
        with suppress(networkx.NetworkXError):
            return networkx.parse_gml(text, label=label)
    return networkx.parse_gml(text, label="id")


def _parse_json(networkx: Any, text: str) -> Any:
    data = json.loads(text)
    links = "links" if isinstance(data, dict) and "links" in data else "edges"  # in older and newer versions
    if not isinstance(data, dict) or not {"nodes", links} <= data.keys():
        raise BadFileError(
            "it has no lists named nodes and links (or edges); write networkx.node_link_data(graph) as JSON."
        )
    return networkx.node_link_graph(data, edges=links)


def _attributes(graph: Any) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(data for _, data in graph.nodes(data=True))))


def _names_nodes(graph: Any, attribute: str) -> bool:
    """Whether the attribute is a text that differs for every node."""
    texts = {data.get(attribute) for _, data in graph.nodes(data=True) if isinstance(data.get(attribute), str)}
    return len(texts) == len(graph)


def note_unused(graph: Any, path: Path) -> None:
    """Log which node attributes are not used because the features come from another file."""
    unused = [repr(one) for one in _attributes(graph) if not _names_nodes(graph, one)]
    if unused:
        note(
            "left out attributes of nodes in %s, because the features come from another file: %s",
            path.name,
            ", ".join(unused[:6]),
        )


def attribute_table(graph: Any, path: Path, options: TableOptions) -> FeatureTable:
    """Encode node attributes as features, as for a graph in memory; unused attributes are removed from the graph."""
    attributes = _attributes(graph)
    check_columns(options.drop, attributes)
    naming = [one for one in attributes if one not in options.drop and _names_nodes(graph, one)]
    for _, data in graph.nodes(data=True):
        for one in (*options.drop, *naming):
            data.pop(one, None)
    if not _attributes(graph):
        left = f" other than {', '.join([*options.drop, *naming])}" if attributes else ""
        raise BadFileError(f"its nodes have no attributes{left} to use as features; name a feature file too.")
    try:
        table = encode_attributes(graph, fill=options.fill, of_file=True)
    except ValueError as error:
        raise BadFileError(str(error)) from error
    assert table.encoding is not None
    filled = table.encoding.query("kind == 'numbers' and n_missing > 0")
    for attribute, n_missing in zip(filled["attribute"], filled["n_missing"], strict=True):
        note("filled %r of %s with %g", attribute, count(n_missing, "node"), options.fill)
    note(
        "read %s from %s, %s%s%s",
        *(count(len(graph), "node"), path.name, count(len(table.encoding), "attribute")),
        f", {len(options.drop)} dropped" if options.drop else "",
        f"; left out, as it names the nodes: {', '.join(map(repr, naming))}" if naming else "",
    )
    return table
