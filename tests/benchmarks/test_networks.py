"""Packages of Debian: read with their sections as classes, as a whole or large sections alone."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import networks
from benchmarks.networks import LARGE_SECTIONS, judged
from benchmarks.quality.debian import largest_correlation, render, summarize


@pytest.fixture
def stored(tmp_path, monkeypatch):
    monkeypatch.setenv("BLOCKSELECT_DATA", str(tmp_path))
    monkeypatch.setattr(networks, "_LARGE", 2)
    (tmp_path / "debian").mkdir()
    np.savez(
        tmp_path / "debian" / "debian-all.npz",
        edges=np.array([[0, 1], [1, 0], [1, 2], [2, 3]]),
        X_indices=np.array([0, 1, 1, 0]),
        X_indptr=np.array([0, 1, 2, 3, 4]),
        packages=np.array(["a", "b", "c", "d"]),
        features=np.array(["tag:x", "y"]),
        sections=np.array(["web", "games", "web", "web"]),
    )


def test_a_dependency_either_way_is_one_link_and_sections_are_classes(stored):
    graph = judged("debian-all")
    assert (graph.n_nodes, graph.n_links, graph.n_features) == (4, 3, 2)
    assert set(graph.adjacency.data) == {1.0}
    assert graph.classes.tolist() == [1, 0, 1, 1]
    assert graph.feature_names.tolist() == ["tag:x", "y"]


def test_small_sections_are_cut_off_with_their_links(stored):
    graph = judged(LARGE_SECTIONS)
    assert (graph.n_nodes, graph.n_links) == (3, 1)
    assert graph.features.toarray().tolist() == [[1, 0], [0, 1], [1, 0]]


def test_the_largest_correlation_counts_either_sign_and_no_constant_feature():
    values = np.array([[1.0, 0, 0, 5], [1, 0, 1, 5], [0, 1, 0, 5], [0, 1, 0, 5]])
    assert largest_correlation(values, np.array([0, 1, 3])) == pytest.approx(1)
    assert largest_correlation(values, np.array([0, 2, 3])) == pytest.approx(1 / 3**0.5)


def test_draws_are_averaged_and_a_late_rival_is_left_out():
    figures = {"ACC": 0.1, "few_labels": 0.4, "few_labels_averaged": 0.5}
    rows = [
        {
            "kind": "reference",
            "method": "random",
            "seed": seed,
            "d": d,
            "NMI": nmi,
            "largest_correlation": 0.25,
            **figures,
        }
        for seed, nmi in ((0, 0.1), (1, 0.3))
        for d in (30, 100, 200)
    ]
    table = summarize([*rows, {"method": "late", "error": "took more than 1 seconds."}])
    assert table["NMI"].tolist() == [0.2, 0.2, 0.2]
    assert "| random | 0.400 / 0.200 | 0.400 / 0.200 | 0.400 / 0.200 | 0.25 |" in render(table)
