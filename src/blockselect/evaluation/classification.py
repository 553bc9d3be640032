"""Few-shot classification: predict the classes of all nodes from a few labelled nodes and the selected features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from blockselect.evaluation.protocol import (
    Scores,
    SelectionProtocol,
    count_zero_rows,
    encode_classes,
    row_names,
    seeded_runs,
    selected_rows,
    unit_rows,
)
from blockselect.inputs.adjacency import check_adjacency
from blockselect.rows.matrices import as_dense
from blockselect.utils.arrays import BoolArray, Features, FloatArray, IntArray, Sparse
from blockselect.utils.parameters import check_whole

N_LABELS = 20


@dataclass(frozen=True, slots=True, eq=False)
class ClassificationScores(Scores):
    """Share of the unlabelled nodes whose class is predicted correctly, one value per run."""

    accuracies: FloatArray  # (n_runs,) from a node's own features
    averaged_accuracies: FloatArray  # (n_runs,) from the mean features of a node and its neighbours

    @property
    def measures(self) -> dict[str, FloatArray]:
        return {"accuracy": self.accuracies, "averaged_accuracy": self.averaged_accuracies}


class Classification(SelectionProtocol):
    """Logistic regression on a few labelled nodes per class."""

    titles: ClassVar = {"accuracy": "accuracy", "averaged_accuracy": "averaged"}
    needs_classes = True

    def evaluate(self, columns: IntArray) -> ClassificationScores:
        graph = self.seen
        return classify_selection(
            graph.features, self.classes, columns, adjacency=graph.adjacency, n_runs=self.n_runs, n_jobs=self.n_jobs
        )

    def describe(self) -> str:
        return (
            f"Rows of the selected features are scaled to unit length. In each of {self.n_runs} runs logistic "
            f"regression learns the classes from {N_LABELS} nodes per class (half of the nodes of a class with fewer "
            f"than {2 * N_LABELS}), and accuracy is the share of all other nodes whose class it predicts correctly; "
            "averaged is the accuracy with the mean row of each node and its neighbours; sd is over the runs."
        )


def classify_selection(
    features: Any,
    classes: ArrayLike,
    selected: ArrayLike,
    *,
    adjacency: Any,
    n_labels: int = N_LABELS,
    n_runs: int = 20,
    first_seed: int = 0,
    n_jobs: int | None = None,
) -> ClassificationScores:
    """Predict the classes of all other nodes from a few labelled nodes and the selected features.

    Rows of ``features[:, selected]`` are scaled to unit length (a zero row stays zero). Each run, with the seeds
    ``first_seed``, ``first_seed + 1``, …, draws the labelled nodes, fits scikit-learn's logistic regression with its
    default settings, and predicts the other nodes. It does so twice: on the rows themselves, and on the mean of the
    rows of a node and its neighbours, weighted by the links (the node itself has the mean weight of a link) and scaled
    to unit length again. The labelled nodes of a run depend only on its seed and the classes, so all selections
    are evaluated on the same nodes.

    Parameters
    ----------
    features : array, sparse matrix or DataFrame of shape (n, m)
    classes : array or Series of shape (n,)
        Known class of each node; a Series is aligned with the index if features is a DataFrame.
    selected : array of int (d,) or boolean array of shape (m,)
        Columns to learn from: their indices, each once, or a mask such as `support_`.
    adjacency : matrix of shape (n, n), edges, or graph of another library
        The network, in any form that the selectors accept.
    n_labels : int
        Labelled nodes per class; half of the class if it has fewer than ``2 * n_labels`` nodes.
    n_runs : int
        Number of runs, each with newly drawn labelled nodes.
    first_seed : int
        Seed of the first run.
    n_jobs : int, optional
        Number of processes that share the runs.

    Returns
    -------
    ClassificationScores

    Examples
    --------
    >>> from blockselect import load_cora
    >>> cora = load_cora()
    >>> scores = classify_selection(cora.features, cora.classes, [1177, 1263], adjacency=cora.adjacency, n_runs=2)
    >>> bool(scores.averaged_accuracies.mean() > scores.accuracies.mean())
    True
    """
    rows = selected_rows(features, selected)
    n_nodes, n_features = rows.shape
    node_ids = row_names(features, n_nodes)
    known = encode_classes(classes, node_ids, n_nodes)
    check_whole("n_labels", n_labels, 1)
    links = check_adjacency(adjacency, n_nodes, node_ids=node_ids)
    if np.count_nonzero(np.bincount(known) > 1) < 2:
        raise ValueError(
            "fewer than two classes have at least two nodes, so there is nothing to predict; merge small classes."
        )
    averaged = average_over_neighbours(rows, links)
    accuracies = np.array(
        seeded_runs(_accuracies, (rows, averaged), known, n_labels, n_runs=n_runs, first_seed=first_seed, n_jobs=n_jobs)
    )
    return ClassificationScores(
        accuracies=accuracies[:, 0],
        averaged_accuracies=accuracies[:, 1],
        n_features=n_features,
        n_zero_rows=count_zero_rows(rows),
    )


def draw_labelled(classes: IntArray, n_labels: int, seed: int) -> BoolArray:
    """Mask of the labelled nodes: `n_labels` per class, at most half of each class. (n,)"""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(classes))
    by_class = order[np.argsort(classes[order], kind="stable")]  # shuffled within each class
    sizes = np.bincount(classes)
    position = np.arange(len(classes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    labelled = np.zeros(len(classes), dtype=bool)
    labelled[by_class] = position < np.repeat(np.minimum(n_labels, sizes // 2), sizes)
    return labelled


def average_over_neighbours(rows: Features, adjacency: Sparse) -> Features:
    """The mean row of each node and its neighbours, weighted by the links and scaled to unit length: (n, d)."""
    others = sparse.csr_array(adjacency - sparse.diags_array(adjacency.diagonal()), dtype=np.float64)
    others.eliminate_zeros()
    own = others.data.mean() if others.nnz else 1.0
    weights = sparse.csr_array(others + own * sparse.eye_array(others.shape[0]))
    return unit_rows(weights @ rows, np.arange(rows.shape[1]))


def _accuracies(forms: Iterable[Features], classes: IntArray, n_labels: int, seed: int) -> list[float]:
    """Accuracies of one run: on the rows themselves, and on the averaged rows."""
    labelled = draw_labelled(classes, n_labels, seed)
    accuracies = []
    for rows in forms:
        model = LogisticRegression(max_iter=1000).fit(as_dense(rows[labelled]), classes[labelled])
        accuracies.append(float(np.mean(model.predict(rows[~labelled]) == classes[~labelled])))
    return accuracies
