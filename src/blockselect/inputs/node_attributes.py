"""Features from the node attributes of a networkx or igraph graph."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from blockselect.inputs.kinds import FeatureTable, is_igraph, is_networkx
from blockselect.inputs.labels import IGRAPH_NAMES, igraph_names
from blockselect.utils.errors import ParameterError
from blockselect.utils.parameters import check_real

_NUMBERS, _CATEGORIES, _WORDS = "numbers", "categories", "words"
_RESULT = "blockselect_result_"  # prefix of the graph attribute that marks a node attribute as written by blockselect


def mark_as_result(graph: Any, attribute: Any) -> None:
    """Mark a node attribute as written by blockselect, so that it is not read as a feature."""
    (graph.graph if is_networkx(graph) else graph)[f"{_RESULT}{attribute}"] = "written by blockselect"


def encode_attributes(
    graph: Any, attributes: Iterable[Any] | None = None, *, fill: float | None = None, of_file: bool = False
) -> FeatureTable:
    """Encode node attributes as numbers: CSR, or an array if all attributes are numeric.

    Parameters
    ----------
    graph : networkx or igraph graph
        A numeric or Boolean attribute becomes one column. Texts are categories, with one column of zeros and ones per
        category. Lists, tuples and sets of texts are words, with one column of zeros and ones per word. A node without
        a category or without words has zeros in all of these columns.
    attributes : iterable, optional
        The attributes to use; by default, all except those that blockselect wrote.
    fill : float, optional
        The value for nodes that lack a numeric attribute; by default, a missing number is an error.
    of_file : bool
        Whether the graph was read from a file; if so, error messages name the parameters of :func:`read_features`.
    """
    if fill is not None:
        fill = check_real("fill", fill, 0, np.inf)
    node_ids, values = _read_nodes(graph)
    nodes = list(range(graph.vcount())) if node_ids is None else node_ids
    if attributes is None:
        of_graph = graph.graph if is_networkx(graph) else graph.attributes()
        chosen = [one for one in values if f"{_RESULT}{one}" not in of_graph]
    else:
        chosen = [attributes] if isinstance(attributes, str) else list(attributes)
        if not chosen or not values.keys() >= set(chosen):
            raise ParameterError(
                "attributes", f"is {chosen}, but nodes have {list(values)}; choose among these attributes."
            )
    values = {one: values[one] for one in chosen}
    if not values:
        raise ValueError(
            f"features is of type {type(graph).__name__}, a graph; its nodes have no attributes, so pass the "
            "features first and the graph by name: fit(features, adjacency=graph)."
        )
    reader = f"AttributedGraph.from_{'networkx' if is_networkx(graph) else 'igraph'}"
    leave_out = f"leave this attribute out: {'drop=[NAME]' if of_file else f'{reader}(graph, attributes=[…])'}"
    fill_in = "fill=0" if of_file else f"{reader}(graph, fill=0)"
    rows, blocks, names = [], [], []
    for attribute, column in values.items():
        known = {at: value for at, value in enumerate(column) if not _is_missing(value)}
        kind = _check_attribute(attribute, known, nodes, leave_out)
        if kind == _NUMBERS and len(known) < len(nodes) and fill is None:
            without = [node for at, node in enumerate(nodes) if at not in known]
            raise ValueError(
                f"{len(without)} of {len(nodes)} nodes have no value for the attribute {attribute!r}, for example "
                f"{without[:3]}; give each node a number, choose one for these nodes: {fill_in}, or {leave_out}."
            )
        block, own_names = _encode(attribute, [known.get(at) for at in range(len(nodes))], kind, fill)
        rows.append((attribute, kind, len(nodes) - len(known), len(own_names), own_names))
        blocks.append(block)
        names.extend(own_names)
    return FeatureTable(
        matrix=sparse.hstack(blocks, format="csr") if any(map(sparse.issparse, blocks)) else np.hstack(blocks),
        node_ids=node_ids,
        feature_names=names,
        encoding=pd.DataFrame(rows, columns=["attribute", "kind", "n_missing", "n_columns", "columns"]),
    )


def _read_nodes(graph: Any) -> tuple[list[Any] | None, dict[Any, list[Any]]]:
    """Return the node ids and the values of each attribute in the same order; a missing value is None."""
    if is_igraph(graph):
        return igraph_names(graph), {one: graph.vs[one] for one in graph.vs.attributes() if one not in IGRAPH_NAMES}
    data = [graph.nodes[node] for node in graph]
    return list(graph), {one: [each.get(one) for each in data] for one in dict.fromkeys(chain.from_iterable(data))}


def _check_attribute(attribute: Any, known: dict[int, Any], nodes: list[Any], leave_out: str) -> str:
    """Return the kind of an attribute, given its known values; `leave_out` is advice for error messages."""
    first_of: dict[str, int] = {}  # kind → the first node of this kind
    for at, value in known.items():
        first_of.setdefault(_kind_of(value), at)
    if not known:
        raise ValueError(f"no node has a value for the attribute {attribute!r}; {leave_out}.")
    if len(first_of) > 1 or not first_of.keys() <= {_NUMBERS, _CATEGORIES, _WORDS}:
        examples = (f"{known[at]!r} at node {nodes[at]!r}" for at in first_of.values())
        raise ValueError(
            f"the attribute {attribute!r} contains {' and '.join(first_of)}, for example {', '.join(examples)}; "
            f"expected only numbers, only texts, or only lists or sets of texts. Convert the values, or {leave_out}."
        )
    (kind,) = first_of
    if kind == _CATEGORIES and len(set(known.values())) == len(known):
        text = next(iter(known.values()))
        raise ValueError(
            f"the attribute {attribute!r} has a different text for each node, such as {text!r}, so it names nodes "
            f"rather than categories; {leave_out}, or, if these texts contain several words, split them: text.split()."
        )
    return kind


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, Real) and value != value)


def _kind_of(value: Any) -> str:
    """Return one of the three kinds, or a phrase that describes a value that cannot be encoded."""
    if isinstance(value, Real | np.bool_):
        return _NUMBERS
    if isinstance(value, str):
        return _CATEGORIES
    if isinstance(value, list | tuple | AbstractSet):
        return _WORDS if all(isinstance(one, str) for one in value) else f"a {type(value).__name__} of other values"
    return f"a {type(value).__name__}"


def _encode(attribute: Any, column: list[Any], kind: str, fill: float | None) -> tuple[Any, list[str]]:
    """Encode one attribute, whose missing values are None; return its columns and their names."""
    if kind == _NUMBERS:
        numbers = [fill if value is None else value for value in column]
        return np.array(numbers, dtype=np.float64)[:, None], [str(attribute)]
    binarizer = MultiLabelBinarizer(sparse_output=True)
    words = ([] if value is None else [value] if kind == _CATEGORIES else value for value in column)
    indicators = binarizer.fit_transform(list(words))
    return sparse.csr_array(indicators, dtype=np.float64), [f"{attribute}={value}" for value in binarizer.classes_]
