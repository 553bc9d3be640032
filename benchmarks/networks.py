"""Networks for benchmarks: some come with the package, the others are read from the folder BLOCKSELECT_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.io import loadmat

from blockselect import AttributedGraph, check_attributed_graph, load_citeseer, load_cora
from blockselect.datasets.catalogue import DATASETS, find_dataset
from blockselect.datasets.networks import package_network

N_NODES, N_LINKS, N_FEATURES, N_ENTRIES, N_BLOCKS = 5196, 171_743, 8189, 369_435, 6  # of BlogCatalog
JUDGED = ("cora", "citeseer", "blogcatalog", "photo", "uai", "debian")  # used to evaluate selections
LARGE_SECTIONS = "debian-large-sections"  # all of Debian, restricted to packages of large sections
_LARGE = 600  # packages in a large section


def at_hand() -> dict[str, AttributedGraph]:
    """The available real networks, smallest first."""
    found = {"Cora": load_cora()}
    if _file("BlogCatalog.mat"):
        found["BlogCatalog"] = blogcatalog()
    if photo := _file("photo.npz", "development/photo.npz"):
        found["photo"] = _from_parts(photo)
    return found


def further() -> dict[str, AttributedGraph]:
    """Further available real networks, used only to measure quality."""
    found = {"Citeseer": load_citeseer()}
    if uai := _file("uai.npz", "development/uai.npz"):
        found["UAI2010"] = _from_parts(uai)
    return found


def blogcatalog() -> AttributedGraph:
    """BlogCatalog if its file is available, otherwise a random network of the same size."""
    path = _file("BlogCatalog.mat")
    if path is None:
        return _lookalike()
    content = loadmat(path, spmatrix=False)
    return check_attributed_graph(content["Attributes"], content["Network"])


def blogcatalog_name() -> str:
    """The name of the network that `blogcatalog` returns."""
    return "BlogCatalog" if _file("BlogCatalog.mat") else "a random network as large as BlogCatalog"


def judged(name: str) -> AttributedGraph:
    """Load a network with known classes from the catalogue or from the folder BLOCKSELECT_DATA.

    "debian-all" contains all packages of Debian, and "debian-large-sections" those in sections of at least 600
    packages; the classes are the sections.

    Raises
    ------
    ValueError
        If no file of this name is available.
    """
    if name in DATASETS:
        return find_dataset(name).load()
    stored = "debian-all" if name == LARGE_SECTIONS else name
    path = _file(f"{stored}.npz", f"development/{stored}.npz", f"debian/{stored}.npz")
    if path is None:
        raise ValueError(
            f"no network {name!r} is available; choose one of {', '.join(DATASETS)}, or put {stored}.npz into the "
            "folder BLOCKSELECT_DATA."
        )
    if not stored.startswith("debian"):
        return _from_parts(path)
    packages = package_network(np.load(path))
    return _large_sections(packages) if name == LARGE_SECTIONS else packages


def _file(*names: str) -> Path | None:
    folder = os.environ.get("BLOCKSELECT_DATA")
    paths = [Path(folder) / name for name in names] if folder else []
    return next((path for path in paths if path.is_file()), None)


def _from_parts(path: Path) -> AttributedGraph:
    """Read a network that is stored as the arrays of two CSR matrices, A and Y."""
    parts = np.load(path)
    features, adjacency = (
        sparse.csr_array(
            (parts[f"{name}_data"], parts[f"{name}_indices"], parts[f"{name}_indptr"]), shape=parts[f"{name}_shape"]
        )
        for name in "YA"
    )
    return check_attributed_graph(features, adjacency, classes=parts["labels"])


def _large_sections(graph: AttributedGraph) -> AttributedGraph:
    assert graph.classes is not None
    return graph.only(np.bincount(graph.classes)[graph.classes] >= _LARGE)


def _lookalike() -> AttributedGraph:
    """A random network as large as BlogCatalog; some features are far more frequent than others."""
    rng = np.random.default_rng(0)
    links = rng.integers(N_NODES, size=(2, N_LINKS))
    adjacency = sparse.coo_array((np.ones(N_LINKS), links), shape=(N_NODES, N_NODES))
    frequency = 1 / np.arange(10, N_FEATURES + 10)
    columns = rng.choice(N_FEATURES, size=N_ENTRIES, p=frequency / frequency.sum())
    rows = rng.integers(N_NODES, size=N_ENTRIES)
    features = sparse.coo_array((np.ones(N_ENTRIES), (rows, columns)), shape=(N_NODES, N_FEATURES))
    return check_attributed_graph(features, adjacency)
