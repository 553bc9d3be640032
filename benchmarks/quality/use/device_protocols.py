"""The three protocols of the library, with all runs in batches on a torch device.

Labelled nodes, held-out links and pairs without a link are drawn as in the library, so scores agree up to rounding.
Clusterings use different random numbers, so their scores agree only in distribution.
"""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.quality.use.device_kmeans import kmeans_on_device
from benchmarks.quality.use.device_logistic import fit_logistic, with_ones
from blockselect import AttributedGraph
from blockselect.evaluation import (
    ClassificationScores,
    ClusteringScores,
    HiddenLinks,
    LinkScores,
    clustering_accuracy,
    normalized_mutual_information,
)
from blockselect.evaluation.classification import N_LABELS, average_over_neighbours, draw_labelled
from blockselect.evaluation.link_prediction import link_aucs
from blockselect.evaluation.protocol import count_zero_rows, known_classes, unit_rows
from blockselect.utils.arrays import Features, FloatArray, IntArray


def cluster_on_device(
    graph: AttributedGraph, columns: IntArray, *, n_runs: int, n_init: int, device: str
) -> ClusteringScores:
    """Like `evaluate_selection`, on a device."""
    classes, rows = known_classes(graph), _dense(unit_rows(graph.features, columns))
    runs = kmeans_on_device(rows, len(np.unique(classes)), n_runs=n_runs, n_init=n_init, device=device)
    return ClusteringScores(
        accuracies=np.array([clustering_accuracy(classes, clusters) for clusters in runs]),
        nmis=np.array([normalized_mutual_information(classes, clusters) for clusters in runs]),
        n_features=len(columns),
        n_zero_rows=count_zero_rows(rows),
    )


def classify_on_device(graph: AttributedGraph, columns: IntArray, *, n_runs: int, device: str) -> ClassificationScores:
    """Like `classify_selection`, on a device."""
    classes = np.unique(known_classes(graph), return_inverse=True)[1]
    labelled = np.array([draw_labelled(classes, N_LABELS, seed) for seed in range(n_runs)])  # (runs, n)
    rows = unit_rows(graph.features, columns)
    accuracies, averaged = (
        _accuracies(_dense(form), classes, labelled, device)
        for form in (rows, average_over_neighbours(rows, graph.adjacency))
    )
    return ClassificationScores(
        accuracies=accuracies,
        averaged_accuracies=averaged,
        n_features=len(columns),
        n_zero_rows=count_zero_rows(rows),
    )


def predict_links_on_device(
    features: Features, split: HiddenLinks, columns: IntArray, *, n_runs: int, device: str
) -> LinkScores:
    """Like `predict_links`, on a device."""
    rows = unit_rows(features, columns)
    points = torch.as_tensor(_dense(rows), dtype=torch.float64, device=device)

    def cosines(first: IntArray, second: IntArray) -> FloatArray:
        ends = (points[torch.as_tensor(nodes, device=device)] for nodes in (first, second))
        products: FloatArray = torch.linalg.vecdot(*ends).cpu().numpy()
        return products.round(12)

    aucs = link_aucs(split, cosines, range(n_runs))
    return LinkScores(aucs=aucs, n_features=len(columns), n_zero_rows=count_zero_rows(rows))


def _accuracies(rows: FloatArray, classes: IntArray, labelled: np.ndarray, device: str) -> FloatArray:
    """Classification accuracy on the unlabelled nodes in each run: (runs,)."""
    points = torch.as_tensor(rows, dtype=torch.float64, device=device)
    places = np.array([np.flatnonzero(of_run) for of_run in labelled])  # (runs, t), the same number in every run
    learnt, targets = np.unique(classes[places], return_inverse=True)  # a class with a single node is never labelled
    few = points[torch.as_tensor(places, device=device)]
    targets = torch.as_tensor(targets.reshape(places.shape), device=device)
    coefficients = fit_logistic(few, targets, len(learnt))
    every = with_ones(points)
    found = np.array([(every @ each).argmax(dim=1).cpu().numpy() for each in coefficients])
    is_right = learnt[found] == classes
    return np.array([right[~of_run].mean() for right, of_run in zip(is_right, labelled, strict=True)])


def _dense(rows: Features) -> FloatArray:
    dense: FloatArray = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return dense
