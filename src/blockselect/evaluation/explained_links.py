"""The protocol that needs no classes: how well K-means clusters on the selected features predict the links.

K-means cannot distinguish nodes without any selected feature, so it puts them into one cluster. That cluster must not
count as explained, or a selection would gain by leaving out the nodes that it cannot describe. Every node has the same
weight, or a selection would gain by describing only the few groups of nodes that have most of the links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr
from sklearn.preprocessing import normalize

from blockselect.blockmodels.n_blocks import count_blocks
from blockselect.evaluation.clustering import kmeans
from blockselect.evaluation.protocol import Scores, SelectionProtocol, seeded_runs, unit_rows
from blockselect.inputs.attributed import AttributedGraph
from blockselect.rows.matrices import membership_matrix
from blockselect.utils.arrays import FloatArray, IntArray, Sparse

_MAX_CLUSTERS = 12  # few enough to be interpreted, and to be found by K-means
_N_INIT = 10  # random starts per run of K-means


@dataclass(frozen=True, slots=True, eq=False)
class ExplainedScores(Scores):
    """Link information explained by the clusters, one value per run."""

    explained: FloatArray  # (n_runs,) nats

    @property
    def measures(self) -> dict[str, FloatArray]:
        return {"explained_links": self.explained}


class ExplainedLinks(SelectionProtocol):
    """K-means with as many clusters as the graph has blocks, at most twelve."""

    titles: ClassVar = {"explained_links": "links explained"}
    needs_classes = False

    def __init__(self, graph: AttributedGraph, *, n_runs: int, seed: int, n_jobs: int | None = None) -> None:
        super().__init__(graph, n_runs=n_runs, seed=seed, n_jobs=n_jobs)
        rng = np.random.default_rng(seed)
        self.n_clusters = count_blocks(graph.adjacency, max_blocks=_MAX_CLUSTERS, rng=rng).n_blocks

    def evaluate(self, columns: IntArray) -> ExplainedScores:
        rows = unit_rows(self.seen.features, columns)
        found = seeded_runs(kmeans, rows, self.n_clusters, _N_INIT, n_runs=self.n_runs, n_jobs=self.n_jobs)
        covered = abs(rows).sum(axis=1) > 0
        explained = np.array([links_explained(self.seen.adjacency, labels, covered) for labels in found])
        return ExplainedScores(explained=explained, n_features=len(columns), n_zero_rows=int((~covered).sum()))

    def describe(self) -> str:
        return (
            "No classes are used. Rows of the selected features are scaled to unit length and clustered by K-means "
            f"into {self.n_clusters} clusters, as many as the graph has blocks (at most {_MAX_CLUSTERS}), "
            f"{self.n_runs} runs with {_N_INIT} starts each. Links explained is the mutual information, in nats, "
            "between the cluster of a random node and the cluster of a random neighbour; the sd is over the runs. "
            "Pairs in which a node has none of the selected features explain nothing, but count in the average, so a "
            "selection gains nothing by leaving nodes out. A method that uses the graph selects features with the same "
            "links that evaluate it."
        )


def links_explained(adjacency: Sparse, labels: IntArray, covered: NDArray[np.bool_]) -> float:
    """Mutual information between the cluster of a random node and the cluster of a random neighbour, in nats.

    The neighbour is drawn with a probability proportional to the weight of the link. Pairs in which a node is not
    covered explain nothing: the mutual information of the other pairs is multiplied by their share of all pairs.

    Parameters
    ----------
    adjacency : sparse array of shape (n, n)
    labels : array of shape (n,)
        The cluster of each node.
    covered : bool array of shape (n,)
        Whether the node has any of the features used for the clustering.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> two_pairs = sparse.csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> clusters, every = np.array([0, 0, 1, 1]), np.ones(4, dtype=bool)
    >>> round(links_explained(two_pairs, clusters, every), 4)  # log 2
    0.6931
    >>> links_explained(two_pairs, clusters, clusters == 0)  # the second pair is not covered
    0.0
    """
    F = membership_matrix(np.unique(labels, return_inverse=True)[1]).multiply(covered[:, None]).tocsr()
    P = normalize(adjacency, norm="l1")
    joint = (F.T @ (P @ F)).toarray() / P.sum()
    ends = entr(joint.sum(axis=0)).sum() + entr(joint.sum(axis=1)).sum()
    return max(float(ends - entr(joint).sum() - entr(joint.sum())), 0.0)
