"""The real networks: three that come with the package, and BlogCatalog, which is downloaded."""

from __future__ import annotations

import io
from collections.abc import Mapping
from importlib.resources import files

import numpy as np
from scipy.io import loadmat
from scipy.sparse import coo_array, csr_array

from blockselect.datasets.download import Source, fetch_content
from blockselect.inputs.attributed import AttributedGraph, check_attributed_graph
from blockselect.utils.progress import Progress

CORA_CLASSES = (
    "Neural_Networks",
    "Rule_Learning",
    "Reinforcement_Learning",
    "Probabilistic_Methods",
    "Theory",
    "Genetic_Algorithms",
    "Case_Based",
)
DEBIAN_SECTIONS = tuple(
    "database editors education electronics fonts games gnome gnu-r golang graphics hamradio haskell java javascript "
    "kde lisp mail math net ocaml perl php python ruby rust science sound tex text video web".split()
)
BLOGCATALOG = Source(
    dataset="blogcatalog",
    url="https://raw.githubusercontent.com/xhuang31/LANE/93afd69f23dc5160694dbf0fa212b2b02b3d6e41/BlogCatalog.mat",
    size=1476789,
    sha256="886e1d8dec043588247ef7188fe6459f2ba657b6b9211d73f255d28b42f06b0c",
)


def load_debian() -> AttributedGraph:
    """Load a network of Debian packages: their dependencies, and their tags and words.

    The network has 4960 packages, 18195 undirected links, 1088 binary features and 31 classes. A link joins two
    packages if one depends on the other or recommends it. The features are tags, such as
    ``tag:implemented-in::perl``, and words of the one-line description, such as ``font``; the classes are the sections
    of the archive. Nothing is downloaded. ``datasets/data/README.md`` describes the file and how it was made from the
    package index of Debian 12.

    Returns
    -------
    AttributedGraph
        Sparse features. The ``node_ids`` are names of packages, ``feature_names`` are tags and words, and ``classes``
        are positions in ``DEBIAN_SECTIONS``.

    Examples
    --------
    >>> debian = load_debian()
    >>> debian.n_nodes, debian.n_links, debian.n_features
    (4960, 18195, 1088)
    """
    return package_network(_stored_arrays("debian.npz"))


def load_cora(*, planetoid: bool = False) -> AttributedGraph:
    """Load the Cora citation network: papers on machine learning, their words and their citations.

    The network has 2708 papers, 5278 undirected links, 1433 binary features and 7 classes. The source numbers the
    words but does not name them: the features are called ``word_0`` to ``word_1432``, and ``word_444`` occurs in no
    paper. Nothing is downloaded. ``datasets/data/README.md`` describes the file and its licence (Apache-2.0).

    Parameters
    ----------
    planetoid : bool
        Use the node order and class numbers of the Planetoid files, on which many published results depend.

    Returns
    -------
    AttributedGraph
        Sparse features. The ``node_ids`` are Cora's paper numbers, and ``classes`` are positions in
        ``CORA_CLASSES``; with `planetoid`, both are the numbers that Planetoid uses.

    Examples
    --------
    >>> cora = load_cora()
    >>> cora.n_nodes, cora.n_links, cora.n_features
    (2708, 5278, 1433)
    """
    stored = _stored_arrays("cora.npz")
    if not planetoid:
        return _citation_network(stored)
    rows = stored["planetoid_rows"]  # (n,) position in the file of each Planetoid node
    stored |= {"paper_ids": np.argsort(rows), "classes": stored["planetoid_classes"][stored["classes"]]}
    return _citation_network(stored, rows)


