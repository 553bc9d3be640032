"""Evaluation: how well selected features separate known classes, and how well planted features are found."""

from blockselect.evaluation.clustering import ClusteringScores, evaluate_selection
from blockselect.evaluation.metrics import Recovery, clustering_accuracy, normalized_mutual_information, recovery

__all__ = [
    "ClusteringScores",
    "Recovery",
    "clustering_accuracy",
    "evaluate_selection",
    "normalized_mutual_information",
    "recovery",
]
