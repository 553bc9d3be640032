"""Evaluation of selected features (by clustering, classification and links) and of rankings (by planted features)."""

from blockselect.evaluation.classification import ClassificationScores, classify_selection
from blockselect.evaluation.clustering import ClusteringScores, evaluate_selection
from blockselect.evaluation.link_prediction import HiddenLinks, LinkScores, hide_links, predict_links
from blockselect.evaluation.metrics import Recovery, clustering_accuracy, normalized_mutual_information, recovery

__all__ = [
    "ClassificationScores",
    "ClusteringScores",
    "HiddenLinks",
    "LinkScores",
    "Recovery",
    "classify_selection",
    "clustering_accuracy",
    "evaluate_selection",
    "hide_links",
    "normalized_mutual_information",
    "predict_links",
    "recovery",
]