def load_citeseer() -> AttributedGraph:
    """Load the Citeseer citation network: papers on computer science, their words and their citations.

    The network has 3312 papers, 4660 undirected links (124 of them self-loops), 3703 binary features and 6 classes.
    It leaves out the 15 papers of the source that have no words, and their 16 links. The source does not name the
    words: the features are called ``word_0`` to ``word_3702``. Nothing is downloaded. ``datasets/data/README.md``
    describes the file and its licence.

    Returns
    -------
    AttributedGraph
        Sparse features. Nodes are in the order of the Planetoid files, whose numbers are the ``node_ids`` and the
        ``classes``.

    Examples
    --------
    >>> citeseer = load_citeseer()
    >>> citeseer.n_nodes, citeseer.n_links, citeseer.n_features
    (3312, 4660, 3703)
    """
    return _citation_network(_stored_arrays("citeseer.npz"))


def fetch_blogcatalog(*, progress: Progress | None = None) -> AttributedGraph:
    """Fetch the BlogCatalog network: bloggers, the keywords of their blogs and their friendships.

    The network has 5196 bloggers, 171743 links, 8189 features and 6 classes. The features are keyword counts of up to
    703. The source does not name the keywords: the features are called ``keyword_0`` to ``keyword_8188``.

    The file is taken from the folder that the environment variable ``BLOCKSELECT_DATA`` names, from the cache
    (``BLOCKSELECT_CACHE``, or the user's cache folder) or from the internet. Its SHA-256 is checked.

    Parameters
    ----------
    progress : callable, optional
        Called with the name of the data set, the number of bytes received and the total number of bytes.

    Returns
    -------
    AttributedGraph
        Sparse features. Bloggers are in the order of the file; ``classes`` start at 0, whereas the file starts at 1.

    Raises
    ------
    ConnectionError
        If the file is not on this machine and cannot be downloaded.
    ValueError
        If the file is not the published one.
    """
    stored = loadmat(io.BytesIO(fetch_content(BLOGCATALOG, progress)), spmatrix=False)
    return check_attributed_graph(
        csr_array(stored["Attributes"]),
        csr_array(stored["Network"]),
        feature_names=[f"keyword_{column}" for column in range(stored["Attributes"].shape[1])],
        classes=stored["Label"].ravel().astype(np.intp) - 1,
    )


def package_network(stored: Mapping[str, np.ndarray]) -> AttributedGraph:
    """Build a package network of any size from the arrays that ``datasets/data/README.md`` describes.

    The classes are the positions of the sections in alphabetical order.
    """
    n_packages, n_features = len(stored["packages"]), len(stored["features"])
    ends, columns = stored["edges"], stored["X_indices"]
    links = coo_array((np.ones(len(ends)), tuple(ends.T)), shape=(n_packages, n_packages))
    return check_attributed_graph(
        csr_array((np.ones(len(columns)), columns, stored["X_indptr"]), shape=(n_packages, n_features)),
        links.tocsr(),
        node_ids=stored["packages"].tolist(),
        feature_names=stored["features"].tolist(),
        classes=np.unique(stored["sections"], return_inverse=True)[1].tolist(),
    )


def _stored_arrays(name: str) -> dict[str, np.ndarray]:
    file = files("blockselect.datasets").joinpath("data", name)
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        return dict(stored)


def _citation_network(stored: dict[str, np.ndarray], rows: np.ndarray | slice = slice(None)) -> AttributedGraph:
    """Build the network from the arrays that ``datasets/data/README.md`` describes, with rows in the given order."""
    n_papers, n_words = len(stored["paper_ids"]), int(stored["n_words"])
    words, links = stored["words"].astype(np.int32), stored["links"].astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(stored["words_per_paper"], dtype=np.int32)], dtype=np.int32)
    features = csr_array((np.ones(len(words)), words, starts), shape=(n_papers, n_words))
    adjacency = coo_array((np.ones(len(links)), tuple(links.T)), shape=(n_papers, n_papers)).tocsr()
    return check_attributed_graph(
        features[rows],
        adjacency[rows][:, rows],
        node_ids=stored["paper_ids"][rows].tolist(),
        feature_names=[f"word_{column}" for column in range(n_words)],
        classes=stored["classes"][rows].tolist(),
    )
