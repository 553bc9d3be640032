"""The embedded Cora network is Cora, whole."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect.datasets import CORA_CLASSES, load_cora
from blockselect.graphs import AttributedGraph


@pytest.fixture(scope="module")
def cora() -> AttributedGraph:
    return load_cora()


@pytest.fixture(scope="module")
def published(golden_path):
    """Cora as another source publishes it: adjacency, features and classes, nodes in another order."""
    with np.load(golden_path / "cora.npz", allow_pickle=False) as stored:
        adjacency, features = (
            sparse.csr_array(
                (stored[f"{name}_data"], stored[f"{name}_indices"], stored[f"{name}_indptr"]),
                shape=tuple(stored[f"{name}_shape"]),
            )
            for name in ("A", "Y")
        )
        return adjacency, features, stored["labels"]


def test_cora_has_the_counts_of_the_literature(cora):
    assert (cora.n_nodes, cora.n_links, cora.n_features) == (2708, 5278, 1433)
    assert cora.features.nnz == 49216
    assert (cora.n_self_loops, cora.n_isolated) == (0, 0)


def test_features_and_links_are_binary(cora):
    assert_array_equal(np.unique(cora.features.data), [1.0])
    assert_array_equal(np.unique(cora.adjacency.data), [1.0])


def test_links_have_no_direction(cora):
    assert (cora.adjacency != cora.adjacency.T).nnz == 0


def test_each_class_has_its_name_and_size(cora):
    sizes = dict(zip(CORA_CLASSES, np.bincount(cora.classes).tolist(), strict=True))
    assert sizes == {
        "Neural_Networks": 818,
        "Rule_Learning": 180,
        "Reinforcement_Learning": 217,
        "Probabilistic_Methods": 426,
        "Theory": 351,
        "Genetic_Algorithms": 418,
        "Case_Based": 298,
    }


def test_papers_and_words_have_names(cora):
    assert len(set(cora.node_ids)) == 2708
    assert 31336 in cora.node_ids
    assert (cora.feature_names[0], cora.feature_names[-1]) == ("word_0", "word_1432")


def test_only_one_word_is_in_no_paper(cora):
    assert_array_equal(np.flatnonzero(cora.features.sum(axis=0) == 0), [444])


def test_most_links_join_papers_of_one_class(cora):
    """Classes, links and papers belong together: in the wrong order about a fifth would."""
    links = sparse.triu(cora.adjacency).tocoo()
    assert np.mean(cora.classes[links.row] == cora.classes[links.col]) == pytest.approx(0.81, abs=0.005)


def test_each_load_is_a_copy_of_its_own(cora):
    changed = load_cora()
    changed.features.data[:] = 7
    changed.classes[:] = 7
    again = load_cora()
    assert (again.features != cora.features).nnz == 0
    assert (again.adjacency != cora.adjacency).nnz == 0
    assert_array_equal(again.classes, cora.classes)


def test_papers_are_those_of_the_published_network(cora, published):
    adjacency, features, classes = published
    assert _papers(cora.adjacency, cora.features, cora.classes) == _papers(
        adjacency, features, _renumbered(classes, cora.classes)
    )


def test_words_stand_in_the_published_order(cora, published):
    assert_array_equal(cora.features.sum(axis=0), published[1].sum(axis=0))


def _renumbered(classes, like):
    """Classes with the numbers of `like`; the sizes, all different, identify them."""
    number = {size: at for at, size in enumerate(np.bincount(like))}
    return np.array([number[size] for size in np.bincount(classes)])[classes]


def _papers(adjacency, features, classes):
    """Each paper without its position: class, words, and the classes and word counts of its neighbours."""
    words = np.diff(features.indptr)
    papers = []
    for row in range(len(classes)):
        near = adjacency.indices[adjacency.indptr[row] : adjacency.indptr[row + 1]]
        own = np.sort(features.indices[features.indptr[row] : features.indptr[row + 1]])
        papers.append((classes[row], tuple(own), tuple(sorted(zip(classes[near], words[near], strict=True)))))
    return sorted(papers)
