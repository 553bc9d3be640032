"""Output: features in the format of the file they were read from, and labels as attributes of a user's graph."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import io as scipy_io
from scipy import sparse

from blockselect.inputs.kinds import is_igraph, is_networkx
from blockselect.inputs.labels import igraph_names
from blockselect.inputs.node_attributes import mark_as_result
from blockselect.inputs.text_files import format_of, is_packed
from blockselect.rows.matrices import as_dense
from blockselect.utils.arrays import Features, ObjectArray
from blockselect.utils.errors import ParameterError
from blockselect.utils.extras import needed
from blockselect.utils.parameters import is_number
from blockselect.utils.wording import feature_labels

SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
WRITTEN = (*SEPARATORS, ".parquet", ".feather", ".npz", ".npy", ".mtx", ".mat", ".h5ad")
FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # spreadsheets also evaluate the full-width signs


def as_text_cell(cell: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would evaluate as a formula; numbers such as -1.5 stay."""
    if not isinstance(cell, str) or not cell.lstrip().startswith(FORMULA_STARTS) or is_number(cell):
        return cell
    return f"'{cell}"


def matrix_suffix(source: Path | None) -> str:
    """Return the suffix for the source's format; .csv if it cannot be written, .npz if there is no source."""
    suffix = ".npz" if source is None else format_of(source)
    if source is not None and suffix not in WRITTEN:
        return ".csv"
    return f"{suffix}.gz" if suffix in SEPARATORS and source is not None and is_packed(source) else suffix


def matrix_file(
    matrix: Features, node_ids: ObjectArray | None, feature_names: ObjectArray | None, source: Path | None
) -> bytes:
    """Return the content of a file with these features.

    Parameters
    ----------
    matrix : array or CSR of shape (n, d)
    node_ids, feature_names : arrays of shape (n,) and (d,), optional
        Written if the format stores names; by default, row numbers and x0, x1, ….
    source : path, optional
        The file whose format is used; see :func:`matrix_suffix`.
    """
    suffix = matrix_suffix(source).removesuffix(".gz")
    buffer = io.BytesIO()
    if suffix == ".npz":
        (sparse.save_npz if sparse.issparse(matrix) else np.savez_compressed)(buffer, matrix)
    elif suffix == ".npy":
        np.save(buffer, as_dense(matrix))
    elif suffix == ".mtx":
        scipy_io.mmwrite(buffer, sparse.coo_array(matrix))
    elif suffix == ".mat":
        scipy_io.savemat(buffer, {"features": matrix})
    else:
        ids = [str(node) for node in (range(matrix.shape[0]) if node_ids is None else node_ids)]
        frame = pd.DataFrame(as_dense(matrix), ids, feature_labels(feature_names, matrix.shape[1]))
        if suffix in SEPARATORS:
            text = frame.rename(index=as_text_cell, columns=as_text_cell)
            text.to_csv(buffer, sep=SEPARATORS[suffix], index_label="id")
        elif suffix == ".h5ad":
            _write_h5ad(buffer, matrix, frame)
        elif suffix == ".parquet":
            frame.reset_index(names="id").to_parquet(buffer)
        else:
            frame.reset_index(names="id").to_feather(buffer)
    content = buffer.getvalue()
    return gzip.compress(content, mtime=0) if matrix_suffix(source).endswith(".gz") else content


def _write_h5ad(  # pragma: no cover (needs anndata, which keeps pandas below 3: make single-cell)
    buffer: io.BytesIO, matrix: Features, frame: pd.DataFrame
) -> None:
    anndata = needed("anndata", "an .h5ad file")
    cells = anndata.AnnData(sparse.csr_matrix(matrix), frame[[]], frame.T[[]])
    with needed("h5py", "an .h5ad file").File(buffer, "w") as file:
        anndata.io.write_elem(file, "/", cells)


def write_labels(graph: Any, labels: Sequence[Any], nodes: Iterable[Any] | None, attribute: str) -> Any:
    """Write labels to a networkx or igraph graph, as a node attribute, and return the graph.

    `nodes` contains the node ids in the order of the labels; if None, they are 0, 1, ….
    """
    ids = list(range(len(labels))) if nodes is None else list(nodes)
    if len(ids) != len(labels):
        raise ParameterError("nodes", f"has {len(ids)} entries for {len(labels)} nodes; pass one per row of X.")
    label_of = dict(zip(ids, labels, strict=True))
    if is_networkx(graph):
        own = list(graph)
    elif is_igraph(graph):
        own = igraph_names(graph) or list(range(graph.vcount()))
    else:
        raise ParameterError("graph", f"is of type {type(graph).__name__}; expected a networkx or igraph graph.")
    missing = list(label_of.keys() - set(own))
    if missing or (nodes is None and len(own) != len(ids)):
        called = "are numbered 0, 1, …" if nodes is None else f"include {missing[:3]}, which the graph does not have"
        raise ParameterError(
            "graph",
            f"has nodes called {own[:3]}, … but the rows of the fit {called}; name the node of each row: nodes=ids, or "
            "nodes=list(graph) if both have the same order.",
        )
    if hasattr(graph, "vs"):
        graph.vs[attribute] = [label_of.get(node) for node in own]
    else:
        for node, label in label_of.items():
            graph.nodes[node][attribute] = label
    mark_as_result(graph, attribute)
    return graph
