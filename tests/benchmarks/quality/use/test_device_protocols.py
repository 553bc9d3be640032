"""The protocols on a device against those of the library: the same draws, and the same figures."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from blockselect import make_attributed_blocks
from blockselect.evaluation import classify_selection, evaluate_selection, hide_links, predict_links

pytest.importorskip("torch")

from benchmarks.quality.use.device_protocols import (
    classify_on_device,
    cluster_on_device,
    predict_links_on_device,
)


@pytest.fixture(scope="module")
def graph():
    return make_attributed_blocks(
        240, 4, n_informative=16, n_redundant=0, n_noise=40, mean_degree=8, signal=2.0, random_state=0
    ).graph


@pytest.fixture(params=["few", "many"])
def columns(request, graph):
    """Few are kept dense, many sparse."""
    return np.arange(5 if request.param == "few" else graph.n_features)


def test_clusters_agree_in_distribution(graph, columns):
    ours = cluster_on_device(graph, columns, n_runs=30, n_init=2, device="cpu")
    theirs = evaluate_selection(graph.features, graph.classes, columns, n_runs=30, n_init=2)
    for mine, reference in ((ours.accuracies, theirs.accuracies), (ours.nmis, theirs.nmis)):
        sd = np.hypot(mine.std(), reference.std()) + 1e-9
        assert abs(mine.mean() - reference.mean()) < 4 * sd / 30**0.5
    assert (ours.n_zero_rows, ours.n_features) == (theirs.n_zero_rows, theirs.n_features)


def test_classes_learnt_are_the_same_but_for_rounding(graph, columns):
    ours = classify_on_device(graph, columns, n_runs=6, device="cpu")
    theirs = classify_selection(graph.features, graph.classes, columns, adjacency=graph.adjacency, n_runs=6)
    assert_allclose(ours.accuracies, theirs.accuracies, atol=2 / 160)  # two nodes near a boundary
    assert_allclose(ours.averaged_accuracies, theirs.averaged_accuracies, atol=2 / 160)


def test_a_class_of_one_node_is_never_labelled_and_never_found(graph):
    classes = np.append(graph.classes[:-1], 99)
    from dataclasses import replace

    odd = replace(graph, classes=classes)
    ours = classify_on_device(odd, np.arange(10), n_runs=3, device="cpu")
    theirs = classify_selection(odd.features, classes, np.arange(10), adjacency=odd.adjacency, n_runs=3)
    assert_allclose(ours.accuracies, theirs.accuracies, atol=2 / 160)


def test_areas_under_the_curve_are_the_same(graph, columns):
    split = hide_links(graph.adjacency, random_state=1)
    ours = predict_links_on_device(graph.features, split, columns, n_runs=4, device="cpu")
    assert_array_equal(ours.aucs, predict_links(graph.features, split, columns, n_runs=4).aucs)
