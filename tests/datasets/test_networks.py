"""The real networks agree with the published ones: counts, order of the nodes, classes and names."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect.datasets import (
    CORA_CLASSES,
    DATASETS,
    DEBIAN_SECTIONS,
    fetch_blogcatalog,
    find_dataset,
    load_citeseer,
    load_cora,
    load_debian,
)
from blockselect.datasets.catalogue import NetworkCounts
from blockselect.datasets.networks import BLOGCATALOG

COUNTS = {
    "blogcatalog": (5196, 171743, 8189, 6),
    "citeseer": (3312, 4660, 3703, 6),
    "cora": (2708, 5278, 1433, 7),
    "cora-planetoid": (2708, 5278, 1433, 7),
    "debian": (4960, 18195, 1088, 31),
}
EMBEDDED = [name for name in DATASETS if name != "blogcatalog"]


def share_within_classes(graph):
    """Share of the links that join nodes of the same class; it would be small if the nodes were in the wrong order."""
    links = sparse.triu(graph.adjacency).tocoo()
    return np.mean(graph.classes[links.row] == graph.classes[links.col])


@pytest.mark.parametrize("name", DATASETS)
def test_counts_are_the_published_ones(name, request):
    if name == "blogcatalog":
        request.getfixturevalue("data_path")
    graph = DATASETS[name].load()
    assert DATASETS[name].name == name
    assert DATASETS[name].counts == NetworkCounts.of(graph) == NetworkCounts(*COUNTS[name])
    assert graph.classes.min() == 0


@pytest.mark.parametrize("name", EMBEDDED)
def test_features_and_links_are_binary_float64_and_undirected(name):
    graph = DATASETS[name].load()
    assert graph.features.dtype == graph.adjacency.dtype == np.float64
    assert set(graph.features.data) == set(graph.adjacency.data) == {1.0}
    assert (graph.adjacency != graph.adjacency.T).nnz == 0


@pytest.mark.parametrize(("name", "published"), [("cora-planetoid", "cora"), ("citeseer", "citeseer")])
def test_nodes_are_in_the_order_of_planetoid(name, published, golden_path):
    """Another source publishes the networks in this order, without self-loops."""
    graph = DATASETS[name].load()
    without_loops = graph.adjacency - sparse.diags_array(graph.adjacency.diagonal())
    with np.load(golden_path / f"{published}.npz", allow_pickle=False) as stored:
        for part, found in (("A", without_loops), ("Y", graph.features)):
            arrays = tuple(stored[f"{part}_{array}"] for array in ("data", "indices", "indptr"))
            assert abs(found - sparse.csr_array(arrays, shape=tuple(stored[f"{part}_shape"]))).max() == 0
        assert_array_equal(graph.classes, stored["labels"])
        assert_array_equal(graph.node_ids.astype(int), stored["node_index"])


def test_both_orders_of_cora_are_one_network():
    planetoid, cora = load_cora(planetoid=True), load_cora()
    assert_array_equal(planetoid.features.sum(axis=0), cora.features.sum(axis=0))
    assert share_within_classes(planetoid) == share_within_classes(cora) == pytest.approx(0.81, abs=0.005)


def test_each_class_of_cora_has_its_name_and_size():
    sizes = dict(zip(CORA_CLASSES, np.bincount(load_cora().classes).tolist(), strict=True))
    assert sizes == {
        "Neural_Networks": 818,
        "Rule_Learning": 180,
        "Reinforcement_Learning": 217,
        "Probabilistic_Methods": 426,
        "Theory": 351,
        "Genetic_Algorithms": 418,
        "Case_Based": 298,
    }


def test_cora_has_paper_numbers_and_one_word_that_no_paper_has():
    cora = load_cora()
    assert cora.features.nnz == 49216
    assert (cora.n_self_loops, cora.n_isolated) == (0, 0)
    assert len(set(cora.node_ids)) == 2708
    assert 31336 in cora.node_ids
    assert (cora.feature_names[0], cora.feature_names[-1]) == ("word_0", "word_1432")
    assert_array_equal(np.flatnonzero(cora.features.sum(axis=0) == 0), [444])


def test_citeseer_has_124_self_loops_and_leaves_out_15_papers_without_words():
    citeseer = load_citeseer()
    assert (citeseer.n_links - citeseer.n_self_loops, citeseer.n_self_loops) == (4536, 124)
    assert np.diff(citeseer.features.indptr).min() > 0
    assert len(set(range(3327)) - set(citeseer.node_ids)) == 15
    assert (citeseer.feature_names[0], citeseer.feature_names[-1]) == ("word_0", "word_3702")


@pytest.mark.parametrize("name", EMBEDDED)
def test_each_load_returns_a_new_copy(name):
    changed = DATASETS[name].load()
    changed.features.data[:] = 7
    changed.classes[:] = 99
    again = DATASETS[name].load()
    assert set(again.features.data) == {1.0}
    assert again.classes.max() < 99


def test_debian_packages_and_features_have_names_that_fit_links_and_sections():
    debian = load_debian()
    row = {name: at for at, name in enumerate(debian.node_ids)}
    column = {name: at for at, name in enumerate(debian.feature_names)}
    assert (debian.n_self_loops, debian.n_isolated, debian.features.nnz) == (0, 0, 29876)
    assert debian.adjacency[row["gimp"], row["gimp-gmic"]] == 1
    assert debian.features[row["gimp"], column["tag:works-with::image"]] == 1
    assert DEBIAN_SECTIONS[debian.classes[row["gimp"]]] == "graphics"
    has_perl = debian.features[:, [column["tag:devel::lang:perl"]]].toarray().ravel() > 0
    assert np.mean(debian.classes[has_perl] == DEBIAN_SECTIONS.index("perl")) > 0.9
    assert share_within_classes(debian) > 0.6  # about 1/30 if the nodes were in the wrong order


def test_the_debian_file_is_the_one_that_was_made_from_the_index():
    folder = files("blockselect.datasets").joinpath("data")
    digest = hashlib.sha256(folder.joinpath("debian.npz").read_bytes()).hexdigest()
    assert digest in folder.joinpath("README.md").read_text("utf-8")


def test_blogcatalog_counts_keywords(data_path):
    blogs = fetch_blogcatalog()
    assert blogs.features.max() == 703
    assert_array_equal(np.bincount(blogs.classes), [885, 777, 921, 858, 892, 863])
    assert (blogs.n_self_loops, blogs.n_isolated) == (0, 0)
    assert (blogs.feature_names[0], blogs.feature_names[-1]) == ("keyword_0", "keyword_8188")
    assert share_within_classes(blogs) > 0.35  # about 1/6 if the nodes were in the wrong order


def test_the_download_is_pinned_to_a_commit_and_to_the_published_file(data_path):
    assert re.fullmatch(r"https://[a-z.]+/\w+/\w+/[0-9a-f]{40}/BlogCatalog\.mat", BLOGCATALOG.url)
    sums = dict(reversed(line.split()) for line in (data_path / "SHA256SUMS").read_text().splitlines())
    assert sums["BlogCatalog.mat"] == BLOGCATALOG.sha256
    assert (data_path / "BlogCatalog.mat").stat().st_size == BLOGCATALOG.size


def test_an_unknown_name_is_answered_with_the_known_ones_and_a_guess():
    with pytest.raises(
        ValueError, match=r"no data set is called 'CiteSear'; choose one of: .*cora.* Did you mean citeseer\?"
    ):
        find_dataset("CiteSear")
    with pytest.raises(ValueError, match=r"choose one of: [^?]*$"):
        find_dataset("wikipedia")
