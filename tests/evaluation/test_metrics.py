"""Metrics compared with brute force, scikit-learn, and values computed by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, normalized_mutual_info_score

from blockselect.evaluation import clustering_accuracy, normalized_mutual_information, recovery


def best_over_all_matchings(classes, clusters, k):
    """Share of agreement under the best renaming of k clusters."""
    return max(np.mean(np.array(renamed)[clusters] == classes) for renamed in permutations(range(k)))


labels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30)


@given(labels)
def test_accuracy_is_that_of_the_best_of_all_matchings(pairs):
    classes, clusters = np.array(pairs).T
    expected = best_over_all_matchings(classes, clusters, 5)
    assert clustering_accuracy(classes, clusters) == pytest.approx(expected, rel=1e-12)


@given(labels, st.permutations(range(5)))
def test_names_of_clusters_do_not_matter(pairs, renamed):
    classes, clusters = np.array(pairs).T
    other = np.array([f"cluster {name}" for name in renamed])[clusters]
    assert clustering_accuracy(classes, other) == clustering_accuracy(classes, clusters)
    assert normalized_mutual_information(classes, other) == pytest.approx(
        normalized_mutual_information(classes, clusters), abs=1e-12
    )


def test_one_cluster_for_all_is_worth_the_largest_class_and_no_information():
    classes = np.array([0, 0, 0, 1, 2])
    assert clustering_accuracy(classes, np.zeros(5, dtype=int)) == 0.6
    assert normalized_mutual_information(classes, np.zeros(5, dtype=int)) == 0


def test_information_is_divided_by_the_larger_entropy():
    classes, clusters = np.array([0, 0, 1, 1]), np.arange(4)
    assert normalized_mutual_information(classes, clusters) == pytest.approx(0.5)  # ln 2 over ln 4
    assert normalized_mutual_info_score(classes, clusters) > 0.6  # the default mean would flatter many clusters


@pytest.mark.parametrize(("classes", "clusters"), [([0, 1], [0]), ([], []), ([[0, 1]], [[0, 1]])])
def test_labels_that_do_not_belong_together_are_refused(classes, clusters):
    for metric in (clustering_accuracy, normalized_mutual_information):
        with pytest.raises(ValueError, match="expected one class and one cluster for each node"):
            metric(classes, clusters)


def test_series_in_different_orders_are_refused():
    classes = pd.Series([0, 1, 1], index=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"different indexes; put them in the same order"):
        clustering_accuracy(classes, classes.iloc[::-1])


@given(st.lists(st.booleans(), min_size=1, max_size=20).filter(any), st.randoms(use_true_random=False))
def test_recovery_is_precision_of_the_first_ranks_and_scikit_learns_average_precision(planted, random):
    ranking = np.arange(1, len(planted) + 1)
    random.shuffle(ranking)
    planted = np.array(planted)
    found = recovery(ranking, planted)
    assert found.precision == pytest.approx(planted[ranking <= planted.sum()].mean())
    assert found.average_precision == pytest.approx(average_precision_score(planted, -ranking))


def test_what_is_no_ranking_or_no_mask_is_refused():
    with pytest.raises(ValueError, match="each once"):
        recovery([1, 1, 2], [True, False, False])
    with pytest.raises(ValueError, match="each once"):
        recovery([0, 1, 2], [True, False, False])
    with pytest.raises(ValueError, match="expected one True or False for each of the 3 features"):
        recovery([1, 2, 3], [0, 1])
    with pytest.raises(ValueError, match="and at least one True"):
        recovery([1, 2, 3], [False, False, False])
