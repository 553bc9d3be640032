"""Metrics that compare clusters with known classes (ACC, NMI) and a ranking with planted features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from blockselect.inputs.labels import encode_labels
from blockselect.utils.arrays import IntArray
from blockselect.utils.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Recovery:
    """How well a ranking recovers the planted features; both measures are at most 1, which is best."""

    precision: float  # share of planted features among the first p ranks, where p features are planted
    average_precision: float  # mean precision at the ranks of the planted features


def clustering_accuracy(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Share of nodes whose cluster is matched with their class, under the best matching of clusters and classes. (ACC)

    The matching is one to one and found by the Hungarian method. If the numbers of clusters and classes differ, the
    surplus clusters or classes remain unmatched.

    Parameters
    ----------
    classes, clusters : array of shape (n,)
        Labels of any type; only the partition matters.

    Examples
    --------
    >>> clustering_accuracy([0, 0, 1, 1], ["b", "b", "a", "b"])
    0.75
    """
    counts = contingency_matrix(*check_labels(classes, clusters))
    matched = linear_sum_assignment(counts, maximize=True)
    return float(counts[matched].sum() / counts.sum())


def normalized_mutual_information(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Mutual information of classes and clusters, divided by the larger of their entropies. (NMI)

    Parameters
    ----------
    classes, clusters : array of shape (n,)
        Labels of any type; only the partition matters.
    """
    return float(normalized_mutual_info_score(*check_labels(classes, clusters), average_method="max"))


def recovery(ranking: ArrayLike, planted: ArrayLike) -> Recovery:
    """Measure how well a ranking of the features recovers the planted features.

    Parameters
    ----------
    ranking : array of shape (m,)
        Rank of each feature, 1 for the best, such as `ranking_` of any selector.
    planted : boolean array of shape (m,)
        Marks the planted features, at least one.

    Examples
    --------
    >>> recovery([1, 3, 2, 4], [True, True, False, False])
    Recovery(precision=0.5, average_precision=0.8333333333333333)
    """
    ranks, is_planted = np.asarray(ranking), np.asarray(planted)
    if ranks.ndim != 1 or not np.array_equal(np.sort(ranks), np.arange(1, len(ranks) + 1)):
        raise ParameterError(
            "ranking", f"has shape {ranks.shape}; expected the ranks 1, 2, … of all features, each once."
        )
    if is_planted.dtype != bool or is_planted.shape != ranks.shape or not is_planted.any():
        raise ParameterError(
            "planted",
            f"contains {is_planted.dtype} values of shape {is_planted.shape}; "
            f"expected one True or False for each of the {len(ranks)} features, and at least one True.",
        )
    found = np.sort(ranks[is_planted])  # (p,)
    nth = np.arange(1, len(found) + 1)
    return Recovery(float(np.mean(found <= len(found))), float(np.mean(nth / found)))


def check_labels(classes: Any, clusters: Any) -> tuple[IntArray, IntArray]:
    """Convert classes and clusters to integers, and check that both describe the same nodes in the same order."""
    shapes = np.shape(classes), np.shape(clusters)
    if len(shapes[0]) != 1 or shapes[0] != shapes[1] or shapes[0] == (0,):
        raise ValueError(
            f"classes has shape {shapes[0]} and clusters has shape {shapes[1]}; expected one class and one "
            "cluster for each node, in the same order."
        )
    if isinstance(classes, pd.Series) and isinstance(clusters, pd.Series) and not classes.index.equals(clusters.index):
        raise ValueError(
            "classes and clusters are Series with different indexes; put them in the same order: "
            "clusters.loc[classes.index], or pass arrays in the same order."
        )
    return encode_labels(classes, "classes"), encode_labels(clusters, "clusters")
