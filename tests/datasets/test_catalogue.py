"""The networks of the paper, as published: counts, order, and the way from the internet."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from blockselect.datasets import DATASETS, fetch_blogcatalog, fetch_citeseer, fetch_cora, find_dataset, load_cora
from blockselect.datasets.blogcatalog import read_blogcatalog
from blockselect.datasets.counts import NetworkCounts, check_counts
from blockselect.datasets.planetoid import fetch_planetoid
from loopback import serving

PAPER = {
    "blogcatalog": (5196, 171743, 8189, 6),
    "citeseer": (3312, 4660, 3703, 6),
    "cora": (2708, 5278, 1433, 7),
    "cora-planetoid": (2708, 5278, 1433, 7),
}


@pytest.fixture(scope="module")
def published(golden_path):
    """Adjacency, features and classes of a network, in the Planetoid order."""

    def read(name):
        with np.load(golden_path / f"{name}.npz", allow_pickle=False) as stored:
            adjacency, features = (
                sparse.csr_array(
                    (stored[f"{part}_data"], stored[f"{part}_indices"], stored[f"{part}_indptr"]),
                    shape=tuple(stored[f"{part}_shape"]),
                )
                for part in ("A", "Y")
            )
            return adjacency, features, stored["labels"], stored["node_index"]

    return read


def same(first, second):
    return first.shape == second.shape and (first != second).nnz == 0


@pytest.mark.parametrize("name", [name for name in DATASETS if name != "cora"])
def test_counts_are_those_of_the_paper(name, data_path):
    graph = DATASETS[name].load()
    assert (graph.n_nodes, graph.n_links, graph.n_features, len(np.unique(graph.classes))) == PAPER[name]
    assert graph.classes.min() == 0


def test_the_registry_knows_the_counts_of_the_paper():
    counts = {name: dataset.counts for name, dataset in DATASETS.items()}
    assert counts == {name: NetworkCounts(*numbers) for name, numbers in PAPER.items()}
    assert NetworkCounts.of(DATASETS["cora"].load()) == counts["cora"]


def test_cora_stands_in_the_order_of_planetoid(data_path, published):
    cora = fetch_cora()
    adjacency, features, classes, numbers = published("cora")
    assert same(cora.adjacency, adjacency)
    assert same(cora.features, features)
    assert_array_equal(cora.classes, classes)
    assert_array_equal(cora.node_ids.astype(int), numbers)


def test_citeseer_stands_in_the_order_of_planetoid(data_path, published):
    citeseer = fetch_citeseer()
    adjacency, features, classes, numbers = published("citeseer")
    assert same(citeseer.features, features)
    assert_array_equal(citeseer.classes, classes)
    assert_array_equal(citeseer.node_ids.astype(int), numbers)
    loops = sparse.diags_array(citeseer.adjacency.diagonal())
    assert same(sparse.csr_array(citeseer.adjacency - loops), adjacency)  # published without self-loops


def test_links_of_citeseer_are_4536_and_124_self_loops(data_path):
    citeseer = fetch_citeseer()
    assert (citeseer.n_links - citeseer.n_self_loops, citeseer.n_self_loops) == (4536, 124)
    assert set(citeseer.adjacency.data) == set(citeseer.features.data) == {1.0}
    assert np.diff(citeseer.features.indptr).min() > 0  # no node without features is left
    assert len(set(range(3327)) - set(citeseer.node_ids)) == 15


def test_both_forms_of_cora_are_one_network(data_path):
    planetoid, embedded = fetch_cora(), load_cora()
    assert_array_equal(planetoid.features.sum(axis=0), embedded.features.sum(axis=0))
    for graph in (planetoid, embedded):
        assert graph.feature_names[444] == "word_444"
    assert sorted(np.bincount(planetoid.classes)) == sorted(np.bincount(embedded.classes))
    assert sorted(np.diff(planetoid.adjacency.indptr)) == sorted(np.diff(embedded.adjacency.indptr))


def test_blogcatalog_counts_keywords(data_path):
    blogs = fetch_blogcatalog()
    assert blogs.features.max() == 703
    assert_array_equal(np.bincount(blogs.classes), [885, 777, 921, 858, 892, 863])
    assert (blogs.n_self_loops, blogs.n_isolated) == (0, 0)
    assert (blogs.feature_names[0], blogs.feature_names[-1]) == ("keyword_0", "keyword_8188")
    links = sparse.triu(blogs.adjacency).tocoo()
    shared = np.mean(blogs.classes[links.row] == blogs.classes[links.col])
    assert shared > 0.35  # in the wrong order a sixth would be


def test_a_network_comes_from_the_internet_as_from_a_folder(data_path, tmp_path, monkeypatch):
    dataset = DATASETS["citeseer"]
    contents = {file.name: (data_path / file.name).read_bytes() for file in dataset.source.files}
    local = fetch_citeseer()
    monkeypatch.delenv("BLOCKSELECT_DATA")
    monkeypatch.setenv("BLOCKSELECT_CACHE", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(contents) as server:
        source = replace(dataset.source, base_url=server.base_url)
        downloaded = fetch_planetoid("citeseer", source, dataset.counts, None)
        assert sorted(server.requests) == sorted(contents)
    assert same(downloaded.adjacency, local.adjacency)
    assert same(downloaded.features, local.features)
    assert_array_equal(downloaded.classes, local.classes)


def test_checksums_and_sizes_are_those_of_the_published_files(data_path):
    sums = dict(reversed(line.split()) for line in (data_path / "SHA256SUMS").read_text().splitlines())
    for dataset in DATASETS.values():
        for file in dataset.source.files if dataset.source else ():
            assert (sums[file.name], (data_path / file.name).stat().st_size) == (file.sha256, file.size)


def test_addresses_are_pinned_to_a_commit():
    sources = [dataset.source for dataset in DATASETS.values() if dataset.source]
    assert len(sources) == 3
    for source in sources:
        assert re.fullmatch(r"https://[a-z.]+/\w+/\w+/[0-9a-f]{40}/(\w+/)*", source.base_url)
        assert source.dataset in DATASETS


def test_each_data_set_is_registered_by_its_own_name():
    assert {name: dataset.name for name, dataset in DATASETS.items()} == {name: name for name in DATASETS}
    assert find_dataset("citeseer") is DATASETS["citeseer"]


def test_an_unknown_name_is_answered_with_the_known_ones_and_a_guess():
    with pytest.raises(
        ValueError, match=r"no data set is called 'CiteSear'; known are: .*cora.* Did you mean citeseer\?"
    ):
        find_dataset("CiteSear")
    with pytest.raises(ValueError, match=r"known are: [^?]*$"):
        find_dataset("wikipedia")


def test_other_counts_are_an_error_that_shows_both():
    message = r"cora has 2,708 nodes, 5,278 links, .*; expected 2,708 nodes, 5,279 links, 1,433 features, 7 classes: "
    with pytest.raises(ValueError, match=message):
        check_counts("cora", load_cora(), NetworkCounts(2708, 5279, 1433, 7))


@pytest.mark.parametrize("missing", ["Network", "Attributes", "Label"])
def test_a_matlab_file_without_its_matrices_is_refused(missing, tmp_path):
    from scipy.io import savemat

    square = sparse.csc_array(np.eye(3))
    stored = {"Network": square, "Attributes": square, "Label": np.array([[1], [2], [1]], np.uint8)}
    savemat(tmp_path / "whole.mat", stored)
    assert read_blogcatalog((tmp_path / "whole.mat").read_bytes()).classes.tolist() == [0, 1, 0]
    savemat(tmp_path / "part.mat", {name: value for name, value in stored.items() if name != missing})
    with pytest.raises(ValueError, match=r"BlogCatalog\.mat holds something else"):
        read_blogcatalog((tmp_path / "part.mat").read_bytes())
