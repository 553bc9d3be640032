"""Arrays that published code made (tests/golden/README.md), and the networks that they belong to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from blockselect import load_citeseer, load_cora

FOLDER = Path(__file__).parent / "golden"


def network(name: str) -> Any:
    """Cora or Citeseer, with nodes in the order of the arrays."""
    return load_cora(planetoid=True) if name == "cora" else load_citeseer()


def affinity(name: str, *, binary: bool = False) -> Any:
    """Five nearest neighbours of each node in either direction, and the node itself."""
    upper = sparse.csr_array(sparse.load_npz(FOLDER / f"{name}_affinity.npz"))
    whole = sparse.csr_array(upper + sparse.triu(upper, k=1).T)
    return (whole != 0).astype(float) if binary else whole


def scores(name: str) -> Any:
    with np.load(FOLDER / "scikit_feature.npz") as stored:
        return stored[name]
