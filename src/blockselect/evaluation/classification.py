"""Few-shot classification: the classes of all nodes from a few labelled ones, by the selected features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from blockselect.arrays import BoolArray, Features, FloatArray, IntArray, Sparse
from blockselect.evaluation.protocol import SelectionProtocol, known_classes
from blockselect.evaluation.seeded_runs import seeded_runs
from blockselect.evaluation.selected_rows import (
    check_at_least_one,
    check_one_class_a_row,
    check_selected,
    count_zero_rows,
    rows_named_by,
    unit_rows,
)
from blockselect.graphs.attributed import AttributedGraph, check_adjacency
from blockselect.graphs.feature_table import feature_matrix
from blockselect.scalars import check_seed

N_LABELS = 20


@dataclass(frozen=True, slots=True, eq=False)
class ClassificationScores:
    """Share of the nodes without a label whose class is found, run by run."""

    accuracies: FloatArray  # (n_runs,) by a node's own features
    averaged_accuracies: FloatArray  # (n_runs,) by the features of a node and its neighbours
    n_features: int
    n_zero_rows: int

    @property
    def measures(self) -> dict[str, FloatArray]:
        return {"accuracy": self.accuracies, "averaged_accuracy": self.averaged_accuracies}


class Classification(SelectionProtocol):
    """Few labels of each class, logistic regression."""

    titles = {"accuracy": "accuracy", "averaged_accuracy": "averaged"}  # noqa: RUF012
    needs_classes = True

    def __init__(self, graph: AttributedGraph, *, n_runs: int, seed: int, n_jobs: int | None = None) -> None:
        del seed  # nothing is hidden from the methods, which read no classes
        self.seen, self.classes = graph, known_classes(graph)
        self.n_runs, self.n_jobs = n_runs, n_jobs

    def evaluate(self, columns: IntArray) -> ClassificationScores:
        graph = self.seen
        return classify_selection(
            graph.features, self.classes, columns, adjacency=graph.adjacency, n_runs=self.n_runs, n_jobs=self.n_jobs
        )

    def describe(self) -> str:
        return (
            "Rows of the selected features are scaled to unit length. In each of "
            f"{self.n_runs} runs logistic regression learns the classes from {N_LABELS} nodes of each class (half of a "
            "class that is smaller than twice that), and accuracy is the share of all other nodes whose class it "
            "finds; averaged: the same on the mean rows of each node and its neighbours; sd over the runs."
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
    """Learn the classes from a few labelled nodes by the selected features, and predict all others.

    Rows of ``features[:, selected]`` are scaled to unit length (a zero row stays zero). Each run, with the seeds
    ``first_seed``, ``first_seed + 1``, …, draws the labelled nodes, fits scikit-learn's logistic regression at its
    default settings, and predicts the rest; twice: on the rows themselves, and on the mean of the rows of a node and
    its neighbours, by the weights of the links (a node counts as a link of mean weight), scaled to unit length again.
    The labelled nodes of a run depend on its seed and the classes alone: all selections meet the same.

    Parameters
    ----------
    features : array, sparse matrix or DataFrame of shape (n, m)
    classes : array or Series of shape (n,)
        Known class of each node; a Series is put in the order of features that are a DataFrame.
    selected : array of int (d,) or boolean array of shape (m,)
        Columns to learn by: their indices, each once, or a mask such as `support_`.
    adjacency : matrix of shape (n, n), edges, or graph of another library
        The network, as selectors take it.
    n_labels : int
        Labelled nodes of each class; half of the nodes of a class that has fewer than twice as many.
    n_runs : int
        Draws of the labelled nodes.
    first_seed : int
        Seed of the first run.
    n_jobs : int, optional
        Processes that share the runs.

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
    matrix = feature_matrix(features)
    n_nodes, n_features = matrix.shape
    known = check_one_class_a_row(classes, features, n_nodes)
    check_at_least_one(n_runs=n_runs, n_labels=n_labels)
    check_seed("first_seed", first_seed, n_runs)
    links = check_adjacency(adjacency, n_nodes, node_ids=rows_named_by(features, n_nodes))
    if np.count_nonzero(np.bincount(known) > 1) < 2:
        raise ValueError("fewer than two classes have two nodes or more: there is nothing to learn and predict.")
    columns = check_selected(selected, n_features)
    rows = unit_rows(matrix, columns)
    averaged = average_over_neighbours(rows, links)
    of_both = np.array(
        seeded_runs(_accuracies, (rows, averaged), known, n_labels, n_runs=n_runs, first_seed=first_seed, n_jobs=n_jobs)
    )
    return ClassificationScores(of_both[:, 0], of_both[:, 1], len(columns), count_zero_rows(rows))


def draw_labelled(classes: IntArray, n_labels: int, seed: int) -> BoolArray:
    """Which nodes are labelled: so many of each class, at most half of it. (n,)"""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(classes))
    by_class = order[np.argsort(classes[order], kind="stable")]  # shuffled within each class
    sizes = np.bincount(classes)
    position = np.arange(len(classes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    labelled = np.zeros(len(classes), dtype=bool)
    labelled[by_class] = position < np.repeat(np.minimum(n_labels, sizes // 2), sizes)
    return labelled


def average_over_neighbours(rows: Features, adjacency: Sparse) -> Features:
    """The mean row of each node and its neighbours, by the weights of the links, scaled to unit length: (n, d)."""
    others = sparse.csr_array(adjacency - sparse.diags_array(adjacency.diagonal()), dtype=np.float64)
    others.eliminate_zeros()
    own = others.data.mean() if others.nnz else 1.0
    weights = sparse.csr_array(others + own * sparse.eye_array(others.shape[0]))
    return unit_rows(weights @ rows, np.arange(rows.shape[1]))


def _accuracies(forms: Iterable[Features], classes: IntArray, n_labels: int, seed: int) -> list[float]:
    """Accuracy of one run on each form of the rows."""
    labelled = draw_labelled(classes, n_labels, seed)
    return [_accuracy(rows, classes, labelled) for rows in forms]


def _accuracy(rows: Features, classes: IntArray, labelled: BoolArray) -> float:
    few = rows[labelled]
    few = few.toarray() if sparse.issparse(few) else few
    model = LogisticRegression(max_iter=1000).fit(few, classes[labelled])
    return float(np.mean(model.predict(rows[~labelled]) == classes[~labelled]))
