"""Files for fuzzing: a valid file of each format, and a check of how a mutated one is read."""

from __future__ import annotations

import gzip
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas as pd
from scipy import io, sparse

from blockselect.inputs import read_features, read_graph

MATRIX = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.25], [0.0, 0.25, 0.0]])

EDGES = pd.DataFrame({"source": ["ann", "bob"], "target": ["bob", "cleo"], "weight": [1.0, 2.5]})
GRAPH = networkx.from_pandas_edgelist(EDGES, edge_attr="weight")


def _written(save: Any) -> bytes:
    file = BytesIO()
    save(file)
    return file.getvalue()


SOUND: dict[str, bytes] = {
    "features.csv": b"id,red,blue\n007,1,0\nx,0.5,2\nNA,0,3\n",
    "edges.csv": b"source,target,weight\n007,x,1\nx,NA,2.5\n",
    "dense.npy": _written(lambda file: np.save(file, MATRIX)),
    "dense.npz": _written(lambda file: np.savez_compressed(file, matrix=MATRIX)),
    "csr.npz": _written(lambda file: sparse.save_npz(file, sparse.csr_array(MATRIX))),
    "coo.npz": _written(lambda file: sparse.save_npz(file, sparse.coo_array(MATRIX), compressed=False)),
    "sparse.mtx": _written(lambda file: io.mmwrite(file, sparse.coo_array(MATRIX))),
    "full.mtx": _written(lambda file: io.mmwrite(file, MATRIX, symmetry="general")),
    "symmetric.mtx": _written(lambda file: io.mmwrite(file, MATRIX + MATRIX.T, symmetry="symmetric")),
    "pattern.mtx": b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n",
    "dense.mat": _written(lambda file: io.savemat(file, {"A": MATRIX})),
    "sparse.mat": _written(lambda file: io.savemat(file, {"A": sparse.csc_array(MATRIX)})),
    "packed.mat": _written(lambda file: io.savemat(file, {"A": sparse.csc_array(MATRIX)}, do_compression=True)),
    "table.parquet": _written(lambda file: EDGES.to_parquet(file)),
    "table.feather": _written(lambda file: EDGES.to_feather(file)),
    "edges.csv.gz": gzip.compress(b"source,target,weight\n007,x,1\nx,NA,2.5\n"),
    "graph.edgelist": b"# people\nann bob 1\nbob cleo 2.5\n",
    "graph.gml": "\n".join(networkx.generate_gml(GRAPH)).encode(),
    "graph.gexf": "\n".join(networkx.generate_gexf(GRAPH)).encode(),
    "graph.json": json.dumps(networkx.node_link_data(GRAPH)).encode(),
    "snap.txt": b"# people\n1\t2\n2\t3\n",
    "table.xlsx": _written(lambda file: EDGES.to_excel(file, index=False)),
    "graph.graphml": "\n".join(networkx.generate_graphml(GRAPH)).encode(),
}
"""Name → valid content."""


def read_either_way(path: Path) -> list[str]:
    """Read the file as features and as links, and return which succeeded; errors must name the file."""
    read_as = []
    for read in (read_features, read_graph):
        try:
            read(path)
            read_as.append(read.__name__)
        except (ValueError, OSError) as error:
            if path.name not in str(error):
                raise AssertionError(f"{read.__name__} does not name the file: {error}") from error
    return read_as
