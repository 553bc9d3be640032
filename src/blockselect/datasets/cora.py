"""Cora, the citation network that comes with the package."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
from scipy.sparse import coo_array, csr_array

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
