"""Citeseer, a citation network, downloaded in its Planetoid form."""

from __future__ import annotations

from blockselect.datasets.counts import NetworkCounts
from blockselect.datasets.download import Progress
from blockselect.datasets.planetoid import fetch_planetoid, planetoid_source
from blockselect.graphs.attributed import AttributedGraph

CITESEER_COUNTS = NetworkCounts(nodes=3312, links=4660, features=3703, classes=6)
CITESEER_SOURCE = planetoid_source(
    "citeseer",
    "citeseer",
    {
        "allx": (595021, "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"),
        "ally": (55623, "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"),
        "tx": (260321, "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"),
        "ty": (24135, "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"),
        "graph": (61987, "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"),
        "test.index": (5000, "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"),
    },
)


def fetch_citeseer(*, progress: Progress | None = None) -> AttributedGraph:
    """Fetch the Citeseer citation network: papers, the words they have, and who cites whom.

    3312 papers, 4660 links without direction (124 of them self-loops), 3703 binary features and 6 classes.
    The 15 papers of the source that have no features are left out, with their 16 links.

    Files come from the folder that the environment variable ``BLOCKSELECT_DATA`` names, from the cache
    (``BLOCKSELECT_CACHE``, or the user's cache folder) or from the internet, and are checked by SHA-256.

    Parameters
    ----------
    progress : callable, optional
        Called with the data set's name, the bytes that are here and the bytes in all.

    Returns
    -------
    AttributedGraph
        Sparse features; nodes in Planetoid's order, with its numbers as ``node_ids`` and classes.

    Raises
    ------
    ConnectionError
        The files are not on this machine and cannot be downloaded.
    ValueError
        A file is not the published one.
    """
    return fetch_planetoid("citeseer", CITESEER_SOURCE, CITESEER_COUNTS, progress)
