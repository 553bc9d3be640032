"""BlogCatalog, a social network of bloggers, downloaded."""

from __future__ import annotations

import io

import numpy as np
from scipy.io import loadmat
from scipy.sparse import csr_array, issparse

from blockselect.datasets.counts import NetworkCounts, check_counts
from blockselect.datasets.download import PinnedFile, Progress, Source, fetch_contents
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph

BLOGCATALOG_COUNTS = NetworkCounts(nodes=5196, links=171743, features=8189, classes=6)
BLOGCATALOG_SOURCE = Source(
    "blogcatalog",
    "https://raw.githubusercontent.com/xhuang31/LANE/93afd69f23dc5160694dbf0fa212b2b02b3d6e41/",
    (PinnedFile("BlogCatalog.mat", 1476789, "886e1d8dec043588247ef7188fe6459f2ba657b6b9211d73f255d28b42f06b0c"),),
)


def fetch_blogcatalog(*, progress: Progress | None = None) -> AttributedGraph:
    """Fetch the BlogCatalog network: bloggers, the keywords of their blogs, and who is friends with whom.

    5196 bloggers, 171743 links, 8189 features and 6 classes. Features count keywords, up to 703 of one; the
    source does not name them: they are called ``keyword_0`` to ``keyword_8188``.

    Files come from the folder that the environment variable ``BLOCKSELECT_DATA`` names, from the cache
    (``BLOCKSELECT_CACHE``, or the user's cache folder) or from the internet, and are checked by SHA-256.

    Parameters
    ----------
    progress : callable, optional
        Called with the data set's name, the bytes that are here and the bytes in all.

    Returns
    -------
    AttributedGraph
        Sparse features; bloggers in the order of the file; ``classes`` from 0, where the file counts from 1.

    Raises
    ------
    ConnectionError
        The file is not on this machine and cannot be downloaded.
    ValueError
        The file is not the published one.
    """
    contents = fetch_contents(BLOGCATALOG_SOURCE, progress)
    graph = read_blogcatalog(contents[BLOGCATALOG_SOURCE.files[0].name])
    return check_counts(BLOGCATALOG_SOURCE.dataset, graph, BLOGCATALOG_COUNTS)


def read_blogcatalog(content: bytes) -> AttributedGraph:
    """The network in a MATLAB file with the matrices Network and Attributes and the column Label."""
    stored = loadmat(io.BytesIO(content), variable_names=("Network", "Attributes", "Label"))
    network, attributes, label = (stored.get(name) for name in ("Network", "Attributes", "Label"))
    if not (issparse(network) and issparse(attributes) and isinstance(label, np.ndarray) and label.dtype.kind in "iu"):
        raise ValueError(
            "BlogCatalog.mat holds something else than the sparse Network and Attributes and the integers Label; "
            "replace it by the published file."
        )
    return check_attributed_graph(
        csr_array(attributes),
        csr_array(network),
        feature_names=[f"keyword_{column}" for column in range(attributes.shape[1])],
        classes=label.ravel().astype(np.intp) - 1,
    )
