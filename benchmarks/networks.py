"""Networks to measure on: BlogCatalog where its file is at hand, else one of the same size made at random."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from blockselect import AttributedGraph, check_attributed_graph

N_NODES, N_LINKS, N_FEATURES, N_ENTRIES, N_BLOCKS = 5196, 171_743, 8189, 369_435, 6  # of BlogCatalog


def blogcatalog() -> AttributedGraph:
    folder = os.environ.get("BLOCKSELECT_DATA")
    if folder and (Path(folder) / "BlogCatalog.mat").is_file():
        content = loadmat(Path(folder) / "BlogCatalog.mat")
        return check_attributed_graph(content["Attributes"], content["Network"])
    return _lookalike()


def _lookalike() -> AttributedGraph:
    """Same counts of nodes, links, features and entries; some features are far more frequent than others."""
    rng = np.random.default_rng(0)
    links = rng.integers(N_NODES, size=(2, N_LINKS))
    adjacency = sparse.coo_array((np.ones(N_LINKS), links), shape=(N_NODES, N_NODES))
    frequency = 1 / np.arange(10, N_FEATURES + 10)
    columns = rng.choice(N_FEATURES, size=N_ENTRIES, p=frequency / frequency.sum())
    rows = rng.integers(N_NODES, size=N_ENTRIES)
    features = sparse.coo_array((np.ones(N_ENTRIES), (rows, columns)), shape=(N_NODES, N_FEATURES))
    return check_attributed_graph(features, adjacency)
