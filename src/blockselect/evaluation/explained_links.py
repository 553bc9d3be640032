"""The protocol without classes: how much K-means clusters on the selected features tell about the links.

It has a file of its own because it needs the compiled code of the default selector, which is slow to import.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blockselect.arrays import FloatArray, IntArray, Sparse
from blockselect.blockmodels.n_blocks import choose_n_blocks
from blockselect.consensus.likelihood import link_gain
from blockselect.evaluation.clustering import kmeans_runs
from blockselect.evaluation.protocol import Scores, SelectionProtocol, count_zero_rows, unit_rows
from blockselect.graphs.attributed import AttributedGraph
from blockselect.graphs.features import membership_matrix

_MAX_CLUSTERS = 12  # few enough to be interpreted, and to be found by K-means


@dataclass(frozen=True, slots=True, eq=False)
class ExplainedScores(Scores):
    """Link information explained by the clusters, one value per run."""

    explained: FloatArray  # (n_runs,) nats per link

    @property
    def measures(self) -> dict[str, FloatArray]:
        return {"explained_links": self.explained}


class ExplainedLinks(SelectionProtocol):
    """K-means with as many clusters as the graph has blocks, at most twelve."""

    titles = {"explained_links": "links explained"}  # noqa: RUF012
    needs_classes = False

    def __init__(self, graph: AttributedGraph, *, n_runs: int, seed: int, n_jobs: int | None = None) -> None:
        super().__init__(graph, n_runs=n_runs, seed=seed, n_jobs=n_jobs)
        self.n_clusters = choose_n_blocks(graph.adjacency, max_blocks=_MAX_CLUSTERS, rng=np.random.default_rng(seed))

    def evaluate(self, columns: IntArray) -> ExplainedScores:
        rows = unit_rows(self.seen.features, columns)
        found = kmeans_runs(rows, self.n_clusters, n_runs=self.n_runs, n_jobs=self.n_jobs)
        explained = np.array([links_explained(self.seen.adjacency, labels) for labels in found])
        return ExplainedScores(explained=explained, n_features=len(columns), n_zero_rows=count_zero_rows(rows))

    def describe(self) -> str:
        return (
            "No classes are used. Rows of the selected features are scaled to unit length and clustered by K-means "
            f"into {self.n_clusters} clusters, as many as the graph has blocks (at most {_MAX_CLUSTERS}), "
            f"{self.n_runs} runs with 10 starts each. Links explained is the log-likelihood gain of these clusters, in "
            "nats per link, over a graph in which nodes link by their degrees alone; sd over the runs. A method that "
            "reads the graph selects by the same links that evaluate it."
        )


def links_explained(adjacency: Sparse, labels: IntArray) -> float:
    """Link information explained by clusters of the nodes, in nats per link.

    It is the mutual information of the clusters at both ends of a link, Σ_ab (w_ab / w) log(w_ab w / (e_a e_b)).

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> two_pairs = sparse.csr_array(np.kron(np.eye(2), [[0, 1], [1, 0]]))
    >>> round(float(links_explained(two_pairs, np.array([0, 0, 1, 1])) / np.log(2)), 6)
    1.0
    """
    F = membership_matrix(np.unique(labels, return_inverse=True)[1])
    weights = (F.T @ (adjacency @ F)).toarray()
    return 2 * link_gain(weights / weights.sum())
