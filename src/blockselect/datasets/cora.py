"""Cora, the citation network that comes with the package, and its Planetoid form, downloaded."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from scipy.sparse import coo_array, csr_array

from blockselect.datasets.counts import NetworkCounts
from blockselect.datasets.download import Progress
from blockselect.datasets.planetoid import fetch_planetoid, planetoid_source
from blockselect.graphs.attributed import AttributedGraph, check_attributed_graph

CORA_CLASSES = (
    "Neural_Networks",
    "Rule_Learning",
    "Reinforcement_Learning",
    "Probabilistic_Methods",
    "Theory",
    "Genetic_Algorithms",
    "Case_Based",
)
CORA_COUNTS = NetworkCounts(nodes=2708, links=5278, features=1433, classes=7)
CORA_SOURCE = planetoid_source(
    "cora-planetoid",
    "cora",
    {
        "allx": (257305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"),
        "ally": (47959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"),
        "tx": (148025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"),
        "ty": (28135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"),
        "graph": (59847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"),
        "test.index": (5000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"),
    },
)


def load_cora() -> AttributedGraph:
    """Load the Cora citation network: papers, the words they have, and who cites whom.

    2708 papers, 5278 links without direction, 1433 binary features and 7 classes. The source numbers the
    words but does not name them: features are called ``word_0`` to ``word_1432``, and ``word_444`` is in no
    paper. Nothing is downloaded. The file and its licence (Apache-2.0) are described in
    ``datasets/data/README.md``.

    Returns
    -------
    AttributedGraph
        Sparse features; ``node_ids`` are Cora's paper numbers; ``classes`` are positions in ``CORA_CLASSES``.

    Examples
    --------
    >>> cora = load_cora()
    >>> cora.n_nodes, cora.n_links, cora.n_features
    (2708, 5278, 1433)
    """
    file = files("blockselect.datasets").joinpath("data", "cora.npz")
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        paper_ids, classes, links = stored["paper_ids"], stored["classes"], stored["links"]
        words, words_per_paper, n_words = stored["words"], stored["words_per_paper"], int(stored["n_words"])
    n_papers = len(paper_ids)
    starts = np.concatenate([[0], np.cumsum(words_per_paper, dtype=np.int32)], dtype=np.int32)
    source, target = links.T.astype(np.int32)
    return check_attributed_graph(
        csr_array((np.ones(len(words)), words.astype(np.int32), starts), shape=(n_papers, n_words)),
        coo_array((np.ones(len(links)), (source, target)), shape=(n_papers, n_papers)),
        node_ids=paper_ids.tolist(),
        feature_names=[f"word_{column}" for column in range(n_words)],
        classes=classes.tolist(),
    )


def fetch_cora(*, progress: Progress | None = None) -> AttributedGraph:
    """Fetch Cora in its Planetoid form: the same network as :func:`load_cora`, in Planetoid's order.

    Published results that depend on the order of the nodes use this one. Files come from the folder that the
    environment variable ``BLOCKSELECT_DATA`` names, from the cache (``BLOCKSELECT_CACHE``, or the user's cache
    folder) or from the internet, and are checked by SHA-256.

    Parameters
    ----------
    progress : callable, optional
        Called with the data set's name, the bytes that are here and the bytes in all.

    Returns
    -------
    AttributedGraph
        Sparse features; ``node_ids`` and ``classes`` are Planetoid's numbers, not those of :func:`load_cora`.

    Raises
    ------
    ConnectionError
        The files are not on this machine and cannot be downloaded.
    ValueError
        A file is not the published one.
    """
    return fetch_planetoid("cora", CORA_SOURCE, CORA_COUNTS, progress)
